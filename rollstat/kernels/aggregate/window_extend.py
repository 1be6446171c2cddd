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
In a full window of rows by DABA without missing elements, a flip is due every half window, and whole halves
are processed together:

    values      a     b    c  |  d     e    f  |  g    h    i          window of 6 rows
    suffixes    a..c  b..c c  |  d..f  e..f f  |                       each half apart
    row g       (b..c combined with d..f) and then with g, row h (c with d..f) and then with g..h

State: the window's state. Invariant: the cell of a counter before `split` holds the states from there to
`split` - 1 combined, a later cell its state alone, and the total the states from `split` on combined.
Cost, in combinations: with DABA as many as the steps make, plus some that the steps would make later, fewer
than the rows of the widest window; with two stacks at most 2 * elements + results. A single row can cost as
many as the window has states.
Source: the algorithms' sources.
"""

from typing import Any, NamedTuple

from rollstat.compile.jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift, load, save
from rollstat.kernels.aggregate.ring_queue import MASK, fetch, store
from rollstat.kernels.aggregate.window import method_of_class
from rollstat.kernels.time_bounds import edge_of, lies_before

_load_buffers = method_of_class("load_buffers", "operator, header, cells")
_store_buffers = method_of_class("store_buffers", "header, cells, front, split, end, total")
_flip_is_due = method_of_class("flip_is_due", "front, split, end")
_rows_until_flip = method_of_class("rows_until_flip", "front, split, end")


class Spans(NamedTuple):
    """The windows ``(stamp - span, stamp]`` of rows.

    `by_row` says that stamps are row numbers and the ring has room for `span` states; `observed` says that no
    row is missing.
    """

    span: Any
    by_row: bool
    observed: bool


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
def _load_halves(operator, ring, buffers, suffixes):
    """Write the suffixes of both halves of a window before its flip into `suffixes`, each half apart."""
    cells, _, mask = ring
    front, size = buffers.front, len(suffixes) // 3
    for k in range(size):
        save(suffixes, k, fetch(cells, front + k, mask))
    suffix = fetch(cells, front + 2 * size - 1, mask)
    save(suffixes, 2 * size - 1, suffix)
    for k in range(size - 2, -1, -1):
        suffix = combine(operator, cells, fetch(cells, front + size + k, mask), suffix)
        save(suffixes, size + k, suffix)


@kernel
def _store_halves(operator, ring, buffers, rows, i, suffixes, older):
    """Write the cells and stamps of the last two halves before row `i`; see :func:`_load_halves`."""
    cells, stamps, mask = ring
    front, size = buffers.front, len(suffixes) // 3
    for k in range(size):
        store(cells, front + k, mask, load(suffixes, older + k))
        store(cells, front + size + k, mask, lift(operator, cells, rows.values, i - size + k))
    for k in range(2 * size):
        store(stamps, front + k, mask, rows.stamps[i - 1] - (2 * size - 1 - k))


@kernel
def _take_single_rows(operator, cells, even, rows, i, suffixes, results):
    """Do what :func:`_take_halves` does, for halves of one row; suffix and total stay in registers."""
    older, total = load(suffixes, 0), load(suffixes, 1)
    while i + 1 < len(rows.stamps):
        state = total if even else combine(operator, cells, older, total)
        older, total = total, lift(operator, cells, rows.values, i)
        emit(operator, combine(operator, cells, state, total), results.out, i, results.failed)
        i += 1
    save(suffixes, 0, older)
    return i, total


@kernel
def _take_halves(operator, ring, buffers, even, rows, i, suffixes, results):
    """Process whole halves of a full window, from one due flip to another, from row `i` on.

    The result of row k of a half is ``(suffix k of the half before the last)(the last half)(the rows to k)``;
    if the number of rows of the window is `even` (1, else 0), suffix k + 1 takes the place of suffix k.
    `suffixes` are cells for the suffixes of three halves; the roles of the halves rotate. Returns the row
    after the last half, and the buffers.
    """
    cells, values, size = ring.cells, rows.values, len(suffixes) // 3
    out, failed = results.out, results.failed
    # A window that has dropped a row before its flip needs a further row.
    if i + size >= len(rows.stamps):
        return i, buffers
    _load_halves(operator, ring, buffers, suffixes)
    first, total = i, buffers.total
    older, newer, own = 0, size, 2 * size
    if size == 1:
        i, total = _take_single_rows(operator, cells, even, rows, i, suffixes, results)
    while i + size < len(rows.stamps):
        half = total
        total, suffix = lift(operator, cells, values, i), lift(operator, cells, values, i + size - 1)
        save(suffixes, own + size - 1, suffix)
        if even < size:
            state = combine(operator, cells, load(suffixes, older + even), half)
            emit(operator, combine(operator, cells, state, total), out, i, failed)
        # The chain of totals runs forward and the chain of suffixes backward, so neither waits for the other.
        for k in range(1, size):
            total = combine(operator, cells, total, lift(operator, cells, values, i + k))
            suffix = combine(operator, cells, lift(operator, cells, values, i + size - 1 - k), suffix)
            save(suffixes, own + size - 1 - k, suffix)
            if k + even < size:
                state = combine(operator, cells, load(suffixes, older + k + even), half)
                emit(operator, combine(operator, cells, state, total), out, i + k, failed)
        if even:
            state = combine(operator, cells, load(suffixes, newer), total)
            emit(operator, state, out, i + size - 1, failed)
        i += size
        older, newer, own = newer, own, older
    moved = i - first
    buffers = _Buffers(buffers.front + moved, buffers.split + moved, buffers.end + moved, total)
    _store_halves(operator, ring, buffers, rows, i, suffixes, older)
    return i, buffers


@kernel(forceinline=True)
def _halves_meet(buffers, half):
    """Whether both buffers hold `half` rows and `half` is not 0."""
    front, split, end, _ = buffers
    return 0 < half == split - front == end - split


@kernel
def extend(algorithm, operator, header, cells, stamps, spans, rows, suffixes, results, first):
    """Process the rows from `first` on, and write their results.

    Parameters
    ----------
    algorithm, operator, header, cells, stamps
        The window.
    spans : Spans
    rows : Rows
    suffixes
        Cells for three halves of the window if rows are processed by halves, else none.
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
    span, sliding = spans.span, spans.by_row and spans.observed
    half = len(suffixes) // 3 if sliding else 0
    i = first
    while i < len(rows.stamps):
        full = sliding and buffers.end - buffers.front == span
        if spans.by_row and buffers.end > buffers.split:
            ahead = _rows_until_flip(algorithm, buffers.front, buffers.split, buffers.end)
            stop = min(i + ahead, len(rows.stamps))
            if stop > i:
                buffers = _slide(operator, ring, buffers, rows, i, stop, span, results)
                i = stop
                continue
        front, split, end, total = buffers
        if full:
            buffers = _Buffers(front + 1, split, end, total)
            if _halves_meet(buffers, half):
                i, buffers = _take_halves(operator, ring, buffers, 0, rows, i, suffixes, results)
            buffers = _flip_if_due(algorithm, operator, ring, buffers)
        else:
            edge = edge_of(rows.stamps[i], -span, True)
            while buffers.front < end and lies_before(edge, fetch(stamps, buffers.front, ring.mask)):
                buffers = _Buffers(buffers.front + 1, buffers.split, end, total)
                buffers = _flip_if_due(algorithm, operator, ring, buffers)
        if spans.observed or not rows.missing[i]:
            if buffers.end - buffers.front > ring.mask:
                break
            buffers = _append(operator, ring, buffers, rows, i)
            if _halves_meet(buffers, half) and buffers.end - buffers.front == span:
                _emit(operator, ring, buffers, results, i)
                i, buffers = _take_halves(operator, ring, buffers, 1, rows, i + 1, suffixes, results)
                buffers = _flip_if_due(algorithm, operator, ring, buffers)
                continue
            buffers = _flip_if_due(algorithm, operator, ring, buffers)
        _emit(operator, ring, buffers, results, i)
        i += 1
    front, split, end, total = buffers
    _store_buffers(algorithm, header, cells, front, split, end, total)
    return i
