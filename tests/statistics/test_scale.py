"""Statistics whose sums of powers leave the range of float64 equal those of scaled values."""

import numpy as np
import pytest

import rollstat

SCALES = [-1000, -680, 300, 670, 990]
VALUES = np.array([1.0, 2.0, 6.0, 3.0, 9.0, 4.0, 4.0, 4.0, 7.0])
OTHER = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0])
POWERS = {"std": (1, 0), "sem": (1, 0), "skew": (0, 0), "kurt": (0, 0), "corr": (0, 0), "beta": (1, -1)}


def times(values, power):
    return np.ldexp(values, power)


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("scale", SCALES)
def test_scale_changes_nothing_else(name, scale):
    series = (VALUES, OTHER) if name in ("corr", "beta") else (VALUES,)
    function, powers = getattr(rollstat, f"rolling_{name}"), POWERS[name]
    scaled = [times(column, scale) for column in series]
    with np.errstate(all="ignore"):
        for options in ({"window": 5}, {"window": 4.5, "times": np.arange(9.0), "min_periods": 4}):
            wanted = times(function(*series, **options), scale * sum(powers))
            np.testing.assert_allclose(function(*scaled, **options), wanted, rtol=1e-13, atol=0)
        if len(series) == 2:
            wanted = times(function(VALUES, OTHER, 5), scale * powers[0])
            np.testing.assert_allclose(function(scaled[0], OTHER, 5), wanted, rtol=1e-13, atol=0)


def test_windows_of_one_block_have_scales_of_their_own():
    values = np.concatenate([times(VALUES, scale) for scale in (0, *SCALES)])
    values[[4, 20, 39]] = np.nan
    found = rollstat.rolling_std(values, 3, min_periods=2)
    for first, scale in zip(range(0, len(values), 9), (0, *SCALES)):
        own = times(values[first : first + 9], -scale)
        wanted = times(rollstat.rolling_std(own, 3, min_periods=2), scale)
        np.testing.assert_allclose(found[first + 2 : first + 9], wanted[2:], rtol=1e-13)
    slope, height, share = rollstat.rolling_linear_fit(times(VALUES, 990), 4)
    wanted = rollstat.rolling_linear_fit(VALUES, 4)
    np.testing.assert_allclose(times(slope, -990), wanted[0], rtol=1e-13)
    np.testing.assert_allclose(times(height, -990), wanted[1], rtol=1e-13)
    np.testing.assert_allclose(share, wanted[2], rtol=1e-13)


def test_sums_whose_parts_overflow():
    values = [1e308, 1e308, -1e308, -1e308, 1e308, np.inf, 1.0]
    for options in ({"window": 3}, {"window": 2.5, "times": np.arange(7.0), "min_periods": 3}):
        sums, means = rollstat.rolling_sum(values, **options), rollstat.rolling_mean(values, **options)
        np.testing.assert_array_equal(sums[2:], [1e308, -1e308, -1e308, np.inf, np.inf])
        np.testing.assert_allclose(means[2:5], np.array([1e308, -1e308, -1e308]) / 3, rtol=1e-15)
    assert rollstat.rolling_mean([1e308] * 40, 40)[-1] == pytest.approx(1e308, rel=1e-15)
    assert rollstat.rolling_sum([1e308] * 40, 40)[-1] == np.inf
    for function in (rollstat.rolling_trimmed_mean, rollstat.rolling_winsorized_mean):
        assert function([1.0, 1e308, 1e308, 1e308, 1.7e308], 5, 0.2)[-1] == pytest.approx(1e308, rel=1e-15)


def test_points_between_the_largest_numbers():
    values = [-1.7e308, 1.7e308, 1.7e308, 1.0]
    assert rollstat.rolling_iqr(values[:3], 3)[-1] == 1.7e308
    assert rollstat.rolling_quantile(values, 4, 0.2)[-1] == pytest.approx(-0.68e308, rel=1e-15)
    assert rollstat.rolling_quantile(values, 4, 0.2, algorithm="rank_bits")[-1] == pytest.approx(-0.68e308)
    stream = rollstat.RollingQuantile(4, 0.2)
    assert [stream.push(x) for x in values][-1] == pytest.approx(-0.68e308, rel=1e-15)


