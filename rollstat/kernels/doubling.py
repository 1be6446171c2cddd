"""Extrema of a fixed number of rows by doubling in machine vectors, and again over what they cover.

::

    rows of one vector    |. . . . . . a a|T T T T T T T T|T T T T T T T T|b b b . . . . .|
    the window                         [-----------------------------------------]
    first span                         [- - - - - - - -)
    last span                                                       (- - - - - - - -]
    whole rows between                     V = best of the totals T of these rows

A vector holds ``lanes`` values. Shifting it by 1, 2, 4, ... against the vector before and keeping
the better of each pair of lanes gives the best of the last 2, 4, 8, ... values at every position, up to a
*span* of ``lanes``, without leaving the registers. A window of up to two spans is two of them that
overlap. A longer one is its first span, its last span, and the whole rows between, whose totals are
the spans that end with a row: a series `lanes` times shorter with windows about `lanes` times
shorter, which are treated the same way.

State: scratch memory alone, parts of one array. Invariant: ``spans[j]`` is the best of the `span`
values that end at j, or of those that there are. Cost: about log2(lanes) + 3 vector operations for each
vector of results, whatever the window and the data; there is no branch on data. Results are written to whole
lines of the cache, and what has to be kept of a chunk of rows stays in it.

Source: the doubling of windows is B. Chaudhuri's and R. van den Boomgaard's "logarithmic decomposition"
of flat structuring elements (R. van den Boomgaard and R. van Balen, Methods for fast morphological
image transforms using bitmapped binary images, CVGIP 54 (1992) 252-258,
doi:10.1016/1049-9652(92)90055-3); the totals of aligned rows are a sparse table over blocks, as in
M. Bender and M. Farach-Colton, The LCA problem revisited, LATIN 2000, doi:10.1007/10719839_9.
"""

from rollstat._jit import kernel
from rollstat.kernels.order import Greatest, Least, best_of, prefer, reject, worst_of
from rollstat.kernels.vectors import (
    absorb_nan,
    broadcast,
    holds_nan,
    lanes_of,
    load,
    push_back,
    store,
    unaligned,
    zeros,
)

__all__ = ["fill_limits", "largest_span", "rolling", "rolling_both", "room_for", "scratch_length"]


@kernel(references=False)
def largest_span(width, lanes):
    """The largest power of two that is no more than `width` and `lanes`."""
    span = 1
    while 2 * span <= min(width, lanes):
        span *= 2
    return span


