"""Missing values in windows of constant width: make the wanted rank nearly constant too.

A network finds the same ranks in every window, but with missing values both the number of observations
and the rank differ from row to row. So missing values take part as sentinels, below or above everything,
in turns: a share ``s`` of them below. A window with ``g`` gaps then has ``s * g`` of them below its
observations, give or take one, and an observation of rank ``s * count`` has rank about ``s * m`` among
all ``m``, whatever `g` is. Only the two or three ranks that occur have to be found::

    values    3  .  8  .  1  .  5        s = 1/2, the median of every window
    keys      3 -oo 8 oo  1 -oo 5
              [----------]               rank 0 of 3, 8    + 1 below = 1 of 4
                 [---------]             rank 0 of 8, 1    + 1 below = 1 of 4
                    [---------]          rank 0 of 8, 1    + 1 below = 1 of 4

State: two phases of the turns, for the entering and the leaving row. Invariant: among any consecutive
missing values, ``floor(s * g)`` or one more or less are below. Observations equal to a sentinel (an
infinity, the ends of the integers) do no harm: equal values are interchangeable, and the rank counts
exactly the observations. Cost: O(1) a row, no branch on values. Own construction; the turns are those of
J. E. Bresenham's line, doi:10.1147/sj.41.0025.
"""

from rollstat._jit import kernel

__all__ = ["pick", "replace_missing"]


@kernel
def replace_missing(values, missing, width, share, lowest, highest, keys, below):
    """Write values with sentinels for missing ones, and how many lie below in each window.

    Parameters
    ----------
    values, missing : ndarray, shape (rows + width - 1,)
    width : int
        Number of values in a window.
    share : (int, int)
        Numerator and denominator of the share of the sentinels that are below.
    lowest, highest : scalar of the dtype of the values
    keys : ndarray, shape of the values
        Receives values and sentinels.
    below : ndarray of int64, shape (rows,)
        Receives the number of sentinels in each window that are below.
    """
    numerator, denominator = share
    entering = leaving = denominator // 2
    count = 0
    for i in range(len(values)):
        key = values[i]
        if missing[i]:
            entering += numerator
            if entering >= denominator:
                entering -= denominator
                count += 1
                key = lowest
            else:
                key = highest
        keys[i] = key
        row = i - width + 1
        if row >= 0:
            below[row] = count
            if missing[row]:
                leaving += numerator
                if leaving >= denominator:
                    leaving -= denominator
                    count -= 1


@kernel
def pick(found, first, last, rank, target):
    """Copy, for every row with ``first <= rank[row] <= last``, the value found for that rank.

    ``found[r]`` holds the values of rank ``first + r``; the values of a row may also be taken from
    the next rank, by passing ``found[1:]``.
    """
    for i in range(len(rank)):
        if first <= rank[i] <= last:
            target[i] = found[rank[i] - first, i]
