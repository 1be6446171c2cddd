"""DABA Lite: any associative operator over a window, with O(1) combinations in every single step.

::

       older buffer                                            newer buffer      extra cells
    [ suffixes to S | suffixes to R | single | suffixes to S ] [ single ... ]    [ R..S | S..END ]
    ^ FRONT         ^ LEFT          ^ RIGHT  ^ ACCUM           ^ SPLIT (S)     ^ END

These are the two buffers of :mod:`rollstat.kernels.aggregate.two_stacks`, but the flip is spread over the
steps: each push and each pop turns one cell of [LEFT, RIGHT) and one of [RIGHT, ACCUM) into a suffix that
reaches SPLIT. So every suffix is complete before the window needs it, and no step pays for a whole flip.

State: `header` int64 (HEADER slots: the queue's slots, and LEFT, RIGHT, ACCUM, SPLIT); `cells`, a ring of
states and two extra cells, the middle and the total. Invariant: FRONT <= LEFT <= RIGHT <= ACCUM <= SPLIT <=
END; the cell of counter i in [FRONT, LEFT) or [ACCUM, SPLIT) holds the states i to SPLIT - 1 combined, in
[LEFT, RIGHT) the states i to RIGHT - 1 combined, in [RIGHT, ACCUM) and [SPLIT, END) state i alone; where LEFT
< RIGHT the middle holds RIGHT to SPLIT - 1 combined; the total holds SPLIT to END - 1 combined where there
are any; RIGHT - LEFT = ACCUM - RIGHT, and (SPLIT - LEFT) + 1 = (SPLIT - FRONT) - (END - SPLIT) unless the
window is empty.
Cost, in combinations: at most 3 a push, 2 a pop, 1 a query, in the worst case. An operator need not have an
inverse, nor be commutative.

Source: Tangwongsan, Hirzel, Schneider, "In-order sliding-window aggregation in worst-case constant time",
VLDB Journal 30 (2021), section 6, doi:10.1007/s00778-021-00668-3.
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
from rollstat.kernels.aggregate.two_stacks import append_to_newer, combine_buffers

LEFT, RIGHT, ACCUM, SPLIT = range(3, 7)
HEADER = 7
EXTRA = 2
# Offsets of the extra cells from the mask.
_MIDDLE, _TOTAL = 1, 2


def create(dtype, capacity):
    """Return (header, cells) of an empty window for up to `capacity` states of `dtype`."""
    return create_queue(dtype, capacity, HEADER, EXTRA)


@kernel
def _flip_step(operator, header, cells):
    """Do one step of the flip, after a state was pushed or dropped."""
    mask, end = header[MASK], header[END]
    if header[FRONT] == header[SPLIT]:
        # At most one state is left, and it is its own suffix.
        header[LEFT] = header[RIGHT] = header[ACCUM] = header[SPLIT] = end
        return
    if header[LEFT] == header[SPLIT]:
        # All suffixes are complete and the buffers are equally long: the next flip starts.
        header[LEFT] = header[FRONT]
        header[ACCUM] = header[SPLIT] = end
        save(cells, mask + _MIDDLE, load(cells, mask + _TOTAL))
    left, accum = header[LEFT], header[ACCUM]
    if left == header[RIGHT]:
        # Nothing is left to combine; the cells behind are suffixes to SPLIT already.
        header[LEFT] += 1
        header[RIGHT] += 1
        header[ACCUM] += 1
        return
    suffix = combine(operator, cells, fetch(cells, left, mask), load(cells, mask + _MIDDLE))
    store(cells, left, mask, suffix)
    header[LEFT] = left + 1
    if accum < header[SPLIT]:
        suffix = combine(operator, cells, fetch(cells, accum - 1, mask), fetch(cells, accum, mask))
        store(cells, accum - 1, mask, suffix)
    header[ACCUM] = accum - 1


@kernel(forceinline=True)
def push_state(operator, header, cells, state):
    """Append one state; return False, and change nothing, if the ring is full."""
    if not append_to_newer(operator, header, cells, state, header[SPLIT], header[MASK] + _TOTAL):
        return False
    _flip_step(operator, header, cells)
    return True


@kernel(forceinline=True)
def query(operator, header, cells):
    """The state of the whole window; the window must not be empty."""
    return combine_buffers(operator, header, cells, header[SPLIT], header[MASK] + _TOTAL)


@kernel(forceinline=True)
def pop(operator, header, cells, number):
    """Drop the `number` oldest states one by one; return False, and change nothing, if there are fewer."""
    if header[FRONT] + number > header[END]:
        return False
    for _ in range(number):
        header[FRONT] += 1
        _flip_step(operator, header, cells)
    return True


@kernel
def set_single(header, cells, state):
    """Replace the contents of the window by one state."""
    front = header[END]
    header[FRONT] = front
    header[END] = header[LEFT] = header[RIGHT] = header[ACCUM] = header[SPLIT] = front + 1
    store(cells, front, header[MASK], state)


@kernel
def _finish_flip(operator, header, cells):
    """Do all remaining steps of the flip at once."""
    mask, left, right, accum = header[MASK], header[LEFT], header[RIGHT], header[ACCUM]
    middle = mask + _MIDDLE
    for i in range(left, right):
        store(cells, i, mask, combine(operator, cells, fetch(cells, i, mask), load(cells, middle)))
    if accum == header[SPLIT]:
        accum -= 1
    for i in range(accum - 1, right - 1, -1):
        older, newer = fetch(cells, i, mask), fetch(cells, i + 1, mask)
        store(cells, i, mask, combine(operator, cells, older, newer))
    header[RIGHT] = header[ACCUM] = left


@kernel(forceinline=True)
def load_buffers(operator, header, cells):
    """Complete all suffixes; return FRONT, SPLIT, END and the total of the newer buffer."""
    _finish_flip(operator, header, cells)
    return header[FRONT], header[SPLIT], header[END], load(cells, header[MASK] + _TOTAL)


@kernel(forceinline=True)
def store_buffers(header, cells, front, split, end, total):
    """Write back what :func:`load_buffers` returned, after changes; all suffixes must be complete."""
    header[FRONT], header[SPLIT], header[END] = front, split, end
    # How many steps of the next flip would be done by now depends on the sizes of the buffers alone.
    left = front + (end - split) + 1 if front < end else end
    header[LEFT] = header[RIGHT] = header[ACCUM] = left
    save(cells, header[MASK] + _TOTAL, total)


@kernel(forceinline=True)
def flip_is_due(front, split, end):
    """Whether a flip is due, after an element was pushed or dropped."""
    return split - front <= end - split


@kernel(forceinline=True)
def rows_until_flip(front, split, end):
    """Return for how many rows no flip is due if each pushes and drops at most one element."""
    return (2 * split - front - end - 1) >> 1


def check(header, cells):
    """Whether the counters are in order and the buffers balanced."""
    front, end = header[FRONT], header[END]
    left, right, accum, split = header[LEFT : SPLIT + 1]
    ordered = front <= left <= right <= accum <= split <= end
    balanced = right - left == accum - right
    balanced &= front == end or (split - left) + 1 == (split - front) - (end - split)
    return well_formed(header, cells, EXTRA) and bool(ordered and balanced)
