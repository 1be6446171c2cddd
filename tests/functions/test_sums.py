"""Sums and moments of the public functions on hard data, against exact values."""

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


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u1"])
def test_weighted_means_of_whole_numbers_never_wrap(dtype):
    high = np.iinfo(dtype).max
    values, weights = np.array([high, high, 1], dtype), np.array([high - 1, high, high], dtype)
    out = rollstat.rolling_weighted_mean(values, weights, 2)
    pairs = list(zip(values.tolist(), weights.tolist()))
    exact = [(a * v + b * w) / (v + w) for (a, v), (b, w) in itertools.pairwise(pairs)]
    np.testing.assert_allclose(out[1:], exact, rtol=1e-15)
