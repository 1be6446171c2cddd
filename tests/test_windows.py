"""Windows against pandas, and the errors for bad ones."""

import datetime
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from pandas.api.indexers import BaseIndexer, FixedForwardWindowIndexer, VariableOffsetWindowIndexer
from pandas.core.indexers.objects import FixedWindowIndexer

import rollstat
from rollstat import thresholds
from rollstat.options import Options
from rollstat.plan import Plan
from rollstat.statistics.selection.computation import ALGORITHMS
from rollstat.windows import ExplicitWindows
from tests.test_contract import data

CLOSED = (None, "left", "both", "neither", "right")


def bounds(window, n, **options):
    windows = Options.check(**options).windows(window, np.array([0, n]))
    return windows.bounds(0, windows.rows)


def test_row_windows_as_in_pandas(rng):
    for n in (0, 1, 2, 7, 30):
        values = data(rng, n, np.dtype("f8"))
        for m, center, closed, step, least in itertools.product(
            (1, 2, 5, 40), (False, True), CLOSED, (None, 2, 3), (None, 0, 1)
        ):
            options = {"min_periods": least, "center": center, "closed": closed, "step": step}
            wanted = pd.Series(values).rolling(m, **options).median().to_numpy()
            np.testing.assert_array_equal(rollstat.rolling_median(values, m, **options), wanted, str(options))


def test_grows_is_right_for_every_range_of_rows():
    for n, m, center, closed in itertools.product((1, 6, 9), (1, 2, 5, 40), (False, True), CLOSED):
        windows = Options.check(center=center, closed=closed).windows(m, np.array([0, n]))
        known = 0
        for first, last in itertools.combinations(range(n + 1), 2):
            start, end = windows.bounds(first, last)
            grows = not start.any() and np.array_equal(end, end[0] + np.arange(last - first))
            assert grows or not windows.grows(first, last)
            known += windows.grows(first, last)
        assert known or center
    stepped = Options.check(step=2).windows(3, np.array([0, 9]))
    grouped = Options.check().windows(3, np.array([0, 4, 9]))
    assert not stepped.grows(0, 2)
    assert not grouped.grows(0, 2)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_time_windows_as_in_pandas(rng, descending, unit):
    for n in (1, 2, 7, 40):
        seconds = np.sort(rng.integers(0, 30, n))
        index = pd.to_datetime(seconds[::-1] if descending else seconds, unit="s").as_unit(unit)
        values = data(rng, n, np.dtype("f8"))
        for width, center, closed, least in itertools.product(
            ("1s", "4s", "5s", "100s", "1500ms"), (False, True), CLOSED, (None, 0, 2)
        ):
            if unit == "s" and width == "1500ms":
                continue  # pandas rounds the width to the unit of the index
            options = {"min_periods": least, "center": center, "closed": closed}
            wanted = pd.Series(values, index=index).rolling(width, **options).median().to_numpy()
            result = rollstat.rolling_median(values, width, times=index, **options)
            np.testing.assert_array_equal(result, wanted, f"{width} {options}")


@pytest.mark.parametrize("m", [0, 1, 4])
def test_pandas_indexers_with_step_and_empty_windows(rng, m):
    values = data(rng, 20, np.dtype("f8"))
    for closed, step in itertools.product(CLOSED, (1, 3)):
        indexer = FixedWindowIndexer(window_size=m)  # with m = 0 some start lies past its end
        options = {"min_periods": 1, "closed": closed, "step": step}
        wanted = pd.Series(values).rolling(indexer, **options).median().to_numpy()
        np.testing.assert_array_equal(rollstat.rolling_median(values, indexer, **options), wanted)
    rows = FixedWindowIndexer(window_size=5)
    for by_indexer, by_rows in zip(
        rollstat.rolling_hampel(values, rows, 1.0, step=3), rollstat.rolling_hampel(values, 5, 1.0, step=3)
    ):
        np.testing.assert_array_equal(by_indexer, by_rows)


def test_an_indexer_that_ignores_the_step_raises():
    class Every(BaseIndexer):
        def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
            rows = np.arange(num_values)
            return rows, rows + 1

    with pytest.raises(ValueError, match=r"must give bounds for 4 of 10 rows.*shape \(10,\)"):
        rollstat.rolling_min(np.arange(10.0), Every(), step=3)


def test_a_width_that_is_no_multiple_of_the_unit_is_exact():
    start, _ = bounds("1500ms", 4, times=np.array([0, 1, 2, 3], "M8[s]"))
    np.testing.assert_array_equal(start, [0, 0, 1, 2])
    start, end = bounds("3s", 4, times=np.array([0, 1, 2, 3], "M8[s]"), center=True)
    np.testing.assert_array_equal((start, end), ([0, 0, 1, 2], [2, 3, 4, 4]))


def test_all_forms_of_a_width_agree():
    times = np.array([0, 60, 90, 300, 301], "M8[s]")
    wanted = bounds("5min", 5, times=times)
    for width in (
        datetime.timedelta(minutes=5),
        np.timedelta64(5, "m"),
        pd.Timedelta("5min"),
        pd.offsets.Minute(5),
        "300s",
        "4min 59s1000ms",
    ):
        np.testing.assert_array_equal(bounds(width, 5, times=times), wanted)
    np.testing.assert_array_equal(bounds(300, 5, times=times.view(np.int64)), wanted)
    np.testing.assert_array_equal(bounds(300.0, 5, times=times.view(np.int64).astype(float)), wanted)
    np.testing.assert_array_equal(
        bounds("5min", 5, times=pd.DatetimeIndex(times, tz="UTC").tz_convert(None)), wanted
    )


def test_step_applies_to_time_windows():
    times = np.arange(10)
    start, end = bounds(3, 10, times=times)
    np.testing.assert_array_equal(bounds(3, 10, times=times, step=4), (start[::4], end[::4]))


class EveryOther(BaseIndexer):
    """Windows whose end moves by two rows."""

    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        end = np.minimum(np.arange(num_values) * 2 + 1, num_values)
        return np.zeros(num_values, np.int64), end


