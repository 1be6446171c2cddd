"""Laws of the built-in operators, their meaning, dtypes and overflow, and operators of functions."""

import copy
import math
import operator as python_operators
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit

import rollstat
from rollstat import operators as ops
from rollstat.kernels.aggregate.operator_calls import lift_argument
from rollstat.operators import layout
from rollstat.operators.interface import NOTHING, as_operator, compiled, empty_result, for_dtype, key_of
from tests.operators.builtin import BUILTIN, FLOATS, WITH_ROW, columns, same

INT64 = np.iinfo(np.int64)
needs_compiled_code = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="Python has other rules")


def fold(operator, arguments):
    """Result of elements combined one after the other, in plain Python."""
    states = [lift_argument(operator, argument) for argument in arguments]
    state = states[0]
    for newer in states[1:]:
        state = operator.combine(state, newer)
    if hasattr(operator, "overflowed") and operator.overflowed(state):
        return OverflowError
    return operator.lower(state) if hasattr(operator, "lower") else state


def elements(operator, samples):
    """Samples as ``lift`` takes them, in the dtypes of computing."""
    values = columns(operator, samples)
    return list(zip(*values)) if isinstance(values, tuple) else list(values)


def name(value):
    return repr(value) if hasattr(value, "_fields") else ""


@pytest.mark.parametrize(("operator", "samples", "meaning"), BUILTIN, ids=name)
def test_monoid_laws(operator, samples, meaning):
    ops.check_operator(operator, elements(operator, samples))


@pytest.mark.parametrize(("operator", "meaning"), WITH_ROW, ids=name)
def test_monoid_laws_with_rows(operator, meaning):
    ops.check_operator(operator, list(zip(FLOATS, range(len(FLOATS)))))
    assert fold(operator, list(zip(FLOATS, range(len(FLOATS))))) == meaning(FLOATS)


@pytest.mark.parametrize(("operator", "samples", "meaning"), BUILTIN, ids=name)
def test_meaning(operator, samples, meaning):
    arguments = elements(operator, samples)
    for start in range(len(samples)):
        for end in range(start + 1, len(samples) + 1):
            wanted = meaning(samples[start:end])
            assert same(fold(operator, arguments[start:end]), wanted), samples[start:end]


def test_matrices_multiply_in_the_order_of_rows(rng):
    matrices = rng.standard_normal((5, 3, 3))
    ops.check_operator(ops.MatrixProduct(), list(matrices))
    np.testing.assert_allclose(
        fold(ops.MatrixProduct(), list(matrices)), np.linalg.multi_dot(list(matrices)), rtol=1e-12
    )


def test_every_operator_is_exported_and_tested():
    tested = {type(row[0]) for row in (*BUILTIN, *WITH_ROW)} | {ops.MatrixProduct}
    exported = {getattr(ops, name) for name in ops.__all__}
    assert {cls for cls in exported if hasattr(cls, "_fields")} == tested


ROWS = (np.array(FLOATS), np.arange(len(FLOATS)))
COLUMNS = [(operator, columns(operator, samples)) for operator, samples, _ in BUILTIN]
COLUMNS += [(ops.ArgMinimum(), ROWS), (ops.ArgMaximum(), ROWS), (ops.MatrixProduct(), np.ones((4, 2, 2)))]


@pytest.mark.parametrize(("operator", "values"), COLUMNS, ids=name)
def test_dtypes_without_compiling_are_those_of_compiled_code(operator, values, monkeypatch):
    known = ops.describe(operator, values)
    if not config.DISABLE_JIT:
        monkeypatch.setattr(layout, "_call_interpreted", layout._call_compiled)
    assert ops.describe(operator, values) == known


def test_pickled_operators_are_equal():
    for operator, _, _ in BUILTIN:
        again = pickle.loads(pickle.dumps(operator))
        assert again == operator
        assert type(again) is type(operator)


corners = st.sampled_from([INT64.min, INT64.max, 0, 2**31, -(2**31), 2**62, -(2**62)])
integers = st.one_of(st.integers(-3, 3), st.integers(-(2**32), 2**32), corners)
unsigned = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1), st.sampled_from([2**32, 2**63]))


