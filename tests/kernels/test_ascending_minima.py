"""Ascending minima against brute force, step by step, and their comparisons counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels import ascending_minima
from rollstat.kernels.ascending_minima import COMPARISONS, check, clear, create, extend, push, value_at, views

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
    extend(state, values)
    assert views(state)[0][COMPARISONS] <= 2 * len(values)


def test_a_cleared_state_is_a_new_one():
    state = create(5, 2)
    extend(state, np.array([3.0, np.nan, 1.0, 2.0]))
    clear(state, 0)
    for part, wanted in zip(views(state)[::2], views(create(5, 2))[::2]):
        assert np.array_equal(part, wanted, equal_nan=True)
    clear(state, 7)
    assert np.isnan(push(state, 4.0))
    assert push(state, 6.0) == 4.0
    assert views(state)[0][ascending_minima.NEXT] == 9
    assert check(state)
