"""Doubling in vectors against windows looked at one by one: chunks and alignment."""

import numpy as np
import pytest
from numba import config

from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.kernels.extrema import doubling, nan_policy
from rollstat.kernels.missing.nan_bitmap import NO_BITMAP
from rollstat.kernels.simd.comparator import Greatest, Least, worst
from tests.arrays import read_only

WIDTHS = (1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 129, 130, 200, 255, 257, 513, 577, 2100)
if config.DISABLE_JIT:  # each vector is then an array, hundreds of times slower
    WIDTHS = (2, 16, 33, 130)


def expected(order, values, width):
    """Extrema of windows by NumPy; the worst value where there is no observation."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), worst(order, values.dtype), values)
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    return windows.min(axis=1) if isinstance(order, Least) else windows.max(axis=1)


def strictly(order, values, width):
    """Extrema of windows by NumPy; NaN where there is one."""
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    return windows.min(axis=1) if isinstance(order, Least) else windows.max(axis=1)


def where_all_is_missing(order, values, width):
    """As expected, and NaN where there is no observation, of values that are no infinities."""
    found = expected(order, values, width)
    return np.where(np.isinf(found), np.nan, found) if values.dtype.kind == "f" else found


RULES = {nan_policy.SKIP: expected, nan_policy.ANY: strictly, nan_policy.ALL: where_all_is_missing}


def one(order, values, *arguments):
    """Run the kernel for one extremum, without a bitmap."""
    return doubling.rolling(order, read_only(values), *arguments, NO_BITMAP)


def series(dtype, length, share, rng):
    """Random values, a share of them missing if they can be."""
    values = (100 * rng.standard_normal(length)).astype(np.int8).astype(dtype)
    if values.dtype.kind == "f":
        values[rng.random(length) < share] = np.nan
    return values


@pytest.mark.parametrize(
    "dtype", ["f8", "i8", "u1", *(pytest.param(name, marks=pytest.mark.long) for name in ("f4", "i2"))]
)
def test_chunks_and_alignment(dtype, rng):
    lanes = lanes_in(dtype)
    for width in WIDTHS:
        for length, shift, share in ((600, 0, 0), (601, 3, 0.1), (width, 1, 0), (width + 700, lanes - 1, 1)):
            if length < width:
                continue
            values = series(dtype, length, share, rng)
            rows = length - width + 1
            for chunk in (lanes, 2 * lanes, 1024):
                scratch = aligned_empty(doubling.scratch_length(width, chunk, lanes), values.dtype)
                out = aligned_empty(rows + lanes, values.dtype)[shift:][:rows]
                nan = np.isnan(values).any() if values.dtype.kind == "f" else False
                for order in (Least(), Greatest()):
                    for rule, of_order in RULES.items():
                        out[:] = 77
                        assert one(order, values, width, chunk, scratch, out, rule) == nan
                        np.testing.assert_array_equal(out, of_order(order, values, width))


@pytest.mark.parametrize("sign", [1, -1])
def test_what_stands_for_nan_among_the_values(sign, rng):
    """The work ends once both may meet; with one of them alone, or it long before, every window is right."""
    order = Least() if sign < 0 else Greatest()
    for width in (3, 40, 300):
        values = rng.standard_normal(1500)
        scratch = aligned_empty(doubling.scratch_length(width, 64, 8), values.dtype)
        low = np.empty(1501 - width)
        values[700] = sign * np.inf
        assert not one(order, values, width, 64, scratch, low, nan_policy.ANY)
        np.testing.assert_array_equal(low, expected(order, values, width))
        values[1100] = np.nan
        assert one(order, values, width, 64, scratch, low, nan_policy.ANY) == nan_policy.HAS_NAN
        np.testing.assert_array_equal(low, strictly(order, values, width))
        both = nan_policy.HAS_NAN + nan_policy.HAS_SENTINEL
        for row, missing in ((1101, 1100), (1400, 1100), (1410, 1499), (1498, 1499)):
            later = values.copy()
            later[row], later[missing] = sign * np.inf, np.nan
            assert one(order, later, width, 64, scratch, low, nan_policy.ANY) == both
            later[row] *= -1
            assert one(order, later, width, 64, scratch, low, nan_policy.ALL) == both


def test_a_nan_late_in_the_series(rng):
    """Chunks before it take values as they come; from it on NaN is replaced first."""
    values = rng.standard_normal(2000)
    values[[1200, 1201, 1500]] = np.nan
    values[1600] = np.inf
    for width in (3, 20, 150):
        scratch = aligned_empty(doubling.scratch_length(width, 64, 8), values.dtype)
        out = np.empty(2001 - width)
        for order in (Least(), Greatest()):
            assert one(order, values, width, 64, scratch, out, nan_policy.SKIP)
            np.testing.assert_array_equal(out, expected(order, values, width))
