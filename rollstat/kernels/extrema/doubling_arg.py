"""Positions of the extrema of a fixed number of rows: doubling that carries them beside the values.

::

    values      5   3   3   8          the better of each pair, and with it the place from which it came;
    places      0   1   2   3          of equal values the oldest or the newest, as asked

Each vector of values has one of places, which goes through the same shifts and choices, so the cost does not
depend on the data; a search for known values would look for long where extrema come and go. Where the data
rises and falls in long runs, :mod:`rollstat.kernels.extrema.monotone_runs` answers before.

Windows of up to 127 rows are two spans of up to 64 values, but a few rows are read one by one; longer windows
are two spans of one vector, and the rows between.

State, invariant and source: as :mod:`rollstat.kernels.extrema.doubling`, whose scratch memory is here twice,
once
for places. Places are integers as large as a value, so that lanes agree; values are of 4 or 8 bytes. Cost:
about twice that of values alone.
"""

from rollstat._jit import kernel
from rollstat.kernels.extrema import monotone_runs
from rollstat.kernels.extrema.direct import FEW
from rollstat.kernels.extrema.doubling import (
    EIGHT,
    SIXTEEN,
    SIXTY_FOUR,
    THIRTY_TWO,
    largest_span,
    room_for,
    seen_by,
)
from rollstat.kernels.extrema.nan_policy import NO
from rollstat.kernels.simd.comparator import best_of, choose, prefer, reject, where_equal, worst_of
from rollstat.kernels.simd.vectors import (
    broadcast,
    contains,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    shift_in_previous,
    store,
    zeros,
)

__all__ = ["occurs", "place_on", "rolling", "scratch_length", "settle"]


def scratch_length(width, chunk, lanes):
    """Length of each of both parts of scratch memory, for chunks of `chunk` rows of windows of `width`."""
    length = 2 * (64 + lanes) + 2 * room_for(chunk + width - 1, lanes) + room_for(chunk, lanes)
    rows = chunk + width - 1
    while width >= 2 * lanes:
        rows, width = rows // lanes, width // lanes - 1
        length += 3 * room_for(rows, lanes)
    return length


@kernel
def _fill_limits(order, width, limits):
    """Set `limits` for windows of `width` values: in the last lanes of a row they take in one row more."""
    lanes = lanes_of(limits)
    for lane in range(lanes):
        more = lane >= lanes - width % lanes
        limits[lane] = best_of(order, limits) if more else worst_of(order, limits)


@kernel
def place_on(shift, places, out):
    """Write ``shift + places``."""
    for i in range(len(out)):
        out[i] = shift + places[i]


@kernel(forceinline=True)
def _better(order, ties, older, best, older_place, place):
    """The better of two vectors, and its places."""
    return prefer(order, older, best), choose(order, ties, older, best, older_place, place)


