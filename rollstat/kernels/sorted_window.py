"""Median and median distance of small windows, kept as a sorted array.

::

    window    1  3  4  7  9         3 leaves and 8 enters: one slot moves from the one place to the other
              1  4  7  8  9

State: ``window``, of the dtype of the values, (m,), its first `count` entries the observations in order.

Invariant: those entries never fall. Cost: O(m) a row that enters or leaves, m/2 moves on average and vector
code in the search, and O(m) for the distances in the worst case, where the nearest half moves from one end
to the other; O(1) as long as it moves by a few observations.

Source: insertion sort; the selection of distances is that of :mod:`rollstat.kernels.deviation`.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.deviation import centers

__all__ = ["check", "follow_small_deviation", "insert", "remove", "replace"]


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
def _nearest(window, low, high, index, half, wanted):
    """First of the `wanted` neighbours nearest to the median, looked for from `index` on."""
    index = min(index, half)
    while index < half and low - window[index] > window[index + wanted] - high:
        index += 1
    while index > 0 and low - window[index - 1] < window[index + wanted - 1] - high:
        index -= 1
    return index


@kernel
def _deviation(window, count, index):
    """Return the two middle observations, the two middle distances, and the first of the nearest."""
    half = count // 2
    wanted = count - half
    lower, upper = window[(count - 1) // 2], window[half]
    low, high = centers(lower, upper)
    index = _nearest(window, low, high, index, half, wanted)
    near = far = low - low
    if index + wanted > half:
        near = window[index + wanted - 1] - high
    if index < half:
        from_low = low - window[index]
        near = from_low if index + wanted <= half or from_low > near else near
        far = window[index + wanted] - high
    if 2 * half != count:
        return lower, upper, near, near, index
    if index > 0:
        from_low = low - window[index - 1]
        far = from_low if index == half or from_low < far else far
    return lower, upper, near, far, index


@kernel
def follow_small_deviation(values, missing, start, end, window, lower, upper, near, far):
    """Write the two middle observations and the two middle distances of every window.

    Parameters
    ----------
    values : ndarray of float64 or uint64, shape (n,)
        The series.
    missing : ndarray of bool, shape (n,) or (0,)
        True where there is no observation; empty if there are no such rows.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows of at most ``len(window)`` rows.
    window
        State.
    lower, upper, near, far
        As in :func:`rollstat.kernels.deviation.follow_deviation`.
    """
    left = right = count = index = 0
    whole = len(missing) == 0
    for i in range(len(start)):
        if whole and start[i] == left + 1 and end[i] == right + 1 and count > 0:
            replace(window, count, values[left], values[right])
            left += 1
            right += 1
        while left < start[i]:
            if left < right and (whole or not missing[left]):
                remove(window, count, values[left])
                count -= 1
            left += 1
        right = max(left, right)
        while right < end[i]:
            if whole or not missing[right]:
                insert(window, count, values[right])
                count += 1
            right += 1
        if count > 0:
            lower[i], upper[i], near[i], far[i], index = _deviation(window, count, index)


@kernel
def check(window, count):
    """Whether the entries are in order."""
    right = True
    for i in range(1, count):
        right &= window[i - 1] <= window[i]
    return np.bool_(right)
