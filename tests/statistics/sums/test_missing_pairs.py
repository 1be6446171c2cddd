"""Statistics of two series among missing values: exact, and NaN in the insufficient rows."""

import numpy as np
import pytest

import rollstat
from rollstat.kernels.sums.fixed_windows import GROUP
from rollstat.kernels.sums.short_windows import BLOCK


def pair_with_gaps(length, missing, rng):
    """Two series of small whole numbers; either, both or none may be missing in a row."""
    values, other = rng.integers(-1000, 1000, (2, length)).astype(np.float64)
    values[rng.random(length) < missing] = np.nan
    other[rng.random(length) < missing] = np.nan
    return values, other


def exact_pairs(values, other, window):
    """Observations of each row's window, and exactly n² times its covariance and both variances."""
    lacking = np.isnan(values) | np.isnan(other)
    front = np.full(window - 1, np.nan)
    x, y = (np.concatenate((front, np.where(lacking, np.nan, series))) for series in (values, other))
    x, y = (np.lib.stride_tricks.sliding_window_view(series, window) for series in (x, y))
    count, total_x, total_y = (~np.isnan(x)).sum(axis=1), np.nansum(x, axis=1), np.nansum(y, axis=1)
    products = [np.nansum(one * two, axis=1) for one, two in ((x, y), (x, x), (y, y))]
    totals = [total_x * total_y, total_x * total_x, total_y * total_y]
    return count, *(count * product - total for product, total in zip(products, totals))