@kernel(forceinline=True)
def _doubled(order, ties, span, best, place, kept, places_kept):
    """As :func:`rollstat.kernels.extrema.doubling.doubled`, with places."""
    one, two, four, eight, sixteen, sixteen_too, thirty_two, second, third, fourth = kept
    one_at, two_at, four_at, eight_at, sixteen_at, sixteen_too_at = places_kept[:6]
    thirty_two_at, second_at, third_at, fourth_at = places_kept[6:]
    lanes = lanes_of(best)
    if span >= 2:
        older, older_at, one, one_at = (
            shift_in_previous(one, best, 1),
            shift_in_previous(one_at, place, 1),
            best,
            place,
        )
        best, place = _better(order, ties, older, best, older_at, place)
    if span >= 4:
        older, older_at, two, two_at = (
            shift_in_previous(two, best, 2),
            shift_in_previous(two_at, place, 2),
            best,
            place,
        )
        best, place = _better(order, ties, older, best, older_at, place)
    if span >= 8:
        older, older_at, four, four_at = (
            shift_in_previous(four, best, 4),
            shift_in_previous(four_at, place, 4),
            best,
            place,
        )
        best, place = _better(order, ties, older, best, older_at, place)
    if span >= 16:
        older, older_at = shift_in_previous(eight, best, 8), shift_in_previous(eight_at, place, 8)
        eight, eight_at = best, place
        best, place = _better(order, ties, older, best, older_at, place)
    if span >= 32:
        older, older_at = sixteen, sixteen_at
        if lanes >= 16:
            sixteen, sixteen_at = best, place
        else:  # the same shift is two vectors of eight
            sixteen, sixteen_at, sixteen_too, sixteen_too_at = sixteen_too, sixteen_too_at, best, place
        best, place = _better(order, ties, older, best, older_at, place)
    if span >= 64:
        older, older_at = thirty_two, thirty_two_at
        if lanes >= 16:
            thirty_two, thirty_two_at, second, second_at = second, second_at, best, place
        else:
            thirty_two, second, third, fourth = second, third, fourth, best
            thirty_two_at, second_at, third_at, fourth_at = second_at, third_at, fourth_at, place
        best, place = _better(order, ties, older, best, older_at, place)
    kept = one, two, four, eight, sixteen, sixteen_too, thirty_two, second, third, fourth
    places_kept = (
        one_at,
        two_at,
        four_at,
        eight_at,
        sixteen_at,
        sixteen_too_at,
        thirty_two_at,
        second_at,
        third_at,
        fourth_at,
    )
    return best, place, kept, places_kept


@kernel(forceinline=True)
def _loop(order, ties, values, places, span, spans, span_places):
    """The best of the `span` values that end at each position, for the whole vectors of `values`."""
    lanes = lanes_of(spans)
    worst = broadcast(worst_of(order, spans))
    nan = zeros(spans)
    nowhere = zeros(span_places)
    kept = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    places_kept = nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere
    for i in range(0, len(values) - lanes + 1, lanes):
        best, place = load(values, i), load(places, i)
        nan = propagate_nan(nan, best)
        best = prefer(order, best, worst)
        best, place, kept, places_kept = _doubled(order, ties, span, best, place, kept, places_kept)
        store(best, spans, i)
        store(place, span_places, i)
    return contains_nan(nan)


@kernel
def _whole_spans(order, ties, values, places, span, spans, span_places):
    """As :func:`_loop`, which is compiled for each of the usual spans, without questions in the loop."""
    given = order, ties, values, places
    if span == 8:
        return _loop(*given, EIGHT, spans, span_places)
    if span == 16:
        return _loop(*given, SIXTEEN, spans, span_places)
    if span == 32:
        return _loop(*given, THIRTY_TWO, spans, span_places)
    if span == 64:
        return _loop(*given, SIXTY_FOUR, spans, span_places)
    return _loop(*given, span, spans, span_places)


@kernel
def _span_for(width, lanes):
    """The span of which windows of `width` are made: two of it, or a vector where there are rows between."""
    return largest_span(width, SIXTY_FOUR) if width < 2 * SIXTY_FOUR else lanes


@kernel
def _spans(order, ties, values, places, span, edge, edge_places, spans, span_places):
    """Write the best of the `span` values that end at each position; return whether one was NaN.

    The last vector, which the values do not fill, is computed in `edge` from a copy: the span before it and
    what is left.
    """
    lanes = lanes_of(spans)
    nan = _whole_spans(order, ties, values, places, span, spans, span_places)
    whole = len(values) // lanes * lanes
    if whole == len(values):
        return nan
    room = SIXTY_FOUR + lanes
    copy, copied, last, last_places = edge[:room], edge_places[:room], edge[room:], edge_places[room:]
    for j in range(whole - SIXTY_FOUR, whole + lanes):
        known = 0 <= j < len(values)
        copy[j - whole + SIXTY_FOUR] = values[j] if known else worst_of(order, spans)
        copied[j - whole + SIXTY_FOUR] = places[j] if known else 0
    nan |= _whole_spans(order, ties, copy, copied, span, last, last_places)
    store(load(last, SIXTY_FOUR), spans, whole)
    store(load(last_places, SIXTY_FOUR), span_places, whole)
    return nan


