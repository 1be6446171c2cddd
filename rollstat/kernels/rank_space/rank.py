r"""Rank of the newest value among the observations of its window.

::

    values   30  10  20  20  10  20           window [1, 6) = 10 20 20 10 20, newest 20
    rank      5   0   2   2   0   2           of the sorted stretch, ties share the first
    set      1 1 1 1 1 0                      bits 0 1 for both 10, bits 2 3 4 for the three 20
    smaller = 2 members before rank 2, equal = held[2] = 3, the ranks of the newest are 3, 4, 5

State: ``held``, int64 (ranks,), how many observations of the window have that tied rank; ``words`` and
``counts``, a :mod:`rollstat.kernels.rank_space.bitset_tree` with bits ``r, ..., r + held[r] - 1`` set for
every tied rank r (or with bit r alone, where only distinct values count).

Invariant: the set has as many members as the window has observations (or distinct values).

Cost: O(log n) a row that enters, leaves or is asked for, worst case, in a stretch of n observations; the
stretch is sorted before, O(n log n). For narrow windows of constant width every observation is compared
with the newest instead, whole vectors of windows at once: O(m) a row, but with small constants.

Source: rank in a set of integers, as in :mod:`rollstat.kernels.rank_space.bitset_tree`; the reduction to
sorted stretches
is that of Raykov, An optimal algorithm for sliding window order statistics, section 4 (ICDT 2023),
doi:10.4230/LIPIcs.ICDT.2023.5. Meaning of the methods: pandas' ``rolling.rank`` and ``Series.rank``.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.rank_space.bitset_tree import add, count_below, remove

__all__ = ["AVERAGE", "DENSE", "FIRST", "LANES", "MAX", "MIN", "compare_newest", "count_newest", "finish"]

AVERAGE, MIN, MAX, FIRST, DENSE = 0, 1, 2, 3, 4

LANES = 512


@kernel
def count_newest(rank, start, end, dense, held, words, counts, smaller, equal, total):
    """Count, for the last row of every window, the smaller and the equal observations.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    dense : bool
        Count distinct values instead of observations.
    held, words, counts
        State, empty at first.
    smaller, equal, total : ndarray of int64, shape (rows,)
        Receive the observations that are smaller, those that are equal (the newest included; 0 where
        there is no newest value) and all in the window.
    """
    left = right = 0
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                r = rank[left]
                held[r] -= 1
                if not dense or held[r] == 0:
                    remove(words, counts, r + (0 if dense else held[r]))
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                r = rank[right]
                if not dense or held[r] == 0:
                    add(words, counts, r + (0 if dense else held[r]))
                held[r] += 1
            right += 1
        total[i] = counts[1]
        smaller[i] = equal[i] = 0
        if end[i] > start[i] and rank[end[i] - 1] >= 0:
            r = rank[end[i] - 1]
            smaller[i] = count_below(words, counts, r)
            equal[i] = 1 if dense else held[r]


@kernel
def _compare(older, newest, smaller, equal):
    """Add one older observation of each window to the counts; vector code."""
    for i in range(len(smaller)):
        smaller[i] += older[i] < newest[i]
        equal[i] += older[i] == newest[i]


@kernel
def _compare_four(one, two, three, four, newest, smaller, equal):
    """Add four older observations of each window to the counts, which are read and written once."""
    for i in range(len(smaller)):
        value = newest[i]
        smaller[i] += (
            np.int64(one[i] < value)
            + np.int64(two[i] < value)
            + (np.int64(three[i] < value) + np.int64(four[i] < value))
        )
        equal[i] += (
            np.int64(one[i] == value)
            + np.int64(two[i] == value)
            + (np.int64(three[i] == value) + np.int64(four[i] == value))
        )


@kernel
def compare_newest(values, width, smaller, equal):
    """Count the smaller and equal observations for the last row of every window of `width` rows.

    Missing values must be NaN; `smaller` and `equal`, shape (rows,), are written.
    """
    for first in range(0, len(smaller), LANES):
        low = smaller[first : first + LANES]
        same = equal[first : first + LANES]
        low[:] = 0
        same[:] = 0
        size = len(low)
        newest = values[first + width - 1 : first + width - 1 + size]
        older = values[first : first + width - 1 + size]
        for j in range(0, width & ~3, 4):
            _compare_four(
                older[j : j + size],
                older[j + 1 : j + 1 + size],
                older[j + 2 : j + 2 + size],
                older[j + 3 : j + 3 + size],
                newest,
                low,
                same,
            )
        for j in range(width & ~3, width):
            _compare(older[j : j + size], newest, low, same)


@kernel
def finish(smaller, equal, total, method, ascending, pct, result):
    """Turn counts into ranks from 1, or into shares of `total`; rows without a newest value get anything."""
    for i in range(len(result)):
        same = max(equal[i], 1)
        low = smaller[i] if ascending else total[i] - smaller[i] - same
        if method == AVERAGE:
            place = low + (same + 1) / 2.0
        elif method in (MIN, DENSE):
            place = low + 1.0
        else:
            place = np.float64(low + same)
        result[i] = place / max(total[i], 1) if pct else place
