"""Sums and moments of hard data against exact values."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import rollstat

EPSILON = 2.0**-52


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("algorithm", ["auto", "operator_scan", "greedy", "two_stacks", "daba"])
@pytest.mark.parametrize("window", [2, 7, 100, 100_000])
def test_error_of_sums_of_non_negatives(window, algorithm, gap, rng):
    length = window + 40_000
    for values in (np.full(length, 0.1), rng.random(length)):
        if gap:
            values[window // 2] = np.nan
        sums = rollstat.rolling_sum(values, window, min_periods=1, algorithm=algorithm)
        means = rollstat.rolling_mean(values, window, min_periods=1, algorithm=algorithm)
        for i in (0, 1, window // 2, window - 1, window, length // 2, length - 1):
            seen = values[max(0, i + 1 - window) : i + 1]
            seen = seen[~np.isnan(seen)]
            exact = math.fsum(seen)
            if len(seen) == 0:
                continue
            bound = max(4 * EPSILON * math.log2(window), EPSILON)
            assert abs(sums[i] - exact) <= bound * exact
            assert abs(means[i] - exact / len(seen)) <= (bound + 2 * EPSILON) * exact / len(seen)


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("window", [5, 15, 100, 5000])
def test_variance_of_an_offset_does_not_grow_with_position(window, gap, rng):
    noise = rng.integers(0, 1 << 20, 200_000)
    values = 1e9 + noise / 2.0**20
    if gap:
        values[::50] = np.nan
    out = rollstat.rolling_var(values, window, min_periods=2)
    for i in (window, 9_999, 100_000, 199_998):
        seen = np.isfinite(values[i + 1 - window : i + 1])
        whole = noise[i + 1 - window : i + 1][seen].tolist()
        m, total, squares = len(whole), sum(whole), sum(x * x for x in whole)
        exact = Fraction(m * squares - total * total, m * (m - 1) << 40)
        assert abs(Fraction(float(out[i])) - exact) <= Fraction(1, 10**12) * exact


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u1"])
def test_weighted_means_of_integers_do_not_overflow(dtype):
    high = np.iinfo(dtype).max
    values, weights = np.array([high, high, 1], dtype), np.array([high - 1, high, high], dtype)
    out = rollstat.rolling_weighted_mean(values, weights, 2)
    pairs = list(zip(values.tolist(), weights.tolist()))
    exact = [(a * v + b * w) / (v + w) for (a, v), (b, w) in itertools.pairwise(pairs)]
    np.testing.assert_allclose(out[1:], exact, rtol=1e-15)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_weighted_means_by_plain_sums_and_by_the_operator(sign, gaps, rng):
    values, weights = rng.standard_normal((2, 9_000)) * 2.0**30
    weights = np.abs(weights)
    values[rng.random(9_000) < gaps] = np.nan
    weights[100:200] = 0.0
    weights[0] *= sign  # one negative weight, and the operator computes all
    weights[rng.random(9_000) < gaps] = np.nan
    times = np.arange(9_000)
    times[4_000:] += 1  # so that the width varies
    for window, options in [*((m, {}) for m in (1, 5, 8, 21, 40, 101, 300)), (30, {"times": times})]:
        found = rollstat.rolling_weighted_mean(values, weights, window, min_periods=1, **options)
        choices = str(rollstat.explain("weighted_mean", values, weights, window, **options))
        assert ("variable_windows" if options else "fixed_windows") in choices
        times_of = options.get("times", np.arange(9_000))
        for i in (*range(0, 400, 7), *range(400, 9_000, 431)):
            seen = np.flatnonzero((times_of > times_of[i] - window) & (times_of <= times_of[i]))
            pairs = list(zip(values[seen], weights[seen]))
            pairs = [(Fraction(x), Fraction(w)) for x, w in pairs if x == x and w == w]
            total = sum(w for _, w in pairs)
            if total == 0:
                assert np.isnan(found[i])
                continue
            size = sum(abs(x * w) for x, w in pairs) / abs(total)
            assert abs(Fraction(found[i]) - sum(x * w for x, w in pairs) / total) <= 48 * size / 2**53


@pytest.mark.parametrize("window", [4, 10, 40])
def test_missing_values_propagate_to_windows_with_negative_weights(window, rng):
    values, weights = np.abs(rng.standard_normal((2, 200)))
    weights[[51, 118]] *= -1.0
    wanted = rollstat.rolling_weighted_mean(values, weights, window, min_periods=1)
    values[50] = weights[120] = np.nan
    wanted[50 : 50 + window] = wanted[120 : 120 + window] = np.nan
    found = rollstat.rolling_weighted_mean(values, weights, window, min_periods=1, nan_policy="propagate")
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_missing_values_propagate_to_windows_with_extreme_values(rng):
    values = rng.standard_normal(100)
    values[40], values[43] = 1e300, np.nan
    found = rollstat.rolling_downside_deviation(values, 6, min_periods=1, nan_policy="propagate")
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found)), np.arange(43, 49))


@pytest.mark.parametrize("scale", [1.0, 2.0**-400, 2.0**400])
@pytest.mark.parametrize("target", [0.0, 0.5])
def test_downside_deviations_at_any_scale(target, scale, rng):
    values = rng.integers(-8, 8, 9_000) * scale
    values[rng.random(9_000) < 0.1] = np.nan
    below = np.minimum(values / scale - target, 0.0)
    for window in (1, 7, 8, 31, 40, 200):
        found = rollstat.rolling_downside_deviation(
            values, window, target * scale, min_periods=1, mode="valid"
        )
        seen = np.lib.stride_tricks.sliding_window_view(below, window)
        count = np.isfinite(seen).sum(axis=1)
        wanted = np.sqrt(np.nansum(seen**2, axis=1) / np.where(count, count, np.nan)) * scale
        np.testing.assert_allclose(found, wanted, rtol=(6 * window + 3) * 2.0**-53)


def test_an_algorithm_that_does_not_apply_raises():
    values = np.arange(6.0)
    with pytest.raises(ValueError, match=r"supports sum: 'operator_scan'.*'daba'.*got 'wedge'"):
        rollstat.rolling_sum(values, 2, algorithm="wedge")
    with pytest.raises(ValueError, match="must be 'auto', because this statistic has only one"):
        rollstat.rolling_var(values, 2, algorithm="greedy")
    with pytest.raises(ValueError, match=r"supports objects: 'greedy'.*got 'daba'"):
        rollstat.rolling_aggregate(np.array([{1}, {2}], object), set.union, 1, algorithm="daba")


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("window", [3, 20, 100])
def test_lines_over_another_series(window, gaps, rng):
    x, y = rng.standard_normal((2, 300))
    y += 3 * x
    x[rng.random(300) < gaps] = np.nan
    slope, intercept, determination = rollstat.rolling_linear_fit(y, window, x, min_periods=3)
    beta = rollstat.rolling_beta(y, x, window, min_periods=3)
    np.testing.assert_allclose(slope, beta, rtol=1e-12)
    for i in (window, 150, 299):
        seen = slice(i + 1 - window, i + 1)
        both = ~np.isnan(x[seen])
        if both.sum() < 3:
            continue
        line = np.polyfit(x[seen][both], y[seen][both], 1)
        assert (slope[i], intercept[i]) == pytest.approx(line, rel=1e-9)
        correlation = np.corrcoef(x[seen][both], y[seen][both])[0, 1]
        assert determination[i] == pytest.approx(correlation**2, rel=1e-9)
    with pytest.raises(ValueError, match="x must have the shape of arr"):
        rollstat.rolling_linear_fit(y, window, x[:-1])


@pytest.mark.parametrize("algorithm", ["auto", "operator_scan", "greedy", "two_stacks", "daba"])
def test_an_infinity_counts_while_it_is_in_the_window_even_with_a_tiny_weight(algorithm):
    values = np.ones(4000)
    values[10] = -np.inf
    for function in (rollstat.rolling_decayed_sum, rollstat.rolling_decayed_mean):
        result = function(values, 3000, 0.5, mode="valid", algorithm=algorithm)
        assert (result[:11] == -np.inf).all()
        assert np.isfinite(result[11:]).all()


@pytest.mark.parametrize("window", [5, 40])
@pytest.mark.parametrize("value", [-2.0, 1e300, 1e-300, np.inf, np.nan])
def test_no_value_that_has_left_changes_a_bit(value, window, rng):
    values, weights = rng.standard_normal(9_000), rng.random(9_000)
    calls = [
        lambda x, w: rollstat.rolling_weighted_mean(x, w, window, min_periods=1),
        lambda x, w: rollstat.rolling_downside_deviation(x, window, 0.5, min_periods=1),
        lambda x, w: rollstat.rolling_var(x, window, min_periods=1),
    ]
    for call in calls:
        expected = call(values, weights)
        for changed in (0, 1):
            series = [values.copy(), weights.copy()]
            series[changed][700] = value
            found = call(*series)
            np.testing.assert_array_equal(found[:700], expected[:700])
            np.testing.assert_array_equal(found[700 + window :], expected[700 + window :])


def test_an_operator_derived_from_a_built_in_one_is_used():
    class Own(rollstat.operators.DownsideDeviation):
        def lower(self, state):
            return -1.0

    assert (rollstat.rolling_aggregate(np.arange(100.0), Own(0.5), 5, min_periods=1) == -1.0).all()
