"""Any order statistic of a window whose rows come and go one by one, between two indexed heaps.

::

    values   [ rank + 1 smallest | all the others ]      two heaps, `lower` and `upper` on their tops
                          lower^   ^upper
    ring     [ row row row . . . . row row ]             the place of each row in its heap, so that it is
                       ^newest     ^oldest               deleted when it leaves, wherever it is

When a row leaves as another one enters, the new key takes its place and moves from there, to the other heap
only past both tops. Ties go by row where positions are wanted; where they are not, equal values stay where
they are, which changes no result. A missing value takes a row of the ring and is in no heap.

State: ``header``, int64, the fields below and those of the heaps; ``keys``, shape (2 x capacity + 2,): the
heaps, the result where there is no answer, and one entry of scratch; ``links``, int32 or int64, shape
(3 x capacity,): as in :mod:`rollstat.kernels.selection.indexed_heaps`, with _MISSING as the place of a
missing value. ``header[TARGET]`` observations belong in the low heap.

Invariant: that of the heaps, over exactly the observations of the window.

Cost: O(log m) worst case for a row that enters, leaves or is replaced, and for each rank by which the target
moves; a new value near the one that it replaces takes O(1). Memory O(m), allocated once.

Source: Haerdle and Steiger, Algorithm AS 296: Optimal median smoothing, J. R. Stat. Soc. C 44 (1995),
doi:10.2307/2986349, extended to any rank, windows of varying size and missing values.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection.indexed_heaps import (
    CAPACITY,
    HIGH,
    LOW,
    NEWEST,
    TARGET,
    TIES,
    balance,
    delete,
    insert,
    rebuild,
    replace,
)

__all__ = [
    "CAPACITY",
    "COUNT",
    "HIGH",
    "LOW",
    "POSITION",
    "PUSHED",
    "ROWS",
    "allocate",
    "create",
    "extend",
    "load",
    "pop",
    "push",
    "select",
    "target",
    "upper",
]

# Fields of the header, after those of the heaps. POSITION is the row of the latest answer, counted from the
# first row pushed, or -1.
PUSHED, COUNT, POSITION, ROWS, OLDEST, WIDTH, RULE, RANK, MINIMUM, FIELDS = range(HIGH + 1, HIGH + 11)

# How the rank of the answer follows from the number of observations.
SMALLEST, LARGEST, QUANTILE = range(3)

_MISSING = -1


def allocate(capacity, dtype, ties):
    """Return the state of an empty window of at most `capacity` rows; `ties` orders equal values by row."""
    header = np.zeros(FIELDS, np.int64)
    header[POSITION] = -1
    header[CAPACITY] = capacity
    header[TIES] = ties
    links = np.zeros(3 * capacity, np.int32 if 2 * capacity < 2**31 else np.int64)
    return header, np.zeros(2 * capacity + 2, dtype), links


def create(capacity, dtype, *, k=0, q=0.5, width=0, min_periods=0, ties=True, no_answer=None):
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
        Fewest observations for which there is an answer.
    ties : bool
        Whether the row of the answer is the one in the order (value, row).
    no_answer : scalar, optional
        The result where there is no answer; by default NaN for floating values and zero for others.
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
    if no_answer is None:
        no_answer = np.nan if keys.dtype.kind == "f" else 0
    keys[2 * capacity] = no_answer
    return state


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
    places = 2 * header[CAPACITY]
    place = np.int64(links[places + _leave(header)])
    slot = _enter(header)
    if place == _MISSING:
        if missing:
            links[places + slot] = _MISSING
        else:
            header[COUNT] += 1
            insert(header, keys, links, value, slot)
    elif missing:
        header[COUNT] -= 1
        delete(header, keys, links, place)
        links[places + slot] = _MISSING
    else:
        low_size, high_size, ties = header[LOW], header[HIGH], header[TIES] != 0
        capacity = header[CAPACITY]
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
def extend(header, keys, links, new, missing, out, position):
    """Push all of `new`; write the answers to `out` and their rows to `position`, unless these are empty.

    `missing` marks the missing values, or is empty where there are none.
    """
    for i in range(len(new)):
        answer = push(header, keys, links, new[i], len(missing) > 0 and missing[i])
        if len(out) > 0:
            out[i] = answer
        if len(position) > 0:
            position[i] = header[POSITION]


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
        Bounds, neither of which ever decreases.
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
