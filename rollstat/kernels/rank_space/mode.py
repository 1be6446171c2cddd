r"""Most frequent value of a window, the smallest of several: a tree of maximal counts over ranks.

::

    maxima             3                 maxima[1]: the highest count
                   1       3             node i has the children 2i and 2i + 1
                  1 1     0 3            leaves: how many observations have that tied rank
                            ^ mode       found by going left wherever the left child has the highest count

State: ``maxima``, int32 or int64 (2 w,), w a power of two, the tree in heap order; the best rank and its
count.

Invariant: every inner node is the larger of its two children. The best rank is the leftmost leaf with the
highest count, except after one of its observations has left; then the tree is descended again.

Cost: O(log n) in the worst case for each row that enters or leaves and for each output row, in a block of n
observations. A change climbs only as long as it changes a maximum, and the tree is descended only after an
observation of the mode has left. The block is sorted beforehand, in O(n log n).

Source: range mode by a segment tree with point updates. Krizanc, Morin and Smid, Range mode and range median
queries on lists and trees, Nordic J. Comput. 12 (2005), give the costs of harder questions of this kind.

Number of distinct values in a window.

::

    rank    5  0  2  2  0        window [1, 5): copies[0] = 2, copies[2] = 2, two distinct values

State: ``copies``, int64 (ranks,), the number of observations of each tied rank in the window.

Invariant: the running count is the number of nonzero entries of ``copies``.

Cost: O(1) in the worst case for each row that enters or leaves, once the block is sorted in O(n log n).
Source: pandas' ``roll_nunique``, with an array instead of a hash table.
"""

import numpy as np

from rollstat.compile.jit import kernel


def create(ranks):
    """Return an empty tree for ranks below `ranks`."""
    size = 1 << max(ranks - 1, 0).bit_length()
    return np.zeros(2 * size, np.int32 if ranks < 1 << 31 else np.int64)


@kernel
def add_to_count(maxima, rank, difference):
    """Add `difference` to the count of a rank, and return the new count."""
    node = (len(maxima) >> 1) + rank
    maxima[node] += difference
    count = maxima[node]
    while node > 1:
        highest = max(maxima[node], maxima[node ^ 1])
        node >>= 1
        if maxima[node] == highest:
            break
        maxima[node] = highest
    return count


@kernel
def leftmost_maximum(maxima):
    """Return the lowest rank with the highest count."""
    size = len(maxima) >> 1
    node = 1
    while node < size:
        node *= 2
        node += maxima[node] < maxima[node + 1]
    return node - size


@kernel
def find_modes(rank, start, end, maxima, result):
    """Write the tied rank of the mode of every window; any rank for an empty window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    maxima : ndarray of int
        State, empty at first.
    result : ndarray of int64, shape (rows,)
        Receives the ranks.
    """
    left = right = best = 0
    for i in range(len(start)):
        lost = False
        while left < start[i]:
            if left < right and rank[left] >= 0:
                add_to_count(maxima, rank[left], -1)
                lost |= rank[left] == best
            left += 1
        right = max(left, right)
        # A removal can make any rank the best; an addition only the added one.
        if lost:
            best = leftmost_maximum(maxima)
        highest = maxima[(len(maxima) >> 1) + best]
        while right < end[i]:
            if rank[right] >= 0:
                count = add_to_count(maxima, rank[right], 1)
                if count > highest or (count == highest and rank[right] < best):
                    best, highest = np.int64(rank[right]), count
            right += 1
        result[i] = best


@kernel
def check(maxima):
    """Return whether every inner node is the larger of its children."""
    right = True
    for i in range(1, len(maxima) >> 1):
        right &= maxima[i] == max(maxima[2 * i], maxima[2 * i + 1])
    return right


@kernel
def count_distinct(rank, start, end, copies, result):
    """Write the number of distinct values of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    copies : ndarray of int64, shape (ranks,)
        State, zero at first.
    result : ndarray, shape (rows,)
        Receives the counts.
    """
    left = right = distinct = 0
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                copies[rank[left]] -= 1
                distinct -= copies[rank[left]] == 0
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                distinct += copies[rank[right]] == 0
                copies[rank[right]] += 1
            right += 1
        result[i] = distinct
