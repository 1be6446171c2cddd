"""Extrema of a fixed number of rows by doubling in machine vectors, and again over what they cover.

::

    rows of one vector    |. . . a a a a a|T T T T T T T T|T T T T T T T T|b b b b b . . .|
    the window                   [-----------------------------------------------]
    first span                   [- - - - - - - - )
    last span                                                    (- - - - - - - -]
    rows between                          M = best of the totals T of these rows

A vector holds ``lanes`` values. Shifting it by 1, 2, 4, ... against the vector before and keeping
the better of each pair of lanes gives the best of the last 2, 4, 8, ... values at every position, up to a
*span* of 64 or two vectors, without leaving the registers. A window of up to two spans is two of them that
overlap, one of up to four is four. A longer one is its first span, its last span, and what both leave out
in all windows that begin in one row, in whole rows. Those have their best in the spans that end with a row:
a series `lanes` times shorter with windows about `lanes` times shorter, which are treated the same way.

The spans of a chunk of rows are made while the results of the chunk before are written, so that reading
and writing memory go on together; those that both chunks need are copied. Windows of a few rows need no
spans, see :mod:`rollstat.kernels.extrema.direct`.

State: scratch memory alone, parts of one array. Invariant: ``spans[j]`` is the best of the `span`
values that end at j, or of those that there are. Cost: about log2(span) + 3 vector operations for each
vector of results, whatever the window and the data; there is no branch on data but whether a chunk has a NaN,
which is then replaced first. Results are written to whole lines of the cache, and what has to be kept of a
chunk of rows stays in it.

Source: the doubling of windows is B. Chaudhuri's and R. van den Boomgaard's "logarithmic decomposition"
of flat structuring elements (R. van den Boomgaard and R. van Balen, Methods for fast morphological
image transforms using bitmapped binary images, CVGIP 54 (1992) 252-258,
doi:10.1016/1049-9652(92)90055-3); the totals of aligned rows are a sparse table over blocks, as in
M. Bender and M. Farach-Colton, The LCA problem revisited, LATIN 2000, doi:10.1007/10719839_9.
"""

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat._lowering import prefetch_to_write
from rollstat.kernels.extrema import direct, monotone_runs
from rollstat.kernels.extrema.direct import FEW
from rollstat.kernels.extrema.nan_policy import ANY, CAREFUL, HOPEFUL, NAN, NO, ONE, PASS, STAND_IN, SURE
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import Oldest, best_of, missing_of, prefer, where_equal, worst_of
from rollstat.kernels.simd.vectors import (
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
    "best_lane",
    "doubled",
    "fill_middle",
    "largest_span",
    "rolling",
    "room_for",
    "scratch_length",
    "seen_by",
    "shared_spans",
    "span_for",
    "take_over",
]


# Spans, and how windows are made of them.
FOUR, EIGHT, SIXTEEN, THIRTY_TWO, SIXTY_FOUR = map(np.int64, (4, 8, 16, 32, 64))
TWO_SPANS, FOUR_SPANS, ROWS_BETWEEN = map(np.int64, range(3))
# No span is longer: two vectors of the smallest elements.
LONGEST_SPAN = 128


@kernel
def largest_span(width, limit):
    """The largest power of two that is no more than `width` and `limit`."""
    span = 1
    while 2 * span <= min(width, limit):
        span *= 2
    return span


@kernel
def span_for(width, lanes):
    """The span of which windows of `width` are made; two vectors or more where they have rows between."""
    return largest_span(width, max(64, 2 * lanes))


@kernel
def room_for(count, lanes):
    """Space for `count` values and what whole vectors read and write beyond them."""
    return (count // lanes + 3) * lanes


def scratch_length(width, chunk, lanes):
    """Length of the scratch memory for chunks of `chunk` rows of windows of `width`."""
    count = chunk + width - 1
    length = 2 * (LONGEST_SPAN + lanes) + 2 * (room_for(count, lanes) + room_for(count // lanes, lanes))
    rows = count
    while width > 4 * lanes:
        rows, width = rows // lanes, width // lanes
        length += 3 * room_for(rows, lanes)
    return length


@kernel
def best_lane(order, vector):
    """The best of all lanes."""
    vector = prefer(order, vector, shift_in_previous(vector, vector, 32))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 16))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 8))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 4))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 2))
    return first_lane(prefer(order, vector, shift_in_previous(vector, vector, 1)))


