"""Everything runs on Spark Connect too, from a read-only installation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "rollstat"

SCRIPT = """
import numpy as np, pyarrow as pa
import rollstat
import rollstat.spark as rs
from rollstat.spark import rolling, rolling_udf, session
from rollstat.compile.folders import cache_folder

spark = session(remote="local[2]", conf={"spark.sql.shuffle.partitions": 2})
assert not hasattr(spark, "_jvm"), type(spark)
frame = spark.range(0, 2000, 1, 3).selectExpr("id % 2 as key", "id as row", "(id * 7919) % 101 * 1D as x")
x = np.arange(2000) * 7919 % 101 * 1.0

def column(result, name="m"):
    return result.toArrow().sort_by("row")[name].to_numpy()

aggs = {"m": ("median", "x"), "at": ("argkth", "x", {"k": 1})}
keyed = column(rolling(frame, partition_by="key", order_by="row", window=50, aggs=aggs))
for key in (0, 1):
    np.testing.assert_array_equal(keyed[key::2], rollstat.rolling_median(x[key::2], 50))
whole = rolling(frame, order_by="row", window=50, aggs=aggs, split=4)
np.testing.assert_array_equal(column(whole), rollstat.rolling_median(x, 50))
aggs = {"m": ("kth", "x", {"k": 9}), "s": ("sum", "row")}
growing = rolling(frame, order_by="row", window=rollstat.Expanding(), aggs=aggs, split=4)
np.testing.assert_array_equal(column(growing), rollstat.rolling_kth(x, 9, rollstat.Expanding()))
np.testing.assert_array_equal(column(growing, "s"), np.cumsum(np.arange(2000)))
lists = frame.groupBy("key").agg({"x": "collect_list"}).withColumnsRenamed({"collect_list(x)": "x"})
second = rolling_udf("kth", 3, k=2)
assert lists.select(second("x").alias("r")).where("size(r) = 1000").count() == 2
median = rolling_udf("median")
assert frame.agg(median("x").alias("m")).collect()[0].m == np.median(x)
from pyspark.sql import functions as F
nested = frame.selectExpr("struct(key, timestamp_seconds(row) as at) as meta", "row", "x", "string(key) as s",
                          "cast(row as decimal(9, 2)) as d")
aggs = [rs.median(nested.x).alias("m"), rs.sum("d"), rs.last("s")]
result = rolling(nested, partition_by="META.key", order_by=F.col("meta.at"),
                 window="interval '1' minute", aggs=aggs)
assert result.columns == ["meta", "row", "x", "s", "d", "m", "d_sum", "s_last"]
by_object = column(result)
rs.register(spark)
nested.selectExpr("meta.*", "row", "x").createOrReplaceTempView("readings")
by_sql = spark.sql("SELECT * FROM rollstat_rolling(TABLE(readings) PARTITION BY key ORDER BY at, "
                   "window => '1 minute', aggs => 'median(x) AS m')")
np.testing.assert_array_equal(column(by_sql), by_object)
spans = [rs.sum("row").over(3, "20 seconds", closed="left")]
at = nested.selectExpr("meta.key", "meta.at", "row + 1 as label").where("label % 7 = 0")
labelled = rolling(nested.selectExpr("meta.*", "row"), partition_by="key", order_by="at", at=at, aggs=spans)
for found in labelled.where("label > 30").collect():
    assert found.row_sum_3 == 3 * (found.label - 1) - 12, found
    assert found.row_sum_20s == 10 * (found.label - 1) - 110, found
try:
    rolling(frame, order_by=F.col("nope"), window=2, aggs=aggs)
except ValueError as error:
    assert "order_by: 'nope' is not a column of df" in str(error)
else:
    raise AssertionError("a column that does not exist was taken")
assert "rollstat-cache" in str(cache_folder()), cache_folder()
print("done")
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.long
def test_connect_from_a_read_only_installation_without_a_home(tmp_path):
    copy = tmp_path / "installed"
    shutil.copytree(PACKAGE, copy / "rollstat", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy / "rollstat", *(copy / "rollstat").rglob("*/")]:
        if folder.is_dir():
            (folder / "__pycache__").write_text(
                "a file here keeps even an administrator from making the folder"
            )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NUMBA_", "PYTHON"))
    }
    environment |= {"HOME": "/dev/null", "PYTHONPATH": str(copy), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.strip() == "done"


STREAM = """
import sys
import numpy as np
from pyspark.sql import functions as F
import rollstat.spark as rs

folder = sys.argv[1]
spark = rs.session(remote="local[2]", conf={"spark.sql.shuffle.partitions": 2})
text = ["id % 2 as key", "id as row", "timestamp_seconds(60 + id) as time", "id * 1D as x", "id * 2D as y"]
spark.range(60).selectExpr(*text).write.parquet(f"{folder}/in")

def run(column="x", window=3):
    stream = spark.readStream.schema("key long, row long, time timestamp, x double, y double")
    result = rs.rolling_stream(
        stream.parquet(f"{folder}/in"),
        partition_by="key",
        order_by="time",
        window=window,
        aggs={"m": ("median", column)},
        watermark="5 seconds",
    )
    counts = result.groupBy(F.window("time", "10 seconds")).agg(F.count("m").alias("n"))
    writer = counts.select("window.start", "n").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", f"{folder}/state").option("path", f"{folder}/out")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    if query.exception() is not None:
        raise query.exception()

run()
found = [row.n for row in spark.read.parquet(f"{folder}/out").orderBy("start").collect()]
assert found == [6, 10, 10, 10, 10], found
spark.range(60, 70).selectExpr(*text).write.mode("append").parquet(f"{folder}/in")
rejected = (({"column": "y"}, "inputs was (x double) and is (y double)"), ({"window": 9}, "window was 3"))
for changes, message in rejected:
    try:
        run(**changes)
    except Exception as error:
        assert message in str(error), error
    else:
        raise AssertionError(changes)
run(window=2)

from rollstat import features as f

columns = [f.sum("x").over(3, "4 s"), f.max("y").over(2).by("half")]
spending = f.Features(columns, by="key", on="time", order_by="row")
schema = "key long, row long, time timestamp, x double, y double, half long"
rows = spark.range(40).selectExpr(*text, "id div 2 % 2 as half")
for number, part in enumerate(("row < 20", "row in (22, 23)", "row in (20, 21) or row > 23")):
    rows.where(part).coalesce(1).write.mode("append").parquet(f"{folder}/parts")
    stream = spark.readStream.schema(schema).parquet(f"{folder}/parts")  # each run is a batch
    writer = spending.write_stream(stream).option("checkpointLocation", f"{folder}/features")
    query = writer.format("parquet").trigger(availableNow=True).start(f"{folder}/written")
    query.awaitTermination()
    assert query.exception() is None, query.exception()
frames = spark.read.parquet(f"{folder}/written"), spending.compute(rows)
found, wanted = (frame.toArrow().sort_by("row") for frame in frames)
assert found["row"].to_pylist() == list(range(40)), found["row"]
for one, other in zip(found.to_pylist(), wanted.to_pylist()):
    assert one == other or one["row"] in (22, 23), (one, other)  # these were written before two others came
print("done")
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.long
def test_streams_on_connect(tmp_path):
    command = [sys.executable, "-c", STREAM, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines()[-1] == "done"
