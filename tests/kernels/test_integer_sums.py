"""Integer sums and products: exact to the bit, or an error at the first that does not fit."""

import math

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
