"""Products and exact integer sums: to the bit where they are exact, an error where they do not fit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.algorithms import products
from rollstat.blocks import UNKNOWN, Block

UNIT = 2.0**-53
RANGE = {np.int64: (-(2**63), 2**63 - 1), np.uint64: (0, 2**64 - 1)}


def blocks(values, start, end, missing=UNKNOWN):
    return Block(values, missing, np.asarray(start, np.int64), np.asarray(end, np.int64))


@st.composite
def integer_windows(draw):
    dtype = draw(st.sampled_from([np.int64, np.uint64]))
    low, high = RANGE[dtype]
    whole = st.one_of(
        st.integers(max(low, -3), 3),
        st.sampled_from([low, high, high // 2, 2**32 - 1, 2**31]),
        st.integers(low, high),
    )
    values = draw(st.lists(whole, min_size=1, max_size=30))
    length = len(values)
    rows = draw(st.integers(1, 30))
    bounds = st.lists(st.integers(0, length), min_size=rows, max_size=rows)
    start, end = sorted(draw(bounds)), sorted(draw(bounds))
    start = [min(pair) for pair in zip(start, end)]
    missing = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=length, max_size=length)))
    return np.array(values, dtype), start, end, None if missing is None else np.array(missing)


@pytest.mark.parametrize(
    ("function", "combine"), [(products.exact_sums, sum), (products.exact_products, math.prod)]
)
@given(case=integer_windows())
def test_integers_are_exact_or_stop_at_the_first_that_does_not_fit(function, combine, case):
    values, start, end, missing = case
    low, high = RANGE[values.dtype.type]
    exact = [
        combine(int(values[k]) for k in range(i, j) if missing is None or not missing[k])
        for i, j in zip(start, end)
    ]
    outside = [i for i, number in enumerate(exact) if not low <= number <= high]
    out = np.zeros(len(start), values.dtype)
    stopped = function(blocks(values, start, end, missing), out)
    assert stopped == (outside[0] if outside else -1)
    rows = slice(None if stopped < 0 else stopped)
    assert out[rows].tolist() == exact[rows]


def test_small_integers_are_widened():
    values = np.full(20, 200, np.uint8)
    out = np.empty(6, np.uint64)
    assert products.exact_sums(Block.regular(values, None, 15), out) == -1
    assert (out == 3000).all()
    out = np.empty(18, np.int64)
    assert products.exact_products(Block.regular(np.full(20, -100, np.int8), None, 3), out) == -1
    assert (out == -(10**6)).all()


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
