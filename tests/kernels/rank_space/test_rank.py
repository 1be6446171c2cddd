"""All ways to count the values smaller than the newest against plain comparisons."""

import numpy as np
import pytest

from rollstat.kernels.rank_space.rank import (
    METHODS,
    allocate,
    check,
    compare_newest,
    count_newest,
    create,
    rank_in_parts,
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
    members, copies = create(301), np.zeros(300 if dense else 0, np.int32)
    count_newest(*ranks, start, end, copies, members, smaller, equal, total)
    assert check(members)
    for i in range(80):
        seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
        seen = np.unique(seen) if dense else seen
        assert total[i] == len(seen)
        if end[i] > start[i] and not missing[end[i] - 1]:
            assert smaller[i] == (seen < values[end[i] - 1]).sum()
            assert equal[i] == (seen == values[end[i] - 1]).sum()


def planted(rng, rows, levels):
    """Return values with ties, both zeros and outliers, and which of them are missing."""
    values = rng.integers(0, levels, rows) / 7 - 1
    for value in 0.0, -0.0, 5e-324, -4.0, 50.0:
        values[rng.integers(0, rows, rows // 50)] = value
    missing = rng.random(rows) < 0.2
    values[missing] = np.nan
    return values, missing


def ranks_in_parts(values, missing, start, width, memory):
    """Return average ranks of parts of at least 1,000 rows; total counts where widths vary or values miss."""
    offset = max(width - 1, 0)
    result = np.full(len(values) - offset, -7.0)
    nothing = np.empty(0, np.int64)
    first = np.arange(len(result)) if width else start
    before = np.concatenate([[0], np.cumsum(~missing)])
    total = before[first + max(width, 0)] - before[first] if width else before[1:] - before[first]
    values.flags.writeable = missing.flags.writeable = False
    windows = (nothing if width else start), width, (total if missing.any() or not width else nothing)
    absent = missing if missing.any() else missing[:0]
    done = rank_in_parts(values, absent, *windows, 1000, memory, METHODS["average"], True, False, result)
    return done, result, first


@pytest.mark.parametrize("some_missing", [False, True])
@pytest.mark.parametrize("width", [0, 1, 2, 300])
@pytest.mark.parametrize("levels", [5, 10**9])
def test_ranks_in_parts(rng, some_missing, width, levels):
    values, missing = planted(rng, 5000, levels)
    if not some_missing:
        values[missing], missing = 3.0, np.zeros(5000, bool)
    start = np.maximum.accumulate(np.maximum(np.arange(5000) + 1 - rng.integers(0, 400, 5000), 0))
    longest = width or int((np.arange(5000) + 1 - start).max())
    memory = allocate(max(1000, 4 * longest), width)
    done, result, first = ranks_in_parts(values, missing, start, width, memory)
    assert done == len(result)
    assert check(memory.members)
    for i in range(0, len(result), 7):
        row = i + max(width - 1, 0)
        window, newest = values[first[i] : row + 1], values[row]
        if not missing[row]:
            same = (window == newest).sum()
            assert result[i] == (window < newest).sum() + (max(same, 1) + 1) / 2


def test_ranks_over_more_groups_than_a_vector_counts(rng):
    values = rng.permutation(150_000).astype(float)
    memory = allocate(len(values), 140_000)
    _, result, _ = ranks_in_parts(values, np.zeros(len(values), bool), None, 140_000, memory)
    assert check(memory.members)
    for i in range(0, len(result), 997):
        assert result[i] == (values[i : i + 140_000] < values[i + 139_999]).sum() + 1


def test_ranks_stop_before_a_part_that_no_scale_suits(rng):
    values = rng.random(5000)
    values[2500] = np.inf
    done, _, _ = ranks_in_parts(values, np.zeros(5000, bool), None, 100, allocate(1000, 100))
    assert done == 1802
