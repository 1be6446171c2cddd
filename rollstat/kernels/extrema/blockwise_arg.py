"""Positions of the extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
                       suffix   [    common to all, at one row   ]   prefix

As :mod:`rollstat.kernels.extrema.blockwise`, with positions. For each block only the best value is stored.
Its position is searched for in the one block that answers all windows, and only when that is another block
than before. The scans of blocks shift pairs of a value and a position within a vector.

State and invariant: as there; ``origin[k]`` is the block that holds the best of the blocks common to the
windows of block k, the oldest or the newest such block. Cost: a vector operation for each vector of values,
a store for each vector of results, and about 25 operations where the extremum of the windows changes within
a block, whatever the data.

Source: as :mod:`rollstat.kernels.extrema.blockwise`.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import lanes_of
from rollstat.kernels.extrema import doubling_arg, monotone_runs
from rollstat.kernels.extrema.blockwise import best_in, room_for, totals
from rollstat.kernels.extrema.doubling_arg import write_shifted
from rollstat.kernels.extrema.monotone_runs import Results
from rollstat.kernels.simd.comparator import better, worst_of
from rollstat.kernels.simd.fill_copy import count_up, fill
from rollstat.kernels.simd.pairs import (
    broadcast,
    broadcast_lane,
    load,
    prefer,
    rows_from,
    shift_in_next,
    shift_in_previous,
    store,
)

__all__ = ["rolling", "scratch_length"]


def scratch_length(width, rows, block, lanes):
    """Return the length of each of the two parts of scratch memory, for `rows` windows of `width`."""
    blocks = (rows + width - 1) // block + 1
    room = room_for(rows + width - 1, block, lanes)
    return 3 * block + room + doubling_arg.scratch_length(width // block, blocks, lanes)


@kernel
def _position_of(values, value, last):
    """Return the first or last position of `value`; any position if there is none."""
    found = 0
    for i in range(len(values)):
        found = len(values) - 1 - i if last else i
        if values[found] == value:
            break
    return found


@kernel
def _suffixes(order, values, positions, best, out):
    """Write the best of ``values[i:]`` and the newer `best` to ``out[i]``; all are pairs with positions."""
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order.order, values))
    newer = broadcast(best)
    for i in range(len(values) - lanes, -1, -lanes):
        position = load(positions, i)
        # What is shifted in never wins, so its position does not matter.
        tail, outside = (prefer(order.order, load(values, i), worst), position), (worst, position)
        tail = prefer(order, shift_in_next(tail, outside, 1), tail)
        tail = prefer(order, shift_in_next(tail, outside, 2), tail)
        tail = prefer(order, shift_in_next(tail, outside, 4), tail)
        tail = prefer(order, shift_in_next(tail, outside, 8), tail)
        tail = prefer(order, newer, tail)
        store(tail, out, i)
        newer = broadcast_lane(tail, 0)


@kernel
def _prefixes(order, values, positions, best, shift, out):
    """Merge the best of the older `best` and ``values[:i + 1]`` into the older ``out[i]``.

    All are pairs with positions; those of the values are `positions` moved by `shift`.
    """
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order.order, values))
    older, shift_vector = broadcast(best), broadcast(shift)
    for i in range(0, len(values), lanes):
        position = load(positions, i) + shift_vector
        head, outside = (prefer(order.order, load(values, i), worst), position), (worst, position)
        head = prefer(order, head, shift_in_previous(outside, head, 1))
        head = prefer(order, head, shift_in_previous(outside, head, 2))
        head = prefer(order, head, shift_in_previous(outside, head, 4))
        head = prefer(order, head, shift_in_previous(outside, head, 8))
        head = prefer(order, head, older)
        older = broadcast_lane(head, -1)
        store(prefer(order, head, load(out, i)), out, i)


@kernel
def _can_win(order, older, newer, wins_ties, first):
    """Return whether the `first` of two values, or the second, can answer windows that hold both."""
    wins = better(order, older, newer) if first else better(order, newer, older)
    return wins or (wins_ties and older == newer)


@kernel
def rolling(order, values, width, chunk, block, last, scratch, shift, position):
    """Write the position, counted from `shift`, of the best of ``values[i:i + width]`` to ``position[i]``.

    `order` is an :class:`~rollstat.kernels.simd.pairs.Arg`; `last` says whether its ties are `Newest`. NaN is
    no observation; a window without an observation, or with none better than the worst value, gets any
    position. A block is whole vectors, and windows hold two blocks or more. `scratch` is a pair of arrays, of
    values and of positions, each as long as :func:`scratch_length` says for the rows of a `chunk`. Returns
    what :func:`rollstat.kernels.extrema.doubling_arg.rolling` does.
    """
    first = found = 0
    nothing = scratch[0][:0]
    while True:
        results = Results(position[first:], nothing)
        first += monotone_runs.answer(order.order, order.ties, values[first:], width, shift + first, results)
        left = position[first : first + chunk]
        if len(left) == 0:
            return found
        seen = values[first : first + len(left) + width - 1]
        found = max(found, _by_blocks(order, seen, width, block, last, scratch, shift + first, left))
        first += len(left)


@kernel
def _by_blocks(order, values, width, block, last, scratch, shift, position):
    """As :func:`rolling`, for data of any kind."""
    memory, positions = scratch
    lanes = lanes_of(memory)
    out, entering = (memory[:block], positions[:block]), memory[block : 2 * block]
    numbers, cell = positions[block : 2 * block], positions[2 * block : 3 * block]
    count_up(0, numbers)
    room = room_for(len(values), block, lanes)
    total, rest = memory[2 * block : 2 * block + room], rows_from(scratch, 3 * block + room)
    has_nan = totals(order.order, values, block, total)
    rows, whole = (len(position) + block - 1) // block, width // block
    inner, origin = total[1 : rows + whole - 1], positions[3 * block : 3 * block + rows]
    doubling_arg.rolling(order, inner, whole - 1, max(rows, 1), rest, 1, origin)
    empty = False
    known = row = -1
    for k in range(rows):
        begin = k * block
        results = position[begin : begin + block]
        if origin[k] != known:
            known = origin[k]
            row = known * block + _position_of(
                values[known * block : (known + 1) * block], total[known], last
            )
        best, end = total[known], k + whole
        empty = empty or best == worst_of(order.order, values)
        newest = prefer(order.order, total[end], total[end + 1])
        first_wins = _can_win(order.order, total[k], best, not last, True)
        last_wins = _can_win(order.order, best, newest, last, False)
        if not (first_wins or last_wins):
            fill(shift + row, results)
            continue
        # Positions within the scans count from the block, in the dtype of `positions`.
        cell[0] = row - begin
        if first_wins:
            _suffixes(order, values[begin : begin + block], numbers, (best, cell[0]), out)
        else:
            fill(best, out[0])
            fill(cell[0], out[1])
        if last_wins:
            before = values[end * block : begin + width]
            value = best_in(order.order, before)[0]
            cell[0] = end * block - begin + _position_of(before, value, last)
            cell[1] = width - 1
            seen = values[begin + width - 1 :][:block]
            for i in range(block):
                entering[i] = seen[i] if i < len(seen) else worst_of(order.order, values)
            _prefixes(order, entering, numbers, (value, cell[0]), cell[1], out)
        write_shifted(shift + begin, out[1], results)
    return int(has_nan) + int(has_nan and empty)
