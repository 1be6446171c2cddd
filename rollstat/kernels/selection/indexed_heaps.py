r"""Two heaps beside each other, from which any key can be taken: the lower part of a window and the upper.

::

      low, the largest on top          high, the smallest on top

               lower                     * * * * * * * *
               *   *                        * * * * *
             * * * * *                        *   *
          * * * * * * * *                     upper

State: ``header``, int64, of which the fields below are used here; ``keys``: the values of the low heap from 0
and of the high heap from ``capacity``, four children a node; ``links``, shape (3 x capacity,): the slot in a
ring of rows of each key, then from ``2 x capacity`` the place of its key for each slot. The rows of the ring
up to the slot ``newest`` are newer than those behind it. Equal keys go by row if ``ties`` is set; if not,
they stay where they are.

Invariant: both are heaps; no key of the low one comes after one of the high one; after `balance` the low one
has min(target, count) keys; each key and its slot name each other.

Cost: insert, delete and replace take O(log m), worst case, and `balance` that for each key moved; a newcomer
near to what it replaces takes O(1). A step writes one place of each level that it goes through, after at most
five comparisons; what was written shows in `links`, by which tests count. `rebuild` is O(m).

Source: Williams, Algorithm 232: Heapsort, Commun. ACM 7 (1964), doi:10.1145/512274.512284; the pair of heaps
with a ring: Haerdle and Steiger, doi:10.2307/2986349.
"""

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat._lowering import prefetch
from rollstat.kernels.selection.ring_order import is_older

__all__ = [
    "CAPACITY",
    "HIGH",
    "LOW",
    "NEWEST",
    "TARGET",
    "TIES",
    "balance",
    "check_heaps",
    "delete",
    "insert",
    "rebuild",
    "replace",
]

CAPACITY, TARGET, TIES, NEWEST, LOW, HIGH = range(6)

# Places of a heap that are visited so often that they stay in the cache: those of its first six levels.
_NEAR = 1365


@kernel
def _above(key, slot, other, other_slot, low, newest, ties):
    """Whether one key must be nearer to the top of the low, or else of the high heap, than another."""
    if key == other:
        return ties and is_older(slot, other_slot, newest) != low
    return (key < other) != low


@kernel(inline="always")
def _put(keys, links, places, place, key, slot):
    place &= INDEX
    keys[place] = key
    links[place] = slot
    links[(places + slot) & INDEX] = place


@kernel
def _lift(keys, links, capacity, newest, ties, base, hole, key, slot):
    """Let a key rise from a hole to where it belongs."""
    low = base == 0
    while hole > base:
        parent = (base + ((hole - base - 1) >> 2)) & INDEX
        if not _above(key, slot, keys[parent], links[parent], low, newest, ties):
            break
        _put(keys, links, 2 * capacity, hole, keys[parent], links[parent])
        hole = parent
    _put(keys, links, 2 * capacity, hole, key, slot)


@kernel(inline="always")
def _nearer_top(keys, links, one, two, low, newest, ties):
    """Whichever of two places holds what must be nearer to the top."""
    key, other = keys[one], keys[two]
    if key == other:
        return one if not ties or is_older(links[one], links[two], newest) != low else two
    return one if (key < other) != low else two


@kernel(inline="always")
def _nearest_of_four(keys, first, low):
    """Which of four children must be nearest to the top, ties aside, and its key.

    No branch on keys could be foretold. That the last comparison selects twice keeps it from becoming one.
    """
    a, b, c, d = keys[first], keys[first + 1], keys[first + 2], keys[first + 3]
    if low:
        one, key = first + (b > a), (b if b > a else a)
        two, other = first + 2 + (d > c), (d if d > c else c)
        second = other > key
    else:
        one, key = first + (b < a), (b if b < a else a)
        two, other = first + 2 + (d < c), (d if d < c else c)
        second = other < key
    return (two if second else one), (other if second else key)


@kernel(inline="always")
def _repeated(keys, first, key):
    """Whether more than one of four children have a key."""
    a, b, c, d = keys[first], keys[first + 1], keys[first + 2], keys[first + 3]
    return np.int64(a == key) + (b == key) + (c == key) + (d == key) > 1


@kernel
def _first_by_row(keys, links, first, low, newest):
    """Which of four children must be nearest to the top, equal keys by row."""
    best = _nearer_top(keys, links, first, first + 1, low, newest, True)
    rival = _nearer_top(keys, links, first + 2, first + 3, low, newest, True)
    return _nearer_top(keys, links, best, rival, low, newest, True)


@kernel(inline="always")
def _prefetch_children(keys, links, base, first):
    """Fetch the children of four siblings before it is known which of them are needed.

    The wait for them and the wait for the siblings are then one: it is what makes the slowest pushes slow.
    """
    children = base + 4 * (first - base) + 1
    prefetch(keys, children)
    prefetch(keys, children + 8)
    prefetch(keys, children + 15)
    prefetch(links, children)
    prefetch(links, children + 15)


@kernel
def _sink(keys, links, capacity, newest, ties, base, size, hole, key, slot):
    """Let a key sink from a hole to where it belongs."""
    low = base == 0
    end = base + size
    first = (base + 4 * (hole - base) + 1) & INDEX
    while first + 3 < end:
        if first >= base + _NEAR:
            _prefetch_children(keys, links, base, first)
        best, nearest = _nearest_of_four(keys, first, low)
        nearer = nearest > key if low else nearest < key
        if ties:
            if _repeated(keys, first, nearest):
                best = _first_by_row(keys, links, first, low, newest)
            nearer |= nearest == key and is_older(links[best], slot, newest) != low
        if not nearer:
            break
        _put(keys, links, 2 * capacity, hole, nearest, links[best])
        hole = best
        first = (base + 4 * (hole - base) + 1) & INDEX
    # Two or three last children, or one, have none themselves.
    if first < end <= first + 3:
        best = first
        for child in range(first + 1, end):
            best = _nearer_top(keys, links, best, child, low, newest, ties)
        if _above(keys[best], links[best], key, slot, low, newest, ties):
            _put(keys, links, 2 * capacity, hole, keys[best], links[best])
            hole = best
    _put(keys, links, 2 * capacity, hole, key, slot)


