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
int64 (2,), the steps in all rows and in the worst row after the first of a row. The ranks of the upper
median, of y[l] and of y[l + K] are in registers, each with the number of observations below it.

Invariant: these numbers are right after every change of the window.

Cost: in most rows l moves by at most one observation, which is decided without branches. As long as it moves
by a few more, the cursors step over single members. Otherwise, for instance where the median jumps between
the levels of an alternating signal, l is found by bisection, with two selections a step. A row takes at most
LINEAR_STEPS + log2 m + 1 further steps in the worst case; each row that enters or leaves takes O(1).

Source: selection in two sorted sequences, Frederickson and Johnson, The complexity of selection and ranking
in X + Y and matrices with sorted columns, J. Comput. Syst. Sci. 24 (1982), doi:10.1016/0022-0000(82)90048-4,
on ranks instead of on arrays.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.kernels.rank_space.distances import centers, middle_distances
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
    at_or_after,
    before,
    member_near,
    members_around,
    remove,
    select,
)

# Steps that a search takes, after the first of a row, before it bisects.
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
def _moved(up, down, lower, same, upper):
    """Return one of three neighbours; several selections at once would become one branch."""
    return upper if up else lower if down else same


@kernel(forceinline=True)
def _step(window, ordered, low, high, a, b, index, half, wanted):
    """Move the ends of the `wanted` nearest by at most one observation.

    `a` and `b` are near the ends: each is a rank and the number of members from there up to the end, 0 or 1.
    `index` is the number of observations below the nearest. The result is the ends, the new index, and
    whether the ends move farther. The ends are the ranks of the first of the nearest and of the first one
    after them, and the ranks of the last observations below both.
    """
    top = len(ordered) - 1
    a_far, a_before, a_from, a_after = members_around(window, *a, index, 2)
    b_far, b_before, b_from, b_after = members_around(window, *b, index + wanted, half - index)
    up = (index < half) & (low - ordered[min(a_from, top) & INDEX] > ordered[min(b_from, top) & INDEX] - high)
    down = (index > 0) & (low - ordered[max(a_before, 0) & INDEX] < ordered[max(b_before, 0) & INDEX] - high)
    farther_up = low - ordered[min(a_after, top) & INDEX] > ordered[min(b_after, top) & INDEX] - high
    farther_down = low - ordered[max(a_far, 0) & INDEX] < ordered[max(b_far, 0) & INDEX] - high
    more = (farther_up & (index + 1 < half)) | (farther_down & (index > 1))
    # The direction in which the ends move cannot be predicted, so there is no branch on it. That holds only
    # outside of small loops: in these the compiler turns selections into branches.
    a_below, b_below = _moved(up, down, a_far, a_before, a_from), _moved(up, down, b_far, b_before, b_from)
    first, beyond = _moved(up, down, a_before, a_from, a_after), _moved(up, down, b_before, b_from, b_after)
    return (first, beyond, a_below, b_below), index + np.int64(up) - np.int64(down), more


@kernel(noinline=True)
def _aligned(window, a, b, a_ahead, b_ahead, index, wanted):
    """Return the members with `index` and ``index + wanted`` members below them, so far ahead of a and b."""
    end = index + wanted
    return member_near(window, a, index - a_ahead, index), member_near(window, b, end - b_ahead, end)


@kernel(noinline=True)
def _search(window, ordered, low, high, ends, index, half, wanted):
    """Return the ends and the index as :func:`_step` does, however far the ends move, and the steps taken."""
    a, b, a_before, b_before = ends
    up = index < half and low - ordered[a & INDEX] > ordered[b & INDEX] - high
    for moved in range(LINEAR_STEPS):
        if up and index < half and low - ordered[a & INDEX] > ordered[b & INDEX] - high:
            index += 1
            a, b, a_before, b_before = at_or_after(window, a + 1), at_or_after(window, b + 1), a, b
        elif not up and index > 0 and low - ordered[a_before & INDEX] < ordered[b_before & INDEX] - high:
            index -= 1
            a, b, a_before, b_before = a_before, b_before, before(window, a_before), before(window, b_before)
        else:
            return (a, b, a_before, b_before), index, moved
    found, steps = _bisect(window, ordered, low, high, half, wanted)
    a, b = _aligned(window, a, b, found - index, found - index, found, wanted)
    return (a, b, before(window, a), before(window, b)), found, LINEAR_STEPS + steps


@kernel(forceinline=True)
def _below(rank, other):
    """Return 1 if a rank is below another, else 0; without signs, that is added in one instruction."""
    return np.int64(np.uint64(rank) < np.uint64(other))


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
            leaving = np.int64(rank[j & INDEX])
            if leaving >= 0:
                remove(window, leaving)
                count -= 1
                median_below -= _below(leaving, median)
                a_below -= _below(leaving, a)
                b_below -= _below(leaving, b)
        for j in range(max(start[i], right), end[i]):
            entering = np.int64(rank[j & INDEX])
            if entering >= 0:
                add(window, entering)
                count += 1
                median_below += _below(entering, median)
                a_below += _below(entering, a)
                b_below += _below(entering, b)
        left, right = start[i], end[i]
        if count > 0:
            half = count // 2
            wanted = count - half
            median, median_below = member_near(window, median, median_below, half), half
            below = above = low = high = ordered[median & INDEX]
            if 2 * half == count:
                below = ordered[before(window, median) & INDEX]
                low, high = centers(below, above)
            lower[i], upper[i] = below, above
            # An observation that came or left between the ends makes these two numbers differ.
            index = min(max(a_below, b_below - wanted), half)
            a_ahead, b_ahead = index - a_below, index + wanted - b_below
            if not (0 <= a_ahead <= 1 and 0 <= b_ahead <= 1):
                a, b = _aligned(window, a, b, a_ahead, b_ahead, index, wanted)
                a_ahead = b_ahead = 0
            given = window, ordered, low, high
            ends, index, more = _step(*given, (a, a_ahead), (b, b_ahead), index, half, wanted)
            if more:
                ends, index, moved = _search(*given, ends, index, half, wanted)
                steps[0] += moved
                steps[1] = max(steps[1], moved)
            a, b, a_below, b_below = ends[0], ends[1], index, index + wanted
            first, beyond, before_first, last = ends
            values = ordered[first & INDEX], ordered[last & INDEX]
            around = ordered[max(before_first, 0) & INDEX], ordered[min(beyond, len(ordered) - 1) & INDEX]
            near[i], far[i] = middle_distances(low, high, values, around, index, half, count)


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