def test_pandas_indexers(rng):
    index = pd.date_range("2024-01-05", periods=20)
    series = pd.Series(data(rng, 20, np.dtype("f8")), index=index)
    for indexer in (
        FixedForwardWindowIndexer(window_size=3),
        VariableOffsetWindowIndexer(index=index, offset=pd.offsets.BDay(2)),
        EveryOther(),
    ):
        wanted = series.rolling(indexer, min_periods=1).median().to_numpy()
        np.testing.assert_array_equal(rollstat.rolling_median(series, indexer, min_periods=1), wanted)
    wanted = series.expanding(2).median().to_numpy()
    np.testing.assert_array_equal(
        rollstat.rolling_median(series, rollstat.Expanding(), min_periods=2), wanted
    )


def test_segments_are_independent(rng):
    values = data(rng, 30, np.dtype("f8"))
    times = np.concatenate([np.sort(rng.integers(0, 20, k)) for k in (0, 12, 1, 17)])
    cuts = np.array([0, 0, 12, 13, 30])
    for options in (
        {"window": 4, "min_periods": 1},
        {"window": 3, "center": True},
        {"window": 4, "step": 3},
        {"window": 5, "times": times},
        {"window": 5, "times": times, "step": 2, "closed": "left"},
        {"window": rollstat.Expanding()},
        {"window": rollstat.Forward(3)},
    ):
        parts = []
        for first, last in itertools.pairwise(cuts):
            part = dict(options)
            if "times" in part:
                part["times"] = times[first:last]
            parts.append(rollstat.rolling_median(values[first:last], **part))
        result = rollstat.rolling_median(values, segments=cuts, **options)
        np.testing.assert_array_equal(result, np.concatenate(parts), str(options))
        columns = np.column_stack([values, -values])
        result = rollstat.rolling_median(columns, segments=cuts, axis=0, **options)
        wanted = np.column_stack([np.concatenate(parts), -np.concatenate(parts)])
        np.testing.assert_array_equal(result, wanted, str(options))


@pytest.mark.parametrize("dtype", ["f8", "i8"])
@pytest.mark.parametrize(
    "options", [{}, {"min_periods": 1}, {"center": True, "closed": "both"}, {"closed": "left"}]
)
def test_long_segments_are_computed_across_and_then_cut(rng, dtype, options, monkeypatch):
    monkeypatch.setattr(Plan, "call", None)  # no series is so short that one call serves it
    values, cuts = data(rng, 300, np.dtype(dtype)), np.array([0, 0, 90, 92, 120, 300])
    masked = np.ma.masked_array(values, rng.random(300) < 0.2)
    calls = [
        lambda arr, **kwargs: rollstat.rolling_median(arr, 7, **kwargs),
        lambda arr, **kwargs: rollstat.rolling_argmax(arr, 7, **kwargs),
        lambda arr, **kwargs: rollstat.rolling_rank(arr, 7, **kwargs),
        lambda arr, **kwargs: rollstat.rolling_sum(arr, 7, **kwargs),
    ]
    for arr in (values, masked):
        for call in calls:
            parts = [call(arr[a:b], **options) for a, b in itertools.pairwise(cuts)]
            found = call(arr, segments=cuts, **options)
            if call is calls[1]:
                parts = [np.where(part < 0, -1, part + a) for part, a in zip(parts, cuts)]
            np.testing.assert_array_equal(found, np.concatenate(parts))
            if isinstance(arr, np.ma.MaskedArray) and call is not calls[1]:
                wanted = np.concatenate([np.ma.getmaskarray(part) for part in parts])
                np.testing.assert_array_equal(np.ma.getmaskarray(found), wanted)
    explanation = rollstat.explain(rollstat.rolling_median, values, 7, segments=cuts, **options)
    assert {step.windows for step in explanation.steps} <= {"full", "boundary", "all"}
    assert "full" in {step.windows for step in explanation.steps}


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_rows_without_a_window_are_not_taken_for_large_integers(name, monkeypatch):
    allocate = np.empty

    def allocate_large(*args, **options):
        array = allocate(*args, **options)
        if array.dtype == np.int64:
            array.fill(2**62)  # as memory that something else has used may hold
        return array

    monkeypatch.setattr(np, "empty", allocate_large)
    function = getattr(rollstat, f"rolling_{name}")
    cuts = np.array([0, 13, 13, 20, 40])
    for options in ({"segments": cuts}, {"segments": cuts, "min_periods": 1}, {"step": 3}):
        result = function(np.ones(40, np.int64), 7, closed="left", **options)  # without a warning
        assert np.nanmax(result) == (1 if name == "prod" else 7)


def test_positions_in_segments_of_several_columns(rng):
    values, cuts = data(rng, 30, np.dtype("f8")).reshape(15, 2), np.array([0, 4, 15])
    result = rollstat.rolling_argmax(values, 3, segments=cuts, axis=0, min_periods=1)
    wanted = [rollstat.rolling_argmax(column, 3, segments=cuts, min_periods=1) for column in values.T]
    np.testing.assert_array_equal(result, np.column_stack(wanted))


