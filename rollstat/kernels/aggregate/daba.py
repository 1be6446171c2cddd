"""DABA Lite: any associative operator over a window, with O(1) combinations in every single step.

::

       front list                                          back list
    [ suffixes to b | suffixes to r | single | suffixes to b ] [ single ... ]   mid cell   back cell
    ^ front         ^ left          ^ right  ^ accum          ^ back          ^ end

    The flip of two stacks, taken apart: each step turns one cell of [left, right) and one of [right, accum)
    into a suffix that reaches `back`, so that the work is done before it is needed.

State: `header` int64 (HEADER slots: those of the queue, and LEFT, RIGHT, ACCUM, BACK), `cells` a ring of
states, the mid cell and the back cell; the queue may be of free size. Invariant: front <= left <= right <=
accum <= back <= end; the cell of counter i in [front, left) or [accum, back) holds the states i to back - 1
combined, in [left, right) i to right - 1, in [right, accum) and [back, end) state i alone; where left < right
the mid cell holds right to back - 1; the back cell holds back to end - 1 where there are any; right - left =
accum - right, and (back - left) + 1 = (back - front) - (end - back) unless the window is empty.
Cost, in combinations: at most 3 a push, 2 a pop, 1 a query, in the worst case; no inverse, no commutativity.

Source: Tangwongsan, Hirzel, Schneider, "In-order sliding-window aggregation in worst-case constant time",
VLDB Journal 30 (2021), section 6, doi:10.1007/s00778-021-00668-3.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.aggregate.bulk_load import lift_suffixes, lift_total
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

LEFT, RIGHT, ACCUM, BACK = range(3, 7)
HEADER = 7
EXTRA = 2


def create(dtype, capacity):
    """State of an empty window for up to `capacity` states of `dtype`: (header, cells)."""
    cells = make_cells(dtype, capacity, EXTRA)
    header = np.zeros(HEADER, np.int64)
    header[MASK] = len(cells) - EXTRA - 1
    return header, cells


@kernel
def _restore(operator, header, cells):
    """Do one step of the flip, after an element has come or gone."""
    mask, end = header[MASK], header[END]
    if header[FRONT] == header[BACK]:
        # At most one state is left; alone, it is its own suffix.
        header[LEFT] = header[RIGHT] = header[ACCUM] = header[BACK] = end
        return
    if header[LEFT] == header[BACK]:
        header[LEFT] = header[FRONT]
        header[ACCUM] = header[BACK] = end
        store_extra(cells, mask + 1, fetch_extra(cells, mask + 2))
    left, accum = header[LEFT], header[ACCUM]
    if left == header[RIGHT]:
        header[LEFT] += 1
        header[RIGHT] += 1
        header[ACCUM] += 1
        return
    suffix = combine(operator, cells, fetch(cells, left, mask), fetch_extra(cells, mask + 1))
    store(cells, left, mask, suffix)
    header[LEFT] = left + 1
    if accum < header[BACK]:
        suffix = combine(operator, cells, fetch(cells, accum - 1, mask), fetch(cells, accum, mask))
        store(cells, accum - 1, mask, suffix)
    header[ACCUM] = accum - 1


@kernel(forceinline=True)
def push_state(operator, header, cells, state):
    """Append one state; False, and nothing is done, if the ring is full."""
    mask, end = header[MASK], header[END]
    if end - header[FRONT] > mask:
        return False
    store(cells, end, mask, state)
    if end > header[BACK]:
        state = combine(operator, cells, fetch_extra(cells, mask + 2), state)
    store_extra(cells, mask + 2, state)
    header[END] = end + 1
    _restore(operator, header, cells)
    return True


@kernel(forceinline=True)
def push(operator, header, cells, element):
    """Append the state of one element; False, and nothing is done, if the ring is full."""
    return push_state(operator, header, cells, lift_element(operator, cells, element))


@kernel(forceinline=True)
def pop(operator, header, cells, number):
    """Drop the `number` oldest states, one by one; False, and nothing is done, if there are fewer."""
    if header[FRONT] + number > header[END]:
        return False
    for _ in range(number):
        header[FRONT] += 1
        _restore(operator, header, cells)
    return True


@kernel(forceinline=True)
def query(operator, header, cells):
    """The state of the whole window, which must not be empty."""
    front, mask = header[FRONT], header[MASK]
    if header[BACK] == header[END]:
        return fetch(cells, front, mask)
    return combine(operator, cells, fetch(cells, front, mask), fetch_extra(cells, mask + 2))


@kernel
def hold(header, cells, state):
    """Hold one state alone, in the place of whatever the window holds."""
    front = header[END]
    header[FRONT] = front
    header[END] = header[LEFT] = header[RIGHT] = header[ACCUM] = header[BACK] = front + 1
    store(cells, front, header[MASK], state)


@kernel
def arrange(operator, header, cells, values):
    """Make elements the window, for which there are the counters FRONT to END - 1: one and a quarter each."""
    front, end, mask = header[FRONT], header[END], header[MASK]
    back = end - max(end - front - 1, 0) // 2
    header[BACK] = back
    # Of an even number, one more is in the front list, whose last state is its own suffix.
    header[LEFT] = header[RIGHT] = header[ACCUM] = max(back - (end - front + 1) % 2, front)
    lift_suffixes(operator, cells, values, front, back, mask)
    if end > back:
        store_extra(cells, mask + 2, lift_total(operator, cells, values, back - front, back, end, mask))


@kernel
def _finish(operator, header, cells):
    """Do what is left of the flip, ahead of the steps that would."""
    mask, left, right, accum = header[MASK], header[LEFT], header[RIGHT], header[ACCUM]
    for i in range(left, right):
        store(cells, i, mask, combine(operator, cells, fetch(cells, i, mask), fetch_extra(cells, mask + 1)))
    if accum == header[BACK]:
        accum -= 1
    for i in range(accum - 1, right - 1, -1):
        older, newer = fetch(cells, i, mask), fetch(cells, i + 1, mask)
        store(cells, i, mask, combine(operator, cells, older, newer))
    header[RIGHT] = header[ACCUM] = left


@kernel(forceinline=True)
def enter(operator, header, cells):
    """Front, back, end and the states from back on, for `aggregate.window_extend`."""
    _finish(operator, header, cells)
    return header[FRONT], header[BACK], header[END], fetch_extra(cells, header[MASK] + 2)


@kernel(forceinline=True)
def leave(header, cells, front, back, end, tail):
    """Take the window back: how far the steps to the next flip have come depends on the lists alone."""
    header[FRONT], header[BACK], header[END] = front, back, end
    left = front + (end - back) + 1 if front < end else end
    header[LEFT] = header[RIGHT] = header[ACCUM] = left
    store_extra(cells, header[MASK] + 2, tail)


@kernel(forceinline=True)
def is_due(front, back, end):
    """Whether the lists are flipped, after an element has come or gone."""
    return back - front <= end - back


@kernel(forceinline=True)
def rows_until_due(front, back, end):
    """For how many rows, each of which takes in an element and drops one, they are not."""
    return (2 * back - front - end - 1) >> 1


def check(header, cells):
    """Whether the counters are in order and the lists balanced."""
    front, end = header[FRONT], header[END]
    left, right, accum, back = header[LEFT : BACK + 1]
    ordered = front <= left <= right <= accum <= back <= end
    balanced = right - left == accum - right
    balanced &= front == end or (back - left) + 1 == (back - front) - (end - back)
    return well_formed(header, cells, EXTRA) and bool(ordered and balanced)
