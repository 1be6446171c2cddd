"""Median and median distance of small windows, in a sorted array.

::

    window    1  3  4  7  9  12       median 5.5, half = wanted = 3
                 [------)             the 3 nearest to it; no neighbour is nearer than the farther end

State: the sorted array of :mod:`rollstat.kernels.rank_space.sorted_array`, and where the nearest half began
before.

Invariant: as in :mod:`rollstat.kernels.rank_space.mad_tree`. Cost: O(m) a row, worst case, where the nearest
half moves from one end to the other; O(1) beside the sorted array as long as it moves by a few observations.

Source: the selection of distances is that of :mod:`rollstat.kernels.rank_space.mad_tree`, walked instead of
descended.
"""

from rollstat._jit import kernel
from rollstat.kernels.rank_space.mad_tree import centers
from rollstat.kernels.rank_space.sorted_array import advance

__all__ = ["follow_small_deviation"]


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
        As in :func:`rollstat.kernels.rank_space.mad_tree.follow_deviation`.
    """
    left = right = count = index = 0
    for i in range(len(start)):
        count = advance(values, missing, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        if count > 0:
            lower[i], upper[i], near[i], far[i], index = _deviation(window, count, index)
