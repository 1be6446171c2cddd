"""Small windows sorted by a network, and their distances and sums, against NumPy."""

import numpy as np
import pytest

import rollstat
from rollstat import thresholds
from rollstat.kernels.rank_space.distances import BATCH, distances_of_columns
from rollstat.kernels.rank_space.trimmed_mean import sums_of_columns
from rollstat.statistics.ranks import rank_space


@pytest.mark.parametrize("m", [1, 2, 5, 8, 23])
def test_sorted_windows_their_distances_and_sums(rng, m, monkeypatch):
    monkeypatch.setattr(rank_space, "_VALUES_AT_ONCE", 700 * m)
    values = np.concatenate([rng.standard_normal(900), rng.integers(0, 3, 700)])
    values[[100, 150]] = np.inf, -np.inf
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(values, m), axis=1)
    for low, high in ((0, m - 1), (m // 3, m - 1 - m // 3)):
        reached = 0
        for rows, found in rank_space.sorted_columns(values, m, low, high):
            assert rows.start == reached
            reached = rows.stop
            assert np.array_equal(found, windows[rows, low : high + 1].T)
            total = np.full(found.shape[1], np.nan)
            with np.errstate(invalid="ignore"):
                sums_of_columns(found, total)
                np.testing.assert_allclose(total, found.sum(axis=0), rtol=1e-13, atol=1e-13)
            if low == 0:
                check_distances(found)
        assert reached == len(windows)


def check_distances(found):
    m, windows = found.shape
    near, far = np.full(windows, np.nan), np.full(windows, np.nan)
    with np.errstate(invalid="ignore"):
        distances_of_columns(found, np.zeros(BATCH), near, far)
        median = (found[(m - 1) // 2] + found[m // 2]) / 2
        distances = np.sort(np.abs(found - median), axis=0)
    finite = np.isfinite(median)
    assert np.array_equal(near[finite], distances[(m - 1) // 2][finite])
    assert np.array_equal(far[finite], distances[m // 2][finite])


def test_the_network_by_name(rng):
    values = rng.standard_normal(100)
    for function in (rollstat.rolling_mad, rollstat.rolling_trimmed_mean):
        wide = thresholds.SORTED_BY_NETWORK + 1
        for window, options in ((wide, {}), (rollstat.Expanding(), {}), (5, {"step": 2})):
            with pytest.raises(ValueError, match="'network' does not support this window"):
                function(values, window, algorithm="network", **options)


@pytest.mark.parametrize("m", [1, 2, 8, 23])
@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "M8[ns]"])
def test_networks_leave_missing_values_out(rng, m, dtype):
    values = rng.integers(-3 if dtype != "u8" else 0, 4, 3000).astype(dtype)
    masked = rng.random(3000) < 0.3
    masked[500:600] = True
    if values.dtype.kind == "f":
        values[rng.integers(0, 3000, 200)] = rng.choice([np.nan, np.inf, -np.inf, -0.0], 200)
    else:
        most = np.iinfo("u8" if dtype == "u8" else "i8").max
        values.view("u8")[rng.integers(0, 3000, 200)] = most - m % 2
    series, found = np.ma.masked_array(values, masked), {}
    for algorithm in ("network", "sorted_window", "rank_set"):
        given = {"min_periods": 1, "algorithm": algorithm}
        assert rollstat.explain(rollstat.rolling_mad, series, m, **given).algorithm == algorithm
        found[algorithm] = [rollstat.rolling_mad(series, m, **given)]
        if values.dtype.kind != "M":
            found[algorithm] += rollstat.rolling_hampel(series, m, **given)
    for algorithm in ("sorted_window", "rank_set"):
        for result, wanted in zip(found["network"], found[algorithm]):
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("function", [rollstat.rolling_trimmed_mean, rollstat.rolling_winsorized_mean])
def test_trimmed_means_of_full_windows_do_not_depend_on_missing_values(rng, function):
    values = rng.standard_normal(4000)
    gaps = values.copy()
    gaps[rng.integers(0, 4000, 40)] = np.nan
    for m in (1, 7, 24):
        clean, result = function(values, m, 0.2), function(gaps, m, 0.2)
        full = np.isfinite(result)
        assert full[m - 1 :].sum() > 2000
        np.testing.assert_array_equal(result[full], clean[full])
        some = function(gaps, m, 0.2, min_periods=1)
        other = function(gaps, m, 0.2, min_periods=1, algorithm="sorted_window")
        np.testing.assert_allclose(some, other, rtol=1e-13, atol=1e-15)