@kernel(inline="always")
def _seat(keys, links, capacity, newest, ties, base, size, hole, key, slot):
    """Put a key into a hole anywhere in a heap and move it to where it belongs."""
    parent = (base + ((hole - base - 1) >> 2)) & INDEX
    if hole > base and _above(key, slot, keys[parent], links[parent], base == 0, newest, ties):
        _lift(keys, links, capacity, newest, ties, base, hole, key, slot)
    elif base + 4 * (hole - base) + 1 < base + size:
        _sink(keys, links, capacity, newest, ties, base, size, hole, key, slot)
    else:
        _put(keys, links, 2 * capacity, hole, key, slot)


@kernel(inline="always")
def replace(keys, links, capacity, newest, ties, low_size, high_size, place, key, slot):
    """Put a newcomer in the place of a key that leaves."""
    low = place < capacity
    base = 0 if low else capacity
    other = (capacity - base) & INDEX
    size = low_size if low else high_size
    other_size = low_size + high_size - size
    if other_size > 0 and _above(key, slot, keys[other], links[other], low, newest, ties):
        # The other top is past every key here: it rises from the hole unseen, and the newcomer succeeds it.
        top, top_slot = keys[other], np.int64(links[other])
        while place > base:
            parent = (base + ((place - base - 1) >> 2)) & INDEX
            _put(keys, links, 2 * capacity, place, keys[parent], links[parent])
            place = parent
        _put(keys, links, 2 * capacity, base, top, top_slot)
        _sink(keys, links, capacity, newest, ties, other, other_size, other, key, slot)
    else:
        _seat(keys, links, capacity, newest, ties, base, size, place, key, slot)


@kernel
def _append(header, keys, links, high, key, slot):
    """Put a key into the high heap, or else the low one."""
    base = header[CAPACITY] if high else 0
    size = header[LOW + high]
    header[LOW + high] = size + 1
    ties = header[TIES] != 0
    _lift(keys, links, header[CAPACITY], header[NEWEST], ties, base, base + size, key, slot)


@kernel
def insert(header, keys, links, key, slot):
    """Put a key into the heap that it belongs to; between the tops, into the one that lacks a key."""
    top = header[CAPACITY]
    newest, ties = header[NEWEST], header[TIES] != 0
    below = header[LOW] > 0 and not _above(key, slot, keys[0], links[0], True, newest, ties)
    above = header[HIGH] > 0 and not _above(key, slot, keys[top], links[top], False, newest, ties)
    _append(header, keys, links, not (below or (not above and header[LOW] < header[TARGET])), key, slot)


@kernel
def delete(header, keys, links, place):
    """Take the key in a place out of its heap."""
    capacity = header[CAPACITY]
    high = place >= capacity
    base = capacity if high else 0
    size = header[LOW + high] - 1
    header[LOW + high] = size
    key, slot = keys[base + size], np.int64(links[base + size])
    if place != base + size:
        _seat(keys, links, capacity, header[NEWEST], header[TIES] != 0, base, size, place, key, slot)


@kernel
def balance(header, keys, links):
    """Move tops between the heaps until the low one has as many keys as it should."""
    while header[LOW] < header[TARGET] and header[HIGH] > 0:
        top = header[CAPACITY]
        key, slot = keys[top], np.int64(links[top])
        delete(header, keys, links, top)
        _append(header, keys, links, False, key, slot)
    while header[LOW] > header[TARGET]:
        key, slot = keys[0], np.int64(links[0])
        delete(header, keys, links, 0)
        _append(header, keys, links, True, key, slot)


@kernel
def rebuild(header, keys, links, values, first, order):
    """Make heaps of ``values[first + order]`` in slots `order`, the target smallest of which come first."""
    capacity, newest, ties = header[CAPACITY], header[NEWEST], header[TIES] != 0
    target = header[TARGET]
    header[LOW], header[HIGH] = target, len(order) - target
    for base, begin, size in ((0, 0, target), (capacity, target, len(order) - target)):
        for i in range(size):
            slot = order[begin + i]
            _put(keys, links, 2 * capacity, base + i, values[first + slot], slot)
        for i in range((size - 2) >> 2, -1, -1):
            hole = base + i
            key, slot = keys[hole], np.int64(links[hole])
            _sink(keys, links, capacity, newest, ties, base, size, hole, key, slot)


@kernel
def check_heaps(header, keys, links):
    """Whether both heaps are in order and on their sides of each other."""
    capacity, newest, ties = header[CAPACITY], header[NEWEST], header[TIES] != 0
    low_size, high_size = header[LOW], header[HIGH]
    for base, size in ((0, low_size), (capacity, high_size)):
        for i in range(1, size):
            here, parent = base + i, base + ((i - 1) >> 2)
            if _above(keys[here], links[here], keys[parent], links[parent], base == 0, newest, ties):
                return False
    return (
        low_size == 0
        or high_size == 0
        or not _above(keys[0], links[0], keys[capacity], links[capacity], True, newest, ties)
    )
