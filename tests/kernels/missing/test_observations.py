"""Observations alone, bounds among them, and the nearest observation before or after each row."""

import numpy as np
import pytest

from rollstat.kernels.missing.observations import copy_until_nan, count_before, fill, keep_observed

N = np.nan
CASES = [
    ([5.0, N, N, 2.0, N], [5.0, 5.0, 5.0, 2.0, 2.0], [5.0, 2.0, 2.0, 2.0, N]),
    ([N, 1.0], [N, 1.0], [1.0, 1.0]),
    ([N, N], [N, N], [N, N]),
    ([3.0], [3.0], [3.0]),
]


@pytest.mark.parametrize(("values", "forward", "backward"), CASES)
def test_fill(values, forward, backward):
    values = np.array(values)
    out = np.empty_like(values)
    fill(values, np.isnan(values), True, out)
    np.testing.assert_array_equal(out, forward)
    fill(values, np.isnan(values), False, out)
    np.testing.assert_array_equal(out, backward)
    for rows in range(1, len(values) + 1):
        fill(values, None, True, out[:rows])
        np.testing.assert_array_equal(out[:rows], forward[len(values) - rows :])
        fill(values, None, False, out[:rows])
        np.testing.assert_array_equal(out[:rows], backward[:rows])


@pytest.mark.parametrize("length", [0, 1, 2048, 5000])
def test_copy_until_nan(length):
    values = np.arange(float(length))
    out = np.full(length, -1.0)
    assert copy_until_nan(values, out)
    np.testing.assert_array_equal(out, values)
    if length:
        values[-1] = N
        assert not copy_until_nan(values, out)


def test_bounds_and_values_of_observations(rng):
    missing = rng.random(200) < 0.3
    values = rng.standard_normal(200)
    before = np.empty(201, np.int64)
    count_before(missing, before)
    assert before.tolist() == [int((~missing[:row]).sum()) for row in range(201)]
    kept = np.empty((~missing).sum() + 1)
    keep_observed(values, missing, kept)
    np.testing.assert_array_equal(kept[:-1], values[~missing])
