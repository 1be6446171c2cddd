"""Both extrema of a fixed number of rows in one pass: doubling for two orders side by side.

::

    values of a chunk     -->  spans of minima, spans of maxima           each value is read once
    spans of the one before    -->  results of both, in the same loop

As :mod:`rollstat.kernels.doubling`, every step for one order and then for the other: a processor works on
both at once, and on what reading the values and writing two results wait for.

State, invariant and source: as there; scratch memory for two orders. Cost: the operations of two calls and
the memory of one, and a second result.
"""

from rollstat._jit import INDEX, kernel
from rollstat.kernels import monotone_runs
from rollstat.kernels.doubling import (
    ANY,
    CAREFUL,
    HOPEFUL,
    LONGEST_SPAN,
    NAN,
    NO,
    ONE,
    PASS,
    STAND_IN,
    SURE,
    fill_middle,
    room_for,
    seen_by,
    span_for,
)
from rollstat.kernels.doubling import scratch_length as length_for_one
from rollstat.kernels.missing_bits import note_if
from rollstat.kernels.order import (
    Greatest,
    Least,
    Oldest,
    admit,
    missing_of,
    prefer,
    where_equal,
    worst_of,
)
from rollstat.kernels.vectors import (
    absorb_nan,
    broadcast,
    holds,
    holds_nan,
    lanes_of,
    load,
    prefetch,
    push_back,
    store,
    unaligned,
    zeros,
)

__all__ = ["rolling_both", "scratch_length"]


def scratch_length(width, chunk, lanes):
    """Length of the scratch memory for chunks of `chunk` rows of windows of `width`."""
    count = chunk + width - 1
    more = LONGEST_SPAN + lanes + 2 * (room_for(count, lanes) + room_for(count // lanes, lanes))
    return length_for_one(width, chunk, lanes) + more


@kernel(references=False)
def _whole_vectors(
    values, span, lower, upper, ended_lower, ended_upper, width, below, above, low, high, look, rule, hidden
):
    """As :func:`rollstat.kernels.doubling._whole_vectors`, for both orders.

    NaN counts as the best by either order if the `rule` is `ANY`, else as the worst.
    """
    lanes = lanes_of(lower)
    least_worst, greatest_worst = broadcast(worst_of(Least(), lower)), broadcast(worst_of(Greatest(), lower))
    low_one = low_two = low_four = low_eight = low_sixteen = low_next = least_worst
    low_thirty_two = low_sixty_four = least_worst
    high_one = high_two = high_four = high_eight = high_sixteen = high_next = greatest_worst
    high_thirty_two = high_sixty_four = greatest_worst
    nan = found = zeros(lower)
    low_instead = greatest_worst if rule == ANY else least_worst
    high_instead = least_worst if rule == ANY else greatest_worst
    missing = broadcast(missing_of(lower))
    half = span_for(width, lanes)
    second, third = min(2 * half, width) - 1, max(width - half, 1) - 1
    first_lower, last_lower = ended_lower[half - 1 :], ended_lower[width - 1 :]
    first_upper, last_upper = ended_upper[half - 1 :], ended_upper[width - 1 :]
    second_lower, third_lower = ended_lower[second:], ended_lower[third:]
    second_upper, third_upper = ended_upper[second:], ended_upper[third:]
    row = 0
    for i in range(0, max(len(values), len(low)) - lanes + 1, lanes):
        if i + lanes <= len(values):
            least = greatest = load(values, i)
            if look != SURE:
                nan = absorb_nan(nan, least)
            if look == CAREFUL:
                found = where_equal(least, low_instead, least, found)
                found = where_equal(greatest, high_instead, greatest, found)
                least, greatest = admit(least, low_instead), admit(greatest, high_instead)
            if span >= 2:
                before, low_one = low_one, least
                least = prefer(Least(), least, push_back(before, least, 1))
                before, high_one = high_one, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 1))
            if span >= 4:
                before, low_two = low_two, least
                least = prefer(Least(), least, push_back(before, least, 2))
                before, high_two = high_two, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 2))
            if span >= 8:
                before, low_four = low_four, least
                least = prefer(Least(), least, push_back(before, least, 4))
                before, high_four = high_four, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 4))
            if span >= 16:
                before, low_eight = low_eight, least
                least = prefer(Least(), least, push_back(before, least, 8))
                before, high_eight = high_eight, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 8))
            if span >= 32 and lanes >= 16:
                before, low_sixteen = low_sixteen, least
                least = prefer(Least(), least, push_back(before, least, 16))
                before, high_sixteen = high_sixteen, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 16))
            elif span >= 32:  # the same shift is two vectors of eight
                before, low_sixteen, low_next = low_sixteen, low_next, least
                least = prefer(Least(), least, before)
                before, high_sixteen, high_next = high_sixteen, high_next, greatest
                greatest = prefer(Greatest(), greatest, before)
            if span >= 64:
                before, low_thirty_two = low_thirty_two, least
                least = prefer(Least(), least, push_back(before, least, 32))
                before, high_thirty_two = high_thirty_two, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 32))
            if span >= 128:
                before, low_sixty_four = low_sixty_four, least
                least = prefer(Least(), least, push_back(before, least, 64))
                before, high_sixty_four = high_sixty_four, greatest
                greatest = prefer(Greatest(), greatest, push_back(before, greatest, 64))
            store(least, lower, i)
            store(greatest, upper, i)
        if i + lanes <= len(low):
            prefetch(low, i + 8 * lanes)
            prefetch(high, i + 8 * lanes)
            least = prefer(Least(), load(first_lower, i), load(last_lower, i))
            greatest = prefer(Greatest(), load(first_upper, i), load(last_upper, i))
            if width > 4 * half:
                least = prefer(Least(), broadcast(below[row & INDEX]), least)
                greatest = prefer(Greatest(), broadcast(above[row & INDEX]), greatest)
                row += 1
            elif width > 2 * half:
                inner = prefer(Least(), load(second_lower, i), load(third_lower, i))
                least = prefer(Least(), inner, least)
                inner = prefer(Greatest(), load(second_upper, i), load(third_upper, i))
                greatest = prefer(Greatest(), inner, greatest)
            if hidden:
                least = where_equal(least, low_instead, missing, least)
                greatest = where_equal(greatest, high_instead, missing, greatest)
            store(least, low, i)
            store(greatest, high, i)
    low_worst, high_worst = worst_of(Least(), lower), worst_of(Greatest(), lower)
    stand_in = look == CAREFUL and (holds(found, low_worst) or holds(found, high_worst))
    return NAN * int(holds_nan(nan)) + STAND_IN * int(stand_in)


