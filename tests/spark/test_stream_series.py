"""The series of a stream between micro-batches, without Spark."""

from dataclasses import replace

import hypothesis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import aggregate
from rollstat.spark.batch_walk import Walk
from rollstat.spark.stream_series import LATE, NULL_TIME, RETURNED, Entries, SeriesRows, without_results
from rollstat.spark.structured_streaming import Agenda, by_fate
from tests.spark.test_batch_walk import ARROW, SCHEMA, expected, plan, table

NAMES = ("median", "low", "high", "where")


class Series:
    """Series without Spark, with a state in memory and parts of three rows."""

    def __init__(self, window, *, horizon=2, keep=None, span=None, **options):
        self.plan = plan(window, ties="columns", **options)
        self.rows = SeriesRows(self.plan, horizon=horizon, keep=keep, part=3)
        self.state, self.tasks, self.timers = Entries(), Entries(), set()
        self.agenda = Agenda(self.plan, self.rows, self.state, self.tasks, self.timers.add, span)

    def feed(self, batch=None, watermark=None):
        """Return the rows of one micro-batch, perhaps without new rows, as dictionaries."""
        found = []
        for fate, rows in () if batch is None else by_fate(self.plan, batch, watermark):
            if fate != RETURNED:
                found.append(without_results(self.plan, rows, fate))
            elif watermark is None:
                found += self.rows.run(rows, self.state)
            else:
                self.agenda.wait(rows)
        if watermark is not None:
            found += self.agenda.due(watermark)
        names = [*ARROW.names, *NAMES, "fate"]
        return [row for part in found for row in part.rename_columns(names).to_pylist()]


def batches_of(rows, order, sizes):
    first, found = 0, []
    while first < len(order):
        size = sizes[len(found) % len(sizes)]
        found.append(rows.take(pa.array(order[first : first + size])).combine_chunks().to_batches()[0])
        first += size
    return found


def results_so_far(returned, window, **options):
    """Return the results of the array functions over all rows returned so far, by their number."""
    columns = [(name, "ascending") for name in ("key", "time", "row")]
    rows = pa.Table.from_pylist(returned, ARROW).sort_by(columns)
    keys = rows["key"].to_pylist()
    lengths = [keys.count(key) for key in dict.fromkeys(keys)]
    values = expected(rows, lengths, window, **options)
    return {row: tuple(values[name][i] for name in NAMES) for i, row in enumerate(rows["row"].to_pylist())}


def shuffled(lengths, late, seed):
    """Return rows of several series, and an order in which a row comes up to `late` places too late."""
    rng = np.random.default_rng(seed)
    number = np.concatenate([np.arange(n) for n in lengths])
    return table(lengths, seed), np.argsort(number + rng.integers(0, late + 1, len(number)), kind="stable")


def given(row):
    return {name: row[name] for name in ARROW.names}


@settings(max_examples=60, deadline=None)
@hypothesis.given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    window=st.sampled_from([2, 7, 50, "3s", "20s"]),
    closed=st.sampled_from([None, "left", "both", "neither"]),
    late=st.sampled_from([0, 3, 60]),
    seed=st.integers(0, 2**31),
)
def test_each_row_has_the_results_of_the_rows_returned_so_far(lengths, sizes, window, closed, late, seed):
    rows, order = shuffled(lengths, late, seed)
    options = {"closed": closed, "min_periods": 1}
    series, returned = Series(window, **options), []
    for batch in batches_of(rows, order, sizes):
        found = series.feed(batch)
        assert sorted(row["row"] for row in found) == sorted(batch["row"].to_pylist())
        for row in found:
            if row["fate"] == LATE:  # it is before the windows of the last row of its series
                later = [one["time"] for one in returned if one["key"] == row["key"]]
                later = [time for time in later if time >= row["time"]]
                if isinstance(window, str):
                    assert (max(later) - row["time"]).total_seconds() >= int(window[:-1])
                else:
                    assert len(later) >= window
                assert [row[name] for name in NAMES] == [None] * 4
        new = [row for row in found if row["fate"] == RETURNED]
        returned += map(given, new)
        wanted = results_so_far(returned, window, **options) if returned else {}
        for row in new:
            assert tuple(row[name] for name in NAMES) == wanted[row["row"]]


