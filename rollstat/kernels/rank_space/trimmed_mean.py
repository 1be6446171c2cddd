r"""Trimmed and winsorized means: what is kept of a window has its sum in a tree over ranks.

::

    in order     y0  y1 | y2  y3  y4  y5  y6  y7 | y8  y9       c = 10, proportion 0.2: cut = 2 at both ends
                      low                      high
    trimmed      (y2 + ... + y7) / 6
    winsorized   (2 y2 + y2 + ... + y7 + 2 y7) / 10

State: ``held`` (observations of each tied rank), a :mod:`rollstat.kernels.rank_space.bitset_tree` of the
window,
``cursors``, int64 (2, 2), at y[cut] and at y[c - cut], and a :mod:`rollstat.kernels.rank_space.sum_tree` that
holds the
observations between the two; for small windows a :mod:`rollstat.kernels.rank_space.sorted_array` alone.

Invariant: a leaf of the tree is its value where a member stands from the low cursor to before the high one,
else 0. Whatever is cut off, an infinity for instance, is in no sum.

Cost: O(log n) for each row that enters or leaves, amortised, in a stretch of n observations: a cursor
passes no more observations than entered or left. With a sorted window O(m).

Source: counts as in SciPy's ``trim_mean`` and ``mstats.winsorize``; Tukey and McLaughlin, Less vulnerable
confidence and significance procedures for location, Sankhya A 25 (1963).
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.rank_space.bitset_tree import (
    BELOW,
    RANK,
    add,
    at_or_after,
    before,
    cursor_add,
    cursor_remove,
    remove,
)
from rollstat.kernels.rank_space.sorted_array import advance
from rollstat.kernels.rank_space.sum_tree import assign

__all__ = ["follow_small_trimmed", "follow_trimmed", "mean_of_kept", "move_boundaries", "sum_in_four"]


@kernel
def mean_of_kept(total, lowest, highest, count, cut, winsorize):
    """Mean of what is kept, or of all with the ends replaced by the outermost that is kept."""
    if not winsorize:
        return total / (count - 2 * cut)
    if cut > 0:
        total += cut * lowest + cut * highest
    return total / count


@kernel
def move_boundaries(words, counts, ordered, low, high, sums, base, cut):
    """Move the cursors to where `cut` observations lie outside at both ends, and the tree with them."""
    rank, below = low[RANK], low[BELOW]
    while below > cut:
        rank = before(words, counts, rank)
        below -= 1
        if rank < high[RANK]:
            assign(sums, base, rank, ordered[rank])
    rank = at_or_after(words, counts, rank)
    while below < cut:
        assign(sums, base, rank, 0.0)
        rank = at_or_after(words, counts, rank + 1)
        below += 1
    low[RANK], low[BELOW] = rank, below
    target = np.int64(counts[1]) - cut
    rank, below = high[RANK], high[BELOW]
    while below > target:
        rank = before(words, counts, rank)
        below -= 1
        assign(sums, base, rank, 0.0)
    rank = at_or_after(words, counts, rank)
    while below < target:
        if rank >= low[RANK]:
            assign(sums, base, rank, ordered[rank])
        rank = at_or_after(words, counts, rank + 1)
        below += 1
    high[RANK], high[BELOW] = rank, below


@kernel
def follow_trimmed(
    rank, ordered, start, end, held, words, counts, cursors, sums, base, proportion, winsorize, result
):
    """Write the trimmed or winsorized mean of every window; nothing for windows without observations.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    ordered : ndarray of float64, shape (observations,)
        Value of every rank.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    held, words, counts, cursors, sums, base
        State, zero at first.
    proportion : float
        From 0 to below 0.5; ``int(proportion * c)`` observations are cut at each end.
    winsorize : bool
        Whether the observations cut off are replaced instead of left out.
    result : ndarray of float64, shape (rows,)
        Receives the means.
    """
    left = right = 0
    low, high = cursors[0], cursors[1]
    high[RANK] = 64 * len(words)
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                held[rank[left]] -= 1
                place = rank[left] + held[rank[left]]
                remove(words, counts, place)
                cursor_remove(low, place)
                cursor_remove(high, place)
                if low[RANK] <= place < high[RANK]:
                    assign(sums, base, place, 0.0)
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                place = rank[right] + held[rank[right]]
                held[rank[right]] += 1
                add(words, counts, place)
                cursor_add(low, place)
                cursor_add(high, place)
                if low[RANK] <= place < high[RANK]:
                    assign(sums, base, place, ordered[place])
            right += 1
        count = np.int64(counts[1])
        if count > 0:
            cut = np.int64(proportion * count)
            move_boundaries(words, counts, ordered, low, high, sums, base, cut)
            highest = ordered[before(words, counts, high[RANK])]
            result[i] = mean_of_kept(sums[0], ordered[low[RANK]], highest, count, cut, winsorize)


@kernel
def sum_in_four(window):
    """Sum in four interleaved parts, which is quicker than one and rounds less."""
    a = b = c = d = 0.0
    whole = len(window) & ~3
    for i in range(0, whole, 4):
        a += window[i]
        b += window[i + 1]
        c += window[i + 2]
        d += window[i + 3]
    for i in range(whole, len(window)):
        a += window[i]
    return (a + b) + (c + d)


@kernel
def follow_small_trimmed(values, missing, start, end, window, proportion, winsorize, result):
    """Write the trimmed or winsorized mean of every window of at most ``len(window)`` rows.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series.
    missing : ndarray of bool, shape (n,) or (0,)
        True where there is no observation; empty if there are no such rows.
    start, end, proportion, winsorize, result
        As in :func:`follow_trimmed`.
    window : ndarray of float64
        State.
    """
    left = right = count = 0
    for i in range(len(start)):
        count = advance(values, missing, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        if count > 0:
            cut = np.int64(proportion * count)
            kept = window[cut : count - cut]
            result[i] = mean_of_kept(sum_in_four(kept), kept[0], kept[len(kept) - 1], count, cut, winsorize)
