"""The common options: errors that name them, and windows, steps and times at the limits of their types."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat.options import parse_width

CLOSED = ("right", "left", "both", "neither")


@pytest.mark.parametrize("size", [2**63, 2**64, 2**70])
def test_sizes_beyond_the_type_name_the_argument(size):
    for name, call in {
        "window": lambda: rollstat.rolling_sum([1.0, 2.0], size),
        "m of rollstat.Forward": lambda: rollstat.rolling_sum([1.0, 2.0], rollstat.Forward(size)),
        "step": lambda: rollstat.rolling_sum([1.0, 2.0], 1, step=size),
        "min_periods": lambda: rollstat.rolling_sum([1.0, 2.0], rollstat.Expanding(), min_periods=size),
    }.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            call()


@pytest.mark.parametrize("size", [2**31, 2**62, 2**63 - 1])
def test_windows_that_reach_every_row(size):
    x = np.array([3.0, 1.0, 2.0])
    ahead = {"window": rollstat.Forward(size), "min_periods": 1}
    np.testing.assert_array_equal(rollstat.rolling_sum(x, **ahead), [6.0, 3.0, 2.0])
    np.testing.assert_array_equal(rollstat.rolling_last(x, **ahead), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(rollstat.rolling_max(x, **ahead), [3.0, 2.0, 2.0])
    assert np.isnan(rollstat.rolling_last(x, rollstat.Forward(size))).all()
    for closed, wanted in zip(CLOSED, ([1, 2, 3], [0, 1, 2], [1, 2, 3], [0, 1, 2])):
        found = rollstat.rolling_count(x, size, closed=closed)
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(rollstat.rolling_count(x, size, center=True), [3, 3, 3])
    np.testing.assert_array_equal(rollstat.rolling_count(x, 1, step=size), [1])


def counts(times, width, closed, center):
    """Return the numbers of rows in windows by width, from exact distances."""
    times = [Fraction(t) if abs(t) != np.inf else t for t in times]
    reach = Fraction(width) / (2 if center else 1)
    left_closed, right_closed = closed in ("left", "both"), closed in ("right", "both")
    result = []
    for i, now in enumerate(times):
        count = 0
        for j, time in enumerate(times):
            distance = 0 if time == now else now - time
            inside = distance < reach or (distance == reach and left_closed)
            if center:
                inside &= distance > -reach or (distance == -reach and right_closed)
            else:
                inside &= j <= i if right_closed else time < now
            count += inside
        result.append(count)
    return result


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("center", [False, True])
def test_times_at_the_edge_are_compared_exactly(closed, center, rng):
    lowest, highest = -(2**63), 2**63 - 1
    options = {"closed": closed, "center": center}
    cases = [
        ([1e15 + 24, 1e15 + 29.9], 5.9),
        (np.cumsum(rng.random(300)) + 1e15, 0.7),
        (np.arange(300) * 0.1, 0.3),
        ([-np.inf, -np.inf, 0.0, 1.0, np.inf, np.inf], 2.0),
        ([-1.7e308, 0.0, 1.7e308], 1.7e308),
        (np.array([lowest, lowest + 1, lowest + 3, lowest + 4]), 4),
        (np.array([highest - 5, highest - 4, highest - 1, highest]), 4),
        (np.array([highest, 0, lowest + 2, lowest]), 2),
    ]
    for times, width in cases:
        found = rollstat.rolling_count(np.ones(len(times)), width, times=times, **options)
        order = np.asarray(times).tolist()
        if order[0] > order[-1]:
            order = [-t for t in order]
        np.testing.assert_array_equal(found, counts(order, width, closed, center), str((times, width)))


def test_missing_times_and_bounds_are_errors():
    times = np.ma.MaskedArray([1, 2, 3], [0, 1, 0])
    with pytest.raises(ValueError, match="times must not be missing; row 1 is masked"):
        rollstat.rolling_max([1.0, 2.0, 3.0], 2, times=times)
    with pytest.raises(ValueError, match="window start must not be missing; row 1 is masked"):
        rollstat.rolling_max([1.0, 2.0, 3.0], (times - 1, np.array([1, 2, 3])))
    with pytest.raises(ValueError, match="segments must not be missing; row 1 is masked"):
        rollstat.rolling_max([1.0, 2.0, 3.0], 2, segments=np.ma.MaskedArray([0, 1, 3], [0, 1, 0]))
    stream = rollstat.RollingMax(2.0, min_periods=1)
    with pytest.raises(ValueError, match="times must not be missing; row 1 is masked"):
        stream.extend([1.0, 2.0, 3.0], times=times)
    with pytest.raises(ValueError, match="times must be exactly representable in float64"):
        stream.extend([1.0, 2.0], times=[2**53, 2**53 + 1])
    assert len(stream) == 0
    whole = np.ma.MaskedArray([1, 2, 3], False)
    assert rollstat.rolling_max([1.0, 2.0, 3.0], 2, times=whole).tolist() == [1.0, 2.0, 3.0]


def test_options_that_do_not_apply_to_objects_are_rejected():
    def join(older, newer):
        return older + newer

    words = ["a", None, "c"]
    options = {"out": np.empty(3, object), "fill_value": "z", "nan_policy": "raise", "axis": 1}
    for name, value in options.items():
        with pytest.raises(ValueError, match=f"{name} does not apply to objects"):
            rollstat.rolling_aggregate(words, join, 2, **{name: value})
    with pytest.raises(ValueError, match="arr must be 1-d if it holds objects"):
        rollstat.rolling_aggregate(np.array([words], object), join, 2)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"min_period": 1}, TypeError, "unexpected keyword argument 'min_period'; did you mean min_periods"),
        ({"min_periods": 1.0}, TypeError, "min_periods must be an integer of at least 0; got 1.0"),
        ({"min_periods": -1}, ValueError, "min_periods must be an integer of at least 0; got -1"),
        ({"min_periods": 3}, ValueError, "min_periods must be at most the window, 2; got 3"),
        ({"step": 0}, ValueError, "step must be an integer of at least 1; got 0"),
        ({"threads": "all"}, ValueError, "threads must be an integer of at least 1 or 'auto'; got 'all'"),
        ({"threads": True}, TypeError, "threads must be an integer of at least 1; got True"),
        ({"center": 1}, TypeError, "center must be True or False; got 1"),
        (
            {"closed": "up"},
            ValueError,
            "closed must be one of 'right', 'left', 'both', 'neither', None; got 'up'",
        ),
        (
            {"nan_policy": "drop"},
            ValueError,
            "nan_policy must be one of 'omit', 'propagate', 'raise'",
        ),
        ({"mode": "full"}, ValueError, "mode must be one of 'same', 'valid', 'reflect'"),
        ({"axis": "rows"}, TypeError, "axis must be an integer; got 'rows'"),
        ({"algorithm": 3}, TypeError, "algorithm must be a name; got 3"),
        ({"segments": [0, 2]}, ValueError, "segments must increase from 0 to the length, 3"),
        ({"segments": [0.0, 3.0]}, ValueError, "segments must be a 1-d integer array"),
    ],
)
def test_an_error_names_the_option_and_its_value(options, error, text):
    with pytest.raises(error, match=re.escape(text)):
        rollstat.rolling_median([1.0, 2.0, 3.0], 2, **options)


@pytest.mark.parametrize(
    ("width", "nanoseconds"),
    [
        ("5min", 300 * 10**9),
        ("h", 3600 * 10**9),
        ("1.5ms", 1_500_000),
        ("1min30s", 90 * 10**9),
        (" 2 D ", 2 * 86400 * 10**9),
        (datetime.timedelta(microseconds=3), 3000),
        (np.timedelta64(2, "W"), 14 * 86400 * 10**9),
        (pd.Timedelta("1ns"), 1),
        (pd.offsets.Minute(2), 120 * 10**9),
        (5, None),
    ],
)
def test_widths_in_nanoseconds(width, nanoseconds):
    assert parse_width(width) == nanoseconds


@pytest.mark.parametrize(
    "width", ["", "5", "5 parsecs", "min5", "-5min", np.timedelta64("NaT"), np.timedelta64(1, "M")]
)
def test_other_widths_raise(width):
    with pytest.raises(ValueError, match="window must be a duration"):
        parse_width(width)
