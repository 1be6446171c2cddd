"""Streams over windows of calendar units: the functions over arrays, and what a stream promises."""

import datetime
import operator
import pickle

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat.calendar_units import distances, earlier
from rollstat.operators import Sum
from tests.streaming.cases import batch, columns_of, identity, make, outputs, push_all, same

N = 60
WINDOWS = ["1 month", "1y 1mo", pd.offsets.BDay(2), pd.DateOffset(months=1, days=1), pd.offsets.MonthEnd()]
ZONES = [None, "Europe/Berlin", "America/New_York"]
# An order statistic, positions, own rows, numbers of two series, weights that fall with time, and sums.
STATISTICS = [
    ("median", {}),
    ("argmin", {}),
    ("hampel", {}),
    ("sum", {}),
    ("cov", {}),
    ("ewm_mean", {"halflife": "5D"}),
]


def times_around(rng, zone, n=N):
    """Times with ties around the ends of months, leap days, weekends and changes of the clock."""
    days = ["2024-02-28", "2024-03-09", "2024-03-29", "2024-10-26", "2024-11-02", "2025-02-27"]
    minutes = rng.integers(0, 4 * 96, n) * 15
    times = pd.DatetimeIndex(np.sort(rng.choice(np.array(days, "M8[s]"), n) + minutes.astype("m8[m]")))
    return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_one_time_begins_where_an_array_does(window, zone, rng):
    times = times_around(rng, zone, 300).unique()
    stored = times.tz_localize(None) if zone is None else times.tz_convert("UTC").tz_localize(None)
    stored = stored.to_numpy().astype("M8[ns]")
    wanted = stored.view(np.int64) - distances(window, stored, times.tz, later=False)
    assert [earlier(window, time, times.tz) for time in stored.view(np.int64).tolist()] == wanted.tolist()
    assert (np.diff(wanted) < 0).any()  # the test sees windows that begin before that of an earlier time


@pytest.mark.parametrize(("name", "sample"), STATISTICS, ids=identity)
def test_results_are_those_of_the_function(name, sample, rng):
    for window, zone in zip(WINDOWS, [*ZONES, *ZONES]):
        columns, times = columns_of(name, rng, N), times_around(rng, zone)
        for closed in ("right", "both", "left", "neither"):
            options = {"min_periods": 2, "closed": closed}
            wanted = batch(name, sample, columns, window, times=times, **options)
            stream = make(name, sample, window, **options)
            same(name, push_all(stream, columns, times), wanted)
            stream.reset()
            head, tail = ([column[part] for column in columns] for part in (slice(25), slice(25, None)))
            same(name, outputs(stream.extend(*head, times=times[:25])), [each[:25] for each in wanted])
            data = stream.snapshot()
            twins = stream.copy(), pickle.loads(pickle.dumps(stream)), rollstat.restore(data)
            if name != "ewm_mean":  # whose states have bytes without a meaning
                assert [twin.snapshot() for twin in twins] == [data] * 3
            for twin in (stream, *twins):
                same(name, push_all(twin, tail, times[25:]), [each[25:] for each in wanted])
                assert len(twin) == len(stream)
            array = tuple(head) if len(head) > 1 else head[0]
            more = type(stream).from_tail(array, window, **sample, times=times[:25], **options)
            same(name, outputs(more.extend(*tail, times=times[25:])), [each[25:] for each in wanted])


@pytest.mark.parametrize(("name", "dtype"), [("median", "i8"), ("max", "M8[s]"), ("sum", "i8"), ("any", "?")])
def test_dtypes(name, dtype, rng):
    columns, times = columns_of(name, rng, N, dtype), times_around(rng, None)
    wanted = batch(name, {}, columns, "1 month", times=times)
    for policy in ("omit", "propagate"):
        stream = make(name, {}, "1 month", dtype=dtype, nan_policy=policy)
        wanted = batch(name, {}, columns, "1 month", times=times, nan_policy=policy)
        same(name, push_all(stream, columns, times), wanted)
        stream.reset()
        found = outputs(stream.extend(*columns, times=times))
        if name != "sum":  # whose integers remain integers
            assert [each.dtype for each in found] == [each.dtype for each in wanted]
        same(name, found, wanted)


@pytest.mark.parametrize(("name", "sample"), STATISTICS, ids=identity)
def test_late_rows(name, sample, rng):
    columns, times = columns_of(name, rng, N), times_around(rng, None)
    order = np.argsort(times + pd.to_timedelta(rng.integers(0, 40, N), "h"), kind="stable")
    stream = make(name, sample, "1 month", lateness="40h")
    for number in range(1, N + 1):
        by_time = np.sort(order[:number])  # rows with one time arrive in order
        row = order[number - 1]
        got = outputs(stream.insert(*(column[row] for column in columns), times[row]))
        given = [column[by_time] for column in columns]
        wanted = batch(name, sample, given, "1 month", times=times[by_time])
        same(name, [[value] for value in got], [value[-1:] for value in wanted])
        if number % 10 == 0:
            stream = rollstat.restore(stream.snapshot())
    before = stream.snapshot()
    with pytest.raises(ValueError, match="t must be at most lateness, 40h, before the newest time"):
        stream.insert(*(column[0] for column in columns), times[0])
    assert stream.snapshot() == before


