r"""Median of a window and the median distance from it, exactly, in a tree over ranks.

::

    in order     y0  y1  y2  y3  y4  y5  y6       c = 7 observations, the median is y3
    distances    <-- grow --  0  -- grow -->       two sorted sequences that meet at the median
    nearest          [---------------)             the K = 4 nearest are neighbours: y[l], ..., y[l + K - 1]
                     l               l + K

The K-th smallest distance is that of one of the two ends of the nearest K. The next one is that of a
neighbour of the ends. The index l is right if no value outside is nearer than the end on the other side.
:mod:`rollstat.kernels.rank_space.distances` defines the distances.

State: a :class:`Scratch` with a :mod:`rollstat.kernels.rank_space.bitset_tree` of the window, its ``copies``,
``cursors``, int64 (3, 2), at the upper median, at y[l] and at y[l + K], and ``steps``, int64 (2,), the steps
of the searches for l in all rows and in the worst row.

Invariant: every cursor holds the number of observations below its rank, after every change of the window.

Cost: as long as l moves by a few observations, the cursors step over single members. Otherwise, for instance
where the median jumps between the levels of an alternating signal, one descent of both sequences at once
finds l; every step halves one of the two. A row takes at most LINEAR_STEPS + 2 (log2 n + 1) steps in the
worst case, in a block of n observations, and O(log n) for each row that enters or leaves.

Source: selection in two sorted sequences, Frederickson and Johnson, The complexity of selection and ranking
in X + Y and matrices with sorted columns, J. Comput. Syst. Sci. 24 (1982), doi:10.1016/0022-0000(82)90048-4,
on the implicit tree of ranks instead of on arrays.
"""

from typing import NamedTuple

import numpy as np

from rollstat._jit import kernel
from rollstat._lowering import count_ones
from rollstat.kernels.rank_space import bitset_tree
from rollstat.kernels.rank_space.bitset_tree import (
    BELOW,
    RANK,
    add_observation,
    at_or_after,
    before,
    cursor_add,
    cursor_remove,
    remove_observation,
    seek,
)
from rollstat.kernels.rank_space.distances import centers, near_distance

__all__ = ["LINEAR_STEPS", "Scratch", "count_nearest_below", "create", "find_distances"]

# Steps that a search takes from the last answer before it descends the tree.
LINEAR_STEPS = 8

_ONE = np.uint64(1)


class Scratch(NamedTuple):
    """State of :func:`find_distances`, see the module."""

    copies: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    cursors: np.ndarray
    steps: np.ndarray


def create(ranks):
    """Return the state of an empty window for ranks below `ranks`."""
    words, counts = bitset_tree.create(ranks)
    return Scratch(
        np.zeros(ranks, np.int64), words, counts, np.zeros((3, 2), np.int64), np.zeros(2, np.int64)
    )


@kernel
def _count_in_node(words, counts, low, shift):
    """Return the number of members in ``[low, low + 2**shift)``, a node of the tree or part of a word."""
    if shift >= 6:
        return np.int64(counts[(64 * len(words) + low) >> shift])
    mask = (_ONE << np.uint64(1 << shift)) - _ONE
    return count_ones((words[low >> 6] >> np.uint64(low & 63)) & mask)


@kernel
def count_nearest_below(words, counts, ordered, low, high, below, above, split, wanted, steps):
    """Return how many of the `wanted` smallest distances are those of observations below the split.

    Parameters
    ----------
    words, counts
        The observations of the window, a set of ranks.
    ordered : ndarray
        Value of every rank.
    low, high
        Distances are ``low - value`` below the split, ``value - high`` from it on.
    below, above : int
        Observations on the two sides.
    split : int
        The first rank above; the last observation below it has a value of at most `low`.
    wanted : int
        From 1 to ``below + above``.
    steps : ndarray of int64
        The first entry counts steps.
    """
    top = 6
    while (1 << top) < 64 * len(words):
        top += 1
    # Each side has a node, 2**shift ranks from its start, that contains the last of its `wanted` nearest.
    # `below` and `above` count the observations of that side that are still candidates.
    shift, other_shift = top, top
    start = other_start = 0
    end = before(words, counts, split) + 1
    taken = 0
    while below > 0 and above > 0:
        steps[0] += 1
        pivot, other_pivot = start, other_start
        if shift > 0:
            pivot = start + (1 << (shift - 1))
            if pivot >= end:
                shift -= 1
                continue
        if other_shift > 0:
            other_pivot = other_start + (1 << (other_shift - 1))
            if other_pivot <= split:
                other_start = other_pivot
                other_shift -= 1
                continue
            if other_pivot >= len(ordered):
                other_shift -= 1
                continue
        # In the near half of a node all are as near as its pivot or nearer, in the far half all are as far
        # or farther. A single observation counts as near if its side has the nearer pivot.
        first = low - ordered[pivot] <= ordered[other_pivot] - high
        near = below - _count_in_node(words, counts, start, shift - 1) if shift > 0 else int(first)
        other_near = int(not first)
        if other_shift > 0:
            other_near = above - _count_in_node(words, counts, other_pivot, other_shift - 1)
        if wanted <= near + other_near:
            # Enough are as near as the farther pivot: drop the half behind it.
            if first:
                above = other_near
                other_shift = max(other_shift - 1, 0)
            else:
                below = near
                start = pivot
                shift = max(shift - 1, 0)
        elif first:
            # Too few: the half before the nearer pivot is among the nearest.
            taken += near
            wanted -= near
            below -= near
            shift = max(shift - 1, 0)
        else:
            wanted -= other_near
            above -= other_near
            other_start = other_pivot
            other_shift = max(other_shift - 1, 0)
    return taken + (wanted if below > 0 else 0)


