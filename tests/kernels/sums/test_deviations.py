"""Distances from means given as offsets, and the sums of squares and products of the statistics."""

import math

import numpy as np

from rollstat.kernels.sums.deviations import standardize, sum_of_distances, sum_of_integer_distances


def test_distances_of_the_own_value():
    result = np.empty(2)
    standardize(
        np.array([1e9 + 5, 3.0]), np.array([1e9, 1.0]), np.array([2.0, 2.0]), np.array([1.5, 0.0]), result
    )
    assert result[0] == 2.0
    assert math.isnan(result[1])


def test_sums_of_distances_skip_missing_values_and_keep_the_digits_of_an_offset(rng):
    values = 1e9 + rng.integers(0, 100, 90) * 0.25
    values[rng.random(90) < 0.2] = np.nan
    values[0] = 1e9
    start = np.array([0, 0, 0, 5, 30])
    end = np.array([1, 15, 90, 60, 47])
    oldest = np.array([values[i:j][~np.isnan(values[i:j])][0] for i, j in zip(start, end)])
    offset = np.array([0.0, 1.25, 7.5, 3.25, np.nan])
    result = np.empty(5)
    sum_of_distances(values, oldest, offset, start, end, np.empty(8), result)
    for i in range(4):
        part = values[start[i] : end[i]]
        wanted = math.fsum(abs((x - oldest[i]) - offset[i]) for x in part[~np.isnan(part)])
        np.testing.assert_allclose(result[i], wanted, rtol=1e-14)
    assert math.isnan(result[4])


def test_integers_that_float64_rounds_keep_their_distances():
    values = 2**62 + np.arange(5)
    result = np.empty(1)
    bounds = np.array([0]), np.array([5])
    sum_of_integer_distances(values, np.empty(0, np.bool_), values[:1], np.array([2.0]), *bounds, result)
    assert result[0] == 6.0
    sum_of_integer_distances(values, np.arange(5) == 4, values[:1], np.array([2.0]), *bounds, result)
    assert result[0] == 4.0
