"""The set of ranks against a sorted list, with the invariant checked after every step."""

import bisect

import numpy as np
import pytest

from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.rank_set import BELOW, RANK


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
            (rank_set.cursor_remove if present else rank_set.cursor_add)(cursor, rank)
        members.remove(rank) if present else bisect.insort(members, rank)
        assert rank_set.check(state)
        for asked in (rank, rank + 1, int(rng.integers(size + 1)), 0, size):
            below = bisect.bisect_left(members, asked)
            assert rank_set.count_below(state, asked) == below
            assert rank_set.at_or_after(state, asked) == (members[below] if below < len(members) else size)
            assert rank_set.before(state, asked) == (members[below - 1] if below else -1)
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
