"""Operations after the job do not change the columns of results."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as F

from rollstat.spark import rolling
from rollstat.spark.route import hash_of

pytestmark = pytest.mark.spark

AGGS = {
    "one": {"a": ("median", "x")},
    "several": {"a": ("median", "x"), ("b", "c"): ("kth", "row", {"k": [1, -1]})},
}


def sorted_rows(frame):
    return frame.toArrow().sort_by("row").combine_chunks()


def made(spark, aggs, **options):
    frame = spark.range(3000).selectExpr("id % 3 as key", "id as row", "sin(id) as x", "string(id) as text")
    return rolling(frame, partition_by="key", order_by="row", window=5, aggs=AGGS[aggs], **options)


@pytest.mark.parametrize("aggs", AGGS)
def test_filters_joins_and_orders_do_not_change_what_windows_hold(spark, aggs):
    result = made(spark, aggs)
    whole = sorted_rows(result)
    assert whole["a"].null_count == 12
    some = spark.range(1000, 3000, 7).withColumnRenamed("id", "row")
    wanted = {
        "filter": (result.where("row >= 1000 and row % 7 = 6"), None),
        "sample": (result.sample(0.1, seed=1), None),
        "join": (result.join(some, "row"), None),
        "semi": (result.join(some, "row", "left_semi"), None),
        "anti": (result.join(some, "row", "left_anti"), None),
        "limit": (result.limit(100), 100),
        "offset": (result.offset(100).limit(50), 50),
        "order": (result.orderBy("x"), 3000),
        "again": (result.repartition(5, "text").sortWithinPartitions("x"), 3000),
        "distinct": (result.distinct(), 3000),
        "own": (result.join(result.where("row > 9").select("row"), "row"), 2990),
        "union": (result.union(result).where("row > 100").distinct(), 2899),
        "columns": (result.select("row", "a").where("key is not null and row > 5"), 2994),
    }
    for name, (frame, rows) in wanted.items():
        found = sorted_rows(frame)
        names = [column for column in whole.column_names if column in found.column_names]
        expected = whole.filter(pc.is_in(whole["row"], found["row"])).select(names)
        assert 0 < found.num_rows == (rows or found.num_rows) <= 3000, name
        assert found.select(names).equals(expected.cast(found.select(names).schema)), name
    total = result.groupBy("key").agg(F.sum("a").alias("a")).toArrow()
    assert pc.sum(total["a"]).as_py() == pytest.approx(pc.sum(whole["a"]).as_py())


def test_two_in_a_row(spark):
    first = made(spark, "several")
    both = rolling(first, partition_by="key", order_by="row", window=2, aggs={"d": ("max", "a")})
    assert both.columns == [*first.columns, "d"]
    found = sorted_rows(both.where("row >= 300"))
    a = sorted_rows(first)["a"].to_pylist()
    assert found["d"].to_pylist() == [max(a[i], a[i - 3]) for i in range(300, 3000)]


def test_columns_may_be_named_as_results_are_on_the_way(spark):
    frame = spark.range(9).selectExpr("id as row", "id as new0", "id as rollstat_new0")
    for center in (False, True):
        result = rolling(frame, order_by="row", window=3, aggs={"m": ("max", "row")}, split=1, center=center)
        assert result.columns == ["row", "new0", "rollstat_new0", "m"]
        assert sorted_rows(result)["m"].null_count == 2


def test_one_column_alone(spark):
    frame = spark.range(100).toDF("row")
    result = rolling(frame, order_by="row", window=3, aggs={"a": ("max", "row")}, split=1, min_periods=1)
    assert sorted_rows(result)["a"].to_pylist() == list(range(100))


def test_keys_of_one_hash(spark, monkeypatch):
    expected = sorted_rows(made(spark, "several"))
    monkeypatch.setattr("rollstat.spark.route.hash_of", lambda keys: hash_of(keys) * F.lit(0))
    shuffled = made(spark, "several", ties="error")
    assert sorted_rows(shuffled).equals(expected)


def test_columns_keep_their_names_and_what_spark_knows_of_them(spark):
    frame = spark.range(10).select(
        F.col("id").alias("row", metadata={"unit": "rows"}), F.lit("a").alias("a.b"), F.lit(1.5).alias("a.b")
    )
    result = rolling(frame, order_by="row", window=3, aggs={"m": ("max", "row")}, split=1)
    assert result.columns == ["row", "a.b", "a.b", "m"]
    assert result.schema.fields[:3] == frame.schema.fields
    assert result.schema["row"].metadata == {"unit": "rows"}
    assert isinstance(result.toArrow(), pa.Table)
