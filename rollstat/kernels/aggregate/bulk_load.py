"""Elements of an array as suffixes in the cells of a queue, or as states beside their total, in two chains.

::

    elements    a     b    c  |  d     e    f          two parts, each from its end
    suffixes    a..c  b..c c  |  d..f  e..f f          each step of a chain waits for the last
                then those of the first part are combined with the suffix d..f

State: the cells of a queue, see :mod:`rollstat.kernels.aggregate.ring_queue`, which are written from counter
`first` to `last` - 1. Invariant: every combination has the older states on its left. Cost: one and a half
combinations an element for suffixes, and one for a total, in little more than half the time of one chain.
Source: Blelloch, Prefix sums and their applications, CMU-CS-90-190 (1990), section 1.2.
"""

from rollstat._jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, lift
from rollstat.kernels.aggregate.ring_queue import fetch, store

__all__ = ["lift_suffixes", "lift_total"]


@kernel
def lift_suffixes(operator, cells, values, first, last, mask):
    """Write the suffixes of as many elements, from the first on."""
    size = last - first
    if size == 0:
        return
    part = size >> 1
    newer = lift(operator, cells, values, size - 1)
    store(cells, last - 1, mask, newer)
    if part == 0:
        return
    if part + part < size:
        newer = combine(operator, cells, lift(operator, cells, values, size - 2), newer)
        store(cells, last - 2, mask, newer)
    older = lift(operator, cells, values, part - 1)
    store(cells, first + part - 1, mask, older)
    for i in range(part - 2, -1, -1):
        older = combine(operator, cells, lift(operator, cells, values, i), older)
        store(cells, first + i, mask, older)
        newer = combine(operator, cells, lift(operator, cells, values, part + i), newer)
        store(cells, first + part + i, mask, newer)
    for i in range(first, first + part):
        store(cells, i, mask, combine(operator, cells, fetch(cells, i, mask), newer))


@kernel
def lift_total(operator, cells, values, place, first, last, mask):
    """Write the states of as many elements, from `place` on, of which there is one; return them combined."""
    size = last - first
    part = size >> 1
    older = lift(operator, cells, values, place)
    store(cells, first, mask, older)
    if part == 0:
        return older
    newer = lift(operator, cells, values, place + part)
    store(cells, first + part, mask, newer)
    for i in range(1, part):
        state = lift(operator, cells, values, place + i)
        store(cells, first + i, mask, state)
        older = combine(operator, cells, older, state)
        state = lift(operator, cells, values, place + part + i)
        store(cells, first + part + i, mask, state)
        newer = combine(operator, cells, newer, state)
    older = combine(operator, cells, older, newer)
    if part + part < size:
        state = lift(operator, cells, values, place + size - 1)
        store(cells, last - 1, mask, state)
        older = combine(operator, cells, older, state)
    return older
