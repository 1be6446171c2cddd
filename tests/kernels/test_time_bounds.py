"""Bounds of time windows, compared with exact arithmetic for each row."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from rollstat.kernels.time_bounds import edge_bounds, first_unordered, lags_agree, regular_gap

LEAST, MOST = -(2**63), 2**63 - 1


def exact(number):
    return number if abs(number) == np.inf else Fraction(number)


def expected_bounds(times, distance, passes, offsets, rows):
    """The number of rows of the data before the edge of each row, found one by one."""
    found = []
    for row in rows:
        low, high = next((a, b) for a, b in pairwise(offsets) if a <= row < b)
        edge = exact(times[row].item()) + exact(distance)
        others = [exact(time.item()) for time in times[low:high]]
        found.append(low + sum(other < edge or (passes and other == edge) for other in others))
    return found


def bounds(times, distance, passes, offsets, rows):
    out, distances = np.empty(len(rows), np.int64), np.array([distance], times.dtype)
    edge_bounds(times, offsets, times[rows], np.searchsorted(rows, offsets), distances, passes, out)
    return out.tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("distance", [-7, 0, 3])
@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("step", [1, 3])
def test_bounds_agree_with_exact_arithmetic(dtype, distance, passes, step, rng):
    # Long enough to be merged in four parts of vectors, with a rest.
    times = np.cumsum(rng.integers(0, 4, 301)).astype(dtype)
    times[290:] = np.cumsum(rng.integers(0, 4, 11))
    offsets = np.array([0, 280, 280, 290, 301])
    for part in (offsets, np.array([0, 290, 301])):
        rows = np.arange(0, int(part[1]), step)
        assert bounds(times, distance, passes, part, rows) == expected_bounds(
            times, distance, passes, part, rows
        )
    rows = np.concatenate([np.arange(0, 280, 3), np.arange(280, 290, 3), np.arange(290, 301, 3)])
    assert bounds(times, distance, passes, offsets, rows) == expected_bounds(
        times, distance, passes, offsets, rows
    )


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("kind", ["merged", "sparse", "a distance for each"])
def test_bounds_at_own_times_agree_with_exact_arithmetic(dtype, passes, kind, rng):
    offsets, own_offsets = np.array([0, 300, 300, 900, 910]), np.array([0, 290, 293, 300, 580])
    times = np.concatenate([np.sort(rng.integers(0, 300, k)) for k in np.diff(offsets)]).astype(dtype)
    own = [np.sort(rng.integers(-20, 330, k)) for k in np.diff(own_offsets)]
    own = np.concatenate(own).astype(dtype)
    if kind == "sparse":
        own, own_offsets = own[::40].copy(), -(-own_offsets // 40)
    for distance in (-7, 0, 350):
        out = np.empty(len(own), np.int64)
        distances = np.array([distance], dtype)
        if kind == "a distance for each":
            distances = distance + rng.integers(-20, 20, len(own)).astype(dtype)
        edge_bounds(times, offsets, own, own_offsets, distances, passes, out)
        edges = own + distances
        for (low, high), (a, b) in zip(pairwise(offsets), pairwise(own_offsets)):
            side = "right" if passes else "left"  # numbers as small as these are exact
            np.testing.assert_array_equal(out[a:b], low + np.searchsorted(times[low:high], edges[a:b], side))


@pytest.mark.parametrize("distance", [-(2**62), -9, 9, 2**62])
@pytest.mark.parametrize("passes", [False, True])
def test_edges_beyond_all_integers(distance, passes):
    middle = np.arange(-140, 141, dtype=np.int64)
    times = np.concatenate([LEAST + np.arange(12), middle, MOST - np.arange(11, -1, -1)])
    offsets, rows = np.array([0, len(times)]), np.arange(len(times))
    assert bounds(times, distance, passes, offsets, rows) == expected_bounds(
        times, distance, passes, offsets, rows
    )


@pytest.mark.parametrize("distance", [-0.3, 0.3, 1e300])
@pytest.mark.parametrize("passes", [False, True])
def test_edges_of_floats_are_not_rounded(distance, passes):
    times = np.sort(np.concatenate([np.arange(40) * 0.1, np.arange(40) * 0.3, [1e16, 1e16 + 2, 1e300]]))
    offsets, rows = np.array([0, len(times)]), np.arange(len(times))
    assert bounds(times, distance, passes, offsets, rows) == expected_bounds(
        times, distance, passes, offsets, rows
    )


def test_infinite_times_are_equal_to_themselves_alone():
    times = np.array([-np.inf, -np.inf, -1e308, 0.0, 1e308, np.inf, np.inf])
    offsets, rows = np.array([0, 7]), np.arange(7)
    assert bounds(times, -1e308, True, offsets, rows) == [0, 0, 2, 3, 4, 5, 5]
    assert bounds(times, 1e308, True, offsets, rows) == [2, 2, 4, 5, 5, 7, 7]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_lags_agree_if_all_pairs_do(dtype):
    times = np.arange(0, 3000, 2).astype(dtype)
    width = times.dtype.type(10)
    for distance, ahead in ((-width, False), (width, True)):
        for lag in (4, 5, 6):
            for passes in (False, True):
                apart = 2 * lag
                before = apart > 10 or (apart == 10 and passes)
                if ahead:
                    before = apart < 10 or (apart == 10 and passes)
                for expected in (False, True):
                    assert lags_agree(times, lag, distance, passes, expected) == (before == expected)
    times[-1] += 1
    assert not lags_agree(times, 5, width, True, True)


def test_gaps_and_order():
    times = np.arange(5, 5005, 3)
    assert regular_gap(times) == 3
    times[1500] += 1
    assert regular_gap(times) == 0
    for few in ([], [7], [7, 7], [-(2**62) * 2, 2**62]):
        assert regular_gap(np.array(few, np.int64)) == 0
    offsets = np.array([0, len(times)])
    assert first_unordered(times, offsets) == -1
    times[1400] = 0
    assert first_unordered(times, offsets) == 1400
    assert regular_gap(times) == regular_gap(np.array([7, 6])) == -1
    assert first_unordered(times, np.array([0, 1400, len(times)])) == -1