@kernel(references=False)
def _chunk(values, span, edge, spans, ended, width, middle, low, high, look, rule, hidden):
    """As :func:`_whole_vectors`, with what fills no vector at the ends of `values` and of the results."""
    lower, upper = spans
    lanes = lanes_of(lower)
    found = _whole_vectors(values, span, lower, upper, *ended, width, *middle, low, high, look, rule, hidden)
    nothing = low[:0]
    careful = (nothing, nothing, CAREFUL, rule, NO)
    room = LONGEST_SPAN + lanes
    one, two, three = edge[:room], edge[room : 2 * room], edge[2 * room :]
    whole = len(values) // lanes * lanes
    if whole < len(values):
        # The last vector is computed from a copy: the span before it, and what is left.
        for j in range(whole - LONGEST_SPAN, whole + lanes):
            one[j - whole + LONGEST_SPAN] = values[j] if 0 <= j < len(values) else values[len(values) - 1]
        found |= _whole_vectors(one, span, two, three, *ended, ONE, *middle, *careful)
        store(load(two, LONGEST_SPAN), lower, whole)
        store(load(three, LONGEST_SPAN), upper, whole)
    if found and look == HOPEFUL:  # wherever in the chunk it was
        found |= _whole_vectors(values, span, lower, upper, *ended, ONE, *middle, *careful)
    whole = len(low) // lanes * lanes
    if whole < len(low):
        rows = whole // lanes
        ends = ended[0][whole:], ended[1][whole:], width, middle[0][rows:], middle[1][rows:]
        last = one[:lanes], two[:lanes], SURE, rule, hidden
        _whole_vectors(values[:0], ONE, lower, upper, *ends, *last)
        for i in range(whole, len(low)):
            low[i], high[i] = one[i - whole], two[i - whole]
    return found


@kernel(inline="always", references=False)
def _pair(room, scratch):
    """Scratch memory for two orders, and the rest."""
    return (scratch[:room], scratch[room : 2 * room]), scratch[2 * room :]


@kernel(references=False)
def rolling_both(values, width, chunk, scratch, low, high, rule, words):
    """Write both extrema of every ``values[i:i + width]``.

    As :func:`rollstat.kernels.doubling.rolling` says for one. `scratch` has the length that
    :func:`scratch_length` gives for `chunk` rows.
    """
    lanes = lanes_of(scratch)
    span, begin = span_for(width, lanes), 3 * (LONGEST_SPAN + lanes)
    edge, scratch = scratch[:begin], scratch[begin:]
    room, rows = room_for(chunk + width - 1, lanes), room_for((chunk + width - 1) // lanes, lanes)
    spans, scratch = _pair(room, scratch)
    ended, scratch = _pair(room, scratch)
    middle, scratch = _pair(rows, scratch)
    between, rest = _pair(rows, scratch)
    found = before = first = noted = 0
    hidden = NO
    while first < len(low):
        left, nothing = low[first:], low[:0]
        done = monotone_runs.answer(Least(), Oldest(), values[first:], width, 0, nothing, left, high[first:])
        ready = low[before:first], high[before:first]
        if done:
            _chunk(values[:0], ONE, edge, spans, ended, width, between, *ready, SURE, rule, hidden)
            first += done
            before = first
            continue
        # After a short chunk, vectors of results do not straddle lines of the cache.
        size = min(unaligned(left), chunk) if before == first else 0
        last = min(first + (size if size > 0 else chunk), len(low))
        seen = seen_by(values, first, last, width, lanes)
        look = CAREFUL if found & NAN else HOPEFUL
        found |= _chunk(seen, span, edge, spans, ended, width, between, *ready, look, rule, hidden)
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = note_if(found, values, noted, last + width - 1, words)
        if width > 4 * span:
            known = (last - first + width - 1) // lanes
            fill_middle(Least(), spans[0], known, width, rest, middle[0])
            fill_middle(Greatest(), spans[1], known, width, rest, middle[1])
        spans, ended, middle, between = ended, spans, between, middle
        before, first, hidden = first, last, rule != PASS and found & NAN != 0
    ready = low[before:], high[before:]
    _chunk(values[:0], ONE, edge, spans, ended, width, between, *ready, SURE, rule, hidden)
    return found & NAN
