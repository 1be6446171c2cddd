"""Arithmetic of distances from a median: two middle observations, two middle distances, one deviation.

::

    observations      y0 ... | lower  upper | ... yn          median = (lower + upper) / 2
    distances         low - y         y - high                of values below and above the median

Floating numbers have ``low == high``, the rounded median, so distances are rounded as in NumPy. Rounding is
monotone: the rounded distances are in the order of the exact ones. Integers, as uint64, have ``low == lower``
and ``high == upper``. Their distances are exact and all of them are short by ``(upper - lower) / 2``, which
:func:`integer_deviations` adds at the end.

Cost: O(1) a value. Source: the definition.

Distances of many small sorted windows at once: one row of an array for each rank.

::

    rank 0     y  y  y  y ...         column: one window, its observations in order from top to bottom
    rank 1     y  y  y  y ...
    ...                               the K-th smallest distance from the median is the smallest,
    rank m-1   y  y  y  y ...         over all l, of max(median - y[l], y[l + K - 1] - median)

State: none. Invariant: every column is computed by itself, so neither its neighbours nor the number of
columns change its result. Cost: O(m) a window, in vector code without branches on data. Source: as in
:mod:`rollstat.kernels.rank_space.mad_tree`, with every run of K neighbours tried instead of one found.
"""

import numpy as np
from numba import types

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded
from rollstat.kernels.loops import copy
from rollstat.kernels.numbers import half_integer

BATCH = 512  # columns that are computed together: one row of them stays in the nearest cache


@kernel
def middle(below, above):
    """Return the mean of two floating numbers; they are halved first where their sum overflows."""
    total = below + above
    if np.isinf(total):
        return below * 0.5 + above * 0.5
    return total / 2.0


def centers(below, above):
    """Return `low` and `high`, from which distances are measured, given the two middle observations."""
    if isinstance(below, np.floating):
        return middle(below, above), middle(below, above)
    return below, above


@overloaded(centers)
def _centers(below, above):
    if isinstance(below, types.Float):
        return lambda below, above: (middle(below, above), middle(below, above))
    return lambda below, above: (below, above)


@kernel(forceinline=True)
def middle_distances(low, high, ends, neighbours, index, half, count):
    """Return the two middle distances from the median, without branches on values.

    Parameters
    ----------
    low, high : float64 or uint64
        As :func:`centers` returns them.
    ends, neighbours : pair of the same type
        The first and the last of the ``count - half`` observations nearest to the median, and the ones before
        and after those; any value if there is none.
    index : int
        Number of observations below the nearest.
    half, count : int
        ``half == count // 2``.
    """
    # A distance only counts on a side that has values: the unsigned difference wraps on the other side.
    nothing = low - low
    below = low - ends[0] if index < half else nothing
    above = ends[1] - high if index + count - half > half else nothing
    near = below if below > above else above
    before, after = low - neighbours[0], neighbours[1] - high
    is_before = (index > 0) & ((index == half) | (before < after))
    far = before if is_before else after
    return near, far if 2 * half == count else near


@kernel
def deviation(center, near, far):
    """Return the deviation from a median `center`: NaN if `center` is not finite, as in NumPy; never -0.0."""
    return middle(near, far) + 0.0 if np.isfinite(center) else np.nan


@kernel
def integer_deviations(lower, upper, near, far, result):
    """Turn middle observations and distances of integers into median absolute deviations.

    The deviation is ``(near + far + (upper - lower)) / 2``. It is at most the largest distance of two values,
    so its integer part fits in 64 bits even where the sum does not. Results are rounded once.
    """
    one = np.uint64(1)
    for i in range(len(result)):
        gap = upper[i] - lower[i]
        odd = (near[i] & one) + (far[i] & one) + (gap & one)
        integer = (near[i] >> one) + (far[i] >> one) + (gap >> one) + (odd >> one)
        result[i] = half_integer(integer, odd & one)


@kernel
def integer_distances(key, lower, upper, result):
    """Write the distance of every integer of `key` from the mean of `lower` and `upper`, rounded once.

    All are uint64, ``lower <= upper``.
    """
    one = np.uint64(1)
    for i in range(len(result)):
        half, odd = (upper[i] - lower[i]) >> one, (upper[i] - lower[i]) & one
        if key[i] >= upper[i]:
            integer = key[i] - upper[i] + half
        elif key[i] <= lower[i]:
            integer = lower[i] - key[i] + half
        elif key[i] - lower[i] > half:
            integer = key[i] - lower[i] - half - odd
        else:
            integer = half - (key[i] - lower[i])
        result[i] = half_integer(integer, odd)


@kernel
def float_deviations(lower, upper, near, far, center, result):
    """Turn middle observations and distances of floats into medians and median absolute deviations."""
    for i in range(len(result)):
        center[i] = middle(lower[i], upper[i])
        result[i] = deviation(center[i], near[i], far[i])


@kernel
def _medians(lower, upper, median):
    for i in range(len(median)):
        median[i] = middle(lower[i], upper[i])


@kernel
def _update_distance(first, last, median, distance):
    """Lower `distance` to the largest distance of the run from `first` to `last`, if smaller."""
    for i in range(len(distance)):
        below, above = median[i] - first[i], last[i] - median[i]
        farther = below if below > above else above
        distance[i] = farther if farther < distance[i] else distance[i]


@kernel
def distances_of_columns(found, median, near, far):
    """Write the two middle distances from the median of every window.

    Parameters
    ----------
    found : ndarray of float64, shape (m, windows)
        The windows, each column in order.
    median : ndarray of float64, shape (BATCH,)
        Scratch.
    near, far : ndarray of float64, shape (windows,)
        Receive the distances of ranks ``(m - 1) // 2`` and ``m // 2``; where the median is not finite
        they are any numbers.
    """
    m, windows = found.shape
    for start in range(0, windows, BATCH):
        end = min(start + BATCH, windows)
        center = median[: end - start]
        _medians(found[(m - 1) // 2, start:end], found[m // 2, start:end], center)
        for which in range(2):
            wanted = (m - 1 + which) // 2 + 1
            distance = near[start:end] if which == 0 else far[start:end]
            if which == 1 and m % 2 == 1:
                copy(near[start:end], distance)
                continue
            distance[:] = np.inf
            for i in range(m - wanted + 1):
                _update_distance(found[i, start:end], found[i + wanted - 1, start:end], center, distance)
