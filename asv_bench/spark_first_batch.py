"""Time the first job on executors that have just started: a rolling job beside a trivial function of pandas.

    python asv_bench/spark_first_batch.py

Each form runs in processes of its own on ``local-cluster[2,2,2048]`` with an empty cache folder. Executors
have no compiled kernels, those that `rollstat.spark.warmup` ships, or those of a wheel; ``without daemon``,
the workers of the wheel are forked from Spark's own daemon. A job without Python starts the executors. Then
comes the first job with Python workers: a trivial one, with Spark's own daemon, or a rolling one. It includes
the start of the workers, imports, and loading or compiling. A line shows the form and the seconds of that job
and of the same job again.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rollstat

FORMS = ("trivial", "nothing", "shipped", "wheel", "without daemon")
AGGS = {"m": ("median", "x")}


def run(form: str, folder: Path) -> None:
    """Run both jobs and print their seconds."""
    from rollstat.spark import rolling, session, warmup

    conf = {"spark.executorEnv.NUMBA_CACHE_DIR": folder, "spark.sql.shuffle.partitions": 4}
    if form in ("trivial", "without daemon"):
        conf["spark.python.daemon.module"] = "pyspark.daemon"
    spark = session("local-cluster[2,2,2048]", conf=conf)
    frame = spark.range(0, 40_000, 1, 4).selectExpr("id % 50 as key", "id as row", "rand(1) as x")
    if form == "shipped":
        warmup(spark, AGGS, df=frame, progress=False)

    def seconds(result):
        begin = time.perf_counter()
        result.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - begin

    def copy(frames):
        yield from frames

    sorted_rows = frame.repartition("key").sortWithinPartitions("row")
    for _ in range(3):
        seconds(sorted_rows)
    job = sorted_rows.mapInPandas(copy, frame.schema)
    if form != "trivial":
        job = rolling(frame, partition_by="key", order_by="row", window=100, aggs=AGGS)
    print(f"{form:<15}", *(f"{seconds(job):.2f}" for _ in range(2)), flush=True)
    spark.stop()


def main() -> None:
    """Measure all forms in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.form:
        run(given.form, given.folder)
        return
    with tempfile.TemporaryDirectory() as name:
        package = Path(name) / "wheel" / "rollstat"
        source = Path(rollstat.__file__).parent
        shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "_prebuilt"))
        if (source / "_prebuilt").is_dir():
            shutil.copytree(source / "_prebuilt", package / "_prebuilt")
        else:
            command = [sys.executable, "-m", "rollstat._prebuild", str(package / "_prebuilt")]
            command += ["--statistics", "median", "--dtypes", "float64", "--jobs", "2"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for number in range(given.rounds):
            for form in FORMS:
                folder = Path(name) / f"{form}{number}"
                places = package.parent if form in ("wheel", "without daemon") else source.parent
                environment = os.environ | {
                    "PYTHONPATH": str(places),
                    "SPARK_WORKER_DIR": str(folder / "work"),
                }
                folder.mkdir()
                command = [sys.executable, __file__, "--form", form, "--folder", str(folder)]
                subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
