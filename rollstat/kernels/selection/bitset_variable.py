"""Order statistics of any monotone windows: a set of the ranks in the window.

::

    values   30  10  50  20  40  60        window [1, 5) = 10 50 20 40
    rank      2   0   4   1   3   5
    bits     1 1 0 1 1 0                    set: the ranks 0 1 3 4 that are in the window
                 ^ cursor: the rank found last, with two members below it

State: a :mod:`rollstat.kernels.selection.rank_set` with room for one more rank than there are observations,
and a cursor for each request.

Invariant: rank r is a member exactly when the observation of rank r is in the window.

Cost: that of the set. Sorting the observations to get ranks is left to the caller, O(n log n).

Source: the reduction of sliding selection to piecewise sorting of M. Raykov, An optimal algorithm for
sliding window order statistics, section 4 (ICDT 2023, doi:10.4230/LIPIcs.ICDT.2023.5), and J. Suomela,
Median filtering is equivalent to sorting (2014), arXiv:1406.1717.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection.rank_set import (
    add,
    at_or_after,
    cursor_add,
    cursor_remove,
    remove,
    seek,
)

__all__ = ["slide_any"]


@kernel
def slide_any(rank, start, end, wanted, rank_set, cursors, lower, upper):
    """Slide over the windows and write the ranks, among all observations, of what is wanted in each window.

    Parameters
    ----------
    rank : ndarray of signed integers, shape (length,)
        Rank of every observation, all different; negative where a value is missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone bounds into `rank`.
    wanted : ndarray of int64, shape (requests, rows)
        Rank within the window, below its number of observations; negative where nothing is wanted.
    rank_set : RankSet
        An empty set.
    cursors : ndarray of int64, shape (requests, 2)
        Zeros; scratch for the cursors.
    lower, upper : ndarray of int64, shape (requests, rows)
        Receive the rank found and the next one in the window (the same one where there is no next);
        `upper` may be empty.
    """
    left = right = start[0]
    for i in range(len(start)):
        while right < end[i]:
            entering = np.int64(rank[right])
            right += 1
            if entering >= 0:
                add(rank_set, entering)
                for q in range(len(cursors)):
                    cursor_add(cursors[q], entering)
        while left < start[i]:
            leaving = np.int64(rank[left])
            left += 1
            if leaving >= 0:
                remove(rank_set, leaving)
                for q in range(len(cursors)):
                    cursor_remove(cursors[q], leaving)
        for q in range(len(cursors)):
            target = wanted[q, i]
            if target < 0:
                continue
            found = seek(rank_set, cursors[q], target)
            lower[q, i] = found
            if upper.size > 0:
                upper[q, i] = found
                if target + 1 < rank_set.size[0]:
                    upper[q, i] = at_or_after(rank_set, found + 1)
