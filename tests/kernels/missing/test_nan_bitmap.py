"""Insufficient rows against counting the observations of each window, with bitmaps of both origins."""

import numpy as np
import pytest

from rollstat.kernels.comparator import Least
from rollstat.kernels.extrema import blockwise, doubling
from rollstat.kernels.missing.nan_bitmap import empty_bitmap, mark_insufficient, record_nan


def bits(words, length):
    """Return a bitmap as booleans."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:length].astype(bool)


def with_gaps(length, share, dtype, rng):
    """Return random values, some missing, and a long run of which nearly all are."""
    values = rng.standard_normal(length).astype(dtype)
    values[rng.random(length) < share] = np.nan
    values[200:240] = np.nan
    values[-5:-2] = np.nan
    return values


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("width", [1, 2, 3, 15, 16, 20, 63, 64, 65, 70, 300, 500])
@pytest.mark.parametrize("gaps", [0.0, 0.05, 0.4, 1.0])
def test_mark_insufficient(dtype, width, gaps, rng):
    for length in (width, 500, 513, 1024):
        if length < 240 or length < width:
            continue
        values = with_gaps(length, gaps, dtype, rng)
        words = empty_bitmap(length)
        noted = record_nan(values, 0, 130, words)
        assert noted == 192
        assert record_nan(values, noted, length, words) >= length
        missing = np.isnan(values)
        np.testing.assert_array_equal(bits(words, length), missing)
        observed = (~np.lib.stride_tricks.sliding_window_view(missing, width)).sum(axis=1)
        rows = np.arange(length + 1 - width)
        for need in {0, 1, min(2, width), width // 2, width - 1, width}:
            out, other = rows.copy(), rows.copy()
            mark_insufficient(words, width, need, np.int64(-1), out, other)
            np.testing.assert_array_equal(out, np.where(observed < need, -1, rows))
            np.testing.assert_array_equal(out, other)
            mark_insufficient(words, width, need, np.int64(-1), other, out[:0])
            np.testing.assert_array_equal(out, other)


@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.long)])
@pytest.mark.parametrize("first", [0, 1, 700, 2900])
def test_bitmaps_that_extrema_kernels_record(dtype, first, rng):
    """The bitmap is complete wherever the first NaN is."""
    steady = np.linspace(0.0, 1.0, 800)
    for values in (rng.standard_normal(3000), np.r_[steady, rng.standard_normal(1000), steady, -steady]):
        values = values.astype(dtype)
        values[first::7] = np.nan
        for width in (3, 40, 256, 300):
            values = values[: width + 5] if first == 1 and width == 300 else values  # a few windows alone
            low = np.empty(len(values) - width + 1, dtype)
            module, size = (doubling, 64) if width <= doubling.WIDEST else (blockwise, 128)
            scratch = doubling.allocate(Least(), values.dtype, low, 400, 40, len(values))
            assert module.rolling(Least(), values, width, size, scratch, 0, low)
            np.testing.assert_array_equal(bits(scratch.bitmap, len(values)), np.isnan(values))
