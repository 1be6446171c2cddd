"""Sums over any monotone windows of observations, without drift.

::

                 start          border         end
                 v              v              v
    x x x x x x [x x x x x x x x|x x x x x x x]x x x
                 <- older[start]  newer[end] ->

    start reaches the border  ->  the rows [start, end) become the new block, and the border moves to its end

A window is a suffix of the block before the border and a prefix of the rows after it; nothing is subtracted.
First the suffixes of a block and the prefixes after it are scanned, eight rows in a vector, for all windows
that start in the block. Then each of these windows adds one of both. The terms are those of
:mod:`rollstat.kernels.sums.moment_formulas`. The shifts are the values in the row before the border, which
are in every window that starts in the block.

State: see `Scratch`. Invariant: column ``8 + j`` of `older` holds the sums from row ``first + j`` to the
border, column j of `newer` those of j rows after the border, and every window that starts before the border
ends after it or at it.

Error: a scan adds three times within a vector and carries an unevaluated pair from one vector to the next, so
at most ``6 u * sum(abs(x)) + O(m u**2)``, ``u = 2**-53``. Cost: every row enters one suffix and one prefix,
so O(K) amortised and O(K m) worst case per row for K channels.
Source: two stacks, as surveyed in section 3 of Tangwongsan, Hirzel and Schneider,
doi:10.1145/3093742.3093925; two-sum: Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

from typing import NamedTuple

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat.kernels.search import first_from
from rollstat.kernels.simd.float64x8_math import LANES, nan_where_below
from rollstat.kernels.simd.vectors import (
    broadcast,
    load,
    load_2d,
    replace_nan,
    shift_in_next,
    shift_in_previous,
    store_2d,
    zeros_like,
)
from rollstat.kernels.sums.moment_formulas import channel_count, finish, lift

__all__ = ["ROWS_AT_ONCE", "Scratch", "allocate", "sum_variable_windows"]

ROWS_AT_ONCE = 512


class Scratch(NamedTuple):
    """Working memory.

    Attributes
    ----------
    older, newer : ndarray of float64, shape (channels, rows of the longest window + 24)
        The suffixes of the block before the border, and the prefixes after it.
    sums : ndarray of float64, shape (channels, ROWS_AT_ONCE)
        Sums of some windows.
    shift_x, shift_y, count : ndarray of float64, shape (ROWS_AT_ONCE,)
        Their shifts and numbers of rows.
    last : ndarray of float64, shape (outputs, LANES)
        Results of the last windows.
    padded : ndarray of float64, shape (LANES,)
        Values at an end of the data.
    """

    older: np.ndarray
    newer: np.ndarray
    sums: np.ndarray
    shift_x: np.ndarray
    shift_y: np.ndarray
    count: np.ndarray
    last: np.ndarray
    padded: np.ndarray


def allocate(channels, outputs, longest):
    """Return scratch memory for windows of up to `longest` rows."""
    room = longest + 3 * LANES
    return Scratch(
        np.empty((channels, room)),
        np.zeros((channels, room)),
        np.zeros((channels, ROWS_AT_ONCE)),
        *np.zeros((3, ROWS_AT_ONCE)),
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
def _total(lanes):
    """Return the sum of all lanes in every lane."""
    two = lanes + shift_in_next(lanes, lanes, 4)
    four = two + shift_in_next(two, two, 2)
    return four + shift_in_next(four, four, 1)


@kernel(forceinline=True)
def _carry(high, low, term):
    """Return the unevaluated sum ``high + low + term``; `high` alone is the sum where it is not finite."""
    new = high + term
    part = new - high
    error = (high - (new - part)) + (term - part)
    return new, low + replace_nan(error, zeros_like(error))


# Both scans are inlined: a call pushes all arrays of `scratch` onto the stack, which takes longer than the
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
        high, low = _carry(high, low, _total(one))


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
        high, low = _carry(high, low, _total(one))


@kernel
def _finish_rows(summand, scratch, min_count, first, last, out):
    """Write the outputs of the windows ``first, ..., last - 1`` from their sums."""
    model = broadcast(min_count)
    model = lift(summand, model, model, model, model)
    for i in range(first, last, LANES):
        at = i - first
        count = load(scratch.count, at)
        result = finish(
            summand,
            load_2d(scratch.sums, at, model),
            load(scratch.shift_x, at),
            load(scratch.shift_y, at),
            count,
        )
        result = nan_where_below(result, count, broadcast(min_count))
        if i + LANES <= last:
            store_2d(result, out, i)
        else:
            store_2d(result, scratch.last, 0)
            for k in range(len(out)):
                for j in range(i, last):
                    out[k, j] = scratch.last[k, j - i]


@kernel(forceinline=True)
def _add_parts(summand, start, end, first, border, scratch):
    """Write the sums and numbers of rows of windows that start in the block."""
    for i in range(len(start)):
        older, newer = start[i] - first + LANES, end[i] - border
        for k in range(channel_count(summand)):
            scratch.sums[k, i] = scratch.older[k, older & INDEX] + scratch.newer[k, newer & INDEX]
        scratch.count[i] = end[i] - start[i]


@kernel
def sum_variable_windows(summand, x, y, start, end, min_count, scratch, out):
    """Write the outputs of `summand` for every window; NaN where it has fewer rows than `min_count`.

    No value is NaN. `scratch` is made by :func:`allocate`.
    """
    rows = len(start)
    row = stop = first = border = 0
    for begin in range(0, rows, ROWS_AT_ONCE):
        last = min(begin + ROWS_AT_ONCE, rows)
        while row < last:
            if row == stop and start[row] < end[row]:
                first, border = start[row], end[row]
                stop = first_from(start, row, border)
                _scan_older(summand, x, y, first, border, scratch)
                _scan_newer(summand, x, y, border, end[stop - 1], scratch)
            some, at = min(stop, last), row - begin
            if row == stop:  # an empty window
                some = stop = row + 1
                for k in range(channel_count(summand)):
                    scratch.sums[k, at] = 0.0
                scratch.count[at] = 0.0
                scratch.shift_x[at] = scratch.shift_y[at] = 0.0
            else:
                parts = Scratch(
                    scratch.older,
                    scratch.newer,
                    scratch.sums[:, at:],
                    scratch.shift_x[at:],
                    scratch.shift_y[at:],
                    scratch.count[at:],
                    scratch.last,
                    scratch.padded,
                )
                _add_parts(summand, start[row:some], end[row:some], first, border, parts)
                scratch.shift_x[at : at + some - row] = x[border - 1]
                scratch.shift_y[at : at + some - row] = y[border - 1]
            row = some
        _finish_rows(summand, scratch, min_count, begin, last, out)
