"""Ascending minima against brute force, step by step, and their comparisons counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.extrema.monotonic_deque import (
    BEGIN,
    COMPARISONS,
    END,
    FIRST,
    NEXT,
    OBSERVED,
    check,
    create,
    extend,
    load,
    push,
    value_at,
    views,
)

numbers = st.lists(st.one_of(st.integers(-4, 4).map(float), st.just(np.nan)), max_size=60)


@given(numbers, st.integers(1, 9), st.integers(1, 3))
def test_every_step(values, window, least):
    state = create(window, least)
    for i, x in enumerate(values):
        answer = push(state, x)
        seen = [y for y in values[max(0, i + 1 - window) : i + 1] if y == y]
        assert check(state)
        assert np.array_equal(answer, min(seen) if len(seen) >= least else np.nan, equal_nan=True)
        if seen:
            assert value_at(state) == min(seen)
        assert views(state)[0][COMPARISONS] <= 2 * (i + 1)


@pytest.mark.parametrize("kind", ["rising", "falling", "saw"])
def test_comparisons_of_hostile_data(kind):
    rows = np.arange(5000.0)
    values = {"rising": rows, "falling": -rows, "saw": rows % 100}[kind]
    state = create(100, 1)
    for x in values:
        push(state, x)
    assert views(state)[0][COMPARISONS] <= 2 * len(values)


@given(numbers, st.integers(1, 70), st.integers(0, 200), st.sampled_from([1, -1]), numbers)
def test_rows_loaded_at_once_are_rows_pushed(before, window, pushed, sign, values):
    loaded, stepped = create(window, 1), create(window, 1)
    for x in before:
        push(loaded, x)
    kept = values[-window:]
    load(loaded, np.array(kept), sign, pushed + len(kept))
    for x in kept:
        push(stepped, sign * x)
    assert check(loaded)
    assert views(loaded)[0][NEXT] == pushed + len(kept)
    assert views(loaded)[0][COMPARISONS] <= 2 * len(kept)
    for x in before:
        assert np.array_equal(push(loaded, x), push(stepped, x), equal_nan=True)
        assert check(loaded)


@pytest.mark.parametrize("values", [np.arange(300.0), -np.arange(300.0), np.full(300, np.inf)])
def test_minima_of_many_rows_loaded_at_once(values):
    values[[100, 299]] = np.nan
    state = create(250, 1)
    load(state, values[-250:], 1, 300)
    assert check(state)
    assert value_at(state) == np.nanmin(values[-250:])


def held(state):
    """What the state says of its window: its numbers, and the positions of the minima."""
    header, position, _ = views(state)
    minima = [int(position[i % len(position)]) for i in range(header[BEGIN], header[END])]
    return header[[NEXT, FIRST, OBSERVED]].tolist(), minima


def rows_of(kind, rng, n):
    """A series with ties, of both zeros, or of the greatest number of minima."""
    series = {
        "ties": lambda: rng.integers(-3, 4, n) * 0.5,
        "noise": lambda: rng.standard_normal(n),
        "walk": lambda: rng.standard_normal(n).cumsum(),
        "rising": lambda: np.arange(n, dtype=float),
        "falling": lambda: -np.arange(n, dtype=float),
        "ends": lambda: rng.choice([np.inf, -np.inf, 0.0, -0.0, 1.0], n),
    }
    return series[kind]()


@pytest.mark.parametrize("kind", ["ties", "noise", "walk", "rising", "falling", "ends"])
@pytest.mark.parametrize("window", [1, 63, 64, 65, 300, 1024])
@pytest.mark.parametrize("sign", [1, -1])
def test_many_words_are_words_pushed(kind, window, sign, rng):
    together, singly = create(window, max(window // 2, 1)), create(window, max(window // 2, 1))
    parts = [window, 1, 10, 20, window // 2, 0, window, window + 1, 3 * window, window - 1]
    values = rows_of(kind, rng, sum(parts))
    for part in np.split(values, np.cumsum(parts)[:-1]):
        if len(part) == window + 1:
            part[len(part) // 2] = np.nan
        out, before = np.empty(len(part)), views(together)[0].copy()
        extend(together, part, sign, out)
        wanted = np.array([sign * push(singly, sign * x) for x in part])
        assert np.array_equal(out.view(np.int64), wanted.view(np.int64))
        assert held(together) == held(singly)
        comparisons = views(together)[0][COMPARISONS] - before[COMPARISONS]
        assert comparisons <= 6 * len(part) + before[END] - before[BEGIN] + 2
    assert check(together)
