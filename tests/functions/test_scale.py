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
