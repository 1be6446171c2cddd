"""Equal windows over codes against sorted windows, within a band and beyond it."""

import numpy as np
import pytest

from rollstat.kernels.selection.band_codes import (
    FIRST,
    GUARDS,
    allocate_index,
    classify,
    keep_ranks,
    place,
)
from rollstat.kernels.selection.bitset_fixed import Wanted, begin, slide_fixed

NO_TARGETS, NO_BREAKS, NO_MASK = np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.bool_)


def codes_of(values, low, high):
    """Index of a band of the values from `low` to `high`, and their number; NaN is missing."""
    inside = np.flatnonzero((values >= low) & (values <= high))
    index = allocate_index(len(values))
    index.bits[:] = 2**64 - 1
    classify(values, NO_MASK, low, len(inside), index.code)
    records = inside[np.argsort(values[inside], kind="stable")].astype(np.uint64)
    place(records, 32, values, index)
    assert np.all(index.code < 64 * len(index.bits))
    return index, len(inside)


def slide(values, width, target, low, high, want_upper=True, budget=None):
    """Answers with a band of the values from `low` to `high`: done rows, range of codes, lower, upper."""
    index, ranks = codes_of(values, low, high)
    code = index.code
    below = begin(code[:width], index.bits, ranks)
    rows = len(values) - width + 1
    lower, upper = np.full((2, rows), np.nan)
    with np.errstate(over="ignore"):
        found = slide_fixed(
            code[: rows - 1],
            code[width:],
            width,
            Wanted(target, NO_TARGETS, NO_BREAKS),
            index,
            below,
            ranks,
            want_upper and bool(np.any(values > high)),
            len(values) if budget is None else budget,
            lower.view(np.uint64),
            (upper if want_upper else lower).view(np.uint64),
        )
    return *found, lower, upper


def sorted_windows(values, width):
    return np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)


