"""A queue of operator states in a ring of cells, of fixed capacity or resized incrementally.

::

    cells  [ 8 | 9 | . | . | 4 | 5 | 6 | 7 ] [ extra cells ]
                     ^ END   ^ FRONT          the state of counter i is in cell i & mask

    during a resize, of the states 4 to 9:

    former ring  [ 8 | 9 | . | . | x | x | 6 | 7 ]
    new ring     [ . | . | . | . | 4 | 5 | . | . | . | . | 10 | 11 | . | . | . | . ]
                              MOVED = 6 ^       STOP = 10 ^

State: `header` int64, whose first slots are FRONT (counter of the oldest state), END (counter after the
newest), MASK (number of cells in the ring - 1; the number is a power of two); later slots, and the extra
cells after the ring, belong to the algorithm. Counters never decrease. The `cells` of a queue of fixed
capacity are an array. Those of a resizable queue are a tuple: the ring in use, the former ring, and `moving`
(MOVED, STOP, FORMER): the states MOVED to STOP - 1 are still in the former ring, which has FORMER + 1 cells.
Kernels are compiled for either type, so a fixed ring does not pay for resizing.

Invariant: the queue holds the states of the counters FRONT to END - 1.
Cost: O(1) a step in the worst case. :func:`resize` moves no state; each push afterwards moves two of them
(:func:`move_some`), so all have moved before the new ring is full. A queue gets a larger ring when it is full
and a smaller one when it uses an eighth of its ring, so its memory follows the number of states.

Source of incremental resizing: Overmars, The Design of Dynamic Data Structures (1983), chapter 5,
doi:10.1007/BFb0014927.
"""

import numpy as np
from numba import types

from rollstat.compile.lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import load, save

__all__ = [
    "END",
    "FRONT",
    "MASK",
    "MOVED",
    "STOP",
    "create_queue",
    "fetch",
    "fetch_extra",
    "finish_resize",
    "is_oversized",
    "move_some",
    "resizable",
    "resize",
    "ring_size",
    "store",
    "store_extra",
    "well_formed",
]

FRONT, END, MASK = range(3)
MOVED, STOP, FORMER = range(3)
# Fewest cells of a ring that changes its size, and the cells that one push moves to the next ring.
SMALLEST = 64
_MOVED_BY_A_PUSH = 2


def ring_size(capacity):
    """The smallest power of two that is at least `capacity` and 1."""
    return 1 << max(int(capacity) - 1, 0).bit_length()


def create_queue(dtype, capacity, slots, extra):
    """Return (header, cells) of an empty queue for at least `capacity` states.

    The header has `slots` slots, and there are `extra` cells after the ring.
    """
    size = ring_size(capacity)
    header = np.zeros(slots, np.int64)
    header[MASK] = size - 1
    return header, np.zeros(size + extra, dtype)


def resizable(arrays):
    """Return the tuples of a resizable queue for rings that are plain arrays."""
    moving = np.zeros(3, np.int64)
    return [(array, array[:0].copy(), moving) for array in arrays]


def resize(header, rings):
    """Return larger rings for a full queue, or smaller ones for an oversized one; update `header`.

    `rings` are tuples that share one `moving`; an earlier resize must be complete.
    """
    used, ring = int(header[END] - header[FRONT]), int(header[MASK]) + 1
    size = 2 * ring if used == ring else max(SMALLEST, ring_size(4 * used))
    moving = np.array([header[FRONT], header[END], header[MASK]])
    header[MASK] = size - 1
    resized = []
    for cells, _, _ in rings:
        new = np.zeros((size + len(cells) - ring, *cells.shape[1:]), cells.dtype)
        new[size:] = cells[ring:]
        resized.append((new, cells, moving))
    return resized


