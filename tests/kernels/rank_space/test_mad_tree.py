"""The median distance against NumPy, and the steps that it may take, counted."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rollstat.algorithms.ranking import tied_ranks
from rollstat.kernels.rank_space import bitset_tree
from rollstat.kernels.rank_space.mad_tree import (
    WALK,
    follow_deviation,
    nearest,
    whole_deviation,
    whole_distance,
)


def follow(values, start, end, missing=None):
    """Run the kernel, and return the four results and the counts of steps."""
    rank, ordered = tied_ranks(values, missing)
    found = [np.zeros(len(start), values.dtype) for _ in range(4)]
    words, counts = bitset_tree.create(len(ordered))
    steps = np.zeros(2, np.int64)
    held, cursors = np.zeros(len(ordered), np.int64), np.zeros((3, 2), np.int64)
    follow_deviation(rank, ordered, start, end, held, words, counts, cursors, steps, *found)
    assert bitset_tree.check(words, counts)
    return found, steps


def series(rng, n):
    """Series that move the median a little, much, and from level to level."""
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
        (lower, upper, near, far), _ = follow(values, start, start + m)
        windows = np.lib.stride_tricks.sliding_window_view(values, m)
        median = np.median(windows, axis=1)
        assert np.array_equal((lower + upper) / 2, median)
        wanted = np.median(np.abs(windows - median[:, None]), axis=1)
        assert np.array_equal((near + far) / 2, wanted)


def test_windows_that_jump_and_missing_values(rng):
    for values in series(rng, 300):
        missing = rng.random(300) < 0.3
        start = np.sort(rng.integers(0, 300, 150))
        end = np.maximum(start, np.sort(rng.integers(0, 301, 150)))
        (_, _, near, far), _ = follow(values, start, end, missing)
        for i in range(150):
            seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
            if len(seen):
                assert (near[i] + far[i]) / 2 == np.median(np.abs(seen - np.median(seen)))


def test_no_row_takes_more_steps_than_promised(rng):
    n = 1 << 11
    ranks = 1 << math.ceil(math.log2(n))
    promised = WALK + 2 * (math.log2(ranks) + 1)
    for values in series(rng, n):
        for m in (101, 1001):
            start = np.arange(n - m + 1)
            _, (total, worst) = follow(values, start, start + m)
            assert worst <= promised
            assert total <= promised * len(start)


def test_on_noise_and_walks_the_nearest_half_moves_by_a_step(rng):
    n, m = 1 << 12, 501
    start = np.arange(n - m + 1)
    for values in (rng.standard_normal(n), rng.standard_normal(n).cumsum()):
        _, (total, _) = follow(values, start, start + m)
        assert total < 2 * len(start)


def test_the_descent_finds_any_number_of_nearest(rng):
    for trial in range(60):
        n = int(rng.integers(2, 200))
        ordered = np.sort(rng.integers(0, [3, 30, 10**6][trial % 3], n) * 1.0)
        words, counts = bitset_tree.create(n)
        members = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False))
        for r in members:
            bitset_tree.add(words, counts, r)
        below = int(rng.integers(0, len(members)))
        center = ordered[members[below]]
        distances = np.abs(ordered[members] - center)
        for wanted in range(1, len(members) + 1):
            split, steps = members[below], np.zeros(1, np.int64)
            above = len(members) - below
            taken = nearest(words, counts, ordered, center, center, below, above, split, wanted, steps)
            chosen = distances[below - taken : below + wanted - taken]
            assert len(chosen) == wanted
            assert chosen.max() == np.sort(distances)[wanted - 1]


def test_distances_of_whole_numbers_are_exact_to_the_ends_of_their_range():
    top = 2**64 - 1
    for values in ([0, top], [0, 0, top, top], [top - 2, top - 1, top], [1, 4, 6, 2**63, 2**63 + 1]):
        array = np.array(values, np.uint64)
        found, _ = follow(array, np.array([0]), np.array([len(array)]))
        result = np.zeros(1)
        whole_deviation(*found, result)
        twice = sorted(2 * v for v in values)
        center = (twice[(len(twice) - 1) // 2] + twice[len(twice) // 2]) // 2
        distances = sorted(abs(v - center) for v in twice)
        exact = distances[(len(twice) - 1) // 2] + distances[len(twice) // 2]
        assert result[0] == float(exact) / 4


@pytest.mark.parametrize("scale", [4, 2**53, 2**62, 2**64 - 9])
def test_distances_of_whole_numbers_from_the_middle_are_rounded_once(scale):
    steps = [0, 1, 2, 3, 5, 8, scale // 2, scale // 2 + 1, scale, scale + 1, scale + 3, scale + 4]
    triples = [(key, low, high) for key in steps for low in steps for high in steps if low <= high]
    key, lower, upper = np.array(triples, np.uint64).T.copy()
    result = np.empty(len(triples))
    whole_distance(key, lower, upper, result)
    assert result.tolist() == [float(abs(key - Fraction(low + high, 2))) for key, low, high in triples]
