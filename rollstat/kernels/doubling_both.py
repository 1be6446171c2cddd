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
from rollstat.kernels.doubling import (
    CAREFUL,
    HOPEFUL,
    LONGEST_SPAN,
    SURE,
    fill_middle,
    room_for,
    seen_by,
    span_for,
)
from rollstat.kernels.doubling import scratch_length as length_for_one
from rollstat.kernels.order import Greatest, Least, prefer, worst_of
from rollstat.kernels.vectors import (
    absorb_nan,
    broadcast,
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
    values, span, lower, upper, ended_lower, ended_upper, width, below, above, low, high, look
):
    """As :func:`rollstat.kernels.doubling._whole_vectors`, for both orders."""
    lanes = lanes_of(lower)
    least_worst, greatest_worst = broadcast(worst_of(Least(), lower)), broadcast(worst_of(Greatest(), lower))
    low_one = low_two = low_four = low_eight = low_sixteen = low_next = least_worst
    low_thirty_two = low_sixty_four = least_worst
    high_one = high_two = high_four = high_eight = high_sixteen = high_next = greatest_worst
    high_thirty_two = high_sixty_four = greatest_worst
    nan = zeros(lower)
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
                least = prefer(Least(), least, least_worst)
                greatest = prefer(Greatest(), greatest, greatest_worst)
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
            store(least, low, i)
            store(greatest, high, i)
    return holds_nan(nan)


@kernel(references=False)
def _chunk(values, span, edge, lower, upper, ended_lower, ended_upper, width, below, above, low, high, look):
    """As :func:`_whole_vectors`, with what fills no vector at the ends of `values` and of the results."""
    lanes = lanes_of(lower)
    ended = (ended_lower, ended_upper)
    nan = _whole_vectors(values, span, lower, upper, *ended, width, below, above, low, high, look)
    nothing = low[:0]
    if nan and look == HOPEFUL:
        _whole_vectors(values, span, lower, upper, *ended, 1, below, above, nothing, nothing, CAREFUL)
    room = LONGEST_SPAN + lanes
    one, two, three = edge[:room], edge[room : 2 * room], edge[2 * room :]
    whole = len(values) // lanes * lanes
    if whole < len(values):
        # The last vector is computed from a copy: the span before it, and what is left.
        for j in range(whole - LONGEST_SPAN, whole + lanes):
            one[j - whole + LONGEST_SPAN] = values[j] if 0 <= j < len(values) else values[len(values) - 1]
        nan |= _whole_vectors(one, span, two, three, *ended, 1, below, above, nothing, nothing, CAREFUL)
        store(load(two, LONGEST_SPAN), lower, whole)
        store(load(three, LONGEST_SPAN), upper, whole)
    whole = len(low) // lanes * lanes
    if whole < len(low):
        _whole_vectors(
            values[:0],
            1,
            lower,
            upper,
            ended_lower[whole:],
            ended_upper[whole:],
            width,
            below[whole // lanes :],
            above[whole // lanes :],
            one[:lanes],
            two[:lanes],
            SURE,
        )
        for i in range(whole, len(low)):
            low[i], high[i] = one[i - whole], two[i - whole]
    return nan


@kernel(references=False)
def rolling_both(values, width, chunk, scratch, low, high):
    """Write both extrema of every ``values[i:i + width]``, the values that never win where there is none.

    NaN is no observation. `scratch` has the length that :func:`scratch_length` gives for `chunk` rows.
    Returns whether there may have been a NaN.
    """
    lanes = lanes_of(scratch)
    span, begin = span_for(width, lanes), 3 * (LONGEST_SPAN + lanes)
    edge, scratch = scratch[:begin], scratch[begin:]
    room, rows = room_for(chunk + width - 1, lanes), room_for((chunk + width - 1) // lanes, lanes)
    lower, upper, scratch = scratch[:room], scratch[room : 2 * room], scratch[2 * room :]
    ended_lower, ended_upper, scratch = scratch[:room], scratch[room : 2 * room], scratch[2 * room :]
    below, above, scratch = scratch[:rows], scratch[rows : 2 * rows], scratch[2 * rows :]
    ended_below, ended_above, rest = scratch[:rows], scratch[rows : 2 * rows], scratch[2 * rows :]
    nan = False
    before, first, last = 0, 0, min(unaligned(low), chunk)
    while first < len(low):
        # After a short chunk, vectors of results do not straddle lines of the cache.
        last = min(last if last > first else first + chunk, len(low))
        nan |= _chunk(
            seen_by(values, first, last, width, lanes),
            span,
            edge,
            lower,
            upper,
            ended_lower,
            ended_upper,
            width,
            ended_below,
            ended_above,
            low[before:first],
            high[before:first],
            CAREFUL if nan else HOPEFUL,
        )
        if width > 4 * span:
            known = (last - first + width - 1) // lanes
            fill_middle(Least(), lower, known, width, rest, below)
            fill_middle(Greatest(), upper, known, width, rest, above)
        lower, upper, ended_lower, ended_upper = ended_lower, ended_upper, lower, upper
        below, above, ended_below, ended_above = ended_below, ended_above, below, above
        before, first = first, last
    _chunk(
        values[:0],
        1,
        edge,
        lower,
        upper,
        ended_lower,
        ended_upper,
        width,
        ended_below,
        ended_above,
        low[before:],
        high[before:],
        SURE,
    )
    return nan