@pytest.mark.parametrize(
    ("window", "options", "message"),
    [
        (0, {}, "window must be"),
        (True, {}, "window must be"),
        ("x", {}, "needs times="),
        (None, {}, "window must be"),
        (2.5, {}, "needs times="),
        ("3 parsecs", {"times": np.arange(3).astype("M8[s]")}, "window must be a duration"),
        (3, {"times": np.arange(3).astype("M8[s]")}, "window must be a duration"),
        (1e300, {"times": np.arange(3)}, "window must be a duration below .* units"),
        ("200000D", {"times": np.arange(3).astype("M8[ns]")}, "window must be a duration below .* units"),
        ("3s", {"times": np.arange(3)}, "window must be a plain number"),
        (-3, {"times": np.arange(3)}, "positive"),
        (3, {"times": [1, 3, 2]}, "times must be in order; row 2"),
        (3, {"times": [1.0, np.nan, 2.0]}, "row 1 is NaN"),
        ("3s", {"times": np.array([1, "NaT", 3], "M8[s]")}, "row 1 is NaT"),
        (3, {"times": [1, 2]}, "as long as the data"),
        (3, {"times": ["a", "b", "c"]}, "times must be datetimes"),
        (([0, -1, 0], [1, 2, 3]), {}, "start must lie in 0..3; got -1 at row 1"),
        (([0, 1, 2], [1, 2, 4]), {}, "end must lie in 0..3; got .* at row 2"),
        (([0, 2, 2], [1, 1, 3]), {}, "start must be at most its end; got .* at row 1"),
        (([0.5], [1.0]), {}, "1-d integer"),
        (([0], [1, 2]), {}, "the same length"),
        (([0],), {}, "start, end"),
        (([0], [1]), {"center": True}, "center does not apply"),
        (([0], [1]), {"step": 2}, "step does not apply"),
        (rollstat.Expanding(), {"center": True}, "center does not apply"),
        (rollstat.Forward(2), {"closed": "left"}, "closed does not apply"),
        (2, {"min_periods": 3}, "min_periods must be at most"),
        (2, {"min_periods": -1}, "min_periods must be an integer of at least 0"),
        (2, {"min_periods": 1.0}, "min_periods must be an integer"),
        (2, {"step": 0}, "step must be an integer of at least 1"),
        (2, {"center": "yes"}, "center must be True or False"),
        (2, {"threads": 0}, "threads must be"),
        (2, {"nan_policy": "drop"}, "nan_policy must be one of"),
        (2, {"wndow": 3}, "unexpected keyword argument 'wndow'; did you mean window"),
        (2, {"segments": [0, 2]}, "segments must increase"),
        (2, {"mode": "valid", "times": [1, 2, 3]}, "mode='valid' needs"),
        (2, {"at": [1]}, "at needs times="),
        (2, {"at": [[1]], "times": [1, 2, 3]}, "at must be 1-d"),
        (2, {"at": [1.0, np.nan], "times": [1, 2, 3]}, "at must not be missing; row 1 is NaN"),
        ("2s", {"at": np.array(["NaT"], "M8[s]"), "times": np.arange(3).astype("M8[s]")}, "row 0 is NaT"),
        (
            "2s",
            {"at": [1], "times": np.arange(3).astype("M8[s]")},
            "at must hold naive datetimes.*got numbers",
        ),
        (2, {"at": ["a"], "times": [1, 2, 3]}, "at must be datetimes, timedeltas or real numbers"),
        (2, {"at": [2**62 + 1], "times": [0.5, 1, 2]}, "at must be exactly representable in float64"),
        (
            "2s",
            {"at": np.array(["2300"], "M8[D]"), "times": np.arange(3).astype("M8[ns]")},
            "at must be exact",
        ),
        (2, {"at": [1], "times": [1, 2, 3], "step": 2}, "step does not apply to at="),
        (2, {"at": [1], "times": [1, 2, 3], "mode": "valid"}, "mode does not apply to at="),
        (([0], [1]), {"at": [1], "times": [1, 2, 3]}, "at does not apply to bounds"),
        (2, {"at": [1], "times": [1, 2, 3], "segments": [0, 3]}, "at_segments must be given"),
        (2, {"at": [1], "times": [1, 2, 3], "at_segments": [0, 1]}, "segments must be given"),
        (2, {"times": [1, 2, 3], "at_segments": [0, 1]}, "at_segments needs at="),
        (
            2,
            {"at": [1], "times": [1, 2, 3], "segments": [0, 1, 3], "at_segments": [0, 1]},
            "at_segments must have 3 offsets",
        ),
        ([1, 2], {}, "window must have one size for each of 3 windows; got 2"),
        ([1, -2, 3], {}, "window must hold sizes of at least 0; got -2 at row 1"),
        ([1.0, np.nan, 3], {"times": [1, 2, 3]}, "window must hold sizes of at least 0; got nan at row 1"),
        ([1.0, 2.0, 3.0], {}, "needs times=, the position"),
        (np.ones(3, "m8[s]"), {}, "needs times=, the time"),
        (np.ones(3, "m8[s]"), {"times": [1, 2, 3]}, "window must hold numbers for times of this type"),
        ([1, 2, 3], {"times": np.arange(3).astype("M8[s]")}, "window must hold timedeltas for times"),
        (np.full(3, 2.0**62), {"times": [1, 2, 3]}, r"window must hold durations below 2\*\*62 units"),
        (np.full(3, 2**60, "m8[s]"), {"times": np.arange(3).astype("M8[ns]")}, r"below 2\*\*62 units"),
        (["1s", "2s", "3s"], {"times": np.arange(3).astype("M8[s]")}, "window must be a number of rows"),
        ("1 month", {}, "needs times=, the time"),
        ("1 month", {"times": [1, 2, 3]}, "window needs datetimes as times; got '1 month'"),
        (pd.offsets.BDay(), {"times": np.arange(3).astype("m8[s]")}, "window needs datetimes as times"),
        ("1 month", {"times": np.arange(3).astype("M8[s]"), "center": True}, "center does not apply"),
        (
            pd.DateOffset(days=1, hours=1),
            {"times": np.arange(3).astype("M8[D]")},
            "window must hold whole units of the times, D",
        ),
        (2, {"equal_times": "all"}, "equal_times='all' needs times="),
        (2, {"equal_times": "none"}, "equal_times must be one of"),
        (rollstat.Around(1, -1), {}, "after of rollstat.Around must be an integer of at least 0; got -1"),
        (rollstat.Around("1s", 0), {}, "needs times="),
        (rollstat.Around(1, 2), {"closed": "both"}, "closed does not apply"),
        (rollstat.Around(1, 2), {"min_periods": 5}, "min_periods must be at most"),
        (rollstat.Around(1, 2), {"times": np.arange(3).astype("M8[s]")}, "times does not apply"),
        (rollstat.Around(-1, 2), {"times": [1, 2, 3]}, "before of rollstat.Around must be a positive"),
        (rollstat.Forward(0), {"times": [1, 2, 3]}, "m of rollstat.Forward must be a positive duration"),
        (rollstat.Forward(2), {"times": [1, 2, 3], "center": True}, "center does not apply"),
    ],
)
def test_messages_name_the_bad_argument(window, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rollstat.rolling_median([1.0, 2.0, 3.0], window, **options)


def test_valid_omits_boundary_windows(rng):
    values = data(rng, 20, np.dtype("f8"))
    for m, options in itertools.product(
        (1, 3, 20, 21), ({}, {"center": True}, {"step": 3}, {"closed": "left"})
    ):
        same = rollstat.rolling_median(values, m, min_periods=0, **options)
        start, end = Options.check(**options).windows(m, np.array([0, 20])).bounds(0, len(same))
        result = rollstat.rolling_median(values, m, min_periods=0, mode="valid", **options)
        left = 20 - len(values)
        full = end - start == m - left
        np.testing.assert_array_equal(result, same[full])


def bounds_by_definition(times, width, center, closed, rows):
    """Return the bounds from comparisons of every time with every boundary; `times` are Python numbers."""
    low_closed, high_closed = closed in ("left", "both"), closed in (None, "right", "both")
    half = Fraction(width) / 2 if center else Fraction(width)
    start, end = [], []
    for i in rows:
        past, future = times[i] - half, times[i] + half
        first = next(j for j in range(i + 1) if times[j] > past or (low_closed and times[j] == past))
        if center:
            last = sum(t < future or (high_closed and t == future) for t in times)
        else:
            last = i + 1 if high_closed else sum(t < times[i] for t in times)
        start.append(first)
        end.append(max(first, last))
    return start, end


GAPS = {
    "regular": [7] * 30,
    "jitter": [7, 8, 7, 7, 6] * 6,
    "late": [7] * 20 + [8] + [7] * 9,
    "early": [1] + [7] * 29,
    "last": [7] * 29 + [1],
    "equal": [0, 7] * 15,
    "irregular": [1, 0, 30, 2, 2, 0, 0, 9, 1, 14] * 3,
}


@pytest.mark.parametrize("gaps", list(GAPS))
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_bounds_of_times_by_definition(gaps, dtype):
    times = np.cumsum(GAPS[gaps])
    for width, center, closed, step in itertools.product(
        (1, 7, 14, 15, 20, 21, 300), (False, True), CLOSED, (1, 3)
    ):
        options = {"center": center, "closed": closed, "step": step}
        for moved in (times, -times[::-1] - 5 * 10**9):
            wanted = bounds_by_definition(moved.tolist(), width, center, closed, range(0, len(times), step))
            found = bounds(width, len(times), times=moved.astype(dtype), **options)
            np.testing.assert_array_equal(found, wanted, str((width, options)))


@pytest.mark.parametrize("kind", ["small", "large", "infinite", "integer"])
def test_bounds_of_extreme_times_by_definition(rng, kind):
    largest = float(np.finfo(np.float64).max)
    low, high = -(2**63), 2**63 - 1
    times, widths = {
        "small": (rng.integers(-30, 30, 300) * 0.1, (0.1, 0.3, 0.7, 1.0)),
        "large": (rng.integers(-9, 10, 300) / 9 * largest, (1.0, largest / 9, largest / 4.5, largest)),
        "infinite": (rng.choice([-np.inf, -largest, -1.0, 0.0, largest, np.inf], 40), (1.0, 5e-300, largest)),
        "integer": (
            rng.choice([low, low + 1, low + 2, -1, 0, high - 2, high - 1, high], 300),
            (1, 2, 5, 2**62),
        ),
    }[kind]
    times = np.sort(times)
    edges = {-np.inf: Fraction(-(10**400)), np.inf: Fraction(10**400)}
    exact = [edges.get(time) or Fraction(time) for time in times.tolist()]
    for width, center, closed in itertools.product(widths, (False, True), CLOSED):
        wanted = bounds_by_definition(exact, width, center, closed, range(len(times)))
        found = bounds(width, len(times), times=times, center=center, closed=closed)
        np.testing.assert_array_equal(found, wanted, str((width, center, closed)))


@pytest.mark.parametrize("gaps", ["random", "bursts"])
def test_long_irregular_times_by_bisection(rng, gaps):
    bursts = rng.integers(0, 60, 2000) * 50 if gaps == "bursts" else 0
    times = np.sort(bursts + rng.integers(0, 10 if gaps == "bursts" else 3000, 2000))
    for closed, step in itertools.product(CLOSED, (1, 7)):
        start, end = bounds(40, len(times), times=times, closed=closed, step=step)
        now = times[::step]
        side = "left" if closed in ("left", "both") else "right"
        np.testing.assert_array_equal(start, np.searchsorted(times, now - 40, side))
        newest = np.arange(1, 2001)[::step] if closed in (None, "right", "both") else times.searchsorted(now)
        np.testing.assert_array_equal(end, newest)
        start, end = bounds(40, len(times), times=times, closed=closed, step=step, center=True)
        np.testing.assert_array_equal(start, np.searchsorted(times, now - 20, side))
        side = "right" if closed in (None, "right", "both") else "left"
        np.testing.assert_array_equal(end, np.searchsorted(times, now + 20, side))


def test_regular_times_are_windows_of_rows(monkeypatch):
    n = 1000
    for times, width, fixed in (
        (np.arange(n) * 3, 9, True),
        (np.arange(n)[::-1] * 3, 9, True),
        (np.arange(n) * 0.25, 2.5, True),
        (np.arange(n).astype("M8[s]"), "5min", True),
        (np.arange(n) * 10 + np.arange(n) % 3, 25, True),
        (np.arange(n) ** 2, 9, False),
        (np.arange(n) + np.iinfo(np.int64).min, 9, True),  # where boundaries would overflow
    ):
        for center, closed in itertools.product((False, True), CLOSED):
            options = Options.check(times=times, center=center, closed=closed)
            windows = options.windows(width, np.array([0, n]))
            assert (windows.regular[2] > 0) == fixed
            with monkeypatch.context() as patch:
                patch.setattr("rollstat.options.time_windows", lambda windows: windows)
                wanted = options.windows(width, np.array([0, n])).bounds(0, n)
            np.testing.assert_array_equal(windows.bounds(0, n), wanted)


@pytest.mark.parametrize("row", [0, 3, 9])
@pytest.mark.parametrize("ascending", [True, False])
def test_missing_times_are_named(row, ascending):
    times = np.arange(10).astype("M8[s]")[:: 1 if ascending else -1]
    times[row] = np.datetime64("NaT", "s")
    with pytest.raises(ValueError, match=f"times must not be missing; row {row} is NaT"):
        rollstat.rolling_min(np.zeros(10), "3s", times=times)


def test_the_longest_window_ahead():
    values = np.array([3.0, 1.0, 2.0])
    window = rollstat.Forward(2**63 - 1)
    np.testing.assert_array_equal(rollstat.rolling_last(values, window, min_periods=1), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(rollstat.rolling_first(values, window, min_periods=1), values)
    np.testing.assert_array_equal(rollstat.rolling_median(values, window, min_periods=1), [2.0, 1.5, 2.0])
    assert np.isnan(rollstat.rolling_last(values, window)).all()


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_every_rank_of_windows_closed_on_both_sides(rng, algorithm):
    values = rng.integers(0, 9, 60).astype(float)
    for m, center in itertools.product((1, 2, 7), (False, True)):
        options = {"closed": "both", "center": center, "algorithm": algorithm}
        ahead = (m - 1) // 2 if center else 0
        for k in (m + 1, -(m + 1)):
            found = rollstat.rolling_kth(values, k, m, **options)
            for i in range(60):
                window = values[max(i + ahead - m, 0) : i + ahead + 1]
                wanted = np.sort(window)[-1 if k > 0 else 0] if len(window) > m else np.nan
                np.testing.assert_equal(found[i], wanted)
    with pytest.raises(ValueError, match=r"k must lie in 1\.\.8 or -8\.\.-1; got 9"):
        rollstat.rolling_kth(values, 9, 7, closed="both")
    with pytest.raises(ValueError, match=r"k must lie in 1\.\.7 or -7\.\.-1; got 8"):
        rollstat.rolling_kth(values, 8, 7)


@pytest.mark.parametrize("closed", CLOSED)
def test_half_of_a_width_is_not_rounded(closed):
    tiny = 5e-324
    times = np.array([0, 0, 1, 2, 3, 4]) * tiny
    for units in (1, 2, 3, 5):
        reach = Fraction(units, 2)
        for i, count in enumerate(
            rollstat.rolling_count(times, units * tiny, times=times, center=True, closed=closed)
        ):
            gaps = [Fraction(int((time - times[i]) / tiny)) for time in times]
            after = [gap < reach or (gap == reach and closed not in ("left", "neither")) for gap in gaps]
            before = [gap > -reach or (gap == -reach and closed in ("left", "both")) for gap in gaps]
            assert count == sum(a and b for a, b in zip(after, before))


UNITS = {
    "int": lambda seconds: seconds,
    "float": lambda seconds: seconds / 1.0,
    "seconds": lambda seconds: seconds.astype("M8[s]"),
    "nanoseconds": lambda seconds: seconds.astype("M8[s]").astype("M8[ns]"),
    "timedeltas": lambda seconds: seconds.astype("m8[s]"),
    "zone": lambda seconds: pd.DatetimeIndex(seconds.astype("M8[s]"), tz="UTC").tz_convert("Asia/Tokyo"),
    "objects": lambda seconds: seconds.astype("M8[s]").tolist(),
}


@pytest.mark.parametrize("kind", list(UNITS))
def test_windows_at_times_of_every_kind_and_order(rng, kind):
    seconds, asked = np.sort(rng.integers(0, 90, 50)), rng.integers(-9, 99, 30)
    values = data(rng, 50, np.dtype("f8"))
    width = 20 if kind in ("int", "float") else "20s"
    wanted = [np.nansum(values[(seconds > time - 20) & (seconds <= time)]) for time in asked]
    found = rollstat.rolling_sum(
        values, width, times=UNITS[kind](seconds), at=UNITS[kind](asked), min_periods=0
    )
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    two = rollstat.rolling_minmax(
        np.stack([values, values]), width, times=UNITS[kind](seconds), at=UNITS[kind](asked)
    )
    assert two[0].shape == (2, 30)
    descending = rollstat.rolling_sum(
        values[::-1], width, times=UNITS[kind](seconds[::-1]), at=UNITS[kind](asked), min_periods=0
    )
    ahead = [np.nansum(values[(seconds >= time) & (seconds < time + 20)]) for time in asked]
    np.testing.assert_allclose(descending, ahead, atol=1e-12)


def test_windows_at_finer_and_coarser_times():
    times, at = np.array([0, 1, 2, 3], "M8[s]"), np.array([500, 2500, 3000], "M8[ms]")
    x = [1, 2, 4, 8]
    options = {"min_periods": 0, "fill_value": 0}
    for given in ({"times": times, "at": at}, {"times": times.astype("M8[us]"), "at": at}):
        assert rollstat.rolling_sum(x, "2s", **given, **options).tolist() == [1, 6, 12]
    assert rollstat.rolling_sum(x, 2, times=[0, 1, 2, 3], at=[0.5, 2.5, 3], **options).tolist() == [1, 6, 12]
    assert rollstat.rolling_sum(x, "2s", times=times, at=[], **options).tolist() == []
    assert rollstat.rolling_sum([], 2, times=[], at=[1, 2], **options).tolist() == [0, 0]


def test_windows_at_times_within_segments(rng):
    values, cuts, asked_cuts = data(rng, 40, np.dtype("f8")), [0, 0, 12, 13, 40], [0, 3, 9, 9, 30]
    times = np.concatenate([np.sort(rng.integers(0, 20, k)) for k in np.diff(cuts)]).astype("M8[s]")
    at = rng.integers(-3, 25, 30).astype("M8[s]")
    for window, options in (
        ("5s", {}),
        (4, {"min_periods": 1}),
        (rollstat.Around(1, 2), {"min_periods": 1}),
        (rollstat.Forward("5s"), {"closed": "both"}),
        (rollstat.Expanding(), {"closed": "left"}),
    ):
        for name in ("median", "argmax"):
            function = getattr(rollstat, f"rolling_{name}")
            found = function(
                values, window, times=times, at=at, segments=cuts, at_segments=asked_cuts, **options
            )
            for (a, b), (c, d) in zip(itertools.pairwise(cuts), itertools.pairwise(asked_cuts)):
                wanted = function(values[a:b], window, times=times[a:b], at=at[c:d], **options)
                if name == "argmax":
                    wanted = np.where(wanted < 0, -1, wanted + a)
                np.testing.assert_array_equal(found[c:d], wanted)


@pytest.mark.parametrize("window", ["40s", 5, rollstat.Forward("40s")], ids=str)
@pytest.mark.parametrize("order", ["sorted", "shuffled", "few"])
def test_blocks_of_windows_at_times(rng, window, order):
    cuts, asked_cuts = [0, 9_000, 9_001, 20_000], [0, 3_000, 3_000, 15_000]
    times = np.concatenate([np.sort(rng.integers(0, 50_000, k)) for k in np.diff(cuts)]).astype("M8[s]")
    at = np.concatenate([np.sort(rng.integers(-50, 50_050, k)) for k in np.diff(asked_cuts)]).astype("M8[s]")
    if order == "few":
        at, asked_cuts = at[::100], [0, 30, 30, 150]
    given = {"times": times, "segments": cuts, "at_segments": asked_cuts, "min_periods": 1}
    values = rng.standard_normal(20_000)
    wanted = rollstat.rolling_median(
        values, np.full(len(at), window) if window == 5 else window, at=at, **given, threads=2
    )
    if order == "shuffled":
        moved = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in itertools.pairwise(asked_cuts)])
        at, wanted = at[moved], wanted[moved]
    found = rollstat.rolling_median(values, window, at=at, **given)
    np.testing.assert_array_equal(found, wanted)
    reach = {"40s": (-40, 0, True), 5: None}.get(window, (0, 40, False))
    for (a, b), (c, d) in zip(itertools.pairwise(cuts), itertools.pairwise(asked_cuts)):
        for i in range(c, d, 7) if reach else ():
            low, high, right = reach
            side = "right" if right else "left"
            start, end = (
                np.searchsorted(times[a:b], at[i] + np.timedelta64(k, "s"), side) for k in (low, high)
            )
            expected = np.median(values[a:b][start:end]) if end > start else np.nan
            np.testing.assert_equal(found[i], expected)


