"""Number of observations in windows, their ends, and searches for NaN.

::

    missing   0 0 1 0 1 0
              [-------)          count = 3
                [-------)        count = 3: one row entered, one left

    leaving    x x N x x N x x      a byte for each lane, 1 for NaN      0 0 1 0 0 1 0 0
    entering   x x x x N x x x                                           0 0 0 0 1 0 0 0
                                    running sum of the difference        0 0 1 1 0 1 1 1
    count of a window = count of the first of the eight + running sum up to the lane before

    values    .  4  .  0  7        window [0, 4): 2 observations, oldest 4, newest 0; any, not all, are true
              [        )

Windows of one width are counted eight at a time (`count_series`, `count_fixed`): all eight sums are one
product of integers, see :func:`rollstat.compile.simd.float64x8_math.nan_changes`. `series` is a tuple of one
or two float64 arrays; a row counts if none of them is NaN in it. `ends_of_windows` skips NaN and
writes every row, so that a short series needs only this one call.

State: the running count and sum of rows, exact because they are integers; for the ends, the zeros of the
window, the row of the oldest observation and of the newest. Invariant: ``count`` is the number of rows in
``[left, right)`` that are not missing. Cost: amortised O(1) per row, worst case the largest step of a bound;
eight windows of one width take about ten instructions.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch
from rollstat.compile.simd.float64x8_math import LANES, mark_changes, nan_changes, store_counts
from rollstat.compile.simd.vectors import load, stack_channels

# Values in one pass of a loop without branches. Such a loop compiles to vector code.
_BLOCK = 4096


@kernel
def subtract_mean_row(values, start, end, slope, height):
    """Subtract `slope` times the mean row of the observations of each window from `height`.

    Rows are counted from the start of the window. Windows without observations stay as they are.
    """
    left = right = observed = total = 0
    for i in range(len(start)):
        if start[i] >= right:
            left = right = start[i]
            observed = total = 0
        while right < end[i]:
            here = int(values[right] == values[right])
            observed += here
            total += here * right
            right += 1
        while left < start[i]:
            here = int(values[left] == values[left])
            observed -= here
            total -= here * left
            left += 1
        if observed:
            height[i] -= slope[i] * ((total - start[i] * observed) / observed)


@kernel
def count_fixed(missing, count):
    """Write the number of observations of each window of a fixed width into `count`.

    Window ``i`` starts at row ``i``, and the last one ends with the data.
    """
    last = len(count) - 1
    width = len(missing) - last
    observed = width
    for i in range(width):
        observed -= missing[i]
    marks, vectors = missing.view(np.uint8), last // LANES
    for i in range(0, LANES * vectors, LANES):
        changes = mark_changes(marks, i, i + width)
        store_counts(changes, observed, count, i)
        observed += (changes >> 56) - 8
    for i in range(LANES * vectors, last):
        count[i] = observed
        observed += int(missing[i]) - int(missing[i + width])
    count[last] = observed


@kernel
def has_nan(values):
    """Return whether any of the floats `values` is NaN."""
    for first in range(0, len(values), _BLOCK):
        block = values[first : first + _BLOCK]
        found = 0
        for i in range(len(block)):
            found += block[i] != block[i]
        if found:
            return True
    return False


@kernel
def mark_nan(values, missing):
    """Set `missing` where `values` is NaN; other elements stay."""
    for i in range(len(values)):
        missing[i] |= values[i] != values[i]


# Rows by which a prefetch of leaving values runs ahead: long windows have pushed them out of the cache.
_AHEAD = 64 * LANES


@kernel(forceinline=True)
def is_observed(series, i):
    """Return whether no series is NaN in row `i`."""
    return (series[0][i] == series[0][i]) & (series[-1][i] == series[-1][i])


@kernel
def observations_between(series, first, last):
    """Return the number of observations in the rows ``first, ..., last - 1``."""
    values, others = series[0][first:last], series[-1][first:last]
    observed = 0
    for i in range(len(values)):
        observed += (values[i] == values[i]) & (others[i] == others[i])
    return observed


@kernel(forceinline=True)
def _load_both(series, i):
    """Return eight rows of the first and the last series; both may be the same series."""
    return stack_channels((load(series[0], i), load(series[-1], i)))


@kernel
def count_vectors(leaving, first, entering, second, vectors, observed, count):
    """Write the observations of ``8 * vectors`` successive windows to the front of `count`.

    The first window has `observed` of them. The value that leaves it is at index `first` of `leaving`, and
    the value after its last one at index `second` of `entering`. Both are tuples of series. Return the
    observations of the window after the last one.
    """
    for i in range(0, LANES * vectors, LANES):
        prefetch(leaving[0], first + i + _AHEAD)
        if len(leaving) > 1:
            prefetch(leaving[-1], first + i + _AHEAD)
        changes = nan_changes(_load_both(leaving, first + i), _load_both(entering, second + i))
        store_counts(changes, observed, count, i)
        observed += (changes >> 56) - 8
    return observed


@kernel
def count_series(series, width, count):
    """Write the number of observations of each window of `width` rows into `count`, of float64.

    Window ``i`` starts at row ``i``, and the last one ends with the data.
    """
    last = len(series[0]) - width
    vectors = last // LANES
    observed = observations_between(series, 0, width)
    observed = count_vectors(series, 0, series, width, vectors, observed, count)
    for i in range(LANES * vectors, last):
        count[i] = observed
        observed += int(is_observed(series, i + width)) - int(is_observed(series, i))
    count[last] = observed


COUNT, OLDEST, NEWEST, ANY, ALL = range(5)


@kernel
def ends_of_windows(values, start, end, kind, least, mark, result):
    """Write one of these statistics of every window.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    kind : int
        `COUNT`, `OLDEST`, `NEWEST`, `ANY` or `ALL`.
    least : int
        Observations below which a window has no result, at least 1 for `OLDEST` and `NEWEST`.
    mark : float
        What the result is where there is none.
    result : ndarray of float64, shape (rows,)
        Receives the results.
    """
    left = right = observed = zeros = oldest = newest = 0
    for i in range(len(start)):
        while right < end[i]:
            if values[right] == values[right]:
                observed += 1
                zeros += values[right] == 0
                newest = right
            right += 1
        while left < start[i]:
            if values[left] == values[left]:
                observed -= 1
                zeros -= values[left] == 0
            left += 1
        if observed < least:
            result[i] = mark
        elif kind == COUNT:
            result[i] = observed
        elif kind == OLDEST:
            oldest = max(oldest, left)
            while values[oldest] != values[oldest]:
                oldest += 1
            result[i] = values[oldest]
        elif kind == NEWEST:
            result[i] = values[newest]
        elif kind == ANY:
            result[i] = np.float64(zeros < observed)
        else:
            result[i] = np.float64(zeros == 0)