@kernel
def _seek_nearest(words, counts, ordered, low, high, cursors, half, wanted, steps):
    """Move the second cursor to the first and the third after the last of the `wanted` nearest.

    Return the number of observations below the nearest.
    """
    first, beyond = cursors[1], cursors[2]
    index = min(first[BELOW], half)
    a = seek(words, counts, first, index)
    b = seek(words, counts, beyond, index + wanted)
    moved = 0
    while moved < LINEAR_STEPS:
        if index < half and low - ordered[a] > ordered[b] - high:
            index += 1
            a = at_or_after(words, counts, a + 1)
            b = at_or_after(words, counts, b + 1)
        elif index > 0:
            nearer, farther = before(words, counts, a), before(words, counts, b)
            if not low - ordered[nearer] < ordered[farther] - high:
                break
            index -= 1
            a, b = nearer, farther
        else:
            break
        moved += 1
    steps[0] += moved
    if moved == LINEAR_STEPS:
        split = cursors[0, RANK]
        above = counts[1] - half
        index = half
        if half > 0:
            index -= count_nearest_below(words, counts, ordered, low, high, half, above, split, wanted, steps)
        a = seek(words, counts, first, index)
        b = seek(words, counts, beyond, index + wanted)
    first[RANK], first[BELOW] = a, index
    beyond[RANK], beyond[BELOW] = b, index + wanted
    return index


@kernel
def _distances(words, counts, ordered, cursors, steps):
    """Return the two middle observations, and the two middle distances from the median."""
    count = np.int64(counts[1])
    half = count // 2
    wanted = count - half
    upper = ordered[seek(words, counts, cursors[0], half)]
    lower = upper
    if 2 * half == count:
        lower = ordered[before(words, counts, cursors[0, RANK])]
    low, high = centers(lower, upper)
    index = _seek_nearest(words, counts, ordered, low, high, cursors, half, wanted, steps)
    a, b = cursors[1, RANK], cursors[2, RANK]
    last = ordered[before(words, counts, b)]
    near = near_distance(low, high, ordered[a], last, index < half, index + wanted > half)
    far = near
    if 2 * half == count:
        if index < half:
            far = ordered[b] - high
        if index > 0:
            below = low - ordered[before(words, counts, a)]
            far = below if index == half or below < far else far
    return lower, upper, near, far


@kernel
def find_distances(rank, ordered, start, end, scratch, lower, upper, near, far):
    """Write the two middle observations and the two middle distances of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    ordered : ndarray of float64 or uint64, shape (observations,)
        Value of every rank.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    scratch : Scratch
        State of an empty window.
    lower, upper, near, far : ndarray of the dtype of `ordered`, shape (rows,)
        Receive the observations of ranks ``(c - 1) // 2`` and ``c // 2``, and the distances of these
        ranks; windows without observations are left as they are.
    """
    words, counts, copies = scratch.words, scratch.counts, scratch.copies
    cursors, steps = scratch.cursors, scratch.steps
    left = right = 0
    median, first, beyond = cursors[0], cursors[1], cursors[2]
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                removed = remove_observation(words, counts, copies, rank[left])
                cursor_remove(median, removed)
                cursor_remove(first, removed)
                cursor_remove(beyond, removed)
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                added = add_observation(words, counts, copies, rank[right])
                cursor_add(median, added)
                cursor_add(first, added)
                cursor_add(beyond, added)
            right += 1
        if counts[1] > 0:
            so_far = steps[0]
            lower[i], upper[i], near[i], far[i] = _distances(words, counts, ordered, cursors, steps)
            steps[1] = max(steps[1], steps[0] - so_far)