def states_of_both_folds(operator, values):
    """States of the whole, combined from the left and from the right."""
    states = [operator.lift(value) for value in values]
    left, right = states[0], states[-1]
    for i in range(1, len(states)):
        left = operator.combine(left, states[i])
        right = operator.combine(states[-1 - i], right)
    return left, right


def check_exact(operator, values, wanted, info):
    for state in states_of_both_folds(operator, [info.dtype.type(value) for value in values]):
        assert operator.overflowed(state) == (not info.min <= wanted <= info.max)
        if info.min <= wanted <= info.max:
            assert int(operator.lower(state)) == wanted


@given(st.lists(integers, min_size=1, max_size=8))
def test_signed_sums_and_products_are_exact_or_known_to_overflow(values):
    check_exact(ops.IntegerSum(), values, sum(values), INT64)
    check_exact(ops.IntegerProduct(), values, math.prod(values), INT64)


@given(st.lists(unsigned, min_size=1, max_size=8))
def test_unsigned_sums_and_products_are_exact_or_known_to_overflow(values):
    check_exact(ops.UnsignedSum(), values, sum(values), np.iinfo(np.uint64))
    check_exact(ops.UnsignedProduct(), values, math.prod(values), np.iinfo(np.uint64))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=12))
def test_floating_sums_are_rounded_once(values):
    wanted = math.fsum(values)
    bound = 2.0**-52 * abs(wanted) + len(values) ** 2 * 2.0**-104 * math.fsum(map(abs, values))
    for state in states_of_both_folds(ops.Sum(), values):
        assert abs(ops.Sum().lower(state) - wanted) <= bound


def test_infinities_and_nan_in_sums():
    with np.errstate(invalid="ignore"):
        assert fold(ops.Sum(), [1.0, math.inf, 2.0]) == math.inf
        assert math.isnan(fold(ops.Sum(), [math.inf, -math.inf]))
        assert math.isnan(fold(ops.Sum(), [1.0, math.nan]))


def test_dtypes_choose_the_operator():
    assert for_dtype(ops.Sum(), np.dtype(np.int64)) == ops.IntegerSum()
    assert type(for_dtype(ops.Product(), np.dtype(np.uint64))) is ops.UnsignedProduct
    assert type(for_dtype(ops.Sum(), np.dtype(np.float64))) is ops.Sum
    with pytest.raises(TypeError, match="BitOr supports signed integers, unsigned integers"):
        for_dtype(ops.BitOr(), np.dtype(np.float64))


def test_empty_windows():
    assert empty_result(ops.Sum()) == 0.0
    assert empty_result(ops.Count()) == 0
    assert empty_result(ops.LogSumExp()) == -math.inf
    assert empty_result(ops.Minimum()) is NOTHING
    assert copy.deepcopy(NOTHING) is pickle.loads(pickle.dumps(NOTHING)) is NOTHING


class Half(NamedTuple):
    """Not associative."""

    def combine(self, older, newer):
        return (older + newer) / 2


class WrongIdentity(NamedTuple):
    identity = 1.0

    def combine(self, older, newer):
        return older + newer


def test_check_operator_names_the_values():
    values = r"\(.*1\.0.*\), \(.*1\.0.*\), \(.*4\.0.*\): .*2\.5.* is not .*1\.75"
    with pytest.raises(ValueError, match=f"combine is not associative on {values}"):
        ops.check_operator(Half(), [1.0, 4.0])
    with pytest.raises(ValueError, match=r"identity 1.0 is none before \(.*2\.0.*\): .*3\.0.* is not .*2\.0"):
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


def test_functions_that_mean_the_same_have_one_class():
    def make(shift):
        return lambda a, b: a + b + shift

    def kind(*parts, **more):
        return type(compiled(ops.function_operator(*parts, **more)))

    assert kind(make(1)) is kind(make(1))
    assert kind(make(1)) is not kind(make(2))
    assert kind(make(1)) is not kind(make(1.0))
    assert kind(max) is not kind(max, identity=0)
    assert kind(max, lift=abs) is kind(max, lift=abs) is not kind(max)
    assert ops.function_operator(make(1)) == ops.function_operator(make(1)) != ops.function_operator(make(2))


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