def series(name, n):
    rng = np.random.default_rng(n)
    return {
        "noise": lambda: rng.standard_normal(n),
        "walk": lambda: rng.standard_normal(n).cumsum(),
        "five": lambda: rng.integers(0, 5, n).astype(float),
        "constant": lambda: np.zeros(n),
        "alternating": lambda: np.arange(n) % 2.0,
        "ascending": lambda: np.arange(n) * 1.0,
        "descending": lambda: np.arange(n) * -1.0,
        "saw": lambda: np.arange(n) % 37.0,
        "jump": lambda: np.where(np.arange(n) < n // 2, 0.0, 9.0) + rng.random(n),
    }[name]()


NAMES = ["noise", "walk", "five", "constant", "alternating", "ascending", "descending", "saw", "jump"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1, 2, 9, 64, 150])
def test_every_value_in_the_band(name, width):
    values = series(name, 700)
    expected = sorted_windows(values, width)
    for target in {0, width // 20, (width - 1) // 2, width - 1}:
        for want_upper in {False, target + 1 < width}:
            done, low, high, lower, upper = slide(values, width, target, -np.inf, np.inf, want_upper, 10**6)
            assert done == len(expected)
            assert FIRST <= low <= high < FIRST + len(values)
            np.testing.assert_array_equal(lower, expected[:, target])
            if want_upper:
                np.testing.assert_array_equal(upper, expected[:, target + 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("want_upper", [False, True])
def test_rows_done_within_a_band_are_right(name, want_upper):
    values = series(name, 900)
    width, target = 40, 13
    expected = sorted_windows(values, width)
    for low, high in np.quantile(values, [[0.2, 0.45], [0.3, 0.36], [0.0, 0.2], [0.1, 0.9], [0.95, 1.0]]):
        done, _, _, lower, upper = slide(values, width, target, low, high, want_upper)
        np.testing.assert_array_equal(lower[:done], expected[:done, target])
        if want_upper:
            np.testing.assert_array_equal(upper[:done], expected[:done, target + 1])
        inside = (expected[:, target] >= low) & (expected[:, target + want_upper] <= high)
        if inside.all():
            assert done == len(inside)
        else:
            # Nothing is done from the first wrong row on, nor undone before the check that precedes it.
            assert inside.argmin() - GUARDS < done <= inside.argmin()


@pytest.mark.parametrize("name", ["walk", "hills", "steps"])
@pytest.mark.parametrize("target", [3, 30, 299, 300, 597])
def test_long_ways_over_the_ranks(name, target):
    # The cursor moves over far more than 64 ranks one way, then back; some rows between change nothing.
    n, width = 9_000, 600
    hills = np.abs(np.arange(n) % 1_800 - 900.0) + np.sin(np.arange(n))
    values = {
        "walk": lambda: series("walk", n),
        "hills": lambda: hills,
        "steps": lambda: np.round(hills / 40) + series("noise", n) * 1e-3,
    }[name]()
    expected = sorted_windows(values, width)
    done, *_, lower, upper = slide(values, width, target, -np.inf, np.inf, budget=10**6)
    assert done == len(expected)
    np.testing.assert_array_equal(lower, expected[:, target])
    np.testing.assert_array_equal(upper, expected[:, target + 1])


def test_a_wide_gap_beside_the_answers_is_passed_without_search():
    # Odd windows over alternating values change sides every row, over a gap of half a window.
    values = series("alternating", 40_000)
    done, *_, lower, _ = slide(values, 20_001, 10_000, 0.0, 1.0, budget=100)
    assert done == 20_000
    np.testing.assert_array_equal(lower, np.arange(done) % 2)


def test_a_search_past_the_budget_stops():
    # Sides change every other row: the way back over the gap is looked for anew.
    values = np.arange(40_000) // 2 % 2.0
    done, *_ = slide(values, 20_001, 10_000, 0.0, 1.0, budget=1000)
    assert 0 < done < 1000


def test_first_windows_outside_the_band():
    values = series("ascending", 100)
    assert slide(values, 10, 5, 50.0, 60.0)[0] == 0
    assert slide(values[::-1].copy(), 10, 5, 50.0, 60.0)[0] == 0
    assert slide(values, 10, 5, 0.0, 5.0)[0] == 0
    assert slide(values, 10, 5, 0.0, 5.0, want_upper=False)[0] == 1


def ranks_by_row(name, count, rng):
    """Ranks wanted of windows of so many observations."""
    quantile = np.floor(0.4 * (count - 1)).astype(np.int64)
    return {
        "quantile": np.where(count >= 10, quantile, -1),
        "smallest": np.where(count > 22, 22, -1),
        "largest": np.where(count >= 22, count - 22, -1),
        "few": np.where(count >= 25, quantile, -1),
        "any": rng.integers(-1, np.maximum(count, 1)),
    }[name]


@pytest.mark.parametrize("wanted", ["quantile", "smallest", "largest", "few", "any"])
@pytest.mark.parametrize("name", ["noise", "walk", "five", "ascending"])
def test_ranks_that_change_with_missing_values(wanted, name):
    width, rng = 41, np.random.default_rng(6)
    values = series(name, 900)
    values[rng.random(900) < 0.4] = np.nan
    values[300:390] = np.nan
    values[500:530] = np.nan
    rows = len(values) - width + 1
    expected = sorted_windows(values, width)  # NaN last
    count = (expected == expected).sum(axis=1)
    targets = ranks_by_row(wanted, count, rng)
    place_of = np.maximum(targets, 0)[:, None]
    least = np.take_along_axis(expected, place_of, axis=1)[:, 0]
    following = np.take_along_axis(expected, np.minimum(place_of + 1, width - 1), axis=1)[:, 0]
    leaving, entering, breaks = np.zeros((3, rows - 1), np.uint32)
    few = 0
    for low, high in ((-np.inf, np.inf), *np.nanquantile(values, [[0.1, 0.9], [0.3, 0.5]])):
        index, ranks = codes_of(values, low, high)
        found = keep_ranks(targets, ranks, index.code, leaving, entering, breaks)
        assert found == np.count_nonzero(breaks)
        few = found if wanted == "quantile" else few
        below = begin(index.code[:width], index.bits, ranks)
        lower, upper = np.full((2, rows), np.nan)
        ranked = Wanted(0, targets, breaks), index, below, ranks, high < np.inf, 10**6
        done, *_ = slide_fixed(leaving, entering, 0, *ranked, lower.view(np.uint64), upper.view(np.uint64))
        inside = (targets < 0) | ((least >= low) & (least <= high))
        if high < np.inf:
            inside &= (targets < 0) | (following <= high)
        assert done == (rows if inside.all() else inside.argmin())
        right = np.flatnonzero(targets[:done] >= 0)
        np.testing.assert_array_equal(lower[right], least[right])
        right = right[targets[right] + 1 < count[right]]
        np.testing.assert_array_equal(upper[right], following[right])
    # Only where rows begin or cease to have enough observations must the rank be searched for.
    assert few <= 8
