"""Ascending minima against brute force, step by step, and their comparisons counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.extrema.monotonic_deque import (
    COMPARISONS,
    NEXT,
    check,
    create,
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
