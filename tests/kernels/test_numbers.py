"""Integers of 64 bits as floats, against fractions, and magnitudes of floats, against Python."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.numbers import difference, exceeds, half_integer, magnitudes, to_floats

signed = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, 0]))
unsigned = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([2**64 - 1, 2**63, 2**53 + 1, 2**54 + 3]))


@given(signed, signed)
def test_differences_are_rounded_once(x, y):
    assert difference(np.int64(x), np.int64(y)) == float(x - y)


@given(unsigned, st.integers(0, 1))
def test_halves_are_rounded_once(integer, odd):
    found = half_integer(np.uint64(integer), np.uint64(odd))
    exact = Fraction(2 * integer + odd, 2)
    assert found == exact.numerator / exact.denominator


@pytest.mark.parametrize(
    ("values", "below", "above", "found"),
    [
        ([-5, 5], 5, 5, False),
        ([-6], 5, 5, True),
        ([6], 5, 5, True),
        ([-(2**63)], 2**53, 2**53, True),
        ([], 0, 0, False),
    ],
)
def test_integers_out_of_range_are_found(values, below, above, found):
    bits = np.array(values, np.int64).view(np.uint64)
    floats = np.empty(len(values))
    assert exceeds(bits, below, above) == found
    assert to_floats(bits, below, above, floats) == found
    np.testing.assert_array_equal(floats, np.array(values, np.float64))


def test_magnitudes_bound_the_products_of_every_window(rng):
    values = rng.standard_normal(500) * 10.0 ** rng.integers(-4, 5, 500)
    values[::50] = 0.0
    least, greatest, down, up, finite = magnitudes(values.view(np.uint64), 20)
    sizes = np.abs(values[values != 0])
    assert finite
    assert 2.0**least <= sizes.min() < 2.0 ** (least + 1)
    assert 2.0 ** (greatest - 1) <= sizes.max() < 2.0**greatest
    for first in range(480):
        window = [x for x in values[first : first + 20].tolist() if x]
        assert -down <= math.log2(abs(math.prod(map(Fraction, window)))) <= up


def test_values_that_are_not_finite_are_noted():
    *_, finite = magnitudes(np.array([1.0, np.inf]).view(np.uint64), 1)
    assert not finite
    least, greatest, *_ = magnitudes(np.array([0.0, np.nan]).view(np.uint64), 1)
    assert least == greatest == 0


@pytest.mark.parametrize("x", [5e-324, 1.5e-323, 2.0**-1023, 2.0**-1022, 0.75, 1.0, np.finfo(float).max])
def test_exponents_of_one_value(x):
    least, greatest, *_ = magnitudes(np.array([-x]).view(np.uint64), 1)
    assert math.frexp(x)[1] == greatest == least + 1