def test_results_in_place_of_the_times_of_windows(rng):
    times, values = np.sort(rng.random(3_000)), rng.random(3_000)
    wanted = rollstat.rolling_sum(values, 0.1, times=times, at=times.copy())
    assert rollstat.rolling_sum(values, 0.1, times=times.copy(), at=times, out=times) is times
    np.testing.assert_array_equal(times, wanted)


def test_rows_at_a_time_by_every_end():
    times, x = np.array([0, 1, 1, 1, 2], "M8[s]"), np.arange(5.0)
    at = np.array([1, 0, -1, 3], "M8[s]")
    for window, closed, wanted in (
        (2, "right", [(2, 4), (0, 1), (0, 0), (3, 5)]),
        (2, "left", [(0, 1), (0, 0), (0, 0), (3, 5)]),
        (2, "both", [(1, 4), (0, 1), (0, 0), (2, 5)]),
        (2, "neither", [(0, 1), (0, 0), (0, 0), (4, 5)]),
        (rollstat.Forward(2), "left", [(1, 3), (0, 2), (0, 2), (5, 5)]),
        (rollstat.Forward(2), "neither", [(4, 5), (1, 3), (0, 2), (5, 5)]),
        (rollstat.Around(1, 1), "right", [(2, 5), (0, 2), (0, 1), (3, 5)]),
        (rollstat.Expanding(), "left", [(0, 1), (0, 0), (0, 0), (0, 5)]),
    ):
        found = rollstat.rolling_count(x, window, times=times, at=at, closed=closed)
        assert found.tolist() == [end - start for start, end in wanted], (window, closed)
        first = rollstat.rolling_first(x, window, times=times, at=at, closed=closed, min_periods=0)
        for value, (start, end) in zip(first, wanted):
            np.testing.assert_equal(value, x[start] if end > start else np.nan)


