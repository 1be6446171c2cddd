"""The queue of states under the window algorithms: a ring of cells and a header of counters.

::

    cells  [ 8 | 9 | . | . | 4 | 5 | 6 | 7 ] [ extra cells ]
                           front            counters run on for ever: state 8 is in cell 8 & mask
                 end

State: `header` int64, whose first slots are FRONT (counter of the oldest state), END (counter past the
newest), MASK (number of cells in the ring - 1; the number is a power of two); further slots and the cells
after the ring belong to the algorithm. Invariant: the states are those of the counters FRONT to END - 1.
Cost: O(1) a step; :func:`grow` copies all of it and is the only step that allocates.
"""

import numpy as np

__all__ = ["END", "FRONT", "MASK", "grow", "make_cells", "ring_size", "well_formed"]

FRONT, END, MASK = range(3)


def ring_size(capacity):
    """The smallest power of two that is at least `capacity` and 1."""
    return 1 << max(int(capacity) - 1, 0).bit_length()


def make_cells(dtype, capacity, extra):
    """Cells for at least `capacity` states in a ring, and `extra` ones after it."""
    return np.zeros(ring_size(capacity) + extra, dtype)


def grow(header, arrays, capacity):
    """Return copies of `arrays` with rings of at least `capacity` slots; `header` is updated.

    Each array is a ring of one slot a counter, with whatever it has after the ring kept.
    """
    mask = int(header[MASK])
    size = ring_size(capacity)
    counters = np.arange(header[FRONT], header[END])
    grown = []
    for array in arrays:
        copy = np.zeros((size + len(array) - mask - 1, *array.shape[1:]), array.dtype)
        copy[counters & (size - 1)] = array[counters & mask]
        copy[size:] = array[mask + 1 :]
        grown.append(copy)
    header[MASK] = size - 1
    return grown


def well_formed(header, cells, extra):
    """Whether the counters fit the ring."""
    ring = header[MASK] + 1
    return bool(
        ring & header[MASK] == 0
        and len(cells) == ring + extra
        and 0 <= header[FRONT] <= header[END] <= header[FRONT] + ring
    )
