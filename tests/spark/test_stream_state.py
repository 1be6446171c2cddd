"""Streams reject a checkpoint of another definition, forget series, and serve operators after them."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

import rollstat.spark as rs
from rollstat.spark import rolling, rolling_stream

pytestmark = pytest.mark.spark

SCHEMA = "sensor string, site string, time timestamp, row long, x double, y double"
EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
START = 1_735_689_600  # of the times, in seconds


def readings(rows, first=0, sensors=2):
    number = np.arange(first, first + rows)
    return pa.table(
        {
            "sensor": [f"s{i % sensors}" for i in number],
            "site": [f"s{i // 2 % 2}" for i in number],
            "time": pa.array((START + number) * 1_000_000).cast(pa.timestamp("us", "UTC")),
            "row": number,
            "x": number * 7919 % 101 / 4,
            "y": -number * 1.0,
        }
    )


class Stream:
    """A stream of files in a folder, run until it has read all files."""

    def __init__(self, spark, folder, **arguments):
        self.spark, self.folder, self.files = spark, folder, 0
        self.arguments = {"partition_by": "sensor", "order_by": ["time", "row"], "window": 3} | arguments
        (folder / "in").mkdir()

    def write(self, table):
        path = self.folder / "in" / f"{self.files}.parquet"
        pq.write_table(table, path)
        self.files += 1
        os.utime(path, (1_700_000_000 + self.files, 1_700_000_000 + self.files))

    def result(self, **changes):
        source = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return rolling_stream(source.parquet(f"{self.folder}/in"), **(self.arguments | changes))

    def run(self, result=None, **changes):
        """Return the rows of all batches and the progress of each."""
        batches = []
        result = self.result(**changes) if result is None else result
        writer = result.writeStream.foreachBatch(lambda frame, _: batches.append(frame.toArrow()))
        writer = writer.option("checkpointLocation", f"{self.folder}/state")
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return pa.concat_tables(batches), query.recentProgress


def test_a_restart_with_another_definition_is_rejected(spark, tmp_path):
    stream = Stream(spark, tmp_path, aggs={"m": ("median", "x")})
    stream.write(readings(40))
    assert stream.run()[0].num_rows == 40
    stream.write(readings(20, 40))
    for changes, message in (  # test_stream_definition.py has the other changes
        ({"window": 20}, "window was 3 and is 20"),
        ({"partition_by": "row", "order_by": "time"}, "partition_by was .sensor string. and is .row bigint."),
        ({"watermark": "1 minute"}, r"(?i)timeMode"),
    ):
        with pytest.raises(StreamingQueryException, match=message):
            stream.run(**changes)
    # What is safe is accepted, and becomes the definition.
    aggs = {"low": ("min", "x"), "m": ("median", "x")}
    found = stream.run(window=2, aggs=aggs)[0].sort_by("row")
    batch = rolling(
        spark.createDataFrame(readings(60)), **(stream.arguments | {"window": 2, "aggs": aggs})
    ).toArrow()
    wanted = batch.sort_by("row").slice(40)
    assert found.select(["row", "low", "m"]).to_pylist() == wanted.select(["row", "low", "m"]).to_pylist()
    stream.write(readings(2, 60))
    with pytest.raises(StreamingQueryException, match="window was 2 and is 3"):
        stream.run(aggs=aggs)


def test_columns_by_path_and_object_decimals_and_strings(spark, tmp_path):
    """Every form that `rolling` takes, over two batches and a restart, after a batch frame."""
    schema = "meta struct<sensor: string, at: timestamp>, row long, x double, d decimal(38,30), word string"
    rows = 90
    whole = spark.range(rows).selectExpr(
        "named_struct('sensor', concat('s', id % 2), 'at', timestamp_seconds(id)) as meta",
        "id as row",
        "id * 7919 % 101 / 4D as x",
        "if(id % 7 = 3, null, cast((id - 40) / 7BD as decimal(38, 30))) as d",
        "if(id % 5 = 1, null, concat('w', id * 7919 % 3)) as word",
    )
    arguments = {
        "partition_by": "META.sensor",
        "order_by": [F.col("meta.at"), "Row"],
        "window": "interval '20' second",
        "min_periods": 1,
        "aggs": [
            rs.median(F.col("x") * 2).alias("m"),
            rs.quantile("X", [0.25, 0.75]).alias("low", "high"),
            *(rs.sum("d"), rs.mean("d"), rs.max("d"), rs.mode("word"), rs.last("word")),
        ],
    }
    wanted = rolling(whole, **arguments)
    stream, table = Stream(spark, tmp_path), whole.toArrow().sort_by("row")
    result = rolling_stream(
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(f"{tmp_path}/in"),
        initial=whole.where("row < 30"),
        ttl="interval '1' day",
        **arguments,
    )
    assert result.dtypes == wanted.dtypes
    before = spark.conf.get(EMPTY_BATCHES)
    spark.conf.set(EMPTY_BATCHES, False)
    try:
        stream.write(table.slice(30, 20))
        stream.write(table.slice(50, 20))
        first = stream.run(result)[0]
        stream.write(table.slice(70))
        second = stream.run(result)[0]
    finally:
        spark.conf.set(EMPTY_BATCHES, before)
    found = pa.concat_tables([first, second]).sort_by("row")
    assert found.to_pylist() == wanted.toArrow().sort_by("row").slice(30).to_pylist()


def test_series_whose_rows_have_left_the_window_are_forgotten(spark, tmp_path):
    stream = Stream(spark, tmp_path, window="5 seconds", watermark="1 second", aggs={"m": ("sum", "y")})
    for batch in range(6):  # ten new series in each
        sensors = [f"{batch} {i % 10}" for i in range(20)]
        stream.write(readings(20, 20 * batch).set_column(0, "sensor", pa.array(sensors)))
    # A row of a forgotten series is behind the watermark, and one has no time.
    last = readings(3, 3).set_column(0, "sensor", pa.array(["0 3", "5 1", "0 3"]))
    times = [(START + 3) * 1_000_000, None, (START + 119) * 1_000_000]
    last = last.set_column(2, "time", pa.array(times, last["time"].type))
    stream.write(last)
    found, progress = stream.run()
    assert found.num_rows == 119  # until 118, a second before the newest, included
    # At most the series of three batches, what is to do for them with its timers, and the definitions.
    held = [part.stateOperators[0].numRowsTotal for part in progress]
    assert max(held) <= 3 * 10 * (1 + 3 * 3) + 2
    series = spark.read.format("statestore").option("stateVarName", "series")
    assert series.load(f"{tmp_path}/state").count() <= 12
    counts = [part.observedMetrics["rollstat"] for part in progress]
    assert [sum(count[i] for count in counts) for i in range(3)] == [119, 1, 1]


def test_series_are_forgotten_after_their_time_to_live(spark, tmp_path):
    stream = Stream(spark, tmp_path, ttl="1 millisecond", aggs={"m": ("median", "x")})
    before = spark.conf.get(EMPTY_BATCHES)
    spark.conf.set(EMPTY_BATCHES, False)  # or the query would look for expired state without an end
    try:
        for part in (readings(6), readings(6, 6)):  # a restart takes longer than that
            stream.write(part)
            found = stream.run()[0].sort_by("row")
            assert [value is None for value in found["m"].to_pylist()] == [True] * 4 + [False] * 2
    finally:
        spark.conf.set(EMPTY_BATCHES, before)


def test_operators_after_a_stream_have_its_watermark(spark, tmp_path):
    stream = Stream(spark, tmp_path, watermark="5 seconds", aggs={"m": ("median", "x")})
    for part in (readings(40), readings(40, 40)):
        stream.write(part)
    result = stream.result()
    per_minute = result.groupBy(F.window("time", "10 seconds")).agg(F.sum("row").alias("rows"))
    found = stream.run(per_minute.select(F.col("window.start").alias("start"), "rows"))[0]
    starts = range(0, 70, 10)  # the window from 70 on is still open at 79 - 5
    wanted = [sum(range(start, start + 10)) for start in starts]
    assert found.sort_by("start")["rows"].to_pylist() == wanted


def test_rows_of_one_time_in_several_batches_are_in_the_order_of_a_batch_job(spark, tmp_path):
    schema = f"{SCHEMA}, map map<string, int>, list array<struct<a: double>>"
    rng = np.random.default_rng(3)
    table = readings(60, sensors=1)
    seconds = np.sort(np.arange(60) // 6 + rng.integers(0, 3, 60))
    times = pa.array((START + seconds) * 1_000_000).cast(table["time"].type)
    lists = [[{"a": value}] for value in rng.choice([np.nan, None, 0.5, -1.0], 60)]
    table = table.set_column(2, "time", times).set_column(4, "x", pa.array(rng.integers(0, 2, 60) * 1.0))
    table = table.append_column("map", pa.array([[("a", 1)]] * 60, pa.map_(pa.string(), pa.int32())))
    table = table.append_column("list", pa.array(lists, pa.list_(pa.struct([("a", pa.float64())]))))
    # Columns before the row number, which is unique, decide most ties.
    names = ["sensor", "site", "time", "x", "list", "map", "row", "y"]
    order = np.argsort(np.arange(60) + rng.integers(0, 20, 60))
    arguments = {"partition_by": "sensor", "order_by": "time", "window": 4, "aggs": {"at": ("last", "row")}}
    stream = Stream(spark, tmp_path)
    for part in range(6):
        stream.write(table.take(pa.array(order[10 * part : 10 * part + 10])))
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(f"{tmp_path}/in")
    start = spark.createDataFrame(table.slice(0, 0)).select(*names)
    arguments["aggs"]["before"] = ("kth", "row", {"k": 1})
    result = rolling_stream(source.select(*names), watermark="30 seconds", initial=start, **arguments)
    later = readings(1, 1000, sensors=1)
    for name in ("map", "list"):
        later = later.append_column(name, pa.nulls(1, table[name].type))
    stream.write(later)  # moves the watermark past all other rows
    found = stream.run(result)[0].sort_by("row")
    wanted = rolling(spark.createDataFrame(table).select(*names), **arguments).toArrow().sort_by("row")
    assert found.select(["row", "at", "before"]).equals(wanted.select(["row", "at", "before"]))


def test_rows_at_the_watermark_are_not_late_for_the_next_operator(spark, tmp_path):
    stream = Stream(spark, tmp_path, watermark="5 seconds", aggs={"m": ("median", "x")})
    for first in range(0, 40, 10):
        stream.write(readings(10, first))
    found = stream.run(stream.result().dropDuplicatesWithinWatermark(["sensor", "row"]))[0]
    assert found.sort_by("row")["row"].to_pylist() == list(range(35))  # until 39 - 5, included


def test_the_result_of_a_stream_is_in_order_for_another(spark, tmp_path):
    stream = Stream(spark, tmp_path, watermark="5 seconds", window=2, aggs={"m": ("median", "x")})
    for part in (readings(40), readings(40, 40)):
        stream.write(part.take(pa.array(np.arange(40)[::-1])))
    again = stream.arguments | {"aggs": {"most": ("max", "m")}, "metrics": "second"}
    with pytest.raises(
        ValueError, match=r"watermark must be left out if df already has a watermark: .* '5 sec"
    ):
        rolling_stream(stream.result(), **again)
    found, progress = stream.run(rolling_stream(stream.result(), **(again | {"watermark": None})))
    counts = [part.observedMetrics for part in progress]
    assert [tuple(map(sum, zip(*(count[name] for count in counts)))) for name in ("rollstat", "second")] == [
        (75, 0, 0)
    ] * 2
    columns = {"partition_by": "sensor", "order_by": ["time", "row"], "window": 2}
    once = rolling(spark.createDataFrame(readings(75)), **columns, aggs={"m": ("median", "x")})
    twice = rolling(once, **columns, aggs={"most": ("max", "m")}).toArrow()
    assert found.sort_by("row")["most"].to_pylist() == twice.sort_by("row")["most"].to_pylist()


def test_a_windowed_aggregate_is_in_order_and_takes_no_second_watermark(spark, tmp_path):
    stream = Stream(spark, tmp_path)
    for part in (readings(40), readings(40, 40)):
        stream.write(part.take(pa.array(np.arange(40)[::-1])))
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(f"{tmp_path}/in")
    marked = source.withWatermark("time", "5 seconds")
    highest = F.max("y").alias("highest")
    aggregate = marked.groupBy(F.window("time", "4 seconds"), "sensor").agg(highest)
    starts = aggregate.select("sensor", F.col("window.start").alias("time"), "highest")
    shifted = starts.withColumn(
        "time", F.expr("time + interval 1 second")
    )  # without the metadata of a watermark
    columns = {"partition_by": "sensor", "order_by": "time", "window": "12 seconds"}
    columns |= {"aggs": {"least": ("min", "highest")}}
    for df in (starts, shifted, marked.withColumn("highest", F.col("y"))):
        with pytest.raises(
            ValueError, match=r"Windowed aggregates and .* return rows in order; before other"
        ):
            rolling_stream(df, watermark="5 seconds", **columns)
    found = stream.run(rolling_stream(starts, **columns))[0].to_pylist()
    batch = spark.createDataFrame(readings(72)).groupBy(F.window("time", "4 seconds"), "sensor").agg(highest)
    batch = batch.select("sensor", F.col("window.start").alias("time"), "highest")
    wanted = rolling(batch, **columns).toArrow().to_pylist()
    assert len(found) == 36
    assert sorted(map(str, found)) == sorted(map(str, wanted))


def test_a_name_like_that_of_an_operator_is_no_watermark(spark, tmp_path):
    stream = Stream(spark, tmp_path, watermark="5 seconds", aggs={"m": ("median", "x")})
    df = spark.readStream.schema(SCHEMA).parquet(f"{tmp_path}/in").withColumn("EventTimeWatermark", F.lit(1))
    assert rolling_stream(df, **stream.arguments).isStreaming


@pytest.mark.parametrize(("column", "message"), [("sensor", "bigint .* string"), ("x", "bigint .* double")])
def test_initial_rows_of_other_types_are_rejected(spark, tmp_path, column, message):
    stream = Stream(spark, tmp_path, aggs={"m": ("median", "x")})
    start = spark.createDataFrame(readings(4))
    assert stream.result(initial=start.withColumn("y", F.lit(1))).isStreaming  # not in the state
    with pytest.raises(TypeError, match=f"initial must have the .* of df; '{column}' is {message}"):
        stream.result(initial=start.withColumn(column, F.lit(1).cast("long")))


def test_initial_rows_without_a_time_are_rejected_if_windows_have_a_width(spark, tmp_path):
    stream = Stream(spark, tmp_path, aggs={"n": ("count", "x")}, window=30)
    stream.write(readings(2, 10, sensors=1))
    start = spark.createDataFrame(readings(4, sensors=1))
    start = start.withColumn("time", F.expr("if(row = 2, null, time)"))
    message = "the order column, which gives times, is missing at sensor='s0', time=None, row=2"
    with pytest.raises(StreamingQueryException, match=message):
        stream.run(initial=start, window="1 minute")
    result = stream.result(initial=start.where("time is not null"), window="1 minute")
    writer = result.writeStream.format("memory").queryName("timed").trigger(availableNow=True)
    writer.start().awaitTermination()
    assert [row.n for row in spark.table("timed").orderBy("row").collect()] == [4, 5]
