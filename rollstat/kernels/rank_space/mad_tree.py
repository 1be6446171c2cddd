r"""Median of a window and the median distance from it, exactly, in a set of ranks.

::

    in order     y0  y1  y2  y3  y4  y5  y6       c = 7 observations, the median is y3
    distances    <-- grow --  0  -- grow -->       two sorted sequences that meet at the median
    nearest          [---------------)             the K = 4 nearest are neighbours: y[l], ..., y[l + K - 1]
                     l               l + K

The K-th smallest distance is the distance of one of the two ends of the nearest K. The next one is the
distance of a neighbour of the ends. The index l is right if no value outside is nearer than the end on the
other side. :mod:`rollstat.kernels.rank_space.distances` defines the distances.

State: a :class:`Scratch` with a :mod:`rollstat.kernels.selection.rank_set` of the window, and ``steps``,
int64 (2,), the steps of the searches for l in all rows and in the worst row. The ranks of the upper median,
of y[l] and of y[l + K] are in registers, each with the number of observations below it.

Invariant: these numbers are right after every change of the window.

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

from rollstat.compile.jit import INDEX, kernel
from rollstat.kernels.rank_space.distances import centers, near_distance
from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.radix_sort import (
    SortScratch,
    allocate_sort,
    bits_for,
    row_mask,
    sort_observations,
)
from rollstat.kernels.selection.rank_set import (
    RankSet,
    add,
    before,
    member_near,
    neighbours,
    remove,
    select,
)

# Steps that a search takes from the last answer before it bisects.
LINEAR_STEPS = 8


class Scratch(NamedTuple):
    """State of :func:`find_distances`, see the module."""

    window: RankSet
    steps: np.ndarray


class Memory(NamedTuple):
    """Memory of :func:`find_in_parts`.

    Attributes
    ----------
    rank : ndarray of int32, shape (n,)
    ordered : ndarray of the dtype of the values, shape (rows of a part,)
    sort : SortScratch
    scratch : Scratch
    """

    rank: np.ndarray
    ordered: np.ndarray
    sort: SortScratch
    scratch: Scratch


def allocate(rows, most, dtype):
    """Return memory for this many rows, and for parts of at most `most`."""
    return Memory(np.empty(rows, np.int32), np.empty(most, dtype), allocate_sort(most), create(most))


def create(ranks):
    """Return the state of an empty window for ranks below `ranks`."""
    return Scratch(rank_set.create(ranks), np.zeros(2, np.int64))


@kernel(noinline=True)
def _bisect(window, ordered, low, high, half, wanted):
    """Return the number of observations below the `wanted` nearest, and the steps taken."""
    index, most, steps = np.int64(0), half, 0
    while index < most:
        steps += 1
        center = (index + most) >> 1
        nearest, next_to_it = ordered[select(window, center)], ordered[select(window, center + wanted)]
        if low - nearest > next_to_it - high:
            index = center + 1
        else:
            most = center
    return index, steps


@kernel(forceinline=True)
def _nearest(window, ordered, low, high, a, b, index, half, wanted):
    """Return the ends of the `wanted` nearest, the number of observations below them, and the steps taken.

    The ends are the ranks of the first of the nearest and of the first one after them, and the ranks of the
    last observations below both. The search starts at `a` and `b`, with `index` observations below `a`.
    """
    moved, top = 0, len(ordered) - 1
    a_before, a_after = neighbours(window, a)
    b_before, b_after = neighbours(window, b)
    while moved < LINEAR_STEPS:
        nearer, farther = ordered[max(a_before, 0) & INDEX], ordered[max(b_before, 0) & INDEX]
        up = (index < half) & (low - ordered[min(a, top) & INDEX] > ordered[min(b, top) & INDEX] - high)
        down = (index > 0) & (low - nearer < farther - high)
        if not up | down:
            break
        # The direction in which the ends move cannot be predicted, so there is no branch on it.
        index += np.int64(up) - np.int64(down)
        a, b = a_after if up else a_before, b_after if up else b_before
        a_before, a_after = neighbours(window, a)
        b_before, b_after = neighbours(window, b)
        moved += 1
    if moved == LINEAR_STEPS:
        known, known_end = index, index + wanted
        index, steps = _bisect(window, ordered, low, high, half, wanted)
        a, b = member_near(window, a, known, index), member_near(window, b, known_end, index + wanted)
        a_before, b_before = before(window, a), before(window, b)
        moved += steps
    return (a, b, a_before, b_before), index, moved


@kernel(forceinline=True)
def _middle_distances(ordered, low, high, ends, index, half, wanted, count):
    """Return the two middle distances, from the ends of the `wanted` nearest."""
    a, b, below, last = ends
    first, some_below, some_above = ordered[a & INDEX], index < half, index + wanted > half
    near = near_distance(low, high, first, ordered[last & INDEX], some_below, some_above)
    far = near
    if 2 * half == count:
        if index < half:
            far = ordered[b & INDEX] - high
        if index > 0:
            distance = low - ordered[below & INDEX]
            far = distance if index == half or distance < far else far
    return near, far


@kernel
def find_distances(rank, ordered, start, end, scratch, lower, upper, near, far):
    """Write the two middle observations and the two middle distances of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Rank of every row, all different; negative where missing.
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
    window, steps = scratch
    left = right = count = np.int64(0)
    median = a = b = median_below = a_below = b_below = np.int64(0)
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            leaving = np.int64(rank[j])
            if leaving >= 0:
                remove(window, leaving)
                count -= 1
                median_below -= np.int64(leaving < median)
                a_below -= np.int64(leaving < a)
                b_below -= np.int64(leaving < b)
        for j in range(max(start[i], right), end[i]):
            entering = np.int64(rank[j])
            if entering >= 0:
                add(window, entering)
                count += 1
                median_below += np.int64(entering < median)
                a_below += np.int64(entering < a)
                b_below += np.int64(entering < b)
        left, right = start[i], end[i]
        if count > 0:
            half = count // 2
            wanted = count - half
            median, median_below = member_near(window, median, median_below, half), half
            above = ordered[median & INDEX]
            below = ordered[before(window, median) & INDEX] if 2 * half == count else above
            low, high = centers(below, above)
            lower[i], upper[i] = below, above
            index = min(a_below, half)
            a = member_near(window, a, a_below, index)
            b = member_near(window, b, b_below, index + wanted)
            ends, a_below, moved = _nearest(window, ordered, low, high, a, b, index, half, wanted)
            a, b, b_below = ends[0], ends[1], a_below + wanted
            near[i], far[i] = _middle_distances(ordered, low, high, ends, a_below, half, wanted, count)
            steps[0] += moved
            steps[1] = max(steps[1], moved)


