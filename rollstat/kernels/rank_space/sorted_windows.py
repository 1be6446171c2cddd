"""Statistics of the observations of any windows of a short series, read off a sorted array.

::

    window    1  3  4  7  9     -->  read: quantile, deviation, mode, rank, ...  -->  result

One loop serves all of these statistics. What a statistic reads from the sorted observations is chosen by the
class of `reader`, a NamedTuple of its parameters. The loop skips NaN, counts observations and writes every
row, so that nothing but one call remains to be done for a short series; for a long one, its O(m) per row
takes longer than kernels that are faster to run and slower to call.

State: the sorted array of :mod:`rollstat.kernels.rank_space.sorted_array`, and the index of the nearest
half of the last window, for deviations.

Invariant: the first `count` entries are the observations of the window in order.

Cost: O(m) a row, as for the sorted array. Source: insertion sort.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import dispatched
from rollstat.kernels.rank_space.gini import mean_of_sorted
from rollstat.kernels.rank_space.mad_sorted import deviation_of_sorted
from rollstat.kernels.rank_space.rank import place_of
from rollstat.kernels.rank_space.sorted_array import count_below, insert, remove, replace
from rollstat.kernels.rank_space.trimmed_mean import mean_of_sorted_kept
from rollstat.kernels.selection.quantiles import quantile_point

__all__ = [
    "Deviation",
    "Distinct",
    "Kth",
    "MeanDifference",
    "Mode",
    "Outlier",
    "Position",
    "QuantileOf",
    "RankOf",
    "SpreadOf",
    "TrimmedMean",
    "sorted_windows",
]


class Kth(NamedTuple):
    """The k-th smallest observation, or the -k-th largest."""

    k: int


class Position(NamedTuple):
    """The row of the k-th smallest observation, or of the -k-th largest."""

    k: int


class QuantileOf(NamedTuple):
    """A quantile; `interpolation` is a value of ``rollstat.kernels.selection.quantiles.INTERPOLATIONS``."""

    q: float
    interpolation: int


class SpreadOf(NamedTuple):
    """The distance of two quantiles; if they are `whole` numbers, these are subtracted before rounding."""

    q_low: float
    q_high: float
    interpolation: int
    whole: bool


class Deviation(NamedTuple):
    """The median distance from the median, divided by `scale`."""

    scale: float


class Outlier(NamedTuple):
    """The value of the row itself or, if it is an outlier, the median; and whether it is one.

    An outlier lies farther from the median than `factor` deviations.
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
def _rank_of(k, count):
    return k - 1 if k > 0 else count + k


@kernel
def _read_kth(reader, values, start, end, own, window, count, hint, marks):
    return window[_rank_of(reader.k, count)], 0.0, hint


@kernel
def _read_position(reader, values, start, end, own, window, count, hint, marks):
    value = window[_rank_of(reader.k, count)]
    n = _rank_of(reader.k, count) - count_below(window, count, value)
    for i in range(start, end):
        if values[i] == value:
            if n == 0:
                return np.float64(i), 0.0, hint
            n -= 1
    return -1.0, 0.0, hint


@kernel
def _quantile(window, count, q, interpolation):
    """Return a quantile of the first `count` entries, rounded as those of whole arrays."""
    rank = np.int64(q * (count - 1))
    return quantile_point(window[rank], window[min(rank + 1, count - 1)], count, q, interpolation)


@kernel
def _read_quantile(reader, values, start, end, own, window, count, hint, marks):
    return _quantile(window, count, reader.q, reader.interpolation), 0.0, hint


@kernel
def _inner(window, count, q, middle):
    """Return the observation at or below a quantile, and how far above it the quantile lies."""
    place = q * (count - 1)
    rank = np.int64(place)
    fraction = place - rank
    gap = window[rank + 1] - window[rank] if fraction > 0.0 else 0.0
    return window[rank], gap * (0.5 if middle else fraction)


@kernel
def _read_spread(reader, values, start, end, own, window, count, hint, marks):
    if reader.whole:
        middle = reader.interpolation == 4
        low, above_low = _inner(window, count, reader.q_low, middle)
        high, above_high = _inner(window, count, reader.q_high, middle)
        return (high - low) + (above_high - above_low), 0.0, hint
    low = _quantile(window, count, reader.q_low, reader.interpolation)
    high = _quantile(window, count, reader.q_high, reader.interpolation)
    return 0.0 if low == high else high - low, 0.0, hint


@kernel
def _read_deviation(reader, values, start, end, own, window, count, hint, marks):
    _, deviation, hint = deviation_of_sorted(window, count, hint)
    return deviation / reader.scale, 0.0, hint


