"""The observations of a small window as a sorted array.

::

    window    1  3  4  7  9         3 leaves and 8 enters: one slot moves from the one place to the other
              1  4  7  8  9

State: ``window``, of the dtype of the values, (m,), its first `count` entries the observations in order.

Invariant: those entries never fall. Cost: O(m) a row that enters or leaves, a third of the entries moved on
average, and vector code in the search. Source: insertion sort.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["advance", "check", "insert", "remove", "replace"]


@kernel
def _place(window, value):
    """Number of entries below `value`; vector code."""
    below = 0
    for i in range(len(window)):
        below += window[i] < value
    return below


@kernel
def insert(window, count, value):
    """Put a value in its place behind `count` entries."""
    i = count
    while i > 0 and window[i - 1] > value:
        window[i] = window[i - 1]
        i -= 1
    window[i] = value


@kernel
def remove(window, count, value):
    """Take a value, which is there, from `count` entries."""
    for i in range(_place(window[:count], value), count - 1):
        window[i] = window[i + 1]


@kernel
def replace(window, count, old, new):
    """Replace a value, which is there, among `count` entries."""
    i = _place(window[:count], old)
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
        True where there is no observation; empty if there are no such rows.
    window, count
        The observations of ``[left, right)``, in order.
    left, right, start, end : int
        ``left <= start`` and ``right <= end``.
    """
    whole = len(missing) == 0
    if whole and start == left + 1 and end == right + 1 and count > 0:
        replace(window, count, values[left], values[right])
        return count
    for i in range(left, min(start, right)):
        if whole or not missing[i]:
            remove(window, count, values[i])
            count -= 1
    for i in range(max(start, right), end):
        if whole or not missing[i]:
            insert(window, count, values[i])
            count += 1
    return count


@kernel
def check(window, count):
    """Whether the entries are in order."""
    right = True
    for i in range(1, count):
        right &= window[i - 1] <= window[i]
    return np.bool_(right)
