"""Order statistics of small windows, read off a sorted array.

::

    window    1  3  4  4  9         rank 3: the value 4, with 2 observations below it, so the second 4 in the
                       ^            order of rows is its position

State: the sorted array of :mod:`rollstat.kernels.rank_space.sorted_array`.

Invariant: the first entries of the array are the observations of the window in order.

Cost: O(m) a row, as for the sorted array, and O(m) more for each position. It is the smallest kernel for
order statistics, so it compiles in a fraction of the time that the others take.

Source: insertion sort.
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.sorted_array import advance, count_below

__all__ = ["order_statistics_sorted"]


@kernel
def _nth_row(values, missing, start, end, value, n):
    """Return the row of the n-th observation that equals `value`, from 0."""
    for i in range(start, end):
        if values[i] == value and (len(missing) == 0 or not missing[i]):
            if n == 0:
                return i
            n -= 1
    return -1


@kernel
def order_statistics_sorted(values, missing, start, end, rank, window, lower, upper, position):
    """Write the observations of some ranks of every window.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The series.
    missing : ndarray of bool, shape (n,) or (0,)
        True where the value is missing; empty if no value is.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows of fewer than ``len(window)`` rows.
    rank : ndarray of int64, shape (requests, rows)
        The ranks, negative where nothing is wanted.
    window : ndarray of the dtype of `values`
        Scratch.
    lower : ndarray of the dtype of `values`, shape (requests, rows)
        Receives the observations.
    upper : ndarray of the dtype of `values`, shape (requests, rows) or (0, 0)
        Receives those of the next rank, where there is one.
    position : ndarray of int64, shape (requests, rows) or (0, 0)
        Receives the rows of the observations.
    """
    left = right = count = 0
    for i in range(len(start)):
        count = advance(values, missing, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        for q in range(len(rank)):
            wanted = rank[q, i]
            if wanted < 0:
                continue
            lower[q, i] = window[wanted]
            if len(upper) > 0 and wanted + 1 < count:
                upper[q, i] = window[wanted + 1]
            if len(position) > 0:
                n = wanted - count_below(window, count, window[wanted])
                position[q, i] = _nth_row(values, missing, left, right, window[wanted], n)