@pytest.mark.parametrize("closed", ["left", "neither", "right", "both"])
def test_expanding_windows_by_every_end(rng, closed):
    values, cuts = data(rng, 60, np.dtype("f8")), np.array([0, 7, 7, 40, 60])
    names = "median", "argmax", "sum", "nunique", "last", "zscore", "rank", "mode"
    calls = [(getattr(rollstat, f"rolling_{name}"), (values,)) for name in names]
    calls += [(rollstat.rolling_weighted_mean, (values, rng.random(60))), (rollstat.ewm_mean, (values,))]
    for function, arrays in calls:
        for options in ({}, {"segments": cuts}, {"step": 3}):
            options |= {"closed": closed} | ({"alpha": 0.3} if function is rollstat.ewm_mean else {})
            found = function(*arrays, window=rollstat.Expanding(), **options)
            wanted = function(*arrays, window=60, min_periods=1, **options)
            np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=function.__name__)
    with pytest.raises(ValueError, match="mode must be 'same' except for windows of rows"):
        rollstat.rolling_max(values, rollstat.Expanding(), closed=closed, mode="reflect")


@pytest.mark.parametrize("order", ["random", "nested", "descending", "far apart"])
def test_bounds_in_any_order(rng, order):
    n = 30_000 if order == "far apart" else 300
    start = rng.integers(0, n, 200)
    end = np.minimum(start + rng.integers(0, 30, 200), n)
    if order == "nested":
        start, end = np.arange(140), n - np.arange(140)
    if order == "descending":
        start, end = np.sort(start)[::-1], np.sort(end)[::-1]
        start = np.minimum(start, end)
    values = np.ma.masked_invalid(data(rng, n, np.dtype("f8")))
    out = np.empty(len(start))
    for function in (
        rollstat.rolling_median,
        rollstat.rolling_max,
        rollstat.rolling_sum,
        rollstat.rolling_argmin,
    ):
        found = function(values, (start, end))
        one_by_one = [function(values[a:b], rollstat.Expanding())[-1:] for a, b in zip(start, end)]
        for value, alone, a in zip(found, one_by_one, start):
            if function is rollstat.rolling_argmin:
                assert value == (alone[0] + a if len(alone) and alone[0] is not np.ma.masked else -1) or (
                    value is np.ma.masked
                )
            elif len(alone) == 0 or alone[0] is np.ma.masked:
                assert value is np.ma.masked
            else:
                np.testing.assert_allclose(value, alone[0], rtol=1e-12)
    result = rollstat.rolling_median(values.filled(np.nan), (start, end), out=out, threads=2)
    assert result is out
    np.testing.assert_array_equal(out, rollstat.rolling_median(values, (start, end)).filled(np.nan))


