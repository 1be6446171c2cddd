"""Run the guide's page on Spark, and submit its job to a cluster."""

import doctest
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
from rollstat._prebuild import levels_to_build, prebuild
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


def test_the_page(tmp_path):
    examples = doctest.DocTestParser().get_examples((GUIDE / "spark.rst").read_text())
    assert len(examples) > 20
    run([sys.executable, "-m", "doctest", str(GUIDE / "spark.rst")], PWD=str(tmp_path))


@pytest.mark.long
def test_the_job_is_submitted_to_a_cluster_with_its_kernels(tmp_path):
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
        run(command, MASTER=master, PATH=path, PYSPARK_PYTHON=sys.executable, PWD=str(tmp_path))
    found = pq.read_table(tmp_path / "result").sort_by("time")
    assert found.num_rows == rows
    for sensor in range(sensors):
        times = seconds[sensor::sensors].astype("M8[s]")
        wanted = rollstat.rolling_median(value[sensor::sensors], "10min", times=times)
        assert found["typical"].to_numpy()[sensor::sensors].tolist() == wanted.tolist()
    # Executors took the kernels from the archive: they compiled none.
    shipped = {file.name for file in (tmp_path / "shipped" / "kernels" / "rollstat").iterdir()}
    assert shipped
    copies = list(tmp_path.glob("worker*/app-*/*/shipped"))
    assert len(copies) == 2
    for copy in copies:
        assert {file.name for file in (copy / "kernels" / "rollstat").iterdir()} == shipped


@pytest.mark.long
def test_executors_with_compiled_kernels_compile_nothing(tmp_path):
    package = tmp_path / "rollstat"
    shutil.copytree(ROOT / "rollstat", package, ignore=shutil.ignore_patterns("__pycache__", "_prebuilt"))
    prebuild(package / "_prebuilt", levels_to_build()[-1:], ["median"], ["float64"])
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
