"""Floating products: within their bound, without overflow on the way."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rollstat.algorithms import products
from rollstat.blocks import UNKNOWN, Block

UNIT = 2.0**-53
RANGE = {np.int64: (-(2**63), 2**63 - 1), np.uint64: (0, 2**64 - 1)}


def rolling(values, width):
    block = Block.regular(values, UNKNOWN, width)
    out = np.empty(block.rows)
    products.products(block, out)
    return out


@pytest.mark.parametrize("width", [1, 2, 7, 40, 300])
def test_float_products(width, rng):
    values = np.exp(20 * rng.standard_normal(700)) * rng.choice([-1.0, 1.0], 700)
    values[rng.random(700) < 0.1] = np.nan
    out = rolling(values, width)
    for i in {0, len(out) // 3, len(out) - 1}:
        window = values[i : i + width]
        exact = math.prod((Fraction(x) for x in window[~np.isnan(window)].tolist()), start=Fraction(1))
        if abs(exact) > Fraction(np.finfo(float).max):
            assert np.isinf(out[i])
            assert (out[i] > 0) == (exact > 0)
        elif abs(exact) > Fraction(np.finfo(float).tiny):
            assert abs(Fraction(float(out[i])) - exact) <= 1.01 * width * UNIT * abs(exact)


def test_products_that_overflow_on_the_way():
    values = np.array([1e300] * 50 + [1e-300] * 50)
    assert rolling(values, 100)[0] == pytest.approx(1.0, rel=100 * UNIT)
    assert rolling(values, 2).tolist() == [np.inf] * 49 + [1e300 * 1e-300] + [0.0] * 49


def test_zero_and_infinity_in_products():
    values = np.array([2.0, 0.0, 3.0, np.inf, 5.0, 0.0, np.inf, 2.0, -1.0, 4.0])
    expected = [np.prod(values[i : i + 2]) for i in range(9) if i != 5]
    out = rolling(values, 2)
    assert np.isnan(out[5])
    assert np.delete(out, 5).tolist() == expected
