r"""Two indexed heaps, the lower and the upper part of a window, from which any key can be deleted.

::

      low, the largest on top          high, the smallest on top

               lower                     * * * * * * * *
               *   *                        * * * * *
             * * * * *                        *   *
          * * * * * * * *                     upper

State: ``header``, int64, with the fields below; ``keys``, the values of the low heap from 0 and of the high
heap from ``capacity``, four children per node; ``links``, shape (3 x capacity,): for each key the slot of its
row in a ring, then from ``2 x capacity`` for each slot the place of its key. Rows in slots up to ``newest``
are newer than those in later slots. Equal keys are ordered by row if ``ties`` is set; otherwise their order
does not matter.

Invariant: both are heaps; no key of the low one comes after one of the high one; after `balance` the low one
has min(target, count) keys; each key and its slot link to each other.

Cost: insert, delete and replace take O(log m), worst case, and `balance` that for each key moved; a new key
near the one that it replaces takes O(1). A step writes one place on each level that it visits, after at most
five comparisons; tests count the writes by `links`. `rebuild` is O(m).

Source: Williams, Algorithm 232: Heapsort, Commun. ACM 7 (1964), doi:10.1145/512274.512284; the pair of heaps
with a ring: Haerdle and Steiger, doi:10.2307/2986349.

Order of rows in a ring: which of two slots holds the older row.

::

    [ n-2 n-1  n  n-7 n-6 n-5 n-4 n-3 ]       rows
               ^newest

State: none. Invariant: slots after the newest hold older rows than those up to it, and on each side rows
increase with the slot. Cost: O(1). Source: elementary.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import prefetch

__all__ = [
    "CAPACITY",
    "HIGH",
    "LOW",
    "NEWEST",
    "TARGET",
    "TIES",
    "balance",
    "comes_above",
    "delete",
    "insert",
    "is_older",
    "rebuild",
    "replace",
]


CAPACITY, TARGET, TIES, NEWEST, LOW, HIGH = range(6)

# Number of places on the first six levels of a heap, which stay in the cache.
_CACHED = 1365


@kernel
def comes_above(key, slot, other, other_slot, low, newest, ties):
    """Whether a key must be nearer than another to the top of the low heap, or of the high one."""
    if key == other:
        return ties and is_older(slot, other_slot, newest) != low
    return (key < other) != low


@kernel(inline="always")
def _put(keys, links, places, place, key, slot):
    """Write a key and its slot into a place, and the place into the slot."""
    place &= INDEX
    keys[place] = key
    links[place] = slot
    links[(places + slot) & INDEX] = place


@kernel
def _sift_up(keys, links, capacity, newest, ties, base, hole, key, slot):
    """Move a key up from a hole to where it belongs."""
    low = base == 0
    while hole > base:
        parent = (base + ((hole - base - 1) >> 2)) & INDEX
        if not comes_above(key, slot, keys[parent], links[parent], low, newest, ties):
            break
        _put(keys, links, 2 * capacity, hole, keys[parent], links[parent])
        hole = parent
    _put(keys, links, 2 * capacity, hole, key, slot)


@kernel(inline="always")
def _nearer_top(keys, links, one, two, low, newest, ties):
    """Return the one of two places whose key must be nearer to the top."""
    key, other = keys[one], keys[two]
    if key == other:
        return one if not ties or is_older(links[one], links[two], newest) != low else two
    return one if (key < other) != low else two


@kernel(inline="always")
def _nearest_of_four(keys, first, low):
    """Return the one of four children whose key must be nearest to the top, ties aside, and its key.

    Branches on keys would be unpredictable, so all steps are selections. Using the last comparison for two
    selections keeps the compiler from turning it into a branch.
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
    """Whether several of four children have the same `key`."""
    a, b, c, d = keys[first], keys[first + 1], keys[first + 2], keys[first + 3]
    return np.int64(a == key) + (b == key) + (c == key) + (d == key) > 1


@kernel
def _first_by_row(keys, links, first, low, newest):
    """Return the one of four children that must be nearest to the top, equal keys by row."""
    best = _nearer_top(keys, links, first, first + 1, low, newest, True)
    rival = _nearer_top(keys, links, first + 2, first + 3, low, newest, True)
    return _nearer_top(keys, links, best, rival, low, newest, True)


@kernel(inline="always")
def _prefetch_children(keys, links, base, first):
    """Prefetch the children of four siblings before it is known which of them are needed.

    The cache misses of both levels then overlap; they dominate the slowest pushes.
    """
    children = base + 4 * (first - base) + 1
    prefetch(keys, children)
    prefetch(keys, children + 8)
    prefetch(keys, children + 15)
    prefetch(links, children)
    prefetch(links, children + 15)


