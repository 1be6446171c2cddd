r"""Base intervals: any associative operator over a window that takes states in any place.

::

    height 2     [    a..d     ]                        pairs of pairs
    height 1     [ a b ][ c d ][ e f ]                  pairs
    height 0     [ a ][ b ][ c ][ d ][ e ][ f ][ g ]    states of counters 0 to 6

    window b..g  b (c d) (e f) g                        the largest intervals that fit, from left to right

An interval of height h holds 2**h counters, and the first counter is a multiple of 2**h. An interval is
combined once its last state arrives. A state that enters before d others moves them by one place, and their
intervals are combined again.

State: `header` int64, the queue's header; `cells` a ring of states, then the states of heights 1, 2, ..., in
all twice as many cells as the ring has. Invariant: each interval of counters within FRONT to END - 1 is
combined.
Cost: less than one combination a push amortised, O(log m) in a single one; at most 2 log2(m) a query, for m
states; at most d + log2(m) for a state that enters before d others, and d moves of states.

Source: Arasu and Widom, "Resource sharing in continuous sliding-window aggregates", VLDB 2004,
http://ilpubs.stanford.edu:8090/637/, here over a ring, with states that may enter late.
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, lift_element, load, save
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, create_queue, fetch, store, well_formed
from rollstat.kernels.rings import ring_size


def create(dtype, capacity):
    """Return (header, cells) of an empty window for up to `capacity` states of `dtype`."""
    return create_queue(dtype, capacity, 3, ring_size(capacity))


@kernel(forceinline=True)
def _cell(mask, height, counter):
    """Return the cell of the interval of a height that begins with a counter."""
    ring = mask + 1
    return 2 * ring - ((2 * ring) >> height) + ((counter & mask) >> height)


@kernel
def build(operator, header, cells, first):
    """Combine all intervals that hold a counter from `first` on."""
    front, end, mask = header[FRONT], header[END], header[MASK]
    height = 1
    while end >> height > first >> height and 1 << height <= mask + 1:
        half, step = 1 << (height - 1), 1 << height
        begin = max(first >> height, (front + step - 1) >> height) << height
        for i in range(begin, end - step + 1, step):
            older, newer = (
                load(cells, _cell(mask, height - 1, i)),
                load(cells, _cell(mask, height - 1, i + half)),
            )
            save(cells, _cell(mask, height, i), combine(operator, cells, older, newer))
        height += 1


@kernel
def push_state(operator, header, cells, state):
    """Append one state; return False, and change nothing, if the ring is full."""
    end, mask = header[END], header[MASK]
    if end - header[FRONT] > mask:
        return False
    store(cells, end, mask, state)
    header[END] = end + 1
    build(operator, header, cells, end)
    return True


@kernel
def insert(operator, header, cells, stamps, stamp, element):
    """Add an element in its place, after elements of equal stamps; return False if the ring is full."""
    place, mask = header[END], header[MASK]
    if place - header[FRONT] > mask:
        return False
    while place > header[FRONT] and fetch(stamps, place - 1, mask) > stamp:
        store(stamps, place, mask, fetch(stamps, place - 1, mask))
        store(cells, place, mask, fetch(cells, place - 1, mask))
        place -= 1
    store(stamps, place, mask, stamp)
    store(cells, place, mask, lift_element(operator, cells, element))
    header[END] += 1
    build(operator, header, cells, place)
    return True


@kernel(forceinline=True)
def _height(i, end, mask):
    """Return the height of the largest interval that begins with counter `i` and ends before `end`."""
    height = 0
    while i & ((2 << height) - 1) == 0 and i + (2 << height) <= end and 2 << height <= mask + 1:
        height += 1
    return height


@kernel
def query(operator, header, cells):
    """The state of the whole window; the window must not be empty."""
    i, end, mask = header[FRONT], header[END], header[MASK]
    height = _height(i, end, mask)
    state = load(cells, _cell(mask, height, i))
    i += 1 << height
    while i < end:
        height = _height(i, end, mask)
        state = combine(operator, cells, state, load(cells, _cell(mask, height, i)))
        i += 1 << height
    return state


@kernel(forceinline=True)
def pop(operator, header, cells, number):
    """Drop the `number` oldest states; return False, and change nothing, if there are fewer."""
    if header[FRONT] + number > header[END]:
        return False
    header[FRONT] += number
    return True


def check(header, cells):
    """Whether the counters fit the ring."""
    return well_formed(header, cells, int(header[MASK]) + 1)
