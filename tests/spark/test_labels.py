"""Windows at the times of labels equal those over the rows up to each label, found one by one."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

import rollstat
import rollstat.spark as rs
from rollstat.spark import buckets as buckets_module
from rollstat.spark import rolling
from rollstat.spark.batch_walk import WalkPlan
from rollstat.spark.labels import LabelWalk, on_labels
from rollstat.spark.request import Request
from tests.spark.test_several_windows import exchanged_rows

SCHEMA = T.StructType(
    [T.StructField(name, T.LongType()) for name in ("key", "time", "row", "y")]
    + [T.StructField("label", T.BooleanType())]
)
STATISTICS = [rs.sum("y"), rs.kth("y", [1, -1]), rs.argkth("y", 1), rs.count("y")]


def label_plan(aggs, *, descending=False, ties="columns") -> WalkPlan:
    options = {"min_periods": None, "center": False, "closed": None, "nan_policy": "omit"}
    request = Request(["key"], ["time", "row"], None, aggs, options, [descending, False], ties)
    return on_labels(request.plan(SCHEMA, labels=["key", "time"]), 4)


def expected(times, values, t, window, closed, min_periods):
    """Return sum, smallest, largest, position of the smallest and count of the rows at a label."""
    inside = times < t if closed == "left" else times <= t
    if isinstance(window, float):
        inside &= times >= t - window if closed == "left" else times > t - window
    rows = np.flatnonzero(inside)
    rows = rows[-window:] if isinstance(window, int) else rows
    least = min_periods if min_periods is not None else window if isinstance(window, int) else 1
    found = values[rows]
    count = None if len(found) < (min_periods or 0) else len(found)
    if len(found) < max(least, 1):
        return [None if least else 0, None, None, None, count]
    low, high = int(found.min()), int(found.max())
    return [int(found.sum()), low, high, int(rows[found.argmin()]), count]


OPTIONS = st.tuples(
    st.one_of(st.integers(1, 9), st.floats(0.5, 20), st.builds(rollstat.Expanding)),
    st.sampled_from([None, "right", "left"]),
    st.sampled_from([None, 0, 1]),
)


@settings(max_examples=80)
@given(
    series=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), min_size=1, max_size=5),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    windows=st.lists(OPTIONS, min_size=1, max_size=3),
    seed=st.integers(0, 2**31),
    enough=st.sampled_from([1, 9, None]),
    descending=st.booleans(),
)
def test_equal_to_the_rows_up_to_each_label(series, sizes, windows, seed, enough, descending):
    rng = np.random.default_rng(seed)
    parts, wanted = [], []
    for key, (rows, labels) in enumerate(series):
        times, at = np.sort(rng.integers(0, 25, rows)), np.sort(rng.integers(-2, 28, labels))
        values = rng.integers(-9, 9, rows)
        every = np.concatenate([times, at])
        order = np.argsort(every, kind="stable")
        row = np.concatenate([np.arange(rows), np.zeros(labels, int)])
        y = np.concatenate([values, np.zeros(labels, int)])
        label = np.arange(rows + labels) >= rows
        sign = -1 if descending else 1
        parts.append(np.stack([np.full(len(every), key), sign * every, row, y, label])[:, order])
        wanted += [[x for w in windows for x in expected(times, values, t, *w)] for t in at]
    given = np.concatenate(parts, axis=1).astype(np.int64)
    names = SCHEMA.names
    table = pa.table({n: pa.array(c, mask=(given[4] > 0) & (n in "row y")) for n, c in zip(names, given)})
    table = table.set_column(4, "label", pa.array(given[4] > 0))
    aggs = [
        one.over(window, closed=closed, min_periods=least).alias(*(f"{i}{n}{j}" for j in range(1 + (n == 1))))
        for i, (window, closed, least) in enumerate(windows)
        for n, one in enumerate(STATISTICS)
    ]
    walk = LabelWalk(label_plan(aggs, descending=descending))
    walk.min_rows = walk.wait_rows = enough or walk.min_rows
    batches, first = [], 0
    while first < table.num_rows:
        batches += table.slice(first, sizes[len(batches) % len(sizes)]).combine_chunks().to_batches()
        first += batches[-1].num_rows
    results = list(walk.run(iter(batches)))
    assert [batch.num_rows for batch in results] == [batch.num_rows for batch in batches]
    if not results:
        return
    found = pa.Table.from_batches(results)
    assert all(
        found.filter(pa.array(given[4] == 0))[i].null_count == (given[4] == 0).sum() for i in range(5, 10)
    )
    found = found.filter(pa.array(given[4] > 0)).columns[5:]
    assert list(map(list, zip(*(column.to_pylist() for column in found)))) == wanted


@pytest.fixture(scope="module")
def rows(spark):
    frame = spark.range(3000).selectExpr(
        "if(id % 5 = 4, null, if(id % 5 < 3, 0, id % 5)) as key",
        "timestamp_seconds(1 + (id * 379) % 1200) as time",
        "id as row",
        "(id * 7919) % 101 * 1D as x",
        "cast((id * 31) % 17 as decimal(9, 2)) as y",
        "map('a', id) as extra",
    )
    return frame.repartition(3, "row").cache()


@pytest.fixture(scope="module")
def labels(spark):
    """Return labels of all keys, of one without rows, before and after all rows, and repeated ones."""
    frame = spark.range(200).selectExpr(
        "if(id % 4 = 1, null, id % 4 * 2) as key",
        "id % 100 as x",  # a column of the rows, too
        "timestamp_seconds(-5 + (id * 17) % 1250) as time",
        "id as `the label`",
        "parse_json('[1]') as variant",
    )
    return frame.union(frame.where("id % 50 = 0")).repartition(2)


MANY = [
    rs.median("x").over("1 minute", "10 minutes", 5, min_periods=1),
    rs.sum("y").over(7, "2 minutes", closed="left", min_periods=1).alias("total"),
    rs.argkth("x", 1).over(20, "3 minutes", min_periods=1),
]
NAMES = ["x_median_1min", "x_median_10min", "x_median_5", "total_7", "total_2min", "x_argkth_1_20"]
NAMES += ["x_argkth_1_3min"]
WITHIN = [("t", 60), ("t", 600), ("r", 5), ("r", 7), ("t", 120), ("r", 20), ("t", 180)]


def one_by_one(rows, labels):
    """Return the results of each label from the rows of its key."""
    series = {}
    for row in sorted(rows.drop("extra").collect(), key=lambda row: (row.time, row.row)):
        series.setdefault(row.key, []).append((row.time.timestamp(), row.x, int(row.y)))
    for label in labels.collect():
        times, x, y = (np.array(c) for c in list(zip(*series.get(label.key, []))) or [[]] * 3)
        t, results = label.time.timestamp(), []
        for name, (kind, size) in zip(NAMES, WITHIN):
            left = name.startswith("total")
            inside = times < t if left else times <= t
            inside &= (kind == "r") | ((times >= t - size) if left else (times > t - size))
            found = np.flatnonzero(inside)[-size if kind == "r" else 0 :]
            if not len(found):
                results.append(None)
            elif left:
                results.append(int(y[found].sum()))
            else:
                results.append(found[x[found].argmin()] if "arg" in name else float(np.median(x[found])))
        yield (label.key, label.x, label.time, label["the label"], *results)


@pytest.mark.spark
def test_one_exchange_one_sort_and_one_pass(rows, labels, capsys):
    arguments = {"partition_by": "key", "order_by": ["time", "row"], "at": labels, "aggs": MANY}
    result = rolling(rows, **arguments)
    assert result.columns == ["key", "x", "time", "the label", "variant", *NAMES]
    assert result.schema["variant"].dataType == labels.schema["variant"].dataType
    result.explain()
    shown = re.sub(r"InMemoryRelation.*?(?=\n +[:+]- \S|\Z)", "", capsys.readouterr().out)
    for operator in (r"\bSort ", r"\bArrowEvalPython ", r"Exchange hashpartitioning\(column0"):
        assert len(re.findall(operator, shown)) == 1, shown
    assert "Join" not in shown
    result = result.drop("variant")
    found = result.collect()
    assert exchanged_rows(result)[0] == rows.count() + labels.count()
    wanted = sorted(one_by_one(rows, labels), key=str)
    assert sorted(map(tuple, found), key=str) == sorted(wanted, key=str)


@pytest.mark.spark
def test_split_series(rows, labels, monkeypatch):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 200)
    arguments = {"order_by": ["time", "row"], "at": labels.drop("variant"), "aggs": MANY}
    for split, keys in ((5, ()), ("auto", "key"), (3, "key")):
        whole = rolling(rows, split=1, partition_by=keys, **arguments)
        cut = rolling(rows, split=split, partition_by=keys, **arguments)
        assert sorted(cut.collect(), key=str) == sorted(whole.collect(), key=str)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ("* except (time)", {}, "at: column 'time' is not among: key, x, the label"),
        ("'a' as key, time", {}, "at: column 'key' must be bigint, as in df; got string"),
        ("key, time, 1 as total", {"aggs": [rs.sum("y").over(3).alias("total")]}, "'total' is taken"),
        ("*", {"aggs": [rs.sum("y").over(3, center=True)]}, "at does not apply to windows that look ahead"),
        ("*", {"aggs": [rs.zscore("x").over(3)]}, "at does not apply to a statistic of the row"),
        ("*", {"aggs": [rs.sum("y")]}, "window must be given"),
        ("*", {"order_by": "text"}, "order_by: 'text' must be a number"),
        (
            "*",
            {"window": rollstat.Expanding(), "aggs": [rs.sum("y")], "split": 2},
            "at labels, its rows are held",
        ),
    ],
)
def test_mistakes_are_named(rows, labels, changes, options, message):
    at = labels.drop("variant").selectExpr(*changes.split(", "))
    rows = rows.selectExpr("*", "string(row) as text")
    arguments = {"partition_by": "key", "order_by": "time", "at": at, "aggs": MANY} | options
    with pytest.raises((TypeError, ValueError), match=message):
        rolling(rows, **arguments)


@pytest.mark.spark
def test_labels_and_rows_without_a_time_are_errors(rows, labels):
    missing = labels.selectExpr("key", "if(x = 7, null, time) as time")
    others = rows.selectExpr("* except (time)", "if(row = 7, null, time) as time")
    for frame, at in ((rows, missing), (others, labels)):
        result = rolling(frame, partition_by="key", order_by=["time", "row"], at=at, aggs=MANY)
        with pytest.raises(Exception, match="the order column, which gives times, is missing at key="):
            result.toArrow()


@pytest.mark.spark
def test_ties_of_labels_are_no_ties_of_rows(spark):
    frame = spark.sql("select 0 as key, id / 4 as place, id as x from range(40)")
    arguments = {
        "partition_by": "key",
        "order_by": "place",
        "ties": "error",
        "aggs": [rs.sum("x").over(2, 0.5)],
    }
    at = frame.where("x % 8 = 0").select("place", "key")
    found = rolling(frame, at=at.union(at), descending=True, **arguments).collect()
    assert len(found) == 10
    for row in found:
        x = int(row.place * 4)
        assert row.x_sum_2 == (None if x == 39 else 2 * x + 1)
        assert row.x_sum_0_5 == x + min(x + 1, 39) * (x < 39)
    with pytest.raises(Exception, match="two rows tie in the order at key=0, place="):
        rolling(frame.union(frame), at=at, **arguments).toArrow()