def test_objects_and_matrices_in_any_order(rng):
    start = rng.integers(0, 30, 20)
    end = start + rng.integers(0, 5, 20)
    words = [chr(97 + i % 26) for i in range(34)]

    class Join:
        def combine(self, older, newer):
            return older + newer

    joined = rollstat.rolling_aggregate(words, Join(), (start, end))
    assert joined.tolist() == ["".join(words[a:b]) or None for a, b in zip(start, end)]
    matrices = rng.integers(0, 3, (34, 2, 2))
    found = rollstat.rolling_aggregate(matrices, rollstat.operators.MatrixProduct(), (start, end))
    for result, a, b in zip(found, start, end):
        wanted = (
            np.linalg.multi_dot([np.eye(2), np.eye(2), *matrices[a:b]]) if b > a else np.full((2, 2), np.nan)
        )
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("order", ["widths", "random", "places"])
def test_any_order_equals_chains(order, rng):
    n = 200_000
    values = data(rng, n, np.dtype("f8"))
    end = np.arange(1, n + 1) if order == "widths" else rng.integers(0, n + 1, 20_000)
    if order == "places":  # three series of windows side by side
        end = np.stack([np.arange(m, m + 9000) for m in (1, 70_000, 150_000)], 1).ravel()
    window = np.maximum(end - rng.integers(0, 900, len(end)), 0), end
    cases = [
        ("rank_bits", rollstat.rolling_median, {}),
        ("block_scan", rollstat.rolling_ptp, {}),
        ("wedge", rollstat.rolling_argmax, {"ties": "last"}),
        ("rank_set", rollstat.rolling_rank, {"pct": True}),
        ("rank_set", rollstat.rolling_nunique, {}),
        ("operator_scan", rollstat.rolling_aggregate, {"operator": rollstat.operators.Maximum()}),
    ]
    for algorithm, function, options in cases:
        plan = rollstat.explain(function, values, window=window, **options)
        assert plan.algorithm in ("wavelet_matrix", "static_tree")
        found = function(values, window=window, threads=2, **options)
        chains = function(values, window=window, algorithm=algorithm, **options)
        np.testing.assert_array_equal(found, chains)
    for function in (rollstat.rolling_sum, rollstat.rolling_std, rollstat.rolling_mean):
        found = function(values, window, min_periods=2)
        rows = rng.integers(0, len(end), 200)
        alone = [
            function(values[a:b], rollstat.Expanding(), min_periods=2)[-1:]
            for a, b in np.stack(window, 1)[rows]
        ]
        alone = [result[0] if len(result) else np.nan for result in alone]
        np.testing.assert_allclose(found[rows], alone, rtol=1e-12)


