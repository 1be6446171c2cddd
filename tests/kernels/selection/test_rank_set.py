"""The set of ranks against a sorted list, with the invariant checked after every step."""

import bisect

import numpy as np
import pytest

from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.rank_set import BELOW, RANK, slide_any


@pytest.mark.parametrize("ranks", [1, 64, 65, 900, 700_000])
def test_every_query_after_every_step(rng, ranks):
    state = rank_set.create(ranks)
    size = 64 * len(state.bits)
    cursors = [np.zeros(2, np.int64) for _ in range(3)]
    members: list[int] = []
    for step in range(300):
        rank = int(rng.integers(ranks))
        if step % 100 > 60 and members:
            rank = members[int(rng.integers(len(members)))]
        present = rank in members
        (rank_set.remove if present else rank_set.add)(state, rank)
        for cursor in cursors:
            rank_set.move_cursors(cursor[None], rank, -1 if present else 1)
        members.remove(rank) if present else bisect.insort(members, rank)
        assert rank_set.check(state)
        for asked in (rank, rank + 1, int(rng.integers(size + 1)), 0, size):
            below = bisect.bisect_left(members, asked)
            assert rank_set.at_or_after(state, asked) == (members[below] if below < len(members) else size)
            assert rank_set.before(state, asked) == (members[below - 1] if below else -1)
            for ahead in range(min(2, len(members) - below + 1)):
                index = below + ahead
                found = rank_set.members_around(state, asked, ahead, index, len(members) - index)
                for place, member in enumerate(found, index - 2):
                    if 0 <= place < len(members):
                        assert member == members[place]
                    elif members:
                        assert member < members[0] if place < 0 else member > members[-1]
        for number, cursor in enumerate(cursors):
            index = min(len(members), [len(members) // 2, len(members), int(rng.integers(9))][number])
            found = rank_set.seek(state, cursor, index)
            assert found == cursor[RANK] == (members[index] if index < len(members) else size)
            assert cursor[BELOW] == index
        if members:
            index = int(rng.integers(len(members)))
            assert rank_set.select(state, index) == members[index]


def test_check_finds_a_wrong_count():
    state = rank_set.create(200)
    rank_set.add(state, 130)
    assert rank_set.check(state)
    for counts in (state.fine, state.coarse, state.size):
        counts[0] += 1
        assert not rank_set.check(state)
        counts[0] -= 1
    state.bits[0] = 1
    assert not rank_set.check(state)


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
