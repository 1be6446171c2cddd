"""Windows, steps and times at the limits of their types."""

from fractions import Fraction

import numpy as np
import pytest

import rollstat

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
