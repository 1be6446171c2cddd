"""Columns by name, by path and as objects; names in any case; lists of statistics; Spark's intervals."""

import datetime
import re

import pytest
from pyspark.sql import functions as F

import rollstat.spark as rs
from rollstat.spark import rolling
from rollstat.spark.aggregates import parse_window
from rollstat.spark.request import ColumnReferences

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def frame(spark):
    return spark.range(40).selectExpr(
        "id as row",
        "named_struct('key', id % 2, 'at', timestamp_seconds(id), 'a.b', id * 1D) as meta",
        "(id * 7) % 11 * 1D as x",
        "'m' as `meta.c`",
    )


def results(frame, *names):
    return [tuple(row[name] for name in names) for row in sorted(frame.collect(), key=lambda row: row.row)]


@pytest.fixture(scope="module")
def plain(frame):
    """The same job with plain columns."""
    flat = frame.select("row", "x", F.col("meta.key").alias("key"), F.col("meta.at").alias("at"))
    found = rolling(flat, partition_by="key", order_by="at", window=5, aggs={"m": ("median", "x")})
    return results(found, "m")


@pytest.mark.parametrize(
    "given",
    [
        lambda: ("META.key", ["meta.at", "ROW"], "X"),
        lambda: (F.col("meta.key"), F.col("row"), F.col("x")),
        lambda: ([F.expr("row % 2")], F.col("meta.at").cast("double"), F.col("x") + F.lit(0)),
    ],
)
def test_columns_by_name_path_and_object(frame, plain, given):
    key, order, column = given()
    result = rolling(frame, partition_by=key, order_by=order, window=5, aggs=[rs.median(column).alias("m")])
    assert result.columns == [*frame.columns, "m"]
    assert results(result, "m") == plain


def test_a_field_whose_name_has_a_dot(frame):
    result = rolling(frame, order_by="row", window=3, aggs=[rs.min("meta.`a.b`").alias("m")], split=1)
    assert results(result, "m")[2:] == [(float(i),) for i in range(38)]


def test_columns_by_object_where_windows_look_ahead_or_a_series_is_split(frame):
    x = [row.x for row in sorted(frame.collect())]
    for options in ({"center": True}, {"split": 3}):
        result = rolling(
            frame,
            order_by=F.col("meta.at"),
            window=3,
            aggs=[rs.max(F.col("x") * 2).alias("m")],
            min_periods=1,
            **options,
        )
        assert result.columns == [*frame.columns, "m"]
        ahead = 2 if "center" in options else 1
        wanted = [(2 * max(x[max(i + ahead - 3, 0) : i + ahead]),) for i in range(40)]
        assert results(result, "m") == wanted


def test_a_column_of_the_frame_is_not_computed_again(frame, capsys):
    plans = []
    for order, column in (("row", "x"), (F.col("row"), frame.x)):
        result = rolling(frame, order_by=order, window=5, aggs=[rs.median(column)], split=1)
        assert result.columns == [*frame.columns, "x_median"]
        capsys.readouterr()
        result.explain()
        plans.append(re.sub(r"#\d+|plan_id=\d+", "", capsys.readouterr().out))
    assert plans[0] == plans[1]


def test_equal_columns_are_one_and_others_of_the_same_text_are_not(frame):
    references = ColumnReferences(frame)
    doubled = [F.col("x") * 2, F.col("x") * 2]
    assert [references.name(column, "aggs") for column in doubled] == ["*(x, 2)"] * 2
    assert references.name("meta.key", "aggs") == references.name(F.col("meta.key"), "aggs") == "meta.key"
    first, second = F.rand(), F.rand()  # of other seeds
    assert references.name(first, "aggs") == references.name(first, "aggs")
    assert references.name(first, "aggs") != references.name(second, "aggs")


def test_a_name_with_a_dot_is_a_column_before_it_is_a_path(frame):
    result = rolling(frame, order_by=["meta.c", "row"], window=1, aggs={"m": ("median", "x")})
    assert results(result, "m") == results(frame, "x")


