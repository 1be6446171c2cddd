"""Windows of states over a stream: numbers and objects agree with brute force, step by step."""

import operator as python_operators

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat import operators as ops
from rollstat.operators import function_operator
from rollstat.streaming.greedy_window import ObjectTree
from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.operator_states import NumberWindow, ObjectWindow
from rollstat.streaming.window_spec import WindowSpec
from tests.streaming.affine_maps import compose, composition, element

steps_strategy = st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60)


def number_window(algorithm, span=5):
    return NumberWindow(OperatorAdapter(ops.AffineMap(), np.float64), WindowSpec("time", span), algorithm)


def object_window(algorithm, span):
    return ObjectWindow(composition(), WindowSpec("time", span), algorithm)


@pytest.mark.parametrize("make", [number_window, object_window])
@pytest.mark.parametrize("algorithm", ["two_stacks", "daba"])
@given(steps=steps_strategy, span=st.integers(1, 20))
def test_windows_by_time(make, algorithm, steps, span):
    window, held, time = make(algorithm, span), [], 0
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
    written = all_at_once.extend(times, columns, missing)
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
    window = NumberWindow(OperatorAdapter(ops.Sum(), np.int64), WindowSpec("time", 2), "two_stacks")
    window.push(-2, 0, 2**62)
    assert window.result() == 2**62
    window.push(-1, 1, 2**62)
    for _ in range(2):
        with pytest.raises(OverflowError, match="exact IntegerSum"):
            window.value()
    window.push(0, 2, -1)
    assert window.value() == 2**62 - 1


def test_accumulators_of_objects_are_owned():
    def into(older, newer):
        older |= newer
        return older

    sets = [{k, k // 2} for k in range(40)]
    kept = [set(x) for x in sets]
    adapter = OperatorAdapter(function_operator(python_operators.or_, combine_into=into), object)
    window, tree = ObjectWindow(adapter, WindowSpec("free"), "two_stacks"), ObjectTree(adapter)
    seen = []
    for k in range(40):
        size = window.push(k - 1 - k % 7, k, sets[k])
        tree.push(sets[k])
        tree.move(max(k + 1 - size, tree.bounds[0]), k + 1)
        wanted = set().union(*kept[k + 1 - size : k + 1])
        seen += [(window.value(), wanted), (tree.value(), set().union(*kept[tree.bounds[0] : k + 1]))]
    assert sets == kept
    assert all(result == wanted for result, wanted in seen)
