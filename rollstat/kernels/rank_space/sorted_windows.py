"""Statistics of the observations of any windows, read off a sorted array.

::

    window    1  3  4  7  9     3 leaves and 8 enters: 4 and 7 move by one place
              1  4  7  8  9     -->  read: quantile, deviation, mode, rank, ...  -->  result

One loop serves all of these statistics. The class of `reader`, a NamedTuple of the statistic's parameters,
chooses what to read from the sorted observations. For short series of float64 the readers finish the results,
so that one kernel call does everything. Blocks of all dtypes use the same loop for narrow windows. Where a
network sorts windows of one width, :func:`read_columns` reads the same statistics from them.

State: ``window``, of the dtype of the values, (m,); and the index of the nearest half of the last window, for
deviations. The K observations nearest to the median are neighbours, as in
:mod:`rollstat.kernels.rank_space.mad_tree`.

Invariant: the first `count` entries of `window` are the observations in order.

Cost: O(m) for each row that enters or leaves, with a third of the entries moved on average, and vector code
in the search and the moves. Reading takes O(1) for a quantile, O(1) for a deviation as long as its nearest
half moves by a few observations, and O(m) for the others. Source: insertion sort.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import class_of, dispatching
from rollstat.kernels.rank_space.distances import centers, deviation, middle, middle_distances
from rollstat.kernels.rank_space.gini import mean_of_sorted
from rollstat.kernels.rank_space.rank import place_of
from rollstat.kernels.rank_space.trimmed_mean import mean_of_sorted_kept
from rollstat.kernels.selection.quantiles import quantile_point

_TOGETHER = 8  # entries that move together, by vector code, if the last of them moves


class Kth(NamedTuple):
    """The k-th smallest observation, or the -k-th largest, and the next one in order.

    With `k` 0 the number given for each window is the rank, from 0.
    """

    k: int


class Position(NamedTuple):
    """The row of the order statistic of :class:`Kth`; of equal observations the older is the smaller."""

    k: int


class QuantileOf(NamedTuple):
    """A quantile; `interpolation` is a value of ``rollstat.kernels.selection.quantiles.INTERPOLATIONS``."""

    q: float
    interpolation: int


class Points(NamedTuple):
    """Several order statistics and quantiles: for each of them `k` or, if that is 0, `q` and `interpolation`.

    `found` is scratch. A rank beyond the observations is the nearest one.
    """

    k: np.ndarray
    q: np.ndarray
    interpolation: np.ndarray
    found: np.ndarray


class SpreadOf(NamedTuple):
    """The distance of two quantiles; if they are `whole` numbers, these are subtracted before rounding."""

    q_low: float
    q_high: float
    interpolation: int
    whole: bool


class Distances(NamedTuple):
    """The two middle observations, and the two middle distances from the median."""


class DistancesOfOthers(NamedTuple):
    """Like :class:`Distances`, without the row that is the number given for each window; 0 if it is alone."""


class Deviation(NamedTuple):
    """The median distance from the median, times `scale`."""

    scale: float


class Outlier(NamedTuple):
    """The value of the row itself or, if it is an outlier, the median; and whether it is one.

    An outlier lies farther from the median than `factor` deviations. The row is the number given for each
    window.
    """

    factor: float


class TrimmedMean(NamedTuple):
    """The trimmed or winsorized mean; full windows of `in_pairs` rows are added up as networks do."""

    proportion: float
    winsorize: bool
    in_pairs: int


class MeanDifference(NamedTuple):
    """The mean distance of all pairs of observations."""


class Distinct(NamedTuple):
    """The number of distinct observations."""


class Mode(NamedTuple):
    """The most frequent observation, the smallest of several."""


class RankOf(NamedTuple):
    """The rank of the last row, as :func:`rollstat.kernels.rank_space.rank.finish` writes it."""

    method: int
    ascending: bool
    pct: bool


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
    while i >= _TOGETHER and window[i - _TOGETHER] > value:
        for j in range(_TOGETHER):
            window[i - j] = window[i - j - 1]
        i -= _TOGETHER
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
    while i + _TOGETHER < count and window[i + _TOGETHER] < new:
        for j in range(_TOGETHER):
            window[i + j] = window[i + j + 1]
        i += _TOGETHER
    while i + 1 < count and window[i + 1] < new:
        window[i] = window[i + 1]
        i += 1
    insert(window, i, new)


@kernel(forceinline=True)
def _is_observed(values, missing, i):
    return values[i] == values[i] and (len(missing) == 0 or not missing[i])


@kernel
def advance(values, missing, window, count, left, right, start, end):
    """Move from the window ``[left, right)`` of rows to ``[start, end)``, and return its observations.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The series; NaN is missing.
    missing : ndarray of bool, shape (n,) or (0,)
        True where the value is missing; empty if only NaN is.
    window, count
        The observations of ``[left, right)`` in order, and their number.
    left, right, start, end : int
        ``left <= start`` and ``right <= end``.
    """
    full = count > 0 and count == right - left and start == left + 1 and end == right + 1
    if full and _is_observed(values, missing, right):
        replace(window, count, values[left], values[right])
        return count
    for i in range(left, min(start, right)):
        if _is_observed(values, missing, i):
            remove(window, count, values[i])
            count -= 1
    for i in range(max(start, right), end):
        if _is_observed(values, missing, i):
            insert(window, count, values[i])
            count += 1
    return count


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
def nearest_distances(window, count, index):
    """Return the two middle observations, the two middle distances, and the first of the nearest.

    The search for the nearest half of the first `count` entries starts at `index`.
    """
    half = count // 2
    wanted = count - half
    lower, upper = window[(count - 1) // 2], window[half]
    low, high = centers(lower, upper)
    index = _first_nearest(window, low, high, index, half, wanted)
    end = index + wanted
    ends = window[index], window[end - 1]
    neighbours = window[max(index - 1, 0)], window[min(end, count - 1)]
    near, far = middle_distances(low, high, ends, neighbours, index, half, count)
    return lower, upper, near, far, index


@kernel(forceinline=True)
def _rank_of(k, count, given):
    return max(given, 0) if k == 0 else k - 1 if k > 0 else count + k


@kernel
def _read_kth(reader, values, missing, start, end, given, window, count, hint, marks):
    rank = _rank_of(reader.k, count, given)
    return (window[rank], window[min(rank + 1, count - 1)]), hint


@kernel
def _read_position(reader, values, missing, start, end, given, window, count, hint, marks):
    rank = _rank_of(reader.k, count, given)
    n = rank - count_below(window, count, window[rank])
    for i in range(start, end):
        if values[i] == window[rank] and _is_observed(values, missing, i):
            if n == 0:
                return (i,), hint
            n -= 1
    return (-1,), hint


@kernel
def quantile_of_sorted(window, count, q, interpolation):
    """Return a quantile of the first `count` entries, rounded like the quantiles of whole arrays."""
    rank = np.int64(q * (count - 1))
    return quantile_point(window[rank], window[min(rank + 1, count - 1)], count, q, interpolation)


@kernel
def _read_quantile(reader, values, missing, start, end, given, window, count, hint, marks):
    return (quantile_of_sorted(window, count, reader.q, reader.interpolation),), hint


@kernel
def _read_points(reader, values, missing, start, end, given, window, count, hint, marks):
    for i in range(len(reader.found)):
        if reader.k[i] == 0:
            reader.found[i] = quantile_of_sorted(window, count, reader.q[i], reader.interpolation[i])
        else:
            reader.found[i] = window[min(max(_rank_of(reader.k[i], count, 0), 0), count - 1)]
    return reader.found, hint


@kernel
def _inner(window, count, q, middle):
    """Return the observation at or below a quantile, and how far above it the quantile lies."""
    place = q * (count - 1)
    rank = np.int64(place)
    fraction = place - rank
    gap = window[rank + 1] - window[rank] if fraction > 0.0 else 0.0
    return window[rank], gap * (0.5 if middle else fraction)


@kernel
def _read_spread(reader, values, missing, start, end, given, window, count, hint, marks):
    if reader.whole:
        middle = reader.interpolation == 4
        low, above_low = _inner(window, count, reader.q_low, middle)
        high, above_high = _inner(window, count, reader.q_high, middle)
        return ((high - low) + (above_high - above_low),), hint
    low = quantile_of_sorted(window, count, reader.q_low, reader.interpolation)
    high = quantile_of_sorted(window, count, reader.q_high, reader.interpolation)
    return (0.0 if low == high else high - low,), hint


@kernel
def _read_distances(reader, values, missing, start, end, given, window, count, hint, marks):
    lower, upper, near, far, hint = nearest_distances(window, count, hint)
    return (lower, upper, near, far), hint


@kernel
def _read_distances_of_others(reader, values, missing, start, end, given, window, count, hint, marks):
    inside = start <= given < end and _is_observed(values, missing, given)
    if inside:
        remove(window, count, values[given])
    others = count - inside
    lower = upper = near = far = window[0] - window[0]
    if others > 0:
        lower, upper, near, far, hint = nearest_distances(window, others, hint)
    if inside:
        insert(window, others, values[given])
    return (lower, upper, near, far), hint


@kernel
def _deviation(window, count, hint):
    """Return the median, the deviation, and the next hint."""
    lower, upper, near, far, hint = nearest_distances(window, count, hint)
    center = middle(lower, upper)
    return center, deviation(center, near, far), hint


@kernel
def _read_deviation(reader, values, missing, start, end, given, window, count, hint, marks):
    _, found, hint = _deviation(window, count, hint)
    return (found * reader.scale,), hint


@kernel
def _read_outlier(reader, values, missing, start, end, given, window, count, hint, marks):
    center, found, hint = _deviation(window, count, hint)
    value = values[given]
    if value != value:
        return (marks[0], marks[1]), hint
    outlier = np.abs(value - center) > reader.factor * found
    return (center if outlier else value, np.float64(outlier)), hint


@kernel
def _read_trimmed_mean(reader, values, missing, start, end, given, window, count, hint, marks):
    in_pairs = count == reader.in_pairs
    mean = mean_of_sorted_kept(window, count, reader.proportion, reader.winsorize, in_pairs)
    return (mean,), hint if np.isfinite(mean) else -1


@kernel
def _read_mean_difference(reader, values, missing, start, end, given, window, count, hint, marks):
    return (mean_of_sorted(window, count),), hint


@kernel
def _read_distinct(reader, values, missing, start, end, given, window, count, hint, marks):
    distinct = min(count, 1)
    for i in range(1, count):
        distinct += window[i] != window[i - 1]
    return (np.float64(distinct),), hint


@kernel
def mode_of_sorted(window, count):
    """Return the most frequent of the first `count` entries, the smallest of several."""
    best = 0
    run = longest = 1
    for i in range(1, count):
        run = run + 1 if window[i] == window[i - 1] else 1
        if run > longest:
            best, longest = i, run
    return window[best]


@kernel
def _read_mode(reader, values, missing, start, end, given, window, count, hint, marks):
    return (mode_of_sorted(window, count),), hint


@kernel
def _read_rank(reader, values, missing, start, end, given, window, count, hint, marks):
    newest = values[end - 1]
    if newest != newest:
        return (marks[0],), hint
    smaller = count_below(window, count, newest)
    equal = 0
    for i in range(count):
        equal += window[i] == newest
    return (place_of(smaller, equal, count, reader.method, reader.ascending, reader.pct),), hint


_READERS = {
    Kth: _read_kth,
    Position: _read_position,
    QuantileOf: _read_quantile,
    Points: _read_points,
    SpreadOf: _read_spread,
    Distances: _read_distances,
    DistancesOfOthers: _read_distances_of_others,
    Deviation: _read_deviation,
    Outlier: _read_outlier,
    TrimmedMean: _read_trimmed_mean,
    MeanDifference: _read_mean_difference,
    Distinct: _read_distinct,
    Mode: _read_mode,
    RankOf: _read_rank,
}


@dispatching
def read(reader, values, missing, start, end, given, window, count, hint, marks):
    """Return the results of the first `count` entries of `window`, and the next hint.

    The hint of the first window is 0. A negative hint means that the result must be computed in another way.
    The results are `marks` if the row itself is missing.
    """
    return _READERS[class_of(reader)]


@kernel
def sorted_windows(reader, values, missing, start, end, given, least, window, marks, results):
    """Write the statistics of the observations of every window.

    Parameters
    ----------
    reader : NamedTuple
        What to read from the sorted observations, see this module.
    values : ndarray, shape (n,)
        The series; NaN is missing.
    missing : ndarray of bool, shape (n,) or (0,)
        True where the value is missing; empty if only NaN is.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows of fewer than ``len(window)`` rows.
    given : ndarray of int64, shape (rows,) or (0,)
        A number for each window; empty for readers that do not need one.
    least : int
        Observations below which a window has no result.
    window : ndarray of the dtype of `values`
        Scratch.
    marks : ndarray, shape (results,)
        What the results are where there is none.
    results : tuple of ndarray, each of shape (rows,)
        Receive the results, as many as are wanted.

    Returns
    -------
    bool
        False if a result must be computed in another way.
    """
    left = right = count = hint = 0
    served = True
    for i in range(len(start)):
        count = advance(values, missing, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        if count < least:
            for j in range(len(results)):
                results[j][i] = marks[j]
            continue
        number = given[i] if len(given) > 0 else 0
        found, hint = read(reader, values, missing, left, right, number, window, count, hint, marks)
        for j in range(len(results)):
            results[j][i] = found[j]
        served &= hint >= 0
        hint = max(hint, 0)
    return served


@kernel
def read_columns(reader, columns, count, marks, results):
    """Write the statistics of windows that are sorted already, one in each column.

    Parameters
    ----------
    reader : NamedTuple
        What to read from the sorted observations: not the row of a value.
    columns : ndarray, shape (m, windows)
        The windows, the observations of each in order, before anything else.
    count : ndarray of int64, shape (windows,)
        Numbers of observations.
    marks : ndarray, shape (results,)
        What the results are in windows without observations.
    results : tuple of ndarray, each of shape (windows,)
        Receive the results.
    """
    hint = 0
    for i in range(len(count)):
        if count[i] == 0:
            for j in range(len(results)):
                results[j][i] = marks[j]
            continue
        window = columns[:, i]
        found, hint = read(reader, window, marks, 0, 0, 0, window, count[i], hint, marks)
        for j in range(len(results)):
            results[j][i] = found[j]
        hint = max(hint, 0)


@kernel
def check(window, count):
    """Return whether the entries are in order."""
    right = True
    for i in range(1, count):
        right &= window[i - 1] <= window[i]
    return np.bool_(right)
