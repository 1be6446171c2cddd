r"""Set of ranks that counts and finds its members in O(log n): a bitmap under a tree of counts.

::

    counts                 5                  counts[1]: all members
                     3           2            node i has the children 2i and 2i + 1
                  2     1     0     2         the leaves count the words
    words       0110  1000  0000  0011        (words of 4 bits here, of 64 in the code)

State: ``words``, uint64 (w,), w a power of two; bit ``r & 63`` of word ``r >> 6`` is set where rank r is a
member. ``counts``, int32 or int64 (2 w,), a binary tree in heap order. Ranks run from 0 to ``64 w - 1``;
``64 w`` means "after all members".

Invariant: ``counts[w + i]`` is the number of ones in ``words[i]``, and every inner node is the sum of its
two children.

Equal values share a tied rank r. Their observations take the members ``r, r + 1, ...``; ``copies``, int64
(ranks,), is the number of observations of each tied rank in the window.

A *cursor*, int64 (2,), is a rank and the number of members below it: ``cursor[BELOW]`` members are below
``cursor[RANK]``. The rank need not be a member, so the cursor stays valid while members are added and
removed.

Cost: add, remove, count_below, select, at_or_after and before take O(log w) in the worst case; at_or_after
and before take O(1) where the neighbour is in the same word. A seek of a cursor steps over single members if
they are few, otherwise it descends the tree in O(log w). Memory: one bit and at most a quarter of a count per
rank.

Source: the counted tree is that of Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, ch. 14
(dynamic order statistics), stored as a heap; counting by words is from Jacobson, Space-efficient static
trees and graphs (1989), doi:10.1109/SFCS.1989.63533.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat._lowering import count_leading_zeros, count_ones, count_trailing_zeros

__all__ = [
    "BELOW",
    "RANK",
    "add",
    "add_observation",
    "at_or_after",
    "before",
    "check",
    "count_below",
    "create",
    "cursor_add",
    "cursor_remove",
    "remove",
    "remove_observation",
    "seek",
    "select",
]

RANK, BELOW = 0, 1

_LINEAR_STEPS = 8  # a seek over more members descends the tree
_ONE = np.uint64(1)


def create(ranks):
    """Return an empty set for ranks below `ranks`, as the tuple ``(words, counts)``."""
    size = 1
    while 64 * size < ranks:
        size *= 2
    return np.zeros(size, np.uint64), np.zeros(2 * size, np.int32 if ranks < 1 << 31 else np.int64)


@kernel
def add(words, counts, rank):
    """Add `rank`, which is not a member."""
    word = rank >> 6
    words[word] |= _ONE << np.uint64(rank & 63)
    node = len(words) + word
    while node > 0:
        counts[node] += 1
        node >>= 1


@kernel
def remove(words, counts, rank):
    """Remove the member `rank`."""
    word = rank >> 6
    words[word] &= ~(_ONE << np.uint64(rank & 63))
    node = len(words) + word
    while node > 0:
        counts[node] -= 1
        node >>= 1


@kernel
def add_observation(words, counts, copies, rank):
    """Add an observation of a tied rank, and return its member."""
    added = rank + copies[rank]
    copies[rank] += 1
    add(words, counts, added)
    return added


@kernel
def remove_observation(words, counts, copies, rank):
    """Remove an observation of a tied rank, and return the member that it frees."""
    copies[rank] -= 1
    removed = rank + copies[rank]
    remove(words, counts, removed)
    return removed


@kernel
def count_below(words, counts, rank):
    """Return the number of members below `rank`."""
    word = rank >> 6
    if word >= len(words):
        return np.int64(counts[1])
    found = count_ones(words[word] & ((_ONE << np.uint64(rank & 63)) - _ONE))
    node = len(words) + word
    while node > 1:
        found += (node & 1) * counts[node ^ 1]  # the left sibling of a right child, without a branch
        node >>= 1
    return np.int64(found)


@kernel
def select(words, counts, index):
    """Return the member that has `index` members below it; the set has more than `index` members."""
    node = 1
    while node < len(words):
        node *= 2
        if counts[node] <= index:
            index -= counts[node]
            node += 1
    word = words[node - len(words)]
    rank = (node - len(words)) << 6
    # Binary search inside the word, by the number of ones in its lower half.
    width = 32
    while width > 0:
        low = count_ones(word & ((_ONE << np.uint64(width)) - _ONE))
        if low <= index:
            index -= low
            word >>= np.uint64(width)
            rank += width
        width >>= 1
    return rank


@kernel
def at_or_after(words, counts, rank):
    """Return the first member not below `rank`, or ``64 * len(words)``."""
    word = rank >> 6
    if word >= len(words):
        return 64 * len(words)
    bits = words[word] >> np.uint64(rank & 63)
    if bits != 0:
        return rank + count_trailing_zeros(bits)
    # Climb to the first node whose right sibling has members, then descend to its first word.
    node = len(words) + word
    while node > 1 and (node & 1 == 1 or counts[node ^ 1] == 0):
        node >>= 1
    if node == 1:
        return 64 * len(words)
    node ^= 1
    while node < len(words):
        node *= 2
        node += counts[node] == 0
    word = node - len(words)
    return (word << 6) + count_trailing_zeros(words[word])


@kernel
def before(words, counts, rank):
    """Return the last member below `rank`, or -1."""
    last = rank - 1
    if last < 0:
        return -1
    word = last >> 6
    bits = words[word] << np.uint64(63 - (last & 63))
    if bits != 0:
        return last - count_leading_zeros(bits)
    node = len(words) + word
    while node > 1 and (node & 1 == 0 or counts[node ^ 1] == 0):
        node >>= 1
    if node == 1:
        return -1
    node ^= 1
    while node < len(words):
        node = 2 * node + 1
        node -= counts[node] == 0
    word = node - len(words)
    return (word << 6) + 63 - count_leading_zeros(words[word])


@kernel
def cursor_add(cursor, rank):
    """Update a cursor after `rank` was added."""
    cursor[BELOW] += rank < cursor[RANK]


@kernel
def cursor_remove(cursor, rank):
    """Update a cursor after `rank` was removed."""
    cursor[BELOW] -= rank < cursor[RANK]


@kernel
def seek(words, counts, cursor, index):
    """Move a cursor to the member with `index` members below it, or after all members; return its rank."""
    rank, below = cursor[RANK], cursor[BELOW]
    if index >= counts[1]:
        rank, below = 64 * len(words), np.int64(counts[1])
    elif abs(below - index) > _LINEAR_STEPS:
        rank, below = select(words, counts, index), index
    else:
        while below > index:
            rank = before(words, counts, rank)
            below -= 1
        rank = at_or_after(words, counts, rank)
        while below < index:
            rank = at_or_after(words, counts, rank + 1)
            below += 1
    cursor[RANK] = rank
    cursor[BELOW] = below
    return rank


@kernel
def check(words, counts):
    """Return whether all counts match the words."""
    size = len(words)
    right = True
    for i in range(size):
        right &= counts[size + i] == count_ones(words[i])
    for i in range(1, size):
        right &= counts[i] == counts[2 * i] + counts[2 * i + 1]
    return right
