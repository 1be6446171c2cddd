"""Rolling statistics of every series of a data frame, on Spark."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rollstat
import rollstat.spark
from rollstat.dtypes import flattened
from rollstat.registry import REGISTRY
from rollstat.spark import aggregate, rolling

pytestmark = pytest.mark.spark

NAN = float("nan")


def collect(frame):
    return sorted(frame.toArrow().to_pylist(), key=lambda row: row["row"])


def plan_of(frame, capsys):
    capsys.readouterr()
    frame.explain()
    return capsys.readouterr().out


def test_one_exchange_and_one_sort(spark, capsys):
    frame = spark.range(100).selectExpr("id % 3 as key", "id as row", "id * 0.5D as x")
    aggs = {"a": ("median", "x"), ("b", "c"): ("kth", "row", {"k": [1, -1]}), "d": ("argkth", "x", {"k": 1})}
    result = rolling(frame, partition_by="key", order_by="row", window=5, aggs=aggs)
    assert result.columns == ["key", "row", "x", "a", "b", "c", "d"]
    assert [kind for _, kind in result.dtypes[3:]] == ["double", "bigint", "bigint", "bigint"]
    plan = plan_of(result, capsys)
    for operator in ("Exchange", "Sort", "ArrowEvalPython"):
        assert len(re.findall(rf"\b{operator} ", plan)) == 1, plan
    assert plan.index("ArrowEvalPython") < plan.index("Sort [(shiftleft(cast(hash(key")
    assert plan.index("Sort [") < plan.index("Exchange hashpartitioning(key")
    assert result.count() == 100
    ahead = rolling(frame, partition_by="key", order_by="row", window=5, center=True, aggs=aggs)
    plan = plan_of(ahead, capsys)
    for operator in ("Exchange", "Sort", "MapInArrow"):
        assert len(re.findall(rf"\b{operator} ", plan)) == 1, plan
    assert plan.index("MapInArrow") < plan.index("Sort [(shiftleft(cast(hash(key")
    plan = plan[plan.index("Sort [") :]
    assert plan.index("Project [") < plan.index("Exchange hashpartitioning(key")
    result = rolling(
        frame.selectExpr("key", "string(row) as row", "x"),
        partition_by="key",
        order_by="row",
        window=5,
        aggs={"a": ("median", "x")},
    )
    plan = plan_of(result, capsys)
    assert "Sort [key" in plan
    assert "hash(key" not in plan.replace("hashpartitioning", "")


def test_keys_are_those_of_spark(spark):
    keys = [0.0, -0.0, NAN, None, NAN, 0.0, None, -0.0, 1.0, NAN]
    rows = [{"row": i, "k": {"f": key, "s": "a"}, "f": key, "x": float(i)} for i, key in enumerate(keys)]
    frame = spark.createDataFrame(rows, "row long, k struct<f: double, s: string>, f double, x double")
    groups = {0: [0, 1, 5, 7], 1: [2, 4, 9], 2: [3, 6], 3: [8]}
    for partition_by in ("k", ["f"], ["k", "f"]):
        result = rolling(
            frame,
            partition_by=partition_by,
            order_by="row",
            window=10,
            min_periods=1,
            aggs={"first": ("kth", "x", {"k": 1}), "last": ("kth", "x", {"k": -1})},
        )
        found = {row["row"]: (row["first"], row["last"]) for row in collect(result)}
        assert found == {i: (float(group[0]), float(i)) for group in groups.values() for i in group}


EVERY_TYPE = """
select id as row, id % 2 as key, cast(id as tinyint) as tiny, cast(id as smallint) as small,
  cast(id as int) as whole, 9007199254740993 + id as long, cast(id / 3 as float) as single,
  if(id = 1, double('NaN'), id / 3) as double, if(id = 2, null, id = 1) as flag,
  cast(id / 7 as decimal(38, 18)) as large, cast(id / 7 as decimal(10, 3)) as decimal,
  concat('é', id) as text, cast(concat('b', id) as binary) as bytes,
  date '2013-03-10' + cast(id as int) as day,
  timestamp '2013-11-03 00:30:00' + make_interval(0, 0, 0, 0, cast(id as int), 0, 0) as time,
  timestamp_ntz '2013-03-10 02:30:00' as clock, interval '1' day * id as span,
  array(id, null) as list, map('a', array(id)) as map, parse_json('{"a": [1, null]}') as variant,
  named_struct('t', timestamp '2013-11-03 00:30:00', 'u', array(timestamp_ntz '2013-03-10 02:30:00')) as nest,
  cast(null as void) as nothing, char(65) as `dotted.name`
