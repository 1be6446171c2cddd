r"""Median of a window and the median of the distances from it, exactly.

::

    in order     y0  y1  y2  y3  y4  y5  y6       c = 7 observations, the median is y3
    distances    <-- grow --  0  -- grow -->       two sorted sequences that meet in the median
    nearest          [---------------)             the K = 4 nearest are neighbours: y[l], ..., y[l + K - 1]
                     l               l + K

The K-th smallest distance is that of one of the two ends of the nearest K, the next one that of a neighbour
of the ends. The right l is the one where no neighbour outside is nearer than the end on the other side.

Distances are computed from below as ``low - y`` and from above as ``y - high``. Floating numbers have
``low == high``, the rounded median, so that distances round as in NumPy; rounding is monotone, hence the
sequences stay sorted and the selection is exact. Unsigned whole numbers have the two middle observations,
which makes the distances exact but for the half of ``high - low`` that all of them lack.

State, beside a :mod:`rollstat.kernels.rank_space.bitset_tree` and ``held`` (observations of each tied rank):
``cursors``,
int64 (3, 2), at the upper median, at y[l] and at y[l + K]; ``steps``, int64 (2,), how many steps were taken
in all and by the worst row.

Invariant: a cursor knows how many observations lie below its rank, whatever entered and left.

Cost: as long as l moves by a few observations the cursors walk. Otherwise, for instance where the median
jumps between the levels of an alternating signal, l is found by one descent of both sequences at a time,
in which every step halves one of the two: at most WALK + 2 (log2 n + 1) steps a row, worst case, in a
stretch of n observations, and O(log n) for each row that enters or leaves.

Source: selection in two sorted sequences, Frederickson and Johnson, The complexity of selection and ranking
in X + Y and matrices with sorted columns, J. Comput. Syst. Sci. 24 (1982), doi:10.1016/0022-0000(82)90048-4,
on the implicit tree of ranks instead of on arrays.
"""

import numpy as np
from numba import types

from rollstat._jit import kernel
from rollstat._lowering import count_ones, overloaded
from rollstat.kernels.rank_space.bitset_tree import (
    BELOW,
    RANK,
    add,
    at_or_after,
    before,
    cursor_add,
    cursor_remove,
    remove,
    settle,
)

__all__ = [
    "WALK",
    "centers",
    "float_deviation",
    "follow_deviation",
    "middle",
    "nearest",
    "whole_deviation",
    "whole_distance",
]

WALK = 8

_ONE = np.uint64(1)


@kernel
def middle(below, above):
    """Mean of two floating numbers; halved first where their sum would overflow."""
    total = below + above
    if np.isinf(total):
        return below * 0.5 + above * 0.5
    return total / 2.0


def centers(below, above):
    """From where distances of smaller and of larger values count, given the two middle ones."""
    if isinstance(below, np.floating):
        return middle(below, above), middle(below, above)
    return below, above


@overloaded(centers)
def _centers(below, above):
    if isinstance(below, types.Float):
        return lambda below, above: (middle(below, above), middle(below, above))
    return lambda below, above: (below, above)


@kernel
def _in_node(words, counts, low, shift):
    """Number of members in ``[low, low + 2**shift)``, a node of the tree or part of a word."""
    if shift >= 6:
        return np.int64(counts[(64 * len(words) + low) >> shift])
    mask = (_ONE << np.uint64(1 << shift)) - _ONE
    return count_ones((words[low >> 6] >> np.uint64(low & 63)) & mask)


