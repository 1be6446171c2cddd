r"""Rank of the newest value among the observations of its window.

::

    values   30  10  20  20  10  20           window [1, 6) = 10 20 20 10 20, newest 20
    rank      5   0   2   2   0   2           of the sorted block; equal values share the lowest rank
    set      1 1 1 1 1 0                      bits 0 1 for both 10, bits 2 3 4 for the three 20
    smaller = 2 members below rank 2, equal = copies[2] = 3: the ranks of the newest are 3, 4, 5

State: ``copies``, int64 (ranks,), the number of observations of each tied rank in the window; ``window``, a
:mod:`rollstat.kernels.selection.rank_set` with the members ``r, ..., r + copies[r] - 1`` for every tied rank
r (or r alone, where only distinct values count).

Invariant: the set has as many members as the window has observations (or distinct values).

Cost: O(1) for each row that enters or leaves, and a count in the set for each output row; the block is sorted
before, in O(n log n). For narrow windows of constant width, :func:`compare_newest` compares every observation
with the newest instead, for many windows at once: O(m) a row with a small constant.

Source: rank in a set of integers, as in :mod:`rollstat.kernels.selection.rank_set`; the reduction to
sorted blocks is that of Raykov, An optimal algorithm for sliding window order statistics, section 4 (ICDT
2023), doi:10.4230/LIPIcs.ICDT.2023.5. The methods are those of pandas' ``rolling.rank`` and ``Series.rank``.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection.rank_set import add, count_below, remove

AVERAGE, MIN, MAX, FIRST, DENSE = 0, 1, 2, 3, 4
METHODS = {"average": AVERAGE, "min": MIN, "max": MAX, "first": FIRST, "dense": DENSE}

BATCH = 512  # windows that are compared together: their counts stay in the nearest cache


@kernel
def count_newest(rank, start, end, dense, copies, window, smaller, equal, total):
    """Count the observations that are smaller than the last row of every window, and those equal to it.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    dense : bool
        Whether to count distinct values instead of observations.
    copies, window
        State, empty at first.
    smaller, equal, total : ndarray of int64, shape (rows,)
        Receive the number of smaller observations, of equal ones (including the newest; 0 where the last
        row is missing) and of all in the window.
    """
    left = right = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            if rank[j] >= 0:
                r = rank[j]
                copies[r] -= 1
                if not dense or copies[r] == 0:
                    remove(window, r + copies[r])
        for j in range(max(start[i], right), end[i]):
            if rank[j] >= 0:
                r = rank[j]
                if not dense or copies[r] == 0:
                    add(window, r + copies[r])
                copies[r] += 1
        left, right = start[i], end[i]
        total[i] = window.size[0]
        smaller[i] = equal[i] = 0
        if end[i] > start[i] and rank[end[i] - 1] >= 0:
            r = rank[end[i] - 1]
            smaller[i] = count_below(window, r)
            equal[i] = 1 if dense else copies[r]


@kernel
def _compare(older, newest, smaller, equal):
    """Add one older row of each window to the counts."""
    for i in range(len(smaller)):
        smaller[i] += older[i] < newest[i]
        equal[i] += older[i] == newest[i]


@kernel
def _compare_four(one, two, three, four, newest, smaller, equal):
    """Add four older rows of each window to the counts, which are loaded and stored once for all four."""
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
    """Count the smaller and the equal observations for the last row of every window of `width` rows.

    Missing values must be NaN. The counts are written into `smaller` and `equal`, int64 (rows,).
    """
    for first in range(0, len(smaller), BATCH):
        low = smaller[first : first + BATCH]
        same = equal[first : first + BATCH]
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
def place_of(smaller, equal, total, method, ascending, pct):
    """Return the rank of a value, from 1, or the fraction of `total`."""
    same = max(equal, 1)
    low = smaller if ascending else total - smaller - same
    if method == AVERAGE:
        position = low + (same + 1) / 2.0
    elif method in (MIN, DENSE):
        position = low + 1.0
    else:
        position = np.float64(low + same)
    return position / max(total, 1) if pct else position


@kernel
def finish(smaller, equal, total, method, ascending, pct, result):
    """Turn counts into ranks from 1, or fractions of `total`; any number where the newest is missing."""
    for i in range(len(result)):
        result[i] = place_of(smaller[i], equal[i], total[i], method, ascending, pct)
