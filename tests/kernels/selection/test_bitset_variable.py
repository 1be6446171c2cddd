"""The counted bit set against a sorted list, and windows against brute force."""

import numpy as np
import pytest

from rollstat.kernels.selection.bitset_variable import (
    allocate,
    exclude,
    following,
    include,
    nearby,
    seek,
    slide_any,
)
from tests.kernels.selection.invariants import counted_ranks


@pytest.mark.parametrize("ranks", [1, 64, 65, 5000, 700_000])
def test_set_operations(ranks):
    rng = np.random.default_rng(ranks)
    rank_set, held = allocate(ranks), set()
    for step in range(120):
        rank = int(rng.integers(ranks))
        if rank in held:
            exclude(rank_set, rank)
            held.remove(rank)
        else:
            include(rank_set, rank)
            held.add(rank)
        ordered = sorted(held)
        for target in {0, len(ordered) // 2, len(ordered) - 1} if ordered else ():
            assert seek(rank_set, target) == ordered[target]
            assert following(rank_set, ordered[target]) == ordered[target]
        origin = int(rng.integers(ranks))
        above = [r for r in ordered if r >= origin]
        if above:
            assert following(rank_set, origin) == above[0]
        if step % 30 == 0:
            assert counted_ranks(rank_set)
    rank_set.fine[0] += 1
    assert not counted_ranks(rank_set)
    rank_set.fine[0] -= 1
    assert counted_ranks(rank_set)
    rank_set.coarse[0] += 1
    assert not counted_ranks(rank_set)


@pytest.mark.parametrize("gap", [1, 5, 70, 300])
def test_set_bits_nearby(gap):
    ranks = 3000
    rank_set = allocate(ranks)
    held = list(range(7, ranks, gap))
    for rank in held:
        include(rank_set, rank)
    bits = rank_set.bits[: ranks // 64 + 1]
    for origin in (0, 7, 63, 64, 1500, 2999):
        first = np.searchsorted(held, origin)
        for ahead in (-40, -3, -2, -1, 0, 1, 2, 3, 40):
            found = nearby(bits, origin, ahead)
            if found >= 0:
                assert found == held[first + ahead]
            else:
                far = not 0 <= first + ahead < len(held)
                assert far or abs(held[first + ahead] // 64 - origin // 64) >= 8


def slide(rank, start, end, wanted):
    lower, upper = np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, np.int64)
    rank_set = allocate(len(rank))
    slide_any(rank, start, end, wanted, rank_set, np.zeros((2, len(wanted)), np.int64), lower, upper)
    assert counted_ranks(rank_set)
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
