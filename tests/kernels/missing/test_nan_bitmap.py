"""Insufficient rows against counting the observations of each window."""

import numpy as np
import pytest

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
        record_nan(values, words)
        missing = np.isnan(values)
        np.testing.assert_array_equal(bits(words, length), missing)
        observed = (~np.lib.stride_tricks.sliding_window_view(missing, width)).sum(axis=1)
        rows = np.arange(length + 1 - width)
        for need in {0, 1, min(2, width), width // 2, width - 1, width}:
            out = rows.copy()
            mark_insufficient(words, width, need, np.int64(-1), out)
            np.testing.assert_array_equal(out, np.where(observed < need, -1, rows))
