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
