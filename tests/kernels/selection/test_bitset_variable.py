"""Order statistics of windows of any shape against brute force."""

import numpy as np
import pytest

from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.bitset_variable import slide_any


def slide(rank, start, end, wanted):
    lower, upper = np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, np.int64)
    window, cursors = rank_set.create(len(rank)), np.zeros((len(wanted), 2), np.int64)
    slide_any(rank, start, end, wanted, window, cursors, lower, upper)
    assert rank_set.check(window)
    return lower, upper


@pytest.mark.parametrize("spread", [1, 40, 3000])
def test_windows_with_jumps_gaps_and_wild_ranks(spread):
    rng = np.random.default_rng(spread)
    length = 6000
    rank = np.full(length, -1, np.int32)
    held = rng.permutation(length)[: 2 * length // 3]
    rank[held] = rng.permutation(len(held))
    start = np.sort(rng.integers(0, length, 150))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, spread, 150), length))
    inside = [np.sort(rank[low:high][rank[low:high] >= 0]) for low, high in zip(start, end)]
    wanted = np.array([[rng.integers(-1, len(ranks)) for ranks in inside] for _ in range(3)])
    lower, upper = slide(rank, start, end, wanted)
    for i, ranks in enumerate(inside):
        for q in range(3):
            target = wanted[q, i]
            if target >= 0:
                assert lower[q, i] == ranks[target]
                assert upper[q, i] == ranks[min(target + 1, len(ranks) - 1)]


def test_long_gaps_between_set_bits_are_crossed_by_the_counts():
    # Low and high values alternate; an odd window then changes sides every row, over a gap of m bits.
    rows, width = 400, 20_001
    length = rows + width - 1
    high = np.arange(length) % 2
    rank = np.where(high, length - length // 2, 0) + np.arange(length) // 2
    start = np.arange(rows)
    wanted = np.full((1, rows), width // 2)
    lower, upper = slide(rank, start, start + width, wanted)
    for i in range(0, rows, 57):
        inside = np.sort(rank[i : i + width])
        assert lower[0, i] == inside[width // 2]
        assert upper[0, i] == inside[width // 2 + 1]
