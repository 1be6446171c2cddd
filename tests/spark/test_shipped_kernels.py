"""Kernels that the driver compiles reach the cache folders of the executors."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import rollstat
from rollstat._cache import MARKER, cache_folder
from rollstat.spark import installed_kernels, rolling_udf, shipped_kernels, udf
from rollstat.spark.installed_kernels import install_shipped_kernels
from rollstat.spark.shipped_kernels import _wanted, used_files, warmup

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import sys, time
from pathlib import Path
import rollstat.spark as rs

folder = Path(sys.argv[1])
conf = {"spark.executorEnv.NUMBA_CACHE_DIR": folder, "spark.sql.shuffle.partitions": 4}
spark = rs.session("local-cluster[2,2,2048]", conf=conf)
frame = spark.range(0, 40_000, 1, 4).selectExpr("id % 50 as key", "id as row", "rand(1) as x")
aggs = {"m": ("median", "x")}
shipped = rs.warmup(spark, aggs, df=frame, progress=False)
assert shipped.files

def once(result):
    begin = time.perf_counter()
    result.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin

def copy(frames):
    for frame in frames:
        yield frame

trivial = once(frame.repartition("key").sortWithinPartitions("row").mapInPandas(copy, frame.schema))
first = once(rs.rolling(frame, partition_by="key", order_by="row", window=100, aggs=aggs))
print(f"a trivial function of pandas {trivial:.2f} s, then rolling {first:.2f} s")
there = [file for file in (folder / "rollstat").iterdir() if not file.name.startswith("new-")]
assert len(there) == shipped.files, (len(there), shipped.files)
spark.stop()
"""


def test_the_files_that_calls_need_are_found():
    rollstat.warmup("count", "float64", progress=False)
    names = used_files(["count"], "float64")
    there = {file.name for file in cache_folder().iterdir()}
    kernels = [name for name in names if not name.endswith(MARKER)]
    assert kernels
    assert set(names) <= there


def test_workers_copy_what_is_shipped_once(tmp_path, monkeypatch):
    cache, root = tmp_path / "cache", tmp_path / "files"
    archive = root / "rollstat_kernels_12.tar.gz"
    archive.mkdir(parents=True)
    cache.mkdir()
    (archive / "a").write_bytes(b"shipped")
    (archive / "b").write_bytes(b"shipped")
    (cache / "b").write_bytes(b"compiled here")
    (root / "other").mkdir()
    monkeypatch.setattr(installed_kernels, "cache_folder", lambda: cache)
    monkeypatch.setattr(installed_kernels, "_installed", set())
    monkeypatch.setattr(installed_kernels.SparkFiles, "getRootDirectory", lambda: str(root))
    install_shipped_kernels()
    assert {file.name: file.read_bytes() for file in cache.iterdir()} == {
        "a": b"shipped",
        "b": b"compiled here",
    }
    (cache / "a").unlink()
    install_shipped_kernels()
    assert [file.name for file in cache.iterdir()] == ["b"]
    monkeypatch.setattr(installed_kernels, "cache_folder", lambda: None)
    install_shipped_kernels()


def test_an_aggregate_takes_what_is_shipped_once_for_each_job(monkeypatch):
    taken = []
    monkeypatch.setattr(udf, "install_shipped_kernels", lambda: taken.append("kernels"))
    median = rolling_udf("median").func
    for _ in range(3):  # groups
        assert median(pa.array([1.0, 3.0])) == 2
    assert taken == ["kernels"]


@pytest.mark.spark
def test_types_of_columns_decide_what_is_compiled(spark, monkeypatch):
    frame = spark.range(3).selectExpr("id", "cast(id as short) as small", "1F as x", "'a' as s")
    wanted = _wanted({"m": ("median", "small"), "c": ("corr", "x", "id")}, frame)
    assert wanted == {("median", "int64"), ("corr", "float32")}
    decimals = frame.selectExpr("cast(id as decimal(9, 2)) as d", "cast(id as decimal(38, 2)) as wide")
    assert _wanted({"m": ("mean", "d")}, decimals) == {("sum", "int64"), ("count", "int64")}
    assert _wanted({"s": ("sum", "wide"), "m": ("max", "wide")}, decimals) == {
        ("sum", "int64"),
        ("max", "int64"),
    }
    named = _wanted({"m": ("median", "anything")}, None)
    assert named == {("median", dtype) for dtype in ("float64", "float32", "int64")}
    with pytest.raises(ValueError, match=r"aggs: column 'y' is not among: id, small, x, s"):
        warmup(spark, {"m": ("median", "y")}, df=frame)
    with pytest.raises(ValueError, match="statistic must be one of"):
        warmup(spark, {"m": ("middle", "x")}, df=frame)
    monkeypatch.setattr(shipped_kernels, "cache_folder", lambda: None)
    with pytest.raises(RuntimeError, match="set NUMBA_CACHE_DIR to a folder"):
        warmup(spark, {"m": ("median", "x")}, df=frame)


@pytest.mark.spark
def test_the_same_kernels_may_be_shipped_again(spark, tmp_path):
    files = [tmp_path / name for name in ("a", "b")]
    for content in ("first", "first", "other"):
        for file in files:
            file.write_text(content)
        shipped_kernels._ship(spark, files)


@pytest.mark.spark
@pytest.mark.long
def test_executors_with_empty_cache_folders_compile_nothing(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    environment = {"PYTHONPATH": str(ROOT), "SPARK_WORKER_DIR": str(tmp_path / "work")}
    done = subprocess.run(
        command, env=os.environ | environment, check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-4000:]