def test_case_matters_as_spark_is_configured(spark):
    frame = spark.sql("select id as row, id * 1D as x, id * 2D as X from range(3)")
    with pytest.raises(ValueError, match=r"aggs\['median'\]: column 'x' appears more than once: row, x, X"):
        rolling(frame, order_by="row", window=1, aggs=[rs.median("x")])
    spark.conf.set("spark.sql.caseSensitive", True)
    try:
        aggs = [rs.max("x").alias("m"), rs.max("X").alias("M")]
        result = rolling(frame, order_by="row", window=1, aggs=aggs)
        assert results(result, "m", "M") == [(0.0, 0.0), (1.0, 2.0), (2.0, 4.0)]
        with pytest.raises(ValueError, match="order_by: column 'Row' is not among: row, x, X"):
            rolling(frame, order_by="Row", window=1, aggs=aggs)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    result = rolling(frame.toDF("row", "y", "X"), order_by="ROW", window=1, aggs={"m": ("max", "x")})
    assert result.columns == ["row", "y", "X", "m"]


def test_default_names(frame):
    aggs = [rs.median("x"), rs.quantile("x", [0.25, 0.75]), rs.kth("x", -2), rs.minmax("row")]
    aggs += [rs.corr("x", "row"), rs.mean("meta.key")]
    found = rolling(frame, order_by="row", window=5, aggs=aggs).columns[len(frame.columns) :]
    assert found == [
        "x_median",
        "x_quantile_0_25",
        "x_quantile_0_75",
        "x_kth_minus_2",
        "row_minmax_minimum",
        "row_minmax_maximum",
        "x_row_corr",
        "meta_key_mean",
    ]


BAD = [
    (
        lambda: {"order_by": F.col("row").desc()},
        "order_by must be a column without a direction; got 'row DESC",
    ),
    (lambda: {"order_by": F.col("nope")}, r"order_by: 'nope' is not a column of df: \[UNRESOLVED_COLUMN"),
    (lambda: {"order_by": F.col("*")}, r"order_by: '\*' matches 4 columns"),
    (lambda: {"order_by": "meta.nope"}, "order_by: column 'meta.nope' is not among: row, meta, x, meta.c"),
    (lambda: {"partition_by": F.col("row")}, "order_by must not name columns of partition_by; got row"),
    (lambda: {"aggs": [rs.median("x"), "median"]}, "aggs must map new column names .*, or be a list such as"),
    (lambda: {"aggs": [rs.kth("x", [1, 2]).alias("a")]}, "aggs must give a tuple of 2 names for 'kth'"),
    (lambda: {"aggs": [rs.median("x").alias("X")]}, "aggs must give new names, each once; 'X' is taken"),
    (lambda: {"aggs": [rs.median("x"), rs.median("x")]}, "aggs must give new names, each once; 'x_median'"),
    (lambda: {"aggs": [rs.median(F.lit("a"))]}, r"column .*a.* must be a number.*got string"),
    (lambda: {"window": "1 month"}, "window needs datetimes as times; got '1mo' for times of int64"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_references(frame, change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rolling(frame, **({"order_by": "row", "window": 2, "aggs": [rs.median("x")]} | change()))


INTERVALS = [
    ("10 minutes", "10 minutes"),
    ("1 hour 30 minutes", "1 hour 30 minutes"),
    ("interval '10' minute", "10 minutes"),
    ("INTERVAL 2 Days 3 hours", "2 days 3 hours"),
    ("interval '1 02:03:04.5' day to second", "1 day 2 hours 3 minutes 4.5 seconds"),
    ("INTERVAL '90:30' MINUTE TO SECOND", None),
    ("interval '1 week 250 milliseconds'", "1 week 250 milliseconds"),
]


@pytest.mark.parametrize(("given", "literal"), INTERVALS)
def test_intervals_are_those_of_spark(spark, given, literal):
    from rollstat.options import parse_width

    wanted = spark.sql(f"select make_dt_interval() + interval {literal}" if literal else f"select {given}")
    width = wanted.first()[0]
    assert isinstance(width, datetime.timedelta)
    assert parse_width(parse_window(given)) == parse_width(width)


@pytest.mark.parametrize("given", ["soon", "interval", "1 fortnight", "'1 2' hour to second", "5 min utes"])
def test_other_text_stays_for_the_message_of_the_array_functions(given):
    assert parse_window(given) == given
