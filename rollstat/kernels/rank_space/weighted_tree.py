r"""Weighted quantiles: a search descends a tree over ranks that sums the weights of the window.

::

    values in order      1   3   3   7        rank of each row, equal values in the order of rows
    leaves: weights      2   0   1   4        0 where the row is not in the window
    cumulated            2       3   7        q = 0.3: 2.1 is first reached at the second 3

State: the tree of sums of :mod:`rollstat.kernels.rank_space.trimmed_mean`, with one leaf for each row of the
block, and for each tied rank how many of its rows have entered and how many have left, int64 (2, ranks).

Invariant: every inner node is the sum of its children, computed again after each change. Nothing is ever
subtracted, so a weight that has left has no influence, even 1e300. Rows of one value leave in the order in
which they entered, so the k-th to enter has the leaf k places after the leaf of its tied rank.

Cost: O(log n) in the worst case for each row that enters or leaves, and for each output row, in a block of n
rows sorted beforehand. Source: order statistics of a tree of sums, Cormen, Leiserson, Rivest, Stein,
Introduction to Algorithms, chapter 14; sums as in the module named above.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.trimmed_mean import assign

# Proportion of all weights by which rounded sums may fall short of a quantile that they reach.
SLACK = 2.0**-40


@kernel
def _first_reaching(sums, base, target):
    """Return the first leaf with a weight at which the cumulated weight reaches `target`, or the last one."""
    node, total = 0, 0.0
    while node < base:
        first = chosen = 8 * node + 1
        before = total
        for child in range(first, first + 8):
            if sums[child] > 0.0:
                chosen, before = child, total
                total += sums[child]
                if total >= target:
                    break
        node, total = chosen, before
    return node - base


@kernel
def weighted_quantiles(rank, weights, start, end, moved, sums, base, q, result):
    """Write the index of the weighted quantile of every window among the values in order, -1 for none.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, the number of smaller values; negative where missing.
    weights : ndarray of float64, shape (n,)
        The weight of every row. A window with a negative one, or with an infinite sum, has no quantile.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    moved, sums, base
        State, zero at first.
    q : float
        From 0 to 1.
    result : ndarray of int64, shape (rows,)
        Receives the indices.
    """
    left = right = negative = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            if rank[j] >= 0:
                assign(sums, base, rank[j] + moved[1, rank[j]], 0.0)
                moved[1, rank[j]] += 1
                negative -= weights[j] < 0.0
        for j in range(max(start[i], right), end[i]):
            if rank[j] >= 0:
                assign(sums, base, rank[j] + moved[0, rank[j]], max(weights[j], 0.0))
                moved[0, rank[j]] += 1
                negative += weights[j] < 0.0
        left, right = start[i], end[i]
        result[i] = -1
        if negative == 0 and 0.0 < sums[0] < np.inf:
            result[i] = _first_reaching(sums, base, (q - SLACK) * sums[0])