@settings(max_examples=30, deadline=None)
@hypothesis.given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    delay=st.integers(0, 12),
    size=st.integers(1, 15),
    window=st.sampled_from([5, "8s"]),
    seed=st.integers(0, 2**31),
)
def test_behind_a_watermark_results_are_those_of_all_rows_in_order(lengths, delay, size, window, seed):
    rows = table(lengths, seed)
    seconds = np.array([time.timestamp() for time in rows["time"].to_pylist()], np.int64)
    late = np.random.default_rng(seed).integers(0, delay + 1, len(seconds))
    order = np.argsort(seconds + late, kind="stable")
    series, mark, found = Series(window, horizon=1, span=3_000_000, min_periods=1), -1, []
    for batch in batches_of(rows, order, [size]):
        found += series.feed(batch, mark)
        assert all(row["time"].timestamp() * 1e6 <= mark for row in found)
        newest = max(time.timestamp() for time in batch["time"].to_pylist())
        mark = max(mark, int(newest - delay) * 1_000_000 - 1)  # rows at the mark are late
    found += series.feed(watermark=10**15)
    assert not any(row["fate"] for row in found)
    wanted = results_so_far([given(row) for row in found], window, min_periods=1)
    assert {row["row"]: tuple(row[name] for name in NAMES) for row in found} == wanted
    assert len(wanted) == len(rows)
    assert not series.tasks


def test_a_batch_writes_in_proportion_to_its_new_rows():
    rows, written = table([3000], 1), []

    class Counted(Entries):
        def updateValue(self, key, value):
            written.append(len(value[0]))
            self[key] = value

    series = Series(1000, min_periods=1)
    series.rows.part, series.state = 100, Counted()
    for first in range(0, 3000, 10):
        found = series.feed(rows.slice(first, 10).combine_chunks().to_batches()[0])
        assert [row["fate"] for row in found] == [RETURNED] * 10
    assert sum(written[-300:]) < 100 * sum(map(len, (entry[0] for entry in series.state.values()))) / 10
    assert len(series.state) == 21  # twice the window, and the header


@pytest.mark.parametrize("window", [40, "40s"])
def test_a_batch_reads_the_parts_that_its_windows_reach(window):
    read = []

    class Counted(Entries):
        def getValue(self, key):
            read.append(key)
            return self.get(key)

    seconds = np.arange(200) * 10**6
    rows = table([200], 1).set_column(1, "time", pa.array(seconds, pa.timestamp("us", "UTC")))
    order = np.arange(200)
    for row, places in ((120, 4), (145, 12), (165, 30)):  # come after so many later rows
        order = np.insert(np.delete(order, row), row + places, row)
    series, returned, counts = Series(window, min_periods=1), [], {}
    series.rows.part, series.state = 10, Counted()
    for batch in batches_of(rows, order, [1]):
        read.clear()
        (row,) = series.feed(batch)
        assert len(set(read)) == len(read)  # nothing is read twice
        counts[row["row"]] = len(read) - 1  # parts
        returned.append(given(row))
        if row["row"] >= 100:
            wanted = results_so_far(returned, window, min_periods=1)[row["row"]]
            assert tuple(row[name] for name in NAMES) == wanted
    assert len(series.state) - 1 in (8, 9)
    usual = [row for row in range(100, 200) if counts[row] <= 5]
    assert len(usual) == 88  # ten rows complete a part, and windows of two late rows start before the others
    assert {counts[row] for row in range(100, 200)} - {8, 9} == {4, 5}
    assert counts[120] == 4
    assert counts[145] >= counts[165] >= 8


def test_rows_that_tie_in_one_batch_are_in_the_order_of_a_batch_job():
    whole = table([6], 2)
    whole = whole.set_column(1, "time", pa.array([7] * 6, pa.timestamp("us", "UTC")))
    whole = whole.set_column(3, "x", pa.array([np.nan, 1.0, None, 0.0, -0.0, -1.0]))
    whole = whole.set_column(4, "y", pa.array([1, 2, 3, 5, 4, 6]))
    series = Series(3, horizon=1, span=1000, order=["time"])
    series.plan = series.agenda.plan = series.rows.plan = replace(series.plan, ties=(3, 4))
    for number, mark in enumerate([1, 2, 3]):
        assert not series.feed(whole.slice(2 * number, 2).combine_chunks().to_batches()[0], mark)
    found = series.feed(watermark=7)
    # A null comes first, NaN is the largest number, and the two zeros are equal.
    assert [row["y"] for row in found] == [3, 6, 4, 5, 2, 1]


def test_rows_that_tie_with_an_earlier_batch_come_after_it_with_a_warning():
    batch = table([4], 2).combine_chunks().to_batches()[0]
    batch = batch.set_column(1, "time", pa.array([7] * 4, pa.timestamp("us", "UTC")))
    series = Series(3, order=["time"])
    assert len(series.feed(batch.slice(2))) == 2
    with pytest.warns(UserWarning, match="rows tie in order_by with rows of an earlier micro-batch"):
        assert [row["row"] for row in series.feed(batch.slice(0, 2))] == [0, 1]


