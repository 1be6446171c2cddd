"""The median distance against NumPy, and the number of steps against its bound."""

import math

import numpy as np
import pytest

from rollstat.blocks import read_only
from rollstat.kernels.rank_space import mad_tree
from rollstat.kernels.rank_space.mad_tree import LINEAR_STEPS
from rollstat.kernels.selection import rank_set
from rollstat.statistics.selection.ranking import ranks


def find(values, start, end, missing=None):
    """Return the four results of the kernel, and its counts of steps."""
    rank, row = ranks(values, missing)
    ordered = values[row]
    found = [np.zeros(len(start), values.dtype) for _ in range(4)]
    scratch = mad_tree.create(len(ordered))
    mad_tree.find_distances(rank, ordered, start, end, scratch, *found)
    assert rank_set.check(scratch.window)
    return found, scratch.steps


def series(rng, n):
    """Yield series whose medians move a little, much, and between levels."""
    noise = rng.standard_normal(n)
    yield noise
    yield noise.cumsum()
    yield rng.integers(0, 5, n) * 0.1
    yield np.arange(n) % 2 * 1000.0 + noise
    yield np.where(np.arange(n) % 2 > 0, 1e3 + 10 * noise, -1e3 + noise)
    yield 2.0 ** (np.arange(n) % 40)


@pytest.mark.parametrize("m", [1, 2, 5, 30, 31, 250])
def test_equal_to_numpy_to_the_bit(rng, m):
    start = np.arange(300 - m + 1)
    for values in series(rng, 300):
        (lower, upper, near, far), _ = find(values, start, start + m)
        windows = np.lib.stride_tricks.sliding_window_view(values, m)
        median = np.median(windows, axis=1)
        assert np.array_equal((lower + upper) / 2, median)
        wanted = np.median(np.abs(windows - median[:, None]), axis=1)
        assert np.array_equal((near + far) / 2, wanted)


def test_irregular_windows_and_missing_values(rng):
    for values in series(rng, 300):
        missing = rng.random(300) < 0.3
        start = np.sort(rng.integers(0, 300, 150))
        end = np.maximum(start, np.sort(rng.integers(0, 301, 150)))
        (_, _, near, far), _ = find(values, start, end, missing)
        for i in range(150):
            seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
            if len(seen):
                assert (near[i] + far[i]) / 2 == np.median(np.abs(seen - np.median(seen)))


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_parts_that_are_ranked_one_by_one(rng, share):
    start = np.sort(rng.integers(0, 900, 500))
    end = np.minimum(np.maximum.accumulate(start + rng.integers(0, 90, 500)), 900)
    done = []
    for values in series(rng, 900):
        missing = rng.random(900) < share
        missing[300:400] = share > 0  # a part without observations
        whole, _ = find(values, start, end, missing)
        parts = [np.zeros(500) for _ in range(4)]
        memory = mad_tree.allocate(900, 360, np.dtype(float))
        given = read_only(values), read_only(missing if share else missing[:0]), start, end
        done.append(int(mad_tree.find_in_parts(*given, 64, memory, *parts)))
        assert all(np.array_equal(a[: done[-1]], b[: done[-1]]) for a, b in zip(parts, whole))
    assert done[:3] == [500] * 3


def test_steps_of_a_row_stay_within_the_bound(rng):
    n = 1 << 11
    for values in series(rng, n):
        for m in (101, 1001):
            bound = LINEAR_STEPS + math.ceil(math.log2(m))
            start = np.arange(n - m + 1)
            _, (total, worst) = find(values, start, start + m)
            assert worst <= bound
            assert total <= bound * len(start)


def test_nearest_half_moves_by_few_steps_on_noise_and_random_walks(rng):
    n, m = 1 << 12, 501
    start = np.arange(n - m + 1)
    for values in (rng.standard_normal(n), rng.standard_normal(n).cumsum()):
        _, (total, _) = find(values, start, start + m)
        assert total < len(start)
