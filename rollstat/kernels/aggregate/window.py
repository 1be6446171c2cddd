"""Windows of operator states over a stream, by row or by time, on one of three queues.

::

    stamps   12    15    15    19    22        the row number or the time of each state
    states   s     s     s     s     s
             ^ dropped when the window starts after 12

A window of the last m rows is the window of span m in row numbers, so the same kernels serve windows by
row and by time; a missing element moves the window on but adds no state. `algorithm` is an instance of
:class:`TwoStacks`, :class:`Daba` or :class:`BaseIntervals`. Like an operator, an algorithm is known by its
type, so each kernel is compiled for each algorithm.

State: the algorithm's state, `header` and `cells`, and `stamps`, a ring with one slot for each cell.
Invariant: the states belong to the observations whose stamps are in the window.
Cost: the algorithm's cost; to find what to drop takes O(1) amortised a state.

A step first decides whether the ring has room, so that it can be called again. If the operator raises during
a step, the window must not be used afterwards.
"""

from typing import Any, NamedTuple

import numpy as np

import rollstat.kernels.aggregate.base_intervals as base_intervals
import rollstat.kernels.aggregate.daba as daba
import rollstat.kernels.aggregate.two_stacks as two_stacks
from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import (
    combine,
    define,
    emit,
    lift_element,
    lower,
    take,
)
from rollstat.kernels.aggregate.ring_queue import (
    END,
    FRONT,
    MASK,
    fetch,
    store,
)

# Slots at the end of `header` in a stream: the number of the next row, the rows of the window, the first row
# that was not popped, observations beyond one for each state, and the observations that a result needs.
NEXT, SPAN, FIRST, FOLDED, LEAST = range(-5, 0)
MORE = 5
# A step returns this if it has changed nothing because the ring is full.
RESIZE = -1
# Rows that are too many for a stream.
_MOST = 2**62


class TwoStacks(NamedTuple):
    """Amortised O(1) combinations a step: the higher throughput."""

    functions = two_stacks


class Daba(NamedTuple):
    """O(1) combinations in every step: the lower latency."""

    functions = daba


class BaseIntervals(NamedTuple):
    """States that enter in any place."""

    functions = base_intervals


QUEUES = {"two_stacks": TwoStacks(), "daba": Daba()}
LATE = BaseIntervals()


class Rows(NamedTuple):
    """Rows that enter a window: their row numbers or times, elements, and which of them are missing."""

    stamps: Any
    values: Any
    missing: Any


class Results(NamedTuple):
    """What is written for each of many rows.

    Rows with fewer than `min_periods` (>= 1) states are marked in `insufficient`, rows whose exact result
    does not fit in `failed`; the other rows of `out` receive their results.
    """

    out: Any
    insufficient: Any
    failed: Any
    min_periods: int


def _parts(cls):
    """Return what has the functions of a class, which may name a module."""
    return getattr(cls, "functions", cls)


def method_of_class(name, parameters):
    """Return a function, for kernels too, that calls function `name` of the class of its first argument."""
    every = f"own, {parameters}"
    function = define(every, [f"return parts(type(own)).{name}({parameters})"], parts=_parts)

    def of_class(own):
        function = getattr(_parts(own.instance_class), name)
        return define(every, [f"return function({parameters})"], function=function)

    overloaded(function)(define(every, ["return of_class(own)"], of_class=of_class))
    return function


_push_state = method_of_class("push_state", "operator, header, cells, state")
_pop = method_of_class("pop", "operator, header, cells, number")
_query = method_of_class("query", "operator, header, cells")
_set_single = method_of_class("set_single", "header, cells, state")


@kernel
def number_to_drop(header, stamps, limit):
    """How many states are stamped at or before `limit`; none if the limit is NaN."""
    front, end, mask = header[FRONT], header[END], header[MASK]
    counter = front
    while counter < end and fetch(stamps, counter, mask) <= limit:
        counter += 1
    return counter - front