def test_parts_cover_few_rows(rng):
    for rows, length, longest in ((50_000, 1_000_000, 2000), (100_000, 200_000, 30_000), (5, 10, 10)):
        start = rng.integers(0, length, rows)
        end = np.minimum(start + rng.integers(0, longest, rows), length)
        windows = ExplicitWindows(start, end, length).arranged(any_order=True)
        assert windows.any_order
        size = max(thresholds.ANY_ORDER_ROWS, 4 * longest)
        covered = 0
        for first, last in windows.pieces(0, rows):
            start, end = windows.bounds(first, last)
            assert end.max() - start.min() <= size
            covered += end.max() - start.min()
        assert covered <= max(4 / 3 * length + size, 2 * (length + size))


def test_arranged_windows_are_arranged_again_only_into_chains(rng):
    start = rng.integers(0, 1000, 500)
    windows = ExplicitWindows(start, start + rng.integers(0, 50, 500), 1050)
    parts = windows.arranged(any_order=True)
    assert parts.arranged(any_order=True) is parts is windows.arranged(any_order=True)
    for chains in (windows.arranged(any_order=False), parts.arranged(any_order=False)):
        assert chains.arranged(any_order=True) is chains is chains.arranged(any_order=False)
        assert not chains.any_order
        for first, last in chains.pieces(0, 500):
            assert all((np.diff(bound) >= 0).all() for bound in chains.bounds(first, last))
        order = np.arange(500) if chains.order is None else chains.order
        np.testing.assert_array_equal(chains.bounds(0, 500)[0], start[order])


def test_bounds_that_decrease_rarely_stay_in_chains():
    start = np.tile(np.arange(1000), 3)
    for any_order in (False, True):
        windows = ExplicitWindows(start, start + 5, 2000).arranged(any_order)
        assert windows.one_chain
        assert not windows.any_order


def test_as_few_chains_as_possible(rng):
    for _ in range(50):
        start = rng.integers(0, 12, 15)
        end = start + rng.integers(0, 9, 15)
        windows = ExplicitWindows(start, end, 30).arranged(any_order=False)
        falls = [tuple(pair) for pair in zip(*windows.bounds(0, 15))]
        chains = 1 + sum(a > c or b > d for (a, b), (c, d) in itertools.pairwise(falls))
        # As many as there are windows of which each holds the next, by Dilworth's theorem.
        nested = sorted(zip(start.tolist(), (-end).tolist()))
        deepest = [1] * 15
        for i, j in itertools.combinations(range(15), 2):
            if nested[i][0] < nested[j][0] and nested[i][1] < nested[j][1]:
                deepest[j] = max(deepest[j], deepest[i] + 1)
        assert chains <= max(deepest)
        assert sorted(windows.order if windows.order is not None else range(15)) == list(range(15))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("closed", CLOSED)
def test_a_number_of_rows_for_each_row(rng, center, closed):
    values, m = data(rng, 60, np.dtype("f8")), rng.integers(0, 12, 60)
    options = {"center": center, "closed": closed, "min_periods": 1}
    wanted = [
        rollstat.rolling_median(values, n, **options)[i] if n else np.nan for i, n in enumerate(m.tolist())
    ]
    if closed == "both":  # no row and the one before
        wanted = [
            values[i - 1] if n == 0 and i and not center else w for i, (w, n) in enumerate(zip(wanted, m))
        ]
    found = rollstat.rolling_median(values, m, center=center, closed=closed)
    keep = m > 0
    np.testing.assert_array_equal(found[keep], np.array(wanted)[keep])
    for given in (m.tolist(), pd.Series(m), m.astype(np.uint8)):
        again = rollstat.rolling_median(values, given, center=center, closed=closed)
        np.testing.assert_array_equal(again, found)
    assert np.isnan(rollstat.rolling_median(values, m, center=center, closed=closed, min_periods=14)).all()
    stepped = rollstat.rolling_median(values, m, center=center, closed=closed, step=7)
    np.testing.assert_array_equal(stepped, found[::7])
    parts = [
        rollstat.rolling_median(values[a:b], m[a:b], center=center, closed=closed)
        for a, b in ((0, 25), (25, 60))
    ]
    cut = rollstat.rolling_median(values, m, center=center, closed=closed, segments=[0, 25, 60])
    np.testing.assert_array_equal(cut, np.concatenate(parts))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("closed", CLOSED)
