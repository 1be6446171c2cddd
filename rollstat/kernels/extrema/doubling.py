"""Extrema of a fixed number of rows by doubling in machine vectors.

::

    rows of one vector    |. . . a a a a a|T T T T T T T T|T T T T T T T T|b b b b b . . .|
    the window                   [-----------------------------------------------]
    first span                   [- - - - - - - - )
    last span                                                    (- - - - - - - -]
    rows between                          M = best of the totals T of these rows

A vector holds ``lanes`` values and is called a row here. Shifting it by 1, 2, 4, ... against the vector
before and keeping the better of each pair of lanes gives the best of the last 2, 4, 8, ... values at every
position, up to a *span* of 64 values or two vectors, without leaving the registers. A window of up to two
spans is the union of two overlapping spans, a window of up to four spans that of four. A longer window is
its first span, its last span, and the whole rows that all windows beginning in one row have in common. The
best of those rows comes from a series `lanes` times shorter with windows about `lanes` times shorter, which
is treated in the same way.

The values are processed in chunks. One loop makes the spans of a chunk and writes the windows of the chunk
before, so that reading and writing memory overlap. Spans that both chunks need are copied. Windows of a few
rows need no spans, see :mod:`rollstat.kernels.extrema.direct`.

State: scratch memory alone, parts of one array. Invariant: ``spans[j]`` is the best of the `span` values
that end at j, or of as many as there are. Cost: about log2(span) + 3 vector operations for each vector of
results, whatever the window and the data. The only branch on data is whether a chunk has a
NaN; then the sentinel replaces NaN in it and in all later chunks.

Source: the doubling of windows is B. Chaudhuri's and R. van den Boomgaard's "logarithmic decomposition"
of flat structuring elements (R. van den Boomgaard and R. van Balen, Methods for fast morphological
image transforms using bitmapped binary images, CVGIP 54 (1992) 252-258,
doi:10.1016/1049-9652(92)90055-3); the totals of aligned rows are a sparse table over blocks, as in
M. Bender and M. Farach-Colton, The LCA problem revisited, LATIN 2000, doi:10.1007/10719839_9.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import prefetch_to_write
from rollstat.compile.simd.vectors import (
    broadcast,
    contains,
    contains_nan,
    first_lane,
    lanes_of,
    load,
    propagate_nan,
    replace_nan,
    shift_in_previous,
    store,
    unaligned,
    zeros,
)
from rollstat.kernels.extrema import direct
from rollstat.kernels.extrema.direct import FEW
from rollstat.kernels.extrema.nan_policy import (
    ANY,
    HAS_NAN,
    HAS_SENTINEL,
    MAY_HAVE_NAN,
    NO,
    NO_NAN,
    ONE,
    SKIP,
    UNCHECKED,
    Nan,
)
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import best_of, missing_of, prefer, where_equal, worst_of
from rollstat.kernels.simd.loops import copy

__all__ = [
    "EIGHT",
    "FOUR",
    "FOUR_SPANS",
    "LONGEST_SPAN",
    "ROWS_BETWEEN",
    "SIXTEEN",
    "SIXTY_FOUR",
    "THIRTY_TWO",
    "TWO_SPANS",
    "Pending",
    "best_lane",
    "doubled",
    "largest_span",
    "rolling",
    "room_for",
    "scratch_length",
    "span_for",
    "values_of",
]


# Lengths of spans, and how a window is made of spans. They are typed, as those of `nan_policy`.
FOUR, EIGHT, SIXTEEN, THIRTY_TWO, SIXTY_FOUR = map(np.int64, (4, 8, 16, 32, 64))
TWO_SPANS, FOUR_SPANS, ROWS_BETWEEN = map(np.int64, range(3))
# The longest span: two vectors of the smallest elements.
LONGEST_SPAN = 128


class Pending(NamedTuple):
    """Windows whose spans are known and whose results are to be written."""

    width: int
    spans: NDArray
    middle: NDArray
    """``middle[q]`` is the best of the rows between the spans of all windows that begin in row q."""
    out: NDArray


@kernel
def largest_span(width, limit):
    """Return the largest power of two that is no more than `width` and `limit`."""
    span = 1
    while 2 * span <= min(width, limit):
        span *= 2
    return span


@kernel
def span_for(width, lanes):
    """Return the span for windows of `width`: two vectors or more if they have rows between."""
    return largest_span(width, max(64, 2 * lanes))


@kernel
def room_for(count, lanes):
    """Return the space for `count` values and for what whole vectors read and write beyond them."""
    return (count // lanes + 3) * lanes


def scratch_length(width, chunk, lanes):
    """Return the length of the scratch memory for chunks of `chunk` rows."""
    count = chunk + width - 1
    length = 3 * (LONGEST_SPAN + lanes)
    length += 2 * (room_for(count, lanes) + room_for(count // lanes, lanes))
    while width > 4 * lanes:
        count, width = count // lanes, width // lanes
        length += 3 * room_for(count, lanes)
    return length


@kernel
def best_lane(order, vector):
    """Return the best of all lanes."""
    vector = prefer(order, vector, shift_in_previous(vector, vector, 32))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 16))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 8))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 4))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 2))
    return first_lane(prefer(order, vector, shift_in_previous(vector, vector, 1)))


@kernel(forceinline=True)
def doubled(order, span, best, kept):
    """Return the best of the `span` values that end in each lane of `best`, and the new `kept`.

    `kept` holds what earlier vectors were after each step, as far back as the next shift reaches.
    """
    one, two, four, eight, sixteen, sixteen_too, thirty_two, second, third, fourth, sixty_four = kept
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
    if span >= 128:
        before, sixty_four = sixty_four, best
        best = prefer(order, best, shift_in_previous(before, best, 64))
    kept = one, two, four, eight, sixteen, sixteen_too, thirty_two, second, third, fourth, sixty_four
    return best, kept


@kernel(forceinline=True)
def _loop(order, values, span, spans, pending, half, kind, nan):
    """Write the spans of all whole vectors of `values`, and all whole vectors of pending windows.

    The windows are made of spans of `half` values in the way that `kind` says. Returns what was found.
    """
    width, ended, middle, results = pending
    lanes = lanes_of(results)
    worst = broadcast(worst_of(order, results))
    kept = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    sentinel, missing, has_nan = broadcast(nan.sentinel), broadcast(missing_of(results)), zeros(results)
    found = has_nan
    second, third = min(2 * half, width) - 1, max(width - half, 1) - 1
    row = 0
    # Spans and results share one loop, since loads of one hide the latency of stores of the other.
    for i in range(0, max(len(values), len(results)) - lanes + 1, lanes):
        if i + lanes <= len(values):
            newest = load(values, i)
            if nan.mode != NO_NAN:
                has_nan = propagate_nan(has_nan, newest)
            best = newest
            if nan.mode == MAY_HAVE_NAN:
                found, best = where_equal(best, sentinel, best, found), replace_nan(best, sentinel)
            best, kept = doubled(order, span, best, kept)
            store(best, spans, i)
        if i + lanes <= len(results):
            best = prefer(order, load(ended, i + half - 1), load(ended, i + width - 1))
            if kind == ROWS_BETWEEN:
                best = prefer(order, broadcast(middle[row & INDEX]), best)
                row += 1
            elif kind == FOUR_SPANS:
                inner = prefer(order, load(ended, i + second), load(ended, i + third))
                best = prefer(order, inner, best)
            if nan.decode:
                best = where_equal(best, sentinel, missing, best)
            prefetch_to_write(results, i + 8 * lanes)  # chunks are too short for the hardware prefetcher
            store(best, results, i)
    confused = nan.mode == MAY_HAVE_NAN and contains(found, nan.sentinel)
    return HAS_NAN * int(contains_nan(has_nan)) + HAS_SENTINEL * int(confused)


@kernel(forceinline=True)
def _kind_for(width, half):
    """Return how windows of `width` are made of spans of `half` values."""
    return TWO_SPANS if width <= 2 * half else FOUR_SPANS if width <= 4 * half else ROWS_BETWEEN


@kernel
def _any_span(order, values, span, spans, pending, nan):
    """As :func:`_loop`, for any span and any windows."""
    half = span_for(pending.width, lanes_of(spans))
    return _loop(order, values, span, spans, pending, half, _kind_for(pending.width, half), nan)


@kernel(forceinline=True)
def _one_span(order, values, span, spans, pending, kind, nan):
    """As :func:`_loop`, for a constant `span` and `kind`, with a loop of its own for data without NaN."""
    if nan.mode == UNCHECKED and not nan.decode:
        return _loop(order, values, span, spans, pending, span, kind, Nan(UNCHECKED, nan.sentinel, NO))
    return _loop(order, values, span, spans, pending, span, kind, Nan(MAY_HAVE_NAN, nan.sentinel, nan.decode))


@kernel(forceinline=True)
def _whole_vectors(order, values, span, spans, pending, nan):
    """As :func:`_loop`; the usual spans are constants, so that their loops have no branch on the span."""
    half = span_for(pending.width, lanes_of(spans))
    kind = _kind_for(pending.width, half)
    if span == half and nan.mode != NO_NAN:
        if span == 4:
            return _one_span(order, values, FOUR, spans, pending, TWO_SPANS, nan)
        if span == 8:
            return _one_span(order, values, EIGHT, spans, pending, TWO_SPANS, nan)
        if span == 16:
            return _one_span(order, values, SIXTEEN, spans, pending, TWO_SPANS, nan)
        if span == 32:
            return _one_span(order, values, THIRTY_TWO, spans, pending, TWO_SPANS, nan)
        if span == 64 and kind == TWO_SPANS:
            return _one_span(order, values, SIXTY_FOUR, spans, pending, TWO_SPANS, nan)
        if span == 64 and kind == FOUR_SPANS:
            return _one_span(order, values, SIXTY_FOUR, spans, pending, FOUR_SPANS, nan)
        if span == 64:
            return _one_span(order, values, SIXTY_FOUR, spans, pending, ROWS_BETWEEN, nan)
    return _any_span(order, values, span, spans, pending, nan)


@kernel
def _chunk(order, values, span, edge, spans, pending, nan):
    """As :func:`_whole_vectors`, with the partial vectors at the ends of `values` and of the results."""
    width, ended, middle, out = pending
    lanes, count = lanes_of(spans), len(out)
    found = _whole_vectors(order, values, span, spans, pending, nan)
    # Spans alone: windows of one value, without results.
    nothing, careful = Pending(ONE, ended, middle, out[:0]), Nan(MAY_HAVE_NAN, nan.sentinel, NO)
    whole = len(values) // lanes * lanes
    if whole < len(values):
        # The last vector is computed in `edge` from a copy of the span before it and the values left.
        padded, memory = edge[: LONGEST_SPAN + lanes], edge[LONGEST_SPAN + lanes :]
        last = memory[: LONGEST_SPAN + lanes]
        for j in range(whole - LONGEST_SPAN, whole + lanes):
            padded[j - whole + LONGEST_SPAN] = values[j] if 0 <= j < len(values) else values[len(values) - 1]
        found |= _any_span(order, padded, span, last, nothing, careful)
        store(load(last, LONGEST_SPAN), spans, whole)
    if found and nan.mode == UNCHECKED:  # the whole chunk again, wherever the NaN is
        found |= _any_span(order, values, span, spans, nothing, careful)
    whole = count // lanes * lanes
    if whole < count:
        last = edge[:lanes]
        rest = Pending(width, ended[whole:], middle[whole // lanes :], last)
        _any_span(order, values[:0], ONE, spans, rest, Nan(NO_NAN, nan.sentinel, nan.decode))
        copy(last, out[whole:])
    return found


@kernel
def _fill_middle(order, spans, count, width, scratch, middle):
    """Write to `middle` the best of the whole rows between the spans of windows of more than four spans.

    There are `count` rows of spans. The first span of a window that begins in row q reaches the end of row
    ``q + span // lanes - 1``, and its last span begins no later than row
    ``q + (width - span + 2 * lanes - 2) // lanes``. A total is the best of ``span // lanes`` rows.
    """
    lanes = lanes_of(spans)
    room = room_for(count, lanes)
    totals, above, inner = scratch[:room], scratch[room : 2 * room], scratch[2 * room : 3 * room]
    half = span_for(width, lanes)
    skipped = 2 * (half // lanes) - 1
    between = (width - half + 2 * lanes - 2) // lanes - skipped
    known = count - skipped
    for row in range(known):
        totals[row] = spans[(row + skipped) * lanes + lanes - 1]
    for row in range(known, room - 2 * lanes):
        totals[row] = worst_of(order, totals)
    totals, nothing = totals[: room - 2 * lanes], totals[:0]
    no_nan = Nan(NO_NAN, worst_of(order, spans), NO)
    _any_span(order, totals, span_for(between, lanes), above, Pending(ONE, above, middle, nothing), no_nan)
    if between > 4 * span_for(between, lanes):
        _fill_middle(order, above, known // lanes, between, scratch[3 * room :], inner)
    results = middle[: room_for(known - between + 1, lanes) - 2 * lanes]
    _any_span(order, nothing, ONE, above, Pending(between, above, inner, results), no_nan)


@kernel
def _copy_vectors(spans, count, out):
    """Copy `count` spans, rounded up to whole vectors."""
    lanes = lanes_of(spans)
    for i in range(0, count, lanes):
        store(load(spans, i), out, i)


@kernel(inline="always")
def values_of(values, first, last, width, lanes):
    """Return the values of windows ``first, ..., last - 1``, up to a whole vector if there are more."""
    return values[first : first + (last - first + width - 1 + lanes - 1) // lanes * lanes]


@kernel
def _shared_spans(known, done, span, lanes):
    """Return how many spans of a chunk can be copied from those of the chunk before.

    `known` of them have been made, and the chunk before began `done` rows earlier. Only whole vectors are
    shared, and so many are left out that the next spans, each of `span` values, can be made.
    """
    return max(known - max(span, lanes), 0) // lanes * lanes if done % lanes == 0 else 0


@kernel
def rolling(order, values, width, chunk, scratch, out, rule, words):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``.

    NaN is no observation, and a window of nothing else gives the worst value, unless the `rule` says that a
    window with `ANY` NaN gives NaN, or one where `ALL` values are. `scratch` has the length that
    :func:`scratch_length` gives for `chunk` rows.
    Returns 0, or `HAS_NAN` if there may have been a NaN. Under a rule the best or the worst value is the
    sentinel for NaN. If the values hold a sentinel as well, the kernel stops early, with useless results, and
    returns `HAS_NAN` and `HAS_SENTINEL`.
    If `words` has a length, it is a bitmap that gets a bit for each missing value, so that the caller can
    count, see :mod:`rollstat.kernels.missing.nan_bitmap`.
    """
    lanes, count = lanes_of(scratch), len(out)
    if width <= FEW and count >= lanes:
        return direct.rolling(order, values, width, chunk, out, rule, words)
    span = span_for(width, lanes)
    sentinel = best_of(order, scratch) if rule == ANY else worst_of(order, scratch)
    room, middle_room = room_for(chunk + width - 1, lanes), room_for((chunk + width - 1) // lanes, lanes)
    edge, rest = scratch[: 3 * (LONGEST_SPAN + lanes)], scratch[3 * (LONGEST_SPAN + lanes) :]
    spans, ended, rest = rest[:room], rest[room : 2 * room], rest[2 * room :]
    middle, rest = rest[:middle_room], rest[middle_room:]
    ended_middle, rest = rest[:middle_room], rest[middle_room:]
    found = before = first = noted = known = 0
    decode = NO
    while first < count:
        # A short first chunk lets the next ones begin at a cache line.
        prefix = min(unaligned(out), chunk) if first == 0 else 0
        last = min(first + (prefix if prefix > 0 else chunk), count)
        seen = values_of(values, first, last, width, lanes)
        shared = _shared_spans(known - first, first - before, span, lanes)
        nan = Nan(MAY_HAVE_NAN if found & HAS_NAN else UNCHECKED, sentinel, decode)
        pending = Pending(width, ended, ended_middle, out[before:first])
        found |= _chunk(order, seen[shared:], span, edge, spans[shared:], pending, nan)
        if shared and found and nan.mode == UNCHECKED:
            # The shared values were not searched for the sentinel: all spans of this chunk are made again.
            shared = 0
            nothing = Pending(ONE, ended, ended_middle, out[:0])
            found |= _chunk(order, seen, span, edge, spans, nothing, Nan(MAY_HAVE_NAN, sentinel, NO))
        if shared:
            _copy_vectors(ended[first - before :], shared + max(span, lanes), spans)
        if rule != SKIP and found == HAS_NAN + HAS_SENTINEL:
            return found
        noted = record_nan_if(found, values, noted, last + width - 1, words)
        if width > 4 * span:
            _fill_middle(order, spans, (last - first + width - 1) // lanes, width, rest, middle)
        spans, ended, middle, ended_middle = ended, spans, ended_middle, middle
        before, first, known = first, last, first + len(seen)
        decode = rule != SKIP and found & HAS_NAN != 0
    pending = Pending(width, ended, ended_middle, out[before:])
    _chunk(order, values[:0], ONE, edge, spans, pending, Nan(NO_NAN, sentinel, decode))
    return found & HAS_NAN
