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

An operator of a user may raise within a step. Then `cells` are :class:`Logged`: the step records the header
and every state that it overwrites, and :func:`undo` restores them. Kernels for other operators pay nothing.

Invariant: the queue holds the states of the counters FRONT to END - 1.
Cost: O(1) a step in the worst case. :func:`resize` moves no state; each push afterwards moves two of them
(:func:`move_some`), so all have moved before the new ring is full. A queue gets a larger ring when it is full
and a smaller one when it uses an eighth of its ring, so its memory follows the number of states.

Source of incremental resizing: Overmars, The Design of Dynamic Data Structures (1983), chapter 5,
doi:10.1007/BFb0014927.
"""

from typing import Any, NamedTuple

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
    "Logged",
    "begin_step",
    "create_log",
    "create_queue",
    "end_step",
    "enlarge",
    "fetch",
    "fetch_extra",
    "finish_resize",
    "has_log_room",
    "is_oversized",
    "move_some",
    "record",
    "resizable",
    "resize",
    "ring_size",
    "store",
    "store_extra",
    "undo",
    "well_formed",
]

FRONT, END, MASK = range(3)
MOVED, STOP, FORMER = range(3)
# Fewest cells of a ring that changes its size, and the cells that one push moves to the next ring.
SMALLEST = 64
_MOVED_BY_A_PUSH = 2
# Of a log: the number of entries, or ~(entries that are needed), and MOVED before the step; then the header
# before the step, then the places of the entries.
_ENTRIES, _MOVED_BEFORE, _HEADER = range(3)
_NO_STEP = -1
_MOST_EXTRA = 2


class Logged(NamedTuple):
    """Cells of a queue, and what the step under way has overwritten.

    `states` are those of the extra cells before the step and, from slot _MOST_EXTRA on, of the counters whose
    numbers are in `log`.
    """

    cells: Any
    log: Any
    states: Any


def _is_logged(cells):
    """Whether the Numba type `cells` is that of :class:`Logged`."""
    return getattr(cells, "instance_class", None) is Logged


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
    if isinstance(cells, Logged):
        return fetch_extra(cells.cells, place)
    return load(cells[0] if isinstance(cells, tuple) else cells, place)


@overloaded(fetch_extra)
def _fetch_extra(cells, place):
    if _is_logged(cells):
        return lambda cells, place: fetch_extra(cells.cells, place)
    if isinstance(cells, types.BaseTuple):
        return lambda cells, place: load(cells[0], place)
    return lambda cells, place: load(cells, place)


def store_extra(cells, place, state):
    """Write `state` into a cell after the ring."""
    if isinstance(cells, Logged):
        store_extra(cells.cells, place, state)
        return
    save(cells[0] if isinstance(cells, tuple) else cells, place, state)


@overloaded(store_extra)
def _store_extra(cells, place, state):
    if _is_logged(cells):
        return lambda cells, place, state: store_extra(cells.cells, place, state)
    if isinstance(cells, types.BaseTuple):
        return lambda cells, place, state: save(cells[0], place, state)
    return lambda cells, place, state: save(cells, place, state)


def fetch(cells, i, mask):
    """The state of counter `i`."""
    if isinstance(cells, Logged):
        return fetch(cells.cells, i, mask)
    return _fetch_moving(cells, i, mask) if isinstance(cells, tuple) else load(cells, i & mask)


def _fetch_moving(cells, i, mask):
    if cells[2][MOVED] <= i and i < cells[2][STOP]:
        return load(cells[1], i & cells[2][FORMER])
    return load(cells[0], i & mask)


@overloaded(fetch)
def _fetch(cells, i, mask):
    if _is_logged(cells):
        return lambda cells, i, mask: fetch(cells.cells, i, mask)
    if isinstance(cells, types.BaseTuple):
        return _fetch_moving
    return lambda cells, i, mask: load(cells, i & mask)


def store(cells, i, mask, state):
    """Write `state` as that of counter `i`."""
    if isinstance(cells, Logged):
        store(cells.cells, i, mask, state)
    elif isinstance(cells, tuple):
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
    if _is_logged(cells):
        return lambda cells, i, mask, state: store(cells.cells, i, mask, state)
    if isinstance(cells, types.BaseTuple):
        return _store_moving
    return lambda cells, i, mask, state: save(cells, i & mask, state)


def move_some(header, cells, stamps):
    """Move the next states of a resize, and their stamps, from the former ring into the ring in use."""
    if isinstance(cells, Logged):
        move_some(header, cells.cells, stamps)
    elif isinstance(cells, tuple):
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
    if _is_logged(cells):
        return lambda header, cells, stamps: move_some(header, cells.cells, stamps)
    return _move_some if isinstance(cells, types.BaseTuple) else (lambda header, cells, stamps: None)


def is_oversized(header, cells):
    """Whether a resizable queue uses at most an eighth of its ring."""
    if isinstance(cells, Logged):
        return is_oversized(header, cells.cells)
    return isinstance(cells, tuple) and _is_oversized(header, cells)


def _is_oversized(header, cells):
    few = 8 * (header[END] - header[FRONT]) <= header[MASK]
    return few and header[MASK] >= SMALLEST and cells[2][MOVED] == cells[2][STOP]


@overloaded(is_oversized)
def _is_oversized_overload(header, cells):
    if _is_logged(cells):
        return lambda header, cells: is_oversized(header, cells.cells)
    return _is_oversized if isinstance(cells, types.BaseTuple) else (lambda header, cells: False)


def create_log(header, cells, entries):
    """Return `cells` with an empty log that has room for so many `entries`."""
    plain = cells[0] if isinstance(cells, tuple) else cells
    log = np.zeros(_HEADER + len(header) + entries, np.int64)
    log[_ENTRIES] = _NO_STEP
    return Logged(cells, log, np.empty((_MOST_EXTRA + entries, *plain.shape[1:]), plain.dtype))


def record(cells, i, j, mask):
    """Record the states of two counters, which the step will overwrite, if the cells have a log."""
    if isinstance(cells, Logged):
        _record(cells, i, j, mask)


def _record(cells, i, j, mask):
    log, states = cells.log, cells.states
    entries = log[_ENTRIES]
    save(states, _MOST_EXTRA + entries, fetch(cells.cells, i, mask))
    save(states, _MOST_EXTRA + entries + 1, fetch(cells.cells, j, mask))
    place = len(log) - len(states) + _MOST_EXTRA + entries
    log[place] = i
    log[place + 1] = j
    log[_ENTRIES] = entries + 2


@overloaded(record)
def _record_overload(cells, i, j, mask):
    return _record if _is_logged(cells) else (lambda cells, i, j, mask: None)


def _moved(cells):
    return cells[2][MOVED] if isinstance(cells, tuple) else 0


@overloaded(_moved)
def _moved_overload(cells):
    return (lambda cells: cells[2][MOVED]) if isinstance(cells, types.BaseTuple) else (lambda cells: 0)


def _length(cells):
    return len(cells[0]) if isinstance(cells, tuple) else len(cells)


@overloaded(_length)
def _length_overload(cells):
    return (lambda cells: len(cells[0])) if isinstance(cells, types.BaseTuple) else (lambda cells: len(cells))


def has_log_room(cells, entries):
    """Whether a step may overwrite so many states; if not, the log says how many it needs."""
    return _has_log_room(cells, entries) if isinstance(cells, Logged) else True


def _has_log_room(cells, entries):
    if entries <= len(cells.states) - _MOST_EXTRA:
        return True
    cells.log[_ENTRIES] = ~entries
    return False


@overloaded(has_log_room)
def _has_log_room_overload(cells, entries):
    return _has_log_room if _is_logged(cells) else (lambda cells, entries: True)


def keeps_log(cells):
    """Whether the cells have a log: then a step must not overwrite the cell of a state that it drops."""
    return isinstance(cells, Logged)


@overloaded(keeps_log)
def _keeps_log_overload(cells):
    return (lambda cells: True) if _is_logged(cells) else (lambda cells: False)


def enlarge(header, arrays, size):
    """Return plain rings with `size` cells, a power of two, with all states; update `header`."""
    mask, counters = int(header[MASK]), np.arange(header[FRONT], header[END])
    header[MASK] = size - 1
    larger = []
    for array in arrays:
        new = np.zeros((size + len(array) - mask - 1, *array.shape[1:]), array.dtype)
        new[counters & (size - 1)] = array[counters & mask]
        new[size:] = array[mask + 1 :]
        larger.append(new)
    return larger


def begin_step(header, cells):
    """Start to record what a step changes, if the cells have a log."""
    if isinstance(cells, Logged):
        _begin_step(header, cells)


def _begin_step(header, cells):
    log = cells.log
    for i in range(len(header)):
        log[_HEADER + i] = header[i]
    log[_MOVED_BEFORE] = _moved(cells.cells)
    ring = header[MASK] + 1
    for k in range(_length(cells.cells) - ring):
        save(cells.states, k, fetch_extra(cells.cells, ring + k))
    log[_ENTRIES] = 0


@overloaded(begin_step)
def _begin_step_overload(header, cells):
    return _begin_step if _is_logged(cells) else (lambda header, cells: None)


def end_step(cells):
    """The step is complete; nothing of it can be undone."""
    if isinstance(cells, Logged):
        _end_step(cells)


def _end_step(cells):
    cells.log[_ENTRIES] = _NO_STEP


@overloaded(end_step)
def _end_step_overload(cells):
    return _end_step if _is_logged(cells) else (lambda cells: None)


def undo(header, logged):
    """Restore header and cells as they were before the step that has not ended, if there is one."""
    cells, log, states = logged
    entries = int(log[_ENTRIES])
    if entries < 0:
        return
    header[:] = log[_HEADER : _HEADER + len(header)]
    if isinstance(cells, tuple):
        cells[2][MOVED] = log[_MOVED_BEFORE]
    mask, first = int(header[MASK]), len(log) - len(states) + _MOST_EXTRA
    for k in range(_length(cells) - mask - 1):
        store_extra(cells, mask + 1 + k, load(states, k))
    for k in reversed(range(entries)):
        store(cells, int(log[first + k]), mask, load(states, _MOST_EXTRA + k))
    log[_ENTRIES] = _NO_STEP


def well_formed(header, cells, extra):
    """Whether the counters fit the ring."""
    ring = header[MASK] + 1
    return bool(
        ring & header[MASK] == 0
        and len(cells[0] if isinstance(cells, tuple) else cells) == ring + extra
        and 0 <= header[FRONT] <= header[END] <= header[FRONT] + ring
    )
