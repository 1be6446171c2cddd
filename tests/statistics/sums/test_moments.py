"""Moments: against pandas where it is accurate, against exact references on ill-conditioned data."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat import operators
from rollstat.blocks import UNKNOWN, Block
from rollstat.statistics.sums.window_sums import block_rows, write_sums

UNIT = 2.0**-53
STATISTICS = {
    "sum": (operators.Sum(), 1),
    "mean": (operators.Mean(), 1),
    "var": (operators.Variance(), 2),
    "std": (operators.StandardDeviation(), 2),
    "sem": (operators.StandardError(), 2),
    "skew": (operators.Skewness(), 3),
    "kurt": (operators.Kurtosis(), 4),
}


def rolling(operator, values, width, fixed=True, missing=UNKNOWN, dtype=np.float64):
    if fixed:
        block = Block.regular(values, missing, width)
    else:
        start = np.arange(len(values) - width + 1)
        block = Block(values, missing, start, start + width)
    out = np.full(block.rows, 99.0, dtype)
    write_sums(block, operator, out)
    return out, block.count


def exact_variance(window):
    numbers = [Fraction(x) for x in window.tolist()]
    mean = sum(numbers) / len(numbers)
    return sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("width", [4, 15, 16, 37, 300])
def test_agrees_with_pandas(width, gaps, fixed, rng):
    values = rng.standard_normal(1500) + 2
    values[rng.random(1500) < gaps] = np.nan
    for name, (operator, required) in STATISTICS.items():
        out, count = rolling(operator, values, width, fixed=fixed)
        windows = pd.Series(values).rolling(width, min_periods=1)
        # The standard error of pandas before 3 divides by the root of n - min_periods.
        expected = windows.std() / windows.count() ** 0.5 if name == "sem" else getattr(windows, name)()
        expected = expected.to_numpy()[width - 1 :]
        enough = count >= required
        np.testing.assert_allclose(out[enough], expected[enough], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("width", [4, 20, 200])
def test_equal_values(width, fixed):
    values = np.full(700, 0.1)
    for name in ("var", "std", "sem"):
        operator, _ = STATISTICS[name]
        assert not rolling(operator, values, width, fixed=fixed)[0].any()
    for name in ("skew", "kurt"):
        assert np.isnan(rolling(STATISTICS[name][0], values, width, fixed=fixed)[0]).all()
        if (
            int(pd.__version__.partition(".")[0]) >= 3
        ):  # earlier ones take equal values for a skewness of 0 and a kurtosis of -3
            assert pd.isna(getattr(pd.Series(values).rolling(width), name)().iloc[-1])


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("width", [4, 20, 200])
def test_variance_is_never_negative(width, fixed, rng):
    values = 1e9 + rng.integers(0, 2, 5000) * 2.0**-20
    values[::7] = 1e16
    assert (rolling(operators.Variance(), values, width, fixed=fixed)[0] >= 0).all()


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("width", [3, 15, 16, 100, 1000])
def test_variance_of_ill_conditioned_data(width, fixed, rng):
    series = {
        "offset": 1e9 + rng.standard_normal(3 * width + 50),
        "alternating": np.resize([1e16, -1e16], 3 * width + 50) + rng.standard_normal(3 * width + 50),
    }
    for name, values in series.items():
        out, _ = rolling(operators.Variance(), values, width, fixed=fixed)
        for i in {0, len(out) // 2, len(out) - 1}:
            exact = exact_variance(values[i : i + width])
            factor = 1 + (np.ptp(values[i : i + width]) ** 2 / float(exact))
            error = abs(Fraction(float(out[i])) - exact) / exact
            assert error <= 40 * Fraction(UNIT) * Fraction(factor), name
            assert error <= Fraction(1, 10**12), name


def test_mean_of_offset_data(rng):
    values = 1e9 + rng.standard_normal(5000)
    for width in (5, 100, 1000):
        out, _ = rolling(operators.Mean(), values, width)
        for i in (0, 2000, 4000):
            exact = sum(map(Fraction, values[i : i + width].tolist())) / width
            assert abs(Fraction(float(out[i])) - exact) <= 24 * Fraction(UNIT) * exact


@pytest.mark.parametrize("width", [10, 60])
def test_infinity_in_a_window(width):
    values = np.arange(200.0)
    values[100] = np.inf
    touched = slice(100 - width + 1, 101)
    assert np.isposinf(rolling(operators.Mean(), values, width)[0][touched]).all()
    for name in ("var", "std", "sem", "skew", "kurt"):
        operator, _ = STATISTICS[name]
        for fixed in (True, False):
            out, _ = rolling(operator, values, width, fixed=fixed)
            assert np.isnan(out[touched]).all()
            assert np.isfinite(np.delete(out, np.r_[touched])).all()


def test_variance_beyond_the_largest_float():
    values = np.resize([1e200, -1e200], 100)
    for width in (5, 40):
        assert np.isposinf(rolling(operators.Variance(), values, width)[0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
def test_other_dtypes_are_summed_in_float64(dtype, rng):
    values = rng.integers(0, 200, 400).astype(dtype)
    for name, (operator, _) in STATISTICS.items():
        plain, _ = rolling(operator, values.astype(np.float64), 30)
        assert np.array_equal(rolling(operator, values, 30)[0], plain), name
    plain, _ = rolling(operators.Mean(), values.astype(np.float64), 30)
    narrow, _ = rolling(operators.Mean(), values, 30, dtype=np.float32)
    assert narrow.dtype == np.float32
    assert np.array_equal(narrow, plain.astype(np.float32))


def test_a_masked_value_is_missing_whatever_it_holds(rng):
    values = rng.standard_normal(300)
    missing = rng.random(300) < 0.2
    gaps = np.where(missing, np.nan, values)
    for name, (operator, _) in STATISTICS.items():
        marked, _ = rolling(operator, values, 40, missing=missing)
        assert np.array_equal(marked, rolling(operator, gaps, 40)[0]), name
    assert not np.isnan(values).any()


def test_blocks_cover_several_windows():
    for width in (1, 7, 8, 100, 12_345, 100_000):
        rows = block_rows(width)
        assert rows % max(8 * (width // 8), 1) == 0
        assert rows >= max(1 << 15, 3 * width)


def test_no_rows():
    values, out = np.empty(4), np.full(3, 7.0)
    block = Block(values, None, np.empty(0, np.int64), np.empty(0, np.int64))
    write_sums(block, operators.Variance(), out[:0])
    assert out.tolist() == [7.0] * 3


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("window", [5, 100, 3000])
@pytest.mark.parametrize("function", [rollstat.rolling_sum, rollstat.rolling_mean, rollstat.rolling_std])
def test_results_do_not_depend_on_block_length(function, window, missing):
    """One thread works through longer blocks than several."""
    rng = np.random.default_rng(20261121)
    values = rng.standard_normal(400_000)
    values[rng.random(len(values)) < missing] = np.nan
    alone = function(values, window, min_periods=2, threads=1)
    np.testing.assert_array_equal(function(values, window, min_periods=2, threads=2), alone)
