"""Two buffers ("two stacks"): any associative operator over a window that drops any number of states.

::

         older buffer: suffixes       newer buffer: single states     total of the newer buffer
       [ a..d | b..d | c..d | d ]   [ e | f | g ]                     [ e..g ]
         ^ FRONT                      ^ SPLIT     ^ END

    window    (a..d)(e..g)            one combination
    drop a    (b..d)(e..g)            FRONT moves by one: the suffixes are there already
    push h    (b..d)(e..h)            h is stored alone, and combined with the total
    drop b, c, d, e: the older buffer is used up, so a flip turns the rest of the newer one into suffixes

       [ f..h | g..h | h ]          [ ]
         ^ FRONT             SPLIT = END

An operator need not have an inverse, nor be commutative.

State: `header` int64 (HEADER slots: the queue's slots, and SPLIT); `cells`, a ring of states and one extra
cell for the total. Invariant: FRONT <= SPLIT <= END; the cell of counter i < SPLIT holds the states i to
SPLIT - 1 combined, the cell of i >= SPLIT holds state i alone, and the extra cell holds SPLIT to END - 1
combined where there are any.
Cost: at most one combination a push and one a query; a flip turns each state into a suffix at most once, so
there are at most 2 * pushes + queries in total. A single pop can cost as many combinations as the window has
states.

Source: the general window of Julia's AssociativeWindowAggregation.jl; Tangwongsan, Hirzel, Schneider,
"In-order sliding-window aggregation in worst-case constant time", VLDB Journal 30 (2021), section 3,
doi:10.1007/s00778-021-00668-3 (two-stacks lite).
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, load, save
from rollstat.kernels.aggregate.ring_queue import (
    END,
    FRONT,
    MASK,
    create_queue,
    fetch,
    store,
    well_formed,
)

SPLIT = 3
HEADER = 4
EXTRA = 1


def create(dtype, capacity):
    """Return (header, cells) of an empty window for up to `capacity` states of `dtype`."""
    return create_queue(dtype, capacity, HEADER, EXTRA)


@kernel(forceinline=True)
def append_to_newer(operator, header, cells, state, split, total):
    """Append a state to the newer buffer, from `split` on, and update its total in cell `total`.

    Returns False, and changes nothing, if the ring is full.
    """
    mask, end = header[MASK], header[END]
    if end - header[FRONT] > mask:
        return False
    store(cells, end, mask, state)
    if end > split:
        state = combine(operator, cells, load(cells, total), state)
    save(cells, total, state)
    header[END] = end + 1
    return True


@kernel(forceinline=True)
def combine_buffers(operator, header, cells, split, total):
    """The state of the whole window; the window must not be empty."""
    front, mask = header[FRONT], header[MASK]
    if front == split:
        return load(cells, total)
    if split == header[END]:
        return fetch(cells, front, mask)
    return combine(operator, cells, fetch(cells, front, mask), load(cells, total))


@kernel(forceinline=True)
def push_state(operator, header, cells, state):
    """Append one state; return False, and change nothing, if the ring is full."""
    return append_to_newer(operator, header, cells, state, header[SPLIT], header[MASK] + 1)


@kernel(forceinline=True)
def query(operator, header, cells):
    """The state of the whole window; the window must not be empty."""
    return combine_buffers(operator, header, cells, header[SPLIT], header[MASK] + 1)


@kernel(forceinline=True)
def pop(operator, header, cells, number):
    """Drop the `number` oldest states; return False, and change nothing, if there are fewer."""
    mask, end, front = header[MASK], header[END], header[FRONT] + number
    if front > end:
        return False
    header[FRONT] = front
    if front > header[SPLIT]:
        # The flip; only states that stay in the window become suffixes.
        for i in range(end - 2, front - 1, -1):
            suffix = combine(operator, cells, fetch(cells, i, mask), fetch(cells, i + 1, mask))
            store(cells, i, mask, suffix)
        header[SPLIT] = end
    return True


@kernel
def set_single(header, cells, state):
    """Replace the contents of the window by one state."""
    front = header[END]
    header[FRONT] = header[SPLIT] = front
    header[END] = front + 1
    store(cells, front, header[MASK], state)
    save(cells, header[MASK] + 1, state)


@kernel(forceinline=True)
def load_buffers(operator, header, cells):
    """Return FRONT, SPLIT, END and the total of the newer buffer."""
    return header[FRONT], header[SPLIT], header[END], load(cells, header[MASK] + 1)


@kernel(forceinline=True)
def store_buffers(header, cells, front, split, end, total):
    """Write back what :func:`load_buffers` returned, after changes."""
    header[FRONT], header[SPLIT], header[END] = front, split, end
    save(cells, header[MASK] + 1, total)


@kernel(forceinline=True)
def flip_is_due(front, split, end):
    """Whether a flip is due, after an element was pushed or dropped."""
    return front > split


@kernel(forceinline=True)
def rows_until_flip(front, split, end):
    """Return for how many rows no flip is due if each pushes and drops at most one element."""
    return split - front - 1


def check(header, cells):
    """Whether the counters are in order."""
    return well_formed(header, cells, EXTRA) and bool(header[FRONT] <= header[SPLIT] <= header[END])
