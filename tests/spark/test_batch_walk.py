"""The walk over sorted batches, without Spark, equals the array functions and takes little memory."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

import rollstat
from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import aggregate
from rollstat.spark.batch_walk import Walk
from rollstat.spark.request import Request

SCHEMA = T.StructType(
    [
        T.StructField("key", T.StringType()),
        T.StructField("time", T.TimestampType()),
        T.StructField("row", T.LongType()),
        T.StructField("x", T.DoubleType()),
        T.StructField("y", T.LongType()),
    ]
)
ARROW = pa.schema(
    [
        ("key", pa.string()),
        ("time", pa.timestamp("us", "UTC")),
        ("row", pa.int64()),
        ("x", pa.float64()),
        ("y", pa.int64()),
    ]
)
AGGS = {
    "median": ("median", "x"),
    ("low", "high"): aggregate("kth", "y", k=[1, -2]),
    "where": ("argkth", "x", {"k": 1}),
}


def plan(
    window, aggs=AGGS, *, ties="error", order=("time", "row"), descending=False, schema=SCHEMA, **options
):
    options = {"min_periods": None, "center": False, "closed": None, "nan_policy": "omit"} | options
    return Request(["key"], list(order), window, aggs, options, descending, ties).plan(schema)


def table(lengths, seed):
    """Return sorted rows of series of the given lengths; the first key is null."""
    rng = np.random.default_rng(seed)
    keys, rows = [], sum(lengths)
    for number, length in enumerate(lengths):
        keys += [f"key {number:04}" if number else None] * length
    time = (
        np.concatenate([np.sort(rng.integers(0, 40, n)) for n in lengths]) if rows else np.empty(0, np.int64)
    )
    return pa.table(
        [
            pa.array(keys, pa.string()),
            pa.array((time * 1_000_000).astype("M8[us]")).cast(pa.timestamp("us", "UTC")),
            pa.array(np.arange(rows)),
            pa.array(rng.integers(0, 6, rows) * 0.5, mask=rng.random(rows) < 0.2),
            pa.array(2**53 + rng.integers(0, 6, rows), mask=rng.random(rows) < 0.2),
        ],
        schema=ARROW,
    )


def masked(column):
    column = column.combine_chunks()
    return np.ma.MaskedArray(
        column.fill_null(0).to_numpy(zero_copy_only=False), column.is_null().to_numpy(zero_copy_only=False)
    )


def expected(rows, lengths, window, **options):
    """Return the results of the array functions for each series."""
    parts = {name: [] for name in ("median", "low", "high", "where")}
    first = 0
    for length in lengths:
        part = rows.slice(first, length)
        first += length
        given = dict(options)
        if not isinstance(window, (int, rollstat.Forward, rollstat.Expanding)):
            given["times"] = part["time"].to_numpy().astype("M8[us]")
        x, y = masked(part["x"]), masked(part["y"])
        parts["median"] += rollstat.rolling_median(x, window, **given).tolist()
        for name, result in zip(("low", "high"), rollstat.rolling_kth(y, [1, -2], window, **given)):
            parts[name] += result.tolist()
        parts["where"] += rollstat.rolling_argkth(x, 1, window, **given).tolist()
    return parts


def cut(rows, sizes):
    """Return batches of the given sizes, repeatedly."""
    batches, first = [], 0
    while first < rows.num_rows:
        size = sizes[len(batches) % len(sizes)]
        batches += rows.slice(first, size).combine_chunks().to_batches() or []
        first += size
    return batches


def check(lengths, sizes, window, seed, enough=None, **options):
    rows = table(lengths, seed)
    walk = Walk(plan(window, **options))
    if enough:
        walk.min_rows = walk.wait_rows = enough
    batches = cut(rows, sizes)
    results = list(walk.run(iter(batches)))
    assert [batch.num_rows for batch in results] == [batch.num_rows for batch in batches]
    names = [*ARROW.names, "median", "low", "high", "where"]
    found = pa.Table.from_batches(results).rename_columns(names) if results else None
    if found is None:
        assert not rows.num_rows
        return
    assert found.select(ARROW.names).equals(rows)
    for name, values in expected(rows, lengths, window, **options).items():
        assert found[name].to_pylist() == values, name


WINDOWS = st.one_of(
    st.tuples(
        st.integers(2, 12),
        st.fixed_dictionaries(
            {
                "center": st.booleans(),
                "closed": st.sampled_from([None, "right", "left", "both", "neither"]),
                "min_periods": st.sampled_from([None, 0, 1, 2]),
            }
        ),
    ),
    st.tuples(
        st.sampled_from(["3s", "10s", np.timedelta64(5, "s")]),
        st.fixed_dictionaries(
            {
                "center": st.booleans(),
                "closed": st.sampled_from([None, "right", "left", "both", "neither"]),
                "min_periods": st.sampled_from([None, 2]),
            }
        ),
    ),
    st.tuples(st.builds(rollstat.Forward, st.integers(2, 9)), st.just({})),
    st.tuples(st.builds(rollstat.Expanding), st.just({})),
)


@settings(max_examples=120)
@given(
    lengths=st.lists(st.integers(1, 40), max_size=6),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
    window=WINDOWS,
    seed=st.integers(0, 2**31),
    enough=st.sampled_from([1, 7, 30, None]),
)
def test_equal_to_the_array_functions(lengths, sizes, window, seed, enough):
    check(lengths, sizes, window[0], seed, enough, **window[1])


@pytest.mark.parametrize(("width", "most_rows"), [(0, 8 * 4096), (500, 4096)])
def test_memory_does_not_grow_with_the_length_of_a_series(width, most_rows):
    rows = table([60_000, 3, 20_000], 5)
    wide = rows.append_column("text", pa.array(["a" * width] * rows.num_rows))
    walk = Walk(plan(100))
    most = waiting = 0
    found = []

    def watch(batches):
        nonlocal most, waiting
        for batch in batches:
            yield batch
            most = max(most, walk.held)
            waiting = max(waiting, sum(b.num_rows for b in walk.pending))

    for batch in walk.run(watch(cut(wide, [1000]))):
        found += batch.column(batch.num_columns - 1).to_pylist()
    assert most < most_rows + 2 * 1000 + 101
    assert waiting < most_rows + 2 * 1000
    assert waiting * (wide.nbytes / wide.num_rows) < 4096 * 600
    assert walk.bytes == 0
    assert found == expected(rows, [60_000, 3, 20_000], 100)["where"]


def test_rows_out_of_order_are_an_error_that_names_them():
    rows = table([50], 1)
    batches = cut(rows.take(pa.array([*range(30), 12, *range(31, 50)])), [10])
    with pytest.raises(RuntimeError, match=r"out of order at key=None, time=.*row=12$"):
        list(Walk(plan(3)).run(batches))
    across = cut(rows, [10])
    with pytest.raises(RuntimeError, match=r"out of order at key=None, time=.*row=10$"):
        list(Walk(plan(3)).run([across[0], across[2], across[1]]))


def test_ties_are_an_error_that_names_the_row():
    rows = table([50], 1)
    batches = cut(rows, [7])
    with pytest.raises(ValueError, match=r"two rows tie in the order at key=None, time="):
        list(Walk(plan(3, order=["time"])).run(batches))
    list(Walk(plan(3, order=["time"], ties="columns")).run(batches))


def test_missing_times_are_an_error_for_windows_by_width_only():
    rows = table([5], 1)
    hidden = pa.array([None, None, 0, 1, 2], pa.timestamp("us", "UTC"))
    rows = rows.set_column(1, "time", hidden)
    with pytest.raises(ValueError, match="which gives times, is missing at key=None, time=None, row=0"):
        list(Walk(plan("3s")).run(cut(rows, [5])))
    assert len(list(Walk(plan(3)).run(cut(rows, [5])))) == 1


def replaced(statistic, function):
    """Return a statistic with another function."""

    def resolve(**given):
        return SimpleNamespace(run=partial(function, **given))

    return replace(statistic, function=function, resolve=resolve)


def test_a_failing_kernel_names_the_key_and_the_row(monkeypatch):
    statistic = REGISTRY["median"]
    real = statistic.function

    def fails_on_row_31(arr, window, **options):
        if (np.ma.getdata(arr) == 31.0).any():
            raise OverflowError("too large")
        return real(arr, window, **options)

    monkeypatch.setitem(REGISTRY._loaded, "median", replaced(statistic, fails_on_row_31))
    rows = table([20, 30], 1)
    rows = rows.set_column(3, "x", pa.array(np.arange(50.0)))
    for sizes in ([50], [7], [1]):
        walk = Walk(plan(3, {"median": ("median", "x")}))
        walk.min_rows = walk.wait_rows = 5
        with pytest.raises(
            OverflowError, match=r"^median failed at key='key 0001', time=.*row=31: too large$"
        ):
            list(walk.run(cut(rows, sizes)))


def test_descending_times():
    rows = table([40], 3)
    order = np.lexsort([rows["row"].to_numpy(), -rows["time"].to_numpy().astype(np.int64)])
    down = rows.take(pa.array(order))
    walk = Walk(plan("10s", {"median": ("median", "x")}, descending=[True, False]))
    walk.min_rows = walk.wait_rows = 3
    found = [v for batch in walk.run(cut(down, [6])) for v in batch.column(5).to_pylist()]
    times = -down["time"].to_numpy().astype("M8[us]").view(np.int64)
    wanted = rollstat.rolling_median(masked(down["x"]), 10_000_000, times=times)
    assert found == wanted.tolist()


@pytest.mark.parametrize("window", [4, "4s", rollstat.Forward(4)], ids=str)
def test_sums_that_overflow_in_no_whole_window_are_no_error(window):
    largest = 2**63 - 1
    values = np.tile([5, -10, largest, 5, 5, -largest], 50)
    rows = table([300], 1)
    rows = rows.set_column(
        1, "time", pa.array(np.arange(300).astype("M8[s]").astype("M8[us]")).cast(ARROW[1].type)
    )
    rows = rows.set_column(4, "y", pa.array(values))
    options = {} if window == 4 else {"min_periods": 1}
    timed = options | ({"times": np.arange(300).astype("M8[s]")} if window == "4s" else {})
    wanted = rollstat.rolling_sum(np.ma.MaskedArray(values), window, **timed)
    walk = Walk(plan(window, {"s": ("sum", "y")}, **options))
    walk.min_rows = walk.wait_rows = 1
    found = [v for batch in walk.run(cut(rows, [1, 2, 3])) for v in batch.column(5).to_pylist()]
    assert found == wanted.tolist()


def test_memory_that_runs_out_names_the_key_and_the_row(monkeypatch):
    def grows(arr, window, **options):
        if len(arr):
            np.empty(2**50)
        return np.zeros(len(arr))

    monkeypatch.setitem(REGISTRY._loaded, "median", replaced(REGISTRY["median"], grows))
    walk = Walk(plan(3, {"median": ("median", "x")}))
    with pytest.raises(MemoryError, match=r"^median failed at key=None, time=.*row=0: Unable to allocate"):
        list(walk.run(cut(table([20], 1), [20])))