@kernel
def _read_outlier(reader, values, start, end, own, window, count, hint, marks):
    center, deviation, hint = deviation_of_sorted(window, count, hint)
    value = values[own]
    if value != value:
        return marks[0], marks[1], hint
    outlier = np.abs(value - center) > reader.factor * deviation
    return center if outlier else value, np.float64(outlier), hint


@kernel
def _read_trimmed_mean(reader, values, start, end, own, window, count, hint, marks):
    in_pairs = count == reader.in_pairs
    mean = mean_of_sorted_kept(window, count, reader.proportion, reader.winsorize, in_pairs)
    return mean, 0.0, hint if np.isfinite(mean) else -1


@kernel
def _read_mean_difference(reader, values, start, end, own, window, count, hint, marks):
    return mean_of_sorted(window, count), 0.0, hint


@kernel
def _read_distinct(reader, values, start, end, own, window, count, hint, marks):
    distinct = min(count, 1)
    for i in range(1, count):
        distinct += window[i] != window[i - 1]
    return np.float64(distinct), 0.0, hint


@kernel
def _read_mode(reader, values, start, end, own, window, count, hint, marks):
    best = 0
    run = longest = 1
    for i in range(1, count):
        run = run + 1 if window[i] == window[i - 1] else 1
        if run > longest:
            best, longest = i, run
    return window[best], 0.0, hint


@kernel
def _read_rank(reader, values, start, end, own, window, count, hint, marks):
    newest = values[end - 1]
    if newest != newest:
        return marks[0], marks[1], hint
    smaller = count_below(window, count, newest)
    equal = 0
    for i in range(count):
        equal += window[i] == newest
    return place_of(smaller, equal, count, reader.method, reader.ascending, reader.pct), 0.0, hint


_READERS = {
    Kth: _read_kth,
    Position: _read_position,
    QuantileOf: _read_quantile,
    SpreadOf: _read_spread,
    Deviation: _read_deviation,
    Outlier: _read_outlier,
    TrimmedMean: _read_trimmed_mean,
    MeanDifference: _read_mean_difference,
    Distinct: _read_distinct,
    Mode: _read_mode,
    RankOf: _read_rank,
}


def read(reader, values, start, end, own, window, count, hint, marks):
    """Return two results of the first `count` entries of `window`, and the next hint.

    The hint of the first window is 0. A negative hint means that the result must be computed in another way.
    The results are `marks` if the row itself is missing.
    """
    return _READERS[type(reader)](reader, values, start, end, own, window, count, hint, marks)


@dispatched(read)
def _read(reader, values, start, end, own, window, count, hint, marks):
    return _READERS[reader.instance_class]


@kernel
def _advance(values, window, count, left, right, start, end):
    """Move from the window ``[left, right)`` to ``[start, end)``, and return its observations."""
    if start == left + 1 and end == right + 1 and count == right - left and values[right] == values[right]:
        replace(window, count, values[left], values[right])
        return count
    for i in range(left, min(start, right)):
        if values[i] == values[i]:
            remove(window, count, values[i])
            count -= 1
    for i in range(max(start, right), end):
        if values[i] == values[i]:
            insert(window, count, values[i])
            count += 1
    return count


@kernel
def sorted_windows(reader, values, start, end, own, least, window, marks, first, second):
    """Write one or two statistics of the observations of every window.

    Parameters
    ----------
    reader : NamedTuple
        What to read from the sorted observations, see this module.
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows of fewer than ``len(window)`` rows.
    own : ndarray of int64, shape (rows,) or (0,)
        The row that each window belongs to; empty for readers that do not need it.
    least : int
        Observations below which a window has no result.
    window : ndarray of float64
        Scratch.
    marks : ndarray of float64, shape (2,)
        What the results are where there is none.
    first : ndarray of float64, shape (rows,)
        Receives the first result.
    second : ndarray of float64, shape (rows,) or (0,)
        Receives the second result; empty if there is none.

    Returns
    -------
    bool
        False if a result must be computed in another way.
    """
    left = right = count = hint = 0
    for i in range(len(start)):
        count = _advance(values, window, count, left, right, start[i], end[i])
        left, right = start[i], end[i]
        one, two = marks[0], marks[1]
        if count >= least:
            row = own[i] if len(own) > 0 else 0
            one, two, hint = read(reader, values, left, right, row, window, count, hint, marks)
            if hint < 0:
                return False
        first[i] = one
        if len(second) > 0:
            second[i] = two
    return True
