"""Least squares on several series: against fractions, statsmodels, and by its rules for missing rows."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rollstat
import rollstat.pandas
from rollstat import rolling_regression

U = 2.0**-53


def solved(matrix, right):
    """Return the solution of linear equations in fractions by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = next(j for j in range(i, len(rows)) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(len(rows)):
            if i != j:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def exact(y, x, intercept):
    """Return coefficients, residual sum of squares, and the terms of the error bound, from fractions."""
    series = [[Fraction(float(value)) for value in values] for values in (y, *x)]
    if intercept:
        series = [[value - sum(values) / len(values) for value in values] for values in series]
    y, *x = series
    products = [[sum(a * b for a, b in zip(u, v)) for v in x] for u in x]
    found = solved(products, [sum(a * b for a, b in zip(u, y)) for u in x])
    units = [[int(i == j) for i in range(len(x))] for j in range(len(x))]
    inflation = max(float(solved(products, unit)[j] * products[j][j]) for j, unit in enumerate(units))
    total = sum(value * value for value in y)
    left = sum((b - sum(c * u[i] for c, u in zip(found, x))) ** 2 for i, b in enumerate(y))
    ratios = [math.sqrt(total / products[j][j]) for j in range(len(x))]
    size = 1 + sum(abs(float(c)) / ratio for c, ratio in zip(found, ratios))
    return found, left, float(total), ratios, inflation, size


@pytest.mark.filterwarnings("ignore:.*no regression")
@pytest.mark.parametrize("case", range(40))
def test_errors_stay_within_the_bounds_of_the_docstring(case):
    rng = np.random.default_rng(case)
    k, m, intercept = int(rng.integers(1, 5)), int(rng.integers(8, 30)), bool(case % 2)
    x = rng.normal(size=(k, 2 * m)) if case % 3 else rng.normal(size=(k, 2 * m)).cumsum(axis=1)
    if k > 1:
        x[1] = x[0] + x[1] * 10.0 ** -rng.integers(0, 5)  # nearly equal regressors
    y = rng.normal(size=k) @ x + rng.normal(size=2 * m) * 10.0 ** -rng.integers(0, 6)
    if case % 5 == 0:
        y[m - 2], x[0, m // 2] = 1e10, 1e8  # they leave the windows
    x = (x + 10.0 ** rng.integers(0, 7 if intercept else 3, (k, 1))) * 10.0 ** rng.integers(-9, 9, (k, 1))
    fit = rolling_regression(y, x, m, intercept=intercept)
    for row in (m - 1, 2 * m - 1):
        window = slice(row - m + 1, row + 1)
        found, left, total, ratios, inflation, size = exact(y[window], x[:, window], intercept)
        if np.isnan(fit.residual[row]):
            assert inflation > 0.9e10
            continue
        assert inflation < 1.1e10
        for got, wanted, ratio in zip(fit.coefficients[int(intercept) :, row], found, ratios):
            assert abs(Fraction(float(got)) - wanted) <= 100 * U * inflation * size * ratio
        variance = float(fit.residual[row]) ** 2 * (m - k - intercept)
        assert abs(variance - float(left)) <= (100 + inflation / 1e5) * U * size**2 * total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_results_are_those_of_statsmodels(rng, intercept, weighted):
    linear_model = pytest.importorskip("statsmodels.api", reason="it is the oracle")
    x, weights = rng.normal(size=(3, 300)) + 100, rng.random(300)
    y = np.array([1.0, -2.0, 0.5]) @ x + rng.normal(size=300)
    y[::17], x[1, ::23] = np.nan, np.nan
    fit = rolling_regression(
        y, tuple(x), 60, intercept, weights if weighted else None, closed="left", min_periods=10
    )
    regressors = linear_model.add_constant(x.T) if intercept else x.T
    for row in (59, 150, 299):
        rows = np.arange(row - 60, row) if row > 59 else np.arange(row)
        rows = rows[~np.isnan(y[rows]) & ~np.isnan(x[:, rows]).any(axis=0)]
        model = linear_model.WLS(y[rows], regressors[rows], weights[rows] if weighted else 1.0)
        wanted = model.fit()
        np.testing.assert_allclose(fit.coefficients[:, row], wanted.params, rtol=1e-8)
        np.testing.assert_allclose(fit.errors[:, row], wanted.bse, rtol=1e-8)
        np.testing.assert_allclose(fit.determination[row], wanted.rsquared, rtol=1e-9)
        np.testing.assert_allclose(fit.residual[row], math.sqrt(wanted.mse_resid), rtol=1e-9)
        np.testing.assert_allclose(fit.prediction[row], wanted.predict(regressors[row])[0], rtol=1e-9)


def test_windows_without_a_result(rng):
    x, y = rng.normal(size=40), rng.normal(size=40)
    with pytest.warns(rollstat.PrecisionWarning, match="36 windows have no regression.*above 1e"):
        assert np.isnan(rolling_regression(y, (x, x * 3), 5).coefficients).all()
    constant = rolling_regression(y, (x, np.ones(40)), 5)  # without a warning, as in rolling_linear_fit
    assert np.isnan(constant.coefficients).all()
    assert not np.isnan(rolling_regression(y, (x, np.ones(40)), 5, intercept=False).coefficients[:, 4:]).any()
    few = rolling_regression(y, (x, x**2), 5, min_periods=1)
    assert np.isnan(few.coefficients[:, :2]).all()
    assert not np.isnan(few.coefficients[:, 2:]).any()
    assert np.isnan(few.errors[:, :3]).all()
    assert not np.isnan(few.errors[:, 3:]).any()
    y[20] = np.inf
    gone = rolling_regression(y, x, 5).coefficients
    assert np.isnan(gone[:, 20:25]).all()
    after = rolling_regression(y[21:], x[21:], 5).coefficients[:, 4:]
    np.testing.assert_allclose(gone[:, 25:], after, rtol=1e-12)


def test_prediction_needs_the_regressors_alone(rng):
    x, y = rng.normal(size=12), np.arange(12.0)
    y[7] = x[9] = np.nan
    prediction = rolling_regression(y, x, 6, min_periods=3).prediction
    assert np.flatnonzero(np.isnan(prediction)).tolist() == [0, 1, 9]
    masked = np.ma.MaskedArray(np.nan_to_num(y), np.isnan(y))
    found = rolling_regression(masked, x, 6, min_periods=3).prediction
    np.testing.assert_array_equal(found.filled(np.nan), prediction)
    assert np.isnan(rolling_regression(y, x, 6, times=np.arange(12), at=[8, 11]).prediction).all()


def test_forms_of_regressors_and_their_errors(rng):
    x, y = rng.normal(size=(2, 30)), rng.normal(size=30)
    wanted = rolling_regression(y, (x[0], x[1]), 8)
    for given in (x, [list(x[0]), list(x[1])]):
        for one, two in zip(rolling_regression(y, given, 8), wanted):
            np.testing.assert_array_equal(one, two)
    grid = rolling_regression(np.stack([y, y]), np.stack([[each, each] for each in x]), 8)
    np.testing.assert_allclose(grid.coefficients[:, 1], wanted.coefficients, rtol=1e-10)
    with pytest.raises(ValueError, match="x must hold at least one series; got none"):
        rolling_regression(y, (), 8)
    with pytest.raises(ValueError, match=r"x\[1\] must have the shape of y, \(30,\); got \(29,\)"):
        rolling_regression(y, (x[0], x[1, 1:]), 8)
    with pytest.raises(ValueError, match=r"weights must not be negative; got -1\.0"):
        rolling_regression(y, x[0], 8, weights=np.full(30, -1.0))
    with pytest.raises(TypeError, match="x must hold numbers"):
        rolling_regression(y, y.astype("M8[s]"), 8)


def test_columns_of_frames(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 4)), columns=["r", "market", "size", "w"])
    frame["stock"] = np.tile(["b", "a"], 20)
    y, market, size, w = frame[["r", "market", "size", "w"]].abs().to_numpy().T
    fit = rolling_regression(y, (market, size), 9, weights=w)
    found = (
        frame[["r", "market", "size", "w"]]
        .abs()
        .rollstat.rolling(9)
        .regression("r", ["market", "size"], weights="w")
    )
    assert [*found] == [
        *("intercept", "market", "size"),
        *("intercept_error", "market_error", "size_error"),
        *("determination", "residual", "prediction"),
    ]
    np.testing.assert_array_equal(found["size"], fit.coefficients[2])
    np.testing.assert_array_equal(found["prediction"], fit.prediction)
    grouped = (
        frame.rollstat.groupby("stock").rolling(9, transform=True).regression("r", "market", intercept=False)
    )
    assert [*grouped] == ["market", "market_error", "determination", "residual", "prediction"]
    of_one = frame[frame["stock"] == "a"]
    wanted = rolling_regression(of_one["r"].to_numpy(), of_one["market"].to_numpy(), 9, intercept=False)
    np.testing.assert_allclose(grouped["market"][1::2], wanted.coefficients[0], rtol=1e-12)
    by_name = frame.rollstat.regression("r", "market", 9)
    np.testing.assert_array_equal(
        by_name["market"], frame.rollstat.rolling(9).regression("r", "market")["market"]
    )
