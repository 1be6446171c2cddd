"""Positions of the extrema of a fixed number of rows, by doubling pairs of a value and its position.

::

    values      5   3   3   8          the better of each pair of lanes, and the position where it comes from;
    positions   0   1   2   3          of equal values the oldest or the newest, as the order says

Each vector of values has one of positions, which takes the same shifts and choices. So the cost does not
depend on the data, whereas a search for known extrema takes long where they change often. Long monotone runs
are answered first by :mod:`rollstat.kernels.extrema.monotone_runs`.

Windows of a few rows are read row by row, see :mod:`rollstat.kernels.extrema.direct`. Windows of up to 127
rows are two spans of up to 64 values; longer windows are two spans of one vector and the rows between.

State, invariant and source: as :mod:`rollstat.kernels.extrema.doubling`; memory, spans and results are pairs
of arrays of values and of positions. Positions are integers as large as a value, so that both have the same
lanes; values have 4 or 8 bytes. Cost: about twice that of values alone.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import contains_nan, lanes_of, propagate_nan, zeros
from rollstat.kernels.extrema import direct, monotone_runs
from rollstat.kernels.extrema.blockwise import occurs
from rollstat.kernels.extrema.direct import FEW
from rollstat.kernels.extrema.doubling import (
    EIGHT,
    SIXTEEN,
    SIXTY_FOUR,
    THIRTY_TWO,
    doubled,
    largest_span,
    room_for,
    values_of,
)
from rollstat.kernels.extrema.monotone_runs import Results
from rollstat.kernels.simd.comparator import best_of, reject, worst_of
from rollstat.kernels.simd.fill_copy import count_up
from rollstat.kernels.simd.pairs import at, broadcast, copy, load, prefer, rows, rows_from, set_at, store

__all__ = ["correct_positions", "rolling", "scratch_length", "write_shifted"]


def scratch_length(width, chunk, lanes):
    """Return the length of each of the two parts of scratch memory, for chunks of `chunk` rows."""
    length = 2 * (64 + lanes) + 2 * room_for(chunk + width - 1, lanes) + room_for(chunk, lanes)
    count = chunk + width - 1
    while width >= 2 * lanes:
        count, width = count // lanes, width // lanes - 1
        length += 3 * room_for(count, lanes)
    return length


@kernel
def _fill_limits(order, width, limits):
    """Write the worst value, but the best in the last lanes, whose windows hold one row more."""
    lanes = lanes_of(limits)
    for lane in range(lanes):
        more = lane >= lanes - width % lanes
        limits[lane] = best_of(order, limits) if more else worst_of(order, limits)


@kernel
def write_shifted(shift, positions, out):
    """Write ``shift + positions``."""
    for i in range(len(out)):
        out[i] = shift + positions[i]


@kernel(forceinline=True)
def _loop(order, source, span, spans):
    """Write the best of the `span` values that end at each position, for the whole vectors of `source`."""
    values = source[0]
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order.order, values))
    has_nan = zeros(values)
    none = worst, zeros(source[1])
    kept = none, none, none, none, none, none, none, none, none, none, none
    for i in range(0, len(values) - lanes + 1, lanes):
        value, position = load(source, i)
        has_nan = propagate_nan(has_nan, value)
        best, kept = doubled(order, span, (prefer(order.order, value, worst), position), kept)
        store(best, spans, i)
    return contains_nan(has_nan)


@kernel
def _whole_vectors(order, source, span, spans):
    """As :func:`_loop`; the usual spans are constants, so that their loops have no branch on the span."""
    if span == 8:
        return _loop(order, source, EIGHT, spans)
    if span == 16:
        return _loop(order, source, SIXTEEN, spans)
    if span == 32:
        return _loop(order, source, THIRTY_TWO, spans)
    if span == 64:
        return _loop(order, source, SIXTY_FOUR, spans)
    return _loop(order, source, span, spans)


@kernel
def _span_for(width, lanes):
    """Return the span for windows of `width`: two of it, or one vector if there are rows between."""
    return largest_span(width, SIXTY_FOUR) if width < 2 * SIXTY_FOUR else lanes


@kernel
def _fill_spans(order, source, span, edge, spans):
    """Write the best of the `span` values that end at each position; return whether one was NaN.

    The last vector, which the values do not fill, is computed in `edge` from a copy of the span before it and
    the values left.
    """
    values, count = source[0], len(source[0])
    lanes = lanes_of(values)
    has_nan = _whole_vectors(order, source, span, spans)
    whole = count // lanes * lanes
    if whole == count:
        return has_nan
    padded, last = rows(edge, 0, SIXTY_FOUR + lanes), rows_from(edge, SIXTY_FOUR + lanes)
    for j in range(whole - SIXTY_FOUR, whole + lanes):
        known = 0 <= j < count
        padded[0][j - whole + SIXTY_FOUR] = values[j] if known else worst_of(order.order, values)
        padded[1][j - whole + SIXTY_FOUR] = source[1][j] if known else 0
    has_nan |= _whole_vectors(order, padded, span, last)
    store(load(last, SIXTY_FOUR), spans, whole)
    return has_nan


@kernel
def _two_spans(order, spans, span, width, out):
    """Write windows of `width` values, at most two spans, to the whole vectors of `out`."""
    lanes = lanes_of(out[0])
    for i in range(0, len(out[0]) - lanes + 1, lanes):
        store(prefer(order, load(spans, i + width - 1), load(spans, i + span - 1)), out, i)


@kernel
def _spans_and_rows(order, spans, width, middle, limits, out):
    """Write windows of `width` values, two spans or more, to the whole vectors of `out`.

    A window is its first and its last span and the whole rows between: ``middle[q]`` is the best of those
    whole rows from q on that lie within every window that begins in the row before q. Windows that begin in
    the last ``width % lanes`` lanes hold one whole row more, which `limits` makes lose in all other lanes.
    """
    lanes = lanes_of(out[0])
    limit = load(limits, 0)
    row = 1
    for i in range(0, len(out[0]) - lanes + 1, lanes):
        best = prefer(order, broadcast(at(middle, row)), load(spans, i + lanes - 1))
        value, position = broadcast(at(middle, row + 1))
        best = prefer(order, (reject(order.order, value, limit), position), best)
        store(prefer(order, load(spans, i + width - 1), best), out, i)
        row += 1


@kernel
def _from_spans(order, spans, count, width, edge, scratch, out):
    """Write the best of every window of `width` of `count` values, whose spans are given, to `out`."""
    lanes = lanes_of(out[0])
    whole = len(out[0]) // lanes * lanes
    last = rows(edge, 2 * lanes, 3 * lanes)
    span = _span_for(width, lanes)
    if width <= 2 * span:
        _two_spans(order, spans, span, width, out)
        if whole < len(out[0]):
            _two_spans(order, rows_from(spans, whole), span, width, last)
    else:
        totals_count = count // lanes
        room = room_for(totals_count, lanes)
        middle, totals = rows(scratch, 0, room), rows(scratch, room, room + totals_count)
        between = width // lanes - 1
        for row in range(totals_count):
            total = at(spans, row * lanes + lanes - 1)
            set_at(total, totals, row)
            set_at(total, middle, row)
        if between > 1:
            above, rest = rows(scratch, 2 * room, 3 * room), rows_from(scratch, 3 * room)
            _fill_spans(order, totals, _span_for(between, lanes), edge, above)
            results = rows(middle, 0, totals_count - between + 1)
            _from_spans(order, above, totals_count, between, edge, rest, results)
        limits = edge[0][:lanes]
        _fill_limits(order.order, width, limits)
        _spans_and_rows(order, spans, width, middle, limits, out)
        _spans_and_rows(
            order, rows_from(spans, whole), width, rows_from(middle, whole // lanes), limits, last
        )
    if whole < len(out[0]):
        copy(last, rows_from(out, whole))


@kernel
def rolling(order, values, width, chunk, scratch, shift, position):
    """Write the position, counted from `shift`, of the best of ``values[i:i + width]`` to ``position[i]``.

    `order` is an :class:`~rollstat.kernels.simd.pairs.Arg`. NaN is no observation; a window without an
    observation, or with none better than the worst value, gets any position. `scratch` is a pair of arrays
    of values and of positions, each as long as :func:`scratch_length` says.
    Returns 1 if there may have been a NaN, 2 if besides some window has no value better than the worst value,
    and the worst value may be an observation, else 0.
    """
    lanes = lanes_of(scratch[0])
    begin, room, count = 2 * (SIXTY_FOUR + lanes), room_for(chunk + width - 1, lanes), room_for(chunk, lanes)
    edge, spans = rows(scratch, 0, begin), rows(scratch, begin + count, begin + count + room)
    best, rest = rows(scratch, begin, begin + count), rows_from(scratch, begin + count + room)
    numbers, rest = rest[1][:room], rows_from(rest, room)
    count_up(0, numbers)
    span = _span_for(width, lanes)
    nothing = scratch[0][:0]
    has_nan = empty = False
    first = 0
    while True:
        runs = Results(position[first:], nothing)
        first += monotone_runs.answer(order.order, order.ties, values[first:], width, shift + first, runs)
        results = position[first : first + chunk]
        if len(results) == 0:
            break
        seen = values_of(values, first, first + len(results), width, lanes)
        out = rows(best, 0, len(results))
        if width <= FEW and len(results) >= lanes:
            nan_here, empty_here = direct.positions(order, seen, numbers, width, out[1])
            has_nan |= nan_here
        else:
            source = seen, numbers[: len(seen)]
            has_nan |= _fill_spans(order, source, span, edge, spans)
            _from_spans(order, spans, len(seen), width, edge, rest, out)
            empty_here = has_nan and not empty and occurs(out[0], worst_of(order.order, values))
        if has_nan and not empty:
            empty = empty_here and occurs(seen, worst_of(order.order, values))
        write_shifted(shift + first, out[1], results)
        first += len(results)
    return int(has_nan) + int(has_nan and empty)


@kernel
def correct_positions(order, values, missing, width, last, shift, position):
    """Correct positions found where missing values took part as the worst value.

    They matter only if the worst value is an observation too. Then a window of nothing else gets its first or
    its last observation, and -1 if there is none.
    """
    if not occurs(values, worst_of(order, values)):
        return
    rows = len(position)
    masked = len(missing) > 0
    observed = -1 if last else len(values)
    for i in range(len(values)):
        j = i if last else len(values) - 1 - i
        if values[j] == values[j] and not (masked and missing[j]):
            observed = j
        row = j - width + 1 if last else j
        if 0 <= row < rows:
            found = min(max(position[row] - shift, 0), len(values) - 1)
            value = values[found]
            if value != value or value == worst_of(order, values) or (masked and missing[found]):
                position[row] = shift + observed if row <= observed < row + width else -1
