r"""Many rows at once through a window of :mod:`rollstat.kernels.aggregate.window`.

::

    cells   [ a..d | b..d | c..d | d ] [ e | f | g ]      total  e..g
              ^ front                 ^ split       ^ end
    row     drop a, push h: total e..h, result (b..d)(e..h)

    flip    [ a..g | b..g | c..g | d..g | e..g | f..g | g ]   the older buffer combined with the total,
              ^ front                           split = end   the newer one turned into suffixes

DABA spreads the work of a flip over its steps, so that no step does much. Here a whole flip is done when it
is due. The combinations are the same, so results are bit-for-bit equal. But counters and total stay in
registers between rows, and the number of rows until the next flip is known, so most rows need no test for it.

State: the window's state. Invariant: the cell of a counter before `split` holds the states from there to
`split` - 1 combined, a later cell its state alone, and the total the states from `split` on combined.
Cost, in combinations: with DABA as many as the steps make, plus some that the steps would make later, fewer
than the rows of the widest window; with two stacks at most 2 * elements + results. A single row can cost as
many as the window has states.
Source: the algorithms' sources.
"""

from typing import Any, NamedTuple

from rollstat.compile.jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift
from rollstat.kernels.aggregate.ring_queue import MASK, fetch, store
from rollstat.kernels.aggregate.window import method_of_class
from rollstat.kernels.time_bounds import edge_of, lies_before

_load_buffers = method_of_class("load_buffers", "operator, header, cells")
_store_buffers = method_of_class("store_buffers", "header, cells, front, split, end, total")
_flip_is_due = method_of_class("flip_is_due", "front, split, end")
_rows_until_flip = method_of_class("rows_until_flip", "front, split, end")


class Spans(NamedTuple):
    """The windows ``(stamp - span, stamp]`` of rows.

    `by_row` says that stamps are row numbers and the ring has room for `span` states.
    """

    span: Any
    by_row: bool


class _Ring(NamedTuple):
    """Cells and stamps of a queue; a copy of the mask stays in a register while they are written."""

    cells: Any
    stamps: Any
    mask: int


class _Buffers(NamedTuple):
    """Counters where the buffers start and end, and the newer buffer combined (if it is not empty)."""

    front: int
    split: int
    end: int
    total: Any


@kernel(forceinline=True)
def _append(operator, ring, buffers, rows, i):
    """Append row `i` to the newer buffer."""
    front, split, end, total = buffers
    state = lift(operator, ring.cells, rows.values, i)
    store(ring.cells, end, ring.mask, state)
    store(ring.stamps, end, ring.mask, rows.stamps[i])
    total = state if end == split else combine(operator, ring.cells, total, state)
    return _Buffers(front, split, end + 1, total)


@kernel(forceinline=True)
def _emit(operator, ring, buffers, results, i):
    """Write the result of row `i`."""
    front, split, end, total = buffers
    if end - front < results.min_periods:
        results.insufficient[i] = True
        return
    state = total
    if front < split:
        state = fetch(ring.cells, front, ring.mask)
        if split < end:
            state = combine(operator, ring.cells, state, total)
    emit(operator, state, results.out, i, results.failed)


@kernel(forceinline=True)
def _flip_if_due(algorithm, operator, ring, buffers):
    """Turn all states into suffixes that reach `end`, if a flip is due."""
    cells, _, mask = ring
    front, split, end, total = buffers
    if not _flip_is_due(algorithm, front, split, end):
        return buffers
    for i in range(front, split):
        store(cells, i, mask, combine(operator, cells, fetch(cells, i, mask), total))
    suffix = fetch(cells, end - 1, mask)
    for i in range(end - 2, max(front, split) - 1, -1):
        suffix = combine(operator, cells, fetch(cells, i, mask), suffix)
        store(cells, i, mask, suffix)
    return _Buffers(front, end, end, total)


@kernel
def _slide(operator, ring, buffers, rows, i, stop, span, results):
    """Process rows `i` to `stop` - 1 before the next flip; each drops at most one state."""
    for j in range(i, stop):
        front, split, end, total = buffers
        front += fetch(ring.stamps, front, ring.mask) <= rows.stamps[j] - span
        buffers = _Buffers(front, split, end, total)
        if not rows.missing[j]:
            buffers = _append(operator, ring, buffers, rows, j)
        _emit(operator, ring, buffers, results, j)
    return buffers


@kernel
def extend(algorithm, operator, header, cells, stamps, spans, rows, results, first):
    """Process the rows from `first` on, and write their results.

    Parameters
    ----------
    algorithm, operator, header, cells, stamps
        The window.
    spans : Spans
    rows : Rows
    results : Results
    first : int

    Returns
    -------
    int
        The row at which the ring was full, as `first` of the next call after a resize, or the number of rows.
    """
    ring = _Ring(cells, stamps, header[MASK])
    front, split, end, total = _load_buffers(algorithm, operator, header, cells)
    buffers = _Buffers(front, split, end, total)
    i = first
    while i < len(rows.stamps):
        if spans.by_row and buffers.end > buffers.split:
            ahead = _rows_until_flip(algorithm, buffers.front, buffers.split, buffers.end)
            stop = min(i + ahead, len(rows.stamps))
            if stop > i:
                buffers = _slide(operator, ring, buffers, rows, i, stop, spans.span, results)
                i = stop
                continue
        edge = edge_of(rows.stamps[i], -spans.span, True)
        while buffers.front < buffers.end and lies_before(edge, fetch(stamps, buffers.front, ring.mask)):
            front, split, end, total = buffers
            buffers = _flip_if_due(algorithm, operator, ring, _Buffers(front + 1, split, end, total))
        if not rows.missing[i]:
            if buffers.end - buffers.front > ring.mask:
                break
            buffers = _append(operator, ring, buffers, rows, i)
            buffers = _flip_if_due(algorithm, operator, ring, buffers)
        _emit(operator, ring, buffers, results, i)
        i += 1
    front, split, end, total = buffers
    _store_buffers(algorithm, header, cells, front, split, end, total)
    return i
