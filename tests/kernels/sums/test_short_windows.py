"""Sums over fewer than 32 values: exact for integers, and the same bits wherever a window lies."""

import math

import numpy as np
import pytest

import rollstat

WIDTHS = range(1, 32)


@pytest.mark.parametrize("missing", [False, True])
def test_integers_are_summed_exactly(missing, rng):
    values = rng.integers(-9, 9, 9_000).astype(float)
    if missing:
        values[rng.random(len(values)) < 0.2] = np.nan
    for width in WIDTHS:
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        found = rollstat.rolling_sum(values, width, min_periods=1, mode="valid")
        wanted = np.where(np.isnan(windows).all(axis=1), np.nan, np.nansum(windows, axis=1))
        np.testing.assert_array_equal(found, wanted, err_msg=str(width))


def test_bits_depend_on_the_values_of_the_window_alone(rng):
    values = rng.standard_normal(9_000)  # shorter series are summed by another kernel
    for width in (1, 2, 3, 5, 7, 8, 15, 16, 24, 31):
        whole = rollstat.rolling_sum(values, width, mode="valid")
        for first in (1, 5, 13):
            later = rollstat.rolling_sum(values[first:], width, mode="valid")
            np.testing.assert_array_equal(later, whole[first:], err_msg=str(width))
        bound = 6 * 2.0**-53
        for i in (0, 400, len(whole) - 1):
            part = values[i : i + width]
            assert abs(whole[i] - math.fsum(part)) <= bound * np.abs(part).sum()


def test_moments_of_a_large_offset_keep_their_digits(rng):
    small = rng.integers(0, 16, 9_000) / 16.0
    for width in (2, 7, 8, 15, 16, 23, 24):
        near, far = (rollstat.rolling_var(x, width, mode="valid") for x in (small, small + 2.0**40))
        np.testing.assert_allclose(far, near, rtol=1e-13)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_moments_of_integers_are_exact_about_any_observation(share, rng):
    values = rng.integers(-9, 9, 9_000).astype(float)
    values[rng.random(len(values)) < share] = np.nan
    values[4_000:4_040] = np.nan  # no observation is shared by eight windows
    values[4_010:4_030:9] = 5.0
    for width in (2, 8, 9, 10, 16, 17, 24, 25, 31, 32):
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        count = np.maximum(np.isfinite(windows).sum(axis=1), 1)
        totals = np.nansum(windows, axis=1)
        wanted = (count * np.nansum(windows**2, axis=1) - totals**2) / count**2
        wanted[np.isnan(windows).all(axis=1)] = np.nan
        found = rollstat.rolling_var(values, width, ddof=0, min_periods=1, mode="valid")
        np.testing.assert_allclose(found, wanted, rtol=8 * width * 2.0**-53, err_msg=str(width))
