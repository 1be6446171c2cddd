"""The tree of maximal counts against plain counting."""

import numpy as np

from rollstat.kernels.rank_space.mode import add_to_count, check, create, find_modes, leftmost_maximum


def test_counts_and_the_leftmost_maximum(rng):
    for ranks in (1, 2, 37):
        maxima = create(ranks)
        counts = np.zeros(ranks, int)
        for _ in range(300):
            rank = int(rng.integers(ranks))
            difference = -1 if counts[rank] and rng.random() < 0.5 else 1
            counts[rank] += difference
            assert add_to_count(maxima, rank, difference) == counts[rank]
            assert check(maxima)
            assert leftmost_maximum(maxima) == counts.argmax()
    maxima[1] += 1
    assert not check(maxima)


def test_modes_of_irregular_windows(rng):
    rank = rng.integers(-1, 6, 200)
    start = np.sort(rng.integers(0, 200, 60))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 40, 60), 200))
    end = np.maximum(end, start)
    result = np.zeros(60, np.int64)
    find_modes(rank, start, end, create(6), result)
    for i in range(60):
        seen = rank[start[i] : end[i]]
        seen = seen[seen >= 0]
        if len(seen):
            assert result[i] == np.bincount(seen).argmax()
