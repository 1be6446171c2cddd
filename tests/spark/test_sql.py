"""SQL: the table function over partitions of a table."""

import re

import numpy as np
import pytest
from pyspark.sql import functions as F

import rollstat
import rollstat.spark as rs
from rollstat.spark import rolling
from rollstat.spark.sql import parse_aggregates

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("median(x)", [rs.median("x")]),
        ("MEDIAN( x ) as m , sum(y)", [rs.median("x").alias("m"), rs.sum("y")]),
        (
            "quantile(x, [0.25, 0.75]) AS (low, `the high`)",
            [rs.quantile("x", [0.25, 0.75]).alias("low", "the high")],
        ),
        ("kth(`a,b`, k => array(1, -1))", [rs.kth("a,b", [1, -1])]),
        (
            "corr(x, y), rank(x, method => 'max', pct => true)",
            [rs.corr("x", "y"), rs.rank("x", "max", pct=True)],
        ),
        ("rolling_iqr(x, 0.1, q_high => 0.9) as `i)`", [rs.iqr("x", 0.1, 0.9).alias("i)")]),
    ],
)
def test_aggregates_as_text(text, wanted):
    assert parse_aggregates(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "aggs must be a string such as 'median"),
        ("median x", "aggs must be calls such as .* got 'median x'"),
        ("middle(x)", "statistic must be one of .*median.*; got 'middle'"),
        ("kth(x)", "missing a required argument: 'k'"),
        ("kth(x, y)", "parameters must be numbers, strings or lists; 'y' of .* is not"),
        ("median(x),", "got ''"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises((TypeError, ValueError), match=message):
        parse_aggregates(text)


@pytest.fixture(scope="module")
def readings(spark):
    assert rs.register(spark) == "rollstat_rolling"
    frame = spark.sql(
        "select if(id % 3 = 0, double('NaN'), id % 3 * 1D) as sensor, timestamp_seconds(id * 20) as time, "
        "id * 7919 % 101 / 8D as value, concat('w', id % 4) as word, array(named_struct('a', id)) as nested "
        "from range(0, 400, 1, 3)"
    )
    frame.createOrReplaceTempView("readings")
    return frame


def rows_of(frame):
    return sorted(frame.toArrow().to_pylist(), key=lambda row: row["time"])


CALL = "SELECT * FROM rollstat_rolling(TABLE({}) {}, {})"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("window", "text", "options", "by_name"),
    [
        ("'10 minutes'", "'10 minutes'", "", {}),
        (
            "INTERVAL '10' MINUTE",
            None,
            ", min_periods => 3, closed => 'both'",
            {"min_periods": 3, "closed": "both"},
        ),
        ("7", None, ", center => true", {"center": True}),
        ("'Expanding'", None, ", on => 'TIME'", {}),
    ],
)
def test_the_results_are_those_of_rolling(spark, readings, window, text, options, by_name):
    aggs = "median(value) AS m, quantile(value, [0.25, 0.75]) AS (low, high), last(word), argmin(value) AS at"
    text = CALL.format(
        "readings", "PARTITION BY sensor ORDER BY time", f"window => {window}, aggs => '{aggs}'{options}"
    )
    found = spark.sql(text)
    wanted = rolling(
        readings,
        partition_by="sensor",
        order_by="time",
        window={"7": 7, "'Expanding'": rollstat.Expanding()}.get(window, "10 minutes"),
        aggs=parse_aggregates(aggs),
        **by_name,
    )
    assert found.dtypes == wanted.dtypes
    assert str(rows_of(found)) == str(rows_of(wanted))


@pytest.mark.spark
def test_the_plan_is_one_exchange_and_one_sort(spark, readings, capsys):
    text = "window => 5, aggs => 'median(value) AS m'"
    spark.sql(CALL.format("readings", "PARTITION BY sensor ORDER BY time", text)).explain()
    plan = capsys.readouterr().out
    for operator in ("Exchange", "Sort", "ArrowEvalPythonUDTF"):
        assert len(re.findall(rf"\b{operator} ", plan)) == 1, plan
    assert (
        plan.index("ArrowEvalPythonUDTF")
        < plan.index("Sort [")
        < plan.index("Exchange hashpartitioning(part")
    )


