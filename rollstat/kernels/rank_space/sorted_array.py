"""The observations of a small window as a sorted array.

::

    window    1  3  4  7  9         3 leaves and 8 enters: 4 and 7 move by one place
              1  4  7  8  9

State: ``window``, of the dtype of the values, (m,); its first `count` entries are the observations in order.

Invariant: those entries are non-decreasing. Cost: O(m) for each row that enters or leaves, with a third of
the entries moved on average, and vector code in the search. Source: insertion sort.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["advance", "check", "count_below", "insert", "remove", "replace"]


@kernel
def count_below(window, count, value):
    """Return how many of the first `count` entries are below `value`.

    It has no branch, so it compiles to vector code.
    """
    below = 0
    for i in range(count):
        below += window[i] < value
    return below


@kernel
def insert(window, count, value):
    """Insert a value into the first `count` entries."""
    i = count
    while i > 0 and window[i - 1] > value:
        window[i] = window[i - 1]
        i -= 1
    window[i] = value


@kernel
def remove(window, count, value):
    """Remove a value that is among the first `count` entries."""
    for i in range(count_below(window, count, value), count - 1):
        window[i] = window[i + 1]


@kernel
def replace(window, count, old, new):
    """Replace a value that is among the first `count` entries: only what lies between the two moves."""
    i = count_below(window, count, old)
    while i + 1 < count and window[i + 1] < new:
        window[i] = window[i + 1]
        i += 1
    while i > 0 and window[i - 1] > new:
        window[i] = window[i - 1]
        i -= 1
    window[i] = new


@kernel
def advance(values, missing, window, count, left, right, start, end):
    """Move from the window ``[left, right)`` of rows to ``[start, end)``, and return its observations.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The series.
    missing : ndarray of bool, shape (n,) or (0,)
        True where the value is missing; empty if no value is.
    window, count
        The observations of ``[left, right)`` in order, and their number.
    left, right, start, end : int
        ``left <= start`` and ``right <= end``.
    """
    complete = len(missing) == 0
    if complete and start == left + 1 and end == right + 1 and count > 0:
        replace(window, count, values[left], values[right])
        return count
    for i in range(left, min(start, right)):
        if complete or not missing[i]:
            remove(window, count, values[i])
            count -= 1
    for i in range(max(start, right), end):
        if complete or not missing[i]:
            insert(window, count, values[i])
            count += 1
    return count


@kernel
def check(window, count):
    """Return whether the entries are in order."""
    right = True
    for i in range(1, count):
        right &= window[i - 1] <= window[i]
    return np.bool_(right)
