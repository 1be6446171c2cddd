r"""Any order statistic of a window whose rows come and go one by one, between two indexed heaps.

::

    values   [ rank + 1 smallest | all the others ]      two heaps, `lower` and `upper` on their tops

          low, the largest on top          high, the smallest on top

                   lower                     * * * * * * * *
                   *   *                        * * * * *
                 * * * * *                        *   *
              * * * * * * * *                     upper

    ring     [ row row row . . . . row row ]             the place of each row in its heap, so that it is
                       ^newest     ^oldest               deleted when it leaves, wherever it is

When a row leaves as another one enters, the new key takes its place and moves from there, to the other heap
only past both tops. Ties go by row where positions are wanted; where they are not, equal values stay where
they are; this changes no result. A missing value takes a row of the ring and is in no heap.

State: ``header``, int64, with the fields below; ``keys``, shape (2 x capacity + 2,): the values of the low
heap from 0 and of the high heap from ``capacity``, four children per node, the result where there is no
answer, and one entry of scratch; ``links``, int32 or int64, shape (3 x capacity,): for each key the slot of
its row in the ring, then from ``2 x capacity`` for each slot the place of its key, or _MISSING. Slots after
``newest`` hold older rows than those up to it, and on each side rows increase with the slot.
``header[TARGET]`` observations belong in the low heap.

Invariant: both are heaps of exactly the observations of the window; no key of the low one comes after one of
the high one; after `balance` the low one has min(target, count) keys; each key and its slot link to each
other.

Cost: O(log m) worst case for a row that enters, leaves or is replaced, and for each rank by which the target
moves; a new value near the one that it replaces takes O(1). A step writes one place on each level that it
visits, after at most five comparisons; tests count the writes by `links`. `rebuild` is O(m). Memory O(m),
allocated once.

Source: Williams, Algorithm 232: Heapsort, Commun. ACM 7 (1964), doi:10.1145/512274.512284; Haerdle and
Steiger, Algorithm AS 296: Optimal median smoothing, J. R. Stat. Soc. C 44 (1995), doi:10.2307/2986349,
extended to any rank, windows of varying size and missing values.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import prefetch

# Fields of the header. POSITION is the row of the latest answer, counted from the first row pushed, or -1.
CAPACITY, TARGET, TIES, NEWEST, LOW, HIGH, PUSHED, COUNT, POSITION, ROWS = range(10)
OLDEST, WIDTH, RULE, RANK, MINIMUM, FIELDS = range(10, 16)

# How the rank of the answer follows from the number of observations.
SMALLEST, LARGEST, QUANTILE = range(3)

_MISSING = -1

# Number of places on the first six levels of a heap. These levels stay in the cache.
_CACHED = 1365


def allocate(capacity, dtype, ties):
    """Return the state of an empty window of at most `capacity` rows; `ties` orders equal values by row."""
    header = np.zeros(FIELDS, np.int64)
    header[POSITION] = -1
    header[CAPACITY] = capacity
    header[TIES] = ties
    links = np.zeros(3 * capacity, np.int32 if 2 * capacity < 2**31 else np.int64)
    return header, np.zeros(2 * capacity + 2, dtype), links


def create(capacity, dtype, *, k=0, q=0.5, width=0, min_periods=0, ties=True):
    """Return the state of an empty window that answers the same order statistic at every push.

    Parameters
    ----------
    capacity : int
        The largest number of rows, at least 1.
    dtype : dtype
        Of the values.
    k : int
        The k-th smallest or -k-th largest; zero for a quantile.
    q : float
        The quantile. The order statistic at or below it is answered; :func:`upper` returns the next one.
    width : int
        Rows of a window of fixed size, from which a push removes the oldest; zero where only `pop` does.
    min_periods : int
        Fewest observations for which there is an answer; otherwise it is NaN for floating values and zero
        for others.
    ties : bool
        Whether the row of the answer is the one in the order (value, row).
    """
    state = header, keys, _ = allocate(capacity, dtype, ties)
    header[WIDTH] = width or capacity
    header[MINIMUM] = max(1, abs(k), min_periods)
    if k:
        header[RULE] = SMALLEST if k > 0 else LARGEST
        header[RANK] = abs(k)
    else:
        header[RULE] = QUANTILE
        header[RANK] = np.float64(q).view(np.int64)
    keys[2 * capacity] = np.nan if keys.dtype.kind == "f" else 0
    return state


@kernel
def is_older(slot, other, newest):
    """Whether the row in `slot` is older than the row in `other`."""
    if (slot > newest) == (other > newest):
        return slot < other
    return slot > newest


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
    """Replace the key in a place by a new one; the new key may belong in the other heap."""
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
def _clear(header, pushed):
    """Remove all rows in one step; the next one is row `pushed`."""
    header[LOW] = header[HIGH] = header[COUNT] = header[ROWS] = header[OLDEST] = 0
    header[PUSHED] = pushed


@kernel
def _enter(header):
    """Add a newest row to the ring and return its slot."""
    slot = header[OLDEST] + header[ROWS]
    if slot >= header[CAPACITY]:
        slot -= header[CAPACITY]
    header[NEWEST] = slot
    header[ROWS] += 1
    header[PUSHED] += 1
    return slot


@kernel
def _leave(header):
    """Remove the oldest row from the ring and return its slot."""
    slot = header[OLDEST]
    header[OLDEST] = slot + 1 if slot + 1 < header[CAPACITY] else 0
    header[ROWS] -= 1
    return slot


@kernel
def _push_row(header, keys, links, value, missing):
    """Add a row to a window that is not full."""
    slot = _enter(header)
    if missing:
        links[2 * header[CAPACITY] + slot] = _MISSING
    else:
        header[COUNT] += 1
        insert(header, keys, links, value, slot)


@kernel
def _pop_row(header, keys, links):
    """Remove the oldest row."""
    place = np.int64(links[2 * header[CAPACITY] + _leave(header)])
    if place != _MISSING:
        header[COUNT] -= 1
        delete(header, keys, links, place)


@kernel
def _slide_row(header, keys, links, value, missing):
    """Remove the oldest row and add a new one."""
    capacity = header[CAPACITY]
    place = np.int64(links[2 * capacity + header[OLDEST]])
    if missing or place == _MISSING:
        _pop_row(header, keys, links)
        _push_row(header, keys, links, value, missing)
    else:
        _leave(header)
        slot = _enter(header)
        low_size, high_size, ties = header[LOW], header[HIGH], header[TIES] != 0
        replace(keys, links, capacity, slot, ties, low_size, high_size, place, value, slot)


@kernel
def _row_of(header, slot):
    """Return the row in a slot, counted from the first row pushed."""
    behind = header[NEWEST] - slot
    return header[PUSHED] - 1 - (behind if behind >= 0 else behind + header[CAPACITY])


@kernel
def target(header, count):
    """Return how many of `count` observations belong in the low heap, by the rule; possibly more than all."""
    rule = header[RULE]
    if rule == SMALLEST:
        wanted = header[RANK]
    elif rule == LARGEST:
        wanted = count - header[RANK] + 1
    else:
        wanted = np.int64(header[RANK : RANK + 1].view(np.float64)[0] * (count - 1)) + 1
    return max(wanted, 0)


@kernel
def _update_target(header, keys, links):
    """Set the target by the rule and the number of observations, and balance the heaps."""
    header[TARGET] = target(header, header[COUNT])
    balance(header, keys, links)


@kernel
def push(header, keys, links, value, missing):
    """Add a row, remove the oldest one of a full window, and return the order statistic."""
    # Writing and reading the entry of scratch casts the value to the dtype of the keys.
    keys[2 * header[CAPACITY] + 1] = value
    key = keys[2 * header[CAPACITY] + 1]
    count = header[COUNT]
    if header[ROWS] == header[WIDTH]:
        _slide_row(header, keys, links, key, missing)
    else:
        _push_row(header, keys, links, key, missing)
    if header[COUNT] != count:
        _update_target(header, keys, links)
    return value_at(header, keys, links)


@kernel
def pop(header, keys, links, number):
    """Remove the oldest rows, at most all, and return the order statistic."""
    if number >= header[ROWS]:
        _clear(header, header[PUSHED])
    else:
        for _ in range(number):
            _pop_row(header, keys, links)
        _update_target(header, keys, links)
    return value_at(header, keys, links)


@kernel
def value_at(header, keys, links):
    """Return the order statistic of the window."""
    if header[COUNT] < header[MINIMUM]:
        header[POSITION] = -1
        return keys[2 * header[CAPACITY]]
    header[POSITION] = _row_of(header, np.int64(links[0]))
    return keys[0]


@kernel
def upper(header, keys):
    """Return the next order statistic of the window where there is one, else the same one."""
    if header[COUNT] < header[MINIMUM]:
        return keys[2 * header[CAPACITY]]
    return keys[header[CAPACITY]] if header[HIGH] > 0 else keys[0]


@kernel
def load(header, keys, links, values, first, rows, order, target):
    """Make `rows` rows of `values`, from `first` on, the window.

    `order` holds the indices, counted from `first`, of the observations among them, the `target` smallest
    ones before all others.
    """
    capacity = header[CAPACITY]
    header[OLDEST], header[NEWEST] = 0, max(rows - 1, 0)
    header[ROWS], header[PUSHED] = rows, first + rows
    header[COUNT], header[TARGET] = len(order), target
    links[2 * capacity : 2 * capacity + rows] = _MISSING
    rebuild(header, keys, links, values, first, order)


@kernel
def select(header, keys, links, values, missing, start, end, rank, lower, upper, position):
    """Write one order statistic of every window ``values[start[i]:end[i]]``; the first one is loaded.

    Parameters
    ----------
    header, keys, links : ndarray
        State with the capacity for the longest window.
    values : ndarray
        The data.
    missing : ndarray of bool
        Marks the missing values, or is empty where there are none.
    start, end : ndarray of int64, shape (rows,)
        Bounds that never decrease.
    rank : ndarray of int64, shape (rows,)
        Ranks among the observations, from 0; negative where nothing is wanted.
    lower, upper : ndarray, shape (rows,)
        Receive the value of that rank and of the next one, if there is one, unless `upper` is empty.
    position : ndarray of int64, shape (rows,)
        Receives the indices into `values` of `lower`, unless empty.
    """
    all_observed = len(missing) == 0
    for i in range(len(start)):
        if start[i] >= header[PUSHED]:
            _clear(header, start[i])
        leaving = start[i] - header[PUSHED] + header[ROWS]
        for right in range(header[PUSHED], end[i]):
            unseen = not all_observed and missing[right]
            if leaving > 0:
                leaving -= 1
                _slide_row(header, keys, links, values[right], unseen)
            else:
                _push_row(header, keys, links, values[right], unseen)
        for _ in range(leaving):
            _pop_row(header, keys, links)
        if rank[i] >= 0:
            header[TARGET] = rank[i] + 1
            balance(header, keys, links)
            lower[i] = keys[0]
            if len(upper) > 0 and header[HIGH] > 0:
                upper[i] = keys[header[CAPACITY]]
            if len(position) > 0:
                position[i] = _row_of(header, np.int64(links[0]))
