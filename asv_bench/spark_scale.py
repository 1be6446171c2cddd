"""Check the cost model of rolling statistics on Spark against Spark's own metrics; write the tables.

    python asv_bench/spark_scale.py --output docs/performance/tables/spark_scale.rst

Spark's event log records how many rows and bytes each exchange wrote, and how many jobs read the data. The
progress reports of a stream contain the number of rows of state, and the snapshots their lengths.
"""

import argparse
import json
import math
import platform
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
from benchmarks.tables import list_table, write
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import rollstat
from rollstat import Expanding
from rollstat.spark import rolling, rolling_stream, session

WINDOW, BUCKETS, K = 1_000, 8, 1_000
FORMS = ("keyed", "split", "expanding")
AGGS = {"m": ("median", "x")}
CONF = {
    "spark.driver.memory": "2g",
    "spark.eventLog.enabled": True,
    "spark.eventLog.compress": False,
    "spark.shuffle.compress": False,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": 8,
}


# The model ----------------------------------------------------------------------------------------------


def row_bytes(columns: int) -> int:
    """Return the bytes of a fixed-size row in an exchange: its length, a bit per null, the values."""
    return 4 + 8 * math.ceil(columns / 64) + 8 * columns


def state_bytes(columns: int) -> int:
    """Return the bytes of the rows of two windows, without missing values."""
    return 2 * WINDOW * 8 * columns


# Spark's own metrics ------------------------------------------------------------------------------------


def events(folder: Path) -> Iterator[dict[str, Any]]:
    """Return all events of Spark's log."""
    for file in sorted(path for path in folder.rglob("events_*") if path.is_file()):
        for line in file.read_text().splitlines():
            yield json.loads(line)


def measured(folder: Path, group: str) -> tuple[int, int, int]:
    """Return the rows and bytes that a job group exchanged, and the stages that read the source."""
    stages: dict[int, list[int]] = {}
    for event in events(folder):
        if event["Event"] == "SparkListenerJobStart":
            if event["Properties"].get("spark.jobGroup.id") == group:
                stages |= {stage: [0, 0, 0] for stage in event["Stage IDs"] if stage not in stages}
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in stages:
            metrics, stage = event["Task Metrics"], stages[event["Stage ID"]]
            stage[0] += metrics["Shuffle Write Metrics"]["Shuffle Records Written"]
            stage[1] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            stage[2] += metrics["Input Metrics"]["Records Read"]
    rows, sent, _ = max(stages.values(), key=lambda stage: stage[1])
    return rows, sent, sum(stage[2] > 0 for stage in stages.values())


# Jobs ---------------------------------------------------------------------------------------------------


def write_rows(spark: SparkSession, rows: int, folder: Path) -> DataFrame:
    """Write unordered rows to a file and return the frame."""
    frame = spark.range(0, rows, 1, 4).selectExpr("id % 20 as key", "id as row", "randn(1) as x")
    frame.orderBy(F.xxhash64("row")).write.parquet(str(folder / f"{rows}"))
    return spark.read.parquet(str(folder / f"{rows}"))


def run_batches(spark: SparkSession, sizes: list[int], folder: Path) -> None:
    """Run each size as series with keys and as one series in buckets, in job groups of these names."""
    for rows in sizes:
        frame = write_rows(spark, rows, folder)
        for form in FORMS:
            spark.sparkContext.setJobGroup(f"{form} {rows}", "")
            one = frame.drop("key")
            if form == "keyed":
                result = rolling(frame, partition_by="key", order_by="row", window=WINDOW, aggs=AGGS)
            elif form == "split":
                result = rolling(one, order_by="row", window=WINDOW, aggs=AGGS, split=BUCKETS)
            else:
                aggs = {"m": ("kth", "x", {"k": K})}
                result = rolling(one, order_by="row", window=Expanding(), aggs=aggs, split=BUCKETS)
            result.write.format("noop").mode("overwrite").save()
            spark.sparkContext.setJobGroup("", "")


def run_stream(spark: SparkSession, keys: int, folder: Path) -> tuple[int, int]:
    """Return the keys in the state of a stream with full windows, and the bytes of the state."""
    path = str(folder / f"stream{keys}")
    rows = keys * (2 * WINDOW + 500)
    text = [f"id % {keys} as key", "id as row", "randn(1) as x"]
    spark.range(0, rows, 1, 1).selectExpr(*text).write.parquet(path)
    stream = spark.readStream.schema("key long, row long, x double").parquet(path)
    result = rolling_stream(stream, partition_by="key", order_by="row", window=WINDOW, aggs=AGGS)
    writer = result.writeStream.format("noop").option("checkpointLocation", f"{path}.checkpoint")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    (operator,) = next(p for p in query.recentProgress if p.numInputRows).stateOperators
    query.stop()
    # Each partition also holds the definition of the stream.
    return operator.numRowsTotal - operator.numShufflePartitions, operator.customMetrics[
        "rocksdbTotalBytesWritten"
    ]


# Tables -------------------------------------------------------------------------------------------------


def batch_table(sizes: list[int], folder: Path) -> list[list[str]]:
    """Return the model and Spark's metrics of the batch jobs."""
    table = [["rows", "form", "rows sent", "model", "bytes sent", "model", "times read", "model"]]
    for form in FORMS:
        for rows in sizes:
            sent, written, passes = measured(folder, f"{form} {rows}")
            # Buckets replace the key by their number, and halos add a mark and whole cells.
            halos = (BUCKETS - 1) * (WINDOW + rows // 64 // BUCKETS) if form == "split" else 0
            most, sign = rows + halos, "≤ " if halos else ""
            size = most * row_bytes(4 if halos else 3)
            cells = [f"{rows:,}", form, f"{sent:,}", f"{sign}{most:,}", f"{written:,}", f"{sign}{size:,}"]
            table.append([*cells, f"{passes}", "2" if form == "keyed" else "3"])
    return table


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and keys")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    scale = 10 if arguments.quick else 1
    sizes = [rows // scale for rows in (200_000, 1_000_000, 5_000_000)]
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "log").mkdir()
        conf = CONF | {"spark.eventLog.dir": (folder / "log").as_uri()}
        spark = session("local[2]", app="rollstat scale", conf=conf)
        run_batches(spark, sizes, folder)
        states = [["keys", "keys in the state", "bytes of state written", "a key", "model"]]
        for keys in (10, 40, 160):
            held, written = run_stream(spark, keys, folder)
            cells = [
                f"{keys}",
                f"{held}",
                f"{written:,}",
                f"{written / keys:,.0f}",
                f"{state_bytes(2):,} + rest",
            ]
            states.append(cells)
        spark.stop()
        batches = batch_table(sizes, folder / "log")
    for row in [*batches, *states]:
        print("  ".join(f"{cell:>16}" for cell in row))
    lines = [*list_table(batches), *list_table(states)]
    lines += [
        f"Windows of {WINDOW:,} rows, or the {K:,} smallest of all rows so far; {BUCKETS} buckets; shuffle "
        f"files not compressed. Spark "
        f"{pyspark.__version__}, rollstat {rollstat.__version__}, Python {platform.python_version()}.",
        "",
    ]
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
