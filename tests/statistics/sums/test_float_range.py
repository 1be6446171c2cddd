"""Statistics are scaled; operators warn where sums leave the range of float64, and only there."""

import warnings

import numpy as np
import pytest

import rollstat
from rollstat import operators

X = np.array([1.0, 2.0, 6.0, 4.0, 9.0])
CALLS = {
    "operator": lambda x: rollstat.rolling_aggregate(x, operators.Variance(1), 3),
    "stream": lambda x: rollstat.FixedAggregate(operators.Variance(1), 3).extend(x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_where_sums_leave_the_range(call):
    for scale in (1e200, 1e-200):
        with pytest.warns(rollstat.PrecisionWarning, match="may leave the range of float64"):
            call(X * scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (X, X * 1e50, X * 1e-60, [1.0, np.inf, np.nan, 0.0, 2.0]):
            call(np.array(values))


def test_a_sum_that_overflows_between_its_parts():
    values = [1e308, 1e308, -1e308]
    with pytest.warns(rollstat.PrecisionWarning, match="Sum may leave the range"):
        rollstat.rolling_sum(values, 3, algorithm="two_stacks")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rollstat.rolling_sum(values, 3)[-1] == 1e308


def test_a_stream_is_unchanged_if_the_warning_is_an_error():
    stream, other = (rollstat.FixedAggregate(operators.Variance(1), 3) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rollstat.PrecisionWarning):
            stream.extend(X * 1e200)
    assert stream.snapshot() == other.snapshot()


POWERS = {"var": 2, "std": 1, "sem": 1, "skew": 0, "kurt": 0, "sum": 1, "mean": 1}
"""The power of the unit of the values in the unit of the result."""


@pytest.mark.parametrize("exponent", [450, -450])
@pytest.mark.parametrize("name", POWERS)
def test_windows_in_any_order_are_scaled(name, exponent, rng):
    function, x = getattr(rollstat, f"rolling_{name}"), rng.standard_normal(300)
    start = rng.integers(0, 290, 300)
    windows = start, start + rng.integers(5, 11, 300)
    wanted = np.ldexp(function(x, windows), POWERS[name] * exponent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(function(np.ldexp(x, exponent), windows), wanted, rtol=1e-10)


@pytest.mark.filterwarnings("ignore:results beyond")
@pytest.mark.parametrize("exponent", [700, -600])
@pytest.mark.parametrize("name", ["cov", "corr", "beta", "linear_fit"])
@pytest.mark.parametrize("case", ["any order", "large integers", "both"])
def test_products_with_extreme_values_are_scaled(case, name, exponent, rng):
    windows, x, y = 5, rng.standard_normal(300), rng.standard_normal(300)
    if case != "any order":
        x = rng.integers(-(2**62), 2**62, 300)
    if case != "large integers":
        start = rng.integers(0, 290, 300)
        windows = start, start + rng.integers(5, 11, 300)

    def call(y):
        if name == "linear_fit":
            return rollstat.rolling_linear_fit(x, windows, x=y)
        return [getattr(rollstat, f"rolling_{name}")(x, y, windows)]

    powers = {"cov": [1], "corr": [0], "beta": [-1], "linear_fit": [-1, 0, 0]}[name]
    wanted = [np.ldexp(result, power * exponent) for result, power in zip(call(y), powers)]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*range of float64")
        for result, right in zip(call(np.ldexp(y, exponent)), wanted):
            np.testing.assert_allclose(result, right, rtol=1e-9)


@pytest.mark.parametrize("exponent", [1021, -1040, -1060])
def test_z_scores_of_extreme_values(exponent, rng):
    x = rng.integers(-4, 5, 200).astype(float)
    x[50:80] = 3.0  # constant windows, which have none
    wanted = rollstat.rolling_zscore(x, 20)
    found = rollstat.rolling_zscore(np.ldexp(x, exponent), 20)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
    mixed = np.concatenate([np.ldexp(x, exponent), x])
    np.testing.assert_array_equal(rollstat.rolling_zscore(mixed, 20)[:200], found)
    np.testing.assert_allclose(rollstat.rolling_zscore(mixed, 20)[219:], wanted[19:], rtol=1e-13, atol=1e-15)
