r"""Trimmed and winsorized means: a tree over ranks sums the observations that are kept.

::

    in order     y0  y1 | y2  y3  y4  y5  y6  y7 | y8  y9       c = 10, proportion 0.2: cut = 2 at both ends
                      low                      high
    trimmed      (y2 + ... + y7) / 6
    winsorized   (2 y2 + y2 + ... + y7 + 2 y7) / 10

State: a :class:`Scratch` with a :mod:`rollstat.kernels.selection.rank_set` of the window, its ``copies``,
``cursors``, int64 (2, 2), at y[cut] and at y[c - cut], and a :mod:`rollstat.kernels.rank_space.sum_tree` of
the observations between the two. Small windows are sorted arrays, see
:mod:`rollstat.kernels.rank_space.sorted_windows`.

Invariant: a leaf of the sum tree is the value of its rank for the members from the low cursor up to, but not
including, the high one, and 0 elsewhere. No sum contains a value that is cut off, an infinity for instance.

Cost: O(log n) for each row that enters or leaves, amortised, in a block of n observations: a cursor passes no
more observations than entered or left. With a sorted array O(m).

Source: counts as in SciPy's ``trim_mean`` and ``mstats.winsorize``; Tukey and McLaughlin, Less vulnerable
confidence and significance procedures for location, Sankhya A 25 (1963).
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space import sum_tree
from rollstat.kernels.rank_space.sum_tree import assign
from rollstat.kernels.selection import rank_set
from rollstat.kernels.selection.rank_set import (
    BELOW,
    RANK,
    RankSet,
    add_observation,
    at_or_after,
    before,
    cursor_add,
    cursor_remove,
    remove_observation,
)

__all__ = [
    "Scratch",
    "create",
    "mean_of_kept",
    "mean_of_sorted_kept",
    "sum_in_four",
    "trimmed_means",
]


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
    return Scratch(np.zeros(ranks, np.int64), window, cursors, *sum_tree.create(ranks))


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
        while left < start[i]:
            if left < right and rank[left] >= 0:
                removed = remove_observation(window, copies, rank[left])
                cursor_remove(low, removed)
                cursor_remove(high, removed)
                if low[RANK] <= removed < high[RANK]:
                    assign(sums, base, removed, 0.0)
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                added = add_observation(window, copies, rank[right])
                cursor_add(low, added)
                cursor_add(high, added)
                if low[RANK] <= added < high[RANK]:
                    assign(sums, base, added, ordered[added])
            right += 1
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
    """Return the sum in the order of :func:`rollstat.kernels.rank_space.sorted_columns.sums_of_columns`."""
    odd = len(window) % 2 == 1
    total = window[len(window) - 1] if odd else 0.0
    for i in range(0, len(window) - 1, 2):
        total += window[i] + window[i + 1]
    return total


@kernel
def mean_of_sorted_kept(window, count, proportion, winsorize, in_pairs):
    """Return the trimmed or winsorized mean of the first `count` entries, added in pairs or in four parts."""
    cut = np.int64(proportion * count)
    kept = window[cut : count - cut]
    total = _sum_in_pairs(kept) if in_pairs else sum_in_four(kept)
    return mean_of_kept(total, kept[0], kept[len(kept) - 1], count, cut, winsorize)