@kernel
def advance(algorithm, operator, header, cells, stamps, limit, stamp, element, observed):
    """Drop the states stamped at or before `limit`, and add the element if it is `observed`.

    Returns 0, or RESIZE.
    """
    number = number_to_drop(header, stamps, limit)
    end = header[END]
    if observed and number == 0 and end - header[FRONT] > header[MASK]:
        return RESIZE
    if number > 0:
        _pop(algorithm, operator, header, cells, number)
    if observed:
        _push_state(algorithm, operator, header, cells, lift_element(operator, cells, element))
        store(stamps, end, header[MASK], stamp)
    return 0


@kernel
def evaluate(algorithm, operator, header, cells, out, failed):
    """Write the result of the window into slot 0 of `out`; the window must not be empty."""
    emit(operator, _query(algorithm, operator, header, cells), out, 0, failed)


@kernel(forceinline=True)
def result(algorithm, operator, header, cells):
    """The result of an operator that cannot overflow; the window must not be empty."""
    return lower(operator, _query(algorithm, operator, header, cells))


@kernel
def push(
    algorithm, operator, header, cells, stamps, limit, stamp, element, observed, min_periods, out, failed
):
    """Advance, and write the result into slot 0 of `out` if there are `min_periods` (>= 1) observations.

    Returns the number of observations in the window, or RESIZE.
    """
    rejected = advance(algorithm, operator, header, cells, stamps, limit, stamp, element, observed)
    if rejected:
        return rejected
    size = header[END] - header[FRONT]
    if size >= min_periods:
        emit(operator, _query(algorithm, operator, header, cells), out, 0, failed)
    return size


@kernel
def fold(algorithm, operator, header, cells):
    """Replace the contents of the window by one combined state; the window must not be empty."""
    _set_single(algorithm, header, cells, _query(algorithm, operator, header, cells))


@kernel
def join(algorithm, operator, header, cells, other_header, other_cells):
    """Combine the window with a later one into one state; neither window is empty."""
    state = combine(
        operator,
        cells,
        _query(algorithm, operator, header, cells),
        _query(algorithm, operator, other_header, other_cells),
    )
    _set_single(algorithm, header, cells, state)


@kernel
def aggregate_windows(algorithm, operator, header, cells, values, start, end, out, failed):
    """Write the result of each window that is not empty into its row of `out`.

    The queue must be empty, and its ring must have room for the widest window.
    """
    oldest = following = 0
    for i in range(len(start)):
        number = min(start[i], following) - oldest
        if number > 0:
            _pop(algorithm, operator, header, cells, number)
            oldest += number
        if following < start[i]:
            # This window shares no element with the windows before.
            oldest = following = start[i]
        while following < end[i]:
            state = lift_element(operator, cells, take(values, following))
            _push_state(algorithm, operator, header, cells, state)
            following += 1
        if oldest < following:
            emit(operator, _query(algorithm, operator, header, cells), out, i, failed)


def check(algorithm, header, cells, stamps, fixed, newest):
    """Whether header, cells and stamps fit together; dtypes and the length of the header are as created.

    The window has `fixed` rows, or any number of rows if `fixed` is 0. `newest` is the time of the newest
    row, or None if stamps are numbers of rows.
    """
    if (header < 0).any() or (header > _MOST).any() or not algorithm.functions.check(header, cells):
        return False
    mask, front, end = int(header[MASK]), int(header[FRONT]), int(header[END])
    first, rows, folded = int(header[FIRST]), int(header[NEXT]), int(header[FOLDED])
    if len(stamps) != mask + 1 or first > rows or end - front + folded > rows - first:
        return False
    if folded and front == end:
        return False
    live = stamps[np.arange(front, end) & mask]
    if stamps.dtype.kind == "f" or newest is not None:
        ascending = (live[1:] >= live[:-1]).all()
        return bool(ascending and (front == end or (newest is not None and live[-1] <= newest)))
    oldest = max(first, rows - fixed if fixed else 0)
    return bool((live[1:] > live[:-1]).all() and (front == end or oldest <= live[0] <= live[-1] < rows))
