"""Both extrema of a fixed number of rows in one pass: doubling for two orders side by side.

::

    values of a chunk     -->  spans of minima, spans of maxima           each value is read once
    spans of the one before    -->  results of both, in the same loop

As :mod:`rollstat.kernels.extrema.doubling`, every step for one order and then for the other: a processor
works on
both at once, and on what reading the values and writing two results wait for. Two long results are written
past the caches, which could not keep them and would read their memory first.

State, invariant and source: as there; scratch memory for two orders. Cost: the operations of two calls and
the memory of one, and a second result.
"""

from rollstat._jit import INDEX, kernel
from rollstat._lowering import prefetch_to_write
from rollstat.kernels.extrema import direct
from rollstat.kernels.extrema.direct import FEW
from rollstat.kernels.extrema.doubling import (
    EIGHT,
    FOUR,
    FOUR_SPANS,
    LONGEST_SPAN,
    ROWS_BETWEEN,
    SIXTEEN,
    SIXTY_FOUR,
    THIRTY_TWO,
    TWO_SPANS,
    doubled,
    fill_middle,
    room_for,
    seen_by,
    shared_spans,
    span_for,
    take_over,
)
from rollstat.kernels.extrema.doubling import scratch_length as length_for_one
from rollstat.kernels.extrema.monotone_runs import answer, trend
from rollstat.kernels.extrema.nan_policy import ANY, CAREFUL, HOPEFUL, NAN, NO, ONE, PASS, STAND_IN, SURE
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import (
    Greatest,
    Least,
    Oldest,
    missing_of,
    prefer,
    where_equal,
    worst_of,
)
from rollstat.kernels.simd.fill_copy import stand_alike
from rollstat.kernels.simd.vectors import (
    broadcast,
    contains,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    put,
    replace_nan,
    settle_writes,
    store,
    unaligned,
    zeros,
)

__all__ = ["rolling_both", "scratch_length"]

# Runs of so many rows are worth a look where others are nearly as quick.
_RUN = 2_048