@kernel
def _two_spans(order, ties, spans, places, span, width, out, out_places):
    """Write windows of `width` values, at most two spans, to the whole vectors of `out`."""
    lanes = lanes_of(spans)
    for i in range(0, len(out) - lanes + 1, lanes):
        first, last = i + span - 1, i + width - 1
        older, newer = load(spans, first), load(spans, last)
        store(choose(order, ties, older, newer, load(places, first), load(places, last)), out_places, i)
        store(prefer(order, older, newer), out, i)


@kernel
def _spans_and_rows(order, ties, spans, places, width, middle, middle_places, limits, out, out_places):
    """Write windows of `width` values, two spans or more, to the whole vectors of `out`.

    A window is its first and its last span and the whole rows between: ``middle[q]`` is the best of those
    whole rows from q on that lie within every window that begins in the row before q. Windows that begin in
    the last ``width % lanes`` lanes of it take in one whole row more: there `limits` is the opposite of
    neutral, and elsewhere neutral.
    """
    lanes = lanes_of(spans)
    limit = load(limits, 0)
    row = 1
    for i in range(0, len(out) - lanes + 1, lanes):
        best, place = load(spans, i + lanes - 1), load(places, i + lanes - 1)
        newer, newer_place = broadcast(middle[row]), broadcast(middle_places[row])
        place = choose(order, ties, best, newer, place, newer_place)
        best = prefer(order, newer, best)
        newer, newer_place = broadcast(middle[row + 1]), broadcast(middle_places[row + 1])
        newer = reject(order, newer, limit)
        place = choose(order, ties, best, newer, place, newer_place)
        best = prefer(order, newer, best)
        newer, newer_place = load(spans, i + width - 1), load(places, i + width - 1)
        store(choose(order, ties, best, newer, place, newer_place), out_places, i)
        store(prefer(order, newer, best), out, i)
        row += 1


@kernel
def _best(
    order, ties, spans, places, count, width, edge, edge_places, scratch, scratch_places, out, out_places
):
    """Write the best of every window of `width` of `count` values, whose spans are given, to `out`."""
    lanes = lanes_of(spans)
    whole = len(out) // lanes * lanes
    last, last_places = edge[2 * lanes : 3 * lanes], edge_places[2 * lanes : 3 * lanes]
    span = _span_for(width, lanes)
    if width <= 2 * span:
        _two_spans(order, ties, spans, places, span, width, out, out_places)
        if whole < len(out):
            _two_spans(order, ties, spans[whole:], places[whole:], span, width, last, last_places)
    else:
        rows = count // lanes
        room = room_for(rows, lanes)
        middle, middle_places = scratch[:room], scratch_places[:room]
        totals, total_places = scratch[room : room + rows], scratch_places[room : room + rows]
        between = width // lanes - 1
        for row in range(rows):
            totals[row] = middle[row] = spans[row * lanes + lanes - 1]
            total_places[row] = middle_places[row] = places[row * lanes + lanes - 1]
        if between > 1:
            above, above_places = scratch[2 * room : 3 * room], scratch_places[2 * room : 3 * room]
            span = _span_for(between, lanes)
            _spans(order, ties, totals, total_places, span, edge, edge_places, above, above_places)
            results = rows - between + 1
            _best(
                order,
                ties,
                above,
                above_places,
                rows,
                between,
                edge,
                edge_places,
                scratch[3 * room :],
                scratch_places[3 * room :],
                middle[:results],
                middle_places[:results],
            )
        limits = edge[:lanes]
        _fill_limits(order, width, limits)
        _spans_and_rows(order, ties, spans, places, width, middle, middle_places, limits, out, out_places)
        behind = whole // lanes
        _spans_and_rows(
            order,
            ties,
            spans[whole:],
            places[whole:],
            width,
            middle[behind:],
            middle_places[behind:],
            limits,
            last,
            last_places,
        )
    for i in range(whole, len(out)):
        out[i], out_places[i] = last[i - whole], last_places[i - whole]


