r"""Trimmed and winsorized means: a tree over ranks sums the observations that are kept.

::

    in order     y0  y1 | y2  y3  y4  y5  y6  y7 | y8  y9       c = 10, proportion 0.2: cut = 2 at both ends
                      low                      high
    trimmed      (y2 + ... + y7) / 6
    winsorized   (2 y2 + y2 + ... + y7 + 2 y7) / 10

State: a :class:`Scratch` with a :mod:`rollstat.kernels.selection.rank_set` of the window, its ``copies``,
``cursors``, int64 (2, 2), at y[cut] and at y[c - cut], and a tree of the sums of
the observations between the two, described below. Small windows are sorted arrays, see
:mod:`rollstat.kernels.rank_space.sorted_windows`.

Invariant: a leaf of the sum tree is the value of its rank for the members from the low cursor up to, but not
including, the high one, and 0 elsewhere. No sum contains a value that is cut off, an infinity for instance.

Cost: O(log n) for each row that enters or leaves, amortised, in a block of n observations: a cursor passes no
more observations than entered or left. With a sorted array O(m).

Source: counts as in SciPy's ``trim_mean`` and ``mstats.winsorize``; Tukey and McLaughlin, Less vulnerable
confidence and significance procedures for location, Sankhya A 25 (1963).

Sum of values that are added and removed, without drift: a tree of sums with eight children a node.

::

    sums                      s                   sums[0]: of all
             s       s       ...       s          node i has the children 8i + 1, ..., 8i + 8
          v v . v  . v v v          . . v .       leaves: the value of a rank, or 0

State: ``sums``, float64, all inner nodes and as many leaves as there are ranks, in groups of eight.

Invariant: every inner node is ``((a + b) + (c + d)) + ((e + f) + (g + h))`` of its children. Nothing is ever
subtracted: after a value is removed, no node depends on it, even for 1e300, an infinity or NaN.

Cost: a change takes log8 n nodes of seven additions each in the worst case; the sum of all takes O(1). Error:
a value passes three additions on each of the ``d = ceil(log8 n)`` levels, so the error of the sum is at most
``3 d u`` times the sum of absolute values, u = 2**-53, to first order.

Source: pairwise summation, Higham, The accuracy of floating point summation, SIAM J. Sci. Comput. 14 (1993),
doi:10.1137/0914050, updated in a complete tree.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.loops import copy
from rollstat.kernels.rank_space.distances import BATCH
from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.rank_set import (
    BELOW,
    RANK,
    RankSet,
    add_observation,
    at_or_after,
    before,
    remove_observation,
)


class Scratch(NamedTuple):
    """State of :func:`trimmed_means`, see the module."""

    copies: np.ndarray
    window: RankSet
    cursors: np.ndarray
    sums: np.ndarray
    base: int


def create(ranks):
    """Return the state of an empty window for ranks below `ranks`."""
    window = rank_set.create(ranks)
    cursors = np.zeros((2, 2), np.int64)
    cursors[1, RANK] = 64 * len(window.bits)
    return Scratch(np.zeros(ranks, np.int64), window, cursors, *create_sums(ranks))


@kernel
def mean_of_kept(total, lowest, highest, count, cut, winsorize):
    """Return the mean of the kept observations, with the others left out or replaced by the nearest kept."""
    if not winsorize:
        return total / (count - 2 * cut)
    if cut > 0:
        total += cut * lowest + cut * highest
    return total / count


@kernel
def _move_cursors(window, ordered, low, high, sums, base, cut):
    """Move the cursors so that `cut` observations lie outside at both ends, and update the sum tree."""
    rank, below = low[RANK], low[BELOW]
    while below > cut:
        rank = before(window, rank)
        below -= 1
        if rank < high[RANK]:
            assign(sums, base, rank, ordered[rank])
    rank = at_or_after(window, rank)
    while below < cut:
        assign(sums, base, rank, 0.0)
        rank = at_or_after(window, rank + 1)
        below += 1
    low[RANK], low[BELOW] = rank, below
    target = window.size[0] - cut
    rank, below = high[RANK], high[BELOW]
    while below > target:
        rank = before(window, rank)
        below -= 1
        assign(sums, base, rank, 0.0)
    rank = at_or_after(window, rank)
    while below < target:
        if rank >= low[RANK]:
            assign(sums, base, rank, ordered[rank])
        rank = at_or_after(window, rank + 1)
        below += 1
    high[RANK], high[BELOW] = rank, below


@kernel
def trimmed_means(rank, ordered, start, end, scratch, proportion, winsorize, result):
    """Write the trimmed or winsorized mean of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    ordered : ndarray of float64, shape (observations,)
        Value of every rank.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    scratch : Scratch
        State of an empty window.
    proportion : float
        From 0 to below 0.5; ``int(proportion * c)`` of c observations are cut off at each end.
    winsorize : bool
        Whether the observations cut off are replaced instead of left out.
    result : ndarray of float64, shape (rows,)
        Receives the means; windows without observations are left as they are.
    """
    window, copies = scratch.window, scratch.copies
    sums, base = scratch.sums, scratch.base
    low, high = scratch.cursors[0], scratch.cursors[1]
    left = right = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            if rank[j] >= 0:
                removed = remove_observation(window, copies, scratch.cursors, rank[j])
                if low[RANK] <= removed < high[RANK]:
                    assign(sums, base, removed, 0.0)
        for j in range(max(start[i], right), end[i]):
            if rank[j] >= 0:
                added = add_observation(window, copies, scratch.cursors, rank[j])
                if low[RANK] <= added < high[RANK]:
                    assign(sums, base, added, ordered[added])
        left, right = start[i], end[i]
        count = window.size[0]
        if count > 0:
            cut = np.int64(proportion * count)
            _move_cursors(window, ordered, low, high, sums, base, cut)
            highest = ordered[before(window, high[RANK])]
            result[i] = mean_of_kept(sums[0], ordered[low[RANK]], highest, count, cut, winsorize)


@kernel
def sum_in_four(window):
    """Return the sum, by four interleaved partial sums: they do not wait for each other and round less."""
    a = b = c = d = 0.0
    fours = len(window) & ~3
    for i in range(0, fours, 4):
        a += window[i]
        b += window[i + 1]
        c += window[i + 2]
        d += window[i + 3]
    for i in range(fours, len(window)):
        a += window[i]
    return (a + b) + (c + d)


@kernel
def _sum_in_pairs(window):
    """Return the sum in the order of :func:`sums_of_columns`."""
    odd = len(window) % 2 == 1
    total = window[len(window) - 1] if odd else 0.0
    for i in range(0, len(window) - 1, 2):
        total += window[i] + window[i + 1]
    return total


@kernel
def _add(one, two, total):
    for i in range(len(total)):
        total[i] += one[i] + two[i]


@kernel
def sums_of_columns(found, total):
    """Write the sum of every column of `found` into `total`, two rows at a time."""
    for start in range(0, len(total), BATCH):
        part = total[start : start + BATCH]
        end = start + len(part)
        part[:] = 0.0
        if len(found) % 2 == 1:
            copy(found[len(found) - 1, start:end], part)
        for i in range(0, len(found) - 1, 2):
            _add(found[i, start:end], found[i + 1, start:end], part)


@kernel
def mean_of_sorted_kept(window, count, proportion, winsorize, in_pairs):
    """Return the trimmed or winsorized mean of the first `count` entries, added in pairs or in four parts."""
    cut = np.int64(proportion * count)
    kept = window[cut : count - cut]
    total = _sum_in_pairs(kept) if in_pairs else sum_in_four(kept)
    return mean_of_kept(total, kept[0], kept[len(kept) - 1], count, cut, winsorize)


def create_sums(ranks):
    """Return an empty tree for ranks below `ranks`, as the tuple ``(sums, base)``; leaves start at `base`."""
    leaves = 8
    while leaves < ranks:
        leaves *= 8
    base = (leaves - 1) // 7
    return np.zeros(base + 8 * max(-(-ranks // 8), 1)), base


@kernel
def _sum_of_children(sums, node):
    children = sums[8 * node + 1 : 8 * node + 9]
    first = (children[0] + children[1]) + (children[2] + children[3])
    return first + ((children[4] + children[5]) + (children[6] + children[7]))


@kernel
def assign(sums, base, rank, value):
    """Set the value of a rank; 0 removes it."""
    node = base + rank
    sums[node] = value
    while node > 0:
        node = (node - 1) >> 3
        sums[node] = _sum_of_children(sums, node)


@kernel
def check_sums(sums, base):
    """Return whether every inner node that has children is their sum; NaN counts as equal."""
    right = True
    for node in range(base):
        if 8 * node + 8 < len(sums):
            total = _sum_of_children(sums, node)
            right &= total == sums[node] or (total != total and sums[node] != sums[node])
    return np.bool_(right)