def scratch_length(width, chunk, lanes):
    """Length of the scratch memory for chunks of `chunk` rows of windows of `width`."""
    count = chunk + width - 1
    more = LONGEST_SPAN + lanes + 2 * (room_for(count, lanes) + room_for(count // lanes, lanes))
    return length_for_one(width, chunk, lanes) + more


@kernel(forceinline=True)
def _loop(
    values,
    span,
    lower,
    upper,
    ended_lower,
    ended_upper,
    half,
    kind,
    width,
    below,
    above,
    low,
    high,
    look,
    rule,
    hidden,
    past,
):
    """As :func:`rollstat.kernels.extrema.doubling._loop`, for both orders.

    NaN counts as the best by either order if the `rule` is `ANY`, else as the worst.
    """
    lanes = lanes_of(lower)
    least_worst, greatest_worst = broadcast(worst_of(Least(), lower)), broadcast(worst_of(Greatest(), lower))
    worst = least_worst
    low_kept = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    worst = greatest_worst
    high_kept = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    nan = found = zeros(lower)
    low_instead = greatest_worst if rule == ANY else least_worst
    high_instead = least_worst if rule == ANY else greatest_worst
    missing = broadcast(missing_of(lower))
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
                nan = propagate_nan(nan, least)
            if look == CAREFUL:
                found = where_equal(least, low_instead, least, found)
                found = where_equal(greatest, high_instead, greatest, found)
                least, greatest = replace_nan(least, low_instead), replace_nan(greatest, high_instead)
            least, low_kept = doubled(Least(), span, least, low_kept)
            greatest, high_kept = doubled(Greatest(), span, greatest, high_kept)
            store(least, lower, i)
            store(greatest, upper, i)
        if i + lanes <= len(low):
            if not past:
                prefetch_to_write(low, i + 8 * lanes)
                prefetch_to_write(high, i + 8 * lanes)
            least = prefer(Least(), load(first_lower, i), load(last_lower, i))
            greatest = prefer(Greatest(), load(first_upper, i), load(last_upper, i))
            if kind == ROWS_BETWEEN:
                least = prefer(Least(), broadcast(below[row & INDEX]), least)
                greatest = prefer(Greatest(), broadcast(above[row & INDEX]), greatest)
                row += 1
            elif kind == FOUR_SPANS:
                inner = prefer(Least(), load(second_lower, i), load(third_lower, i))
                least = prefer(Least(), inner, least)
                inner = prefer(Greatest(), load(second_upper, i), load(third_upper, i))
                greatest = prefer(Greatest(), inner, greatest)
            if hidden:
                least = where_equal(least, low_instead, missing, least)
                greatest = where_equal(greatest, high_instead, missing, greatest)
            put(least, low, i, past)
            put(greatest, high, i, past)
    low_worst, high_worst = worst_of(Least(), lower), worst_of(Greatest(), lower)
    stand_in = look == CAREFUL and (contains(found, low_worst) or contains(found, high_worst))
    return NAN * int(contains_nan(nan)) + STAND_IN * int(stand_in)


@kernel(forceinline=True)
def _known(values, span, ends, kind, width, below, above, low, high, look, rule, hidden, past):
    """As :func:`_loop` for a span and a kind that are constants."""
    part = values, span, *ends, span, kind, width, below, above, low, high
    if look == HOPEFUL and not hidden:
        return _loop(*part, HOPEFUL, rule, NO, past)
    return _loop(*part, CAREFUL, rule, hidden, past)


@kernel
def _whole_vectors(
    values,
    span,
    lower,
    upper,
    ended_lower,
    ended_upper,
    width,
    below,
    above,
    low,
    high,
    look,
    rule,
    hidden,
    past,
):
    """As :func:`rollstat.kernels.extrema.doubling._whole_vectors`, for both orders."""
    half = span_for(width, lanes_of(lower))
    kind = TWO_SPANS if width <= 2 * half else FOUR_SPANS if width <= 4 * half else ROWS_BETWEEN
    ends = lower, upper, ended_lower, ended_upper
    return _loop(values, span, *ends, half, kind, width, below, above, low, high, look, rule, hidden, past)


@kernel(forceinline=True)
def _usual(
    values,
    span,
    lower,
    upper,
    ended_lower,
    ended_upper,
    width,
    below,
    above,
    low,
    high,
    look,
    rule,
    hidden,
    past,
):
    """As :func:`rollstat.kernels.extrema.doubling._usual`, for both orders."""
    half = span_for(width, lanes_of(lower))
    kind = TWO_SPANS if width <= 2 * half else FOUR_SPANS if width <= 4 * half else ROWS_BETWEEN
    ends = lower, upper, ended_lower, ended_upper
    behind = width, below, above, low, high, look, rule, hidden, past
    if span == half and look != SURE:
        if span == 4:
            return _known(values, FOUR, ends, TWO_SPANS, *behind)
        if span == 8:
            return _known(values, EIGHT, ends, TWO_SPANS, *behind)
        if span == 16:
            return _known(values, SIXTEEN, ends, TWO_SPANS, *behind)
        if span == 32:
            return _known(values, THIRTY_TWO, ends, TWO_SPANS, *behind)
        if span == 64 and kind == TWO_SPANS:
            return _known(values, SIXTY_FOUR, ends, TWO_SPANS, *behind)
        if span == 64 and kind == FOUR_SPANS:
            return _known(values, SIXTY_FOUR, ends, FOUR_SPANS, *behind)
        if span == 64:
            return _known(values, SIXTY_FOUR, ends, ROWS_BETWEEN, *behind)
    return _whole_vectors(values, span, *ends, *behind)


@kernel
def _chunk(values, span, edge, spans, ended, width, middle, low, high, look, rule, hidden, past):
    """As :func:`_whole_vectors`, with what fills no vector at the ends of `values` and of the results."""
    lower, upper = spans
    lanes = lanes_of(lower)
    found = _usual(values, span, lower, upper, *ended, width, *middle, low, high, look, rule, hidden, past)
    nothing = low[:0]
    careful = (nothing, nothing, CAREFUL, rule, NO, NO)
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
        last = one[:lanes], two[:lanes], SURE, rule, hidden, NO
        _whole_vectors(values[:0], ONE, lower, upper, *ends, *last)
        for i in range(whole, len(low)):
            low[i], high[i] = one[i - whole], two[i - whole]
    return found


@kernel(inline="always")
def _pair(room, scratch):
    """Scratch memory for two orders, and the rest."""
    return (scratch[:room], scratch[room : 2 * room]), scratch[2 * room :]


@kernel
def rolling_both(values, width, chunk, scratch, low, high, rule, words, past):
    """Write both extrema of every ``values[i:i + width]``.

    As :func:`rollstat.kernels.extrema.doubling.rolling` says for one. `scratch` has the length that
    :func:`scratch_length` gives for `chunk` rows. Results that stand alike to the lines
    of the cache may be written `past` it.
    """
    lanes = lanes_of(scratch)
    if width <= FEW and len(low) >= lanes:
        return direct.rolling_both(values, width, chunk, low, high, rule, words, past)
    span, begin = span_for(width, lanes), 3 * (LONGEST_SPAN + lanes)
    edge, scratch = scratch[:begin], scratch[begin:]
    room, rows = room_for(chunk + width - 1, lanes), room_for((chunk + width - 1) // lanes, lanes)
    spans, scratch = _pair(room, scratch)
    ended, scratch = _pair(room, scratch)
    middle, scratch = _pair(rows, scratch)
    between, rest = _pair(rows, scratch)
    found = before = first = noted = known = 0
    hidden, past = NO, past and stand_alike(low, high)
    # Windows of so few rows are answered as quickly as two results are written, whatever the data: only very
    # long runs are worth a look, and that now and then.
    quick, asked = past and width <= 4 * span, 0
    while first < len(low):
        left, nothing, done = low[first:], low[:0], 0
        if quick and first >= asked and trend(Least(), Oldest(), values[first : first + _RUN]) == 0:
            asked = first + 8 * _RUN
        if first >= asked:
            done = answer(Least(), Oldest(), values[first:], width, 0, nothing, left, high[first:], past)
        ready = low[before:first], high[before:first]
        if done:
            _chunk(values[:0], ONE, edge, spans, ended, width, between, *ready, SURE, rule, hidden, past)
            first += done
            before = known = first
            continue
        # After a short chunk, vectors of results do not straddle lines of the cache.
        size = min(unaligned(left), chunk) if before == first else 0
        last = min(first + (size if size > 0 else chunk), len(low))
        seen = seen_by(values, first, last, width, lanes)
        look = CAREFUL if found & NAN else HOPEFUL
        shared = shared_spans(known - first, first - before, span, lanes)
        part = seen[shared:], span, edge, (spans[0][shared:], spans[1][shared:]), ended
        found |= _chunk(*part, width, between, *ready, look, rule, hidden, past)
        if shared and found and look == HOPEFUL:  # what stands for NaN was not looked for before
            shared = 0
            found |= _chunk(
                seen, span, edge, spans, ended, ONE, between, low[:0], high[:0], CAREFUL, rule, NO, NO
            )
        if shared:
            count = shared + max(span, lanes)
            take_over(ended[0][first - before :], count, spans[0])
            take_over(ended[1][first - before :], count, spans[1])
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = record_nan_if(found, values, noted, last + width - 1, words)
        if width > 4 * span:
            rows = (last - first + width - 1) // lanes
            fill_middle(Least(), spans[0], rows, width, rest, middle[0])
            fill_middle(Greatest(), spans[1], rows, width, rest, middle[1])
        spans, ended, middle, between = ended, spans, between, middle
        before, first, known = first, last, first + len(seen)
        hidden = rule != PASS and found & NAN != 0
    ready = low[before:], high[before:]
    _chunk(values[:0], ONE, edge, spans, ended, width, between, *ready, SURE, rule, hidden, past)
    if past:
        settle_writes()
    return found & NAN
