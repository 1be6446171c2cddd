"""Median of a window and the median distance from it, in a sorted array.

::

    window    1  3  4  7  9  12       median 5.5, half = wanted = 3
                 [------)             the 3 nearest to it; no neighbour is nearer than the farther end

State: the sorted array of :mod:`rollstat.kernels.rank_space.sorted_array`, and the index of the first of the
nearest half in the last window.

Invariant: as in :mod:`rollstat.kernels.rank_space.mad_tree`.

Cost: O(m) a row in the worst case, where the nearest half moves from one end of the array to the other; O(1)
beside the sorted array as long as it moves by a few observations.

Source: the selection of distances is that of :mod:`rollstat.kernels.rank_space.mad_tree`, with linear search
instead of a descent.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.distances import centers, middle, near_distance
from rollstat.kernels.rank_space.sorted_array import advance

__all__ = ["deviation_of_sorted", "find_distances_sorted"]


@kernel
def _first_nearest(window, low, high, index, half, wanted):
    """Return the first of the `wanted` observations nearest to the median, searching from `index`."""
    index = min(index, half)
    while index < half and low - window[index] > window[index + wanted] - high:
        index += 1
    while index > 0 and low - window[index - 1] < window[index + wanted - 1] - high:
        index -= 1
    return index


@kernel
def _distances(window, count, index):
    """Return the two middle observations, the two middle distances, and the first of the nearest."""
    half = count // 2
    wanted = count - half
    lower, upper = window[(count - 1) // 2], window[half]
    low, high = centers(lower, upper)
    index = _first_nearest(window, low, high, index, half, wanted)
    near = near_distance(
        low, high, window[index], window[index + wanted - 1], index < half, index + wanted > half
    )
    far = near
    if 2 * half == count:
        if index < half:
            far = window[index + wanted] - high
        if index > 0:
            below = low - window[index - 1]
            far = below if index == half or below < far else far
    return lower, upper, near, far, index


@kernel
def find_distances_sorted(values, missing, start, end, window, lower, upper, near, far):
    """Write the two middle observations and the two middle distances of every window.

    Parameters
    ----------
    values : ndarray of float64 or uint64, shape (n,)
        The series.
    missing : ndarray of bool, shape (n,) or (0,)
        True where the value is missing; empty if no value is.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows of fewer than ``len(window)`` rows.
    window : ndarray of the dtype of `values`
        Scratch.
    lower, upper, near, far
        As in :func:`rollstat.kernels.rank_space.mad_tree.find_distances`.
    """
    left = right = count = index = 0
    for i in range(len(start)):
        count = advance(values, missing, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        if count > 0:
            lower[i], upper[i], near[i], far[i], index = _distances(window, count, index)


@kernel
def deviation_of_sorted(window, count, index):
    """Return the median, the deviation, and the first of the nearest, to search from for the next window."""
    lower, upper, near, far, index = _distances(window, count, index)
    center = middle(lower, upper)
    return center, middle(near, far) if np.isfinite(center) else np.nan, index