@kernel(references=False)
def room_for(count, lanes):
    """Space for `count` values and what whole vectors read and write beyond them."""
    return (count // lanes + 3) * lanes


def scratch_length(width, chunk, lanes):
    """Length of the scratch memory for chunks of `chunk` rows of windows of `width`."""
    count = chunk + width - 1
    length = 4 * lanes + room_for(count, lanes)
    above = 0
    rows = count
    while width >= 2 * lanes:
        rows, width = rows // lanes, width // lanes - 1
        above += 3 * room_for(rows, lanes)
    return length + above


@kernel(references=False)
def _whole_spans(order, values, span, spans):
    """The best of the `span` values that end at each position, for the whole vectors of `values`."""
    lanes = lanes_of(spans)
    worst = broadcast(worst_of(order, spans))
    one = two = four = eight = sixteen = thirty_two = worst
    nan = zeros(spans)
    for i in range(0, len(values) - lanes + 1, lanes):
        best = load(values, i)
        nan = absorb_nan(nan, best)
        best = prefer(order, best, worst)
        if span >= 2:
            before, one = one, best
            best = prefer(order, best, push_back(before, best, 1))
        if span >= 4:
            before, two = two, best
            best = prefer(order, best, push_back(before, best, 2))
        if span >= 8:
            before, four = four, best
            best = prefer(order, best, push_back(before, best, 4))
        if lanes >= 16 and span >= 16:
            before, eight = eight, best
            best = prefer(order, best, push_back(before, best, 8))
        if lanes >= 32 and span >= 32:
            before, sixteen = sixteen, best
            best = prefer(order, best, push_back(before, best, 16))
        if lanes >= 64 and span >= 64:
            before, thirty_two = thirty_two, best
            best = prefer(order, best, push_back(before, best, 32))
        store(best, spans, i)
    return holds_nan(nan)


@kernel(references=False)
def _spans(order, values, span, edge, spans):
    """Write the best of the `span` values that end at each position; return whether one was NaN.

    The last vector, which the values do not fill, is computed in `edge` from a copy: the vector
    before it and what is left.
    """
    lanes = lanes_of(spans)
    nan = _whole_spans(order, values, span, spans)
    whole = len(values) // lanes * lanes
    for j in range(whole - lanes, whole + lanes):
        known = 0 <= j < len(values)
        edge[j - whole + lanes] = values[j] if known else worst_of(order, spans)
    nan |= _whole_spans(order, edge[: 2 * lanes], span, edge[2 * lanes :])
    for j in range(lanes):
        spans[whole + j] = edge[3 * lanes + j]
    return nan


@kernel(references=False)
def _two_spans(order, spans, span, width, out):
    """Write windows of `width` values, at most two spans, to the whole vectors of `out`."""
    lanes = lanes_of(spans)
    for i in range(0, len(out) - lanes + 1, lanes):
        store(prefer(order, load(spans, i + span - 1), load(spans, i + width - 1)), out, i)


@kernel(references=False)
def _spans_and_rows(order, spans, width, middle, limits, out):
    """Write windows of `width` values, two spans or more, to the whole vectors of `out`.

    ``middle[q]`` is the best of those whole rows from q on that lie within every window that begins in
    the row before q. Windows that begin in the last ``width % lanes`` lanes of it take in one whole
    row more: there `limits` is the opposite of neutral, and elsewhere neutral.
    """
    lanes = lanes_of(spans)
    limit = load(limits, 0)
    row = 1
    for i in range(0, len(out) - lanes + 1, lanes):
        best = prefer(order, load(spans, i + lanes - 1), load(spans, i + width - 1))
        best = prefer(order, broadcast(middle[row]), best)
        more = reject(order, broadcast(middle[row + 1]), limit)
        store(prefer(order, more, best), out, i)
        row += 1


@kernel(references=False)
def fill_limits(order, width, limits):
    """Set `limits` for windows of `width` values as :func:`_spans_and_rows` needs them."""
    lanes = lanes_of(limits)
    for lane in range(lanes):
        more = lane >= lanes - width % lanes
        limits[lane] = best_of(order, limits) if more else worst_of(order, limits)


@kernel(references=False)
def _best(order, spans, count, width, edge, scratch, out):
    """Write the best of every window of `width` of `count` values, whose spans are given, to `out`."""
    lanes = lanes_of(spans)
    whole = len(out) // lanes * lanes
    last = edge[2 * lanes : 3 * lanes]
    if width < 2 * lanes:
        span = largest_span(width, lanes)
        _two_spans(order, spans, span, width, out)
        _two_spans(order, spans[whole:], span, width, last)
    else:
        rows = count // lanes
        room = room_for(rows, lanes)
        middle = scratch[:room]
        totals = scratch[room : room + rows]
        between = width // lanes - 1
        for row in range(rows):
            totals[row] = middle[row] = spans[row * lanes + lanes - 1]
        if between > 1:
            above = scratch[2 * room : 3 * room]
            _spans(order, totals, largest_span(between, lanes), edge, above)
            results = middle[: rows - between + 1]
            _best(order, above, rows, between, edge, scratch[3 * room :], results)
        limits = edge[:lanes]
        fill_limits(order, width, limits)
        _spans_and_rows(order, spans, width, middle, limits, out)
        _spans_and_rows(order, spans[whole:], width, middle[whole // lanes :], limits, last)
    for i in range(whole, len(out)):
        out[i] = last[i - whole]


@kernel(references=False)
def _chunk(order, values, width, scratch, out):
    """Write the windows of `width` over `values`, which fit in the scratch memory, to `out`."""
    lanes = lanes_of(scratch)
    edge = scratch[: 4 * lanes]
    room = room_for(len(values), lanes)
    spans, rest = scratch[4 * lanes : 4 * lanes + room], scratch[4 * lanes + room :]
    nan = _spans(order, values, largest_span(width, lanes), edge, spans)
    _best(order, spans, len(values), width, edge, rest, out)
    return nan


@kernel(references=False)
def rolling(order, values, width, chunk, scratch, out):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``, the worst value where there is none.

    NaN is no observation. `scratch` has the length that :func:`scratch_length` gives for `chunk` rows.
    Returns whether there may have been a NaN.
    """
    nan = False
    first, last = 0, min(unaligned(out), chunk)
    while first < len(out):
        # After a short chunk, vectors of results do not straddle lines of the cache.
        last = min(last if last > first else first + chunk, len(out))
        nan |= _chunk(order, values[first : last + width - 1], width, scratch, out[first:last])
        first = last
    return nan


@kernel(references=False)
def rolling_both(values, width, chunk, scratch, low, high):
    """As :func:`rolling`, both extrema in one pass: the second finds its values in the cache."""
    nan = False
    first, last = 0, min(unaligned(low), chunk)
    while first < len(low):
        last = min(last if last > first else first + chunk, len(low))
        seen = values[first : last + width - 1]
        nan |= _chunk(Least(), seen, width, scratch, low[first:last])
        _chunk(Greatest(), seen, width, scratch, high[first:last])
        first = last
    return nan
