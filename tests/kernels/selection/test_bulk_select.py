"""Selection block by block: what is done is right, whatever the bands are."""

import numpy as np
import pytest

from rollstat.kernels.selection.bulk_select import allocate, select_fixed
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.value_band import allocate_sample

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


def select(values, width, target, rows, want_upper=True, missing=NONE):
    """Both order statistics, after a check that points between them are the same points."""
    lower, upper = np.full((2, len(values) - width + 1), np.nan)
    done = run(values, width, target, rows, missing, None, False, lower, upper if want_upper else upper[:0])
    if not np.ndim(target) and len(missing) == 0:
        for fraction, middle in ((0.0, False), (0.25, False), (0.5, True)):
            if fraction > 0 and not want_upper:
                continue
            points = np.full(len(lower), np.nan)
            found = run(values, width, target, rows, missing, fraction, middle, points, None)
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
