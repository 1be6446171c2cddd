"""A series of a stream, saved and restored between micro-batches, without Spark."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rollstat
from rollstat.snapshots import SnapshotError
from rollstat.spark.structured_streaming import LATE, NULL_TIME, Series, read_message, write_message
from tests.spark.test_batch_walk import ARROW, masked, plan, table


def rows_of(batches):
    return pa.Table.from_batches(batches)


def feed(batches, window, marks=None, **options):
    """Return the rows emitted for every batch, with a snapshot between consecutive batches."""
    job, snapshot, given_out = plan(window, ties="columns", **options), None, []
    for batch, mark in zip(batches, marks or [None] * len(batches)):
        series = Series(job, snapshot)
        given_out += [*series.take(batch, mark), *series.emit(mark)]
        snapshot = series.snapshot()
    return given_out, Series(job, snapshot)


@settings(max_examples=60)
@given(
    rows=st.integers(1, 80),
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    window=st.sampled_from([2, 7, 50, "3s", "20s"]),
    closed=st.sampled_from([None, "left", "both", "neither"]),
    seed=st.integers(0, 2**31),
)
def test_equal_to_the_array_functions(rows, sizes, window, closed, seed):
    whole = table([rows], seed)
    batches, first = [], 0
    rng = np.random.default_rng(seed)
    while first < rows:
        size = sizes[len(batches) % len(sizes)]
        part = whole.slice(first, size).combine_chunks().to_batches()[0]
        batches.append(part.take(pa.array(rng.permutation(part.num_rows))))  # in no order within a batch
        first += size
    found = rows_of(feed(batches, window, closed=closed, min_periods=1)[0])
    assert found.select(range(5)).rename_columns(ARROW.names).equals(whole)
    options = {"closed": closed, "min_periods": 1}
    if isinstance(window, str):
        options["times"] = whole["time"].to_numpy().astype("M8[us]")
    x, y = masked(whole["x"]), masked(whole["y"])
    assert found[5].to_pylist() == rollstat.rolling_median(x, window, **options).tolist()
    assert found[6].to_pylist() == rollstat.rolling_kth(y, 1, window, **options).tolist()
    assert found[8].to_pylist() == rollstat.rolling_argkth(x, 1, window, **options).tolist()


@settings(max_examples=40)
@given(rows=st.integers(1, 60), delay=st.integers(0, 12), size=st.integers(1, 15), seed=st.integers(0, 2**31))
def test_a_watermark_gives_out_in_order_what_it_has_passed(rows, delay, size, seed):
    whole = table([rows], seed)
    rng = np.random.default_rng(seed)
    seconds = whole["time"].to_numpy().astype("M8[s]").astype(np.int64)
    order = np.argsort(seconds + rng.integers(0, delay + 1, rows), kind="stable")
    batches, marks, mark = [], [], -1
    for first in range(0, rows, size):
        taken = order[first : first + size]
        batches.append(whole.take(pa.array(taken)).combine_chunks().to_batches()[0])
        marks.append(mark)
        mark = max(mark, (int(seconds[taken].max()) - delay) * 1_000_000 - 1)  # rows at the mark are late
    batches.append(whole.slice(0, 0).combine_chunks().to_batches() or pa.RecordBatch.from_pylist([], ARROW))
    given_out, series = feed(batches[:-1], 5, marks, min_periods=1)
    given_out += list(series.emit(10**15))
    found = rows_of(given_out)
    assert not any(found[9].to_pylist())
    assert found.select(range(5)).rename_columns(ARROW.names).equals(whole)
    assert found[5].to_pylist() == rollstat.rolling_median(masked(whole["x"]), 5, min_periods=1).tolist()
    assert series.wakes_at(None) is None


def test_late_rows_are_marked_and_change_nothing():
    whole = table([30], 2)
    batch = whole.combine_chunks().to_batches()[0]
    series = Series(plan(4, ties="columns"), None)
    assert not list(series.take(batch.slice(10, 10), None))
    assert sum(part.num_rows for part in series.emit(None)) == 10
    series = Series(series.plan, series.snapshot())
    late, *others = [*series.take(batch.slice(5, 3), None), *series.take(batch.slice(20, 5), None)]
    assert not others
    (ready,) = series.emit(None)
    assert late.column(9).to_pylist() == [LATE] * 3
    assert late.column("row").to_pylist() == [5, 6, 7]
    assert late.column(5).null_count == 3
    assert ready.column("row").to_pylist() == [20, 21, 22, 23, 24]
    wanted = rollstat.rolling_median(masked(whole["x"].slice(10, 15)), 4)[10:]
    assert ready.column(5).to_pylist() == wanted.tolist()


def test_rows_that_tie_in_one_batch_are_in_the_order_of_a_batch_job():
    whole = table([6], 2)
    whole = whole.set_column(1, "time", pa.array([7] * 6, pa.timestamp("us", "UTC")))
    whole = whole.set_column(3, "x", pa.array([np.nan, 1.0, None, 0.0, -0.0, -1.0]))
    whole = whole.set_column(4, "y", pa.array([1, 2, 3, 5, 4, 6]))
    job = plan(3, ties="columns", order=["time"])
    job = replace(job, ties=(3, 4))  # without the row number, which comes first
    series = Series(job, None)
    for number, mark in enumerate([1, 2, 3]):
        batch = whole.slice(2 * number, 2).combine_chunks().to_batches()[0]
        assert not list(series.take(batch, mark))
        assert not list(series.emit(mark))
        series = Series(job, series.snapshot())
    (found,) = series.emit(7)
    # A null comes first, NaN is the largest number, and the two zeros are equal.
    assert found.column("y").to_pylist() == [3, 6, 4, 5, 2, 1]


def test_rows_that_tie_with_an_earlier_batch_come_after_it_with_a_warning():
    batch = table([4], 2).combine_chunks().to_batches()[0]
    batch = batch.set_column(1, "time", pa.array([7] * 4, pa.timestamp("us", "UTC")))
    series = Series(plan(3, ties="columns", order=["time"]), None)
    assert not list(series.take(batch.slice(2), None))
    list(series.emit(None))
    with pytest.warns(UserWarning, match="rows tie in order_by with rows of an earlier micro-batch"):
        assert not list(series.take(batch.slice(0, 2), None))
    assert rows_of(series.emit(None))["row"].to_pylist() == [0, 1]


def test_rows_without_a_time_have_a_fate_of_their_own():
    whole = table([5], 2).set_column(1, "time", pa.array([None, 1, 2, 3, 9], pa.timestamp("us", "UTC")))
    batch = whole.combine_chunks().to_batches()[0]
    for watermark in (None, 2):
        series = Series(plan(2, ties="columns"), None)
        dropped = rows_of(series.take(batch, watermark))
        assert dropped["row"].to_pylist() == [1, 2, 0][-1 if watermark is None else 0 :]
        assert dropped[9].to_pylist() == [LATE, LATE, NULL_TIME][-1 if watermark is None else 0 :]
        assert dropped[5].null_count == dropped.num_rows
    assert not list(series.emit(2))
    assert series.wakes_at(7) == 3
    (ready,) = series.emit(3)
    assert ready.column("row").to_pylist() == [3]
    assert series.wakes_at(7) == 9
    assert sum(part.num_rows for part in series.emit(9)) == 1
    assert (series.wakes_at(7), series.wakes_at(None)) == (16, None)


def test_dropped_rows_alone_leave_no_state():
    batch = table([5], 2).combine_chunks().to_batches()[0]
    series = Series(plan(2, ties="columns"), None)
    assert rows_of(series.take(batch, 10**9)).num_rows == 5
    assert not list(series.emit(10**9))
    assert series.empty
    assert series.wakes_at(7) is None


def test_the_state_is_that_of_a_window():
    whole = table([50_000], 3).combine_chunks().to_batches()
    series = Series(plan(100, ties="columns"), None)
    sizes = []
    for batch in whole:
        for first in range(0, batch.num_rows, 10_000):
            assert not list(series.take(batch.slice(first, 10_000), None))
            list(series.emit(None))
            sizes.append(len(series.snapshot()))
            series = Series(series.plan, series.snapshot())
    assert max(sizes) < 5_000


def test_a_state_of_other_statistics_is_rejected():
    series = Series(plan(3, ties="columns"), None)
    series.waiting.append(table([9], 1).combine_chunks().to_batches()[0])
    list(series.emit(None))
    snapshot = series.snapshot()
    with pytest.raises(ValueError, match="belongs to one set of aggs"):
        Series(plan(3, {"m": ("median", "x")}, ties="columns"), snapshot)
    with pytest.raises(SnapshotError):
        Series(series.plan, snapshot[:-1])


def test_skipping_leaves_the_same_state():
    batch = table([5000], 4).combine_chunks().to_batches()[0]
    given_out = Series(plan(20, ties="columns"), None)
    given_out.waiting.append(batch)
    list(given_out.emit(None))
    skipped = Series(plan(20, ties="columns"), None)
    for first in range(0, 5000, 700):
        skipped.walk.skip(batch.slice(first, 700))
    assert skipped.snapshot() == given_out.snapshot()


def test_messages_keep_rows_as_they_are():
    batch = table([7], 4).combine_chunks().to_batches()[0]
    assert read_message(write_message(batch.slice(2, 3)))[0].equals(batch.slice(2, 3))
    assert read_message(write_message(batch.slice(0, 0))) == []
