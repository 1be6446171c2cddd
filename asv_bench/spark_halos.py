"""Compare small halos in the closure of the tasks with the same halos in the exchange.

    python asv_bench/spark_halos.py

One series of ten million rows in eight buckets, windows of 1,000 rows. The results of both are compared
first. ``--quick`` takes a tenth of the rows.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

from pyspark.sql import DataFrame
from spark_speed import CONF, median, run, take_turns, write_rows

from rollstat.spark import result_columns, session


def halos_in(form: str, frame: DataFrame) -> DataFrame:
    """Return rolling medians of a split frame, with halos in the ``"closure"`` or the ``"exchange"``."""
    most = result_columns._MAX_VALUES
    result_columns._MAX_VALUES = most if form == "closure" else 0
    try:
        return median(frame, 1_000, split=8)
    finally:
        result_columns._MAX_VALUES = most


def main() -> None:
    """Compare, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    arguments = parser.parse_args()
    rows = 1_000_000 if arguments.quick else 10_000_000
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    spark = session("local[2]", app="rollstat halos", conf=CONF)
    forms = ("exchange", "closure")
    with tempfile.TemporaryDirectory() as folder:
        frame = write_rows(spark, rows, 8, Path(folder)).drop("key")
        found = [halos_in(form, frame.where("row < 200000")).toArrow().sort_by("row") for form in forms]
        assert found[0].equals(found[1])
        jobs = {form: lambda form=form: run(halos_in(form, frame)) for form in forms}
        times = take_turns(jobs, arguments.rounds)
    spark.stop()
    for name, seconds in times.items():
        print(f"{name:>10}  {seconds:6.2f} s  {seconds / times['closure']:5.2f}")


if __name__ == "__main__":
    main()
