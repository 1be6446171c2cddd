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

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.rank_space.sorted_array import advance, count_below, has_nan, slide
from rollstat.kernels.selection.quantiles import picks_upper, point_between

__all__ = ["order_statistics_sorted", "positions_of_line", "quantiles_of_windows", "spreads_of_line"]


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


@kernel
def positions_of_line(values, first, width, window, rank, base, position):
    """Write the row of the observation of a rank of every full window; return False if a value is missing.

    `base` is the row of ``values[0]``, `first` is `width`. The other parameters are those of
    :func:`rollstat.kernels.rank_space.mad_sorted.deviations_of_line`.
    """
    if has_nan(values):
        return False
    for end in range(1, len(values) + 1):
        count = slide(values, window, width, end)
        if end >= first:
            value = window[rank]
            n = rank - count_below(window, count, value)
            position[end - first] = base + _nth_row(values, values[:0], end - width, end, value, n)
    return True


@kernel
def _quantile(window, count, q, interpolation):
    """Return a quantile of the first `count` entries, rounded as those of whole arrays."""
    place = q * (count - 1)
    rank = np.int64(place)
    fraction = place - rank
    below = window[rank]
    above = below if fraction == 0.0 else window[rank + 1]
    if interpolation == 0 or interpolation == 4:
        return point_between(np.float64(below), np.float64(above), fraction, interpolation == 4)
    return np.float64(above if picks_upper(rank, fraction, interpolation) else below)


@kernel
def quantiles_of_windows(values, missing, start, end, q, interpolation, window, result):
    """Write a quantile of every window; return False if a value is missing.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        The series.
    missing : ndarray of bool, shape (0,)
        For :func:`rollstat.kernels.rank_space.sorted_array.advance`: nothing is missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows of at least one row, and of fewer than ``len(window)``.
    q, interpolation
        Which quantile, and a value of :data:`rollstat.kernels.selection.quantiles.INTERPOLATIONS`.
    window : ndarray of the dtype of `values`
        Scratch.
    result : ndarray of float, shape (rows,)
        Receives the quantiles.
    """
    if has_nan(values):
        return False
    left = right = count = 0
    for i in range(len(start)):
        count = advance(values, missing, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        result[i] = _quantile(window, count, q, interpolation)
    return True


@kernel
def _inner(window, count, q, middle):
    """Return the observation at or below a quantile, and how far above it the quantile lies."""
    place = q * (count - 1)
    rank = np.int64(place)
    fraction = place - rank
    gap = window[rank + 1] - window[rank] if fraction > 0.0 else 0.0
    return window[rank], gap * (0.5 if middle else fraction)


@kernel
def spreads_of_line(values, first, width, window, q_low, q_high, interpolation, whole, result):
    """Write the distance of two quantiles of every window of a short line; return False if one is missing.

    Parameters
    ----------
    values, first, width, window
        As in :func:`rollstat.kernels.rank_space.mad_sorted.deviations_of_line`.
    q_low, q_high, interpolation
        The quantiles, and a value of :data:`rollstat.kernels.selection.quantiles.INTERPOLATIONS`.
    whole : bool
        Whether the values are whole numbers to be subtracted before they are rounded.
    result : ndarray of the dtype of `values`, shape (n - first + 1,)
        Receives the distances.
    """
    if has_nan(values):
        return False
    points = window[width:]  # both quantiles, rounded
    for end in range(1, len(values) + 1):
        count = slide(values, window, width, end)
        if end < first:
            continue
        if whole:
            low, above_low = _inner(window, count, q_low, interpolation == 4)
            high, above_high = _inner(window, count, q_high, interpolation == 4)
            result[end - first] = (high - low) + (above_high - above_low)
        else:
            points[0] = _quantile(window, count, q_low, interpolation)
            points[1] = _quantile(window, count, q_high, interpolation)
            result[end - first] = 0 if points[0] == points[1] else points[1] - points[0]
    return True
