"""Compare rolling medians on Spark with the alternatives in one session; write the table.

    python asv_bench/spark_speed.py --output docs/performance/tables/spark.rst

A kernel that copies its input, in the fastest plan for it, measures Spark's own cost. Each job runs once
before it is timed. The jobs take turns, and the median of the rounds counts. ``--quick`` takes a tenth of
the rows.
"""

import argparse
import contextlib
import io
import os
import platform
import re
import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyspark
from benchmarks.tables import list_table, write
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf

import rollstat
from rollstat import Expanding
from rollstat.spark import rolling, session
from rollstat.spark.batch_walk import WalkJob, WalkPlan
from rollstat.spark.request import Request

CONF = {
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": 4,
    "spark.sql.execution.arrow.maxRecordsPerBatch": 10_000,
    "spark.sql.session.timeZone": "UTC",
}
DAEMON = b"pyspark.daemon"  # module that starts workers


# Measuring ----------------------------------------------------------------------------------------------


def run(frame: DataFrame) -> None:
    """Compute every row of a frame and discard it."""
    frame.write.format("noop").mode("overwrite").save()


def take_turns(jobs: dict[str, Callable[[], None]], rounds: int, *, warm: bool = False) -> dict[str, float]:
    """Return the median seconds of each job; each runs once before, unless all have."""
    for job in () if warm else jobs.values():
        job()
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def operators(frame: DataFrame) -> str:
    """Return the operators of a plan in the order in which rows pass them."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        frame.explain()
    names = re.findall(r"^[ :+-]*(?:\*\(\d+\) )?([A-Z]\w+)", shown.getvalue(), re.MULTILINE)
    hidden = {"AdaptiveSparkPlan", "ColumnarToRow", "Project"}
    return " → ".join(name for name in reversed(names) if name not in hidden)


def peak_memory(process: int) -> int:
    """Return the peak memory of a process in bytes, if it still runs."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def workers() -> list[int]:
    """Return the Python workers of the Spark of this process."""
    parents, daemons = {}, []
    for folder in Path("/proc").iterdir():
        try:
            process = int(folder.name)
            parents[process] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if DAEMON in (folder / "cmdline").read_bytes().split(b"\0"):
                daemons.append(process)
        except (OSError, ValueError):
            continue

    def ours(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return [process for process in daemons if ours(process)]


class Watch:
    """Watches the memory of workers while a job runs."""

    def __enter__(self) -> "Watch":
        self.most: dict[int, int] = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()
        return self

    def _look(self) -> None:
        while not self.over.wait(0.02):
            for process in workers():
                self.most[process] = max(self.most.get(process, 0), peak_memory(process))

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


# Jobs ---------------------------------------------------------------------------------------------------


def median(frame: DataFrame, m: int, **options: Any) -> DataFrame:
    """Return every row with the rolling median of its series."""
    return rolling(frame, order_by="row", window=m, aggs={"m": ("median", "x")}, **options)


def copy_in_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Append a copy of a column to each batch."""
    for batch in batches:
        values = batch.column("x").to_numpy(zero_copy_only=False).copy()
        yield batch.append_column("m", pa.array(values))


def copy_sorted(table: pa.Table) -> pa.Table:
    """Sort a group and append a copy of a column."""
    table = table.sort_by("row")
    return table.append_column("m", pa.array(table["x"].to_numpy().copy()))


def floors(frame: DataFrame) -> dict[str, DataFrame]:
    """Return jobs with a kernel that copies its input, in the fastest plans."""
    schema = "key int, row long, x double, m double"
    ordered = frame.repartition("key").sortWithinPartitions("key", "row")
    return {
        "mapInArrow": ordered.mapInArrow(copy_in_batches, schema),
        "applyInArrow": frame.groupBy("key").applyInArrow(copy_sorted, schema),
    }


def write_rows(spark: SparkSession, rows: int, keys: int, folder: Path) -> DataFrame:
    """Write unordered rows of several series to a file and return the frame."""
    path = str(folder / f"{rows}-{keys}")
    text = [f"cast(id % {keys} as int) as key", "id as row", "randn(1) as x"]
    spark.range(0, rows, 1, 4).selectExpr(*text).orderBy(F.xxhash64("row")).write.parquet(path)
    return spark.read.parquet(path)


def beside_the_floor(spark: SparkSession, folder: Path, scale: int, rounds: int) -> list[list[str]]:
    """Compare rollstat with a kernel that copies on four million rows."""
    table = [["series", "window", "rollstat, s", "mapInArrow, s", "applyInArrow, s", "rollstat / fastest"]]
    for keys in (20, 20_000):
        frame = write_rows(spark, 4_000_000 // scale, keys, folder)
        jobs = {name: lambda plan=plan: run(plan) for name, plan in floors(frame).items()}
        for m in (100, 1_000):
            mine = median(frame, m, partition_by="key")
            times = take_turns({"rollstat": lambda plan=mine: run(plan)} | jobs, rounds)
            ratio = times["rollstat"] / min(times[name] for name in jobs)
            cells = [f"{times[name]:.2f}" for name in ("rollstat", *jobs)]
            table.append([f"{keys:,}", f"{m:,}", *cells, f"{ratio:.2f}"])
    return table


def beside_spark(spark: SparkSession, folder: Path, scale: int, rounds: int) -> list[list[str]]:
    """Compare rollstat with the window functions of Spark on two hundred thousand rows."""

    @pandas_udf("double")
    def of_pandas(x: pd.Series) -> float:
        return x.median()

    frame = write_rows(spark, 200_000 // scale, 20, folder)
    over = Window.partitionBy("key").orderBy("row").rowsBetween(-999, 0)
    plans = {
        "rollstat": median(frame, 1_000, partition_by="key", min_periods=1),
        "SQL percentile": frame.withColumn("m", F.expr("percentile(x, 0.5)").over(over)),
        "pandas UDF": frame.withColumn("m", of_pandas("x").over(over)),
    }
    shown = {name: operators(plan) for name, plan in plans.items()}
    tables = {name: plan.toArrow().sort_by("row")["m"].to_numpy() for name, plan in plans.items()}
    for name, values in tables.items():
        np.testing.assert_allclose(values, tables["rollstat"], rtol=1e-12, atol=1e-15, err_msg=name)
    times = take_turns({name: lambda plan=plan: run(plan) for name, plan in plans.items()}, 1, warm=True)
    table = [["", "seconds", "time / rollstat", "plan"]]
    for name, seconds in times.items():
        row = [name, f"{seconds:.2f}", f"{seconds / times['rollstat']:.1f}", shown[name]]
        table.append(row)
    return table


def one_long_series(spark: SparkSession, folder: Path, scale: int, rounds: int) -> list[list[str]]:
    """Compare ten million rows as eight series and as one series in eight buckets."""
    frame = write_rows(spark, 10_000_000 // scale, 8, folder)
    growing = {"window": Expanding(), "order_by": "row", "aggs": {"m": ("kth", "x", {"k": 1_000})}}
    whats: dict[str, Callable[..., DataFrame]] = {
        "median of 1,000 rows": lambda **how: median(frame, 1_000, **how),
        "1,000th smallest of all rows so far": lambda **how: rolling(frame, **growing, **how),
    }
    table = [["", "rows", "seconds", "time / eight series"]]
    for what, job in whats.items():
        jobs = {
            "eight series": lambda job=job: run(job(partition_by="key")),
            "one series in eight buckets": lambda job=job: run(job(split=8)),
        }
        times = take_turns(jobs, rounds)
        for name, seconds in times.items():
            table.append([what, name, f"{seconds:.2f}", f"{seconds / times['eight series']:.2f}"])
    return table


def memory_of_a_worker(spark: SparkSession, folder: Path, scale: int, rounds: int) -> list[list[str]]:
    """Compare the memory for a group of eight million rows of 340 bytes with that for ten rows."""
    table = [["rows of the group", "most memory of a worker, MB", "above the first line, MB"]]
    idle = 0.0
    for rows in (10, 8_000_000 // scale):
        text = ["1 as key", "id as row", "randn(1) as x", "repeat(sha2(string(id), 256), 5) as text"]
        frame = spark.range(0, rows, 1, 4).selectExpr(*text)
        with Watch() as watch:
            run(median(frame, 1_000, partition_by="key", ties="error"))
        most = max(watch.most.values()) / 1e6
        idle = idle or most
        table.append([f"{rows:,}", f"{most:.0f}", f"{most - idle:.0f}"])
    return table


class TimeFirstBatch:
    """Measures in a worker the seconds of a plan for a batch after all imports."""

    def __init__(self, plan: WalkPlan) -> None:
        self.job = WalkJob(plan, None)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        start = time.perf_counter()
        list(self.job(given))
        seconds = pa.array([time.perf_counter() - start])
        yield pa.RecordBatch.from_arrays([seconds], names=["seconds"])


def first_batch(spark: SparkSession, folder: Path, scale: int, rounds: int) -> list[list[str]]:
    """Time from the end of the imports to the results of ten thousand rows, in the first workers."""
    aggs = {"m": ("median", "x")}
    frame = spark.range(0, 10_000, 1, 1).selectExpr("id as row", "randn(1) as x")
    options = {"min_periods": 1, "center": False, "closed": None, "nan_policy": "omit"}
    plan = Request([], ["row"], 1_000, aggs, options).plan(frame.schema)
    list(WalkJob(plan, None)(frame.toArrow().to_batches()))  # stores the compiled kernels on disk
    seconds = frame.mapInArrow(TimeFirstBatch(plan), "seconds double").toArrow()["seconds"].to_pylist()
    return [["from the imports to the first results", "seconds"], ["10,000 rows", f"{max(seconds):.2f}"]]


PARTS: dict[str, tuple[str, str, Callable[..., list[list[str]]]]] = {
    "start": (
        "First batch of a new worker",
        "The kernels are in the disk cache; a worker loads the kernels that it needs.",
        first_batch,
    ),
    # Workers are used again and keep their peak, so this part comes before those with more rows.
    "memory": (
        "Memory of a worker",
        "One group of rows of 340 bytes each, a median of 1,000 rows.",
        memory_of_a_worker,
    ),
    "floor": (
        "Compared with a kernel that copies its input",
        "Four million unordered rows of several series. mapInArrow takes rows that Spark has sorted, batch "
        "by batch; applyInArrow holds a whole group in memory and sorts it there.",
        beside_the_floor,
    ),
    "peers": (
        "Compared with Spark's own functions",
        "A rolling median of 1,000 rows over 20 series of 10,000 rows.",
        beside_spark,
    ),
    "split": (
        "One long series",
        "Ten million rows; the time includes the search for the cuts.",
        one_long_series,
    ),
}


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, one round")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    scale, rounds = (10, 1) if arguments.quick else (1, arguments.rounds)
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    spark = session("local[2]", app="rollstat speed", conf=CONF)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for part in (part for part in PARTS if part in arguments.parts):
            title, text, measure = PARTS[part]
            table = measure(spark, Path(folder), scale, rounds)
            lines += [title, "~" * len(title), "", text, "", *list_table(table)]
            print(
                "\n".join(["", title, *("  ".join(f"{cell:>14}" for cell in row) for row in table)]),
                flush=True,
            )
    spark.stop()
    size = "A tenth of these rows, one round" if arguments.quick else f"Median of {rounds} rounds"
    lines += [
        f"{size}. local[2], {os.cpu_count()} cores, Spark {pyspark.__version__}, Arrow {pa.__version__}, "
        f"NumPy {np.__version__}, rollstat {rollstat.__version__}, Python {platform.python_version()}.",
        "",
    ]
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