@kernel
def nearest(words, counts, ordered, low, high, below, above, split, wanted, steps):
    """How many of the `wanted` smallest distances are those of observations below the split.

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
    # The node of each side that the answer is in, and the observations of that side in it.
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
        # All in the near half of a node are as near as its pivot or nearer, all in the far half as far or
        # farther. A single observation counts as near where it is the nearer pivot.
        first = low - ordered[pivot] <= ordered[other_pivot] - high
        near = below - _in_node(words, counts, start, shift - 1) if shift > 0 else int(first)
        other_near = int(not first)
        if other_shift > 0:
            other_near = above - _in_node(words, counts, other_pivot, other_shift - 1)
        if wanted <= near + other_near:
            # Enough are as near as the farther pivot: what lies behind it is not needed.
            if first:
                above = other_near
                other_shift = max(other_shift - 1, 0)
            else:
                below = near
                start = pivot
                shift = max(shift - 1, 0)
        elif first:
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
def _balance(words, counts, ordered, low, high, cursors, half, wanted, steps):
    """Place the second cursor at the first and the third behind the last of the `wanted` nearest."""
    first, beyond = cursors[1], cursors[2]
    index = min(first[BELOW], half)
    a = settle(words, counts, first, index)
    b = settle(words, counts, beyond, index + wanted)
    walked = 0
    while walked < WALK:
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
        walked += 1
    steps[0] += walked
    if walked == WALK:
        split = cursors[0, RANK]
        above = counts[1] - half
        index = half
        if half > 0:
            index -= nearest(words, counts, ordered, low, high, half, above, split, wanted, steps)
        a = settle(words, counts, first, index)
        b = settle(words, counts, beyond, index + wanted)
    first[RANK], first[BELOW] = a, index
    beyond[RANK], beyond[BELOW] = b, index + wanted
    return index


@kernel
def _deviation(words, counts, ordered, cursors, steps):
    """Return the two middle observations, and the two middle distances from the median."""
    count = np.int64(counts[1])
    half = count // 2
    wanted = count - half
    upper = ordered[settle(words, counts, cursors[0], half)]
    lower = upper
    if 2 * half == count:
        lower = ordered[before(words, counts, cursors[0, RANK])]
    low, high = centers(lower, upper)
    index = _balance(words, counts, ordered, low, high, cursors, half, wanted, steps)
    a, b = cursors[1, RANK], cursors[2, RANK]
    near = far = low - low
    if index + wanted > half:
        near = ordered[before(words, counts, b)] - high
    if index < half:
        from_low = low - ordered[a]
        near = from_low if index + wanted <= half or from_low > near else near
        far = ordered[b] - high
    if 2 * half != count:
        return lower, upper, near, near
    if index > 0:
        from_low = low - ordered[before(words, counts, a)]
        far = from_low if index == half or from_low < far else far
    return lower, upper, near, far


@kernel
def follow_deviation(rank, ordered, start, end, held, words, counts, cursors, steps, lower, upper, near, far):
    """Write the two middle observations and the two middle distances of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    ordered : ndarray of float64 or uint64, shape (observations,)
        Value of every rank.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    held, words, counts, cursors, steps
        State, zero at first.
    lower, upper, near, far : ndarray of the dtype of `ordered`, shape (rows,)
        Receive the observations of ranks ``(c - 1) // 2`` and ``c // 2``, and the distances of these
        ranks; nothing is written for windows without observations.
    """
    left = right = 0
    middle_cursor, first, beyond = cursors[0], cursors[1], cursors[2]
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                held[rank[left]] -= 1
                place = rank[left] + held[rank[left]]
                remove(words, counts, place)
                cursor_remove(middle_cursor, place)
                cursor_remove(first, place)
                cursor_remove(beyond, place)
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                place = rank[right] + held[rank[right]]
                held[rank[right]] += 1
                add(words, counts, place)
                cursor_add(middle_cursor, place)
                cursor_add(first, place)
                cursor_add(beyond, place)
            right += 1
        if counts[1] > 0:
            so_far = steps[0]
            lower[i], upper[i], near[i], far[i] = _deviation(words, counts, ordered, cursors, steps)
            steps[1] = max(steps[1], steps[0] - so_far)


@kernel
def _rounded(whole, odd):
    """Return ``whole + odd / 2``, rounded once; `odd` is 0 or 1."""
    one = np.uint64(1)
    if whole >> np.uint64(62) == 0:
        return np.float64(whole << one | odd) * 0.5
    return np.float64(whole | odd)  # far below the last place: it only breaks a tie


@kernel
def whole_deviation(lower, upper, near, far, result):
    """Turn what :func:`follow_deviation` wrote for whole numbers into median absolute deviations.

    The deviation is ``(near + far + (upper - lower)) / 2``, at most the largest distance of two values,
    so that the whole part fits where the sum would not. Floating results are rounded once.
    """
    one = np.uint64(1)
    for i in range(len(result)):
        gap = upper[i] - lower[i]
        odd = (near[i] & one) + (far[i] & one) + (gap & one)
        whole = (near[i] >> one) + (far[i] >> one) + (gap >> one) + (odd >> one)
        result[i] = _rounded(whole, odd & one)


@kernel
def whole_distance(key, lower, upper, result):
    """Write the distance of every whole number of `key` from the mean of two others, rounded once.

    All are unsigned, ``lower <= upper``.
    """
    one = np.uint64(1)
    for i in range(len(result)):
        half, odd = (upper[i] - lower[i]) >> one, (upper[i] - lower[i]) & one
        if key[i] >= upper[i]:
            whole = key[i] - upper[i] + half
        elif key[i] <= lower[i]:
            whole = lower[i] - key[i] + half
        elif key[i] - lower[i] > half:
            whole = key[i] - lower[i] - half - odd
        else:
            whole = half - (key[i] - lower[i])
        result[i] = _rounded(whole, odd)


@kernel
def float_deviation(lower, upper, near, far, center, result):
    """Turn what :func:`follow_deviation` wrote for floating numbers into medians and deviations.

    Where the median is not finite there is no distance from it: the deviation is NaN, as in NumPy.
    """
    for i in range(len(result)):
        center[i] = middle(lower[i], upper[i])
        result[i] = middle(near[i], far[i]) if np.isfinite(center[i]) else np.nan
