"""Missing values in windows of constant width: sentinels that make the wanted rank nearly constant.

A network finds the same ranks in every window, but with missing values both the number of observations
and the rank differ from row to row. So missing values are replaced by sentinels, below or above everything,
in a regular sequence with a share ``s`` of them below. A window with ``g`` missing values then has ``s * g``
sentinels below its observations, give or take one, and an observation of rank ``s * count`` has rank about
``s * m`` among all ``m``, whatever `g` is. Only the two or three ranks that occur must be found::

    values    3  .  8  .  1  .  5        s = 1/2, the median of every window
    keys      3 -oo 8 oo  1 -oo 5
              [----------]               rank 0 of 3, 8    + 1 below = 1 of 4
                 [---------]             rank 0 of 8, 1    + 1 below = 1 of 4
                    [---------]          rank 0 of 8, 1    + 1 below = 1 of 4

State: the phase of the sequence. Invariant: among ``g`` consecutive missing values, the number below differs
from ``s * g`` by less than one. Observations equal to a sentinel (an infinity, the limits of the integers) do
no harm: equal values are interchangeable, and the rank counts exactly the observations. Cost: O(1) a row, no
branch on values. Source: own construction; the sequence is that of J. E. Bresenham's line,
doi:10.1147/sj.41.0025.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["pick", "place_sentinels", "rank_in_all"]


@kernel
def place_sentinels(values, missing, share, lowest, highest, keys, low):
    """Write the values with sentinels for missing ones, and mark the sentinels below everything.

    Parameters
    ----------
    values, missing : ndarray, shape (length,)
    share : uint64
        Share of the sentinels that are below, times 2**64.
    lowest, highest : scalar of the dtype of the values
    keys : ndarray, shape (length,)
        Receives values and sentinels.
    low : ndarray of uint8, shape (length,)
        Receives 1 for a sentinel below, else 0.
    """
    phase = np.uint64(1) << np.uint64(63)
    for i in range(len(values)):
        # Arithmetic modulo 2**64 instead of branches, which random gaps would make unpredictable.
        gap = missing[i]
        step = share if gap else np.uint64(0)
        phase += step
        below = phase < step  # the sum wrapped around
        low[i] = below
        sentinel = lowest if below else highest
        keys[i] = sentinel if gap else values[i]


@kernel
def rank_in_all(rank, low, among):
    """Write the wanted ranks among observations and sentinels; return the smallest and the largest.

    Parameters
    ----------
    rank : ndarray of int64, shape (rows,)
        Rank among the observations of each window, negative where nothing is wanted.
    low : ndarray of uint8, shape (rows + width - 1,)
        1 for a sentinel below everything, else 0.
    among : ndarray of int64, shape (rows,)
        Receives the ranks, -1 where nothing is wanted.

    Returns
    -------
    first, last : int
        ``first > last`` if nothing is wanted.
    """
    width = len(low) - len(rank) + 1
    below = 0
    for i in range(width - 1):
        below += np.int64(low[i])
    entering = low[width - 1 :]
    first, last = width, -1
    for row in range(len(rank)):
        below += np.int64(entering[row])
        wanted = rank[row] >= 0
        found = rank[row] + below
        below -= np.int64(low[row])
        among[row] = found if wanted else -1
        first = min(first, found if wanted else width)
        last = max(last, found if wanted else -1)
    return first, last


@kernel
def pick(found, first, last, rank, lower, upper):
    """Copy, for every row with ``first <= rank[row] <= last``, the value found for that rank.

    ``found[r]`` holds the values of rank ``first + r``. Unless `upper` is empty it receives those of the
    next rank, where there is one.
    """
    pair = len(upper) > 0
    for i in range(len(rank)):
        if first <= rank[i] <= last:
            which = rank[i] - first
            lower[i] = found[which, i]
            if pair:
                upper[i] = found[min(which + 1, len(found) - 1), i]
