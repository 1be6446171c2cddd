"""The tree of maximal counts against counting."""

import numpy as np

from rollstat.kernels.rank_space.mode import change, check, create, follow_mode, leftmost_peak


def test_counts_and_the_leftmost_of_the_highest(rng):
    for ranks in (1, 2, 37):
        peaks = create(ranks)
        counts = np.zeros(ranks, int)
        for _ in range(300):
            rank = int(rng.integers(ranks))
            difference = -1 if counts[rank] and rng.random() < 0.5 else 1
            counts[rank] += difference
            assert change(peaks, rank, difference) == counts[rank]
            assert check(peaks)
            assert leftmost_peak(peaks) == counts.argmax()
    peaks[1] += 1
    assert not check(peaks)


def test_the_mode_follows_windows_that_jump(rng):
    rank = rng.integers(-1, 6, 200)
    start = np.sort(rng.integers(0, 200, 60))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 40, 60), 200))
    end = np.maximum(end, start)
    result = np.zeros(60, np.int64)
    follow_mode(rank, start, end, create(6), result)
    for i in range(60):
        seen = rank[start[i] : end[i]]
        seen = seen[seen >= 0]
        if len(seen):
            assert result[i] == np.bincount(seen).argmax()
