r"""A set of ranks that counts and finds its members in logarithmic time: bit words under a tree of counts.

::

    counts                 5                  counts[1]: all members
                     3           2            node i has the children 2i and 2i + 1
                  2     1     0     2         the leaves count the words
    words       0110  1000  0000  0011        (words of 4 bits here, of 64 in truth)

State: ``words``, uint64 (w,), w a power of two, bit ``r & 63`` of word ``r >> 6`` set where rank r is a
member; ``counts``, int32 or int64 (2 w,), a heap-shaped binary tree. Ranks run from 0 to ``64 w - 1``, and
``64 w`` stands for "behind all of them".

Invariant: ``counts[w + i]`` is the number of ones in ``words[i]``, and every inner node is the sum of its
two children.

A *cursor*, int64 (2,), points between members: ``below = cursor[BELOW]`` members lie before the rank
``cursor[RANK]``, which need not be a member itself, so that it stays right while members come and go.

Cost: add, remove, count_below, member, at_or_after and before take O(log w), worst case; at_or_after and
before O(1) where the neighbour is in the same word. A cursor moves by single members while they are few,
otherwise it is placed anew in O(log w). Memory: one bit and at most a quarter of a count for each rank.

Source: the counted tree is that of Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, ch. 14
(dynamic order statistics), laid out as a heap; counting by words is from Jacobson, Space-efficient static
trees and graphs (1989), doi:10.1109/SFCS.1989.63533.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat._lowering import count_leading_zeros, count_ones, count_trailing_zeros

__all__ = [
    "BELOW",
    "RANK",
    "add",
    "at_or_after",
    "before",
    "check",
    "count_below",
    "create",
    "cursor_add",
    "cursor_remove",
    "member",
    "remove",
    "settle",
]

RANK, BELOW = 0, 1

_FEW_STEPS = 8
_ONE = np.uint64(1)


def create(ranks):
    """Make an empty set for ranks below `ranks`, as the tuple ``(words, counts)``."""
    size = 1
    while 64 * size < ranks:
        size *= 2
    return np.zeros(size, np.uint64), np.zeros(2 * size, np.int32 if ranks < 1 << 31 else np.int64)


@kernel
def add(words, counts, rank):
    """Make `rank`, which is no member, a member."""
    word = rank >> 6
    words[word] |= _ONE << np.uint64(rank & 63)
    node = len(words) + word
    while node > 0:
        counts[node] += 1
        node >>= 1


@kernel
def remove(words, counts, rank):
    """Make the member `rank` no member."""
    word = rank >> 6
    words[word] &= ~(_ONE << np.uint64(rank & 63))
    node = len(words) + word
    while node > 0:
        counts[node] -= 1
        node >>= 1


@kernel
def count_below(words, counts, rank):
    """Number of members before `rank`."""
    word = rank >> 6
    if word >= len(words):
        return np.int64(counts[1])
    found = count_ones(words[word] & ((_ONE << np.uint64(rank & 63)) - _ONE))
    node = len(words) + word
    while node > 1:
        found += (node & 1) * counts[node ^ 1]
        node >>= 1
    return np.int64(found)


@kernel
def member(words, counts, index):
    """Return the member that has `index` members before it; there are more than `index`."""
    node = 1
    while node < len(words):
        node *= 2
        if counts[node] <= index:
            index -= counts[node]
            node += 1
    word = words[node - len(words)]
    rank = (node - len(words)) << 6
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
    """First member from `rank` on, or ``64 * len(words)``."""
    word = rank >> 6
    if word >= len(words):
        return 64 * len(words)
    bits = words[word] >> np.uint64(rank & 63)
    if bits != 0:
        return rank + count_trailing_zeros(bits)
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
    """Last member before `rank`, or -1."""
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
    """Tell a cursor that `rank` became a member."""
    cursor[BELOW] += rank < cursor[RANK]


@kernel
def cursor_remove(cursor, rank):
    """Tell a cursor that `rank` is no member any more."""
    cursor[BELOW] -= rank < cursor[RANK]


@kernel
def settle(words, counts, cursor, index):
    """Move a cursor to the member that has `index` members before it; behind all if there is none."""
    rank, below = cursor[RANK], cursor[BELOW]
    if index >= counts[1]:
        rank, below = 64 * len(words), np.int64(counts[1])
    elif abs(below - index) > _FEW_STEPS:
        rank, below = member(words, counts, index), index
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
    """Whether all counts are those of the words."""
    size = len(words)
    right = True
    for i in range(size):
        right &= counts[size + i] == count_ones(words[i])
    for i in range(1, size):
        right &= counts[i] == counts[2 * i] + counts[2 * i + 1]
    return right
