r"""Whole arrays through a window of a stream, on either queue of states: what its steps do, a loop at a time.

::

    cells   [ a..d | b..d | c..d | d ] [ e | f | g ]      tail  e..g
              ^ front                 ^ back        ^ end
    row     the oldest leaves, h comes: tail e..h, result (b..d)(e..h)

    turn    [ a..g | b..g | c..g | d..g | e..g | f..g | g ]   each of the front list with the tail,
              ^ front                                  ^ end     the back list from its end

Where a step of DABA does a part of the next turn, so that no step does much, here each turn is made at once
where it is due: the same combinations, so that the results are the same to the bit, but neither counters nor
the tail go through memory between rows, and most rows know beforehand that no turn is due. Of a full window
by DABA that lacks no row, turns are due every half of it, and whole halves are taken in together:

    values      a     b    c  |  d     e    f  |  g    h    i          window of 6 rows
    suffixes    a..c  b..c c  |  d..f  e..f f  |                       apart from what follows them
    row g       (b..c combined with d..f) and then with g, row h (c with d..f) and then with g..h

State: that of :mod:`rollstat.kernels.aggregate.window`. Invariant: the cell of a counter before `back` holds
the states from there to `back` - 1 combined, a later one its state alone, and the tail those from `back` on.
Cost, in combinations: by DABA those of the steps, and fewer than the widest window in advance of them; by two
stacks their bound, 2 * elements + results. A single row can cost the window.
"""

from rollstat._jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift, load, save
from rollstat.kernels.aggregate.ring_queue import MASK, fetch, store
from rollstat.kernels.aggregate.window import method_of_algorithm

__all__ = ["extend"]

_enter = method_of_algorithm("enter", "operator, header, cells")
_leave = method_of_algorithm("leave", "header, cells, front, back, end, tail")
_is_due = method_of_algorithm("is_due", "front, back, end")
_rows_until_due = method_of_algorithm("rows_until_due", "front, back, end")


@kernel(forceinline=True)
def _turned(algorithm, operator, cells, front, back, end, mask, tail):
    """Make all states suffixes that reach `end` if that is due; return where the front list ends."""
    if not _is_due(algorithm, front, back, end):
        return back
    for i in range(front, back):
        store(cells, i, mask, combine(operator, cells, fetch(cells, i, mask), tail))
    suffix = fetch(cells, end - 1, mask)
    for i in range(end - 2, max(front, back) - 1, -1):
        suffix = combine(operator, cells, fetch(cells, i, mask), suffix)
        store(cells, i, mask, suffix)
    return end


@kernel
def _take_halves(operator, cells, stamps, mask, front, even, tail, times, values, i, suffixes, out, failed):
    """Take in whole halves of a full window, from one turn that is due to another.

    For row k of a half the oldest of the front list is ``(suffix k of the half before the last)(the last
    half)``; in a window of an `even` number of rows it is that of k + 1. `suffixes` are cells for those of
    three halves; those of a half are made beside its rows, so that neither chain waits for the other.
    Returns the row after the last half, and that half.
    """
    size = len(suffixes) // 3
    # A row is left over for a window that has dropped one when its turn is due.
    if i + size >= len(times):
        return i, tail
    before, last, own = 0, size, 2 * size
    for k in range(size):
        save(suffixes, before + k, fetch(cells, front + k, mask))
    suffix = fetch(cells, front + 2 * size - 1, mask)
    save(suffixes, last + size - 1, suffix)
    for k in range(size - 2, -1, -1):
        suffix = combine(operator, cells, fetch(cells, front + size + k, mask), suffix)
        save(suffixes, last + k, suffix)
    if size == 1:  # all is at hand from the rows before
        older, tail = load(suffixes, before), load(suffixes, last)
        while i + 1 < len(times):
            state = tail if even else combine(operator, cells, older, tail)
            older, tail = tail, lift(operator, cells, values, i)
            emit(operator, combine(operator, cells, state, tail), out, i, failed)
            front += 1
            i += 1
        save(suffixes, before, older)
    while i + size < len(times):
        half = tail
        tail, suffix = lift(operator, cells, values, i), lift(operator, cells, values, i + size - 1)
        save(suffixes, own + size - 1, suffix)
        if even < size:
            state = combine(operator, cells, load(suffixes, before + even), half)
            emit(operator, combine(operator, cells, state, tail), out, i, failed)
        for k in range(1, size):
            tail = combine(operator, cells, tail, lift(operator, cells, values, i + k))
            suffix = combine(operator, cells, lift(operator, cells, values, i + size - 1 - k), suffix)
            save(suffixes, own + size - 1 - k, suffix)
            if k + even < size:
                state = combine(operator, cells, load(suffixes, before + k + even), half)
                emit(operator, combine(operator, cells, state, tail), out, i + k, failed)
        if even:
            emit(operator, combine(operator, cells, load(suffixes, last), tail), out, i + size - 1, failed)
        front += size
        i += size
        before, last, own = last, own, before
    for k in range(size):
        store(cells, front + k, mask, load(suffixes, before + k))
        store(cells, front + size + k, mask, lift(operator, cells, values, i - size + k))
    for k in range(2 * size):
        store(stamps, front + k, mask, times[i - 1] - (2 * size - 1 - k))
    return i, tail


