"""Bands hold the answers where windows are alike, and are rejected where they would hold too much."""

import numpy as np
import pytest

from rollstat.kernels.selection.band_codes import allocate_index
from rollstat.kernels.selection.radix_sort import allocate_sort
from rollstat.kernels.selection.value_band import (
    allocate_band,
    allocate_sample,
    band_from_answers,
    band_from_sample,
)


def from_sample(values, width, fewest, most, missing=None):
    """The band as (low, high), sides without a limit as infinities, or None."""
    size = len(values)
    values = values.view()
    values.flags.writeable = False
    band = allocate_band(values.dtype)
    memory = allocate_sample(size, values.dtype), allocate_sort(size), allocate_index(size)
    missing = np.zeros(0, np.bool_) if missing is None else missing
    with np.errstate(over="ignore"):
        worth = band_from_sample(values, missing, width, fewest, most, *memory, band)
    low = band.limits[0] if band.bounded[0] else -np.inf
    high = band.limits[1] if band.bounded[1] else np.inf
    return (low, high) if worth else None


@pytest.mark.parametrize("share", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("gaps", [False, True])
def test_sampled_bands_hold_the_answers_of_noise(share, gaps):
    rng = np.random.default_rng(int(100 * share))
    width = 5000
    values = rng.standard_normal(30_000)
    missing = rng.random(30_000) < 0.1 if gaps else None
    count = np.array([width] * 2)
    if gaps:
        values[missing] = np.nan
        count = width - np.array([missing[i : i + width].sum() for i in (0, 12_000)])
    targets = (share * (count - 1)).astype(int)
    low, high = from_sample(values, width, targets.min(), targets.max(), missing)
    answers = [np.sort(values[i : i + width])[t] for i, t in zip((0, 12_000), targets)]
    assert low < min(answers) <= max(answers) < high
    assert np.mean((values >= low) & (values <= high)) < 0.4
    assert (low == -np.inf) == (share == 0.01)


def test_bands_that_would_hold_too_much_are_rejected():
    values = np.arange(30_000) / 7.0
    assert from_sample(values, 5000, 2500, 2500) is None
    assert from_sample(values, 5000, 0, 4999) is None
    assert from_sample(np.full(30_000, np.inf), 5000, 2500, 2500) is None
    mostly_missing = np.arange(30_000) % 3 > 0
    assert from_sample(values, 5000, 100, 100, mostly_missing) is None


def test_bands_from_answers_keep_a_margin():
    values = np.arange(1000.0)
    records = np.arange(1000, dtype=np.uint64)
    values.flags.writeable = False
    band = allocate_band(values.dtype)
    recent, bounded, limits = band.recent, band.bounded, band.limits
    recent[:] = np.nan
    recent[:, 0] = 480.0, 520.0
    assert band_from_answers(records, 10, values, 0, 1, band)
    assert bounded.all()
    assert 460 < limits[0] < 475 < 525 < limits[1] < 540
    assert band_from_answers(records, 10, values, 50, 1, band)
    assert 410 < limits[0] < 425 < 575 < limits[1] < 590
    recent[:, 1] = 2.0, 50.0
    recent[:, 0] = 1.0, 40.0
    bounded[:] = False
    assert band_from_answers(records, 10, values, 0, 2, band)
    assert list(bounded) == [False, True]
    # The next block sorted the band alone: 150 values from below up. Beyond them it cannot grow.
    recent[1, 2] = 149.0
    assert band_from_answers(records[:150], 10, values, 0, 3, band)
    assert list(bounded) == [False, True]
    assert limits[1] == 149.0
    recent[1, 2] = 900.0
    bounded[:] = False
    assert not band_from_answers(records, 10, values, 0, 3, band)
