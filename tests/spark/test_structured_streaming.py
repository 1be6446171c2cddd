"""Streams return each row exactly once, in order, and continue from the end of a batch."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

import rollstat
from rollstat.spark import rolling, rolling_stream
from rollstat.spark.structured_streaming import SHARDS, Pack, read_message

SCHEMA = "key struct<a: string, b: double>, row long, time timestamp, x double, list array<timestamp>"
AGGS = {
    "m": ("median", "x"),
    ("low", "high"): ("kth", "row", {"k": [1, -1]}),
    "at": ("argkth", "x", {"k": 1}),
    "aged": ("ewm_mean", "x", {"span": 4}),
    "aged_in_time": ("ewm_mean", "x", {"halflife": "5 seconds"}),
}


def readings(rows, seed=0):
    rng = np.random.default_rng(seed)
    times = pa.array((1383451200 + np.arange(rows)) * 1_000_000).cast(pa.timestamp("us", "UTC"))
    keys = [{"a": "ab"[i % 2], "b": [np.nan, None, 0.5][i % 3]} for i in range(rows)]
    return pa.table(
        {
            "key": pa.array(keys, pa.struct([("a", pa.string()), ("b", pa.float64())])),
            "row": np.arange(rows),
            "time": times,
            "x": pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.1),
            "list": pa.array([[t, None] for t in times], pa.list_(times.type)),
        }
    )


def write(table, folder, number):
    """Write a file with a modification time such that the stream reads files by number."""
    path = folder / "in" / f"{number}.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(table, path)
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def assert_same(found, expected):
    """Compare tables; exponential weights may round in other steps."""
    aged = [name for name in found.column_names if name.startswith("aged")]
    assert str(found.drop(aged).to_pylist()) == str(expected.drop(aged).to_pylist())
    for name in aged:
        assert found[name].to_pylist() == pytest.approx(expected[name].to_pylist(), rel=1e-12)


def test_messages_hold_one_shard_each():
    table = readings(60)
    table = table.append_column("hash", pa.array((np.arange(60, dtype=np.int32) % 6 - 3) * SHARDS // 2))
    batch = table.combine_chunks().to_batches()[0]
    (packed,) = Pack()([batch, batch.slice(0, 0)])
    assert packed.column(0).to_pylist() == [0, SHARDS // 2]
    for message in packed.column(1).to_pylist():
        (rows,) = read_message(message)
        keys = [row % 6 for row in rows["row"].to_pylist()]
        assert keys == sorted(keys)  # the rows of a hash are together
        assert rows.schema.names == table.schema.names[:-1]
    # Rows that wait in the state can be joined with those of a session in another time zone.
    zoned = batch.set_column(2, "time", batch["time"].cast(pa.timestamp("us", "Asia/Tokyo")))
    lists = pa.list_(pa.field("element", pa.timestamp("us", "Asia/Tokyo")))
    zoned = zoned.set_column(4, "list", batch["list"].cast(lists))
    (again,) = Pack()([zoned])
    (first,) = read_message(again.column(1)[0].as_py())
    assert first.schema.types == read_message(packed.column(1)[0].as_py())[0].schema.types


@pytest.mark.spark
def test_a_stream_stopped_and_started_again(spark, tmp_path):
    table = readings(700)
    (tmp_path / "in").mkdir()
    arguments = {
        "partition_by": "key",
        "order_by": ["time", "row"],
        "window": 20,
        "aggs": AGGS,
        "min_periods": 1,
    }
    # The first hundred rows are a batch; the rest comes in two runs of the query.
    start = spark.createDataFrame(table.slice(0, 100))
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    result = rolling_stream(stream, initial=start, **arguments)
    assert result.columns == [*table.column_names, "m", "low", "high", "at", "aged", "aged_in_time"]
    late = 0
    again = table.slice(100, 50)  # fifty rows come twice, too late
    swapped = table.slice(300, 100)  # these come after later rows, whose windows lack them
    write(table.slice(100, 200), tmp_path, 0)
    for number, part in enumerate(
        [table.slice(400, 60), pa.concat_tables([again, swapped, table.slice(460)])]
    ):
        write(part, tmp_path, number + 1)
        writer = result.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        query = (
            writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
        )
        query.awaitTermination()
        late += sum(progress.observedMetrics["rollstat"].late for progress in query.recentProgress)
    found = spark.read.parquet(str(tmp_path / "out")).toArrow().sort_by("row")
    assert late == 50
    assert found["row"].to_pylist() == list(range(100, 700))
    whole = rolling(spark.createDataFrame(table), **arguments).toArrow().sort_by("row")
    for part, first in ((found.slice(0, 300), 100), (found.slice(360), 460)):
        assert_same(part, whole.slice(first, part.num_rows))


@pytest.mark.spark
def test_behind_a_watermark_rows_come_in_order(spark, tmp_path):
    table = readings(400)
    mixed = table.take(pa.array(np.argsort(np.arange(400) + np.random.default_rng(1).integers(0, 40, 400))))
    for number in range(2):
        write(mixed.slice(200 * number, 200), tmp_path, number)
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    arguments = {"order_by": "time", "window": "30 seconds", "aggs": AGGS, "fill_value": -1}
    if pyspark.__version__.startswith("4.1."):
        with pytest.raises(RuntimeError, match=r"'key' is struct.*pyspark 4.1 cannot wait"):
            rolling_stream(stream, partition_by="key", watermark="40 seconds", **arguments)
        return
    result = rolling_stream(stream, partition_by="key", watermark="40 seconds", **arguments)
    writer = result.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).toArrow().sort_by("row")
    rows = found["row"].to_pylist()
    assert rows == list(range(len(rows)))
    assert 340 <= len(rows) <= 360
    whole = rolling(spark.createDataFrame(table), partition_by="key", **arguments).toArrow().sort_by("row")
    assert_same(found, whole.slice(0, len(rows)))


@pytest.mark.spark
def test_every_third_row_behind_a_watermark(spark, tmp_path):
    table = readings(300).select(["row", "time", "x"])
    for number, first in enumerate((60, 180)):
        write(table.slice(first, 120), tmp_path, number)
    frame = spark.createDataFrame(table).selectExpr("row % 2 AS odd", "*")
    stream = spark.readStream.schema(frame.select("row", "time", "x").schema)
    stream = stream.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    arguments = {"partition_by": "odd", "order_by": "time", "window": 5, "step": 3, "fill_value": 0.5}
    arguments["aggs"] = {"m": ("median", "x")}
    initial = frame.where("row < 60")
    stream = stream.selectExpr("row % 2 AS odd", "*")
    result = rolling_stream(stream, watermark="1 second", initial=initial, **arguments)
    assert result.columns == ["odd", "row", "time", "x", "m"]
    writer = result.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).toArrow().sort_by("row")
    whole = rolling(frame, **arguments).where("row >= 60").toArrow().sort_by("row")
    assert 70 <= len(found) <= 80
    assert_same(found, whole.slice(0, len(found)))


@pytest.mark.spark
def test_bad_arguments_fail_before_the_stream_starts(spark, tmp_path):
    (tmp_path / "in").mkdir()
    stream = spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
    good = {"partition_by": "key", "order_by": ["time", "row"], "window": 3, "aggs": {"m": AGGS["m"]}}
    for change, error, message in (
        ({"partition_by": []}, ValueError, "partition_by must name at least one column"),
        ({"center": True}, ValueError, "center must be False on a stream: a centred window needs rows that"),
        ({"ttl": "soon"}, ValueError, "ttl must be a duration of at least a millisecond"),
        (
            # The key is no struct, for which the oldest Spark rejects a watermark first.
            {"ttl": "1 minute", "watermark": "1 hour", "window": "1 hour"}
            | {"partition_by": "row", "order_by": "time"},
            ValueError,
            "ttl must be at least as long as the window",
        ),
        ({"order_by": "x"}, TypeError, "order_by: 'x' is double; streams are ordered by"),
        ({"order_by": "row", "watermark": "1 hour"}, TypeError, "a watermark needs a timestamp"),
        ({"initial": stream}, ValueError, "initial must be a batch frame with the columns"),
        ({"step": 2}, ValueError, "step needs watermark= on a stream: without one, .*; got step=2"),
        ({"fill_value": "none"}, ValueError, "fill_value must be a value of double; got 'none'"),
        ({"window": "soon"}, ValueError, "window must be a duration"),
        ({"window": rollstat.Forward(2)}, ValueError, "window must not look ahead of its row"),
        (
            {"window": rollstat.Expanding()},
            ValueError,
            "window must be a number of rows or a duration .* pass a window of 50 half-lives",
        ),
    ):
        with pytest.raises(error, match=message):
            rolling_stream(stream, **(good | change))
    with pytest.raises(ValueError, match="df must be a streaming frame"):
        rolling_stream(spark.range(3), **good)
    with pytest.raises(ValueError, match="df must be a batch frame"):
        rolling(stream, partition_by="key", order_by="time", window=3, aggs=AGGS)
    with pytest.raises(TypeError, match=r"initial must be a pyspark.sql.DataFrame; got builtins.dict"):
        rolling_stream(stream, **good, initial={})
    provider = "spark.sql.streaming.stateStore.providerClass"
    rocks = spark.conf.get(provider)
    spark.conf.set(provider, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(RuntimeError, match="streams with state need RocksDB: "):
            rolling_stream(stream, **good)
    finally:
        spark.conf.set(provider, rocks)
