"""Extrema of long series, with all kinds of windows and options."""

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


@pytest.mark.parametrize("window", [2, 30, 90, 1100, 2500])
@pytest.mark.parametrize("name", ["min", "max", "minmax", "ptp", "argmin"])
def test_full_windows_with_missing_values_and_infinities(name, window, rng):
    """Only the number of observations decides whether a result is missing, even next to infinities."""
    function = getattr(rollstat, f"rolling_{name}")
    values = rng.standard_normal(6000)
    several = [values, values.cumsum(), np.sort(values), np.sin(np.arange(6000) / 400)]
    for clean in several:
        gaps = clean.copy()
        gaps[[3, 2400, 2401, 5999]] = np.nan
        gaps[3200:3300] = np.nan
        spoiled = gaps.copy()
        spoiled[[1000, 4500]] = np.inf, -np.inf
        spoiled[2800] = spoiled[3250] = -np.inf
        spoiled[3220] = np.inf
        infinite = clean.copy()
        infinite[[0, 3000, 3001]] = -np.inf, np.inf, -np.inf
        for series in (clean, gaps, spoiled, infinite, gaps, clean):
            series.flags.writeable = not series.flags.writeable
            for policy, least in (("omit", None), ("propagate", 1), ("omit", 1), ("omit", 2)):
                options = {"nan_policy": policy, "min_periods": least}
                wanted = function(series, window, algorithm="wedge", **options)
                np.testing.assert_array_equal(function(series, window, **options), wanted)
                found = function(series.reshape(2, 3000), window, **options)
                wanted = function(series.reshape(2, 3000), window, algorithm="wedge", **options)
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "dtype", ["f8", "i8", *(pytest.param(name, marks=pytest.mark.long) for name in ("f4", "u1"))]
)
@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax", "minmax"])
def test_boundary_windows(name, dtype, rng):
    function = getattr(rollstat, f"rolling_{name}")
    values = rng.integers(0, 50, 500).astype(dtype)
    several = [values]
    if values.dtype.kind == "f":
        gaps = np.where(rng.random(500) < 0.4, np.inf, values).astype(dtype)
        gaps[:90] = gaps[rng.random(500) < 0.5] = np.nan
        several += [gaps, -gaps]
    for series in several:
        for window in (70, 300, 900):
            for options in ({}, {"center": True}, {"closed": "left"}, {"step": 3}):
                for least in (1, window // 2, window * 3 // 4):
                    wanted = function(series, window, min_periods=least, algorithm="wedge", **options)
                    found = function(series, window, min_periods=least, **options)
                    np.testing.assert_array_equal(found, wanted)


def test_empty_windows_of_integers_give_no_warning():
    low = rollstat.rolling_min(np.arange(4), 2, closed="left", min_periods=1)
    np.testing.assert_array_equal(low, [np.nan, 0, 0, 1])


def test_envelope_of_masked_elements_and_of_a_huge_radius():
    masked = np.ma.masked_array([1.0, 9.0, 3.0], [False, True, False])
    for found, wanted in zip(rollstat.lower_upper_envelope(masked, 1), ([1, 1, 3], [1, 3, 3])):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="masked"):
        rollstat.lower_upper_envelope(np.ma.masked_array([1, 9], [False, True]), 1)
    np.testing.assert_array_equal(rollstat.lower_upper_envelope([3, 1, 2], 2**64), [[1] * 3, [3] * 3])


def test_a_fill_value_that_does_not_fit_integers_raises():
    with pytest.raises(ValueError, match="fill_value must be exactly representable in int64; got nan"):
        rollstat.rolling_min(np.arange(3), 2, fill_value=np.nan)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i2"])
def test_positions_of_small_integers_over_many_rows(dtype, rng):
    values = rng.integers(0, 2 if dtype == "?" else 100, 40_000).astype(dtype)
    for m in (3, 60, 5_000, 34_000):
        for name in ("argmin", "argmax"):
            function = getattr(rollstat, f"rolling_{name}")
            np.testing.assert_array_equal(function(values, m), function(values.astype(np.int64), m))
    lowest, highest = rollstat.rolling_argminmax(values, 60)
    np.testing.assert_array_equal(lowest, rollstat.rolling_argmin(values, 60))
    assert highest.max() > 39_900
