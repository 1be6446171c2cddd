"""Statistics over windows of their own: the results of single windows, in one exchange, sort and pass."""

import re
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rollstat
import rollstat.spark as rs
from rollstat.spark import rolling
from rollstat.spark.batch_walk import Walk
from tests.spark.test_batch_walk import ARROW, WINDOWS, cut, plan, table
from tests.spark.test_route import collect

FEATURES = [rs.median("x"), rs.kth("y", [1, -2]), rs.argkth("x", 1)]


def results(walk, batches):
    """Return the new columns of a walk."""
    names = [field.name for field in walk.plan.fields]
    found = list(walk.run(iter(batches)))
    assert [batch.num_rows for batch in found] == [batch.num_rows for batch in batches]
    return pa.Table.from_batches(found).rename_columns([*ARROW.names, *names]).select(names)


@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
    windows=st.lists(WINDOWS, min_size=1, max_size=4),
    seed=st.integers(0, 2**31),
    enough=st.sampled_from([1, 7, None]),
)
def test_equal_to_single_windows(lengths, sizes, windows, seed, enough):
    batches = cut(table(lengths, seed), sizes)
    aggs = [
        one.alias(*(f"{name}_{number}" for name in names)).over(window, **options)
        for number, (window, options) in enumerate(windows)
        for one, names in zip(FEATURES, (["median"], ["low", "high"], ["at"]))
    ]
    walk = Walk(plan(None, aggs))
    walk.min_rows = walk.wait_rows = enough or walk.min_rows
    columns = iter(results(walk, batches).columns)
    for window, options in windows:
        for column in results(Walk(plan(window, FEATURES, **options)), batches).columns:
            assert next(columns).to_pylist() == column.to_pylist(), (window, options)
    assert next(columns, None) is None


def test_a_worker_holds_the_rows_of_the_widest_window_only():
    lengths = [60_000, 3, 20_000]
    batches = cut(table(lengths, 5), [1000])
    walk = Walk(plan(None, [rs.count("x").over(10, 300, min_periods=1)]))
    most = 0
    for batch in batches:
        list(walk.push(batch))
        most = max(most, walk.held)
    assert most < 8 * 4096 + 2 * 1000 + 301
    list(walk.flush(final=True))
    assert walk.held == 300


def test_narrow_windows_take_only_the_rows_that_they_reach(monkeypatch):
    import rollstat.spark.aggregates as module

    taken = {10: 0, 1000: 0}
    real = module._resolved

    def counting(call, columns, window, options):
        taken[call.window.given] += len(columns[0])
        return real(call, columns, window, options)

    monkeypatch.setattr(module, "_resolved", counting)
    walk = Walk(plan(None, [rs.count("x").over(10, 1000)]))
    walk.min_rows = walk.wait_rows = 1
    for batch in cut(table([4000], 5), [100]):
        list(walk.push(batch))
        list(walk.flush(final=False))
    assert taken[10] <= 4000 + 40 * 9
    assert taken[1000] > 30 * 1000


def test_calls_of_one_window_share_their_work(monkeypatch):
    import rollstat.spark.aggregates as module

    runs = []
    real = module.joint_calls

    def counting(calls):
        found = real(calls)
        runs.append([joint.numbers for joint in found])
        return found

    monkeypatch.setattr(module, "joint_calls", counting)
    aggs = [getattr(rs, name)("x").over(3, 5, min_periods=1) for name in ("mean", "median", "sum")]
    aggs.append(rs.quantile("x", [0.25, 0.75]).over(3, 5, min_periods=1))
    batches = cut(table([40, 3, 20], 5), [10])
    together = results(Walk(plan(None, aggs)), batches)
    assert sorted(runs[0]) == [[0], [1], [2, 6], [3, 7], [4], [5]]
    for agg in aggs:
        alone = results(Walk(plan(None, [agg])), batches)
        for name in alone.column_names:
            np.testing.assert_array_equal(together[name], alone[name])


def test_names_of_windows():
    aggs = [
        rs.median("x"),
        rs.median("x").over("7 days"),
        rs.kth("y", [1, -1]).over("1 hour 30 minutes", 10),
        rs.sum("y").alias("total").over(2, timedelta(days=1)),
        rs.sum("y").over(3).alias("three"),
        rs.count("x").over(2, 3).alias("two", "more"),
        rs.max("x").over(rollstat.Forward(3)),
    ]
    names = [field.name for field in plan("1 hour", aggs).fields]
    assert names == [
        "x_median",
        "x_median_7D",
        *("y_kth_1_1h30min", "y_kth_minus_1_1h30min", "y_kth_1_10", "y_kth_minus_1_10"),
        *("total_2", "total_1_day_0_00_00"),
        "three",
        *("two", "more"),
        "x_max_Forward_m_3",
    ]
    assert len(plan(None, [rs.sum("x").over(5), rs.mean("x").over(5)]).windows) == 1
    assert len(plan(5, [rs.sum("x"), rs.mean("x").over(5), rs.min("x").over(5, closed="left")]).windows) == 2


