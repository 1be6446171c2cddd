r"""Gini mean difference of a window: the mean distance of all pairs of observations, by a tree over ranks.

::

    in order     y0   y1 | y2   y3         pairs = pairs(left) + pairs(right) + pairs across the middle
                  left   |  right
    up(right)  = (y2 - y2) + (y3 - y2)     distances from the first rank of a node
    down(left) = (y1 - y0) + (y1 - y1)     distances to the last rank of a node
    across     = 2 up(right) + 2 down(left) + 2 * 2 (y2 - y1)

State: a :class:`Scratch` of four binary trees in heap order over w ranks, w a power of two. A node holds the
``counts`` of its observations, int64 (2 w,), the sums ``up`` and ``down`` of their distances from the values
of its first and its last rank, and the sum ``pairs`` of the distances of all its pairs, float64 (2 w,).

Invariant: every inner node is the combination of its two children. Nothing is ever subtracted, so no value
that has left the window has any influence. All terms are distances, hence not negative, so nothing cancels.

Small windows are sorted arrays instead, see :mod:`rollstat.kernels.rank_space.sorted_windows`: the gap
between the k-th smallest observation and the next is part of ``k (c - k)`` distances, so one pass over the
gaps sums all pairs.

Cost: O(log n) in the worst case for each row that enters or leaves, in a block of n observations; O(1) for
the result. With a sorted array O(m) a row.

Error: a term passes at most two additions on each of the ``d = ceil(log2 n)`` levels, once in `up` or `down`
and once in `pairs`; the relative error of the result is at most ``(6 d + 8) u``, u = 2**-53, to first order.
With a sorted array it is at most ``(m / 4 + 8) u``. The sum of the pairs of integers is exact up to 2**53.

Source: the merge of sufficient statistics of Chan, Golub and LeVeque, Updating formulae and a pairwise
algorithm for computing sample variances (1979), doi:10.1007/978-3-642-51461-6_3, for Gini's mean difference.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel

# The distances of all pairs of values times this, and their sums, stay in the range of float64.
SCALE = 2.0**-128


class Scratch(NamedTuple):
    """State of :func:`mean_differences`, see the module."""

    counts: np.ndarray
    up: np.ndarray
    down: np.ndarray
    pairs: np.ndarray


def create(ranks):
    """Return the state of an empty window for ranks below `ranks`."""
    size = 1 << max(ranks - 1, 0).bit_length()
    return Scratch(np.zeros(2 * size, np.int64), *np.zeros((3, 2 * size)))


@kernel
def _times(count, distance):
    """Return the product; 0 for no pairs, even if the distance overflowed to infinity."""
    return np.float64(count) * np.float64(distance) if count > 0 else 0.0


@kernel
def _combine(ordered, first, last, counts, up, down, pairs, node, half):
    """Recompute a node with `half` ranks in each child from its children."""
    left, right = 2 * node, 2 * node + 1
    start = 2 * half * node - (len(counts) >> 1)
    # Ranks outside [first, last] have no observations: any finite value will do there.
    a = ordered[min(max(start, first), last)]
    b = ordered[min(max(start + half - 1, first), last)]
    c = ordered[min(max(start + half, first), last)]
    d = ordered[min(max(start + 2 * half - 1, first), last)]
    below, above = counts[left], counts[right]
    counts[node] = below + above
    up[node] = up[left] + (up[right] + _times(above, c - a))
    down[node] = (down[left] + _times(below, d - b)) + down[right]
    across = (_times(below, up[right]) + _times(above, down[left])) + _times(below * above, c - b)
    pairs[node] = (pairs[left] + pairs[right]) + across


@kernel
def _change(ordered, first, last, counts, up, down, pairs, rank, difference):
    """Add `difference` to the count of a tied rank, and recompute the nodes above it."""
    node = (len(counts) >> 1) + rank
    counts[node] += difference
    half = 1
    while node > 1:
        node >>= 1
        _combine(ordered, first, last, counts, up, down, pairs, node, half)
        half *= 2


@kernel
def mean_differences(rank, ordered, first, last, start, end, scratch, result):
    """Write the mean distance of all pairs of observations of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    ordered : ndarray of float64 or uint64, shape (observations,)
        Value of every rank.
    first, last : int
        First and last rank of a finite value; ``last == first - 1`` if there is none.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    scratch : Scratch
        State of an empty window.
    result : ndarray of float64, shape (rows,)
        Receives the means; windows with fewer than two observations are left as they are. One infinity in
        a window gives inf, two equal ones give NaN, as in NumPy.
    """
    counts, up, down, pairs = scratch.counts, scratch.up, scratch.down, scratch.pairs
    left = right = lowest = highest = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            if rank[j] >= 0:
                if rank[j] < first:
                    lowest -= 1
                elif rank[j] > last:
                    highest -= 1
                else:
                    _change(ordered, first, last, counts, up, down, pairs, rank[j], -1)
        for j in range(max(start[i], right), end[i]):
            if rank[j] >= 0:
                if rank[j] < first:
                    lowest += 1
                elif rank[j] > last:
                    highest += 1
                else:
                    _change(ordered, first, last, counts, up, down, pairs, rank[j], 1)
        left, right = start[i], end[i]
        count = counts[1] + lowest + highest
        if count > 1:
            if lowest > 1 or highest > 1:
                result[i] = np.nan
            elif lowest + highest > 0:
                result[i] = np.inf
            else:
                result[i] = pairs[1] / np.float64(count * (count - 1) // 2)


@kernel
def _weighted_gap(window, count, k, scale):
    """Return the part of all distances that lies between the observations of ranks k - 1 and k, scaled."""
    if scale == 1.0:
        gap = np.float64(window[k] - window[k - 1])
    else:
        gap = np.float64(window[k]) * scale - np.float64(window[k - 1]) * scale
    return gap * np.float64(k * (count - k))


@kernel
def _scaled_mean(window, count, scale):
    """Return the mean difference times `scale`, by four partial sums: they do not wait for each other."""
    a = b = c = d = 0.0
    fours = 1 + ((count - 1) & ~3)
    for k in range(1, fours, 4):
        a += _weighted_gap(window, count, k, scale)
        b += _weighted_gap(window, count, k + 1, scale)
        c += _weighted_gap(window, count, k + 2, scale)
        d += _weighted_gap(window, count, k + 3, scale)
    for k in range(fours, count):
        a += _weighted_gap(window, count, k, scale)
    return ((a + b) + (c + d)) / np.float64(count * (count - 1) // 2)


@kernel
def mean_of_sorted(window, count):
    """Return the mean difference. Only values near the limits of float64 are scaled."""
    mean = _scaled_mean(window, count, 1.0)
    if mean == np.inf and np.isfinite(window[0]) and np.isfinite(window[count - 1]):
        mean = _scaled_mean(window, count, SCALE) / SCALE
    return mean


@kernel
def check(ordered, first, last, scratch):
    """Return whether every inner node is the combination of its children; this recomputes all nodes."""
    counts, up, down, pairs = scratch.counts, scratch.up, scratch.down, scratch.pairs
    right = True
    half, nodes = 1, len(counts) >> 2
    while nodes > 0:
        for node in range(nodes, 2 * nodes):
            before = counts[node], up[node], down[node], pairs[node]
            _combine(ordered, first, last, counts, up, down, pairs, node, half)
            right &= before == (counts[node], up[node], down[node], pairs[node])
        half, nodes = 2 * half, nodes >> 1
    return np.bool_(right)
