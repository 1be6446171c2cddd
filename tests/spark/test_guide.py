"""Run the guide's page on Spark, and submit its job to a cluster."""

import doctest
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rollstat
from rollstat.compile.cache import host_levels
from rollstat.precompile.prebuild import prebuild
from tests.docs.test_guide import SETUP, blocks
from tests.spark.cluster import standalone

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"

pytestmark = pytest.mark.spark


def run(command, **environment):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"} | environment
    done = subprocess.run(
        command, check=False, env=environment, capture_output=True, text=True, cwd=environment["PWD"]
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done


@pytest.mark.parametrize(
    "page", ["features.rst", "spark.rst", "spark_incremental.rst", "spark_sql.rst", "spark_streaming.rst"]
)
def test_a_page(spark, page):
    # The session of all tests serves the page, with the settings that the page has.
    text = (GUIDE / page).read_text().replace(">>> spark.stop()\n", "")
    whole = doctest.DocTestParser().get_doctest(text, {}, page, str(GUIDE / page), 0)
    assert len(whole.examples) > 7
    changed = ("shuffle.partitions", "session.timeZone", "execution.arrow.maxRecordsPerBatch")
    before = {f"spark.sql.{name}": spark.conf.get(f"spark.sql.{name}") for name in changed}
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    try:
        for test in blocks(text, page) if SETUP in text else [whole]:
            report = io.StringIO()
            assert doctest.DocTestRunner().run(test, out=report.write).failed == 0, report.getvalue()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@pytest.mark.long  # the page on streaming runs the same query
def test_the_script_for_kafka_runs_on_files(tmp_path):
    (tmp_path / "in").mkdir()
    lines = [
        f'{{"sensor": "a", "time": "2025-01-01T00:{i // 6:02}:{i % 6}0Z", "value": {i}}}\n' for i in range(60)
    ]
    (tmp_path / "in" / "1.json").write_text("".join(lines) + '{"sensor": "a", "value": 5}\nno message\n')
    folders = [str(tmp_path / name) for name in ("in", "out", "checkpoint")]
    few_stores = "--conf spark.sql.shuffle.partitions=2 pyspark-shell"  # a store of states for each
    command = [sys.executable, str(GUIDE / "examples" / "kafka_stream.py"), *folders]
    done = run(command, PWD=str(tmp_path), PYSPARK_SUBMIT_ARGS=few_stores)
    assert "0 {'rows': 0, 'late': 0, 'null_time': 2}" in done.stdout
    assert "1 {'rows': 54, 'late': 0, 'null_time': 0}" in done.stdout


def with_kernels(folder):
    """Copy the package into a folder, as a wheel that has compiled kernels of medians installs it."""
    package = folder / "rollstat"
    shutil.copytree(ROOT / "rollstat", package, ignore=shutil.ignore_patterns("__pycache__", "_prebuilt"))
    prebuild(package / "_prebuilt", host_levels()[:1], ["median"], ["float64"])
    return package


@pytest.mark.long
def test_the_job_is_submitted_to_a_cluster_with_its_kernels(tmp_path):
    package = with_kernels(tmp_path / "wheel")
    rows, sensors = 30_000, 3
    seconds = 1735689600 + np.arange(rows)
    value = np.random.default_rng(0).normal(size=rows)
    table = pa.table(
        {
            "sensor": pa.array(np.arange(rows) % sensors),
            "time": pa.array(seconds * 1_000_000).cast(pa.timestamp("us", "UTC")),
            "value": value,
        }
    )
    readings = tmp_path / "readings"
    readings.mkdir()
    for part in range(4):
        pq.write_table(table.filter(pa.array(np.arange(rows) % 4 == part)), readings / f"{part}.parquet")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["sh", str(GUIDE / "examples" / "submit.sh"), str(readings), str(tmp_path / "result")]
    with standalone(tmp_path) as master:
        environment = {"PYTHONPATH": str(package.parent), "PYSPARK_PYTHON": sys.executable}
        run(command, MASTER=master, PATH=path, PWD=str(tmp_path), **environment)
    found = pq.read_table(tmp_path / "result").sort_by("time")
    assert found.num_rows == rows
    for sensor in range(sensors):
        times = seconds[sensor::sensors].astype("M8[s]")
        wanted = rollstat.rolling_median(value[sensor::sensors], "10min", times=times)
        assert found["typical"].to_numpy()[sensor::sensors].tolist() == wanted.tolist()
    # Every executor has the compiled kernels.
    assert len(list(tmp_path.glob("worker*/app-*/*/shipped/rollstat/_prebuilt"))) == 2


@pytest.mark.long
def test_executors_with_compiled_kernels_compile_nothing(tmp_path):
    package = with_kernels(tmp_path)
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    example = GUIDE / "examples" / "compiled_on_executors.py"
    done = run(
        [sys.executable, str(example)], PWD=str(tmp_path), PYSPARK_PYTHON=sys.executable, **environment
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert re.search(r"wheel\| +[1-9]", done.stdout)
    shutil.rmtree(package / "_prebuilt")
    done = run(
        [sys.executable, str(example)], PWD=str(tmp_path), PYSPARK_PYTHON=sys.executable, **environment
    )
    assert "compiled" in done.stdout
    assert done.stdout.splitlines()[-1] != "[]"
