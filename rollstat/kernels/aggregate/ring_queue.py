"""A queue of operator states in a ring of cells.

::

    cells  [ 8 | 9 | . | . | 4 | 5 | 6 | 7 ] [ extra cells ]
                     ^ END   ^ FRONT          the state of counter i is in cell i & mask

State: `header` int64 and `cells`. The first slots of the header are FRONT (counter of the oldest state), END
(counter after the newest), MASK (number of cells in the ring - 1; the number is a power of two). Later slots,
and the extra cells after the ring, belong to the algorithm.
Invariant: the queue holds the states of the counters FRONT to END - 1. The first operand of every combination
is the older one.
Cost: O(1) a step. A full ring takes no state; see :mod:`rollstat.kernels.rings` for how rings grow.
Source: circular buffers.
"""

import numpy as np

from rollstat.compile.lowering import jitable
from rollstat.kernels.aggregate.operator_calls import load, save
from rollstat.kernels.rings import resized_ring, ring_size

FRONT, END, MASK = range(3)


def create_queue(dtype, capacity, slots, extra):
    """Return (header, cells) of an empty queue for at least `capacity` states.

    The header has `slots` slots, and there are `extra` cells after the ring.
    """
    size = ring_size(capacity)
    header = np.zeros(slots, np.int64)
    header[MASK] = size - 1
    return header, np.zeros(size + extra, dtype)


def resize(header, cells, size):
    """Return the cells of a ring of another size, and their extra cells; update `header`."""
    ring = int(header[MASK]) + 1
    resized = np.concatenate([resized_ring(cells[:ring], int(header[FRONT]), size), cells[ring:]])
    header[MASK] = size - 1
    return resized


@jitable
def fetch(cells, i, mask):
    """Return the state of counter `i`."""
    return load(cells, i & mask)


@jitable
def store(cells, i, mask, state):
    """Write `state` as the state of counter `i`."""
    save(cells, i & mask, state)


def well_formed(header, cells, extra):
    """Whether the counters fit the ring."""
    ring = header[MASK] + 1
    return bool(
        ring & header[MASK] == 0
        and len(cells) == ring + extra
        and 0 <= header[FRONT] <= header[END] <= header[FRONT] + ring
    )
