"""Rows in a ring and their observations in a sorted array, for statistics of all observations in order.

::

    rows      . 7 3 9 | 4 8 .          ring, oldest first; NaN and marked rows are no observations
    ordered   3 4 7 8 9                insertion and removal shift the entries above by one slot

State: ``header``, int64 (OLDEST, ROWS, COUNT, PUSHED, the number of DISTINCT values); ``rows``, of the
dtype of the values, (capacity,); ``absent``, uint8, (capacity,); ``ordered``, (capacity,).

Invariant: the first COUNT entries of `ordered` are the observations among the rows in ascending order;
DISTINCT is the number of different ones.

Cost: O(log m) comparisons and O(m) moved entries a push. The entries are adjacent, so a push into a window of
ten thousand rows takes about a microsecond. Source: insertion sort with binary search.
"""

import numpy as np

from rollstat.compile.jit import kernel

OLDEST, ROWS, COUNT, PUSHED, DISTINCT = range(5)


def create(capacity, dtype):
    """Return the state of an empty window of at most `capacity` rows."""
    rows = np.zeros(capacity, dtype)
    return np.zeros(5, np.int64), rows, np.zeros(capacity, np.uint8), np.zeros(capacity, dtype)


@kernel
def below(ordered, count, value, tied):
    """Return how many of the first `count` entries are less than `value`, or not greater if `tied`."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < value or (tied and ordered[middle] == value):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _remove(header, ordered, value):
    count = header[COUNT]
    place = below(ordered, count, value, False)
    header[DISTINCT] -= not (place + 1 < count and ordered[place + 1] == value)
    for i in range(place, count - 1):
        ordered[i] = ordered[i + 1]
    header[COUNT] = count - 1


@kernel
def _insert(header, ordered, value):
    count = header[COUNT]
    place = below(ordered, count, value, True)
    header[DISTINCT] += not (place > 0 and ordered[place - 1] == value)
    for i in range(count, place, -1):
        ordered[i] = ordered[i - 1]
    ordered[place] = value
    header[COUNT] = count + 1


@kernel
def pop(header, rows, absent, ordered, number):
    """Remove the oldest rows."""
    for _ in range(number):
        slot = header[OLDEST]
        header[OLDEST] = slot + 1 if slot + 1 < len(rows) else 0
        header[ROWS] -= 1
        if not absent[slot]:
            _remove(header, ordered, rows[slot])


@kernel
def push(header, rows, absent, ordered, value, missing):
    """Add a row; a full window drops its oldest."""
    if header[ROWS] == len(rows):
        pop(header, rows, absent, ordered, 1)
    slot = header[OLDEST] + header[ROWS]
    if slot >= len(rows):
        slot -= len(rows)
    rows[slot] = value
    absent[slot] = missing
    header[ROWS] += 1
    header[PUSHED] += 1
    if not missing:
        _insert(header, ordered, rows[slot])


@kernel
def rank(ordered, count, value, distinct):
    """Return how many observations are smaller than `value`, equal to it, and in total; or distinct ones."""
    first, last = below(ordered, count, value, False), below(ordered, count, value, True)
    if not distinct:
        return first, last - first, count
    smaller = total = 0
    for i in range(count):
        fresh = i == 0 or ordered[i - 1] != ordered[i]
        smaller += fresh and i < first
        total += fresh
    return smaller, 1, total


@kernel
def check(header, rows, absent, ordered):
    """Return whether the observations match the rows, in order, and the distinct ones are counted."""
    count, seen, distinct = header[COUNT], 0, 0
    for i in range(header[ROWS]):
        slot = (header[OLDEST] + i) % len(rows)
        if not absent[slot]:
            seen += 1
            place = below(ordered, count, rows[slot], False)
            if place == count or ordered[place] != rows[slot]:
                return False
    for i in range(count):
        distinct += i == 0 or ordered[i - 1] != ordered[i]
        if i > 0 and ordered[i - 1] > ordered[i]:
            return False
    return seen == count and distinct == header[DISTINCT]
