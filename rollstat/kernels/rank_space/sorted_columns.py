"""Distances and sums of many small sorted windows at once: one row of an array for each rank.

::

    rank 0     y  y  y  y ...         column: one window, its observations in order from top to bottom
    rank 1     y  y  y  y ...
    ...                               the K-th smallest distance from the median is the smallest,
    rank m-1   y  y  y  y ...         over all l, of max(median - y[l], y[l + K - 1] - median)

State: none. Invariant: every column is computed by itself, so neither its neighbours nor the number of
columns change its result. Cost: O(m) a window, in vector code without branches on data.

Source: as in :mod:`rollstat.kernels.rank_space.mad_tree`, with every run of K neighbours tried instead of one
found.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.distances import middle
from rollstat.kernels.simd.loops import copy

__all__ = ["BATCH", "distances_of_columns", "sums_of_columns"]

BATCH = 512  # columns that are computed together: one row of them stays in the nearest cache


@kernel
def _medians(lower, upper, median):
    for i in range(len(median)):
        median[i] = middle(lower[i], upper[i])


@kernel
def _update_distance(first, last, median, distance):
    """Lower `distance` to the largest distance of the run from `first` to `last`, where that is smaller."""
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
            distance[:] = np.inf
            for i in range(m - wanted + 1):
                _update_distance(found[i, start:end], found[i + wanted - 1, start:end], center, distance)


@kernel
def _add(one, two, total):
    for i in range(len(total)):
        total[i] += one[i] + two[i]


@kernel
def sums_of_columns(found, total):
    """Write the sum of every column of `found` into `total`, two rows at a time."""
    for start in range(0, len(total), BATCH):
        part = total[start : start + BATCH]
        end = start + len(part)
        part[:] = 0.0
        if len(found) % 2 == 1:
            copy(found[len(found) - 1, start:end], part)
        for i in range(0, len(found) - 1, 2):
            _add(found[i, start:end], found[i + 1, start:end], part)
