"""Operators of functions and of classes: one class for kernels, equal after pickling, empty windows."""

import copy
import math
import operator as python_operators
import pickle
from itertools import pairwise

import numpy as np
import pytest

import rollstat
from rollstat import operators as ops
from rollstat.operators.interface import NOTHING, as_operator, compiled, empty_result, for_dtype, key_of
from tests.operators.builtin import BUILTIN, Half


def test_pickled_operators_are_equal():
    for operator, _, _ in BUILTIN:
        again = pickle.loads(pickle.dumps(operator))
        assert again == operator
        assert type(again) is type(operator)


def test_empty_windows():
    assert empty_result(ops.Sum()) == 0.0
    assert empty_result(ops.Count()) == 0
    assert empty_result(ops.LogSumExp()) == -math.inf
    assert empty_result(ops.Minimum()) is NOTHING
    assert copy.deepcopy(NOTHING) is pickle.loads(pickle.dumps(NOTHING)) is NOTHING


def test_functions_that_mean_the_same_have_one_class():
    def make(shift):
        return lambda a, b: a + b + shift

    def kind(*parts, **more):
        return type(compiled(ops.function_operator(*parts, **more)))

    assert kind(make(1)) is kind(make(1))
    assert kind(make(1)) is kind(make(2)) is not kind(make(1.0))
    assert kind(make(True)) is not kind(make(False))
    assert compiled(as_operator(make(1))) != compiled(as_operator(make(2)))
    assert kind(max) is not kind(max, identity=0)
    assert kind(max, lift=abs) is kind(max, lift=abs) is not kind(max)
    assert ops.function_operator(make(1)) == ops.function_operator(make(1)) != ops.function_operator(make(2))


SHIFT = 0


def shifted(a, b):
    return a + b + SHIFT


@pytest.mark.parametrize("number", [1, 2.5, np.float64(0.5), 2**63 - 1, 2**70, True])
def test_numbers_are_arguments_of_one_kernel(number, monkeypatch):
    def closure(shift):
        return lambda a, b: a + b + shift

    def default(shift):
        return lambda a, b, c=shift, *, d=shift: a + b + c + d - d

    def of_global(shift):
        monkeypatch.setitem(globals(), "SHIFT", shift)
        return shifted

    values = np.array([1.0, 2.0, 4.0])
    for make in (closure, default, of_global):
        kinds = set()
        for shift in (number, type(number)(0), number):
            operator = ops.function_operator(
                make(shift), lift=lambda x, c=shift: x + c, lower=lambda x: x - 1
            )
            ready = compiled(operator)
            kinds.add(type(ready))
            expected = [v + w + 3 * float(shift) - 1 for v, w in pairwise(values.tolist())]
            assert ready.lower(ready.combine(ready.lift(1.0), ready.lift(2.0))) == expected[0]
            assert pickle.loads(pickle.dumps(compiled(as_operator(shifted)))) == compiled(
                as_operator(shifted)
            )
            if abs(number) < 2**70:
                result = rollstat.rolling_aggregate(values, operator, 2, mode="valid")
                np.testing.assert_array_equal(result, expected)
        assert len(kinds) == 1 + (type(number) is bool or number == 2**70)


@pytest.mark.parametrize("exponent", [2, 3.0])
def test_numbers_on_which_the_code_depends_are_constants(exponent):
    def power(a, b):
        return (a**exponent + b**exponent) ** (1 / exponent)

    def inner(a, b):
        def own(x):
            return x + exponent

        return own(a) + b

    def one_type(a, b):  # Numba leaves out the branch that is not taken
        return (a, b)[0] + b if exponent else (a, b)

    for combine in (power, inner, one_type):
        values = np.array([3.0, 4.0])
        result = rollstat.rolling_aggregate(values, combine, 2, mode="valid")
        np.testing.assert_allclose(result, [combine(3.0, 4.0)], rtol=1e-15)


def test_pickled_operators_of_users_are_compiled_as_before():
    for operator in (Half(), ops.function_operator(add)):
        ready = for_dtype(operator, np.dtype(np.float64))
        again = pickle.loads(pickle.dumps(ready))
        assert again == ready
        assert type(again) is type(ready)


def test_operators_of_functions_pickle():
    operator = ops.function_operator(python_operators.add, lower=abs, identity=0)
    again = pickle.loads(pickle.dumps(operator))
    assert type(again) is type(operator)
    assert again.combine(2, 3) == 5
    assert again.lower(-1) == 1
    assert again.identity == 0


def test_invalid_operators():
    for wrong, message in [(3, "got 3"), (ops.Sum, r"an instance, Sum\(\)")]:
        with pytest.raises(TypeError, match=message):
            as_operator(wrong)
    with pytest.raises(TypeError, match="lower must be callable"):
        ops.function_operator(max, lower=3)


def add(a, b):
    return a + b


def test_operators_over_numbers_are_named_tuples():
    class Plain:
        def combine(self, older, newer):
            return older

    with pytest.raises(TypeError, match="NamedTuple"):
        for_dtype(Plain(), np.dtype(np.int64))


def test_a_stream_keeps_the_meaning_that_its_operator_had():
    names = {}
    exec("scale = 2.0\ndef operator(older, newer): return older + scale * newer", names)
    stream = rollstat.FixedAggregate(names["operator"], 2)
    names["scale"] = 10.0
    assert [stream.push(1.0), stream.push(1.0)][1] == 3.0


def test_what_has_no_digest_is_compiled_for_one_call():
    names = {"probe": object()}
    exec("def operator(older, newer): return older + newer\ndef other(): return probe", names)
    operator = ops.function_operator(names["operator"], combine_into=names["other"])
    first, second = compiled(operator), compiled(operator)
    assert type(first) is not type(second)
    assert key_of(operator) is None is key_of(first)
    assert first.combine(1, 2) == 3
