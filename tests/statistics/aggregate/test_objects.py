"""Windows of Python objects: right results, the fewest calls, arguments kept, few objects alive."""

import operator as python_operators
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.aggregate import greedy
from rollstat.operators import function_operator
from rollstat.statistics.aggregate import objects
from rollstat.statistics.aggregate.objects import aggregate_objects
from tests.statistics.aggregate.test_drivers import bounds_of, bounds_strategy

LETTERS = "abcdefghijklmnopqrst"


def planned(start, end):
    """Combinations that the plan of all windows has."""
    widest = max(int((end - start).max(initial=0)), 1)
    header, top, below = greedy.create(widest)
    older, newer = np.empty((2, widest), np.int64)
    return sum(greedy.plan_window(header, top, below, i, j, older, newer, 0) for i, j in zip(start, end))


@given(bounds_strategy, st.lists(st.booleans(), min_size=20, max_size=20), st.integers(1, 3))
def test_strings_are_joined_in_order_with_the_fewest_calls(steps, gaps, wanted):
    start, end = bounds_of(steps, 20)
    missing = np.array(gaps)
    calls = []

    def join(older, newer):
        calls.append(older + newer)
        return older + newer

    results = aggregate_objects(LETTERS, start, end, function_operator(join), missing, wanted)
    texts = ["".join(x for x, lacks in zip(LETTERS[i:j], gaps[i:j]) if not lacks) for i, j in zip(start, end)]
    assert results == [text if len(text) >= wanted else None for text in texts]
    kept = np.array([i for i, text in enumerate(texts) if len(text) >= wanted], int)
    before = np.concatenate([[0], np.cumsum(~missing)])
    assert len(calls) == planned(before[start[kept]], before[end[kept]])


@given(bounds_strategy)
def test_windows_planned_in_several_calls_give_the_same(steps):
    start, end = bounds_of(steps, 20)
    whole = aggregate_objects(LETTERS, start, end, function_operator(python_operators.add))
    kept = objects._PLAN_LENGTH
    objects._PLAN_LENGTH = 1
    try:
        cut = aggregate_objects(LETTERS, start, end, function_operator(python_operators.add))
    finally:
        objects._PLAN_LENGTH = kept
    assert whole == cut


def test_sets_numbers_and_matrices(rng):
    start, end = bounds_of(zip(rng.integers(0, 3, 30), rng.integers(0, 4, 30)), 25)
    full = np.flatnonzero(start < end)
    sets = [frozenset({int(k) % 7}) for k in range(25)]
    unions = aggregate_objects(sets, start, end, function_operator(frozenset.union))
    fractions = [Fraction(1, k + 1) for k in range(25)]
    totals = aggregate_objects(fractions, start, end, function_operator(python_operators.add))
    matrices = rng.integers(-3, 4, (25, 2, 2)).astype(object)
    products = aggregate_objects(matrices, start, end, function_operator(python_operators.matmul))
    for i in full:
        assert unions[i] == frozenset().union(*sets[start[i] : end[i]])
        assert totals[i] == sum(fractions[start[i] : end[i]])
        wanted = matrices[start[i]]
        for matrix in matrices[start[i] + 1 : end[i]]:
            wanted = wanted @ matrix
        assert (products[i] == wanted).all()


def test_lift_lower_and_identity():
    operator = function_operator(python_operators.or_, lift=lambda x: {x}, lower=sorted, identity=set())
    start, end = np.array([0, 0, 2, 3]), np.array([1, 3, 3, 3])
    assert aggregate_objects("bca", start, end, operator, min_periods=0) == [
        ["b"],
        ["a", "b", "c"],
        ["a"],
        [],
    ]
    assert aggregate_objects("bca", start, end, operator)[3] is None


def into(older, newer):
    older |= newer
    return older


@given(bounds_strategy)
def test_accumulators_are_changed_only_where_the_library_owns_them(steps):
    start, end = bounds_of(steps, 20)
    sets = [{k % 7, k} for k in range(20)]
    kept = [set(x) for x in sets]
    operator = function_operator(python_operators.or_, combine_into=into)
    results = aggregate_objects(sets, start, end, operator)
    assert sets == kept
    for result, i, j in zip(results, start, end):
        assert result == (set().union(*sets[i:j]) if i < j else None)


@given(bounds_strategy)
def test_arguments_that_combine_hands_back_are_not_changed(steps):
    def largest(older, newer):
        return older if len(older) >= len(newer) else newer

    start, end = bounds_of(steps, 20)
    lists = [[k] * (k * k % 5) for k in range(20)]
    kept = [list(x) for x in lists]
    operator = function_operator(largest, combine_into=largest)
    results = aggregate_objects(lists, start, end, operator)
    assert lists == kept
    for result, i, j in zip(results, start, end):
        assert result == (max(lists[i:j], key=len) if i < j else None)


class Tracked:
    """Knows how many of it are alive."""

    alive = most = 0

    def __init__(self, value):
        self.value = value
        Tracked.alive += 1
        Tracked.most = max(Tracked.most, Tracked.alive)

    def __del__(self):
        Tracked.alive -= 1


@pytest.mark.parametrize("width", [1, 7, 64])
def test_values_alive_are_of_the_order_of_the_window(width):
    Tracked.alive = Tracked.most = 0
    operator = function_operator(
        lambda a, b: Tracked(a.value + b.value), lift=Tracked, lower=lambda state: state.value
    )
    rows = np.arange(1000)
    results = aggregate_objects(range(1000 + width), rows, rows + width, operator)
    assert results[500] == sum(range(500, 500 + width))
    assert Tracked.most <= 2 * width + 2