def check_pairs(values, other, window, least, marked=None):
    """Compare every statistic of two series with exact sums, NaN in exactly the rows with too few pairs."""
    count, shared, own, others = exact_pairs(values, other, window)
    with np.errstate(all="ignore"):
        expected = {
            "cov": (rollstat.rolling_cov, 2, shared / (count * (count - 1.0))),
            "corr": (rollstat.rolling_corr, 1, shared / np.sqrt(own * others)),
            "beta": (rollstat.rolling_beta, 2, shared / others),
            "fit": (lambda x, y, *a, **k: rollstat.rolling_linear_fit(x, *a, y, **k)[0], 2, shared / others),
        }
    for function, required, wanted in expected.values():
        result = function(values, other, window, min_periods=least)
        enough = count >= max(least, required)
        if marked is not None:
            assert np.array_equal(enough, marked)
        assert np.isnan(result[~enough]).all()
        np.testing.assert_allclose(result[enough], wanted[enough], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("window", [2, 5, 15, 16, 31, 37, 136, 300])
@pytest.mark.parametrize("missing", [0.02, 0.1, 0.6, 1.0])
def test_insufficient_rows(window, missing, rng):
    values, other = pair_with_gaps(2300, missing, rng)
    for least in sorted({0, 1, 3, window // 2, window - 1, window}):
        if least <= window:
            check_pairs(values, other, window, least)


@pytest.mark.parametrize("window", [3, 15, 16, 40, 300])
@pytest.mark.parametrize("lacks", ["values", "other", "both"])
def test_one_missing_pair_at_every_edge(window, lacks, rng):
    step = 8 * max(window // 8, 1)
    plain = pair_with_gaps(2200, 0.0, rng)
    chunk = 8 * (BLOCK - 4)
    edges = {0, 7, 8, chunk - 1, chunk, 8 * GROUP - 1, 8 * GROUP, step - 1, step, step + window - 1}
    for edge in sorted({*edges, 2200 - window, 2199}):
        values, other = (series.copy() for series in plain)
        if lacks != "other":
            values[edge] = np.nan
        if lacks != "values":
            other[edge] = np.nan
        rows = np.arange(2200)
        touched = (rows >= edge) & (rows < edge + window)
        check_pairs(values, other, window, window, ~touched & (rows >= window - 1))
        check_pairs(values, other, window, window - 1)


@pytest.mark.parametrize("window", [5, 16, 40, 300])
def test_rows_missing_in_one_series_have_no_effect(window, rng):
    values, other = pair_with_gaps(2000, 0.1, rng)
    other[700 : 720 + window] = np.nan  # no pair at all, and none before the border of a block
    lacking = np.isnan(values) | np.isnan(other)
    blank = [np.where(lacking, np.nan, series) for series in (values, other)]
    for huge in (np.inf, -np.inf, 1e300):
        spoilt = [np.where(lacking & ~np.isnan(series), huge, series) for series in (values, other)]
        for function in (rollstat.rolling_cov, rollstat.rolling_corr, rollstat.rolling_beta):
            for least in (2, window // 2):
                np.testing.assert_array_equal(
                    function(*spoilt, window, min_periods=least), function(*blank, window, min_periods=least)
                )
            grown = [function(*series, rollstat.Expanding()) for series in (spoilt, blank)]
            np.testing.assert_array_equal(*grown)


@pytest.mark.parametrize("window", [4, 16, 40, 300])
def test_infinite_pairs_affect_their_own_windows_only(window, rng):
    values, other = pair_with_gaps(1500, 0.1, rng)
    at = 777
    values[at - 1 : at + 2] = np.nan, np.inf, 1.0
    other[at - 1 : at + 2] = 1.0, 2.0, np.nan
    rows = np.arange(1500)
    touched = (rows >= at) & (rows < at + window)
    without = np.where(np.isinf(values), np.nan, values)
    for function in (rollstat.rolling_cov, rollstat.rolling_corr, rollstat.rolling_beta):
        result = function(values, other, window, min_periods=2)
        plain = function(without, other, window, min_periods=2)
        np.testing.assert_allclose(result[~touched], plain[~touched], rtol=1e-10, atol=1e-11)
        assert not np.isfinite(result[touched]).any()


@pytest.mark.parametrize("window", [5, 20, 300])
@pytest.mark.parametrize("function", [rollstat.rolling_cov, rollstat.rolling_corr, rollstat.rolling_beta])
def test_other_fill_values_mark_the_same_rows(function, window, rng):
    values, other = pair_with_gaps(1500, 0.15, rng)
    count = exact_pairs(values, other, window)[0]
    for least in (3, window // 2 + 1):
        plain = function(values, other, window, min_periods=least)
        filled = function(values, other, window, min_periods=least, fill_value=-7.0)
        np.testing.assert_array_equal(filled, np.where(count < least, -7.0, plain))
        hidden = np.ma.MaskedArray(np.nan_to_num(values, nan=5.0), np.isnan(values))
        masked = function(hidden, other, window, min_periods=least)
        assert np.array_equal(masked.mask, count < least)
        np.testing.assert_array_equal(masked.compressed(), plain[count >= least])
        passed_on = function(values, other, window, min_periods=least, nan_policy="propagate")
        gaps = np.minimum(np.arange(1, 1501), window) - count
        np.testing.assert_array_equal(passed_on, np.where(gaps > 0, np.nan, plain))
        narrow = function(values.astype(np.float32), other.astype(np.float32), window, min_periods=least)
        np.testing.assert_array_equal(narrow, plain.astype(np.float32))
        with pytest.raises(ValueError, match="nan_policy"):
            function(values, other, window, min_periods=least, nan_policy="raise")


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("window", [2, 7, 40, 300, rollstat.Expanding()])
def test_lines_over_the_rows_of_each_window(window, missing, rng):
    values = pair_with_gaps(900, missing, rng)[0]
    rows = np.arange(900.0)
    for least in (2, 5):
        if window == 2 and least > 2:
            continue
        slope, height, explained = rollstat.rolling_linear_fit(values, window, min_periods=least)
        over = rollstat.rolling_linear_fit(values, window, rows, min_periods=least)
        np.testing.assert_array_equal(slope, over[0])
        np.testing.assert_array_equal(explained, over[2])
        first = np.zeros(900) if isinstance(window, rollstat.Expanding) else np.maximum(rows - window + 1, 0)
        np.testing.assert_allclose(height, over[1] + slope * first, rtol=1e-8, atol=1e-6)
