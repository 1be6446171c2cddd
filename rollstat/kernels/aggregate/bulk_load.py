"""Suffixes, or single states and their total, of many elements at once, in two independent chains.

::

    elements    a     b    c  |  d     e    f          two halves, each combined from its end
    suffixes    a..c  b..c c  |  d..f  e..f f          a step of one chain need not wait for the other
                then the suffixes of the older half are combined with d..f

State: the cells of a queue, see :mod:`rollstat.kernels.aggregate.ring_queue`, of which those of the counters
`first` to `last` - 1 are written. Invariant: the first operand of every combination is the older one. Cost:
one and a half combinations an element for suffixes, and one for a total, in little more than half the time of
a single chain.
Source: Blelloch, Prefix sums and their applications, CMU-CS-90-190 (1990), section 1.2.
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, lift
from rollstat.kernels.aggregate.ring_queue import fetch, store

__all__ = ["lift_suffixes", "lift_total"]


@kernel
def lift_suffixes(operator, cells, values, first, last, mask):
    """Write the suffixes of the first `last` - `first` elements of `values`."""
    size = last - first
    if size == 0:
        return
    half = size >> 1
    newer = lift(operator, cells, values, size - 1)
    store(cells, last - 1, mask, newer)
    if half == 0:
        return
    if half + half < size:
        newer = combine(operator, cells, lift(operator, cells, values, size - 2), newer)
        store(cells, last - 2, mask, newer)
    older = lift(operator, cells, values, half - 1)
    store(cells, first + half - 1, mask, older)
    for i in range(half - 2, -1, -1):
        older = combine(operator, cells, lift(operator, cells, values, i), older)
        store(cells, first + i, mask, older)
        newer = combine(operator, cells, lift(operator, cells, values, half + i), newer)
        store(cells, first + half + i, mask, newer)
    for i in range(first, first + half):
        store(cells, i, mask, combine(operator, cells, fetch(cells, i, mask), newer))


@kernel
def lift_total(operator, cells, values, offset, first, last, mask):
    """Write the states of `last` - `first` elements (at least 1) from `offset` on; return them combined."""
    size = last - first
    half = size >> 1
    older = lift(operator, cells, values, offset)
    store(cells, first, mask, older)
    if half == 0:
        return older
    newer = lift(operator, cells, values, offset + half)
    store(cells, first + half, mask, newer)
    for i in range(1, half):
        state = lift(operator, cells, values, offset + i)
        store(cells, first + i, mask, state)
        older = combine(operator, cells, older, state)
        state = lift(operator, cells, values, offset + half + i)
        store(cells, first + half + i, mask, state)
        newer = combine(operator, cells, newer, state)
    older = combine(operator, cells, older, newer)
    if half + half < size:
        state = lift(operator, cells, values, offset + size - 1)
        store(cells, last - 1, mask, state)
        older = combine(operator, cells, older, state)
    return older
