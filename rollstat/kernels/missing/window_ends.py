"""Counts, oldest and newest observations, and whether any or all are true, in any windows of a short series.

::

    values    .  4  .  0  7        window [0, 4): 2 observations, oldest 4, newest 0; any, not all, are true
              [        )

The loop skips NaN and writes every row, so that nothing but one call remains to be done for a short series.

State: the observations and the zeros of the window, the row of the oldest observation and of the newest.

Invariant: counts are exact, and both rows are in the window if it has an observation.

Cost: O(1) amortised and O(m) worst case a row. Source: definition.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["ALL", "ANY", "COUNT", "NEWEST", "OLDEST", "ends_of_windows"]

COUNT, OLDEST, NEWEST, ANY, ALL = range(5)


@kernel
def ends_of_windows(values, start, end, kind, least, mark, result):
    """Write one of these statistics of every window.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    kind : int
        `COUNT`, `OLDEST`, `NEWEST`, `ANY` or `ALL`.
    least : int
        Observations below which a window has no result, at least 1 for `OLDEST` and `NEWEST`.
    mark : float
        What the result is where there is none.
    result : ndarray of float64, shape (rows,)
        Receives the results.
    """
    left = right = observed = zeros = oldest = newest = 0
    for i in range(len(start)):
        while right < end[i]:
            if values[right] == values[right]:
                observed += 1
                zeros += values[right] == 0
                newest = right
            right += 1
        while left < start[i]:
            if values[left] == values[left]:
                observed -= 1
                zeros -= values[left] == 0
            left += 1
        if observed < least:
            result[i] = mark
        elif kind == COUNT:
            result[i] = observed
        elif kind == OLDEST:
            oldest = max(oldest, left)
            while values[oldest] != values[oldest]:
                oldest += 1
            result[i] = values[oldest]
        elif kind == NEWEST:
            result[i] = values[newest]
        elif kind == ANY:
            result[i] = np.float64(zeros < observed)
        else:
            result[i] = np.float64(zeros == 0)
