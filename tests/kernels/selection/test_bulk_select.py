"""Selection block by block: what is done is right, whatever the bands are; bands hold most answers."""

import numpy as np
import pytest

from rollstat.kernels.selection.band_codes import allocate_index
from rollstat.kernels.selection.bulk_select import (
    allocate,
    allocate_band,
    allocate_sample,
    band_from_answers,
    band_from_sample,
    select_fixed,
)
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.radix_sort import allocate_sort

NONE = np.zeros(0, np.bool_)


def run(values, width, target, rows, missing, fraction, middle, lower, upper):
    values = values.view()
    values.flags.writeable = False
    constant, targets = (0, target) if np.ndim(target) else (target, None)
    scratch = allocate(rows + width, values.dtype)
    sample = allocate_sample(rows + width, values.dtype) if width >= 4096 else None
    with np.errstate(over="ignore"):
        return select_fixed(
            values, missing, width, constant, targets, rows, fraction, middle, lower, upper, scratch, sample
        )


def select(values, width, target, rows, missing=NONE):
    """Both order statistics, after a check that points between them are the same points."""
    lower, upper = np.full((2, len(values) - width + 1), np.nan)
    targets = np.broadcast_to(target, lower.shape).copy()
    done = run(values, width, targets, rows, missing, 0.0, False, lower, upper)
    if not np.ndim(target) and len(missing) == 0:
        for fraction, middle in ((0.0, False), (0.25, False), (0.5, True)):
            points = np.full(len(lower), np.nan)
            found = run(values, width, target, rows, missing, fraction, middle, points, points[:0])
            expected = lower[:found].copy()
            if fraction > 0:
                interpolate_constant(lower[:found], upper[:found], fraction, middle, expected)
            assert found >= done
            np.testing.assert_array_equal(points[:done], expected[:done])
    return done, lower, upper


@pytest.mark.parametrize("name", ["noise", "shifts", "trend", "bursts", "outliers"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.97])
def test_drifting_and_jumping_series(name, share):
    rng = np.random.default_rng(1)
    values = rng.standard_normal(6000)
    i = np.arange(6000)
    values = {
        "noise": values,
        "shifts": values + 10 * (i // 1100 % 3),
        "trend": values + i / 200,
        "bursts": np.where(i // 700 % 3 == 2, 30 * values, values),
        "outliers": np.where(rng.random(6000) < 0.01, 1e6 * values, values),
    }[name]
    width = 50
    target = int(share * (width - 1))
    done, lower, upper = select(values, width, target, 300)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    assert done == len(lower)
    np.testing.assert_array_equal(lower, expected[:, target])
    np.testing.assert_array_equal(upper, expected[:, target + 1])


def test_it_stops_before_a_block_that_it_cannot_sort():
    values = np.random.default_rng(2).standard_normal(2000)
    values[1500] = np.inf
    done, lower, _ = select(values, 20, 9, 200)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, 20), axis=1)
    assert 1000 <= done <= 1500
    np.testing.assert_array_equal(lower[:done], expected[:done, 9])


@pytest.mark.parametrize("name", ["noise", "walk", "jumps", "sine"])
def test_sampled_bands(name):
    rng = np.random.default_rng(3)
    i = np.arange(40_000)
    values = rng.standard_normal(40_000)
    values = {
        "noise": values,
        "walk": values.cumsum(),
        "jumps": values + 5 * (i // 9000 % 2),
        "sine": np.sin(i / 300),
    }[name]
    width, rows = 4500, 9000
    targets = np.where(i[width - 1 :] % 7 > 0, 2000 + i[width - 1 :] % 90, -1)
    for target in (2249, targets):
        done, lower, upper = select(values, width, target, rows)
        assert done == len(lower)
        for row in range(0, len(lower), 997):
            window = np.sort(values[row : row + width])
            rank = target if np.ndim(target) == 0 else target[row]
            if rank >= 0:
                assert (lower[row], upper[row]) == (window[rank], window[rank + 1])


def test_a_first_block_of_missing_values():
    values, width = np.random.default_rng(4).standard_normal(15_000), 4500
    missing = np.arange(15_000) < 6000
    targets = np.where(np.arange(15_000 - width + 1) + width > 6000, 0, -1)
    done, lower, _ = select(values, width, targets, 9000, missing=missing)
    assert done == len(lower)
    for row in (1501, 3000, 6000, 10_500):
        assert lower[row] == values[max(row, 6000) : row + width].min()


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
