"""Compare features of frames with polars, DuckDB, pandas and Spark SQL in one run, and write the tables.

    python asv_bench/features.py                              # prints the table
    python asv_bench/features.py --output docs/performance/tables/features.rst
    python asv_bench/features.py --n 100000 --key merchant --threads 1 --without duckdb spark
    python asv_bench/features.py --stream         # pushes and queries of a stream
    python asv_bench/features.py --cluster --n 20000000    # executors of 1 GB, which are killed

36 features of transactions: sum, mean, median, 95th percentile, maximum and distinct values over 1, 7, 30 and
90 days and the last 10 and 100 rows of a key, without the row itself. The results are compared before
anything is timed; then the libraries take turns. All run on the same number of threads, pandas on one: it
takes a share of the keys, and its time is multiplied. Spark SQL has no distinct counts over windows, so it
collects sets, and counts them; its quantiles over windows would take hours, so it computes 24 of the 36
features. On Spark, both count the rows of a result whose columns are all computed. "CPU" is the time of all
threads and processes, which does not depend on what else the machine does. The peak of the memory is divided
by that of input and result.

The cluster has two executors with 1 GB each, whose Python workers have 1 GB too. One customer has 15 % of
the rows, and a quarter of the rows belongs to customers of five. An executor is killed in the first stage
and another one in the last. Row count and a checksum of each feature must be those of a run without kills.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from benchmarks.tables import list_table, write
from memory import Peak

from rollstat import features as f
from rollstat import tiers

WINDOWS = ("1D", "7D", "30D", "90D", 10, 100)
_FEWEST_TASKS = 8  # stages of fewer tasks only send the cuts of long keys
STATISTICS = ("sum", "mean", "median", "quantile_0_95", "max", "nunique")


def transactions(n: int) -> dict[str, np.ndarray]:
    """Return transactions of a year: few customers have many, most have few."""
    rng = np.random.default_rng(20261126)

    def drawn(number: int, shift: int, power: float) -> np.ndarray:
        weight = (np.arange(number) + shift) ** -power
        return rng.choice(number, n, p=weight / weight.sum())

    return {
        "customer": drawn(max(n // 40, 2), 10, 0.8),
        "merchant": drawn(2_000, 5, 1.0),
        "amount": rng.lognormal(3, 1, n).round(2),
        "time": np.sort(np.datetime64("2025-01-01", "us") + rng.integers(0, 365 * 86_400 * 10**6, n)),
    }


def definition(key: str) -> f.Features:
    """Return the features."""
    other = "merchant" if key == "customer" else "customer"
    built = [
        f.sum("amount"),
        f.mean("amount"),
        f.median("amount"),
        f.quantile("amount", 0.95),
        f.max("amount"),
    ]
    columns = [each.over(*WINDOWS, min_periods=1) for each in (*built, f.nunique(other))]
    names = [f"{statistic}_{window}" for statistic in STATISTICS for window in WINDOWS]
    aliased = [each.alias(*names[6 * i : 6 * i + 6]) for i, each in enumerate(columns)]
    return f.Features(aliased, by=key, on="time", closed="left")


def with_polars(frame: Any, key: str, other: str) -> Any:
    """Return the features from rolling groups of polars."""
    import polars as pl

    amount = pl.col("amount")
    rows = frame.with_row_index("row").sort(key, "time", maintain_order=True)
    rows = rows.with_columns(i=pl.int_range(pl.len()).over(key))
    parts = []
    for window in WINDOWS:
        column, period = ("time", window.lower()) if isinstance(window, str) else ("i", f"{window}i")
        found = amount.sum(), amount.mean(), amount.median(), amount.quantile(0.95, "linear"), amount.max()
        every = [
            each.alias(f"{name}_{window}")
            for name, each in zip(STATISTICS, (*found, pl.col(other).n_unique()))
        ]
        rolled = rows.lazy().rolling(column, period=period, group_by=key, closed="left").agg(*every)
        parts.append(rolled.drop(key, column))
    return pl.concat([rows.drop("i"), *pl.collect_all(parts)], how="horizontal").sort("row").drop("row")


def with_duckdb(frame: Any, key: str, other: str, threads: int) -> Any:
    """Return the features from window functions of DuckDB."""
    import duckdb

    calls = "sum(amount)", "avg(amount)", "quantile_cont(amount, 0.5)", "quantile_cont(amount, 0.95)"
    calls = *calls, "max(amount)", f"count(DISTINCT {other})"
    columns, windows = [], []
    for i, window in enumerate(WINDOWS):
        order, reach = "time, row", f"ROWS BETWEEN {window} PRECEDING AND 1 PRECEDING"
        if isinstance(window, str):
            order, width = "time", f"INTERVAL {window[:-1]} DAY"
            reach = f"RANGE BETWEEN {width} PRECEDING AND INTERVAL 1 MICROSECOND PRECEDING"
        windows.append(f"w{i} AS (PARTITION BY {key} ORDER BY {order} {reach})")
        columns += [f"{call} OVER w{i} AS {name}_{window}" for name, call in zip(STATISTICS, calls)]
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE rows AS SELECT *, row_number() OVER () AS row FROM given")
        text = f"SELECT {', '.join(columns)}, row FROM rows WINDOW {', '.join(windows)} ORDER BY row"
        return connection.sql(text).to_arrow_table()


def with_pandas(frame: pd.DataFrame, key: str, other: str) -> pd.DataFrame:
    """Return the features from rolling groups of pandas."""
    grouped, found = frame.groupby(key), {}
    order = np.concatenate(list(grouped.indices.values()))
    for window in WINDOWS:
        on = {"on": "time"} if isinstance(window, str) else {}
        rolling = grouped.rolling(window, min_periods=1, closed="left", **on)
        amount = rolling["amount"]
        results = amount.sum(), amount.mean(), amount.median(), amount.quantile(0.95), amount.max()
        for name, result in zip(STATISTICS, (*results, rolling[other].nunique())):
            values = np.empty(len(frame))
            values[order] = result.to_numpy()
            found[f"{name}_{window}"] = values
    return frame.assign(**found)


def with_spark_sql(frame: Any, key: str, other: str) -> Any:
    """Return sums, means, maxima and distinct values from window functions of Spark SQL."""
    columns = []
    for window in WINDOWS:
        order, reach = "time, row", f"ROWS BETWEEN {window} PRECEDING AND 1 PRECEDING"
        if isinstance(window, str):
            day, least = f"INTERVAL '{window[:-1]} 00:00:00'", "INTERVAL '0 00:00:00.000001'"
            order, second = "time", "DAY TO SECOND PRECEDING"
            reach = f"RANGE BETWEEN {day} {second} AND {least} {second}"
        over = f"OVER (PARTITION BY {key} ORDER BY {order} {reach})"
        calls = f"sum(amount) {over}", f"avg(amount) {over}", f"max(amount) {over}"
        calls = *calls, f"size(collect_set({other}) {over})"
        of_spark = "sum", "mean", "max", "nunique"
        columns += [f"{call} AS {name}_{window}" for name, call in zip(of_spark, calls)]
    return frame.selectExpr("*", *columns)


def with_copies(frame: Any, key: str) -> Any:
    """Return sorted rows with as many new columns, copies of one, from workers that compute nothing."""
    import pyarrow as pa

    names = [column.name for column in definition(key).columns]

    def copy(batches: Any) -> Any:
        for batch in batches:
            new = [batch["amount"]] * len(names)
            yield pa.RecordBatch.from_arrays([*batch.columns, *new], [*batch.schema.names, *names])

    schema = ", ".join(
        [f"{name} {kind}" for name, kind in frame.dtypes] + [f"{name} double" for name in names]
    )
    return frame.sortWithinPartitions(key, "time").mapInArrow(copy, schema)


def tree_seconds() -> float:
    """Return the processor time of this process and all that it has started."""
    parents, ticks = {}, {}
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        parents[folder.name], ticks[folder.name] = fields[1], sum(map(int, fields[11:15]))
    own, found = str(os.getpid()), 0
    for process, count in ticks.items():
        parent = process
        while parent != own and parent in parents:
            parent = parents[parent]
        found += count if parent == own else 0
    return found / os.sysconf("SC_CLK_TCK")


def spark_runs(given: dict[str, Any], key: str, threads: int, share: int, folder: str) -> dict[str, Any]:
    """Return the frames to compute on Spark, and compare a share of their keys with the results in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from rollstat.spark import session

    other = "merchant" if key == "customer" else "customer"
    size = len(given["amount"])
    rows = pa.table({**given, "row": np.arange(size)})
    place = rows.column_names.index("time")
    rows = rows.set_column(place, "time", rows["time"].cast(pa.timestamp("us", "UTC")))
    pq.write_table(rows, f"{folder}/{key}", row_group_size=-(-size // (4 * threads)))
    conf = {"spark.sql.shuffle.partitions": 4 * threads, "spark.sql.session.timeZone": "UTC"}
    spark = session(f"local[{threads}]", app="features", conf=conf | {"spark.driver.memory": "3g"})
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(f"{folder}/{key}")
    found = {
        "rollstat on Spark": definition(key).compute(frame),
        "Spark SQL, 24 of 36": with_spark_sql(frame, key, other),
        "Spark, a plan that copies": with_copies(frame.repartition(4 * threads, key), key),
    }
    expected = definition(key).compute(rows)
    for result in list(found.values())[:2]:
        part = result.where(f"{key} % {share} = 0").toArrow().sort_by("row")
        columns = [each for each in result.columns if each not in rows.column_names]
        compare(columns, expected.take(part["row"]), part, part.num_rows)
    return found


def skewed(n: int) -> dict[str, np.ndarray]:
    """Return transactions of which one customer has 15 %, and customers with five rows a quarter."""
    given = transactions(n)
    rng = np.random.default_rng(1)
    customer = given["customer"] + 1
    order = rng.permutation(n)
    few, many = order[: n // 20 * 5], order[n // 20 * 5 :][: n * 3 // 20]
    customer[few] = n + np.arange(len(few)) // 5
    customer[many] = 0
    return given | {"customer": customer}


def executors_of(spark: Any) -> list[int]:
    """Return the processes of the executors."""
    found, port = [], spark.conf.get("spark.driver.port")
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            text = file.read_bytes().decode(errors="replace")
            if "CoarseGrainedExecutorBackend" in text and f":{port}\0" in text:
                found.append(int(file.parent.name))
    return found


def kill_once(spark: Any, share: float, stage: int, killed: list[str]) -> None:
    """Kill an executor once this share of the tasks of a stage, counted from the first, has ended."""
    tracker, seen = spark.sparkContext.statusTracker(), []
    while True:
        time.sleep(0.1)
        for number in tracker.getActiveStageIds():
            info = tracker.getStageInfo(number)
            if info is None or info.numTasks < _FEWEST_TASKS:
                continue
            seen += [number] if number not in seen else []
            if info.numCompletedTasks >= share * info.numTasks and seen.index(number) == stage:
                victim = executors_of(spark)[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(f"after {info.numCompletedTasks} of {info.numTasks} tasks of stage {stage + 1}")
                return


def checksums(frame: Any) -> list[dict[str, int]]:
    """Return row counts and a checksum of each feature, of every 64th customer and of the others."""
    from pyspark.sql import functions as F

    sums = [
        F.sum(F.hash("row", name)).alias(name) for name in frame.columns if name not in ("row", "customer")
    ]
    groups = frame.groupBy((F.col("customer") % 64 == 0).alias("few"))
    return [row.asDict() for row in groups.agg(F.count("row").alias("rows"), *sums).sort("few").collect()]


def measure_cluster(n: int, folder: str) -> None:
    """Compute features on executors of 1 GB without and with kills, and compare row counts and checksums."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import functions as F

    from rollstat.spark import session

    rows = pa.table({**skewed(n), "row": np.arange(n)})
    place = rows.column_names.index("time")
    rows = rows.set_column(place, "time", rows["time"].cast(pa.timestamp("us", "UTC")))
    pq.write_table(rows, f"{folder}/rows", row_group_size=-(-n // 32))
    few = rows.filter(rows["customer"].to_numpy() % 64 == 0)
    del rows
    pq.write_table(definition("customer").compute(few, threads=1), f"{folder}/few")
    del few
    conf = {
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executor.pyspark.memory": "1g",
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[1]),
        "spark.sql.adaptive.coalescePartitions.enabled": False,
        "spark.sql.files.maxPartitionBytes": "16m",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": 32,
    }
    spark = session("local-cluster[2,1,1024]", app="features", conf=conf)
    spark.sparkContext.setLogLevel("OFF")
    given = spark.read.parquet(f"{folder}/rows")
    names = [column.name for column in definition("customer").columns]
    result = definition("customer").compute(given)
    found = {}
    for name, share in (("without kills", None), ("with kills", 0.4)):
        killed: list[str] = []
        watch = [Thread(target=kill_once, args=(spark, share, stage, killed)) for stage in (0, 1)]
        for thread in watch if share else []:
            thread.start()
        start = time.perf_counter(), tree_seconds()
        found[name] = checksums(result.select("row", "customer", *names))
        taken = time.perf_counter() - start[0], tree_seconds() - start[1]
        print(f"{name}: {taken[0]:.0f} s, CPU {taken[1]:.0f} s; killed {', '.join(killed)}", flush=True)
    assert len(killed) == 2
    assert found["with kills"] == found["without kills"], found
    others, own = found["with kills"]
    assert others["rows"] + own["rows"] == n
    kinds = dict(result.dtypes)
    exact = [name for name in names if not name.startswith(("sum", "mean"))]
    few = spark.read.parquet(f"{folder}/few").select(
        "row", "customer", *(F.col(name).cast(kinds[name]) for name in exact)
    )
    (expected,) = checksums(few)
    assert expected == {name: own[name] for name in expected}
    print(f"{n:,} rows and {len(names)} features are equal")
    spark.stop()


def compare(names: list[str], expected: Any, found: Any, rows: int) -> None:
    """Raise unless two frames have the same features in the first rows; sums and counts may be 0 for null."""
    for name in names:
        one, two = (np.asarray(frame[name], float)[:rows] for frame in (expected, found))
        if name.startswith(("sum", "nunique")):
            one, two = np.nan_to_num(one), np.nan_to_num(two)
        np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-7, err_msg=name)


def seconds(run: Callable[[], Any], processes: bool) -> tuple[float, float]:
    """Return the seconds that a call takes, and those of all its threads, and perhaps its processes."""
    processor = tree_seconds if processes else time.process_time
    start = time.perf_counter(), processor()
    run()
    return time.perf_counter() - start[0], processor() - start[1]


def runs_of(given: dict[str, Any], key: str, threads: int, share: int) -> dict[str, tuple[Any, int]]:
    """Return the calls to time, and by how much the time of each is to be multiplied."""
    import polars as pl
    import pyarrow as pa

    other = "merchant" if key == "customer" else "customer"
    features, frame, arrow = definition(key), pl.DataFrame(given), pa.table(given)
    plain = pd.DataFrame(given)
    few = plain[plain[key] % share == 0].reset_index(drop=True) if share > 1 else plain
    again = frame.select(key, "time")
    return {
        "rollstat": (lambda: features.compute(frame, threads=threads), 1),
        "rollstat, pandas": (lambda: features.compute(plain, threads=threads), 1),
        "rollstat, at as many times": (lambda: features.compute(frame, at=again, threads=threads), 1),
        "polars": (lambda: with_polars(frame, key, other), 1),
        "duckdb": (lambda: with_duckdb(arrow, key, other, threads), 1),
        "pandas": (lambda: with_pandas(few, key, other), round(len(plain) / max(len(few), 1))),
        "rollstat, of the share": (lambda: features.compute(few, threads=threads), 1),
    }


def measure(key: str, arguments: argparse.Namespace, folder: str) -> list[str]:
    """Compare the libraries for one kind of keys; return the lines of a table."""
    given, names = transactions(arguments.n), [column.name for column in definition(key).columns]
    runs = runs_of(given, key, arguments.threads, arguments.share)
    runs = {name: run for name, run in runs.items() if name not in arguments.without}
    definition(key).compute(pd.DataFrame(transactions(1_000)))
    with Peak() as peak:
        results = {"rollstat": runs["rollstat"][0]()}
    results |= {name: run() for name, (run, _) in runs.items() if name not in results}
    for name in set(results) & {"polars", "duckdb", "rollstat, pandas", "rollstat, at as many times"}:
        compare(names, results["rollstat"], results[name], arguments.n)
    if "pandas" in results:
        compare(names, results["rollstat, of the share"], results["pandas"], arguments.n)
    size = sum(results["rollstat"][name].estimated_size() for name in results["rollstat"].columns)
    held = sum(values.nbytes for values in given.values())
    results.clear()
    runs.pop("rollstat, of the share")
    if "spark" not in arguments.without:
        frames = spark_runs(given, key, arguments.threads, arguments.share, folder)
        for name, frame in frames.items():
            runs[name] = (frame.write.format("noop").mode("overwrite").save, 1)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for turn in range(arguments.rounds):
        for name, (run, _) in runs.items():
            if turn == 0 or name.startswith(("rollstat", "polars")):  # the others take minutes
                taken[name].append(seconds(run, "Spark" in name))
    table = [["", "seconds", "CPU seconds", "times as long", "CPU"]]
    own = np.median(taken["rollstat"], axis=0)
    for name, times in taken.items():
        wall, processor = np.median(times, axis=0) * runs[name][1]
        table.append(
            [name, f"{wall:.2f}", f"{processor:.2f}", f"{wall / own[0]:.1f}", f"{processor / own[1]:.1f}"]
        )
    text = (
        f"{arguments.n:,} rows by {key}, {arguments.threads} threads. Peak memory, relative to input and "
        f"result: {(held + peak.bytes) / size:.2f}."
    )
    for row in (*table, [text]):
        print("".join(f"{cell:>28}" for cell in row), flush=True)
    return [*list_table(table), text, ""]


def measure_stream() -> list[str]:
    """Measure single pushes and queries of a stream over keys with more and more rows in their windows."""
    table = [["rows in the widest window", "query, µs", "9 of 10 below", "push, µs", "9 of 10 below"]]
    keys, features = 30, definition("customer")
    for rows in (10, 100, 1_000):
        given = pd.DataFrame(transactions(keys * rows)).assign(customer=np.arange(keys * rows) % keys)
        given["time"] = pd.date_range("2026-01-01", periods=len(given), freq=pd.Timedelta("89D") / len(given))
        stream = f.FeatureStream.from_frame(features, given)
        newest = given["time"].max()
        labels = pd.DataFrame({"customer": range(keys), "time": newest})
        expected = features.compute(given, at=labels).iloc[:, 2:].to_numpy()
        found = np.array([list(stream.query(key, newest).values()) for key in range(keys)], float)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        taken: dict[str, list[float]] = {"query": [], "push": []}
        calls = {"query": stream.query, "push": stream.push}
        for i in range(40 * keys):
            time_of_row = newest + pd.Timedelta(i, "s")
            row = {"customer": i % keys, "merchant": i % 50, "amount": i / 8, "time": time_of_row}
            for name, given_row in (("query", (i % keys, time_of_row)), ("push", (row,))):
                start = time.perf_counter()
                calls[name](*given_row)
                taken[name].append(time.perf_counter() - start)
        points = [np.quantile(taken[name], q) * 1e6 for name in taken for q in (0.5, 0.9)]
        table.append([f"{rows:,}", *(f"{point:.1f}" for point in points)])
        print("".join(f"{cell:>28}" for cell in table[-1]), flush=True)
    return list_table(table)


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=2_000_000)
    parser.add_argument("--key", nargs="+", choices=["customer", "merchant"], default=["customer"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--share", type=int, default=50, help="pandas takes one key of so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[], help="libraries to leave out, or spark")
    parser.add_argument("--stream", action="store_true", help="measure a stream instead")
    parser.add_argument("--cluster", action="store_true", help="kill executors of Spark instead")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(arguments.threads)  # read when polars is loaded
    if arguments.stream:
        write(arguments.output, measure_stream())
        return
    lines = []
    if arguments.cluster:
        with tempfile.TemporaryDirectory() as folder:
            measure_cluster(arguments.n, folder)
        return
    with tiers.using("fast"), tempfile.TemporaryDirectory() as folder:
        for key in arguments.key:
            lines += measure(key, arguments, folder)
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
