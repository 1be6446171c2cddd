"""Windows over a stream, by row or by time, on either queue of states.

::

    stamps   12    15    15    19    22        one beside each state: its row number or its time
    states   s     s     s     s     s
             ^ dropped once the window starts after 12

A window of the last m rows is the window of span m in row numbers, so the same kernels serve windows by
row and by time; a missing element moves the window on but is no state of it. `algorithm` is
:class:`TwoStacks` or :class:`Daba`, a type like the operator, so each kernel is specialised on both.

State: that of the algorithm, `header` and `cells`, and `stamps`, a ring with one slot for each cell.
Invariant: the states are the elements that were not missing and whose stamps are in the window.
Cost: that of the algorithm; dropping costs O(1) amortised a state.
"""

from typing import NamedTuple

import rollstat.kernels.aggregate.daba as daba
import rollstat.kernels.aggregate.two_stacks as two_stacks
from rollstat._jit import kernel
from rollstat._lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import combine, define, emit, lower, method_call, take
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, carry, fetch, is_idle, store

__all__ = [
    "FIRST",
    "FOLDED",
    "LEAST",
    "MORE",
    "NEXT",
    "SPAN",
    "Daba",
    "TwoStacks",
    "advance",
    "aggregate_windows",
    "evaluate",
    "evict",
    "fold",
    "join",
    "load",
    "method_of_algorithm",
    "result",
    "slide",
]

# Slots at the end of `header` in a stream: the number of the next row, the rows of the window, the first row
# that was not popped, observations beyond one for each state, and the observations that a result needs.
NEXT, SPAN, FIRST, FOLDED, LEAST = range(-5, 0)
MORE = 5


class TwoStacks(NamedTuple):
    """Amortised O(1) combinations a step: the higher throughput."""

    create = staticmethod(two_stacks.create)
    push = staticmethod(two_stacks.push)
    push_state = staticmethod(two_stacks.push_state)
    pop = staticmethod(two_stacks.pop)
    query = staticmethod(two_stacks.query)
    arrange = staticmethod(two_stacks.arrange)
    hold = staticmethod(two_stacks.hold)
    enter = staticmethod(two_stacks.enter)
    leave = staticmethod(two_stacks.leave)
    is_due = staticmethod(two_stacks.is_due)
    rows_until_due = staticmethod(two_stacks.rows_until_due)
    check = staticmethod(two_stacks.check)


class Daba(NamedTuple):
    """O(1) combinations in every step: the lower latency."""

    create = staticmethod(daba.create)
    push = staticmethod(daba.push)
    push_state = staticmethod(daba.push_state)
    pop = staticmethod(daba.pop)
    query = staticmethod(daba.query)
    arrange = staticmethod(daba.arrange)
    hold = staticmethod(daba.hold)
    enter = staticmethod(daba.enter)
    leave = staticmethod(daba.leave)
    is_due = staticmethod(daba.is_due)
    rows_until_due = staticmethod(daba.rows_until_due)
    check = staticmethod(daba.check)


def method_of_algorithm(name, parameters):
    """The function that calls the method `name` of its first argument, an algorithm, from kernels too."""
    every = f"algorithm, {parameters}"
    function = define(every, [f"return algorithm.{name}({parameters})"])

    def of_class(algorithm):
        return method_call(algorithm.instance_class, name, every, parameters.split(", "))

    overloaded(function)(define(every, ["return of_class(algorithm)"], of_class=of_class))
    return function


_push = method_of_algorithm("push", "operator, header, cells, element")
_pop = method_of_algorithm("pop", "operator, header, cells, number")
_query = method_of_algorithm("query", "operator, header, cells")
_hold = method_of_algorithm("hold", "header, cells, state")
_arrange = method_of_algorithm("arrange", "operator, header, cells, values")


@kernel
def evict(algorithm, operator, header, cells, stamps, limit, closed):
    """Drop the states stamped before `limit`, and those at `limit` unless the window is `closed` there."""
    front, end, mask = header[FRONT], header[END], header[MASK]
    counter = front
    while counter < end:
        stamp = fetch(stamps, counter, mask)
        if stamp > limit or (closed and stamp == limit):
            break
        counter += 1
    if counter > front:
        _pop(algorithm, operator, header, cells, counter - front)


@kernel
def advance(algorithm, operator, header, cells, stamps, limit, closed, stamp, element, observed):
    """Move the window's start to `limit`, and take in the element if it is `observed`.

    Returns False if the ring is too small for it, or far too large: rehouse it and call again.
    """
    evict(algorithm, operator, header, cells, stamps, limit, closed)
    if observed:
        end = header[END]
        if is_idle(header, cells) or not _push(algorithm, operator, header, cells, element):
            return False
        store(stamps, end, header[MASK], stamp)
        carry(header, cells, stamps)
    return True


@kernel
def evaluate(algorithm, operator, header, cells, out, failed):
    """Write the result of the window, which must not be empty, into slot 0 of `out`."""
    emit(operator, _query(algorithm, operator, header, cells), out, 0, failed)


@kernel(forceinline=True)
def result(algorithm, operator, header, cells):
    """The result of the window, which must not be empty, of an operator that cannot overflow."""
    return lower(operator, _query(algorithm, operator, header, cells))


@kernel
def slide(
    algorithm, operator, header, cells, stamps, limit, closed, stamp, element, observed, wanted, out, failed
):
    """Advance, then write the window's value into slot 0 of `out` if it has `wanted` observations (>= 1).

    Returns the number of observations in the window, or -1 if the ring is of the wrong size.
    """
    if not advance(algorithm, operator, header, cells, stamps, limit, closed, stamp, element, observed):
        return -1
    size = header[END] - header[FRONT]
    if size >= wanted:
        emit(operator, _query(algorithm, operator, header, cells), out, 0, failed)
    return size


@kernel
def load(algorithm, operator, header, cells, stamps, times, values):
    """Hold these elements, for which the ring has cells, in the place of whatever the window holds."""
    front, mask = header[END], header[MASK]
    header[FRONT], header[END] = front, front + len(times)
    for i in range(len(times)):
        store(stamps, front + i, mask, times[i])
    _arrange(algorithm, operator, header, cells, values)


@kernel
def fold(algorithm, operator, header, cells):
    """Combine the window, which must not be empty, into one state that stays its only one."""
    _hold(algorithm, header, cells, _query(algorithm, operator, header, cells))


@kernel
def join(algorithm, operator, header, cells, other_header, other_cells):
    """Fold the window, and then another one, neither of them empty, into one state."""
    state = combine(
        operator,
        cells,
        _query(algorithm, operator, header, cells),
        _query(algorithm, operator, other_header, other_cells),
    )
    _hold(algorithm, header, cells, state)


@kernel
def aggregate_windows(algorithm, operator, header, cells, values, start, end, out, failed):
    """Write the value of each window that is not empty into its row of `out`.

    The queue must be empty, and its ring must hold the widest window.
    """
    oldest = following = 0
    for i in range(len(start)):
        gone = min(start[i], following) - oldest
        if gone > 0:
            _pop(algorithm, operator, header, cells, gone)
            oldest += gone
        if following < start[i]:
            oldest = following = start[i]
        while following < end[i]:
            _push(algorithm, operator, header, cells, take(values, following))
            following += 1
        if oldest < following:
            emit(operator, _query(algorithm, operator, header, cells), out, i, failed)
