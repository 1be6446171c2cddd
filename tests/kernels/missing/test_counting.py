"""Counts of observations and ends of windows against each window alone."""

import numpy as np
import pytest

from rollstat.kernels.missing.counting import (
    ALL,
    ANY,
    COUNT,
    NEWEST,
    OLDEST,
    count_fixed,
    count_series,
    ends_of_windows,
)


@pytest.mark.parametrize("width", [1, 2, 7, 50])
def test_count_fixed(width):
    missing = np.random.default_rng(width).random(50) < 0.4
    expected = np.lib.stride_tricks.sliding_window_view(~missing, width).sum(axis=1)
    count = np.empty(len(expected), np.int64)
    count_fixed(missing, count)
    np.testing.assert_array_equal(count, expected)


@pytest.mark.parametrize("width", [1, 3, 33, 300, 500])
@pytest.mark.parametrize("gaps", [0.0, 0.05, 0.5, 1.0])
def test_count_series(width, gaps):
    values = np.random.default_rng(width).standard_normal(500)
    values[np.random.default_rng(0).random(500) < gaps] = np.nan
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    count = np.full(len(windows) + 8, 99.0)
    count_series((values,), width, count)
    np.testing.assert_array_equal(count, [*(~np.isnan(windows)).sum(axis=1), *[99.0] * 8])
    other = np.where(np.random.default_rng(1).random(500) < gaps / 2, np.nan, 1.0)
    count_series((values, other), width, count)
    windows = np.lib.stride_tricks.sliding_window_view(values + other, width)
    np.testing.assert_array_equal(count, [*(~np.isnan(windows)).sum(axis=1), *[99.0] * 8])


KINDS = {
    COUNT: (len, 0),
    OLDEST: (lambda x: x[0], 1),
    NEWEST: (lambda x: x[-1], 1),
    ANY: (any, 0),
    ALL: (all, 0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_ends_agree_with_each_window_alone(kind, share, rng):
    values = rng.integers(0, 3, 60) * 1.0
    values[rng.random(60) < share] = np.nan
    start = np.sort(rng.integers(0, 61, 80))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 6, 80), 60))
    for array in (values, start, end):
        array.flags.writeable = False
    expected, required = KINDS[kind]
    for least in {required, 2}:
        result = np.empty(80)
        ends_of_windows(values, start, end, kind, least, -7.0, result)
        for i in range(80):
            seen = [x for x in values[start[i] : end[i]] if x == x]
            assert result[i] == (expected(seen) if len(seen) >= least else -7)
