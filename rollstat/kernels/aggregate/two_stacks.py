"""Two stacks: any associative operator over a window that takes and drops any number of states.

::

            front stack: suffixes        back stack: single states
          [ a..d | b..d | c..d | d ]   [ e | f | g ]       e..g  (the back cell)
            ^ front                  ^ middle        ^ end

    window = (a..d) combined with (e..g); dropping moves `front`; when it passes `middle`, what is left of
    the back stack is turned into suffixes and becomes the front stack.

State: `header` int64 (HEADER slots: those of the queue, and MIDDLE), `cells` a ring of states and the back
cell; the queue may be of free size. Invariant: front <= middle <= end; the cell of counter i < middle holds
the states i to middle - 1 combined, the cell of i >= middle holds state i alone, and the back cell holds
middle to end - 1 where there are any. Cost: at most one combination a push and one a query; each state is
turned into a suffix at most once, so there are at most 2 * pushes + queries in total; worst case of a pop:
the window.
No inverse and no commutativity is needed.

Source: the general window of Julia's AssociativeWindowAggregation.jl; Tangwongsan, Hirzel, Schneider,
"In-order sliding-window aggregation in worst-case constant time", VLDB Journal 30 (2021), section 3,
doi:10.1007/s00778-021-00668-3 (two-stacks lite).
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.aggregate.bulk_load import lift_total
from rollstat.kernels.aggregate.operator_calls import combine, lift_element
from rollstat.kernels.aggregate.ring_queue import (
    END,
    FRONT,
    MASK,
    fetch,
    fetch_extra,
    make_cells,
    store,
    store_extra,
    well_formed,
)

__all__ = [
    "arrange",
    "check",
    "create",
    "enter",
    "hold",
    "is_due",
    "leave",
    "pop",
    "push",
    "push_state",
    "query",
    "rows_until_due",
]

MIDDLE = 3
HEADER = 4
EXTRA = 1


def create(dtype, capacity):
    """State of an empty window for up to `capacity` states of `dtype`: (header, cells)."""
    cells = make_cells(dtype, capacity, EXTRA)
    header = np.zeros(HEADER, np.int64)
    header[MASK] = len(cells) - EXTRA - 1
    return header, cells


@kernel(forceinline=True)
def push_state(operator, header, cells, state):
    """Append one state; False, and nothing is done, if the ring is full."""
    mask, end, middle = header[MASK], header[END], header[MIDDLE]
    if end - header[FRONT] > mask:
        return False
    store(cells, end, mask, state)
    if end > middle:
        state = combine(operator, cells, fetch_extra(cells, mask + 1), state)
    store_extra(cells, mask + 1, state)
    header[END] = end + 1
    return True


@kernel(forceinline=True)
def push(operator, header, cells, element):
    """Append the state of one element; False, and nothing is done, if the ring is full."""
    return push_state(operator, header, cells, lift_element(operator, cells, element))


@kernel(forceinline=True)
def pop(operator, header, cells, number):
    """Drop the `number` oldest states; False, and nothing is done, if there are fewer."""
    mask, end, front = header[MASK], header[END], header[FRONT] + number
    if front > end:
        return False
    header[FRONT] = front
    if front > header[MIDDLE]:
        for i in range(end - 2, front - 1, -1):
            suffix = combine(operator, cells, fetch(cells, i, mask), fetch(cells, i + 1, mask))
            store(cells, i, mask, suffix)
        header[MIDDLE] = end
    return True


@kernel(forceinline=True)
def query(operator, header, cells):
    """The state of the whole window, which must not be empty."""
    front, middle, mask = header[FRONT], header[MIDDLE], header[MASK]
    if front == middle:
        return fetch_extra(cells, mask + 1)
    if middle == header[END]:
        return fetch(cells, front, mask)
    return combine(operator, cells, fetch(cells, front, mask), fetch_extra(cells, mask + 1))


@kernel
def hold(header, cells, state):
    """Hold one state alone, in the place of whatever the window holds."""
    front = header[END]
    header[FRONT] = header[MIDDLE] = front
    header[END] = front + 1
    store(cells, front, header[MASK], state)
    store_extra(cells, header[MASK] + 1, state)


@kernel
def arrange(operator, header, cells, values):
    """Make elements the window, for which there are the counters FRONT to END - 1: the back stack."""
    front, end, mask = header[FRONT], header[END], header[MASK]
    header[MIDDLE] = front
    if end > front:
        store_extra(cells, mask + 1, lift_total(operator, cells, values, 0, front, end, mask))


@kernel(forceinline=True)
def enter(operator, header, cells):
    """Front, back, end and the states from back on, for `aggregate.window_extend`."""
    return header[FRONT], header[MIDDLE], header[END], fetch_extra(cells, header[MASK] + 1)


@kernel(forceinline=True)
def leave(header, cells, front, back, end, tail):
    """Take the window back."""
    header[FRONT], header[MIDDLE], header[END] = front, back, end
    store_extra(cells, header[MASK] + 1, tail)


@kernel(forceinline=True)
def is_due(front, back, end):
    """Whether the back stack is turned into suffixes, after an element has come or gone."""
    return front > back


@kernel(forceinline=True)
def rows_until_due(front, back, end):
    """For how many rows, each of which takes in an element and drops one, there is a front stack."""
    return back - front - 1


def check(header, cells):
    """Whether the counters are in order."""
    return well_formed(header, cells, EXTRA) and bool(header[FRONT] <= header[MIDDLE] <= header[END])
