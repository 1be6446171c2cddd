"""Suffixes and totals of stretches of states, in four chains at once.

::

    states      a   b   c | d   e   f | g   h   i | j   k   l          four parts, each from its end
    suffixes  abc  bc   c  def ef   f  ghi hi   i  jkl kl   l          each step of a chain waits for the last
              then those of the first three parts are combined with the suffixes that follow them

State: the cells of a queue, see :mod:`rollstat.kernels.state_queue`, whose counters `first` to `last` - 1
each hold one state alone. Invariant: every combination has the older states on its left. Cost: fewer than two
combinations a state for suffixes, in half the time in which each would wait for the one before, and one a
state for a total. Source: Blelloch, Prefix sums and their applications, CMU-CS-90-190 (1990), section 1.2.
"""

from rollstat._jit import kernel
from rollstat.kernels.state_queue import fetch, store
from rollstat.kernels.states import combine

__all__ = ["make_suffixes", "total"]


@kernel(references=False)
def make_suffixes(operator, cells, first, last, mask):
    """Turn each state into the combination of those from there on."""
    size = (last - first) >> 2
    # What does not fill four parts comes last, and goes first.
    ends = first + 4 * size
    for i in range(last - 2, ends - 1, -1):
        older, newer = fetch(cells, i, mask), fetch(cells, i + 1, mask)
        store(cells, i, mask, combine(operator, cells, older, newer))
    for i in range(size - 2, -1, -1):
        for part in range(4):
            at = first + part * size + i
            older, newer = fetch(cells, at, mask), fetch(cells, at + 1, mask)
            store(cells, at, mask, combine(operator, cells, older, newer))
    if size == 0:
        return
    for part in range(3, -1, -1):
        after = first + (part + 1) * size
        if after < last:
            for i in range(after - size, after):
                older, newer = fetch(cells, i, mask), fetch(cells, after, mask)
                store(cells, i, mask, combine(operator, cells, older, newer))


@kernel(references=False)
def total(operator, cells, first, last, mask):
    """The combination of all states, of which there is one at least."""
    size = (last - first) >> 2
    ends = first + 4 * size
    if size == 0:
        state = fetch(cells, first, mask)
        ends = first + 1
    else:
        one, two = fetch(cells, first, mask), fetch(cells, first + size, mask)
        three, four = fetch(cells, first + 2 * size, mask), fetch(cells, first + 3 * size, mask)
        for i in range(first + 1, first + size):
            one = combine(operator, cells, one, fetch(cells, i, mask))
            two = combine(operator, cells, two, fetch(cells, i + size, mask))
            three = combine(operator, cells, three, fetch(cells, i + 2 * size, mask))
            four = combine(operator, cells, four, fetch(cells, i + 3 * size, mask))
        one, three = combine(operator, cells, one, two), combine(operator, cells, three, four)
        state = combine(operator, cells, one, three)
    for i in range(ends, last):
        state = combine(operator, cells, state, fetch(cells, i, mask))
    return state
