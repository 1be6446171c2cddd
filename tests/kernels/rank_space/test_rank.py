"""Both ways to count the values smaller than the newest against plain comparisons."""

import numpy as np
import pytest

from rollstat.kernels.rank_space.rank import (
    check,
    compare_newest,
    count_newest,
    count_newest_fixed,
    create,
)
from rollstat.statistics.selection.ranking import rank_ranges


@pytest.mark.parametrize("width", [1, 2, 4, 5, 11])
def test_comparisons(rng, width):
    values = rng.integers(0, 9, 1064).astype(float)
    values[rng.random(len(values)) < 0.1] = np.nan
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    smaller, equal = np.full(len(windows), -7), np.full(len(windows), -7)
    compare_newest(values, width, smaller, equal)
    assert np.array_equal(smaller, (windows < windows[:, -1:]).sum(axis=1))
    assert np.array_equal(equal, (windows == windows[:, -1:]).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_comparisons_of_integers_that_floats_round(rng, dtype):
    values = np.iinfo(dtype).max - rng.integers(0, 5, 70).astype(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(values, 6)
    smaller, equal = np.full((2, len(windows)), -7)
    compare_newest(values, 6, smaller, equal)
    assert np.array_equal(smaller, (windows < windows[:, -1:]).sum(axis=1))
    assert np.array_equal(equal, (windows == windows[:, -1:]).sum(axis=1))


@pytest.mark.parametrize("dense", [False, True])
def test_counts_in_irregular_windows(rng, dense):
    values = rng.integers(0, 7, 300)
    missing = rng.random(300) < 0.2
    ranks = rank_ranges(values, missing)
    start = np.sort(rng.integers(0, 300, 80))
    end = np.maximum(start, np.maximum.accumulate(np.minimum(start + rng.integers(0, 90, 80), 300)))
    smaller, equal, total = (np.zeros(80, np.int64) for _ in range(3))
    members, copies = create(300), np.zeros(300 if dense else 0, np.int32)
    count_newest(*ranks, start, end, copies, members, smaller, equal, total)
    assert check(members)
    for i in range(80):
        seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
        seen = np.unique(seen) if dense else seen
        assert total[i] == len(seen)
        if end[i] > start[i] and not missing[end[i] - 1]:
            assert smaller[i] == (seen < values[end[i] - 1]).sum()
            assert equal[i] == (seen == values[end[i] - 1]).sum()


@pytest.mark.parametrize("width", [1, 2, 300])
@pytest.mark.parametrize("levels", [5, 10**9])
def test_counts_in_windows_of_one_width_over_several_groups(rng, width, levels):
    values = rng.integers(0, levels, 20_000).astype(float)
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    smaller, equal = np.full((2, len(windows)), -7)
    members = create(len(values))
    count_newest_fixed(*rank_ranges(values), width, members, smaller, equal)
    assert check(members)
    checked = slice(0, len(windows), 37)
    assert np.array_equal(smaller[checked], (windows < windows[:, -1:])[checked].sum(axis=1))
    assert np.array_equal(equal[checked], (windows == windows[:, -1:])[checked].sum(axis=1))