@kernel(forceinline=True)
def doubled(order, span, best, kept):
    """The best of the `span` values that end in each lane, where `best` has one value; and what is kept.

    That is what the vectors before had after each step, as far back as it is shifted.
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
    elif span >= 32:  # the same shift is two vectors of eight
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
    return best, (
        one,
        two,
        four,
        eight,
        sixteen,
        sixteen_too,
        thirty_two,
        second,
        third,
        fourth,
        sixty_four,
    )


@kernel(forceinline=True)
def _loop(order, values, span, spans, ended, half, kind, width, middle, out, look, stand_in, shown, hidden):
    """Write the best of the `span` values that end at each position, and meanwhile windows of a chunk before.

    Both for whole vectors: of `values` to `spans`, and from the spans `ended` to `out`, so that reading and
    writing memory go on together. NaN counts as `stand_in`; what counts so in `ended` is `shown` in `out`.
    A window of `width` values, if more than four spans, is its first and its last span and ``middle[q]``,
    what all windows that begin in row q have between.
    """
    lanes = lanes_of(spans)
    worst = broadcast(worst_of(order, spans))
    kept = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    nan = zeros(spans)
    instead, revealed, found = broadcast(stand_in), broadcast(shown), zeros(spans)
    first_spans, last_spans = ended[half - 1 :], ended[width - 1 :]
    second_spans, third_spans = ended[min(2 * half, width) - 1 :], ended[max(width - half, 1) - 1 :]
    row = 0
    for i in range(0, max(len(values), len(out)) - lanes + 1, lanes):
        if i + lanes <= len(values):
            best = load(values, i)
            if look != SURE:
                nan = propagate_nan(nan, best)
            if look == CAREFUL:
                found, best = where_equal(best, instead, best, found), replace_nan(best, instead)
            best, kept = doubled(order, span, best, kept)
            store(best, spans, i)
        if i + lanes <= len(out):
            prefetch_to_write(out, i + 8 * lanes)  # a chunk is too short for the processor to do so by itself
            best = prefer(order, load(first_spans, i), load(last_spans, i))
            if kind == ROWS_BETWEEN:
                best = prefer(order, broadcast(middle[row & INDEX]), best)
                row += 1
            elif kind == FOUR_SPANS:
                inner = prefer(order, load(second_spans, i), load(third_spans, i))
                best = prefer(order, inner, best)
            if hidden:
                best = where_equal(best, instead, revealed, best)
            store(best, out, i)
    return NAN * int(contains_nan(nan)) + STAND_IN * int(look == CAREFUL and contains(found, stand_in))


@kernel(forceinline=True)
def _known(order, values, span, spans, ended, kind, width, middle, out, look, stand_in, shown):
    """As :func:`_loop` for a span and a kind that are constants."""
    part = order, values, span, spans, ended, span, kind, width, middle, out
    if look == HOPEFUL and shown == stand_in:
        return _loop(*part, HOPEFUL, stand_in, stand_in, NO)
    return _loop(*part, CAREFUL, stand_in, shown, shown != stand_in)


@kernel
def _whole_vectors(order, values, span, spans, ended, width, middle, out, look, stand_in, shown):
    """As :func:`_loop`, for any span and any kind of windows."""
    half = span_for(width, lanes_of(spans))
    kind = TWO_SPANS if width <= 2 * half else FOUR_SPANS if width <= 4 * half else ROWS_BETWEEN
    behind = width, middle, out, look, stand_in, shown, shown != stand_in
    return _loop(order, values, span, spans, ended, half, kind, *behind)


@kernel(forceinline=True)
def _usual(order, values, span, spans, ended, width, middle, out, look, stand_in, shown):
    """As :func:`_loop`, which is compiled for each of the usual spans, without questions in the loop."""
    half = span_for(width, lanes_of(spans))
    kind = TWO_SPANS if width <= 2 * half else FOUR_SPANS if width <= 4 * half else ROWS_BETWEEN
    behind = width, middle, out, look, stand_in, shown
    if span == half and look != SURE:
        if span == 4:
            return _known(order, values, FOUR, spans, ended, TWO_SPANS, *behind)
        if span == 8:
            return _known(order, values, EIGHT, spans, ended, TWO_SPANS, *behind)
        if span == 16:
            return _known(order, values, SIXTEEN, spans, ended, TWO_SPANS, *behind)
        if span == 32:
            return _known(order, values, THIRTY_TWO, spans, ended, TWO_SPANS, *behind)
        if span == 64 and kind == TWO_SPANS:
            return _known(order, values, SIXTY_FOUR, spans, ended, TWO_SPANS, *behind)
        if span == 64 and kind == FOUR_SPANS:
            return _known(order, values, SIXTY_FOUR, spans, ended, FOUR_SPANS, *behind)
        if span == 64:
            return _known(order, values, SIXTY_FOUR, spans, ended, ROWS_BETWEEN, *behind)
    return _whole_vectors(order, values, span, spans, ended, *behind)


@kernel
def _chunk(order, values, span, edge, spans, ended, width, middle, out, look, stand_in, shown):
    """As :func:`_whole_vectors`, with what fills no vector at the ends of `values` and of `out`."""
    lanes = lanes_of(spans)
    found = _usual(order, values, span, spans, ended, width, middle, out, look, stand_in, shown)
    careful = (CAREFUL, stand_in, stand_in)
    whole = len(values) // lanes * lanes
    if whole < len(values):
        # The last vector is computed in `edge` from a copy: the span before it and what is left.
        copy, result = edge[: LONGEST_SPAN + lanes], edge[LONGEST_SPAN + lanes :]
        for j in range(whole - LONGEST_SPAN, whole + lanes):
            copy[j - whole + LONGEST_SPAN] = values[j] if 0 <= j < len(values) else values[len(values) - 1]
        found |= _whole_vectors(order, copy, span, result, ended, ONE, middle, copy[:0], *careful)
        store(load(result, LONGEST_SPAN), spans, whole)
    if found and look == HOPEFUL:  # wherever in the chunk it was
        found |= _whole_vectors(order, values, span, spans, ended, ONE, middle, out[:0], *careful)
    whole = len(out) // lanes * lanes
    if whole < len(out):
        last, rest = edge[:lanes], middle[whole // lanes :]
        sure = (SURE, stand_in, shown)
        _whole_vectors(order, values[:0], ONE, spans, ended[whole:], width, rest, last, *sure)
        for i in range(whole, len(out)):
            out[i] = last[i - whole]
    return found


@kernel
def fill_middle(order, spans, rows, width, scratch, middle):
    """Write to `middle` what windows of `width`, more than four spans, need of so many `rows` of spans.

    Of a window that begins in row q, the first span reaches the end of row ``q + span // lanes - 1``, and the
    last one begins no later than row ``q + (width - span + 2 * lanes - 2) // lanes``. A total is the best of
    ``span // lanes`` rows.
    """
    lanes = lanes_of(spans)
    room = room_for(rows, lanes)
    totals, above, inner = scratch[:room], scratch[room : 2 * room], scratch[2 * room : 3 * room]
    half = span_for(width, lanes)
    skipped = 2 * (half // lanes) - 1
    between = (width - half + 2 * lanes - 2) // lanes - skipped
    known = rows - skipped
    for row in range(known):
        totals[row] = spans[(row + skipped) * lanes + lanes - 1]
    for row in range(known, room - 2 * lanes):
        totals[row] = worst_of(order, totals)
    totals, nothing = totals[: room - 2 * lanes], totals[:0]
    sure = (SURE, worst_of(order, spans), worst_of(order, spans))
    _whole_vectors(order, totals, span_for(between, lanes), above, above, ONE, middle, nothing, *sure)
    if between > 4 * span_for(between, lanes):
        fill_middle(order, above, known // lanes, between, scratch[3 * room :], inner)
    results = middle[: room_for(known - between + 1, lanes) - 2 * lanes]
    _whole_vectors(order, nothing, ONE, above, above, between, inner, results, *sure)


@kernel(inline="always")
def _parts(width, chunk, scratch):
    """Scratch memory for an edge, and for two chunks under way: spans, and what is between them."""
    lanes = lanes_of(scratch)
    room, rows = room_for(chunk + width - 1, lanes), room_for((chunk + width - 1) // lanes, lanes)
    begin = 2 * (LONGEST_SPAN + lanes)
    edge, behind = scratch[:begin], scratch[begin:]
    one, two = behind[:room], behind[room : 2 * room]
    behind = behind[2 * room :]
    return edge, one, two, behind[:rows], behind[rows : 2 * rows], behind[2 * rows :]


@kernel(inline="always")
def seen_by(values, first, last, width, lanes):
    """Values of the windows that begin at ``first, ..., last - 1``, in whole vectors if there are more."""
    return values[first : first + (last - first + width - 1 + lanes - 1) // lanes * lanes]


@kernel
def shared_spans(known, done, span, lanes):
    """How many of the spans of a chunk, `known` from one that began `done` rows before, need not be made.

    That is in whole vectors, and leaves so many that the next ones, which are made of `span` values, follow.
    """
    return max(known - max(span, lanes), 0) // lanes * lanes if done % lanes == 0 else 0


@kernel
def take_over(known, count, spans):
    """Copy `count` values that are `known` to the first of the spans."""
    lanes = lanes_of(spans)
    for i in range(0, count, lanes):
        store(load(known, i), spans, i)


@kernel
def rolling(order, values, width, chunk, scratch, out, rule, words):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``.

    NaN is no observation, and where there is none the worst value is written, unless the `rule` says that a
    window with `ANY` NaN gives NaN, or one where `ALL` values are. `scratch` has the length that
    :func:`scratch_length` gives for `chunk` rows.
    Returns 0, or `NAN` if there may have been one. By a rule, NaN counts as the best or the worst value that
    there is; the work ends, with results of no use, where that is among the values too: then with both `NAN`
    and `STAND_IN`.
    If there are any `words`, they get a bit for each value that is missing, see
    :mod:`rollstat.kernels.missing.nan_bitmap`, for whoever counts.
    """
    lanes = lanes_of(scratch)
    if width <= FEW and len(out) >= lanes:
        return direct.rolling(order, values, width, chunk, out, rule, words)
    span = span_for(width, lanes)
    stand_in = best_of(order, scratch) if rule == ANY else worst_of(order, scratch)
    edge, spans, ended, middle, between, rest = _parts(width, chunk, scratch)
    found = before = first = noted = known = 0
    shown = stand_in
    while first < len(out):
        rows = out[first:]
        done = monotone_runs.answer(order, Oldest(), values[first:], width, 0, out[:0], rows, out[:0], NO)
        if done:
            pending = out[before:first]
            _chunk(order, values[:0], ONE, edge, spans, ended, width, between, pending, SURE, stand_in, shown)
            first += done
            before = known = first
            continue
        # After a short chunk, vectors of results do not straddle lines of the cache.
        size = min(unaligned(rows), chunk) if before == first else 0
        last = min(first + (size if size > 0 else chunk), len(out))
        seen, results = seen_by(values, first, last, width, lanes), out[before:first]
        shared = shared_spans(known - first, first - before, span, lanes)
        look = CAREFUL if found & NAN else HOPEFUL
        part = order, seen[shared:], span, edge, spans[shared:], ended, width, between
        found |= _chunk(*part, results, look, stand_in, shown)
        if shared and found and look == HOPEFUL:  # what stands for NaN was not looked for before
            shared, part = 0, (order, seen, span, edge, spans, ended, ONE, between)
            found |= _chunk(*part, out[:0], CAREFUL, stand_in, stand_in)
        if shared:
            take_over(ended[first - before :], shared + max(span, lanes), spans)
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = record_nan_if(found, values, noted, last + width - 1, words)
        if width > 4 * span:
            fill_middle(order, spans, (last - first + width - 1) // lanes, width, rest, middle)
        spans, ended, middle, between = ended, spans, between, middle
        before, first, known = first, last, first + len(seen)
        if rule != PASS and found & NAN:
            shown = missing_of(scratch)
    _chunk(order, values[:0], ONE, edge, spans, ended, width, between, out[before:], SURE, stand_in, shown)
    return found & NAN
