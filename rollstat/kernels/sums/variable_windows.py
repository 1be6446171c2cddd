"""Sums over any monotone windows of observations, without drift.

::

                 start          border         end
                 v              v              v
    x x x x x x [x x x x x x x x|x x x x x x x]x x x
                 <- older[start]  newer[end] ->

    start reaches the border  ->  the rows [start, end) become the new block, and the border moves to its end

A window is a suffix of the block before the border and a prefix of the rows after it; nothing is subtracted.
First the suffixes of a block are scanned, eight rows in a vector. Where each window ends one row after the
one before, as time windows do, the scan gives the prefixes of eight windows at once. They are added to the
suffixes without being stored. Other prefixes are stored for all windows that start in the block. The terms
come from :mod:`rollstat.kernels.sums.moment_formulas`. The shifts are the values in the row before the
border, because every window that starts in the block contains this row.

State: see `Scratch`. Invariant: column ``8 + j`` of `older` holds the sums from row ``first + j`` to the
border, column j of `newer` holds the sums of j rows after the border, and every window that starts before the
border ends after it or at it.

Error: a scan adds three times within a vector and carries an unevaluated pair from one vector to the next, so
at most ``6 u * sum(abs(x)) + O(m u**2)``, ``u = 2**-53``. Cost: every row enters one suffix and one prefix,
so O(K) amortised and O(K m) worst case per row for K channels.
Source: two stacks, as surveyed in section 3 of Tangwongsan, Hirzel and Schneider,
doi:10.1145/3093742.3093925; two-sum: Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.simd.bounds import are_consecutive, load_at, rows_between
from rollstat.compile.simd.float64x8_math import LANES, nan_where_below
from rollstat.compile.simd.float_flags import clear_flags, range_left
from rollstat.compile.simd.vectors import (
    broadcast,
    broadcast_lane,
    load,
    replace_nan,
    shift_in_next,
    shift_in_previous,
    store_2d,
    zeros_like,
)
from rollstat.kernels.bounds import first_from
from rollstat.kernels.sums.moment_formulas import finish, lift


class Scratch(NamedTuple):
    """Working memory.

    Attributes
    ----------
    older, newer : ndarray of float64, shape (channels, twice or once the rows of the longest window + 24)
        The suffixes of the block before the border, and the prefixes after it. Windows that start after the
        block are computed beside the block's last windows and overwritten, so `older` has room for their
        bounds.
    start, end : ndarray of int64, shape (LANES,)
        Bounds of fewer than eight windows.
    last : ndarray of float64, shape (outputs, LANES)
        Their results.
    padded : ndarray of float64, shape (LANES,)
        Values at an end of the data.
    """

    older: np.ndarray
    newer: np.ndarray
    start: np.ndarray
    end: np.ndarray
    last: np.ndarray
    padded: np.ndarray


def allocate(channels, outputs, longest):
    """Return scratch memory for windows of up to `longest` rows."""
    room = longest + 3 * LANES
    return Scratch(
        np.zeros((channels, room + longest)),
        np.zeros((channels, room)),
        *np.empty((2, LANES), np.int64),
        np.empty((outputs, LANES)),
        np.empty(LANES),
    )


@kernel
def _copy_part(values, i, padded):
    """Write ``values[i : i + LANES]`` to `padded`, and 0 for rows outside the data."""
    for lane in range(LANES):
        padded[lane] = values[i + lane] if 0 <= i + lane < len(values) else 0.0


@kernel(forceinline=True)
def _load_part(values, i, padded):
    """Return the vector at row `i`, with 0 in lanes outside the data."""
    if 0 <= i <= len(values) - LANES:
        return load(values, i)
    _copy_part(values, i, padded)
    return load(padded, 0)


@kernel(forceinline=True)
def _carry(high, low, term):
    """Return the unevaluated sum ``high + low + term``; `high` alone is the sum if it is not finite."""
    new = high + term
    part = new - high
    error = (high - (new - part)) + (term - part)
    return new, low + replace_nan(error, zeros_like(error))


# Both scans are inlined: a call pushes all arrays of `scratch` onto the stack, and this takes longer than the
# scan of a short window.
@kernel(forceinline=True)
def _scan_older(summand, x, y, first, border, scratch):
    """Write the sums from every row of ``[first, border)`` to the border."""
    shift_x, shift_y = broadcast(x[border - 1]), broadcast(y[border - 1])
    zero = zeros_like(lift(summand, shift_x, shift_y, shift_x, shift_y))
    high = low = zero
    for i in range(border - LANES, first - LANES, -LANES):
        lanes_x, lanes_y = _load_part(x, i, scratch.padded), _load_part(y, i, scratch.padded)
        one = lift(summand, lanes_x, lanes_y, shift_x, shift_y)
        two = one + shift_in_next(one, zero, 1)
        four = two + shift_in_next(two, zero, 2)
        eight = four + shift_in_next(four, zero, 4)
        store_2d(eight + (high + low), scratch.older, i - first + LANES)
        high, low = _carry(high, low, broadcast_lane(eight, 0))


@kernel(forceinline=True)
def _scan_newer(summand, x, y, border, last, scratch):
    """Write the sums from the border to every row of ``[border, last)``."""
    shift_x, shift_y = broadcast(x[border - 1]), broadcast(y[border - 1])
    zero = zeros_like(lift(summand, shift_x, shift_y, shift_x, shift_y))
    high = low = zero
    for i in range(border, last, LANES):
        lanes_x, lanes_y = _load_part(x, i, scratch.padded), _load_part(y, i, scratch.padded)
        one = lift(summand, lanes_x, lanes_y, shift_x, shift_y)
        two = one + shift_in_previous(zero, one, 1)
        four = two + shift_in_previous(zero, two, 2)
        eight = four + shift_in_previous(zero, four, 4)
        store_2d(eight + (high + low), scratch.newer, i - border + 1)
        high, low = _carry(high, low, broadcast_lane(eight, -1))


@kernel(forceinline=True)
def _finish_eight(summand, start, end, i, sums, shift_x, shift_y, least):
    """Return the outputs of the windows ``i, ..., i + 7`` from their sums."""
    count = rows_between(start, end, i)
    return nan_where_below(finish(summand, sums, shift_x, shift_y, count, count), count, least)


@kernel(forceinline=True)
def _sum_consecutive(summand, x, y, start, end, row, least, scratch, out):
    """Write the outputs of windows from `row` on that start in the block, eight at once; return the next row.

    It stops early where the ends of the windows do not follow one another. Some rows after the last one
    are overwritten.
    """
    first, border = start[row], end[row]
    shift_x, shift_y = broadcast(x[border - 1]), broadcast(y[border - 1])
    zero = zeros_like(lift(summand, shift_x, shift_y, shift_x, shift_y))
    high = low = zero
    i, behind = row, border - row
    while i <= len(start) - LANES and end[i] == i + behind and are_consecutive(end, i):
        lanes_x = _load_part(x, i + behind, scratch.padded)
        lanes_y = _load_part(y, i + behind, scratch.padded)
        one = lift(summand, lanes_x, lanes_y, shift_x, shift_y)
        two = one + shift_in_previous(zero, one, 1)
        four = two + shift_in_previous(zero, two, 2)
        eight = four + shift_in_previous(zero, four, 4)
        newer = shift_in_previous(zero, eight, 1) + (high + low)
        older = load_at(scratch.older, start, i, LANES - first, zero)
        store_2d(_finish_eight(summand, start, end, i, older + newer, shift_x, shift_y, least), out, i)
        if start[i + LANES - 1] >= border:
            return first_from(start, max(i - 1, row), border)
        high, low = _carry(high, low, broadcast_lane(eight, -1))
        i += LANES
    return i


@kernel
def _sum_others(summand, x, y, start, end, first, border, row, least, scratch, out):
    """Write the outputs of windows from `row` on that start in the block; return the next row."""
    stop = first_from(start, row, border)
    _scan_newer(summand, x, y, border, end[stop - 1], scratch)
    shift_x, shift_y = broadcast(x[border - 1]), broadcast(y[border - 1])
    model = lift(summand, shift_x, shift_y, shift_x, shift_y)
    for i in range(row, stop, LANES):
        if i + LANES <= stop:
            older = load_at(scratch.older, start, i, LANES - first, model)
            newer = load_at(scratch.newer, end, i, -border, model)
            store_2d(_finish_eight(summand, start, end, i, older + newer, shift_x, shift_y, least), out, i)
        else:
            for j in range(LANES):
                scratch.start[j] = start[min(i + j, stop - 1)]
                scratch.end[j] = end[min(i + j, stop - 1)]
            older = load_at(scratch.older, scratch.start, 0, LANES - first, model)
            newer = load_at(scratch.newer, scratch.end, 0, -border, model)
            result = _finish_eight(
                summand, scratch.start, scratch.end, 0, older + newer, shift_x, shift_y, least
            )
            store_2d(result, scratch.last, 0)
            for k in range(len(out)):
                for j in range(i, stop):
                    out[k, j] = scratch.last[k, j - i]
    return stop


@kernel
def _write_empty(summand, start, end, row, least, scratch, out):
    """Write the outputs of the empty windows from `row` on; return the next row."""
    stop = row
    while stop < len(start) and start[stop] == end[stop]:
        stop += 1
    zero = least - least
    result = finish(summand, zeros_like(lift(summand, zero, zero, zero, zero)), zero, zero, zero, zero)
    store_2d(nan_where_below(result, zero, least), scratch.last, 0)
    for k in range(len(out)):
        out[k, row:stop] = scratch.last[k, 0]
    return stop


@kernel
def sum_variable_windows(summand, x, y, start, end, min_count, scratch, out):
    """Write the outputs of `summand` for every window; NaN where it has fewer rows than `min_count`.

    No value is NaN. `scratch` is made by :func:`allocate`. Return whether sums may have left the range of
    float64.
    """
    clear_flags()
    row, least = 0, broadcast(min_count)
    while row < len(start):
        first, border = start[row], end[row]
        if first == border:
            row = _write_empty(summand, start, end, row, least, scratch, out)
        else:
            _scan_older(summand, x, y, first, border, scratch)
            row = _sum_consecutive(summand, x, y, start, end, row, least, scratch, out)
            if row < len(start) and start[row] < border:
                row = _sum_others(summand, x, y, start, end, first, border, row, least, scratch, out)
    return range_left()


@kernel
def sum_windows(summand, x, y, start, end, min_count, kept, bounds, scratch, out):
    """Write the outputs of `summand` for every window, as :func:`sum_variable_windows`; NaN is missing.

    A row is an observation if neither `x` nor `y` is NaN there. `kept`, float64, shape (2, n + 1), and
    `bounds`, int64, shape (3, max(n, rows) + 1), are scratch. Returns whether sums may have left the range of
    float64.
    """
    count, before = 0, bounds[2]
    for i in range(len(x)):
        before[i] = count
        kept[0, count], kept[1, count] = x[i], y[i]
        count += (x[i] == x[i]) & (y[i] == y[i])
    before[len(x)] = count
    for i in range(len(start)):
        bounds[0, i], bounds[1, i] = before[start[i]], before[end[i]]
    observed = bounds[0, : len(start)], bounds[1, : len(start)]
    return sum_variable_windows(
        summand, kept[0, :count], kept[1, :count], observed[0], observed[1], min_count, scratch, out
    )
