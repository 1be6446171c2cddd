"""The set of ranks against a sorted list, with the invariant checked after every step."""

import bisect

import numpy as np
import pytest

from rollstat.kernels.rank_space import bitset_tree
from rollstat.kernels.rank_space.bitset_tree import BELOW, RANK


@pytest.mark.parametrize("ranks", [1, 64, 65, 900])
def test_every_query_after_every_step(rng, ranks):
    state = bitset_tree.create(ranks)
    size = 64 * len(state[0])
    cursors = [np.zeros(2, np.int64) for _ in range(3)]
    members: list[int] = []
    for step in range(300):
        rank = int(rng.integers(ranks))
        if step % 100 > 60 and members:
            rank = members[int(rng.integers(len(members)))]
        present = rank in members
        (bitset_tree.remove if present else bitset_tree.add)(*state, rank)
        for cursor in cursors:
            (bitset_tree.cursor_remove if present else bitset_tree.cursor_add)(cursor, rank)
        members.remove(rank) if present else bisect.insort(members, rank)
        assert bitset_tree.check(*state)
        for asked in (rank, rank + 1, int(rng.integers(size + 1)), 0, size):
            below = bisect.bisect_left(members, asked)
            assert bitset_tree.count_below(*state, asked) == below
            assert bitset_tree.at_or_after(*state, asked) == (
                members[below] if below < len(members) else size
            )
            assert bitset_tree.before(*state, asked) == (members[below - 1] if below else -1)
        for number, cursor in enumerate(cursors):
            index = min(len(members), [len(members) // 2, len(members), int(rng.integers(9))][number])
            found = bitset_tree.seek(*state, cursor, index)
            assert found == cursor[RANK] == (members[index] if index < len(members) else size)
            assert cursor[BELOW] == index
        if members:
            index = int(rng.integers(len(members)))
            assert bitset_tree.select(*state, index) == members[index]


def test_check_finds_a_wrong_count():
    words, counts = bitset_tree.create(200)
    bitset_tree.add(words, counts, 130)
    counts[2] += 1
    assert not bitset_tree.check(words, counts)
    counts[2] -= 1
    words[0] = 1
    assert not bitset_tree.check(words, counts)
