"""Extrema of any windows of a short series, by a monotonic deque of rows.

::

    values    5  2  4  3  6        window [1, 5): rows 1, 3, 4 with values 2, 3, 6
                 ^     ^  ^        the front is the minimum; a value that enters removes larger ones behind it

The loop skips NaN, counts observations and writes every row, so that nothing but one call remains to be done
for a short series.

State: ``rows``, int64, shape (n,): the rows ``rows[head:tail]`` of the deque, which never wraps.

Invariant: rows and their values increase from the front on, and every observation of the window that is not
in the deque has an equal or smaller one behind it.

Cost: each value enters and leaves once, so O(1) amortised and O(m) worst case a row.
Source: Lemire (2006), *Streaming Maximum-Minimum Filter*, section 3, with one deque.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["extremes_of_windows"]


@kernel
def extremes_of_windows(values, start, end, sign, last, least, rows, mark, value, position):
    """Write the extremum of every window, or its row.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    start, end : ndarray of int64, shape (windows,)
        Monotone windows.
    sign : float
        1 for minima, -1 for maxima.
    last : bool
        Whether the row of equal values is the last of them instead of the first.
    least : int
        Observations below which a window has no result, at least 1.
    rows : ndarray of int64, shape (n,)
        Scratch.
    mark : float
        What the results are where there is none.
    value, position : ndarray of float64, shape (windows,) or (0,)
        Receive extrema and their rows; empty if they are not wanted.
    """
    head = tail = left = right = observed = 0
    for i in range(len(start)):
        while right < end[i]:
            entering = sign * values[right]
            if entering == entering:
                observed += 1
                while tail > head:
                    back = sign * values[rows[tail - 1]]
                    if back < entering or (back == entering and not last):
                        break
                    tail -= 1
                rows[tail] = right
                tail += 1
            right += 1
        while left < start[i]:
            observed -= values[left] == values[left]
            left += 1
        while head < tail and rows[head] < left:
            head += 1
        found = observed >= least
        if len(value) > 0:
            value[i] = values[rows[head]] if found else mark
        if len(position) > 0:
            position[i] = np.float64(rows[head]) if found else mark
