"""Observations alone, and bounds among them."""

import numpy as np

from rollstat.kernels.missing.compaction import keep_observed, observed_bounds


def test_bounds_and_values_of_observations(rng):
    missing = rng.random(200) < 0.3
    values = rng.standard_normal(200)
    bound = np.sort(rng.integers(0, 201, 50))
    observed = np.empty(50, np.int64)
    observed_bounds(missing, bound, observed)
    assert observed.tolist() == [int((~missing[:row]).sum()) for row in bound]
    kept = np.empty((~missing).sum() + 1)
    keep_observed(values, missing, kept)
    np.testing.assert_array_equal(kept[:-1], values[~missing])
