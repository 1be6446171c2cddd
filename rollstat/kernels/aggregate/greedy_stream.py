"""The greedy algorithm online: elements as they arrive, windows as they are asked for.

::

    rows          6   7   8   9  10          arrived so far; 8 is missing
    ordinals      5   6   7   7   8          observations before each row
    cells         s   s       s   s          a window of rows [7, 10) is one of observations [6, 8)
                  ^ FIRST              ^ ROWS

State: that of greedy.py; `arrival` int64 (ARRIVAL slots): FIRST, the row where the last window began, ROWS,
the number of rows that arrived, OBSERVED, the number of those not missing, and LAST, the end of the last
window; `ordinals`, a ring like the cells; `older` and `newer`, room for a plan as long as the ring.
Invariant: rows from FIRST on have their ordinal, and those that are observations their state or a
combination in the cells. Rows before FIRST when they arrive can be in no later window and are only counted.
Cost: O(1) an element; the fewest combinations a window; :func:`grow` alone allocates.

Source: section 6 of the paper named in greedy.py.
"""

import numpy as np

import rollstat.kernels.aggregate.greedy as greedy
from rollstat._jit import kernel
from rollstat.kernels.aggregate.greedy import LEFT, MASK, slide
from rollstat.kernels.aggregate.operator_calls import emit, lift_element, load, save

__all__ = ["append", "create", "evaluate", "grow", "move"]

FIRST, ROWS, OBSERVED, LAST = range(4)
ARRIVAL = 4


def create(dtype, capacity):
    """State before the first element: (header, arrival, ordinals, top, below, cells, older, newer)."""
    header, top, below = greedy.create(capacity)
    size = int(header[MASK]) + 1
    ring = [np.zeros(size, np.int64) for _ in range(3)]
    return header, np.zeros(ARRIVAL, np.int64), ring[0], top, below, np.zeros(size, dtype), *ring[1:]


def grow(header, arrival, ordinals, top, below, cells, older, newer):
    """Return the state with rings of twice the size; `header` is updated."""
    size = 2 * len(cells)
    cells = greedy.replace(cells, int(header[LEFT]), np.zeros((size, *cells.shape[1:]), cells.dtype))
    ordinals = greedy.replace(ordinals, int(arrival[FIRST]), np.zeros(size, np.int64))
    rings = greedy.grow(header, top, below)
    return header, arrival, ordinals, *rings, cells, np.zeros(size, np.int64), np.zeros(size, np.int64)


@kernel
def append(operator, header, arrival, ordinals, cells, element, observed):
    """Take in a row; False, and nothing is done, if the ring is full."""
    row, mask = arrival[ROWS], header[MASK]
    if row >= arrival[FIRST]:
        if row - arrival[FIRST] > mask:
            return False
        ordinals[row & mask] = arrival[OBSERVED]
        if observed:
            save(cells, arrival[OBSERVED] & mask, lift_element(operator, cells, element))
            arrival[OBSERVED] += 1
    arrival[ROWS] = row + 1
    return True


@kernel
def _position(header, arrival, ordinals, row):
    """Number of observations before a row."""
    return ordinals[row & header[MASK]] if row < arrival[ROWS] else arrival[OBSERVED]


@kernel
def move(operator, header, arrival, ordinals, top, below, cells, older, newer, left, right):
    """Move to the window of rows [left, right), which has arrived or is empty; return its observations.

    Neither bound may be smaller than the last window's.
    """
    low = _position(header, arrival, ordinals, left)
    high = _position(header, arrival, ordinals, right) if left < right else low
    slide(operator, header, top, below, cells, older, newer, low, high)
    arrival[FIRST], arrival[LAST] = left, right
    return high - low


@kernel
def evaluate(operator, header, cells, out, failed):
    """Write the result of the window, which must have observations, into slot 0 of `out`."""
    emit(operator, load(cells, header[LEFT] & header[MASK]), out, 0, failed)
