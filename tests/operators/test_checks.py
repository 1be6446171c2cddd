"""A check of the laws names the samples on which an operator breaks them."""

import operator as python_operators
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import rollstat
from rollstat import operators as ops
from rollstat.operators.checks import check_on_data
from tests.operators.builtin import Half, needs_compiled_code


class WrongIdentity(NamedTuple):
    identity = 1.0

    def combine(self, older, newer):
        return older + newer


def test_check_operator_names_the_values():
    values = r"\(.*1\.0.*\), \(.*1\.0.*\), \(.*4\.0.*\): .*2\.5.* is not .*1\.75"
    with pytest.raises(ValueError, match=f"combine is not associative on {values}"):
        ops.check_operator(Half(), [1.0, 4.0])
    pattern = r"identity 1.0 is not neutral before \(.*2\.0.*\): .*3\.0.* is not .*2\.0"
    with pytest.raises(ValueError, match=pattern):
        ops.check_operator(WrongIdentity(), [2.0])
    with pytest.raises(ValueError, match="samples"):
        ops.check_operator(Half(), [])


def test_check_operator_sees_changed_arguments_and_wrong_accumulation():
    def update(older, newer):
        older |= newer
        return older

    with pytest.raises(ValueError, match="combine changed its arguments"):
        ops.check_operator(update, [{1}, {2}])
    wrong = ops.function_operator(python_operators.or_, combine_into=python_operators.and_)
    with pytest.raises(ValueError, match="combine_into differs"):
        ops.check_operator(wrong, [{1}, {2}])
    right = ops.function_operator(python_operators.or_, combine_into=update, identity=frozenset())
    ops.check_operator(right, [{1}, {2}, {1, 3}])


class Weighted(NamedTuple):
    """A mean of pairs, whose states round."""

    def lift(self, x, weight):
        return x * weight, weight

    def combine(self, older, newer):
        return older[0] + newer[0], older[1] + newer[1]

    def lower(self, state):
        return state[0] / state[1]


@pytest.mark.parametrize("values", [[4, 1, 3], [4.0, 1.0, 3.0], np.array([[np.nan, 4.0, 4.0, 1.0, 3.0]])])
def test_an_operator_is_checked_on_the_data(values):
    with pytest.raises(ValueError, match=r"associative; got 0.* for \(4.*, 1.*\), 3.* and 6.* for 4.*, \(1"):
        rollstat.rolling_aggregate(values, lambda older, newer: older - newer, 3)
    found = rollstat.rolling_aggregate(values, lambda older, newer: older - newer, 3, check=False)
    assert found.ravel()[-1] == 6
    with pytest.raises(TypeError, match="check must be True or False; got 1"):
        rollstat.rolling_aggregate(values, max, 3, check=1)


def subtract(older, newer):
    return older - newer


@pytest.mark.parametrize("dtype", [float, object])
@pytest.mark.parametrize(
    "make",
    [
        rollstat.SlidingAggregate,
        partial(rollstat.FixedAggregate, window=3),
        partial(rollstat.TimeAggregate, window=10),
        rollstat.GreedyAggregate,
    ],
)
def test_streams_check_operators_on_their_first_elements(make, dtype):
    timed = isinstance(make, partial) and make.func is rollstat.TimeAggregate
    stream = make(subtract, dtype=dtype)
    with pytest.raises(ValueError, match=r"associative; got 0.* for \(4.*, 1.*\), 3.* and 6.* for 4.*, \(1"):
        stream.extend([4.0, None, 1.0, 3.0], **({"times": range(4)} if timed else {}))
    for row, x in enumerate([4.0, None, 1.0]):
        stream.push(x, *([row] if timed else []))
    with pytest.raises(ValueError, match="operator must be associative; got 0"):
        stream.push(3.0, *([3] if timed else []))
    rows = stream.rows if make is rollstat.GreedyAggregate else len(stream)
    assert rows == 3  # the stream has not changed
    unchecked = make(subtract, dtype=dtype, check=False)
    unchecked.extend([4.0, 1.0, 3.0], **({"times": range(3)} if timed else {}))
    assert (unchecked.move(0, 3) if make is rollstat.GreedyAggregate else unchecked.value) in (0.0, 6.0)


@needs_compiled_code
def test_pushes_are_compiled_after_the_check():
    stream = rollstat.FixedAggregate(lambda older, newer: older * newer % 97, 2)
    assert np.array_equal([stream.push(float(x)) for x in (5, 5, 80, 96, 33)], [np.nan, 25, 12, 17, 64], True)
    assert stream._window.quick[0]
    assert type(rollstat.FixedAggregate.push) is type(str.upper)  # a method that C calls


@pytest.mark.parametrize(
    ("operator", "values"),
    [
        (python_operators.add, [1e16, 1.0, -1e16, 0.1, 0.3]),
        (lambda older, newer: older * newer % 97, [5, 80, 96, 33]),
        (python_operators.mul, np.array([2**40, 3**25, 5**17])),  # compiled sums overflow, and raise in time
        (max, [np.inf, 1.0, np.nan, 2.0]),
        (Weighted(), ([0.1, 0.7, 1e9, 3.0], [0.3, 0.1, 1e-3, 2.0])),
        (python_operators.add, ["b", "a", "c"]),
    ],
)
def test_rounding_is_no_lack_of_associativity(operator, values):
    check_on_data(ops.as_operator(operator), values if isinstance(values, tuple) else [values])


def test_objects_are_checked_as_far_as_they_can_be_compared():
    class Box:
        def __init__(self, value):
            self.value = value

    found = rollstat.rolling_aggregate(
        list(map(Box, range(4))), lambda older, newer: Box(older.value + newer.value), 2
    )
    assert [box.value for box in found[1:]] == [1, 3, 5]
    sets = [{1, 2}, {2}, {2, 3}]
    with pytest.raises(ValueError, match=r"got \{1\} for .* and \{1, 2\} for"):
        rollstat.rolling_aggregate(sets, python_operators.sub, 2)
    changing = rollstat.rolling_aggregate(sets, lambda older, newer: older.update(newer) or older, 3)
    assert changing[2] == {1, 2, 3}
