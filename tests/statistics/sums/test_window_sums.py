"""Sums among missing values: exact, and NaN in exactly the insufficient rows."""

from fractions import Fraction

import numpy as np
import pytest

import rollstat
from rollstat.blocks import UNKNOWN, Block
from rollstat.kernels.sums.fixed_windows import GROUP
from rollstat.kernels.sums.short_windows import BLOCK
from rollstat.operators import Sum, Variance
from rollstat.statistics.sums.window_sums import evaluate, observations

# Ends of chunks of narrow windows, of rows and of groups.
EDGES = [0, 7, 8, 8 * (BLOCK - 4) - 1, 8 * (BLOCK - 4), 8 * GROUP - 1, 8 * GROUP]


def whole_numbers(length, missing, rng):
    values = rng.integers(-1000, 1000, length).astype(np.float64)
    values[rng.random(length) < missing] = np.nan
    return values


def trailing(values, window):
    """Return the values of the window of each row, NaN before the first row."""
    padded = np.concatenate((np.full(window - 1, np.nan), values))
    return np.lib.stride_tricks.sliding_window_view(padded, window)


@pytest.mark.parametrize("window", [1, 2, 5, 8, 15, 16, 31, 32, 37, 136, 300])
@pytest.mark.parametrize("missing", [0.02, 0.1, 0.6, 1.0])
def test_insufficient_rows(window, missing, rng):
    values = whole_numbers(2300, missing, rng)
    seen = trailing(values, window)
    count = (~np.isnan(seen)).sum(axis=1)
    sums = np.nansum(seen, axis=1)
    squares = np.nansum(seen * seen, axis=1)
    central = squares * count - sums * sums  # exact: whole numbers below 2**53
    with np.errstate(all="ignore"):
        expected = {
            rollstat.rolling_sum: (0, sums),
            rollstat.rolling_mean: (1, sums / count),
            rollstat.rolling_var: (2, central / (count * (count - 1.0))),
        }
    for least in sorted({0, 1, min(2, window), window // 2, window - 1, window}):
        for function, (required, wanted) in expected.items():
            result = function(values, window, min_periods=least)
            enough = count >= max(least, required)
            assert np.array_equal(np.isnan(result), ~enough)
            np.testing.assert_allclose(result[enough], wanted[enough], rtol=1e-13, atol=1e-7 * (required > 1))
            if required < 2:
                np.testing.assert_array_equal(result[enough], wanted[enough])


@pytest.mark.parametrize("window", [5, 12, 20, 40, 300])
@pytest.mark.parametrize("function", [rollstat.rolling_sum, rollstat.rolling_std, rollstat.rolling_kurt])
def test_other_fill_values_mark_the_same_rows(function, window, rng):
    values = whole_numbers(1500, 0.2, rng)
    count = (~np.isnan(trailing(values, window))).sum(axis=1)
    for least in (4, window // 2 + 3):
        least = min(least, window)
        plain = function(values, window, min_periods=least)
        filled = function(values, window, min_periods=least, fill_value=-7.0)
        assert np.array_equal(np.isnan(plain), count < max(least, 4 * (function is rollstat.rolling_kurt)))
        np.testing.assert_array_equal(filled, np.where(np.isnan(plain), -7.0, plain))
        masked = function(np.ma.masked_invalid(values), window, min_periods=least)
        assert np.array_equal(masked.mask, np.isnan(plain))
        np.testing.assert_array_equal(masked.compressed(), plain[~np.isnan(plain)])
        passed_on = function(values, window, min_periods=least, nan_policy="propagate")
        # Rows whose windows the beginning cuts off miss no value.
        gaps = np.minimum(np.arange(1, len(values) + 1), window) - count
        np.testing.assert_array_equal(passed_on, np.where(gaps > 0, np.nan, plain))
        narrow = function(values.astype(np.float32), window, min_periods=least)
        np.testing.assert_array_equal(narrow, plain.astype(np.float32))


@pytest.mark.parametrize("window", [3, 15, 16, 31, 32, 100, 300])
def test_one_missing_value_at_every_edge(window, rng):
    values = whole_numbers(2200, 0.0, rng)
    step = 8 * max(window // 8, 1)
    for edge in {*EDGES, step - 1, step, step + window - 1, len(values) - window, len(values) - 1}:
        gap = values.copy()
        gap[edge] = np.nan
        sums = np.nansum(trailing(gap, window), axis=1)
        touched = np.isnan(trailing(gap, window)).any(axis=1)
        for least in (window, max(window - 1, 0)):
            result = rollstat.rolling_sum(gap, window, min_periods=least)
            lacking = touched if least == window else np.isnan(trailing(gap, window)).sum(axis=1) > 1
            np.testing.assert_array_equal(result, np.where(lacking, np.nan, sums))


@pytest.mark.parametrize("window", [4, 16, 40, 300])
@pytest.mark.parametrize("huge", [np.inf, -np.inf, 1e16])
def test_huge_values_beside_missing_ones(window, huge, rng):
    values = whole_numbers(1500, 0.1, rng)
    at = 777
    values[at - 1 : at + 2] = np.nan, huge, np.nan
    seen = trailing(values, window)
    touched = (seen == huge).any(axis=1)
    count = (~np.isnan(seen)).sum(axis=1)
    sums = np.nansum(seen, axis=1)
    result = rollstat.rolling_sum(values, window, min_periods=1)
    np.testing.assert_array_equal(result[~touched], np.where(count > 0, sums, np.nan)[~touched])
    if np.isinf(huge):
        assert (result[touched] == huge).all()
    for function in (rollstat.rolling_var, rollstat.rolling_sem):
        spoilt = function(values, window, min_periods=2)
        plain = function(np.where(values == huge, np.nan, values), window, min_periods=2)
        np.testing.assert_allclose(spoilt[~touched], plain[~touched], rtol=1e-13)
        assert np.isfinite(spoilt[~touched & (count >= 2)]).all()


@pytest.mark.parametrize("window", [7, 24, 60, 700])
def test_error_among_missing_values(window, rng):
    values = 1e9 + rng.standard_normal(3000)
    values[rng.random(3000) < 0.1] = np.nan
    mean = rollstat.rolling_mean(values, window, min_periods=2)
    variance = rollstat.rolling_var(values, window, min_periods=2)
    unit = Fraction(1, 1 << 53)
    for i in (5, window - 2, window, 1500, 2999):
        kept = [Fraction(x) for x in values[max(i - window + 1, 0) : i + 1] if x == x]
        exact = sum(kept) / len(kept)
        assert abs(Fraction(mean[i]) - exact) <= 24 * unit * exact
        central = sum((x - exact) ** 2 for x in kept) / (len(kept) - 1)
        factor = 1 + max((x - exact) ** 2 for x in kept) / central
        assert abs(Fraction(variance[i]) - central) <= 80 * unit * factor * central


@pytest.mark.parametrize("summand", [Sum(), Variance(1)])
@pytest.mark.parametrize("reach", [1, 9, 200])
def test_expanding_windows_need_no_bounds(summand, reach, rng):
    values = whole_numbers(reach + 400, 0.3, rng)
    rows = 400
    end = np.arange(reach, reach + rows)
    results = []
    for block in (
        Block(values[:-1], UNKNOWN, None, None, reach=reach, nan_below=30),
        Block(values, UNKNOWN, np.zeros_like(end), end, nan_below=30),
    ):
        assert np.array_equal(block.end, end)
        assert not block.start.any()
        out = np.empty((1, rows))
        assert evaluate(block, summand, out, observations(block)).marked
        assert np.array_equal(np.isnan(out[0]), block.count < 30)
        results.append(out)
    assert np.array_equal(*results, equal_nan=True)


@pytest.mark.parametrize(("length", "window"), [(64, 16), (128, 32)])
def test_a_last_block_without_rows(length, window):
    # With bounds checks, that no shift is looked for behind the data.
    values = np.arange(float(length))
    values[3] = np.nan
    wanted = [np.nanvar(values[max(i - window + 1, 0) : i + 1]) for i in range(length)]
    np.testing.assert_allclose(rollstat.rolling_var(values, window, 0, min_periods=1), wanted, rtol=1e-12)
