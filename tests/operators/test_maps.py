"""Algebraic operators beside plain definitions, folded from either side."""

import math
from functools import reduce

import numpy as np
import pytest

import rollstat
from rollstat import operators


@pytest.mark.parametrize(
    ("operator", "fold"),
    [
        (operators.BitAnd(), np.bitwise_and),
        (operators.BitOr(), np.bitwise_or),
        (operators.BitXor(), np.bitwise_xor),
        (operators.GreatestCommonDivisor(), np.gcd),
    ],
)
def test_integers(operator, fold, rng):
    values = rng.integers(-1000, 1000, 60)
    found = rollstat.rolling_aggregate(values, operator, 5, mode="valid")
    np.testing.assert_array_equal(found, fold.reduce(np.lib.stride_tricks.sliding_window_view(values, 5), 1))


def test_the_divisor_of_the_most_negative_integer_fits():
    operator = operators.GreatestCommonDivisor()
    assert int(operator.lift(-(2**63))) == 2**63
    assert int(operator.combine(operator.lift(-(2**63)), operator.lift(12))) == 4


def test_sums_of_exponentials_do_not_overflow():
    operator, values = operators.LogSumExp(), [1000.0, 1001.0, -1000.0, 1001.0]
    states = [operator.lift(x) for x in values]
    wanted = 1001 + math.log(2 + math.exp(-1))
    for state in (
        reduce(operator.combine, states),
        operator.combine(*(reduce(operator.combine, half) for half in (states[:2], states[2:]))),
    ):
        assert operator.lower(state) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("decay", [0.5, 1e-200])
def test_no_decayed_sum_loses_its_elements(decay):
    operator = operators.DecayedSum(decay)
    states = [operator.lift(x) for x in (3.0, 5.0, 7.0)]
    left = operator.combine(operator.combine(*states[:2]), states[2])
    right = operator.combine(states[0], operator.combine(*states[1:]))
    for state in (left, right):
        assert operator.lower(state) == pytest.approx((3.0 * decay + 5.0) * decay + 7.0, rel=1e-15)
    # Half a million maps later, the weight of the oldest is not 0.
    state = left
    for _ in range(12):
        state = operator.combine(state, state)
    assert state[0] > 0.0


def test_affine_maps_are_applied_oldest_first():
    operator = operators.AffineMap()
    slope, offset = reduce(operator.combine, [operator.lift(2, 1), operator.lift(3, -4)])
    assert (slope, offset) == (6.0, -1.0)
