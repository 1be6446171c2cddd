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

The spans of a chunk of rows are made while the results of the chunk before are written, so that reading
and writing memory go on together.

State: scratch memory alone, parts of one array. Invariant: ``spans[j]`` is the best of the `span`
values that end at j, or of those that there are. Cost: about log2(lanes) + 3 vector operations for each
vector of results, whatever the window and the data; there is no branch on data but whether a chunk has a NaN,
which is then replaced first. Results are written to whole lines of the cache, and what has to be kept of a
chunk of rows stays in it.

Source: the doubling of windows is B. Chaudhuri's and R. van den Boomgaard's "logarithmic decomposition"
of flat structuring elements (R. van den Boomgaard and R. van Balen, Methods for fast morphological
image transforms using bitmapped binary images, CVGIP 54 (1992) 252-258,
doi:10.1016/1049-9652(92)90055-3); the totals of aligned rows are a sparse table over blocks, as in
M. Bender and M. Farach-Colton, The LCA problem revisited, LATIN 2000, doi:10.1007/10719839_9.
"""

from rollstat._jit import INDEX, kernel
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

__all__ = [
    "fill_limits",
    "largest_span",
    "rolling",
    "rolling_both",
    "room_for",
    "scratch_length",
]


# What is known of NaN: that there is none, that there may be, and nothing, so that one is looked for.
SURE, CAREFUL, HOPEFUL = range(3)


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
    length = 6 * lanes + 2 * (room_for(count, lanes) + room_for(count // lanes, lanes))
    rows = count
    while width >= 2 * lanes:
        rows, width = rows // lanes, width // lanes - 1
        length += 3 * room_for(rows, lanes)
    return length


@kernel(references=False)
def fill_limits(order, width, limits):
    """Set `limits` for windows of `width` values as :func:`_whole_vectors` needs them."""
    lanes = lanes_of(limits)
    for lane in range(lanes):
        more = lane >= lanes - width % lanes
        limits[lane] = best_of(order, limits) if more else worst_of(order, limits)


@kernel(references=False)
def _whole_vectors(order, values, span, spans, older, ended, width, middle, limits, out, look):
    """Write the best of the `span` values that end at each position, and meanwhile windows of a chunk before.

    Both for whole vectors: of `values` by `order` to `spans`, and from the spans `ended` by the order
    `older` to `out`, so that reading and writing memory go on together.
    A window of `width` values is its first and its last span and, of two spans or more, the whole rows
    between: ``middle[q]`` is the best of those whole rows from q on that lie within every window that
    begins in the row before q. Windows that begin in the last ``width % lanes`` lanes of it take in one
    whole row more: there `limits` is the opposite of neutral, and elsewhere neutral.
    """
    lanes = lanes_of(spans)
    worst = broadcast(worst_of(order, spans))
    one = two = four = eight = sixteen = thirty_two = worst
    nan = zeros(spans)
    limit = load(limits, 0)
    rows = width >= 2 * lanes
    older_spans, newer_spans = ended[largest_span(width, lanes) - 1 :], ended[width - 1 :]
    row = 1
    for i in range(0, max(len(values), len(out)) - lanes + 1, lanes):
        if i + lanes <= len(values):
            best = load(values, i)
            if look != SURE:
                nan = absorb_nan(nan, best)
            if look == CAREFUL:
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
        if i + lanes <= len(out):
            best = prefer(older, load(older_spans, i), load(newer_spans, i))
            if rows:
                best = prefer(older, broadcast(middle[row & INDEX]), best)
                best = prefer(older, reject(older, broadcast(middle[(row + 1) & INDEX]), limit), best)
                row += 1
            store(best, out, i)
    return holds_nan(nan)


@kernel(references=False)
def _chunk(order, values, span, edge, spans, older, ended, width, middle, limits, out, look):
    """As :func:`_whole_vectors`, with what fills no vector at the ends of `values` and of `out`."""
    lanes = lanes_of(spans)
    nan = _whole_vectors(order, values, span, spans, older, ended, width, middle, limits, out, look)
    if nan and look == HOPEFUL:
        _whole_vectors(order, values, span, spans, older, ended, 1, middle, limits, out[:0], CAREFUL)
    whole = len(values) // lanes * lanes
    if whole < len(values):
        # The last vector is computed in `edge` from a copy: the vector before it and what is left.
        for j in range(whole - lanes, whole + lanes):
            known = 0 <= j < len(values)
            edge[j - whole + lanes] = values[j] if known else worst_of(order, spans)
        copy, result = edge[: 2 * lanes], edge[2 * lanes :]
        nan |= _whole_vectors(order, copy, span, result, older, ended, 1, middle, limits, copy[:0], CAREFUL)
        store(load(result, lanes), spans, whole)
    whole = len(out) // lanes * lanes
    if whole < len(out):
        last, rest = edge[:lanes], middle[whole // lanes :]
        _whole_vectors(order, values[:0], 1, spans, older, ended[whole:], width, rest, limits, last, SURE)
        for i in range(whole, len(out)):
            out[i] = last[i - whole]
    return nan


@kernel(references=False)
def _middle(order, spans, rows, width, scratch, middle):
    """Write to `middle` what windows of `width`, two spans or more, need of so many `rows` of spans."""
    lanes = lanes_of(spans)
    room = room_for(rows, lanes)
    totals, limits = scratch[: room - 2 * lanes], scratch[room - lanes : room]
    above, inner = scratch[room : 2 * room], scratch[2 * room : 3 * room]
    between = width // lanes - 1
    target = middle if between == 1 else totals
    for row in range(rows):
        target[row] = spans[row * lanes + lanes - 1]
    if between > 1:
        for row in range(rows, len(totals)):
            totals[row] = worst_of(order, totals)
        span, nothing = largest_span(between, lanes), totals[:0]
        _whole_vectors(order, totals, span, above, order, above, 1, middle, above, nothing, SURE)
        if between >= 2 * lanes:
            _middle(order, above, rows // lanes, between, scratch[3 * room :], inner)
        fill_limits(order, between, limits)
        results = middle[: room_for(rows - between + 1, lanes) - 2 * lanes]
        _whole_vectors(order, nothing, 1, above, order, above, between, inner, limits, results, SURE)


@kernel(inline="always", references=False)
def _parts(width, chunk, scratch):
    """Scratch memory for an edge, and for two chunks under way: spans, and what is between them."""
    lanes = lanes_of(scratch)
    room, rows = room_for(chunk + width - 1, lanes), room_for((chunk + width - 1) // lanes, lanes)
    edge, behind = scratch[: 4 * lanes], scratch[6 * lanes :]
    one, two = behind[:room], behind[room : 2 * room]
    behind = behind[2 * room :]
    return edge, one, two, behind[:rows], behind[rows : 2 * rows], behind[2 * rows :]


@kernel(inline="always", references=False)
def _seen(values, first, last, width, lanes):
    """Values of the windows that begin at ``first, ..., last - 1``, in whole vectors if there are more."""
    return values[first : first + (last - first + width - 1 + lanes - 1) // lanes * lanes]


@kernel(references=False)
def rolling(order, values, width, chunk, scratch, out):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``, the worst value where there is none.

    NaN is no observation. `scratch` has the length that :func:`scratch_length` gives for `chunk` rows.
    Returns whether there may have been a NaN.
    """
    lanes = lanes_of(scratch)
    span = largest_span(width, lanes)
    edge, spans, ended, middle, between, rest = _parts(width, chunk, scratch)
    limits = scratch[4 * lanes : 5 * lanes]
    fill_limits(order, width, limits)
    nan = False
    before, first, last = 0, 0, min(unaligned(out), chunk)
    while first < len(out):
        # After a short chunk, vectors of results do not straddle lines of the cache.
        last = min(last if last > first else first + chunk, len(out))
        seen, results = _seen(values, first, last, width, lanes), out[before:first]
        nan |= _chunk(
            order,
            seen,
            span,
            edge,
            spans,
            order,
            ended,
            width,
            between,
            limits,
            results,
            CAREFUL if nan else HOPEFUL,
        )
        if width >= 2 * lanes:
            _middle(order, spans, (last - first + width - 1) // lanes, width, rest, middle)
        spans, ended, middle, between = ended, spans, between, middle
        before, first = first, last
    _chunk(order, values[:0], 1, edge, spans, order, ended, width, between, limits, out[before:], SURE)
    return nan


@kernel(references=False)
def rolling_both(values, width, chunk, scratch, low, high):
    """As :func:`rolling`, both extrema in one pass: the second finds its values in the cache."""
    lanes = lanes_of(scratch)
    span = largest_span(width, lanes)
    edge, lower, upper, below, above, rest = _parts(width, chunk, scratch)
    low_limits, high_limits = scratch[4 * lanes : 5 * lanes], scratch[5 * lanes : 6 * lanes]
    fill_limits(Least(), width, low_limits)
    fill_limits(Greatest(), width, high_limits)
    nan = False
    before, first, last = 0, 0, min(unaligned(low), chunk)
    while first < len(low):
        last = min(last if last > first else first + chunk, len(low))
        rows = (last - first + width - 1) // lanes
        seen, results = _seen(values, first, last, width, lanes), high[before:first]
        nan |= _chunk(
            Least(),
            seen,
            span,
            edge,
            lower,
            Greatest(),
            upper,
            width,
            above,
            high_limits,
            results,
            CAREFUL if nan else HOPEFUL,
        )
        if width >= 2 * lanes:
            _middle(Least(), lower, rows, width, rest, below)
        results = low[first:last]
        _chunk(
            Greatest(),
            seen,
            span,
            edge,
            upper,
            Least(),
            lower,
            width,
            below,
            low_limits,
            results,
            CAREFUL if nan else SURE,
        )
        if width >= 2 * lanes:
            _middle(Greatest(), upper, rows, width, rest, above)
        before, first = first, last
    results = high[before:]
    _chunk(
        Least(),
        values[:0],
        1,
        edge,
        lower,
        Greatest(),
        upper,
        width,
        above,
        high_limits,
        results,
        SURE,
    )
    return nan
