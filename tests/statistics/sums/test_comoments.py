"""Statistics of two series: against pandas where it is accurate, else against exact references."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat import operators
from rollstat.blocks import UNKNOWN, Block
from rollstat.operators.moments import LinearFitByRow
from rollstat.statistics.sums.window_sums import write_sums


def rolling(operator, values, other, width, fixed=True, outputs=1):
    others = () if other is None else (other,)
    if fixed:
        block = Block.regular(values, UNKNOWN, width, others)
    else:
        start = np.arange(len(values) - width + 1)
        block = Block(values, UNKNOWN, start, start + width, 0, others)
    out = np.full((outputs, block.rows), 99.0)
    write_sums(block, operator, *out)
    return out if outputs > 1 else out[0], block.count


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("width", [4, 16, 37, 300])
def test_agrees_with_pandas(width, gaps, fixed, rng):
    values, other = rng.standard_normal((2, 1500))
    values += other
    values[rng.random(1500) < gaps] = np.nan
    other[rng.random(1500) < gaps] = np.nan
    windows = pd.Series(values).rolling(width, min_periods=1)
    second = pd.Series(other)
    both = second.where(~np.isnan(values)).rolling(width, min_periods=1)
    covariance = windows.cov(second)
    expected = [
        (operators.Covariance(), covariance),
        (operators.Correlation(), windows.corr(second)),
        (operators.Slope(), covariance / both.var()),
    ]
    for operator, reference in expected:
        out, count = rolling(operator, values, other, width, fixed=fixed)
        enough = count >= 2
        np.testing.assert_allclose(
            out[enough], reference.to_numpy()[width - 1 :][enough], rtol=1e-8, atol=1e-9
        )


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("width", [5, 40])
@pytest.mark.parametrize("over_rows", [True, False])
def test_straight_lines(width, gaps, fixed, over_rows, rng):
    values, other = rng.standard_normal((2, 300))
    values += 3 * other + np.arange(300)
    values[rng.random(300) < gaps] = np.nan
    operator = LinearFitByRow() if over_rows else operators.LinearFit()
    second = None if over_rows else other
    out, count = rolling(operator, values, second, width, fixed=fixed, outputs=3)
    for i in np.flatnonzero(count > 2):
        y = values[i : i + width]
        x = np.arange(float(width)) if over_rows else other[i : i + width]
        x, y = x[~np.isnan(y)], y[~np.isnan(y)]
        assert out[:2, i] == pytest.approx(np.polyfit(x, y, 1), rel=1e-7, abs=1e-9)
        assert out[2, i] == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, rel=1e-9)


@pytest.mark.parametrize("width", [4, 20, 200])
def test_identities(width, rng):
    values = 1e9 + rng.standard_normal(900)
    assert (rolling(operators.Correlation(), values, values, width)[0] == 1).all()
    assert (rolling(operators.Correlation(), values, -2 * values, width)[0] == -1).all()
    assert (rolling(operators.Slope(), values, values, width)[0] == 1).all()
    constant = np.full(900, 0.1)
    assert np.isnan(rolling(operators.Correlation(), values, constant, width)[0]).all()
    assert np.isnan(rolling(operators.Correlation(), constant, values, width)[0]).all()
    assert not rolling(operators.Covariance(), values, constant, width)[0].any()


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("width", [3, 16, 100, 1000])
def test_covariance_of_ill_conditioned_data(width, fixed, rng):
    noise = rng.standard_normal((2, 3 * width + 20))
    values, other = 1e9 + noise[0] + noise[1], -1e9 + noise[1]
    out, _ = rolling(operators.Covariance(), values, other, width, fixed=fixed)
    for i in {0, len(out) // 2, len(out) - 1}:
        x, y = ([Fraction(v) for v in series[i : i + width].tolist()] for series in (values, other))
        exact = (sum(a * b for a, b in zip(x, y)) - sum(x) * sum(y) / width) / (width - 1)
        assert abs(float(Fraction(float(out[i])) - exact)) <= 1e-12


@pytest.mark.parametrize("width", [3, 23, 24, 100, 1000])
def test_lines_of_ill_conditioned_data(width, rng):
    values = 1e9 + rng.standard_normal(3 * width + 20)
    block = Block.regular(values, None, width)
    slope, height, determination = found = np.empty((3, block.rows))
    write_sums(block, LinearFitByRow(), *found)
    for i in {0, len(slope) // 2, len(slope) - 1}:
        y = [Fraction(v) for v in values[i : i + width].tolist()]
        mean, square = sum(y) / width, Fraction(width * (width**2 - 1), 12)
        shared = sum((row - Fraction(width - 1, 2)) * v for row, v in enumerate(y))
        assert slope[i] == pytest.approx(float(shared / square), rel=1e-12, abs=1e-13)
        assert height[i] == pytest.approx(float(mean - shared / square * Fraction(width - 1, 2)), rel=1e-15)
        explained = shared**2 / square / sum((v - mean) ** 2 for v in y)
        assert determination[i] == pytest.approx(float(explained), rel=1e-11, abs=1e-13)
    reversed_in_memory, single = np.empty((3, block.rows))[::-1], np.empty((3, block.rows), np.float32)
    for out in (reversed_in_memory, single):
        write_sums(block, LinearFitByRow(), *out)
        np.testing.assert_array_equal(out, found.astype(out.dtype))


@pytest.mark.parametrize("width", [5, 50])
def test_values_that_left_have_no_effect(width, rng):
    values, other = rng.standard_normal((2, 400))
    plain, _ = rolling(operators.Correlation(), values, other, width)
    for huge in (1e16, 1e100, np.inf):
        spoilt = other.copy()
        spoilt[200] = huge
        for fixed in (True, False):
            out, _ = rolling(operators.Correlation(), values, spoilt, width, fixed=fixed)
            untouched = np.r_[0 : 200 - width + 1, 201 : len(out)]
            np.testing.assert_allclose(out[untouched], plain[untouched], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("options", [{}, {"times": np.arange(6.0)}])
def test_intercepts_are_finite_where_slope_times_rows_is_not(options):
    y = [1.7e308, -1.7e308, 1e307, 1.7e308, 1.2e308, -1.7e308]
    _, heights, _ = rollstat.rolling_linear_fit(y, 2.0 if options else 2, **options, min_periods=2)
    np.testing.assert_allclose(heights[1:], y[:-1], rtol=1e-14)