def gaps_beside_tiny_values():
    """Return values whose windows are computed about shifts outside them, and their squares."""
    values = np.full(140, np.nan)
    values[5:8] = [1e-200, 3e-200, 2e-200]
    values[75] = 1.0
    values[100:103] = [1.0, 2.0, 4.0]
    return values, values * 1e200 * values


@pytest.mark.parametrize("name", ["var", *POWERS])
def test_windows_that_do_not_hold_their_shift(name):
    x, y = gaps_beside_tiny_values()
    series = (x, y) if name in ("corr", "beta") else (x,)
    function = getattr(rollstat, f"rolling_{name}")
    found = function(*series, 31, min_periods=2)[32]
    alone = function(*(column[5:8] for column in series), 3)[-1]
    np.testing.assert_allclose(found, alone, rtol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 2.0**-1074])
def test_ranges_of_subnormal_units(scale):
    x = np.array([0.0, 0.0, 1.0, 3.0]) * scale
    for name in ("skew", "kurt", "corr"):
        series = (x, x[::-1].copy()) if name == "corr" else (x,)
        found = getattr(rollstat, f"rolling_{name}")(*series, 4)[-1]
        wanted = getattr(rollstat, f"rolling_{name}")(*(column / scale for column in series), 4)[-1]
        assert found == pytest.approx(wanted, rel=1e-15)
    assert rollstat.rolling_skew([0.0, 0.0, 5e-324], 3)[-1] == pytest.approx(3**0.5, rel=1e-15)


MOMENTS = ["var", "std", "sem", "skew", "kurt", "cov", "corr", "beta", "linear_fit"]
WINDOWS = {
    "rows": lambda n: ((4,), {}),
    "many rows": lambda n: ((40,), {"min_periods": 4}),
    "time": lambda n: ((3.5,), {"times": np.arange(float(n))}),
    "bounds": lambda n: (((np.maximum(np.arange(n) - 3, 0), np.arange(n) + 1),), {}),
    "expanding": lambda n: ((rollstat.Expanding(),), {}),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("where", [0, 1])
def test_moments_of_windows_with_an_infinite_value_are_nan(name, window, where, rng):
    n = 90
    series = [rng.standard_normal(n) for _ in range(2 if name in ("cov", "corr", "beta") else 1)]
    if where >= len(series):
        where = 0
    series[where][[30, 60]] = np.inf, -np.inf
    given, options = WINDOWS[window](n)
    results = getattr(rollstat, f"rolling_{name}")(*series, *given, **options)
    held = {"rows": 4, "many rows": 40, "expanding": n}.get(window, 4)
    infinite = np.isin(np.arange(n), [*range(30, 30 + held), *range(60, 60 + held)])
    for result in results if isinstance(results, tuple) else (results,):
        assert np.isnan(result[infinite]).all()
        assert np.isfinite(result[10:30]).all()
        assert np.isfinite(result[~infinite & (np.arange(n) > 60)]).all()


@pytest.mark.parametrize("window", [4, rollstat.Expanding()])
@pytest.mark.parametrize("name", ["Var", "Std", "Sem", "Skew", "Kurt", "Cov", "Corr", "Beta", "LinearFit"])
def test_moments_of_streams_with_an_infinite_value_are_nan(name, window):
    series = [np.array([1.0, 2.0, 4.0, np.inf, 3.0, 9.0, 1.0])]
    if name in ("Cov", "Corr", "Beta"):
        series.append(np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]))
    for columns in (series, series[::-1]):
        pushes, extended = (getattr(rollstat, f"Rolling{name}")(window, min_periods=1) for _ in range(2))
        pushed = [pushes.push(*row) for row in zip(*columns)]
        together = extended.extend(*columns)
        together = list(zip(*together)) if isinstance(together, tuple) else together
        assert np.isnan(np.array([pushed[3:], together[3:]], dtype=float)).all()


def test_sums_and_means_keep_infinite_values():
    values = [1.0, np.inf, 2.0, -np.inf, 4.0]
    for name in ("sum", "mean"):
        found = getattr(rollstat, f"rolling_{name}")(values, 2)
        np.testing.assert_array_equal(found, [np.nan, np.inf, np.inf, -np.inf, -np.inf])
        found = getattr(rollstat, f"rolling_{name}")(values, 3)
        np.testing.assert_array_equal(found, [np.nan, np.nan, np.inf, np.nan, -np.inf])
