r"""Median of a window and the median distance from it, exactly, in a set of ranks.

::

    in order     y0  y1  y2  y3  y4  y5  y6       c = 7 observations, the median is y3
    distances    <-- grow --  0  -- grow -->       two sorted sequences that meet at the median
    nearest          [---------------)             the K = 4 nearest are neighbours: y[l], ..., y[l + K - 1]
                     l               l + K

The K-th smallest distance is that of one of the two ends of the nearest K. The next one is that of a
neighbour of the ends. The index l is right if no value outside is nearer than the end on the other side.
:mod:`rollstat.kernels.rank_space.distances` defines the distances.

State: a :class:`Scratch` with a :mod:`rollstat.kernels.selection.rank_set` of the window, its ``copies``,
``cursors``, int64 (3, 2), at the upper median, at y[l] and at y[l + K], and ``steps``, int64 (2,), the steps
of the searches for l in all rows and in the worst row.

Invariant: every cursor holds the number of observations below its rank, after every change of the window.

Cost: as long as l moves by a few observations, the cursors step over single members. Otherwise, for instance
where the median jumps between the levels of an alternating signal, l is found by bisection, with two
selections a step. A row takes at most LINEAR_STEPS + log2 m + 1 steps in the worst case; each row that enters
or leaves takes O(1).

Source: selection in two sorted sequences, Frederickson and Johnson, The complexity of selection and ranking
in X + Y and matrices with sorted columns, J. Comput. Syst. Sci. 24 (1982), doi:10.1016/0022-0000(82)90048-4,
on ranks instead of on arrays.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.distances import centers, near_distance
from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.rank_set import (
    BELOW,
    RANK,
    RankSet,
    add_observation,
    at_or_after,
    before,
    remove_observation,
    seek,
    select,
)

# Steps that a search takes from the last answer before it bisects.
LINEAR_STEPS = 8


class Scratch(NamedTuple):
    """State of :func:`find_distances`, see the module."""

    copies: np.ndarray
    window: RankSet
    cursors: np.ndarray
    steps: np.ndarray


def create(ranks):
    """Return the state of an empty window for ranks below `ranks`."""
    cursors, steps = np.zeros((3, 2), np.int64), np.zeros(2, np.int64)
    return Scratch(np.zeros(ranks, np.int64), rank_set.create(ranks), cursors, steps)


@kernel
def _seek_nearest(window, ordered, low, high, cursors, half, wanted, steps):
    """Move the second cursor to the first and the third after the last of the `wanted` nearest.

    Return the number of observations below the nearest.
    """
    first, beyond = cursors[1], cursors[2]
    index = min(first[BELOW], half)
    a = seek(window, first, index)
    b = seek(window, beyond, index + wanted)
    moved = 0
    while moved < LINEAR_STEPS:
        if index < half and low - ordered[a] > ordered[b] - high:
            index += 1
            a = at_or_after(window, a + 1)
            b = at_or_after(window, b + 1)
        elif index > 0:
            nearer, farther = before(window, a), before(window, b)
            if not low - ordered[nearer] < ordered[farther] - high:
                break
            index -= 1
            a, b = nearer, farther
        else:
            break
        moved += 1
    if moved == LINEAR_STEPS:
        index, most = np.int64(0), half
        while index < most:
            moved += 1
            center = (index + most) >> 1
            nearest, next_to_it = ordered[select(window, center)], ordered[select(window, center + wanted)]
            if low - nearest > next_to_it - high:
                index = center + 1
            else:
                most = center
        a = seek(window, first, index)
        b = seek(window, beyond, index + wanted)
    steps[0] += moved
    first[RANK], first[BELOW] = a, index
    beyond[RANK], beyond[BELOW] = b, index + wanted
    return index


@kernel
def _distances(window, ordered, cursors, steps):
    """Return the two middle observations, and the two middle distances from the median."""
    count = window.size[0]
    half = count // 2
    wanted = count - half
    upper = ordered[seek(window, cursors[0], half)]
    lower = upper
    if 2 * half == count:
        lower = ordered[before(window, cursors[0, RANK])]
    low, high = centers(lower, upper)
    index = _seek_nearest(window, ordered, low, high, cursors, half, wanted, steps)
    a, b = cursors[1, RANK], cursors[2, RANK]
    last = ordered[before(window, b)]
    near = near_distance(low, high, ordered[a], last, index < half, index + wanted > half)
    far = near
    if 2 * half == count:
        if index < half:
            far = ordered[b] - high
        if index > 0:
            below = low - ordered[before(window, a)]
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
    window, copies = scratch.window, scratch.copies
    cursors, steps = scratch.cursors, scratch.steps
    left = right = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            if rank[j] >= 0:
                remove_observation(window, copies, cursors, rank[j])
        for j in range(max(start[i], right), end[i]):
            if rank[j] >= 0:
                add_observation(window, copies, cursors, rank[j])
        left, right = start[i], end[i]
        if window.size[0] > 0:
            so_far = steps[0]
            lower[i], upper[i], near[i], far[i] = _distances(window, ordered, cursors, steps)
            steps[1] = max(steps[1], steps[0] - so_far)
