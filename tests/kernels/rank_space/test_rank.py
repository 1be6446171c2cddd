"""Both ways to count the values smaller than the newest against plain comparisons."""

import numpy as np
import pytest

from rollstat.kernels.rank_space.rank import BATCH, compare_newest, count_newest
from rollstat.kernels.selection import rank_set
from rollstat.statistics.selection.ranking import tied_ranks


@pytest.mark.parametrize("width", [1, 2, 4, 5, 11])
def test_comparisons_of_several_batches(rng, width):
    values = rng.integers(0, 9, 2 * BATCH + 40).astype(float)
    values[rng.random(len(values)) < 0.1] = np.nan
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    smaller, equal = np.full(len(windows), -7), np.full(len(windows), -7)
    compare_newest(values, width, smaller, equal)
    assert np.array_equal(smaller, (windows < windows[:, -1:]).sum(axis=1))
    assert np.array_equal(equal, (windows == windows[:, -1:]).sum(axis=1))


@pytest.mark.parametrize("dense", [False, True])
def test_counts_in_irregular_windows(rng, dense):
    values = rng.integers(0, 7, 300)
    missing = rng.random(300) < 0.2
    rank, ordered = tied_ranks(values, missing)
    start = np.sort(rng.integers(0, 300, 80))
    end = np.maximum(start, np.maximum.accumulate(np.minimum(start + rng.integers(0, 90, 80), 300)))
    smaller, equal, total = (np.zeros(80, np.int64) for _ in range(3))
    window = rank_set.create(len(ordered))
    copies = np.zeros(len(ordered), np.int64)
    count_newest(rank, start, end, dense, copies, window, smaller, equal, total)
    assert rank_set.check(window)
    for i in range(80):
        seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
        seen = np.unique(seen) if dense else seen
        assert total[i] == len(seen)
        if end[i] > start[i] and not missing[end[i] - 1]:
            assert smaller[i] == (seen < values[end[i] - 1]).sum()
            assert equal[i] == (seen == values[end[i] - 1]).sum()
