"""Expanding windows carry states within a worker and from bucket to bucket."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rollstat
import rollstat.operators as operators
from rollstat.registry import REGISTRY
from rollstat.spark import aggregate, rolling
from rollstat.spark import buckets as buckets_module
from rollstat.spark import expanding as expanding_module
from rollstat.spark.batch_walk import Walk
from rollstat.spark.expanding import MAX_STATE_BYTES, CarriedWalk, carrying, initial_states
from tests.spark.test_batch_walk import ARROW, cut, masked, plan, table
from tests.spark.test_buckets import collect, long

__all__ = ["long"]  # the fixture

EXPANDING = rollstat.Expanding()
AGGS = {
    ("low", "high"): aggregate("kth", "y", k=[1, -2]),
    "where": ("argkth", "x", {"k": 3}),
    "total": ("sum", "y"),
    "last": ("last", "x"),
}


def carried(aggs=AGGS, **options):
    made, reason = carrying(plan(EXPANDING, aggs, **options))
    assert reason is None
    assert made.carries_states
    return made


@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(1, 40), max_size=6),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
    enough=st.sampled_from([1, 7, 30, None]),
    least=st.sampled_from([None, 0, 1, 4]),
    policy=st.sampled_from(["omit", "propagate"]),
    seed=st.integers(0, 2**31),
)
def test_equal_to_the_array_functions(lengths, sizes, enough, least, policy, seed):
    options = {"min_periods": least, "nan_policy": policy}
    rows = table(lengths, seed)
    walk = CarriedWalk(carried(**options))
    if enough:
        walk.min_rows = walk.wait_rows = enough
    results = []
    for batch in walk.run(iter(cut(rows, sizes))):
        results.append(batch)
        assert walk.held <= max(sizes) + 8 * (enough or 4096)
    if not sum(lengths):
        assert results == []
        return
    names = ["low", "high", "where", "total", "last"]
    found = pa.Table.from_batches(results).rename_columns([*ARROW.names, *names])
    assert found.select(ARROW.names).equals(rows)
    first = 0
    for length in lengths:
        part = found.slice(first, length)
        first += length
        x, y = masked(part["x"]), masked(part["y"])
        kth = rollstat.rolling_kth(y, [1, -2], EXPANDING, **options)
        place = rollstat.rolling_argkth(x, 3, EXPANDING, **options)
        wanted = [kth[0], kth[1], np.ma.MaskedArray(place, np.ma.getmaskarray(place) | (place < 0))]
        wanted += [
            rollstat.rolling_sum(y, EXPANDING, **options),
            rollstat.rolling_last(x, EXPANDING, **options),
        ]
        for name, values in zip(names, wanted):
            assert part[name].to_pylist() == values.tolist(), name


def test_a_long_series_is_not_held():
    walk = CarriedWalk(carried({name: AGGS[name] for name in ("where", "last")}))
    rows = table([60_000, 3, 20_000], 5)
    for _ in walk.run(iter(cut(rows, [1000]))):
        assert walk.held < 8 * 4096 + 2 * 1000
        assert sum(array.nbytes for state in walk.states for array in state.arrays) < 10_000


def test_a_row_that_fails_is_named():
    rows = table([20, 5, 30], 1)
    large = np.zeros(55, np.int64)
    large[[27, 31]] = 2**62
    for row, lengths in ((31, [20, 5, 30]), (31, [20, 30, 5])):
        rows = table(lengths, 1).set_column(4, "y", pa.array(large))
        for sizes in ([55], [7], [1]):
            walk = CarriedWalk(carried({"total": ("sum", "y")}))
            walk.min_rows = walk.wait_rows = 5
            with pytest.raises(OverflowError, match=rf"^sum failed at key='key .*row={row}: an exact"):
                list(walk.run(iter(cut(rows, sizes))))
    walk = CarriedWalk(carried({"low": ("min", "y")}, nan_policy="raise"))
    hidden = rows.set_column(4, "y", pa.array(large, mask=np.arange(55) == 22))
    with pytest.raises(ValueError, match=r"^min failed at key='key 0001', time=.*row=22: "):
        list(walk.run(iter(cut(hidden, [9]))))


AGING = {
    "mean": aggregate("ewm_mean", "x", halflife="5 seconds", ignore_na=True),
    "cov": aggregate("ewm_cov", "x", "row", halflife="5 seconds", adjust=False),
}


def aged(rows, window=EXPANDING):
    """Return the results of the functions for rows of one series."""
    x, y = (masked(rows[name]).astype(float).filled(np.nan) for name in ("x", "row"))
    times = rows["time"].to_numpy().astype("M8[us]")
    mean = rollstat.ewm_mean(masked(rows["x"]), window, halflife="5s", ignore_na=True, times=times)
    return {"mean": mean, "cov": rollstat.ewm_cov(x, y, window, halflife="5s", adjust=False, times=times)}


@pytest.mark.parametrize("window", [EXPANDING, 6])
def test_rows_age_with_time(window):
    lengths = [30, 1, 25, 40]
    rows = table(lengths, 3)
    for sizes in ([96], [7], [1]):
        made = plan(window, AGING)
        walk = CarriedWalk(carrying(made)[0]) if window is EXPANDING else Walk(made)
        walk.min_rows = walk.wait_rows = 5
        found = pa.Table.from_batches(walk.run(iter(cut(rows, sizes))))
        for number, first in enumerate(np.cumsum([0, *lengths[:-1]])):
            part = slice(first, first + lengths[number])
            for column, wanted in enumerate(aged(rows.slice(first, lengths[number]), window).values()):
                got = found.column(5 + column).to_numpy()[part]
                np.testing.assert_allclose(got, np.ma.filled(wanted, np.nan), rtol=1e-12, atol=1e-12)


def test_the_time_between_two_states_counts():
    rows = table([100], 4)
    times = np.ma.MaskedArray(rows["time"].to_numpy().astype("M8[us]"))
    given = [(*(masked(rows[name]) for name in names), times) for names in (["x"], ["x", "row"])]
    for middle in (1, 40):
        made = carried(AGING)
        states, later = initial_states(made), initial_states(made)
        for state, after, columns, wanted in zip(states, later, given, aged(rows).values()):
            state.skip([column[:middle] for column in columns])
            after.skip([column[middle:90] for column in columns])
            state.combine(after)
            (found,) = state.advance([column[90:] for column in columns])
            np.testing.assert_allclose(found, wanted[90:], rtol=1e-12, atol=1e-12)


@pytest.mark.spark
def test_long_series_whose_rows_age_are_split(frame):
    rows = frame.selectExpr("row", "timestamp_seconds(coalesce(t, 0)) as t", "x")
    arguments = {"order_by": ["t", "row"], "window": EXPANDING, "aggs": AGING}
    whole, found = (collect(rolling(rows, split=number, **arguments)) for number in (1, 5))
    for name in AGING:
        np.testing.assert_allclose(found[name], whole[name], rtol=1e-12, atol=1e-12)


EXACT = {
    "kth": aggregate("kth", "x", k=7),
    "at": aggregate("argkth", "x", k=-3),
    "ago": aggregate("argmin", "y", relative_to="newest"),
    ("least", "most"): aggregate("minmax", "y"),
    ("lowest", "highest"): aggregate("argminmax", "x"),
    "total": aggregate("sum", "y"),
    "count": aggregate("count", "x"),
    "first": aggregate("first", "x"),
    "last": aggregate("last", "x"),
    "own": aggregate("aggregate", "y", operator=operators.GreatestCommonDivisor()),
}
ROUNDED = {
    "mean": aggregate("mean", "x"),
    "var": aggregate("var", "x"),
    "decayed": aggregate("decayed_sum", "x", decay=0.9),
    "cov": aggregate("cov", "x", "y"),
    ("slope", "start", "share"): aggregate("linear_fit", "x"),
}


def same(found, wanted):
    exact = [name for name in wanted.column_names if name not in {*ROUNDED, "slope", "start", "share"}]
    assert found.select(exact).equals(wanted.select(exact))
    for name in set(wanted.column_names) - set(exact):
        a, b = found[name].combine_chunks(), wanted[name].combine_chunks()
        assert a.is_null().equals(b.is_null())
        np.testing.assert_allclose(a.fill_null(0), b.fill_null(0), rtol=1e-12, atol=1e-9)


def arrays(table, aggs, **options):
    """Yield the results of the array functions on sorted rows."""
    for new, wanted in aggs.items():
        columns = [masked(table[name]) for name in wanted.columns]
        function = REGISTRY[wanted.statistic].function
        results = function(*columns, window=EXPANDING, **wanted.parameters, **options)
        yield from zip([new] if isinstance(new, str) else new, [results] if isinstance(new, str) else results)


@pytest.fixture(scope="module")
def frame(long):
    return long.selectExpr("*", "(row * 7919) % 97 - 3 as y").cache()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("aggs", "options"),
    [
        (EXACT | ROUNDED, {"min_periods": 2}),
        (EXACT | ROUNDED, {"descending": True}),
        (EXACT, {"descending": [True, False], "ties": "error", "nan_policy": "propagate"}),
        ({"kth": EXACT["kth"], "mean": ROUNDED["mean"]}, {"ties": "columns", "order_by": "t"}),
    ],
)
def test_a_series_split_into_buckets(frame, aggs, options):
    arguments = {"order_by": ["t", "row"], "window": EXPANDING, "aggs": aggs} | options
    whole = collect(rolling(frame, split=1, **arguments))
    cut_up = rolling(frame, split=7, **arguments)
    found = collect(cut_up)
    same(found, whole)
    assert collect(cut_up).equals(found)  # to the bit, sums too
    if arguments["order_by"] == "t":  # ties in `t` have no order to compute again
        return
    down = arguments.get("descending", False)
    down = [down] * 2 if isinstance(down, bool) else down
    keys = [
        found["t"].fill_null(-1).to_numpy() * (1 - 2 * down[0]),
        found["row"].to_numpy() * (1 - 2 * down[1]),
    ]
    rows = found.take(pa.array(np.lexsort(keys[::-1])))
    given = {name: options[name] for name in ("min_periods", "nan_policy") if name in options}
    for name, wanted in arrays(rows, aggs, **given):
        wanted = np.ma.MaskedArray(
            wanted, np.ma.getmaskarray(wanted) | ((name == "at") & (np.ma.getdata(wanted) < 0))
        )
        got = rows[name].to_pylist()
        if name in whole.column_names and name in {*EXACT, "least", "most", "lowest", "highest"}:
            assert got == wanted.tolist(), name
        else:
            got = np.array([np.nan if value is None else value for value in got])
            np.testing.assert_allclose(got, wanted.filled(np.nan), rtol=1e-9, atol=1e-9)


@pytest.mark.spark
def test_only_long_series_are_split(frame, monkeypatch, capsys):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 500)
    arguments = {"partition_by": "key", "order_by": ["t", "row"], "window": EXPANDING}
    arguments["aggs"] = EXACT | ROUNDED
    plain = collect(rolling(frame, **arguments))
    result = rolling(frame, split=3, **arguments)
    capsys.readouterr()
    result.explain()
    shown = capsys.readouterr().out
    assert "rollstat_bucket" in shown
    same(collect(result), plain)


@pytest.mark.spark
def test_without_keys_long_series_are_split_by_default(frame, monkeypatch, capsys):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 1000)
    arguments = {"order_by": ["t", "row"], "window": EXPANDING}
    result = rolling(frame, aggs=EXACT, **arguments)
    result.explain()
    assert "rollstat_bucket" in capsys.readouterr().out
    same(collect(result), collect(rolling(frame, aggs=EXACT, split=1, **arguments)))
    rolling(frame, aggs={"m": ("median", "x")}, **arguments).explain()
    assert "rollstat_bucket" not in capsys.readouterr().out  # it needs all rows


@pytest.mark.spark
@pytest.mark.parametrize("order", ["cast(t as decimal(9, 1))", "t * interval '1' second", "double(t)"])
@pytest.mark.parametrize("descending", [False, True])
def test_states_come_before_all_rows(frame, order, descending):
    """Including nulls, and orders without a sort prefix."""
    rows = frame.selectExpr("row", "x", f"{order} as o")
    arguments = {"order_by": ["o", "row"], "window": EXPANDING, "descending": descending}
    arguments["aggs"] = {"kth": EXACT["kth"], "count": EXACT["count"]}
    same(collect(rolling(rows, split=5, **arguments)), collect(rolling(rows, split=1, **arguments)))


@pytest.mark.spark
def test_degenerate_series(spark):
    arguments = {"order_by": "t", "window": EXPANDING, "aggs": {"m": ("max", "x"), "s": ("sum", "row")}}
    empty = spark.createDataFrame([], "row long, t long, x double")
    assert collect(rolling(empty, split=4, **arguments)).num_rows == 0
    same_time = spark.range(50).selectExpr("id as row", "7L as t", "double(id) as x")
    same(collect(rolling(same_time, split=4, **arguments)), collect(rolling(same_time, split=1, **arguments)))
    nothing = spark.range(50).selectExpr("id as row", "id as t", "double(null) as x")
    found = collect(rolling(nothing, split=4, **arguments))
    assert found["m"].null_count == 50
    assert found["s"].to_pylist() == np.cumsum(np.arange(50)).tolist()


@pytest.mark.spark
def test_states_of_a_large_k_are_sent(spark):
    rows = 40_000
    frame = spark.range(0, rows, 1, 3).selectExpr("id as row", "(id * 7919) % 40009 as x")
    result = rolling(
        frame, order_by="row", window=EXPANDING, aggs={"m": ("kth", "x", {"k": 12_345})}, split=4
    )
    wanted = rollstat.rolling_kth(np.arange(rows) * 7919 % 40009, 12_345, EXPANDING)
    found = collect(result)["m"]
    assert found.null_count == 12_344
    assert found.drop_null().to_pylist() == wanted[12_344:].tolist()


@pytest.mark.spark
def test_series_with_too_large_states_are_not_split(frame, monkeypatch, capsys):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 1000)
    arguments = {"order_by": ["t", "row"], "window": EXPANDING}
    arguments["aggs"] = {("a", "b"): ("kth", "x", {"k": [20, -5]})}
    most = 16 + 25 * 16
    monkeypatch.setattr(expanding_module, "MAX_STATE_BYTES", most)
    sent = rolling(frame, **arguments)
    sent.explain()
    assert "rollstat_bucket" in capsys.readouterr().out
    monkeypatch.setattr(expanding_module, "MAX_STATE_BYTES", most - 1)
    kept = rolling(frame, **arguments)
    kept.explain()
    assert "rollstat_bucket" not in capsys.readouterr().out
    same(collect(kept), collect(sent))
    wanted = f"split must be 1 for an expanding window of 'kth': states take up to {most} bytes; at most"
    with pytest.raises(ValueError, match=wanted):
        rolling(frame, split=2, **arguments)


def test_a_state_takes_at_most_max_bytes():
    """For any rows, and with a large margin to the limit."""
    rng = np.random.default_rng(3)
    dtype = np.dtype(np.float64)
    column = np.ma.MaskedArray(rng.normal(size=500), rng.random(500) < 0.1)
    for new, wanted in (EXACT | ROUNDED).items():
        made = carried({new: wanted})
        (state,) = initial_states(made)
        most = state.max_bytes
        state.skip([column.astype(dtype if kind.dtype.kind == "f" else np.int64) for _, kind in made.inputs])
        assert sum(array.nbytes for array in state.arrays) <= most <= MAX_STATE_BYTES // 100, new


def test_statistics_without_a_state_hold_their_rows():
    made, reason = carrying(plan(EXPANDING, {"m": ("median", "x")}))
    assert not made.carries_states
    assert reason.startswith("'median': any earlier row")
    assert carrying(plan(5, AGGS))[1] is None