def test_layouts_of_functions():
    values = np.ones(3, np.int64)
    assert ops.describe(ops.function_operator(add), values).state == np.int64
    halves = ops.function_operator(add, lift=lambda x: x / 2, lower=lambda s: (s, s > 1))
    assert ops.describe(halves, values).outputs == (np.float64, np.bool_)
    growing = ops.function_operator(lambda a, b: a + b + 0.5)
    assert ops.describe(growing, values).state == np.float64
    with pytest.raises(TypeError, match="states of one shape"):
        ops.describe(ops.function_operator(add, lift=lambda x: (x, x)), values)


def make_shift(amount):
    class Shifted(NamedTuple):
        def lift(self, x):
            return x + amount

        def combine(self, older, newer):
            return newer

    return Shifted()


def test_classes_of_one_name_are_distinguished():
    results = []
    for amount in (0, 0.5):
        operator = for_dtype(make_shift(amount), np.dtype(np.int64))
        results.append(ops.describe(operator, np.ones(1, np.int64)).state)
    assert results == [np.int64, np.float64]


def test_operators_over_numbers_are_named_tuples():
    class Plain:
        def combine(self, older, newer):
            return older

    with pytest.raises(TypeError, match="NamedTuple"):
        for_dtype(Plain(), np.dtype(np.int64))


def yields(older, newer):
    yield older


@njit
def compiled_generator(older, newer):
    yield older


def in_closure():
    def itself(older, newer):
        return older if newer < 1 else itself(older, newer - 1)

    return itself


def itself(older, newer):
    return older if newer < 1 else itself(older, newer - 1)


@needs_compiled_code
@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (yields, "yields must return values; got a generator"),
        (lambda older, newer: compiled_generator(older, newer), "must return values; got a generator"),
        (lambda older, newer: older if newer < 1 else None, "never None"),
        (itself, "combine must not call itself .*; got itself"),
        (in_closure(), "combine must not call itself .*; got in_closure.<locals>.itself"),
    ],
)
def test_functions_that_cannot_be_compiled(operator, message):
    with pytest.raises(TypeError, match=message):
        ops.describe(ops.function_operator(operator), np.ones(2))


@needs_compiled_code
@pytest.mark.parametrize("algorithm", ["operator_scan", "greedy", "daba"])
@pytest.mark.parametrize(
    "operator", [lambda older, newer: older // newer, lambda older, newer: older % newer], ids=["//", "%"]
)
def test_integers_divided_by_zero_raise_and_write_nothing(operator, algorithm):
    values = np.array([9, 3, 0, 5])
    out = np.full(4, 7.0)
    with pytest.raises(ZeroDivisionError, match="by zero"):
        rollstat.rolling_aggregate(values, operator, 2, algorithm=algorithm, out=out)
    assert out.tolist() == [7.0] * 4
    wanted = [operator(9, 3), operator(0, 5)]
    bounds = np.array([0, 2]), np.array([2, 4])
    assert rollstat.rolling_aggregate(values, operator, bounds, algorithm=algorithm).tolist() == wanted


@needs_compiled_code
def test_integers_divided_by_zero_stop_streams():
    stream = rollstat.FixedAggregate(lambda older, newer: older // newer, 2, dtype=np.int64)
    for change in (lambda: stream.push(0), lambda: stream.extend([1, 0])):
        assert stream.extend([9, 3])[1] == 3
        with pytest.raises(ZeroDivisionError, match="by zero"):
            change()
        with pytest.raises(RuntimeError, match="reset"):
            stream.push(2)
        stream.reset()


def test_floats_divided_by_zero_are_those_of_numpy():
    found = rollstat.rolling_aggregate(np.array([1.0, 0.0, 0.0]), lambda older, newer: older / newer, 2)
    assert str(found.tolist()) == "[nan, inf, nan]"


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
