"""Doubling in vectors against windows looked at one by one: chunks, alignment and positions."""

import numpy as np
import pytest
from numba import config

from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.kernels.comparator import Arg, Greatest, Least, Newest, Oldest, worst
from rollstat.kernels.extrema import doubling
from tests.arrays import read_only

WIDTHS = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 129, 130, 200, 255, 256)
if config.DISABLE_JIT:  # each vector is then an array, hundreds of times slower
    WIDTHS = (2, 16, 33, 130)


def expected(order, values, width):
    """Extrema of windows by NumPy; the worst value where there is no observation."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), worst(order, values.dtype), values)
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    return windows.min(axis=1) if isinstance(order, Least) else windows.max(axis=1)


def series(dtype, length, share, rng):
    """Random values, a share of them missing if they can be."""
    values = (100 * rng.standard_normal(length)).astype(np.int8).astype(dtype)
    if values.dtype.kind == "f":
        values[rng.random(length) < share] = np.nan
    return values


def assert_rolling(order, values, width, chunk, shift, wanted, counted_from=0):
    """Run the kernel with results `shift` elements behind a cache line."""
    dtype = np.dtype(np.int64) if isinstance(order, Arg) else values.dtype
    out = aligned_empty(len(wanted) + shift, dtype)[shift:]
    out[:] = 77
    scratch = doubling.allocate(order, values.dtype, out, chunk + width + 2 * lanes_in(values.dtype))
    nan = doubling.rolling(order, read_only(values), width, chunk, scratch, counted_from, out)
    assert nan == (values.dtype.kind == "f" and np.isnan(values).any())
    np.testing.assert_array_equal(out, wanted)


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
            for chunk in (lanes, 2 * lanes, 1024):
                for order in (Least(), Greatest()):
                    assert_rolling(order, values, width, chunk, shift, expected(order, values, width))


@pytest.mark.parametrize("dtype", ["f8", pytest.param("i4", marks=pytest.mark.long)])
@pytest.mark.parametrize("ties", [Oldest(), Newest()], ids=lambda ties: type(ties).__name__)
def test_positions_of_ties(dtype, ties, rng):
    values = rng.integers(0, 5, 400).astype(dtype)
    for width in WIDTHS:
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        rows = np.arange(len(windows))
        first, last = windows.argmax(1) + rows, width - 1 - windows[:, ::-1].argmax(1) + rows
        wanted = first if isinstance(ties, Oldest) else last
        for chunk, shift in ((lanes_in(dtype), 0), (1024, 3)):
            assert_rolling(Arg(Greatest(), ties), values, width, chunk, shift, wanted + 1000, 1000)