@pytest.mark.spark
def test_one_series_and_descending_order(spark, readings):
    value = np.array([row["value"] for row in rows_of(readings)])
    text = "window => 5, aggs => 'max(value) AS m', min_periods => 1"
    found = spark.sql(CALL.format("readings", "WITH SINGLE PARTITION ORDER BY time", text))
    assert [row["m"] for row in rows_of(found)] == rollstat.rolling_max(value, 5, min_periods=1).tolist()
    text += ", descending => true"
    found = spark.sql(CALL.format("readings", "WITH SINGLE PARTITION ORDER BY time DESC", text))
    backwards = rollstat.rolling_max(value[::-1], 5, min_periods=1)[::-1]
    assert [row["m"] for row in rows_of(found)] == backwards.tolist()


@pytest.mark.spark
def test_several_windows(spark, readings):
    calls = "median(value), quantile(value, [0.25, 0.75]) AS (low, high)"
    text = f"windows => array('10 minutes', '7'), aggs => '{calls}'"
    found = spark.sql(CALL.format("readings", "PARTITION BY sensor ORDER BY time", text))
    aggs = [rs.median("value"), rs.quantile("value", [0.25, 0.75]).alias("low", "high")]
    aggs = [one.over("10 minutes", 7) for one in aggs]
    wanted = rolling(readings, partition_by="sensor", order_by="time", aggs=aggs)
    assert found.dtypes == wanted.dtypes
    assert str(rows_of(found)) == str(rows_of(wanted))


LABELS = """SELECT sensor, time, value, failed FROM (
    SELECT *, null AS failed FROM readings UNION ALL
    SELECT *, true AS failed FROM readings WHERE unix_seconds(time) % 60 = 0 UNION ALL
    SELECT 7.0D, time, value, word, nested, true FROM readings WHERE word = 'w1')"""


@pytest.mark.spark
def test_labels(spark, readings):
    text = "windows => array('10 minutes', '7'), aggs => 'sum(value)', labels => 'failed', min_periods => 1"
    found = spark.sql(CALL.format(LABELS, "PARTITION BY sensor ORDER BY (time, failed)", text))
    others = readings.where("word = 'w1'").withColumn("sensor", F.lit(7.0))
    at = readings.where("unix_seconds(time) % 60 = 0").union(others)
    sums = [rs.sum("value").over("10 minutes", 7, min_periods=1)]
    at = at.select("sensor", "time", "value")
    wanted = rolling(readings, at=at, partition_by="sensor", order_by="time", aggs=sums)
    assert sorted(map(str, found.drop("failed").collect())) == sorted(map(str, wanted.collect()))
    with pytest.raises(Exception, match="ORDER BY must begin with 'time', 'failed'"):
        spark.sql(CALL.format(LABELS, "PARTITION BY sensor ORDER BY (time, failed DESC)", text)).collect()


MEDIAN = "aggs => 'median(value)'"
BAD = [
    ("PARTITION BY sensor ORDER BY time", MEDIAN, "either window or windows must be given"),
    (
        "PARTITION BY sensor ORDER BY time",
        "window => 2, labels => 'value', " + MEDIAN,
        "labels must name a boolean column; 'value' is double",
    ),
    (
        "PARTITION BY sensor ORDER BY time",
        "window => 0, " + MEDIAN,
        "window must be an integer of at least 1",
    ),
    ("PARTITION BY sensor ORDER BY time", "window => 2, aggs => 'median(nope)'", "column 'nope' of aggs"),
    ("PARTITION BY sensor ORDER BY time", "window => 2, steps => 3, " + MEDIAN, "has no argument 'steps'"),
    ("PARTITION BY sensor ORDER BY value", "window => 2, " + MEDIAN, "ORDER BY must begin with 'time'"),
    ("PARTITION BY sensor ORDER BY time DESC", "window => 2, " + MEDIAN, "DESC needs descending => true"),
    ("", "window => 2, " + MEDIAN, "add PARTITION BY after TABLE"),
]


@pytest.mark.spark
@pytest.mark.parametrize(("clauses", "arguments", "message"), BAD)
def test_mistakes_are_errors(spark, readings, clauses, arguments, message):
    with pytest.raises(Exception, match=message):
        spark.sql(CALL.format("readings", clauses, arguments)).collect()


@pytest.mark.spark
def test_on_is_needed_where_the_order_is_unclear(spark, readings):
    text = CALL.format(
        "SELECT unix_seconds(time) AS second, value FROM readings",
        "WITH SINGLE PARTITION ORDER BY second",
        "{}",
    )
    with pytest.raises(Exception, match="on must name the first column of ORDER BY"):
        spark.sql(text.format("window => 2, " + MEDIAN)).collect()
    assert spark.sql(text.format("window => 2, on => 'second', " + MEDIAN)).columns[-1] == "value_median"