@kernel
def extend(
    algorithm,
    operator,
    header,
    cells,
    stamps,
    span,
    earliest,
    times,
    values,
    missing,
    by_row,
    whole,
    first,
    suffixes,
    wanted,
    out,
    lacking,
    failed,
):
    """Take in the elements from `first` on, each for the window ``(time - span, time]``.

    Parameters
    ----------
    algorithm, operator, header, cells, stamps
        The window; a queue of free size must be at home in one ring.
    span, earliest
        Width of the windows, and the earliest time there is.
    times, values, missing
        The elements.
    by_row, whole : bool
        Whether the window is so many rows, in a ring that holds them all; whether none is missing.
    first : int
        The first element.
    suffixes
        Cells for three halves of the window; or none, for rows one by one alone.
    wanted : int
        States that a result needs, at least 1; rows with fewer are marked in `lacking`.
    out, lacking, failed
        Written for each row.

    Returns
    -------
    int
        The row before which the ring was full, to be called with again in another, or the number of rows.
    """
    front, back, end, tail = _enter(algorithm, operator, header, cells)
    mask = header[MASK]
    half = len(suffixes) // 3 if by_row and whole else 0
    i = first
    while i < len(times):
        if by_row and end > back:
            # At most one row leaves for each that comes.
            calm = min(_rows_until_due(algorithm, front, back, end), len(times) - i)
            if whole and end - front == span:
                for j in range(i, i + calm):
                    front += 1
                    suffix = fetch(cells, front, mask)
                    state = lift(operator, cells, values, j)
                    store(cells, end, mask, state)
                    store(stamps, end, mask, times[j])
                    end += 1
                    tail = combine(operator, cells, tail, state)
                    emit(operator, combine(operator, cells, suffix, tail), out, j, failed)
            else:
                for j in range(i, i + calm):
                    front += fetch(stamps, front, mask) <= times[j] - span
                    if not missing[j]:
                        state = lift(operator, cells, values, j)
                        store(cells, end, mask, state)
                        store(stamps, end, mask, times[j])
                        end += 1
                        tail = combine(operator, cells, tail, state)
                    if end - front < wanted:
                        lacking[j] = True
                    else:
                        suffix = fetch(cells, front, mask)
                        emit(operator, combine(operator, cells, suffix, tail), out, j, failed)
            i += max(calm, 0)
            if i == len(times):
                break
        if by_row and whole and end - front == span:
            front += 1
            if 0 < half == back - front == end - back:
                rows = i
                i, tail = _take_halves(
                    operator, cells, stamps, mask, front, 0, tail, times, values, i, suffixes, out, failed
                )
                front, back, end = front + i - rows, back + i - rows, end + i - rows
            back = _turned(algorithm, operator, cells, front, back, end, mask, tail)
        else:
            limit = max(times[i], earliest + span) - span
            while front < end and fetch(stamps, front, mask) <= limit:
                front += 1
                back = _turned(algorithm, operator, cells, front, back, end, mask, tail)
        if whole or not missing[i]:
            if end - front > mask:
                break
            state = lift(operator, cells, values, i)
            store(cells, end, mask, state)
            store(stamps, end, mask, times[i])
            tail = state if end == back else combine(operator, cells, tail, state)
            end += 1
            if 0 < half == back - front == end - back and end - front == span:
                emit(operator, combine(operator, cells, fetch(cells, front, mask), tail), out, i, failed)
                rows = i + 1
                i, tail = _take_halves(
                    operator, cells, stamps, mask, front, 1, tail, times, values, rows, suffixes, out, failed
                )
                front, back, end = front + i - rows, back + i - rows, end + i - rows
                back = _turned(algorithm, operator, cells, front, back, end, mask, tail)
                continue
            back = _turned(algorithm, operator, cells, front, back, end, mask, tail)
        if end - front < wanted:
            lacking[i] = True
        else:
            state = tail
            if front < back:
                state = fetch(cells, front, mask)
                if back < end:
                    state = combine(operator, cells, state, tail)
            emit(operator, state, out, i, failed)
        i += 1
    _leave(algorithm, header, cells, front, back, end, tail)
    return i