from range(5)
"""


def test_every_type_comes_back_unchanged(spark):
    frame = spark.sql(EVERY_TYPE)
    result = rolling(
        frame,
        partition_by="key",
        order_by="time",
        window=2,
        min_periods=1,
        aggs={
            "low_decimal": ("kth", "decimal", {"k": 1}),
            "high_day": ("kth", "day", {"k": -1}),
            "low_time": ("kth", "time", {"k": 1}),
            "low_span": ("kth", "span", {"k": 1}),
            "low_clock": ("kth", "clock", {"k": 1}),
            "low_tiny": ("kth", "tiny", {"k": 1}),
            "low_flag": ("kth", "flag", {"k": 1}),
            "low_single": ("kth", "single", {"k": 1}),
            "low_long": ("kth", "long", {"k": 1}),
        },
    )
    assert result.schema.fields[: len(frame.columns)] == frame.schema.fields
    found = sorted(
        result.select(*[f"`{name}`" for name in frame.columns]).collect(), key=lambda row: row["row"]
    )
    assert str(found) == str(sorted(frame.collect(), key=lambda row: row["row"]))
    rows = collect(result.drop("variant"))
    for new, old in (
        ("low_decimal", "decimal"),
        ("low_time", "time"),
        ("low_span", "span"),
        ("low_long", "long"),
    ):
        assert [row[new] for row in rows] == [rows[max(i - 2, i % 2)][old] for i in range(5)]
        assert result.schema[new].dataType == frame.schema[old].dataType
    assert [row["high_day"] for row in rows] == [row["day"] for row in rows]
    assert [row["low_flag"] for row in rows] == [False, True, False, False, False]


def test_intervals_that_spark_keeps_to_itself_are_rejected_by_name(spark):
    for kind in ("interval '1' month", "make_interval(1)"):
        frame = spark.sql(f"select 1L as row, {kind} as span, 1.0D as x")
        with pytest.raises(TypeError, match=r"column 'span' is .*interval.*cannot pass to Python workers"):
            rolling(frame, order_by="row", window=2, aggs={"m": ("median", "x")})


def test_windows_by_width_measure_time_and_not_the_clock(spark):
    frame = spark.sql(
        "select id as row, timestamp_seconds(1383451200 + id * 1200) as time, id * 1.0D as x from range(20)"
    )
    # 2013-11-03 06:00 UTC: clocks in New York go back by an hour
    result = rolling(frame, order_by="time", window="1 hour", aggs={"low": ("kth", "x", {"k": 1})})
    assert [row["low"] for row in collect(result)] == [float(max(i - 2, 0)) for i in range(20)]
    dates = frame.selectExpr("row", "x", "date_from_unix_date(int(row div 2)) as day")
    result = rolling(
        dates, order_by="day", window="1 day", closed="both", aggs={"low": ("kth", "x", {"k": 1})}
    )
    assert [row["low"] for row in collect(result)] == [float(max(i - i % 2 - 2, 0)) for i in range(20)]
    numbers = frame.selectExpr("row", "x", "row / 2 as place")
    result = rolling(numbers, order_by="place", window=1.0, aggs={"low": ("kth", "x", {"k": 1})})
    assert [row["low"] for row in collect(result)] == [float(max(i - 1, 0)) for i in range(20)]


def test_order_descends_with_nulls_last(spark):
    rows = [(0, 3, "a"), (1, None, "a"), (2, 3, "b"), (3, 1, None), (4, 2, "a")]
    frame = spark.createDataFrame(rows, "row long, t int, s string")
    result = rolling(
        frame,
        order_by=["t", "s"],
        descending=[True, False],
        window=5,
        min_periods=1,
        aggs={"seen": ("kth", "row", {"k": 1}), "place": ("argkth", "row", {"k": 1})},
    )
    assert [row["seen"] for row in collect(result)] == [0, 0, 0, 0, 0]
    last = rolling(
        frame, order_by=["t", "s"], descending=True, window=1, aggs={"at": ("kth", "row", {"k": 1})}
    ).toArrow()
    assert last["row"].to_pylist() == [2, 0, 4, 3, 1]


def test_ties_are_ordered_by_the_other_columns(spark):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (200, 3)).tolist()
    rows = [(i, t, x, {"m": i}, y) for i, (t, x, y) in enumerate(values)]
    schema = "row long, t int, x int, m map<string, long>, y int"
    results = []
    for order in (rows, rows[::-1]):
        frame = spark.createDataFrame(order, schema).repartition(3)
        result = rolling(frame.drop("row"), order_by="t", window=3, aggs={"b": ("kth", "y", {"k": 2})})
        results.append(sorted((r.t, r.x, r.y, r.b if r.b is not None else -1) for r in result.collect()))
    assert results[0] == results[1]
    with pytest.raises(Exception, match="two rows tie in the order at t=0"):
        rolling(frame, order_by="t", ties="error", window=3, aggs={"b": ("kth", "y", {"k": 2})}).collect()


MEDIAN = {"m": ("median", "x")}
BAD = [
    ({"window": 0}, "window must be an integer of at least 1"),
    ({"window": "soon"}, "window must be a duration such as"),
    (
        {"window": (1, 2)},
        "window must be a number of rows, a duration, Forward, Around or Expanding on Spark",
    ),
    (
        {"window": rollstat.Expanding(), "split": 4, "aggs": {"new": ("median", "x")}},
        "split must be 1 for an expanding window of 'median': any earlier row may become the result",
    ),
    (
        {"window": rollstat.Expanding(), "split": 4, "aggs": {"new": ("kth", "x", {"k": -40_000_000})}},
        "split must be 1 for an expanding window of 'kth': states take up to 640,000,016 bytes; "
        "at most 524,288 can be sent",
    ),
    ({"window": 2, "min_periods": 3}, "min_periods must be at most the window"),
    ({"order_by": []}, "order_by must name at least one column"),
    ({"order_by": "nope"}, r"order_by: column 'nope' is not among: key, t, x, s, m"),
    ({"order_by": 3}, "order_by must be a column name or a sequence of them"),
    ({"order_by": "m"}, "order_by: 'm' is map.*, which has no order"),
    ({"partition_by": "m"}, "partition_by: 'm' is map.*, which has no order"),
    ({"partition_by": "t"}, "order_by must not name columns of partition_by; got t"),
    ({"partition_by": ["key", "key"]}, "partition_by must name each column once"),
    ({"window": "5min"}, "window must be a plain number for times of this type"),
    ({"window": 2.5, "order_by": "s"}, "order_by: 's' must be a number"),
    ({"descending": [True, False]}, "descending must have one entry for each of"),
    ({"descending": "no"}, "descending must have|descending must be"),
    ({"ties": "maybe"}, "ties must be 'columns' or 'error'"),
    ({"closed": "open"}, "closed must be one of"),
    ({"algorithm": "magic"}, "algorithm must be 'auto' or one that supports median"),
    ({"aggs": {}}, "aggs must map new column names"),
    ({"aggs": {"a": "median"}}, r"aggs\['a'\] must be \(statistic, column\)"),
    ({"aggs": {"a": ("middle", "x")}}, "statistic must be one of .*median.*; got 'middle'"),
    ({"aggs": {"a": ("median", "nope")}}, r"column 'nope' of aggs\['a'\] is not among: key, t, x, s, m"),
    ({"aggs": {"a": ("median", "s")}}, r"column 's' of aggs\['a'\] must be a number.*got string"),
    ({"aggs": {"X": ("median", "x")}}, "aggs must give new names, each once; 'X' is taken"),
    ({"aggs": {"a": ("kth", "x", {"k": 3})}}, r"k must lie in 1\.\.2"),
    ({"aggs": {"a": ("kth", "x", {"k": [1, 2]})}}, "aggs must give a tuple of 2 names for 'kth'"),
    ({"aggs": {"a": ("kth", "x")}}, "statistic 'kth' needs its parameter 'k'"),
    (
        {"aggs": {"a": ("median", "x", {"colour": 1})}},
        "unexpected .* 'colour'; the parameters are none",
    ),
    ({"aggs": {"a": ("median", "x", {"window": 3})}}, "'median' got an unexpected .* 'window'"),
    (
        {"aggs": {"a": ("kth", "x", {"k": 1, "m": 3})}},
        "'kth' got an unexpected .* 'm'; the parameters are k",
    ),
    ({"aggs": {"a": ("iqr", "x", {"step": 2})}}, "the parameters are q_low, q_high, interpolation"),
    ({"aggs": {"a": ("max", "x", {"mode": "valid"})}}, "'max' got an unexpected .* 'mode'"),
    (
        {"aggs": {"a": ("var", "x", {"min_periods": 1})}},
        "'min_periods'; the parameters are ddof",
    ),
    ({"aggs": {"a": ("median", "x", "t")}}, r"statistic 'median' takes 1 column\(s\); got 2"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=lambda value: str(value)[:40])
def test_bad_arguments_fail_before_any_job(spark, change, message):
    frame = spark.sql(
        "select 1 as key, 2L as t, double(raise_error('a job was started')) as x, 'a' as s, map(1, 2) as m"
    )
    arguments = {"partition_by": "key", "order_by": "t", "window": 2, "aggs": MEDIAN} | change
    with pytest.raises((TypeError, ValueError), match=message):
        rolling(frame, **arguments)


def test_a_frame_of_pandas_is_rejected_with_a_way_out():
    frame = pd.DataFrame({"t": [1, 2], "x": [0.5, 1.5]})
    with pytest.raises(TypeError, match=r"df must be a pyspark.sql.DataFrame; got pandas.*createDataFrame"):
        rolling(frame, order_by="t", window=2, aggs=MEDIAN)


def test_two_columns_of_one_name_only_matter_where_they_are_named(spark):
    frame = spark.range(4).selectExpr("id as row", "id as a", "id as a", "id * 1D as x")
    result = rolling(frame, order_by="row", window=2, aggs=MEDIAN)
    assert [tuple(row) for row in sorted(result.collect())][1:] == [
        (i, i, i, i, i - 0.5) for i in range(1, 4)
    ]
    with pytest.raises(ValueError, match="order_by: column 'a' appears more than once"):
        rolling(frame, order_by="a", window=2, aggs=MEDIAN)


def test_collated_keys_are_rejected_with_a_way_out(spark):
    frame = spark.sql("select 'a' collate UTF8_LCASE as key, 1L as row, 1D as x")
    with pytest.raises(TypeError, match=r"UTF8_LCASE.*collation_key\(key\)"):
        rolling(frame, partition_by="key", order_by="row", window=2, aggs=MEDIAN)


def every_statistic():
    """One aggregate for each statistic, and what it is called with."""
    for name, statistic in REGISTRY.items():
        column = "x" if "f" in statistic.kinds else "i"
        yield name, statistic, (column, "y")[: statistic.series], dict(statistic.samples[-1])


def test_every_registered_statistic_in_one_pass(spark):
    rng = np.random.default_rng(3)
    rows, window = 300, 11
    x = np.ma.MaskedArray(rng.normal(size=rows), rng.random(rows) < 0.1)
    y = np.ma.MaskedArray(rng.normal(size=rows), rng.random(rows) < 0.1)
    i = np.ma.MaskedArray(rng.integers(1, 50, rows), rng.random(rows) < 0.1)
    data = {"x": x, "y": y, "i": i}
    table = pa.table(
        {"row": np.arange(rows)}
        | {n: pa.array(np.ma.getdata(v), mask=np.ma.getmask(v)) for n, v in data.items()}
    )
    aggs, wanted = {}, {}
    for name, statistic, columns, sample in every_statistic():
        arguments = [data[column] for column in columns]
        results = flattened(statistic.function(*arguments, window=window, **sample, min_periods=5))
        names = tuple(f"{name}_{place}" for place in range(len(results)))
        aggs[names if len(names) > 1 else names[0]] = aggregate(statistic.name, *columns, **sample)
        wanted |= {new: (statistic.exact, result) for new, result in zip(names, results)}
    frame = spark.createDataFrame(table)
    found = rolling(frame, order_by="row", window=window, min_periods=5, aggs=aggs).toArrow()
    found = found.sort_by("row")
    for new, (exact, values) in wanted.items():
        hidden = np.ma.getmaskarray(values)
        if new.startswith("arg"):
            hidden = hidden | (np.ma.getdata(values) < 0)
        values = np.ma.MaskedArray(np.ma.getdata(values), hidden).tolist()
        got = found[new].to_pylist()
        assert [value is None for value in got] == [value is None for value in values], new
        got, values = ([value for value in given_here if value is not None] for given_here in (got, values))
        assert got == values if exact else np.allclose(got, values, 1e-12, 1e-12, equal_nan=True), new


def test_a_kernel_error_names_the_key_and_the_row(spark):
    frame = spark.sql(
        "select id as row, id % 2 as key, if(id = 7, null, timestamp_seconds(id)) as t, 1D as x from range(9)"
    )
    with pytest.raises(Exception, match=r"which gives times, is missing at key=1, t=None"):
        rolling(frame, partition_by="key", order_by="t", window="5 seconds", aggs=MEDIAN).collect()


def test_explain_says_what_workers_hold(spark):
    frame = spark.range(5)
    arguments = {"order_by": "id", "aggs": [aggregate("median", "id"), aggregate("sum", "id")]}
    found = rollstat.explain(rolling, frame, window=3, **arguments)
    assert [step.algorithm for step in found.steps] == ["median", "sum"]
    assert (found.windows, found.library) == ("3", "rollstat")
    assert found.steps[0].reason == "a worker holds the rows of the widest window; long series are split"
    found = rollstat.explain(
        rolling, frame, window=rollstat.Expanding(), order_by="id", aggs=[rollstat.spark.sum("id")]
    )
    assert "a worker carries a state of each series" in repr(found)
    with pytest.raises(TypeError, match="missing a required argument"):
        rollstat.explain(rolling, frame, window=3)


def test_named_aggregations_in_pandas_order(spark):
    either = {"m": ("id", "median"), "s": ("sum", "id"), ("low", "high"): ("id", "minmax")}
    found = rolling(spark.range(5), order_by="id", window=2, aggs=either).toArrow().sort_by("id")
    assert found["m"].to_pylist() == [None, 0.5, 1.5, 2.5, 3.5]
    assert found["s"].to_pylist() == [None, 1, 3, 5, 7]
    assert found["low"].to_pylist() == [None, 0, 1, 2, 3]


def test_a_value_in_place_of_missing_results(spark):
    frame = spark.range(4)
    aggs = {"m": ("median", "id"), "s": ("sum", "id"), ("c", "o"): ("hampel", "id")}
    found = rolling(frame, order_by="id", window=3, aggs={"m": aggs["m"], "s": aggs["s"]}, fill_value=-1)
    found = found.toArrow().sort_by("id")
    assert found["m"].to_pylist() == [-1.0, -1.0, 1.0, 2.0]
    assert found["s"].to_pylist() == [-1, -1, 3, 6]
    for fill, text in ((0.5, "a value of bigint; got 0.5"), ("x", "a value of double; got 'x'")):
        with pytest.raises(ValueError, match=text):
            rolling(frame, order_by="id", window=3, aggs={"m": aggs["m"], "s": aggs["s"]}, fill_value=fill)
    with pytest.raises(ValueError, match="a value of boolean; got -1"):
        rolling(frame, order_by="id", window=3, aggs=aggs, fill_value=-1)


def test_every_third_row_of_each_series(spark):
    frame = spark.range(20).selectExpr("id % 2 AS key", "id", "IF(id % 7 = 1, NULL, id) AS x")
    given = {"order_by": "id", "window": 4, "closed": "left", "min_periods": 1}
    aggs = {"m": ("median", "x"), "s": ("sum", "x")}
    for by in ("key", ()):
        whole = rolling(frame, partition_by=by, aggs=aggs, **given).toArrow().sort_by("id").to_pylist()
        series = [[row for row in whole if not by or row["key"] == key] for key in ((0, 1) if by else (0,))]
        found = rolling(frame, partition_by=by, aggs=aggs, step=3, split=2, **given)
        assert found.columns == ["key", "id", "x", "m", "s"]
        wanted = sorted((row for rows in series for row in rows[::3]), key=lambda row: row["id"])
        assert found.toArrow().sort_by("id").to_pylist() == wanted
    filled = rolling(frame, aggs={"m": aggs["m"]}, step=3, fill_value=0.5, **given).toArrow()
    assert filled.sort_by("id")["m"].to_pylist()[0] == 0.5
    with pytest.raises(ValueError, match="step must be"):
        rolling(frame, aggs=aggs, step=0, **given)
    with pytest.raises(ValueError, match="step does not apply to labels"):
        rolling(frame, aggs=aggs, step=2, at=frame.select("id"), **given)
