"""Positions of the extrema of a fixed number of rows, by doubling pairs of a value and its position.

::

    values      5   3   3   8          the better of each pair of lanes, and the position where it comes from;
    positions   0   1   2   3          of equal values the oldest or the newest, as the order says

Each vector of values has one of positions, which takes the same shifts and choices. So the cost does not
depend on the data, whereas a search for known extrema takes long where they change often.

Windows of a few rows are read row by row, see :mod:`rollstat.kernels.extrema.direct`. Others, of up to 64
rows, are two spans of up to 32 values.

State, invariant and source: as :mod:`rollstat.kernels.extrema.doubling`; memory, spans and results are pairs
of arrays of values and of positions. Positions are integers as large as a value, and their bits
are stored as values, so that one vector has a channel of each; values have 4 or 8 bytes. Cost: about twice
that of values alone.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import (
    broadcast,
    channels_of,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    stack_channels,
    store,
    zeros,
)
from rollstat.kernels.extrema import direct
from rollstat.kernels.extrema.blockwise import occurs
from rollstat.kernels.extrema.direct import FEW
from rollstat.kernels.extrema.doubling import (
    EIGHT,
    SIXTEEN,
    THIRTY_TWO,
    doubled,
    largest_span,
    room_for,
    values_of,
)
from rollstat.kernels.simd.comparator import prefer, worst_of
from rollstat.kernels.simd.loops import count_up

__all__ = ["correct_positions", "rolling", "scratch_length", "write_shifted"]


def scratch_length(width, chunk, lanes):
    """Return the length of each of the two parts of scratch memory, for chunks of `chunk` rows."""
    return 2 * (THIRTY_TWO + lanes) + 2 * room_for(chunk + width - 1, lanes) + room_for(chunk, lanes)


@kernel
def write_shifted(shift, positions, out):
    """Write ``shift + positions``."""
    for i in range(len(out)):
        out[i] = shift + positions[i]


@kernel(forceinline=True)
def _load(pair, i):
    """Return a vector with a channel of values and one of positions."""
    return stack_channels((load(pair[0], i), load(pair[1], i)))


@kernel(forceinline=True)
def _store(vector, pair, i):
    """Write the two channels of a vector."""
    value, position = channels_of(vector)
    store(value, pair[0], i)
    store(position, pair[1], i)


@kernel(forceinline=True)
def _loop(order, source, span, spans):
    """Write the best of the `span` values that end at each position, for the whole vectors of `source`."""
    values, numbers = source
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order.order, values))
    has_nan = zeros(values)
    none = stack_channels((worst, has_nan))
    kept = none, none, none, none, none, none, none, none, none, none, none
    for i in range(0, len(values) - lanes + 1, lanes):
        value = load(values, i)
        has_nan = propagate_nan(has_nan, value)
        newest = stack_channels((prefer(order.order, value, worst), load(numbers, i)))
        best, kept = doubled(order, span, newest, kept)
        _store(best, spans, i)
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
    return _loop(order, source, span, spans)


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
    room = THIRTY_TWO + lanes
    padded, last = (edge[0][:room], edge[1][:room]), (edge[0][room:], edge[1][room:])
    for j in range(whole - THIRTY_TWO, whole + lanes):
        known = 0 <= j < count
        padded[0][j - whole + THIRTY_TWO] = values[j] if known else worst_of(order.order, values)
        padded[1][j - whole + THIRTY_TWO] = source[1][j if known else 0]
    has_nan |= _whole_vectors(order, padded, span, last)
    _store(_load(last, THIRTY_TWO), spans, whole)
    return has_nan


@kernel
def rolling(order, values, width, chunk, scratch, shift, position):
    """Write the position, counted from `shift`, of the best of ``values[i:i + width]`` to ``position[i]``.

    `order` is an :class:`~rollstat.kernels.simd.comparator.Arg`. NaN is no observation; a window without an
    observation, or with none better than the worst value, gets any position. `scratch` holds two
    arrays of the dtype of the values, each as long as :func:`scratch_length` says, and the second one again
    as integers of that size.
    Returns 1 if there may have been a NaN, 2 if besides some window has no value better than the worst value,
    and the worst value may be an observation, else 0.
    """
    memory, bits, positions = scratch
    lanes = lanes_of(memory)
    room, count = room_for(chunk + width - 1, lanes), room_for(chunk, lanes)
    begin, end = count + room, count + 2 * room
    best, numbers = (memory[:count], bits[:count]), bits[begin:end]
    spans, edge = (memory[count:begin], bits[count:begin]), (memory[end:], bits[end:])
    count_up(0, positions[begin:end])
    span = largest_span(width, THIRTY_TWO)
    has_nan = empty = False
    for first in range(0, len(position), chunk):
        results = position[first : first + chunk]
        seen = values_of(values, first, first + len(results), width, lanes)
        if width <= FEW and len(results) >= lanes:
            nan_here, empty_here = direct.positions(order, seen, numbers, width, best[1][: len(results)])
            has_nan |= nan_here
        else:
            has_nan |= _fill_spans(order, (seen, numbers[: len(seen)]), span, edge, spans)
            for i in range(0, len(results), lanes):
                _store(prefer(order, _load(spans, i + width - 1), _load(spans, i + span - 1)), best, i)
            worst = worst_of(order.order, values)
            empty_here = has_nan and not empty and occurs(best[0][: len(results)], worst)
        if has_nan and not empty:
            empty = empty_here and occurs(seen, worst_of(order.order, values))
        write_shifted(shift + first, positions[: len(results)], results)
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
