"""Rows taken in by a wedge at once against rows pushed: answers, states, and comparisons counted."""

import numpy as np
import pytest

from rollstat.kernels.extrema import wedge
from tests.kernels.extrema.test_monotonic_deque import rows_of


def make(window, ties):
    state = wedge.create(window, np.float64, ties=ties)
    return *state, np.zeros(len(state[3]))


def push(state, least, x):
    """Rows of the minimum and the maximum, and these, after a push."""
    *arrays, rows = state
    header, position, value, _ = arrays
    rows[header[wedge.NEXT] % len(rows)] = x
    if wedge.push(*arrays, x, x != x) < least:
        return (-1, -1), (np.nan, np.nan)
    places = wedge.minimum_position(header, position), wedge.maximum_position(header, position)
    return places, (wedge.minimum(header, position, value), wedge.maximum(header, position, value))


def extend(state, least, words):
    """Rows of the minima and of the maxima, and these, after each word."""
    places, values = np.empty((2, len(words)), np.int64), np.empty((2, len(words)))
    wedge.extend_with_rows(*state, least, words, places, values)
    return places, values


def held(state):
    """The rows of the window, and the positions and values in both wedges."""
    header, position, value, observed, rows = state
    last = len(rows) - 1
    window = np.arange(header[wedge.OLDEST], header[wedge.NEXT]) & last
    sides = []
    for side in range(2):
        kept = np.arange(header[wedge.BEGIN + side], header[wedge.END + side]) & last
        sides.append((position[side, kept].tolist(), value[side, kept].tolist()))
    numbers = header[[wedge.NEXT, wedge.OLDEST, wedge.OBSERVED]].tolist()
    return numbers, rows[window].tolist(), observed[window].tolist(), sides


def parts_of(kind, window, rng):
    """Arrays of all lengths up to three windows; some have missing rows, after others everything is seen."""
    lengths = [window, 1, 10, 20, window // 2, 0, window, window + 1, 3 * window, window - 1, 2 * window]
    parts = np.split(rows_of(kind, rng, sum(lengths)), np.cumsum(lengths)[:-1])
    parts[7][len(parts[7]) // 2] = np.nan
    return parts


kinds = pytest.mark.parametrize("kind", ["ties", "noise", "walk", "rising", "falling", "ends"])
windows = pytest.mark.parametrize("window", [1, 63, 64, 65, 300, 1024])


@kinds
@windows
@pytest.mark.parametrize("ties", ["minimum_first", "minimum_last"])
def test_places_and_states_are_those_of_pushes(kind, window, ties, rng):
    together, singly, least = make(window, ties), make(window, ties), max(window // 2, 1)
    for part in parts_of(kind, window, rng):
        places, values = extend(together, least, part)
        wanted = [push(singly, least, x) for x in part]
        assert places.T.tolist() == [list(pair) for pair, _ in wanted]
        np.testing.assert_array_equal(values.T, np.array([pair for _, pair in wanted]).reshape(-1, 2))
        np.testing.assert_equal(held(together), held(singly))
        assert wedge.check(*together[:4])


@kinds
@windows
def test_extrema_of_a_wedge_that_follows_the_trend(kind, window, rng):
    together, singly, least = make(window, "any"), make(window, "any"), max(window // 2, 1)
    for part in parts_of(kind, window, rng):
        before = together[0].copy()
        _, values = extend(together, least, part)
        wanted = np.array([push(singly, least, x)[1] for x in part]).reshape(-1, 2)
        np.testing.assert_array_equal(values.T, wanted)
        assert wedge.check(*together[:4])
        np.testing.assert_equal(held(together)[:3], held(singly)[:3])
        made = together[0][wedge.COMPARISONS] - before[wedge.COMPARISONS]
        kept = sum(before[wedge.END + side] - before[wedge.BEGIN + side] for side in range(2))
        assert made <= 12 * len(part) + kept + 4


def test_places_alone(rng):
    values = rng.integers(-3, 4, 700).astype(float)
    one, other = make(200, "minimum_first"), make(200, "minimum_first")
    for part in (values[:300], values[300:]):
        places, _ = extend(one, 200, part)
        alone = np.empty_like(places)
        wedge.extend_with_rows(*other, 200, part, alone, np.empty((2, 0)))
        np.testing.assert_array_equal(alone, places)
