"""Compare the forms of a rolling median on Spark: `rolling`, the table function of SQL; and of an aggregate.

    python asv_bench/spark_sql.py
    python asv_bench/spark_sql.py --output docs/performance/tables/spark_sql.rst

Two million rows in 20 and in 20,000 series, windows of 100 rows; aggregates over 20,000 groups. Results are
compared first, then the forms take turns. ``--quick`` takes a tenth of the rows and groups.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

from benchmarks.tables import list_table, write
from pyspark.sql import functions as F
from spark_speed import CONF, median, run, take_turns, write_rows

from rollstat.spark import register, rolling_udf, session

TEXT = """
    SELECT * FROM rollstat_rolling(
        TABLE({}) PARTITION BY key ORDER BY row, on => 'row', window => 100, aggs => 'median(x) AS m')
"""


def main() -> None:
    """Compare, measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--output", type=Path, help="file for the table")
    arguments = parser.parse_args()
    rows = [["", "form", "seconds", "time / first form"]]
    scale = 10 if arguments.quick else 1
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    spark = session("local[2]", app="rollstat SQL", conf=CONF)
    register(spark)
    with tempfile.TemporaryDirectory() as folder:
        for keys in (20, 20_000 // scale):
            frame = write_rows(spark, 2_000_000 // scale, keys, Path(folder))
            frame.createOrReplaceTempView("rows")
            forms = {
                "rolling": lambda frame=frame: median(frame, 100, partition_by="key"),
                "rollstat_rolling": lambda: spark.sql(TEXT.format("rows")),
            }
            found = [form().where("row < 50000").toArrow().sort_by("row") for form in forms.values()]
            assert found[0].equals(found[1])
            rows += report(f"windows, {keys:,} series", forms, arguments.rounds)
        groups = frame.groupBy("key")
        aggregates = {
            "Spark's median": lambda: groups.agg(F.median("x")),
            "rolling_udf": lambda: groups.agg(rolling_udf("median")("x")),
            "rolling_udf, pandas": lambda: groups.agg(rolling_udf("median", kind="pandas")("x")),
        }
        rows += report(f"aggregates, {keys:,} groups", aggregates, arguments.rounds)
    spark.stop()
    write(arguments.output, list_table(rows))


def report(title: str, forms: dict, rounds: int) -> list[list[str]]:
    """Time the forms in turns; print and return their rows of the table."""
    times = take_turns({name: lambda form=form: run(form()) for name, form in forms.items()}, rounds)
    first = next(iter(times.values()))
    rows = [[title, name, f"{seconds:.2f}", f"{seconds / first:.2f}"] for name, seconds in times.items()]
    for row in rows:
        print(*row, sep="  ", flush=True)
    return rows


if __name__ == "__main__":
    main()
