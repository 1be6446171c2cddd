"""Sums over fixed windows: exact or within the stated bound, without effect of values that have left."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rollstat.blocks import UNKNOWN, Block
from rollstat.kernels.sums.fixed_windows import GROUP
from rollstat.kernels.sums.short_windows import BLOCK
from rollstat.operators import Covariance, Mean, Sum, Variance
from rollstat.statistics.sums.window_sums import evaluate, grid, observations

UNIT = 2.0**-53
WIDTHS = [
    *range(1, 36),
    63,
    64,
    65,
    100,
    127,
    135,
    8 * GROUP + 7,
    8 * GROUP * 3,
    1000,
    8 * BLOCK + 8 * GROUP + 3,
]


PLAIN = Sum()


def window_sums(values, width, summand=PLAIN):
    block = Block.regular(values, UNKNOWN, width)
    out = np.empty((1, block.rows))
    evaluate(block, summand, out, observations(block))
    assert block.missing is None
    return out[0]


def exact_sums(values, width):
    total = np.concatenate(([0.0], np.cumsum(values)))
    return total[width:] - total[:-width]


@pytest.mark.parametrize("width", WIDTHS)
def test_integers_are_summed_exactly(width, rng):
    for length in (
        width,
        width + 1,
        width + 8,
        width + 9,
        2 * width + 5,
        8 * width + 3,
        width + 8 * BLOCK + 17,
    ):
        values = rng.integers(-1000, 1000, length).astype(np.float64)
        assert np.array_equal(window_sums(values, width), exact_sums(values, width))


@pytest.mark.parametrize("width", [1, 2, 7, 8, 31, 32, 100, 1000, 30_000])
def test_error_of_sums_of_non_negatives(width, rng):
    length = 2 * width + 300
    bound = (4.0 if width < 8 else 22.0) * UNIT
    assert bound <= max(4 * 2 * UNIT * math.log2(width), 4 * UNIT)
    for values in (np.full(length, 0.1), rng.random(length), np.exp(5 * rng.standard_normal(length))):
        out = window_sums(values, width)
        rows = np.unique(np.concatenate((rng.integers(0, len(out), 20), [0, len(out) - 1])))
        for i in rows:
            exact = math.fsum(values[i : i + width])
            assert abs(out[i] - exact) <= (bound + UNIT) * exact


@pytest.mark.parametrize("width", [5, 12, 40, 150, 3000])
@pytest.mark.parametrize("huge", [1e16, 1e300, np.inf, -np.inf])
def test_values_that_left_have_no_effect(width, huge, rng):
    values = rng.integers(-1000, 1000, 4 * width + 100).astype(np.float64)
    plain = window_sums(values, width)
    spoilt = values.copy()
    at = [0, width + 3, 2 * width + 50]
    spoilt[at] = huge
    touched = np.zeros(len(plain), bool)
    for i in at:
        touched[max(0, i - width + 1) : i + 1] = True
    out = window_sums(spoilt, width)
    assert np.array_equal(out[~touched], plain[~touched])
    if np.isinf(huge):
        assert np.all(out[touched] == huge)
    variance = window_sums(spoilt, width, Variance(1))
    assert np.allclose(variance[~touched], window_sums(values, width, Variance(1))[~touched], rtol=1e-13)
    if np.isinf(huge):
        assert np.isnan(variance[touched]).all()


def test_both_infinities_give_nan():
    values = np.zeros(200)
    values[50], values[60] = np.inf, -np.inf
    out = window_sums(values, 40)
    assert out[:11].tolist() == [0.0] * 11
    assert out[11:21].tolist() == [np.inf] * 10
    assert np.isnan(out[21:51]).all()
    assert out[51:61].tolist() == [-np.inf] * 10
    assert not out[61:].any()


@pytest.mark.parametrize("width", [3, 20, 33, 100, 8 * GROUP * 2 + 5, 2000])
@pytest.mark.parametrize("summand", [Sum(), Variance(1)])
def test_bits_do_not_depend_on_the_blocks(width, summand, rng):
    values = rng.standard_normal(9 * width + 2000)
    whole = window_sums(values, width, summand)
    for step in (grid(width), 3 * grid(width)):
        parts = [
            window_sums(values[i : i + step + width - 1], width, summand) for i in range(0, len(whole), step)
        ]
        assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("width", [3, 8])
def test_short_windows_depend_on_their_values_alone(width, rng):
    window = rng.standard_normal(width)
    values = rng.standard_normal(500)
    for i in (0, 1, 77, 500 - width):
        values[i : i + width] = window
        for summand in (Sum(), Variance(0)):
            assert window_sums(values, width, summand)[i] == window_sums(window, width, summand)[0]


@pytest.mark.parametrize("width", [1, 6, 15, 16, 40, 300])
def test_a_missing_value_is_found_in_any_row(width, rng):
    values = rng.integers(-9, 9, 3 * width + 20).astype(np.float64)
    for i in {0, 1, width - 1, width, len(values) // 2, len(values) - 2, len(values) - 1}:
        gap = values.copy()
        gap[i] = np.nan
        block = Block.regular(gap, UNKNOWN, width)
        out = np.empty((1, block.rows))
        for summand in (Variance(1), Mean(), Sum()):
            assert not evaluate(block, summand, out, observations(block)).complete
        assert not evaluate(block, Sum(), out, observations(block)).complete
        assert not block.searched
        gap[i] = 0.0
        assert np.array_equal(out[0], exact_sums(gap, width))


def test_overflow_stays_in_its_windows():
    values = np.ones(600)
    values[100:103] = 1e308
    for width in (40, 200):
        out = window_sums(values, width)
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        assert np.array_equal(np.isinf(out), (windows > 1).sum(1) >= 2)
        assert out[-1] == width
        assert not np.isnan(out).any()


@pytest.mark.slow
def test_no_growth_with_position():
    length, width = 10_000_000, 100_000
    noise = np.random.default_rng(5).integers(0, 1 << 20, length)
    values = 1e9 + noise / 2.0**20
    block = Block.regular(values, None, width)
    out = np.empty((1, block.rows))
    evaluate(block, Sum(), out, observations(block))
    rows = (0, 12_345, length // 2, length - width - 1, length - width)
    for i in rows:
        exact = 10**9 * width + Fraction(int(noise[i : i + width].sum()), 1 << 20)
        assert abs(Fraction(float(out[0, i])) - exact) <= 22 * Fraction(UNIT) * exact
    evaluate(block, Variance(1), out, observations(block))
    for i in rows:
        window = noise[i : i + width].tolist()
        total, squares = sum(window), sum(x * x for x in window)
        exact = Fraction(width * squares - total * total, width * (width - 1) << 40)
        assert abs(Fraction(float(out[0, i])) - exact) <= Fraction(1, 10**12) * exact


@pytest.mark.parametrize("width", [3, 15, 16, 20, 40, 131, 8 * GROUP * 2 + 5])
@pytest.mark.parametrize("huge", [1e16, 1e100, np.inf])
def test_values_that_left_have_no_effect_among_missing_values(width, huge, rng):
    values = rng.standard_normal(6 * width + 100)
    gaps = values.copy()
    step = grid(width)
    for border in range(step, len(values), step):
        gaps[border - rng.integers(0, min(step, 6)) : border + rng.integers(0, 3)] = np.nan
    spoilt = gaps.copy()
    # The last observation before a border is the shift of the windows that hold it; others must not see it.
    at = step - 1
    while np.isnan(gaps[at]):
        at -= 1
    spoilt[at] = huge
    windows = np.lib.stride_tricks.sliding_window_view(gaps, width)
    enough = (~np.isnan(windows)).sum(1) >= 2
    touched = np.zeros(len(windows), bool)
    touched[max(0, at - width + 1) : at + 1] = True
    out = np.empty((2, 1, len(windows)))
    for series, result in zip((gaps, spoilt), out):
        evaluate(Block.regular(series, UNKNOWN, width), Variance(1), result, series)
    expected = np.nanvar(windows[enough], axis=1, ddof=1)
    np.testing.assert_allclose(out[0, 0, enough], expected, rtol=1e-12)
    kept = enough & ~touched
    np.testing.assert_allclose(out[1, 0, kept], out[0, 0, kept], rtol=1e-13)
    if np.isinf(huge):
        assert np.isnan(out[1, 0, enough & touched]).all()


@pytest.mark.parametrize("width", [16, 23, 40, 300])
@pytest.mark.parametrize("gap", [1, 3, GROUP, GROUP + 1, 2 * GROUP])
def test_windows_that_start_between_the_last_observation_and_the_border(width, gap, rng):
    values = rng.standard_normal(7 * width + 50)
    step = grid(width)
    last = np.maximum(np.arange(step, len(values), step) - gap - 1, 0)
    for border in range(step, len(values), step):
        values[max(border - gap, border - step + 1) : border] = np.nan
    values[border] = np.nan
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    seen = ~np.isnan(windows).all(axis=1)
    out = np.empty((1, len(windows)))
    evaluate(Block.regular(values, UNKNOWN, width), Variance(0), out, values)
    np.testing.assert_allclose(out[0, seen], np.nanvar(windows[seen], axis=1), rtol=1e-12, atol=1e-30)
    values[last] = 1e150  # no window that starts behind it may know
    evaluate(Block.regular(values, UNKNOWN, width), Variance(0), out, values)
    seen &= ~(windows == 1e150).any(axis=1)
    np.testing.assert_allclose(out[0, seen], np.nanvar(windows[seen], axis=1), rtol=1e-12, atol=1e-30)


@pytest.mark.parametrize("length", [64, 65, 127, 128, 300, 2000])
@pytest.mark.parametrize("first", [1, 3, 100])
def test_expanding_windows(length, first, rng):
    x, y = rng.standard_normal((2, length + first))
    x[rng.random(len(x)) < 0.2] = np.nan
    x[: rng.integers(0, 40)] = np.nan
    y[5:9] = np.nan
    end = np.arange(first, first + length)
    for others, summand in (((), Sum()), ((), Variance(1)), ((y,), Covariance(1))):
        block = Block(x, UNKNOWN, np.zeros_like(end), end, 0, others)
        out = np.empty((1, length))
        evaluate(block, summand, out, x, *others)
        for i in {0, 1, 15, 63, length // 2, length - 1}:
            known = ~np.isnan(x[: end[i]] + (y[: end[i]] if others else 0.0))
            a, b = x[: end[i]][known], y[: end[i]][known]
            if len(a) > 1:
                exact = [np.sum(a), np.var(a, ddof=1)] if not others else [np.cov(a, b)[0, 1]]
                wanted = exact[-1] if others or isinstance(summand, Variance) else exact[0]
                assert out[0, i] == pytest.approx(wanted, rel=1e-11, abs=1e-13)
            elif isinstance(summand, Sum):
                assert out[0, i] == np.sum(a)


@pytest.mark.parametrize("width", [8, 16, 40, 200])
def test_long_runs_of_missing_values(width, rng):
    values = rng.standard_normal(9 * width)
    values[width : 4 * width] = np.nan
    block = Block.regular(values, UNKNOWN, width)
    out = np.empty((1, block.rows))
    evaluate(block, Variance(0), out, values)
    seen = block.count > 0
    assert not seen.all()
    windows = np.lib.stride_tricks.sliding_window_view(values, width)[seen]
    np.testing.assert_allclose(out[0, seen], np.nanvar(windows, axis=1), rtol=1e-12, atol=1e-30)
