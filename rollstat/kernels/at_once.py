"""Statistics of several windows of several series at one time, in one call.

::

    times      t  t  t  t  t  t  t  t       now
    window 0                  [-----------)             bounds of all windows, by bisection
    window 1         [--------------------)
    series     5  1  4  1  -  2  7  3                   sorted once: 1 1 2 3 4 5 7, with their rows
    window 0   2 3 7     window 1   1 1 2 3 4 7         observations of each window, in both orders
               |  |
               +--+--> tasks: sum, quantile, distinct values, ...

A task is a statistic of one series over one window. Tasks of the same series and window follow one another,
so that observations are gathered once for all of them.

State: none; memory for the rows of one series, in four arrays of floats and three of rows. Invariant: the
observations of a window are in order of time in one array and in order of values in another. Cost: O(n log n)
for each series of n rows whose order is needed, and O(n) for each of its windows.
Error: sums carry the rounding error of each addition, so they are off by ``2 u * abs(sum) + O(n**2 u**2)``.
The same holds for sums of deviations from a shift near the mean; the sum of these deviations corrects the
variance.
Source: merge sort; Ogita, Rump and Oishi (2005), *Accurate sum and dot product*, doi:10.1137/030601818; Chan,
Golub and LeVeque (1983), doi:10.1080/00031305.1983.10483115.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rank_space.distances import deviation, middle
from rollstat.kernels.rank_space.sorted_windows import mode_of_sorted, nearest_distances, quantile_of_sorted
from rollstat.kernels.time_bounds import bounds_at

COUNT, FIRST, LAST, SUM, MEAN, VARIANCE, DEVIATION, ERROR = range(8)
KTH, QUANTILE, SPREAD, DISTINCT, MODE, MEDIAN_DEVIATION = range(8, 14)
"""Statistics; from `KTH` on they take the observations in order."""

# Distances from the mean whose squares and sums stay in the range of floats.
_LEAST, _MOST = 1e-140, 1e140
# Rows that are sorted by insertion.
_FEW = 12


@kernel
def _merge(keys, rows, first, half, last, to_keys, to_rows):
    """Merge the sorted parts from `first` and from `half`, up to `last`."""
    i, j = first, half
    for k in range(first, last):
        if j >= last or (i < half and keys[i] <= keys[j]):
            to_keys[k], to_rows[k] = keys[i], rows[i]
            i += 1
        else:
            to_keys[k], to_rows[k] = keys[j], rows[j]
            j += 1


@kernel
def _observe(values, where, memory, rows):
    """Write the observations in order of time, and how many lie before each row; return their number."""
    observed, before, count = memory[2], rows[2], 0
    for i in range(len(values)):
        before[i], observed[count], rows[0, count] = count, values[i], i
        count += (values[i] == values[i]) & (where[i] == where[i])
    before[len(values)] = count
    return count


@kernel
def _sort(count, memory, rows):
    """Sort the observations and their places in `rows`; return which of two arrays hold both."""
    for i in range(count):
        memory[0, i] = memory[2, i]
    for first in range(0, count, _FEW):
        for i in range(first + 1, min(first + _FEW, count)):
            key, row, j = memory[0, i], rows[0, i], i
            while j > first and memory[0, j - 1] > key:
                memory[0, j], rows[0, j] = memory[0, j - 1], rows[0, j - 1]
                j -= 1
            memory[0, j], rows[0, j] = key, row
    at, size = 0, _FEW
    while size < count:
        for first in range(0, count, 2 * size):
            half, last = min(first + size, count), min(first + 2 * size, count)
            _merge(memory[at], rows[at], first, half, last, memory[1 - at], rows[1 - at])
        at, size = 1 - at, 2 * size
    return at


@kernel
def _gather(keys, rows, total, start, end, ordered):
    """Write the observations of the rows ``start, ..., end - 1`` in order; return their number."""
    count = 0
    for i in range(total):
        ordered[count] = keys[i]
        count += (start <= rows[i]) & (rows[i] < end)
    return count


@kernel
def _sum(values, count, shift, square):
    """Return the sum of differences from `shift`, or of their squares, with the errors of all additions."""
    high = low = 0.0
    for i in range(count):
        term = values[i] - shift
        term = term * term if square else term
        new = high + term
        part = new - high
        low += (high - (new - part)) + (term - part)
        high = new
    return high + low


@kernel
def _mean(values, count):
    """Return the mean; the mean of equal values is exact."""
    return values[0] + _sum(values, count, values[0], False) / count


@kernel
def _squares(values, count):
    """Return the sum of squares of deviations from the mean; NaN where squares may leave the range."""
    shift, farthest = _mean(values, count), 0.0
    if not np.isfinite(shift):
        return np.nan
    for i in range(count):
        farthest = max(farthest, abs(values[i] - shift))
    if farthest == 0.0:
        return 0.0
    if not _LEAST < farthest < _MOST:
        return np.nan
    rest = _sum(values, count, shift, False)
    return max(_sum(values, count, shift, True) - rest * rest / count, 0.0)


@kernel
def _from_sums(statistic, values, count, ddof):
    """Return a statistic that follows from sums, and whether it stayed in the range of floats."""
    if statistic <= MEAN:
        total = _sum(values, count, 0.0, False)
        return (total if statistic == SUM or count == 0 else total / count), np.isfinite(total)
    squares = _squares(values, count)
    if count <= ddof:
        return np.nan, not np.isnan(squares)
    variance = squares / (count - ddof)
    if statistic == VARIANCE:
        return variance, not np.isnan(squares)
    root = np.sqrt(variance)
    return (root / np.sqrt(count) if statistic == ERROR else root), not np.isnan(squares)


@kernel
def _from_order(statistic, ordered, count, one, two, three):
    """Return a statistic of observations in order."""
    if statistic == DISTINCT:
        distinct = min(count, 1)
        for i in range(1, count):
            distinct += ordered[i] != ordered[i - 1]
        return np.float64(distinct)
    if statistic == KTH:
        return ordered[np.int64(one) - 1 if one > 0.0 else count + np.int64(one)]
    if statistic == QUANTILE:
        return quantile_of_sorted(ordered, count, one, np.int64(two))
    if statistic == SPREAD:
        low = quantile_of_sorted(ordered, count, one, np.int64(three))
        high = quantile_of_sorted(ordered, count, two, np.int64(three))
        return 0.0 if low == high else high - low
    if statistic == MODE:
        return mode_of_sorted(ordered, count)
    lower, upper, near, far, _ = nearest_distances(ordered, count, 0)
    return deviation(middle(lower, upper), near, far) * one


@kernel
def answer(times, now, distances, passes, beyond, series, tasks, parameters, bounds, memory, rows, out):
    """Write statistics of windows at the time `now`; return whether these values are served.

    Parameters
    ----------
    times : ndarray of int64 or float64, shape (n,)
        Times of the rows, in order.
    now : int or float
        The time of the windows, of the same type.
    distances, passes, beyond, bounds
        See :func:`rollstat.kernels.time_bounds.bounds_at`; it writes the bounds.
    series : ndarray of float64, shape (places, room)
        The series; NaN is missing. Rows from n on are not read.
    tasks : ndarray of int64, shape (tasks, 6)
        Place of the series, place of another series that must also have a value in each observed row, window,
        statistic, observations that the statistic needs, and place of the result; in this order.
    parameters : ndarray of float64, shape (tasks, 3)
        Parameters of the statistics.
    memory, rows : ndarray of float64, shape (4, n + 1), and of int64, shape (3, n + 1)
        Scratch.
    out : ndarray of float64
        Receives the results; NaN where a window has too few observations.
    """
    n = len(times)
    bounds_at(times, now, distances, passes, beyond, bounds)
    place = where = window = at = gathered = -1
    total = first = last = 0
    for i in range(len(tasks)):
        if tasks[i, 0] != place or tasks[i, 1] != where:
            place, where, window, at = tasks[i, 0], tasks[i, 1], -1, -1
            total = _observe(series[place, :n], series[where, :n], memory, rows)
        if tasks[i, 2] != window:
            window, gathered = tasks[i, 2], -1
            first, last = rows[2, bounds[2 * window]], rows[2, bounds[2 * window + 1]]
        statistic, count, result = tasks[i, 3], last - first, np.nan
        if count >= tasks[i, 4] and statistic >= KTH:
            if at < 0:
                at = _sort(total, memory, rows)
            if gathered < 0:
                start, end = bounds[2 * window], bounds[2 * window + 1]
                gathered = _gather(memory[at], rows[at], total, start, end, memory[3])
            one, two, three = parameters[i, 0], parameters[i, 1], parameters[i, 2]
            result = _from_order(statistic, memory[3], count, one, two, three)
        elif count >= tasks[i, 4] and statistic >= SUM:
            result, served = _from_sums(statistic, memory[2, first:last], count, parameters[i, 0])
            if not served:
                return False
        elif count >= tasks[i, 4]:
            result = memory[2, first] if statistic == FIRST else memory[2, max(last - 1, 0)]
            if statistic == COUNT:
                result = np.float64(count)
        out[tasks[i, 5]] = result
    return True
