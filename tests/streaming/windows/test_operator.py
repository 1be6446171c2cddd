"""Windows of states over a stream: numbers and objects agree with brute force, step by step."""

import operator as python_operators

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat import operators as ops
from rollstat.kernels.aggregate import greedy
from rollstat.operators import function_operator
from rollstat.statistics.aggregate.drivers import prepare
from rollstat.streaming.windows.operator import NumberWindow, ObjectWindow
from rollstat.streaming.windows.operator_trees import NumberTree, ObjectTree

FLOAT = np.dtype(np.float64)
steps_strategy = st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60)
moves_strategy = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.lists(st.booleans(), max_size=5)), max_size=40
)


def compose(maps):
    """Affine maps applied one after the other."""
    slope, offset = 1.0, 0.0
    for a, b in maps:
        slope, offset = a * slope, a * offset + b
    return slope, offset


def number_window(algorithm):
    operator, layout = prepare(ops.AffineMap(), [FLOAT, FLOAT])
    return NumberWindow(operator, layout, (1.0, 1.0), algorithm, 2)


def object_window(_):
    def join(older, newer):
        return newer[0] * older[0], newer[0] * older[1] + newer[1]

    return ObjectWindow(function_operator(join))


def element(k):
    """Whole numbers, so that sums are exact; -1 and 1 alone, so that products stay small."""
    return (-1.0 if k % 3 else 1.0), float(k)


@pytest.mark.parametrize("make", [number_window, object_window])
@pytest.mark.parametrize("algorithm", ["two_stacks", "daba"])
@given(steps=steps_strategy, span=st.integers(1, 20))
def test_windows_by_time(make, algorithm, steps, span):
    window, held, time = make(algorithm), [], 0
    for k, (later, observed) in enumerate(steps):
        time += later
        held = [(t, x) for t, x in held if t > time - span]
        if observed:
            held.append((time, element(k)))
        assert window.push(time - span, time, element(k), observed) == window.size == len(held)
        if held:
            wanted = compose(x for _, x in held)
            assert window.result() == wanted
            assert window.value() == wanted
    assert window.push(time - 1, 0, element(0), False) == sum(t >= time for t, _ in held)
    assert window.push(time, 0, element(0), False) == 0


@pytest.mark.parametrize("algorithm", ["two_stacks", "daba"])
@given(steps=steps_strategy)
def test_extending_is_pushing(algorithm, steps):
    times = np.cumsum([later for later, _ in steps], dtype=np.int64)
    missing = np.array([not observed for _, observed in steps], np.bool_)
    columns = tuple(np.array([element(k)[i] for k in range(len(steps))]) for i in (0, 1))
    one, all_at_once = number_window(algorithm), number_window(algorithm)
    written = all_at_once.extend(times, 5, columns, missing)
    assert not written.failed.any()
    for k in range(len(steps)):
        size = one.push(times[k].item() - 5, times[k].item(), element(k), not missing[k])
        assert (size == 0) == written.insufficient[k]
        if size:
            assert one.result() == tuple(result[k] for result in written.arrays)
    assert all_at_once.size == one.size


def test_state_in_arrays_goes_on():
    first = number_window("daba")
    for k in range(9):
        first.push(k - 5, k, element(k))
    second = number_window("daba")
    second.state = [array.copy() for array in first.state]
    for k in range(9, 20):
        first.push(k - 5, k, element(k))
        second.push(k - 5, k, element(k))
        assert first.result() == second.result()


def test_overflow_is_told_and_forgotten():
    operator, layout = prepare(ops.Sum(), [np.dtype(np.int64)])
    window = NumberWindow(operator, layout, 1)
    window.push(-2, 0, 2**62)
    assert window.result() == 2**62
    window.push(-1, 1, 2**62)
    for _ in range(2):
        with pytest.raises(OverflowError, match="exact IntegerSum"):
            window.value()
    window.push(0, 2, -1)
    assert window.value() == 2**62 - 1


def number_tree():
    operator, layout = prepare(ops.AffineMap(), [FLOAT, FLOAT])
    return NumberTree(operator, layout, (1.0, 1.0), 2)


def object_tree():
    return ObjectTree(object_window(None).operator)


@pytest.mark.parametrize("make", [number_tree, object_tree])
@given(moves=moves_strategy)
def test_windows_as_they_are_asked_for(make, moves):
    tree, rows = make(), []
    left = right = 0
    for left_step, right_step, arriving in moves:
        for observed in arriving:
            tree.push(element(len(rows)), observed)
            rows.append(observed)
        # Past the end of what has arrived, only an empty window can be asked for.
        left += left_step
        right = max(min(right + right_step, len(rows)), right, left)
        left = left if right <= len(rows) else right
        kept = [element(k) for k in range(left, min(right, len(rows))) if rows[k]]
        assert tree.move(left, right) == len(kept)
        assert tree.rows == len(rows)
        assert tree.bounds == (left, right)
        if kept:
            assert tree.value() == compose(kept)


def test_online_calls_are_as_few_as_planned_offline(rng):
    left = np.sort(rng.integers(0, 100, 150))
    right = np.minimum(np.maximum.accumulate(left + rng.integers(0, 20, 150)), 100)
    header, top, below = greedy.create(100)
    older, newer = np.empty((2, 100), np.int64)
    planned = sum(greedy.plan_window(header, top, below, i, j, older, newer, 0) for i, j in zip(left, right))
    calls = []
    tree = ObjectTree(function_operator(lambda a, b: calls.append(a + b) or a + b))
    for i, j in zip(left.tolist(), right.tolist()):
        while tree.rows < j:
            tree.push(chr(97 + tree.rows))
        if tree.move(i, j):
            assert tree.value() == "".join(chr(97 + k) for k in range(i, j))
    assert len(calls) == planned


def test_accumulators_of_objects_are_owned():
    def into(older, newer):
        older |= newer
        return older

    sets = [{k, k // 2} for k in range(40)]
    kept = [set(x) for x in sets]
    operator = function_operator(python_operators.or_, combine_into=into)
    window, tree = ObjectWindow(operator), ObjectTree(operator)
    seen = []
    for k in range(40):
        size = window.push(k - 1 - k % 7, k, sets[k])
        tree.push(sets[k])
        tree.move(max(k + 1 - size, tree.bounds[0]), k + 1)
        wanted = set().union(*kept[k + 1 - size : k + 1])
        seen += [(window.value(), wanted), (tree.value(), set().union(*kept[tree.bounds[0] : k + 1]))]
    assert sets == kept
    assert all(result == wanted for result, wanted in seen)