@kernel
def _few_rows(order, ties, values, places, width, found):
    """Write where the best of every window of a few rows stands, of a vector of windows at least.

    As :mod:`rollstat.kernels.extrema.direct` does. Returns whether there may be a NaN, and whether a window
    has no better value than the worst.
    """
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order, values))
    nan, hollow = zeros(values), zeros(values)
    i = 0
    while i < len(found):
        i = min(i, len(found) - lanes)
        best, place = load(values, i), zeros(places)
        nan = propagate_nan(
            propagate_nan(nan, best), load(values, i + width - 1)
        )  # all values, one or two times
        best = prefer(order, best, worst)
        for j in (1, 2, 3, 4):
            if j < width:
                newer = prefer(order, load(values, i + j), worst)
                place = choose(order, ties, best, newer, place, broadcast(places[j]))
                best = prefer(order, newer, best)
        hollow = where_equal(best, worst, best, hollow)
        store(place + load(places, i), found, i)
        i += lanes
    return contains_nan(nan), contains(hollow, worst_of(order, values))


@kernel
def rolling(order, ties, values, width, chunk, scratch, scratch_places, shift, position):
    """Write where the best of every ``values[i:i + width]`` stands to ``position[i]``, counted from `shift`.

    NaN is no observation; where there is none, or only values that never win, any place is written. Both
    scratch arrays are as long as :func:`scratch_length` says.
    Returns 1 if there may have been a NaN, 2 if besides some window has no better value than the one that
    never wins, which may be an observation of it, else 0.
    """
    lanes = lanes_of(scratch)
    begin = 2 * (SIXTY_FOUR + lanes)
    edge, edge_places = scratch[:begin], scratch_places[:begin]
    span = _span_for(width, lanes)
    room = room_for(chunk + width - 1, lanes)
    places = scratch_places[begin : begin + room]
    for j in range(room):
        places[j] = j
    rows = room_for(chunk, lanes)
    begin += room
    nan = hollow = False
    first = 0
    while True:
        left, nothing = position[first:], scratch[:0]
        first += monotone_runs.answer(
            order, ties, values[first:], width, shift + first, left, nothing, nothing, NO
        )
        results = position[first : first + chunk]
        if len(results) == 0:
            break
        seen = seen_by(values, first, first + len(results), width, lanes)
        count = len(seen)
        best, found = scratch[begin + room :][:rows], scratch_places[begin + room :][:rows]
        best, found = best[: len(results)], found[: len(results)]
        if width <= FEW and len(results) >= lanes:
            here, empty = _few_rows(order, ties, seen, places, width, found)
            nan |= here
        else:
            spans, span_places = scratch[begin : begin + room], scratch_places[begin : begin + room]
            nan |= _spans(order, ties, seen, places[:count], span, edge, edge_places, spans, span_places)
            rest, rest_places = scratch[begin + room + rows :], scratch_places[begin + room + rows :]
            given = spans, span_places, count, width, edge, edge_places, rest, rest_places
            _best(order, ties, *given, best, found)
            empty = nan and not hollow and occurs(best, worst_of(order, values))
        if nan and not hollow:
            hollow = empty and occurs(seen, worst_of(order, values))
        place_on(shift + first, found, results)
        first += len(results)
    return int(nan) + int(nan and hollow)


@kernel
def settle(order, values, missing, width, last, shift, position):
    """Correct places found among values of which some are no observations.

    Those took part as the value that never wins, which matters only where that is an observation too:
    then the answer of a window of nothing else is the first or the last observation, -1 if there is none.
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
            place = min(max(position[row] - shift, 0), len(values) - 1)
            value = values[place]
            if value != value or value == worst_of(order, values) or (masked and missing[place]):
                position[row] = shift + observed if row <= observed < row + width else -1


@kernel
def occurs(values, value):
    """Whether `value` is among the values; a sum of tests, which compiles to vector code."""
    found = 0
    for i in range(len(values)):
        found += values[i] == value
    return found > 0
