"""Extrema of long series, and of everything that the window language and the options can ask."""

import numpy as np
import pytest

import rollstat


@pytest.mark.parametrize("window", [4, 50, 3000])
def test_results_larger_than_the_cache(window, rng):
    n = 300_001
    values = rng.standard_normal(n).cumsum()
    values[rng.random(n) < 0.001] = np.nan
    low, high = rollstat.rolling_minmax(values, window, min_periods=1, algorithm="wedge")
    for found, wanted in zip(rollstat.rolling_minmax(values, window, min_periods=1), (low, high)):
        np.testing.assert_array_equal(found, wanted)
    out = np.empty(n + 1)[1:]
    assert rollstat.rolling_min(values, window, min_periods=1, out=out) is out
    np.testing.assert_array_equal(out, low)
    np.testing.assert_array_equal(rollstat.rolling_max(values, window, min_periods=1, threads=2), high)
    pair = np.empty(n + 3)[3:], np.empty(n)
    rollstat.rolling_minmax(values, window, min_periods=1, out=pair)
    np.testing.assert_array_equal(pair, (low, high))
