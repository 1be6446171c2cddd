"""Weighted quantiles, compared with NumPy's and with quantiles of repeated rows."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import rollstat
from rollstat.kernels.rank_space.trimmed_mean import check_sums, create_sums
from rollstat.kernels.rank_space.weighted_tree import weighted_quantiles


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
def test_as_numpy(rng, q):
    values, weights = rng.integers(0, 40, 3_000) * 0.5, rng.integers(0, 9, 3_000)
    found = rollstat.rolling_weighted_quantile(values, weights, 31, q, mode="valid")
    both = sliding_window_view(values, 31), sliding_window_view(weights, 31)
    wanted = [np.quantile(x, q, weights=w, method="inverted_cdf") for x, w in zip(*both)]
    np.testing.assert_array_equal(found, wanted)


def test_equal_weights_that_float64_cannot_add_up(rng):
    values = rng.standard_normal(4_000)
    found = rollstat.rolling_weighted_median(values, np.full(4_000, 0.1), 200)
    np.testing.assert_array_equal(found, rollstat.rolling_quantile(values, 200, 0.5, "lower"))


def test_weights_that_have_left_have_no_influence(rng):
    values, weights = rng.standard_normal(900), rng.integers(1, 5, 900).astype(float)
    clean = rollstat.rolling_weighted_median(values, weights, 50)
    weights[[100, 101, 102, 103]] = 1e300, np.inf, -1.0, np.nan
    found = rollstat.rolling_weighted_median(values, weights, 50)
    np.testing.assert_array_equal(found[153:], clean[153:])
    assert np.isnan(found[101:152]).all()


def test_windows_without_weight_have_no_result():
    np.testing.assert_array_equal(
        rollstat.rolling_weighted_median([3, 4], [0, 1], 1, mode="valid"), [np.nan, 4]
    )
    assert rollstat.rolling_weighted_median([3, 4], [0, 1], 1, fill_value=-1).tolist() == [-1, 4]


def test_sums_stay_those_of_the_children(rng):
    rank, weights = np.arange(500)[rng.permutation(500)], rng.random(500)
    sums, base = create_sums(500)
    end = np.arange(1, 501)
    found = np.empty(500, np.int64)
    state = np.zeros((2, 500), np.int64), sums, base
    weighted_quantiles(rank, weights, np.maximum(end - 40, 0), end, *state, 0.5, found)
    assert check_sums(sums, base)
    assert np.count_nonzero(sums[base:]) == 40
