"""Time the first job on executors that have just started: a rolling job beside trivial functions.

    python asv_bench/spark_first_batch.py

Each form runs in processes of its own on ``local-cluster[2,2,2048]`` with an empty cache folder. Executors
have no compiled kernels, or those of a wheel. A job without Python starts the executors. Then comes the first
job with Python workers. It includes the start of the workers, imports, and loading or compiling.

Two trivial jobs stand beside the rolling one. ``trivial pandas`` returns the frames that it gets, after an
exchange and a sort that Spark has run before. ``trivial Arrow`` is the rolling job, its exchange, sort and
columns included, with a function that returns a column as it is.

A line shows the form and the seconds of the first job and of the same job again; the last lines show medians
of the first job and how far they are from those of both trivial jobs.
"""

import argparse
import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import pyarrow as pa

import rollstat
from rollstat.compile.cache import host_levels

TRIVIAL = ("trivial pandas", "trivial Arrow")
FORMS = (*TRIVIAL, "nothing", "wheel")
AGGS = {"m": ("median", "x")}


def values_only(columns):
    """Return the column of values, which comes after the key and the order."""
    for arrays in columns:
        yield pa.StructArray.from_arrays([arrays[2]], names=["rollstat_new0"])


def run(form: str, folder: Path) -> None:
    """Run both jobs and print their seconds."""
    from rollstat.spark import rolling, route, session

    conf = {"spark.executorEnv.NUMBA_CACHE_DIR": folder, "spark.sql.shuffle.partitions": 4}
    spark = session("local-cluster[2,2,2048]", conf=conf)
    frame = spark.range(0, 40_000, 1, 4).selectExpr("id % 50 as key", "id as row", "rand(1) as x")

    def seconds(result):
        begin = time.perf_counter()
        result.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - begin

    def copy(frames):
        yield from frames

    def rolling_job():
        return rolling(frame, partition_by="key", order_by="row", window=100, aggs=AGGS)

    sorted_rows = frame.repartition("key").sortWithinPartitions("row")
    for _ in range(3):
        seconds(sorted_rows)
    if form == "trivial pandas":
        job = sorted_rows.mapInPandas(copy, frame.schema)
    elif form == "trivial Arrow":
        with mock.patch.object(route, "ResultsJob", return_value=values_only):
            job = rolling_job()
    else:
        job = rolling_job()
    print(*(f"{seconds(job):.2f}" for _ in range(2)), flush=True)
    spark.stop()


def summary(first: dict[str, list[float]]) -> None:
    """Print medians of the first job, and their differences from those of the trivial jobs."""
    medians = {form: statistics.median(times) for form, times in first.items()}
    trivial = [form for form in TRIVIAL if form in medians]
    print(f"\n{'':<15}{'median':>8}" + "".join(f"  above {name}" for name in trivial))
    for form, median in medians.items():
        above = "".join(f"{median - medians[name]:>{len(name) + 8}.2f}" for name in trivial)
        print(f"{form:<15}{median:8.2f}{above}")


def main() -> None:
    """Measure all forms in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS, metavar="FORM")
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.form:
        run(given.form, given.folder)
        return
    with tempfile.TemporaryDirectory() as name:
        source = Path(rollstat.__file__).parent
        bare, package = Path(name) / "bare" / "rollstat", Path(name) / "wheel" / "rollstat"
        for copy in (bare, package):
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "_prebuilt"))
        if (source / "_prebuilt").is_dir():
            shutil.copytree(source / "_prebuilt", package / "_prebuilt")
        else:
            command = [sys.executable, "-m", "rollstat.precompile.prebuild", str(package / "_prebuilt")]
            command += ["--statistics", "median", "--dtypes", "float64", "--jobs", "2"]
            command += ["--levels", host_levels()[0]]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        compileall.compile_dir(name, quiet=1)  # as pip does
        first: dict[str, list[float]] = {form: [] for form in given.forms}
        for number in range(given.rounds):
            for form in given.forms:
                folder = Path(name) / f"{form}{number}"
                folder.mkdir()
                used = package if form == "wheel" else bare
                environment = os.environ | {
                    "PYTHONPATH": str(used.parent),
                    "SPARK_WORKER_DIR": str(folder / "work"),
                }
                command = [sys.executable, __file__, "--form", form, "--folder", str(folder)]
                pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
                done = subprocess.run(command, check=True, env=environment, text=True, **pipes)
                print(f"{form:<15}", done.stdout.strip(), flush=True)
                first[form].append(float(done.stdout.split()[0]))
        summary(first)


if __name__ == "__main__":
    main()