def finish_resize(header, rings):
    """Move all states that are still in the former rings; return the rings as plain arrays."""
    for cells, former, moving in rings:
        i, stop = max(int(moving[MOVED]), int(header[FRONT])), int(moving[STOP])
        while i < stop:
            # As many as are contiguous in both rings.
            target, source = i & int(header[MASK]), i & int(moving[FORMER])
            number = min(stop - i, int(header[MASK]) + 1 - target, int(moving[FORMER]) + 1 - source)
            cells[target : target + number] = former[source : source + number]
            i += number
    for _, _, moving in rings:
        moving[MOVED] = moving[STOP]
    return [cells for cells, _, _ in rings]


def fetch_extra(cells, place):
    """The state in a cell after the ring."""
    return load(cells[0] if isinstance(cells, tuple) else cells, place)


@overloaded(fetch_extra)
def _fetch_extra(cells, place):
    if isinstance(cells, types.BaseTuple):
        return lambda cells, place: load(cells[0], place)
    return lambda cells, place: load(cells, place)


def store_extra(cells, place, state):
    """Write `state` into a cell after the ring."""
    save(cells[0] if isinstance(cells, tuple) else cells, place, state)


@overloaded(store_extra)
def _store_extra(cells, place, state):
    if isinstance(cells, types.BaseTuple):
        return lambda cells, place, state: save(cells[0], place, state)
    return lambda cells, place, state: save(cells, place, state)


def fetch(cells, i, mask):
    """The state of counter `i`."""
    return _fetch_moving(cells, i, mask) if isinstance(cells, tuple) else load(cells, i & mask)


def _fetch_moving(cells, i, mask):
    if cells[2][MOVED] <= i and i < cells[2][STOP]:
        return load(cells[1], i & cells[2][FORMER])
    return load(cells[0], i & mask)


@overloaded(fetch)
def _fetch(cells, i, mask):
    if isinstance(cells, types.BaseTuple):
        return _fetch_moving
    return lambda cells, i, mask: load(cells, i & mask)


def store(cells, i, mask, state):
    """Write `state` as that of counter `i`."""
    if isinstance(cells, tuple):
        _store_moving(cells, i, mask, state)
    else:
        save(cells, i & mask, state)


def _store_moving(cells, i, mask, state):
    if cells[2][MOVED] <= i and i < cells[2][STOP]:
        save(cells[1], i & cells[2][FORMER], state)
    else:
        save(cells[0], i & mask, state)


@overloaded(store)
def _store(cells, i, mask, state):
    if isinstance(cells, types.BaseTuple):
        return _store_moving
    return lambda cells, i, mask, state: save(cells, i & mask, state)


def move_some(header, cells, stamps):
    """Move the next states of a resize, and their stamps, from the former ring into the ring in use."""
    if isinstance(cells, tuple):
        _move_some(header, cells, stamps)


def _move_some(header, cells, stamps):
    moving = cells[2]
    first = max(moving[MOVED], header[FRONT])
    last = min(first + _MOVED_BY_A_PUSH, moving[STOP])
    for i in range(first, last):
        save(cells[0], i & header[MASK], load(cells[1], i & moving[FORMER]))
        stamps[0][i & header[MASK]] = stamps[1][i & moving[FORMER]]
    moving[MOVED] = last


@overloaded(move_some)
def _move_some_overload(header, cells, stamps):
    return _move_some if isinstance(cells, types.BaseTuple) else (lambda header, cells, stamps: None)


def is_oversized(header, cells):
    """Whether a resizable queue uses at most an eighth of its ring."""
    return isinstance(cells, tuple) and _is_oversized(header, cells)


def _is_oversized(header, cells):
    few = 8 * (header[END] - header[FRONT]) <= header[MASK]
    return few and header[MASK] >= SMALLEST and cells[2][MOVED] == cells[2][STOP]


@overloaded(is_oversized)
def _is_oversized_overload(header, cells):
    return _is_oversized if isinstance(cells, types.BaseTuple) else (lambda header, cells: False)


def well_formed(header, cells, extra):
    """Whether the counters fit the ring."""
    ring = header[MASK] + 1
    return bool(
        ring & header[MASK] == 0
        and len(cells[0] if isinstance(cells, tuple) else cells) == ring + extra
        and 0 <= header[FRONT] <= header[END] <= header[FRONT] + ring
    )
