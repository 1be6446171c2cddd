"""The queue of states under the window algorithms: a ring of cells and a header of counters.

::

    cells  [ 8 | 9 | . | . | 4 | 5 | 6 | 7 ] [ extra cells ]
                           front            counters run on for ever: state 8 is in cell 8 & mask
                 end

    moving house         former ring  [ 8 | 9 | . | . | x | x | 6 | 7 ]
                         ring         [ . | . | . | . | 4 | 5 | . | . | . | . | 10 | 11 | . | . | . | . ]
                                                       moved ^      stop ^

State: `header` int64, whose first slots are FRONT (counter of the oldest state), END (counter past the
newest), MASK (number of cells in the ring - 1; the number is a power of two); further slots and the cells
after the ring belong to the algorithm. The cells of a queue of free size are a tuple: those in use, those of
the former ring, and `moving` (MOVED, STOP, FORMER): the states MOVED to STOP - 1 are still in the former
ring, of FORMER + 1 cells. Kernels are compiled for either kind, so a fixed ring pays nothing for the other.

Invariant: the states are those of the counters FRONT to END - 1.
Cost: O(1) a step, in the worst case: :func:`rehouse` moves no state, and each push afterwards carries two of
them into the new ring, which is done before that can be full. So no push moves more than two states, the
bound that linked chunks would give, and cells stay where one operation finds them. A queue moves to a larger
ring when it is full and to a smaller one when it needs an eighth, so it takes O(largest of late) cells.

Source of moving bit by bit: Overmars, The Design of Dynamic Data Structures (1983), chapter 5,
doi:10.1007/BFb0014927.
"""

import numpy as np
from numba import types

from rollstat._lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import load, save

__all__ = [
    "END",
    "FRONT",
    "MASK",
    "MOVED",
    "STOP",
    "carry",
    "fetch",
    "fetch_extra",
    "free_size",
    "is_idle",
    "make_cells",
    "rehouse",
    "ring_size",
    "settle",
    "store",
    "store_extra",
    "well_formed",
]

FRONT, END, MASK = range(3)
MOVED, STOP, FORMER = range(3)
SMALLEST = 64
_STEP = 2


def ring_size(capacity):
    """The smallest power of two that is at least `capacity` and 1."""
    return 1 << max(int(capacity) - 1, 0).bit_length()


def make_cells(dtype, capacity, extra):
    """Cells for at least `capacity` states in a ring, and `extra` ones after it."""
    return np.zeros(ring_size(capacity) + extra, dtype)


def free_size(arrays):
    """Give rings of arrays what a queue of free size needs: a former ring, and what is moved from there."""
    moving = np.zeros(3, np.int64)
    return [(array, array[:0].copy(), moving) for array in arrays]


def rehouse(header, rings):
    """Return larger rings for a full queue, or smaller ones for an idle one; `header` is updated.

    `rings` are tuples that share one `moving`, and have moved all there was to move.
    """
    used, ring = int(header[END] - header[FRONT]), int(header[MASK]) + 1
    size = 2 * ring if used == ring else max(SMALLEST, ring_size(4 * used))
    moving = np.array([header[FRONT], header[END], header[MASK]])
    header[MASK] = size - 1
    fresh = []
    for cells, _, _ in rings:
        new = np.zeros((size + len(cells) - ring, *cells.shape[1:]), cells.dtype)
        new[size:] = cells[ring:]
        fresh.append((new, cells, moving))
    return fresh


def settle(header, rings):
    """Move all states there are to move, at once; return the rings as plain arrays."""
    for cells, former, moving in rings:
        i, stop = max(int(moving[MOVED]), int(header[FRONT])), int(moving[STOP])
        while i < stop:
            # As many as follow each other in both rings.
            place, source = i & int(header[MASK]), i & int(moving[FORMER])
            number = min(stop - i, int(header[MASK]) + 1 - place, int(moving[FORMER]) + 1 - source)
            cells[place : place + number] = former[source : source + number]
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
    if isinstance(cells, tuple):
        current, former, moving = cells
        if moving[MOVED] <= i < moving[STOP]:
            return load(former, i & moving[FORMER])
        return load(current, i & mask)
    return load(cells, i & mask)


@overloaded(fetch)
def _fetch(cells, i, mask):
    def moves(cells, i, mask):
        if cells[2][MOVED] <= i and i < cells[2][STOP]:
            return load(cells[1], i & cells[2][FORMER])
        return load(cells[0], i & mask)

    return moves if isinstance(cells, types.BaseTuple) else (lambda cells, i, mask: load(cells, i & mask))


def store(cells, i, mask, state):
    """Write `state` as that of counter `i`."""
    if isinstance(cells, tuple):
        current, former, moving = cells
        if moving[MOVED] <= i < moving[STOP]:
            save(former, i & moving[FORMER], state)
        else:
            save(current, i & mask, state)
    else:
        save(cells, i & mask, state)


@overloaded(store)
def _store(cells, i, mask, state):
    def moves(cells, i, mask, state):
        if cells[2][MOVED] <= i and i < cells[2][STOP]:
            save(cells[1], i & cells[2][FORMER], state)
        else:
            save(cells[0], i & mask, state)

    def stays(cells, i, mask, state):
        save(cells, i & mask, state)

    return moves if isinstance(cells, types.BaseTuple) else stays


def carry(header, cells, stamps):
    """Carry the next states, and their stamps, from the former ring into the ring."""
    if isinstance(cells, tuple):
        _carry(header, cells, stamps)


def _carry(header, cells, stamps):
    moving = cells[2]
    first = max(moving[MOVED], header[FRONT])
    for i in range(first, min(first + _STEP, moving[STOP])):
        save(cells[0], i & header[MASK], load(cells[1], i & moving[FORMER]))
        stamps[0][i & header[MASK]] = stamps[1][i & moving[FORMER]]
    moving[MOVED] = min(first + _STEP, moving[STOP])


@overloaded(carry)
def _carry_overload(header, cells, stamps):
    return _carry if isinstance(cells, types.BaseTuple) else (lambda header, cells, stamps: None)


def is_idle(header, cells):
    """Whether a queue of free size has far more room than it needs."""
    if isinstance(cells, tuple):
        return _is_idle(header, cells)
    return False


def _is_idle(header, cells):
    few = 8 * (header[END] - header[FRONT]) <= header[MASK]
    return few and header[MASK] >= SMALLEST and cells[2][MOVED] == cells[2][STOP]


@overloaded(is_idle)
def _is_idle_overload(header, cells):
    return _is_idle if isinstance(cells, types.BaseTuple) else (lambda header, cells: False)


def well_formed(header, cells, extra):
    """Whether the counters fit the ring."""
    ring = header[MASK] + 1
    return bool(
        ring & header[MASK] == 0
        and len(cells[0] if isinstance(cells, tuple) else cells) == ring + extra
        and 0 <= header[FRONT] <= header[END] <= header[FRONT] + ring
    )
