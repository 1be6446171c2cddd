"""Robust statistics against SciPy and NumPy: exactness, infinities, datetimes, error bounds and messages."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

import rollstat
from rollstat.blocks import Block
from rollstat.statistics.common import NORMAL
from rollstat.statistics.extrema.computation import write_distance


def test_differences_of_insufficient_rows_do_not_overflow():
    missing = np.array([False, True, False])
    block = Block.regular(np.array([4, 0, 7]), missing, 2)
    result = np.empty(2, np.int64)
    write_distance(block, 2, np.array([0, -(2**63)]), np.array([-1, 2**63 - 1]), result)
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        write_distance(block, 1, np.array([0, -(2**63)]), np.array([-1, 2**63 - 1]), result)


def test_iqr_is_the_difference_of_quantiles(rng):
    values = rng.standard_normal(400)
    values[rng.random(400) < 0.1] = np.nan
    low = rollstat.rolling_quantile(values, 30, 0.25, min_periods=5)
    high = rollstat.rolling_quantile(values, 30, 0.75, min_periods=5)
    result = rollstat.rolling_iqr(values, 30, min_periods=5)
    np.testing.assert_array_equal(result, high - low)
    windows = np.lib.stride_tricks.sliding_window_view(np.nan_to_num(values), 30)
    result = rollstat.rolling_iqr(np.nan_to_num(values), 30, mode="valid")
    np.testing.assert_allclose(result, scipy.stats.iqr(windows, axis=1), rtol=1e-13)


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("shift", [0, 2**62, -(2**63)])
def test_results_do_not_depend_on_a_large_offset_of_integers(rng, shift):
    small = rng.integers(0, 100, 300)
    large = small + np.int64(shift)
    for m in (4, 60):
        for function in (rollstat.rolling_mad, rollstat.rolling_iqr):
            np.testing.assert_allclose(
                function(large, m, mode="valid"), function(small * 1.0, m, mode="valid"), rtol=1e-14
            )
        np.testing.assert_array_equal(
            rollstat.rolling_hampel(large, m, 1.0, min_periods=1)[1],
            rollstat.rolling_hampel(small * 1.0, m, 1.0, min_periods=1)[1],
        )
    assert rollstat.rolling_iqr(large, 4, 0, 1, "lower", mode="valid").dtype == np.uint64


def test_messages_name_the_bad_parameter():
    for scale in (-1, np.inf, np.nan):
        with pytest.raises(ValueError, match="scale must be"):
            rollstat.rolling_mad([1.0], 1, scale)
    for scale in (None, "uniform", True):
        with pytest.raises(TypeError, match="scale must be"):
            rollstat.rolling_mad([1.0], 1, scale)
    with pytest.raises(ValueError, match="q_low must be at most q_high"):
        rollstat.rolling_iqr([1.0], 1, 0.8, 0.2)
    with pytest.raises(ValueError, match="interpolation must be one of"):
        rollstat.rolling_iqr([1.0], 1, interpolation="cubic")
    with pytest.raises(ValueError, match="threshold must be a number of at least 0"):
        rollstat.rolling_hampel([1.0], 1, -1)


@pytest.mark.parametrize("algorithm", ["auto", "rank_set", "sorted_window"])
@pytest.mark.parametrize("function", [rollstat.rolling_trimmed_mean, rollstat.rolling_winsorized_mean])
def test_no_trace_of_values_that_left_or_were_cut_off(rng, function, algorithm):
    values = rng.standard_normal(600)
    clean = function(values, 120, 0.1, algorithm=algorithm)
    spoilt = values.copy()
    spoilt[[5, 40, 41, 90]] = [1e300, np.inf, -np.inf, -1e17]
    result = function(spoilt, 120, 0.1, algorithm=algorithm)
    assert np.isfinite(result[119:]).all()
    np.testing.assert_allclose(result[90 + 120 :], clean[90 + 120 :], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("function", [rollstat.rolling_trimmed_mean, rollstat.rolling_winsorized_mean])
def test_means_stay_within_the_error_bound(rng, function):
    values = rng.standard_normal(900) * 10.0 ** rng.integers(-6, 6, 900)
    for m in (8, 300):
        result = function(values, m, 0.125, mode="valid")
        for i, window in enumerate(np.lib.stride_tricks.sliding_window_view(values, m)):
            cut = m // 8
            inner = np.sort(window)[cut : m - cut].tolist()
            ends = cut if function is rollstat.rolling_winsorized_mean else 0
            terms = [inner[0]] * ends + inner + [inner[-1]] * ends
            bound = (np.log2(m) + 20 + 4 * (ends > 0)) * 2.0**-53 * math.fsum(map(abs, terms)) / len(terms)
            assert abs(result[i] - math.fsum(terms) / len(terms)) <= bound


def test_messages_name_the_bad_proportion():
    for proportion in (-0.1, 0.5, 0.7, np.nan):
        with pytest.raises(ValueError, match="proportion must be"):
            rollstat.rolling_trimmed_mean([1.0], 1, proportion)
    with pytest.raises(TypeError, match="arr must hold floats, integers or bool"):
        rollstat.rolling_winsorized_mean(np.array([1], "M8[s]"), 1)


@pytest.mark.parametrize("scale", [0.5, 3.0, "normal"])
def test_deviations_of_times_are_rounded_down_once(rng, scale):
    factor = Fraction(1 / NORMAL if scale == "normal" else scale)
    for most in (9, 2**60):
        values = rng.integers(-most, most, 40)
        stream = rollstat.RollingMad(4, scale, dtype="m8[ns]")
        times = values.astype("m8[ns]")
        pushed = [stream.push(time) for time in times]
        found = rollstat.rolling_mad(times, 4, scale)
        for i in range(3, 40):
            window = [int(value) for value in values[i - 3 : i + 1]]
            middle = statistics.median(map(Fraction, window))
            wanted = math.floor(statistics.median(abs(value - middle) for value in window) * factor)
            assert found[i].astype(int) == pushed[i].astype(int) == wanted
    with pytest.raises(OverflowError, match="times scale, does not fit"):
        rollstat.rolling_mad(np.array([0, 2**62], "m8[ns]"), 2, 100)