@kernel
def _sift_down(keys, links, capacity, newest, ties, base, size, hole, key, slot):
    """Move a key down from a hole to where it belongs."""
    low = base == 0
    end = base + size
    first = (base + 4 * (hole - base) + 1) & INDEX
    while first + 3 < end:
        if first >= base + _CACHED:
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
    # The last node with children may have fewer than four; these are leaves.
    if first < end <= first + 3:
        best = first
        for child in range(first + 1, end):
            best = _nearer_top(keys, links, best, child, low, newest, ties)
        if comes_above(keys[best], links[best], key, slot, low, newest, ties):
            _put(keys, links, 2 * capacity, hole, keys[best], links[best])
            hole = best
    _put(keys, links, 2 * capacity, hole, key, slot)


@kernel(inline="always")
def _place(keys, links, capacity, newest, ties, base, size, hole, key, slot):
    """Put a key into a hole anywhere in a heap and move it up or down to where it belongs."""
    parent = (base + ((hole - base - 1) >> 2)) & INDEX
    if hole > base and comes_above(key, slot, keys[parent], links[parent], base == 0, newest, ties):
        _sift_up(keys, links, capacity, newest, ties, base, hole, key, slot)
    elif base + 4 * (hole - base) + 1 < base + size:
        _sift_down(keys, links, capacity, newest, ties, base, size, hole, key, slot)
    else:
        _put(keys, links, 2 * capacity, hole, key, slot)


@kernel(inline="always")
def replace(keys, links, capacity, newest, ties, low_size, high_size, place, key, slot):
    """Replace the key in a place by a new one, which may belong in the other heap."""
    low = place < capacity
    base = 0 if low else capacity
    other = (capacity - base) & INDEX
    size = low_size if low else high_size
    other_size = low_size + high_size - size
    if other_size > 0 and comes_above(key, slot, keys[other], links[other], low, newest, ties):
        # The new key is past the top of the other heap, so that top moves here. It is past every key of this
        # heap and needs no comparison on its way up; the new key takes its place there.
        top, top_slot = keys[other], np.int64(links[other])
        while place > base:
            parent = (base + ((place - base - 1) >> 2)) & INDEX
            _put(keys, links, 2 * capacity, place, keys[parent], links[parent])
            place = parent
        _put(keys, links, 2 * capacity, base, top, top_slot)
        _sift_down(keys, links, capacity, newest, ties, other, other_size, other, key, slot)
    else:
        _place(keys, links, capacity, newest, ties, base, size, place, key, slot)


@kernel
def _append(header, keys, links, high, key, slot):
    """Add a key to the high heap if `high`, else to the low one."""
    base = header[CAPACITY] if high else 0
    size = header[LOW + high]
    header[LOW + high] = size + 1
    ties = header[TIES] != 0
    _sift_up(keys, links, header[CAPACITY], header[NEWEST], ties, base, base + size, key, slot)


@kernel
def insert(header, keys, links, key, slot):
    """Add a key to the heap where it belongs, or between the tops to the low one if that needs a key."""
    top = header[CAPACITY]
    newest, ties = header[NEWEST], header[TIES] != 0
    below = header[LOW] > 0 and not comes_above(key, slot, keys[0], links[0], True, newest, ties)
    above = header[HIGH] > 0 and not comes_above(key, slot, keys[top], links[top], False, newest, ties)
    _append(header, keys, links, not (below or (not above and header[LOW] < header[TARGET])), key, slot)


@kernel
def delete(header, keys, links, place):
    """Delete the key in a place from its heap."""
    capacity = header[CAPACITY]
    high = place >= capacity
    base = capacity if high else 0
    size = header[LOW + high] - 1
    header[LOW + high] = size
    key, slot = keys[base + size], np.int64(links[base + size])
    if place != base + size:
        _place(keys, links, capacity, header[NEWEST], header[TIES] != 0, base, size, place, key, slot)


@kernel
def balance(header, keys, links):
    """Move tops between the heaps until the low one has `target` keys, or all."""
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
    """Build the heaps from ``values[first + order]`` in slots `order`, whose `target` smallest come first."""
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
            _sift_down(keys, links, capacity, newest, ties, base, size, hole, key, slot)


@kernel
def is_older(slot, other, newest):
    """Whether the row in `slot` is older than the row in `other`."""
    if (slot > newest) == (other > newest):
        return slot < other
    return slot > newest
