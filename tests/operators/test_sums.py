"""Sums and products: exact, rounded once, or known to overflow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat import operators as ops
from rollstat.operators.interface import for_dtype
from tests.operators.builtin import fold

INT64 = np.iinfo(np.int64)


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
