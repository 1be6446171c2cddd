r"""Entropy of the frequencies of the values of a window: a tree over ranks sums over their counts.

::

    counts of ranks      3   1   0   2          c = 6
    leaves             3 ln 3  0   0  2 ln 2    the tree of sums has their total at its root
    entropy            ln c - total / c

State: ``copies``, int64 (ranks,), the number of observations of each tied rank in the window, and the tree of
:mod:`rollstat.kernels.rank_space.trimmed_mean`. That tree never subtracts.

Invariant: the leaf of a rank with n observations is ``n ln n``.

Cost: O(log n) in the worst case for each row that enters or leaves, in a block of n observations sorted
beforehand. Source: Shannon, A Mathematical Theory of Communication, Bell System Tech. J. 27 (1948).
"""

import math

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.trimmed_mean import assign


@kernel
def _change(copies, sums, base, rank, difference):
    """Change the count of a rank; return by how much the number of distinct values changes."""
    before = copies[rank]
    count = before + difference
    copies[rank] = count
    assign(sums, base, rank, count * math.log(count) if count > 1 else 0.0)
    return (count > 0) - (before > 0)


@kernel
def entropies(rank, start, end, copies, sums, base, result):
    """Write the natural entropy of every window; windows without observations are left as they are.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    copies, sums, base
        State of an empty window.
    result : ndarray of float64, shape (rows,)
        Receives the entropies.
    """
    left = right = distinct = count = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            if rank[j] >= 0:
                distinct += _change(copies, sums, base, rank[j], -1)
                count -= 1
        for j in range(max(start[i], right), end[i]):
            if rank[j] >= 0:
                distinct += _change(copies, sums, base, rank[j], 1)
                count += 1
        left, right = start[i], end[i]
        if distinct > 1:
            result[i] = math.log(count) - sums[0] / count
        elif distinct == 1:
            result[i] = 0.0