@kernel
def find_in_parts(values, missing, start, end, fewest, memory, lower, upper, near, far):
    """Rank a series part by part, and do what :func:`find_distances` does with each.

    Parameters
    ----------
    values : ndarray of float64 or uint64, shape (n,)
    missing : ndarray of bool, shape (n,), or (0,) where no value is missing
    fewest : int
        A part covers at most this many rows, or four first windows if these are more.
    memory : Memory
    start, end, lower, upper, near, far
        As for :func:`find_distances`.

    Returns
    -------
    int
        Number of windows that are done: it stops before a part that the radix sort does not suit.
    """
    rank, ordered, sort, scratch = memory
    window, first = scratch.window, 0
    while first < len(start):
        low = start[first]
        limit, last = low + max(fewest, 4 * (end[first] - low)), first + 1
        while last < len(start) and end[last] <= limit:
            last += 1
        part, absent = values[low : end[last - 1]], missing[low : end[last - 1]]
        count = sort_observations(part, absent, sort)
        if count < 0:
            return first
        if count < len(part):
            rank[low : end[last - 1]] = -1
        mask = row_mask(bits_for(len(part)))
        for i in range(count):
            row = np.int64(sort.records[i] & mask)
            rank[low + row] = i
            ordered[i] = part[row]
        window.bits[:] = 0
        window.fine[:] = 0
        window.coarse[:] = 0
        window.size[0] = 0
        rows = slice(first, last)
        results = lower[rows], upper[rows], near[rows], far[rows]
        find_distances(rank, ordered[:count], start[rows], end[rows], scratch, *results)
        first = last
    return first
