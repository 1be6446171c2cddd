"""Extrema of up to 256 rows, or their positions, by doubling in machine vectors.

::

    rows            . . . . . . . . . . . . . . . . . . . . .
    the window          [---------------------------)         is the union of two spans, which may overlap,
    first, second       [- - - - - - - - )                    of 1, 2, 4, ... or 64 rows each; from 129 rows
                                    [- - - - - - - - )        on, of four

Shifting a vector by 1, 2, 4, ... lanes against the vector before and keeping the better of each pair of lanes
gives the best of the last 2, 4, 8, ... values at every row, up to a *span*, without leaving the registers.

The rows are processed in chunks. One loop makes spans and, some vectors behind, the windows, so that reading
and writing memory overlap and no load waits for a store. Vectors that would extend past the last value or the
last window are computed in copies.

An entry is a value or a value and its position, see :mod:`rollstat.kernels.comparator`. NaN is no
observation; the value that never wins replaces it.

State: scratch memory. Invariant: ``entries[:, j]`` is the best of the `span` values that end at row j of the
chunk, or of as many as there are. Cost: log2(span) + 2 operations for each vector of results, twice to three
times as much for positions, whatever the data.

Source: the doubling of windows is B. Chaudhuri's and R. van den Boomgaard's "logarithmic decomposition"
of flat structuring elements (R. van den Boomgaard and R. van Balen, Methods for fast morphological
image transforms using bitmapped binary images, CVGIP 54 (1992) 252-258,
doi:10.1016/1049-9652(92)90055-3).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch, prefetch_to_write
from rollstat.compile.simd.vectors import (
    VECTOR_BYTES,
    aligned_empty,
    broadcast,
    contains_nan,
    lanes_of,
    load,
    load_2d,
    propagate_nan,
    shift_in_previous,
    store_2d,
    unaligned,
    zeros_like,
)
from rollstat.kernels.comparator import Arg, entry, prefer, store_result, worst_of
from rollstat.kernels.loops import copy, fill

WIDEST = 256
# Lengths of spans. They are typed, since Numba would compile a kernel once more for a literal.
_ONE, _TWO, _FOUR, _EIGHT, _SIXTEEN, _THIRTY_TWO, _SIXTY_FOUR = map(np.int64, (1, 2, 4, 8, 16, 32, 64))
_PAGE = 4096
# Windows are this many vectors behind spans, and cache lines are requested this many ahead: chunks are too
# short for the hardware prefetcher.
_AHEAD = 8


class Scratch(NamedTuple):
    """Working memory, aligned to vectors.

    Attributes
    ----------
    entries : ndarray, shape (1 or 2, room), dtype of the values
        Best values, and their positions.
    values : ndarray, shape (room,), dtype of the values
        A copy of values, with others behind or before them.
    results : ndarray, shape (room,), dtype of the results
        Results that do not fill a vector or a block.
    total : ndarray, dtype of the values
        The best of each block, for :mod:`rollstat.kernels.extrema.blockwise`.
    queue : ndarray of int64
        Blocks, as many as `total`.
    """

    entries: NDArray
    values: NDArray
    results: NDArray
    total: NDArray
    queue: NDArray


def allocate(order, dtype, out, room, blocks=0):
    """Return scratch memory with `room` entries of `dtype`, results as in `out`, and totals of `blocks`."""
    channels, size = 2 if isinstance(order, Arg) else 1, np.dtype(dtype).itemsize
    # Both rows of entries are written alternately: their distance must not be a multiple of a page.
    room = (-(-room * size // _PAGE) * _PAGE + 17 * VECTOR_BYTES) // size
    return Scratch(
        aligned_empty(channels * room, dtype).reshape(channels, room),
        aligned_empty(room, dtype),
        aligned_empty(room, out.dtype),
        np.empty(blocks, dtype),
        np.empty(blocks, np.int64),
    )


@kernel(forceinline=True)
def _doubled(order, span, best, kept):
    """Return the best of the `span` entries that end in each lane of `best`, and the new `kept`.

    `kept` holds what earlier vectors were after each step, as far back as the next shift reaches.
    """
    one, two, four, eight, sixteen, sixteen_too, thirty_two, second, third, fourth = kept
    lanes = lanes_of(best)
    if span >= 2:
        before, one = one, best
        best = prefer(order, best, shift_in_previous(before, best, 1))
    if span >= 4:
        before, two = two, best
        best = prefer(order, best, shift_in_previous(before, best, 2))
    if span >= 8:
        before, four = four, best
        best = prefer(order, best, shift_in_previous(before, best, 4))
    if span >= 16:
        before, eight = eight, best
        best = prefer(order, best, shift_in_previous(before, best, 8))
    if span >= 32 and lanes >= 16:
        before, sixteen = sixteen, best
        best = prefer(order, best, shift_in_previous(before, best, 16))
    elif span >= 32:  # a shift by 16 is one by two vectors of eight
        before, sixteen, sixteen_too = sixteen, sixteen_too, best
        best = prefer(order, best, before)
    if span >= 64 and lanes >= 32:
        before, thirty_two = thirty_two, best
        best = prefer(order, best, shift_in_previous(before, best, 32))
    elif span >= 64 and lanes >= 16:
        before, thirty_two, second = thirty_two, second, best
        best = prefer(order, best, before)
    elif span >= 64:
        before, thirty_two, second, third, fourth = thirty_two, second, third, fourth, best
        best = prefer(order, best, before)
    return best, (one, two, four, eight, sixteen, sixteen_too, thirty_two, second, third, fourth)


@kernel(forceinline=True)
def store_and_prefetch(order, best, out, i, shift, following):
    """Write results while the cache fetches what is written soon, and `following`, the next to be read."""
    prefetch(following, i)
    prefetch_to_write(out, i + _AHEAD * lanes_of(out))
    store_result(order, best, out, i, shift)


@kernel(forceinline=True)
def _loops(order, values, first, span, spans, width, entries, out, shift, following):
    """Write the windows of a chunk whose values begin at row `first`; return whether there may be a NaN.

    Each window is the union of two or four `spans` of `span` rows.
    """
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order, values))
    nan = zeros_like(worst)
    none = entry(order, worst, 0)
    kept = none, none, none, none, none, none, none, none, none, none
    behind = len(values) - len(out) + _AHEAD * lanes
    for i in range(0, len(out) + behind, lanes):
        if i < len(values):
            vector = load(values, i)
            nan = propagate_nan(nan, vector)
            newest = entry(order, prefer(order, vector, worst), first + i)
            best, kept = _doubled(order, span, newest, kept)
            store_2d(best, entries, i)
        j = i - behind
        if j >= 0:
            best = load_2d(entries, j + span - 1, none)
            if spans == 4:
                best = prefer(order, load_2d(entries, j + 2 * span - 1, none), best)
                best = prefer(order, load_2d(entries, j + width - span - 1, none), best)
            best = prefer(order, load_2d(entries, j + width - 1, none), best)
            store_and_prefetch(order, best, out, j, shift, following)
    return contains_nan(nan)


@kernel(forceinline=True)
def _whole_vectors(order, values, first, width, entries, out, shift, following):
    """Like :func:`_loops`; spans are constants, so that the loops have no branch on them."""
    rest = width, entries, out, shift, following
    if width <= 2:
        return _loops(order, values, first, _ONE, _TWO, *rest)
    if width <= 4:
        return _loops(order, values, first, _TWO, _TWO, *rest)
    if width <= 8:
        return _loops(order, values, first, _FOUR, _TWO, *rest)
    if width <= 16:
        return _loops(order, values, first, _EIGHT, _TWO, *rest)
    if width <= 32:
        return _loops(order, values, first, _SIXTEEN, _TWO, *rest)
    if width <= 64:
        return _loops(order, values, first, _THIRTY_TWO, _TWO, *rest)
    if width <= 128:
        return _loops(order, values, first, _SIXTY_FOUR, _TWO, *rest)
    return _loops(order, values, first, _SIXTY_FOUR, _FOUR, *rest)


@kernel
def copy_values(order, values, first, count, memory):
    """Copy rows ``first, ..., first + count - 1`` to `memory`; the worst value where there is none."""
    fill(worst_of(order, values), memory[:count])
    begin, end = max(first, 0), min(first + count, len(values))
    if begin < end:
        copy(values[begin:end], memory[begin - first : end - first])


@kernel
def rolling(order, values, width, chunk, scratch, shift, out):
    """Write the best of every ``values[i:i + width]``, or its position counted from `shift`, to ``out[i]``.

    A window without an observation gives the value that never wins, and any position, as does a window with
    NaN and no better value. `width` is at most `WIDEST`, `chunk` a number of whole vectors. The arrays of
    `scratch` have room for two vectors more than the values of a chunk. Returns whether there may be a NaN.
    """
    lanes = lanes_of(values)
    nan, first, last = False, 0, min(unaligned(out), len(out))  # later chunks begin at a cache line
    while first < len(out):
        if first == last:
            last = min(first + chunk, len(out))
        rows = (last - first + lanes - 1) // lanes * lanes
        seen = (rows + width - 1 + lanes - 1) // lanes * lanes
        part, results = values[first : first + seen], out[first:last]
        extends = len(part) < seen or len(results) < rows
        if extends:
            copy_values(order, values, first, seen, scratch.values)
            part, results = scratch.values[:seen], scratch.results[:rows]
        results = results[:rows]
        following = values[min(first + seen, len(values)) :]
        nan |= _whole_vectors(order, part, first, width, scratch.entries, results, shift, following)
        if extends:
            copy(scratch.results, out[first:last])
        first = last
    return nan