def test_a_width_for_each_row(rng, center, closed):
    n, closed_ends = 60, {"left": (True, False), "both": (True, True), "neither": (False, False)}
    low_closed, high_closed = closed_ends.get(closed, (False, True))
    times = np.sort(rng.integers(0, 80, n))
    quarters = rng.integers(0, 50, n)  # of a unit
    for widths, given in (
        (quarters, {"window": quarters / 4, "times": times}),
        (quarters, {"window": quarters / 4, "times": times * 1.0}),
        (quarters, {"window": (quarters * 250).astype("m8[ms]"), "times": times.astype("M8[s]")}),
        (4 * quarters, {"window": quarters, "times": times}),
        (4 * quarters, {"window": quarters.astype("m8[s]"), "times": times.astype("M8[s]").astype("M8[ns]")}),
    ):
        found = rollstat.rolling_count(np.ones(n), closed=closed, center=center, **given)
        for i in range(n):
            away = 8 * (times - times[i])
            reach = widths[i] if center else 2 * widths[i]
            held = (away > -reach) | (low_closed & (away == -reach))
            if center:
                held &= (away < reach) | (high_closed & (away == reach))
            else:
                held &= np.arange(n) <= i if high_closed else away < 0
            assert found[i] == held.sum()


@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize(
    "window",
    [
        "1 month",
        "2mo",
        "1q",
        "1 year 1 month",
        pd.offsets.BDay(5),
        pd.offsets.MonthEnd(),
        pd.DateOffset(days=1),
    ],
    ids=str,
)
def test_calendar_windows_by_the_local_clock(rng, window, zone):
    n = 150
    seconds = np.sort(rng.integers(0, 500 * 86_400, n)).astype("m8[s]")
    times = pd.DatetimeIndex(np.datetime64("2023-01-31", "s") + seconds)
    times = times if zone is None else times.tz_localize("UTC").tz_convert(zone)
    months = {"1 month": 1, "2mo": 2, "1q": 3, "1 year 1 month": 13}
    offset = pd.DateOffset(months=months[window]) if isinstance(window, str) else window
    ahead = rollstat.rolling_count(np.ones(n), rollstat.Forward(window), times=times)
    found = rollstat.rolling_count(np.ones(n), window, times=times)
    asked = rng.permutation(n)[:20]
    at = rollstat.rolling_count(np.ones(n), window, times=times, at=times[asked])
    descending = rollstat.rolling_count(np.ones(n), window, times=times[::-1], closed="left")
    for i, time in enumerate(times):
        later, earlier = (
            moved if zone is None else moved.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
            for moved in (time.tz_localize(None) + offset, time.tz_localize(None) - offset)
        )
        assert ahead[i] == ((times >= time) & (times < later)).sum()
        assert found[i] == ((times > earlier) & (times <= time)).sum() - (times[i + 1 :] == time).sum()
        assert descending[n - 1 - i] == ((times > time) & (times <= later)).sum()
        for place in np.flatnonzero(asked == i):
            assert at[place] == ((times > earlier) & (times <= time)).sum()


def test_calendar_windows_of_clocks_that_change():
    # Two months before 02:30 the clock skipped an hour: the next time is 03:00, 01:00 in UTC.
    instants = ["2024-03-31 01:00:00", "2024-03-31 01:00:01", "2024-05-31 00:30"]
    skipped = pd.DatetimeIndex(instants, tz="UTC").tz_convert("Europe/Berlin")
    for times in (skipped, list(skipped), skipped.to_series()):
        assert rollstat.rolling_count(np.ones(3), "2 months", times=times).tolist() == [1, 2, 2]
    # A month before 02:30 the clock showed that time twice: the first was 00:30 in UTC.
    instants = ["2024-10-27 00:30", "2024-10-27 00:31", "2024-10-27 01:30", "2024-11-27 01:30"]
    twice = pd.DatetimeIndex(instants, tz="UTC").tz_convert("Europe/Berlin")
    assert rollstat.rolling_count(np.ones(4), "1 month", times=twice).tolist() == [1, 2, 3, 3]
    business = pd.bdate_range("2024-01-01", periods=30)
    wanted = pd.Series(1.0, index=business).rolling(
        VariableOffsetWindowIndexer(index=business, offset=pd.offsets.BDay(5))
    )
    np.testing.assert_array_equal(
        rollstat.rolling_count(np.ones(30), pd.offsets.BDay(5), times=business), wanted.sum()
    )


def test_no_rows_have_no_sizes():
    for window in (np.empty(0, int), rollstat.Forward(np.empty(0, int))):
        assert rollstat.rolling_std(np.empty((3, 0)), window, min_periods=2).shape == (3, 0)


def test_plans_of_calendar_windows_and_sizes_are_not_taken_for_others():
    day = np.arange(0, 4, 1).astype("M8[D]").astype("M8[s]")
    for times in (day, day + np.timedelta64(365, "D"), day.copy()):
        first = rollstat.rolling_count(np.ones(4), "1mo", times=times)
        assert first.tolist() == [1, 2, 3, 4]
    far = np.array(["2024-01-31", "2024-02-28", "2024-02-29", "2024-03-30"], "M8[s]")
    assert rollstat.rolling_count(np.ones(4), "1mo", times=far).tolist() == [1, 2, 3, 1]
    assert rollstat.rolling_sum(np.ones(3), rollstat.Forward(2), min_periods=1).tolist() == [2, 2, 1]
    for bad in (rollstat.Forward(2.0), rollstat.Forward(True)):  # equal to 2, or to 1
        with pytest.raises((TypeError, ValueError), match=r"window"):
            rollstat.rolling_sum(np.ones(3), bad, min_periods=1)
