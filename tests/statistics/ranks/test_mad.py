"""Median absolute deviations and the Hampel filter, beside SciPy, NumPy and their definitions."""

import numpy as np
import pytest
import scipy.stats

import rollstat
from rollstat.statistics.common import NORMAL


@pytest.mark.parametrize("m", [3, 40, 300])
@pytest.mark.parametrize("algorithm", ["auto", "rank_set", "sorted_window"])
def test_mad_equals_scipy(rng, m, algorithm):
    values = rng.standard_normal(500).round(2)
    windows = np.lib.stride_tricks.sliding_window_view(values, m)
    for scale in (1.0, "normal"):
        result = rollstat.rolling_mad(values, m, scale, mode="valid", algorithm=algorithm)
        wanted = scipy.stats.median_abs_deviation(windows, axis=1) * (1 / NORMAL if scale == "normal" else 1)
        np.testing.assert_array_equal(result, wanted)


def test_infinities_as_in_numpy():
    values = np.array([1.0, np.inf, 2.0, np.inf, np.inf, -np.inf, 3.0])
    for m in (1, 3, 4):
        result = rollstat.rolling_mad(values, m, mode="valid")
        windows = np.lib.stride_tricks.sliding_window_view(values, m)
        with np.errstate(invalid="ignore"):
            wanted = [np.median(np.abs(w - np.median(w))) for w in windows]
        np.testing.assert_array_equal(result, wanted)


def test_mad_of_datetimes_is_in_their_unit():
    times = np.array([10, 13, 19, 20, 40], "M8[s]")
    mad = rollstat.rolling_mad(times, 4, mode="valid")
    assert mad.dtype == np.dtype("m8[s]")
    assert mad.astype(int).tolist() == [3, 3]
    with pytest.raises(OverflowError, match="does not fit"):
        rollstat.rolling_mad(np.array([-(2**63) + 1, 2**63 - 1], "M8[s]"), 2, 4.0)


def expected_hampel(values, start, end, own, threshold, scale):
    cleaned, outlier = values[own].copy(), np.zeros(len(own), bool)
    for i, (a, b) in enumerate(zip(start, end)):
        seen = values[a:b][~np.isnan(values[a:b])]
        if len(seen) == 0 or np.isnan(cleaned[i]):
            cleaned[i] = np.nan
            continue
        median = np.median(seen)
        if abs(cleaned[i] - median) > threshold * scale * np.median(np.abs(seen - median)):
            cleaned[i], outlier[i] = median, True
    return cleaned, outlier


@pytest.mark.parametrize("m", [5, 300])
@pytest.mark.parametrize(
    ("options", "left", "right"),
    [
        ({}, lambda m: m - 1, 1),
        ({"center": True}, lambda m: m // 2, None),
        ({"closed": "left"}, lambda m: m, 0),
        ({"closed": "left", "step": 7}, lambda m: m, 0),
        ({"threads": 2}, lambda m: m - 1, 1),
    ],
)
def test_hampel_agrees_with_its_definition(rng, options, left, right, m):
    values = rng.standard_normal(1500).cumsum() * 0.1
    values[rng.random(1500) < 0.05] += 20
    values[rng.random(1500) < 0.05] = np.nan
    own = np.arange(0, 1500, options.get("step", 1))
    start = np.clip(own - left(m), 0, 1500)
    end = np.clip(own + ((m - 1) // 2 + 1 if right is None else right), 0, 1500)
    wanted = expected_hampel(values, start, end, own, 2.0, 1.5)
    result = rollstat.rolling_hampel(values, m, 2.0, 1.5, min_periods=1, **options)
    np.testing.assert_array_equal(result[0], wanted[0])
    np.testing.assert_array_equal(result[1], wanted[1])
    assert result[1].any()


def test_hampel_needs_windows_of_rows():
    with pytest.raises(ValueError, match="one pair of bounds for each of the 3 rows"):
        rollstat.rolling_hampel([1.0, 2.0, 3.0], ([0], [3]))
    with pytest.raises(TypeError, match="arr must hold floats, integers or bool"):
        rollstat.rolling_hampel(np.array([1], "M8[s]"), 1)