def test_operators(rng):
    values, times = rng.integers(0, 9, 400) * 1.0, times_around(rng, "Europe/Berlin", 400)
    for window in WINDOWS:
        wanted = rollstat.rolling_sum(values, window, times=times)
        stream = rollstat.TimeAggregate(Sum(), window)
        np.testing.assert_array_equal(stream.extend(values[:150], times=times[:150]), wanted[:150])
        stream = rollstat.restore(stream.snapshot())
        np.testing.assert_array_equal(push_all(stream, [values[150:200]], times[150:200])[0], wanted[150:200])
        np.testing.assert_array_equal(stream.extend(values[200:], times=times[200:]), wanted[200:])
        assert stream.full == (window != "1y 1mo")
        stream.add(1.0, times[-1])
        assert stream.value == wanted[-1] + 1
    assert stream.extend([], times=times[:0]).shape == (0,)
    words = rollstat.TimeAggregate(operator.add, "1 month", dtype=object)
    days = np.array(["2024-02-28", "2024-03-30T23:00", "2024-03-31T05:00"], "M8[s]")
    assert words.extend([["a"], ["b"], None], times=days).tolist() == [["a"], ["b"], ["b"]]
    words = pickle.loads(pickle.dumps(words))
    assert words.push(["c"], days[-1]) == ["b", "c"]


def test_a_window_may_begin_earlier_again():
    days = ["02-29T05:00", "02-29T08:00", "03-30T23:00", "03-31T04:00", "03-31T09:00"]
    times = [np.datetime64(f"2024-{day}") for day in days]
    total, largest = rollstat.RollingSum("1 month"), rollstat.RollingArgmax("1 month")
    assert [total.push(1.0, time) for time in times] == [1, 2, 1, 4, 3]
    assert [largest.push(-x, time) for x, time in enumerate(times)] == [0, 0, 2, 0, 2]


def test_the_zone_of_each_time_counts():
    instants = pd.DatetimeIndex(["2024-02-29T22:30", "2024-03-31T21:30"], tz="UTC")
    for zone, counts in (("UTC", [1, 2]), ("Europe/Berlin", [1, 1])):
        local = instants.tz_convert(zone)
        assert rollstat.rolling_count(np.ones(2), "1 month", times=local).tolist() == counts
        for times in (local, local.to_pydatetime()):
            stream = rollstat.RollingCount("1 month")
            assert [stream.push(1.0, time) for time in times] == counts
    with pytest.raises(TypeError, match="t must be aware datetimes, like the times before"):
        stream.push(1.0, datetime.datetime(2024, 5, 1))


def test_memory_is_that_of_the_window(rng):
    stream, times = rollstat.RollingMax("1 month"), np.arange("2023", "2025", 12, "M8[h]")
    for time in times:
        stream.push(1.0, time)
    assert len(stream._window._arrays[0]) <= 256


def test_errors_change_nothing():
    total, days = (
        rollstat.RollingSum("1mo", dtype=np.int64),
        np.arange("2024-01-30", "2024-02-03", 1, "M8[D]"),
    )
    total.extend([2**62, 1], times=days[:2])
    before = total.snapshot()
    for element, time in (("4", days[2]), (4, days[0]), (4, None), (4, 5.0), (4, np.datetime64("NaT"))):
        with pytest.raises((TypeError, ValueError)):
            total.push(element, time)
    with pytest.raises(OverflowError):
        total.extend([2**62], times=days[2:3])
    assert total.snapshot() == before
    with pytest.raises(OverflowError):
        total.push(2**62, days[2])  # sums keep the element
    assert (len(total), total.push(-(2**62), days[3])) == (3, 2**62 + 1)
    width, far = rollstat.RollingPtp("1 month", dtype="M8[s]"), np.array([2**62, 0, -(2**62), 1], "M8[s]")
    assert [width.push(x, t) for x, t in zip(far[:2], days)] == [0, 2**62]
    before = width.snapshot()
    with pytest.raises(OverflowError):
        width.push(far[2], days[2])
    assert width.snapshot() == before
    assert width.push(far[3], days[2]) == 2**62


def test_windows_that_no_stream_has():
    with pytest.raises(ValueError, match="not be a fixed year or month on a stream; got <DateOffset"):
        rollstat.RollingSum(pd.DateOffset(month=1))
    with pytest.raises(TypeError, match="lateness must be a duration of fixed length; got '1 month'"):
        rollstat.RollingSum("1 month", lateness="1 month")
    ahead = rollstat.RollingSum(pd.offsets.BDay(-1))
    with pytest.raises(ValueError, match=r"must begin before its row on a stream; got <-1 \* Business"):
        ahead.push(1.0, np.datetime64("2024-01-01"))
    with pytest.raises(TypeError, match="times must be datetimes or timedeltas; got"):
        rollstat.RollingSum("1 month").push(1.0, 5)
    holidays = pd.offsets.CustomBusinessDay(holidays=["2024-01-01"])
    with pytest.raises(TypeError, match="a snapshot cannot contain the window <CustomBusinessDay>"):
        rollstat.RollingSum(holidays).snapshot()
    for wrong in ({"calendar": ["5 fortnights", "right", 0, 0, 1]}, {"calendar": ["1mo", "right", 0, -1, 1]}):
        data = rollstat.RollingSum("1mo")._window.state()
        with pytest.raises(rollstat.SnapshotError):
            rollstat.restore(rollstat.snapshots.write("RollingSum", data[0] | wrong, data[1]))
