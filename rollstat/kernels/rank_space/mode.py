r"""Most frequent value of a window, the smallest of several: a tree of maximal counts over ranks.

::

    peaks              3                 peaks[1]: the highest count
                   1       3             node i has the children 2i and 2i + 1
                  1 1     0 3            leaves: how often the value of that rank is in the window
                            ^ mode       found by going left wherever the left child holds the highest count

State: ``peaks``, int32 or int64 (2 w,), w a power of two, the heap-shaped tree; the best rank and its count.

Invariant: every inner node is the larger of its two children. The best rank is the leftmost leaf with the
highest count, unless an observation of it has left since; then the tree is asked again.

Cost: O(log n) a row that enters, leaves or is asked for, worst case, in a stretch of n observations: a change
climbs only as long as it changes a maximum, and the tree is descended only after an observation of the mode
left. The stretch is sorted before, O(n log n).

Source: range mode by a segment tree with point updates; see Krizanc, Morin and Smid, Range mode and range
median queries on lists and trees, Nordic J. Comput. 12 (2005), for what harder questions of this kind cost.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["change", "check", "create", "follow_mode", "leftmost_peak"]


def create(ranks):
    """Make an empty tree for ranks below `ranks`."""
    size = 1
    while size < ranks:
        size *= 2
    return np.zeros(2 * size, np.int32 if ranks < 1 << 31 else np.int64)


@kernel
def change(peaks, rank, difference):
    """Add `difference` to the count of a rank, and return the new count."""
    node = (len(peaks) >> 1) + rank
    peaks[node] += difference
    count = peaks[node]
    while node > 1:
        highest = max(peaks[node], peaks[node ^ 1])
        node >>= 1
        if peaks[node] == highest:
            break
        peaks[node] = highest
    return count


@kernel
def leftmost_peak(peaks):
    """Lowest rank with the highest count."""
    size = len(peaks) >> 1
    node = 1
    while node < size:
        node *= 2
        node += peaks[node] < peaks[node + 1]
    return node - size


@kernel
def follow_mode(rank, start, end, peaks, result):
    """Write the tied rank of the mode of every window; that of an empty window is any.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    peaks
        State, empty at first.
    result : ndarray of int64, shape (rows,)
        Receives the ranks.
    """
    left = right = best = 0
    for i in range(len(start)):
        lost = False
        while left < start[i]:
            if left < right and rank[left] >= 0:
                change(peaks, rank[left], -1)
                lost |= rank[left] == best
            left += 1
        right = max(left, right)
        if lost:
            best = leftmost_peak(peaks)
        highest = peaks[(len(peaks) >> 1) + best]
        while right < end[i]:
            if rank[right] >= 0:
                count = change(peaks, rank[right], 1)
                if count > highest or (count == highest and rank[right] < best):
                    best, highest = np.int64(rank[right]), count
            right += 1
        result[i] = best


@kernel
def check(peaks):
    """Whether every inner node is the larger of its children."""
    right = True
    for i in range(1, len(peaks) >> 1):
        right &= peaks[i] == max(peaks[2 * i], peaks[2 * i + 1])
    return right