def test_rows_without_a_time_have_a_fate_of_their_own():
    whole = table([5], 2).set_column(1, "time", pa.array([None, 1, 2, 3, 9], pa.timestamp("us", "UTC")))
    batch = whole.combine_chunks().to_batches()[0]
    fates = {row["row"]: row["fate"] for row in Series(2).feed(batch)}
    assert fates == {0: NULL_TIME, 1: RETURNED, 2: RETURNED, 3: RETURNED, 4: RETURNED}
    series = Series(2, horizon=1, span=1000)
    assert {row["row"]: row["fate"] for row in series.feed(batch, 2)} == {0: NULL_TIME, 1: LATE, 2: LATE}
    assert series.timers == {1}


def test_a_series_is_forgotten_after_its_time():
    whole = table([20], 4)
    seconds = [0, 1, 2, 3, 10, 11, *range(30, 44)]
    whole = whole.set_column(1, "time", pa.array([s * 10**6 for s in seconds], pa.timestamp("us", "UTC")))
    found = {}
    for size in (1, 5, 20):  # the same however rows come
        series, rows = Series(3, horizon=1, keep=6_000_000, span=10**6, min_periods=1), []
        for first in range(0, 20, size):
            batch = whole.slice(first, size).combine_chunks().to_batches()[0]
            rows += series.feed(batch, -1 + seconds[first] * 10**6)
        for mark in (43 * 10**6, 48 * 10**6):
            rows += series.feed(watermark=mark)
            assert series.state
        found[size] = [tuple(row[name] for name in NAMES) for row in rows]
        series.feed(watermark=49 * 10**6)
        assert not series.state
        assert not series.tasks
    parts = [whole.slice(0, 4), whole.slice(4, 2), whole.slice(6)]
    wanted = [expected(part, [part.num_rows], 3, min_periods=1) for part in parts]
    assert found[1] == [row for part in wanted for row in zip(*(part[name] for name in NAMES))]
    assert found[1] == found[5] == found[20]


def test_an_error_names_the_row():
    batch = table([4, 4], 2).combine_chunks().to_batches()[0]
    series = Series(3, aggs={"r": ("sum", "y")}, min_periods=1)
    batch = batch.set_column(4, "y", pa.array([1, 2, 3, 4, 2**62, 5, 2**62, 7]))
    with pytest.raises(OverflowError, match=r"sum failed at key='key 0001', time=.*, row=6: "):
        list(series.rows.run(batch, series.state))


@pytest.mark.parametrize("name", [name for name in REGISTRY if name != "aggregate"])
def test_all_statistics_are_those_of_a_batch(name):
    statistic = REGISTRY[name]
    columns = ["x", "y"][: statistic.series]
    wanted = aggregate(name, *columns, **dict(statistic.samples[0])).over(5, "4s", closed="left")
    rows = table([12, 9], 3)
    rows = rows.set_column(4, "y", rows["row"].cast(pa.float64()))
    fields = [field if field.name != "y" else T.StructField("y", T.DoubleType()) for field in SCHEMA]
    job = plan(None, [wanted], ties="columns", schema=T.StructType(fields), min_periods=2)
    series, state, found = SeriesRows(job, horizon=2, part=3), Entries(), []
    for first in range(0, 21, 4):
        batch = rows.slice(first, 4).combine_chunks().to_batches()[0]
        found += pa.Table.from_batches(series.run(batch, state)).to_pylist()
    whole = pa.Table.from_batches(Walk(job).run(rows.combine_chunks().to_batches())).to_pylist()
    found.sort(key=lambda row: row["row"])
    for name in (f"new{i}" for i in range(len(job.fields))):
        values = [[np.nan if row[name] is None else row[name] for row in rows] for rows in (found, whole)]
        assert values[0] == pytest.approx(values[1], rel=1e-12, nan_ok=True)


def test_rows_age_with_time_within_their_series():
    rows = table([12, 9], 3)
    aggs = {"m": aggregate("ewm_mean", "x", halflife="5 seconds"), "n": ("sum", "y")}
    job = plan(6, aggs, ties="columns", min_periods=1)
    series, state, found = SeriesRows(job, horizon=2, part=3), Entries(), []
    for first in range(0, 21, 4):
        batch = rows.slice(first, 4).combine_chunks().to_batches()[0]
        found += pa.Table.from_batches(series.run(batch, state)).to_pylist()
    whole = pa.Table.from_batches(Walk(job).run(rows.combine_chunks().to_batches())).to_pylist()
    values = [[row["new0"] for row in sorted(given, key=lambda row: row["row"])] for given in (found, whole)]
    assert values[0] == pytest.approx(values[1], rel=1e-12, nan_ok=True)