@pytest.mark.parametrize(
    ("window", "aggs", "message"),
    [
        (None, [rs.sum("x").over(3), rs.mean("x")], "window must be given .*'mean' names none"),
        (None, {"m": ("median", "x")}, "window must be given unless every statistic names its own"),
        (3, [rs.sum("x").over(3, 3)], "'x_sum_3' is taken"),
        (3, [rs.sum("x").over(3, min_periods=4)], "min_periods must be at most the window, 3; got 4"),
        (3, [rs.sum("x").over("1 month")], "time zone is not known here: cast it to timestamp_ntz"),
        (
            3,
            [rs.sum("x").over(([0], [1]))],
            "window must be a number of rows, a duration, Forward",
        ),
        (3, [rs.kth("x", [1, 2]).over(3, 4).alias("a", "b", "c")], "a tuple of 2 names"),
        (3, [rs.sum("x").over(0.5)], "duration"),
    ],
)
def test_mistakes_are_named(window, aggs, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plan(window, aggs)


def transactions(spark, rows=900):
    frame = spark.range(rows).selectExpr(
        "id % 4 as key", "timestamp_seconds(id * 37 % 900) as time", "id as row",
        "(id * 7919) % 101 * 1D as x", "cast((id * 31) % 17 as decimal(9, 2)) as y",
    )  # fmt: skip
    return frame.repartition(3, "row")


MANY = [
    rs.median("x").over("1 minute", "10 minutes", 5, closed="left", min_periods=1),
    rs.sum("y").over(7, "2 minutes"),
    rs.argkth("x", 1).over(20, "3 minutes"),
    rs.max("x"),
]
ONE_BY_ONE = [
    *(("x_median", rs.median("x"), w, {"closed": "left", "min_periods": 1}) for w in ("1min", "10min", 5)),
    *(("y_sum", rs.sum("y"), w, {}) for w in (7, "2min")),
    *(("x_argkth_1", rs.argkth("x", 1), w, {}) for w in (20, "3min")),
]


def exchanged_rows(result):
    """Return how many rows the exchanges of a computed result wrote, and how many exchanges there are."""
    plan, written = [result._jdf.queryExecution().executedPlan()], []
    while plan:
        node = plan.pop()
        name = node.nodeName()
        if name.startswith("AdaptiveSparkPlan"):
            plan.append(node.executedPlan())
        elif name.endswith("QueryStage"):
            plan.append(node.plan())
        if name == "Exchange":
            written.append(node.metrics().apply("shuffleRecordsWritten").value())
        plan += [node.children().apply(i) for i in range(node.children().size())]
    return written


@pytest.mark.spark
def test_one_exchange_one_sort_and_one_pass(spark, capsys):
    frame = transactions(spark)
    arguments = {"partition_by": "key", "order_by": ["time", "row"]}
    result = rolling(frame.coalesce(1), window=9, aggs=MANY, **arguments)
    result.explain()
    shown = capsys.readouterr().out
    for operator in ("Sort", "ArrowEvalPython"):
        assert len(re.findall(rf"\b{operator} ", shown)) == 1, shown
    assert len(re.findall(r"\bExchange hashpartitioning\(key", shown)) == 1, shown
    rows = {row["row"]: row for row in result.collect()}
    assert exchanged_rows(result)[0] == frame.count() == len(rows)
    for name, one, window, options in ONE_BY_ONE:
        single = collect(rolling(frame, window=window, aggs=[one], **arguments, **options))
        for row in single:
            assert rows[row["row"]][f"{name}_{window}"] == row[name], (name, window)
    for row in collect(rolling(frame, window=9, aggs=[rs.max("x")], **arguments)):
        assert rows[row["row"]]["x_max"] == row["x_max"]


@pytest.mark.spark
@pytest.mark.parametrize("ahead", [False, True])
def test_split_series(spark, ahead):
    frame = transactions(spark)
    aggs = [*MANY, rs.mean("y").over(11, rollstat.Forward(4), center=None)] if ahead else MANY
    arguments = {"order_by": ["time", "row"], "window": 9, "aggs": aggs}
    whole = rolling(frame, split=1, **arguments).toArrow().sort_by("row")
    assert rolling(frame, split=5, **arguments).toArrow().sort_by("row").equals(whole)


@pytest.mark.spark
def test_expanding_windows_beside_others(spark):
    frame, order = transactions(spark), ["time", "row"]
    mixed = [rs.sum("y").over(rollstat.Expanding()), rs.sum("x").over(4, min_periods=1)]
    with pytest.raises(ValueError, match="'sum': beside other windows, and at labels, its rows are held"):
        rolling(frame, split=5, order_by=order, aggs=mixed)
    found = rolling(frame, order_by=order, aggs=mixed).toArrow().to_pandas().sort_values(order)
    assert found["y_sum_Expanding"].astype(float).tolist() == found["y"].astype(float).cumsum().tolist()
    assert found["x_sum_4"].tolist() == found["x"].rolling(4, min_periods=1).sum().tolist()
