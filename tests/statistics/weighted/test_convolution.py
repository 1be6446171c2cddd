"""Weights by position, compared with NumPy, SciPy and pandas."""

import numpy as np
import pandas as pd
import pytest
from scipy import signal

import rollstat

N = 3_000


@pytest.fixture
def values(rng):
    return rng.standard_normal(N)


@pytest.mark.parametrize("m", [1, 5, 40, 500])
def test_complete_data_as_numpy(values, rng, m):
    weights = rng.standard_normal(m)
    wanted = np.convolve(values, weights[::-1], "valid")
    np.testing.assert_allclose(rollstat.rolling_convolve(values, weights, mode="valid"), wanted, atol=1e-12)
    centred = rollstat.rolling_convolve(values, weights, center=True, min_periods=1)
    same = np.convolve(np.append(values, np.zeros(m)), weights[::-1])[(m - 1) // 2 :][:N]
    np.testing.assert_allclose(centred, same, atol=1e-12)


@pytest.mark.parametrize("spike", [1e12, np.inf])
def test_no_value_reaches_other_windows(values, spike):
    values[700], weights = spike, np.ones(400)
    result = rollstat.rolling_convolve(values, weights)
    assert rollstat.explain(rollstat.rolling_convolve, values, weights).steps[-1].algorithm == "fft"
    np.testing.assert_allclose(result[1100:], pd.Series(values[701:]).rolling(400).sum()[399:], atol=1e-11)


def test_forward_windows_keep_their_first_weights():
    result = rollstat.rolling_convolve([1.0, 2.0, 4.0], [1.0, 10.0], rollstat.Forward(2), min_periods=1)
    np.testing.assert_array_equal(result, [21.0, 42.0, 4.0])


def test_windows_longer_than_the_weights():
    result = rollstat.rolling_convolve([1.0, 2.0, np.nan, 4.0], [1.0, 10.0], 3, min_periods=1)
    np.testing.assert_array_equal(result, [10.0, 21.0, 2.0, 40.0])


def test_names_of_weights(values):
    for name, weights in (
        ("linear", np.arange(1.0, 8)),
        ("triang", signal.windows.triang(7)),
        (("gaussian", 2.0), signal.windows.gaussian(7, 2.0)),
    ):
        found = rollstat.rolling_convolve(values, name, 7)
        np.testing.assert_array_equal(found, rollstat.rolling_convolve(values, weights, 7))


@pytest.mark.parametrize("weights", ["nothing", [], [np.nan], [[1.0]], ["a"]])
def test_bad_weights(weights):
    with pytest.raises((ValueError, TypeError), match="weights must"):
        rollstat.rolling_convolve([1.0, 2.0], weights, 2)
