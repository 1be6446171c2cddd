"""Bands hold the answers where windows are alike, and are refused where they would hold too much."""

import numpy as np
import pytest

from rollstat.kernels.selection.bitset_fixed import words_for
from rollstat.kernels.selection.radix_sort import DIGITS, LARGEST_DIGIT
from rollstat.kernels.selection.value_band import RECENT, band_from_answers, band_from_sample


def from_sample(values, width, fewest, most, missing=None):
    """The band as (low, high), unbounded sides as infinities, or None."""
    size = len(values)
    values = values.view()
    values.flags.writeable = False
    bits = np.empty(words_for(size), np.uint64)
    band, sides = np.zeros(2), np.zeros(2, np.bool_)
    missing = np.zeros(0, np.bool_) if missing is None else missing
    sample = np.zeros(size)
    drawn = sample.view()
    drawn.flags.writeable = False
    with np.errstate(over="ignore"):
        worth = band_from_sample(
            values,
            missing,
            True,
            width,
            fewest,
            most,
            *np.zeros((2, size), np.uint64),
            np.zeros((DIGITS, LARGEST_DIGIT), np.int32),
            np.zeros(size, np.uint32),
            bits,
            np.zeros(64 * len(bits)),
            np.zeros(64 * len(bits), np.uint32),
            sample,
            drawn,
            np.zeros(size, np.bool_),
            sides,
            band,
        )
    return (band[0] if sides[0] else -np.inf, band[1] if sides[1] else np.inf) if worth else None


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


def test_bands_that_would_hold_too_much_are_refused():
    values = np.arange(30_000) / 7.0
    assert from_sample(values, 5000, 2500, 2500) is None
    assert from_sample(values, 5000, 0, 4999) is None
    assert from_sample(np.full(30_000, np.inf), 5000, 2500, 2500) is None
    mostly_missing = np.arange(30_000) % 3 > 0
    assert from_sample(values, 5000, 100, 100, mostly_missing) is None


def test_bands_from_answers_keep_a_margin():
    values = np.arange(1000.0)
    ranked = np.arange(1000, dtype=np.uint64)
    values.flags.writeable = False
    recent, sides, band = np.full((2, RECENT), np.nan), np.zeros(2, np.bool_), np.zeros(2)
    recent[:, 0] = 480.0, 520.0
    assert band_from_answers(ranked, 10, values, 0, recent, 1, sides, band)
    assert sides.all()
    assert 460 < band[0] < 475 < 525 < band[1] < 540
    assert band_from_answers(ranked, 10, values, 50, recent, 1, sides, band)
    assert 410 < band[0] < 425 < 575 < band[1] < 590
    recent[:, 1] = 2.0, 50.0
    recent[:, 0] = 1.0, 40.0
    sides[:] = False
    assert band_from_answers(ranked, 10, values, 0, recent, 2, sides, band)
    assert list(sides) == [False, True]
    # The next stretch sorted the band alone: 150 values from below up. Beyond them it cannot grow.
    recent[1, 2] = 149.0
    assert band_from_answers(ranked[:150], 10, values, 0, recent, 3, sides, band)
    assert list(sides) == [False, True]
    assert band[1] == 149.0
    recent[1, 2] = 900.0
    sides[:] = False
    assert not band_from_answers(ranked, 10, values, 0, recent, 3, sides, band)
