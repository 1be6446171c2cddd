"""Positions of the extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
                       suffix   [   common to all, at one place  ]   running

As :mod:`rollstat.kernels.extrema.blockwise`, with places. A block tells only its extremum; the place of it is
looked up in the one block that answers for all windows, and only when it is another block than before.

State and invariant: as there; ``origin[k]`` is the block that holds ``common[k]``, the oldest or the newest
of those that do. Cost: a vector operation for each vector of values, a store for each of results, and
about 25 operations where the extremum of the windows changes within a block, on any data.

Source: as :mod:`rollstat.kernels.extrema.blockwise`.
"""

from rollstat._jit import kernel
from rollstat.kernels.extrema import doubling_arg, monotone_runs
from rollstat.kernels.extrema.blockwise import best_in, room_for, totals
from rollstat.kernels.extrema.doubling_arg import place_on
from rollstat.kernels.extrema.nan_policy import NO
from rollstat.kernels.simd.comparator import better, choose, prefer, worst_of
from rollstat.kernels.simd.fill_copy import fill
from rollstat.kernels.simd.vectors import (
    broadcast,
    broadcast_lane,
    lanes_of,
    load,
    shift_in_next,
    shift_in_previous,
    store,
)

__all__ = ["rolling", "scratch_length"]


def scratch_length(width, rows, block, lanes):
    """Length of each of both parts of scratch memory, for `rows` windows of `width`."""
    blocks = (rows + width - 1) // block + 1
    room = room_for(rows + width - 1, block, lanes)
    return 3 * block + room + doubling_arg.scratch_length(width // block, blocks, lanes)


@kernel
def _seek(values, value, last):
    """Where `value` stands first or last; anything if it does not."""
    found = 0
    for i in range(len(values)):
        found = len(values) - 1 - i if last else i
        if values[found] == value:
            break
    return found


@kernel
def _suffixes(order, ties, values, common, place, steps, out, places):
    """Write the best of ``values[i:]`` and the newer `common` to ``out[i]``, and its place of `steps`."""
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order, values))
    carried, carried_place = broadcast(common), broadcast(place)
    for i in range(len(values) - lanes, -1, -lanes):
        tail, where = prefer(order, load(values, i), worst), load(steps, i)
        newer = shift_in_next(tail, worst, 1)
        where = choose(order, ties, tail, newer, where, shift_in_next(where, where, 1))
        tail = prefer(order, newer, tail)
        newer = shift_in_next(tail, worst, 2)
        where = choose(order, ties, tail, newer, where, shift_in_next(where, where, 2))
        tail = prefer(order, newer, tail)
        newer = shift_in_next(tail, worst, 4)
        where = choose(order, ties, tail, newer, where, shift_in_next(where, where, 4))
        tail = prefer(order, newer, tail)
        newer = shift_in_next(tail, worst, 8)
        where = choose(order, ties, tail, newer, where, shift_in_next(where, where, 8))
        tail = prefer(order, newer, tail)
        where = choose(order, ties, tail, carried, where, carried_place)
        tail = prefer(order, carried, tail)
        store(tail, out, i)
        store(where, places, i)
        carried, carried_place = broadcast_lane(tail, 0), broadcast_lane(where, 0)


@kernel
def _running(order, ties, values, best, place, behind, steps, out, places):
    """Take the older `best` and ``values[:i + 1]``, which stand `behind` the steps, into ``out[i]``."""
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order, values))
    carried, carried_place, base = broadcast(best), broadcast(place), broadcast(behind)
    for i in range(0, len(values), lanes):
        head, where = prefer(order, load(values, i), worst), load(steps, i) + base
        older = shift_in_previous(worst, head, 1)
        where = choose(order, ties, older, head, shift_in_previous(where, where, 1), where)
        head = prefer(order, older, head)
        older = shift_in_previous(worst, head, 2)
        where = choose(order, ties, older, head, shift_in_previous(where, where, 2), where)
        head = prefer(order, older, head)
        older = shift_in_previous(worst, head, 4)
        where = choose(order, ties, older, head, shift_in_previous(where, where, 4), where)
        head = prefer(order, older, head)
        older = shift_in_previous(worst, head, 8)
        where = choose(order, ties, older, head, shift_in_previous(where, where, 8), where)
        head = prefer(order, older, head)
        where = choose(order, ties, carried, head, carried_place, where)
        head = prefer(order, carried, head)
        carried, carried_place = broadcast_lane(head, -1), broadcast_lane(where, -1)
        older = load(out, i)
        store(choose(order, ties, older, head, load(places, i), where), places, i)
        store(prefer(order, older, head), out, i)


@kernel
def _takes_part(order, older, newer, ties_to_it, first):
    """Whether the `first` of two, or the second, may answer for windows that hold both."""
    wins = better(order, older, newer) if first else better(order, newer, older)
    return wins or (ties_to_it and older == newer)


@kernel
def rolling(order, ties, values, width, chunk, block, last, memory, memory_places, shift, position):
    """Write where the best of every ``values[i:i + width]`` stands to ``position[i]``, counted from `shift`.

    NaN is no observation; where there is none, or only values that never win, any place is written.
    `last` says what `ties` does. A block is whole vectors, and windows hold two blocks or more. Both parts
    of memory are as long as :func:`scratch_length` says for the rows of a `chunk`.
    Returns what :func:`rollstat.kernels.extrema.doubling_arg.rolling` does.
    """
    first = found = 0
    while True:
        left, nothing = position[first:], memory[:0]
        first += monotone_runs.answer(
            order, ties, values[first:], width, shift + first, left, nothing, nothing, NO
        )
        results = position[first : first + chunk]
        if len(results) == 0:
            return found
        seen = values[first : first + len(results) + width - 1]
        found = max(
            found,
            _by_blocks(order, ties, seen, width, block, last, memory, memory_places, shift + first, results),
        )
        first += len(results)


@kernel
def _by_blocks(order, ties, values, width, block, last, memory, memory_places, shift, position):
    """As :func:`rolling`, whatever the data."""
    lanes = lanes_of(memory)
    out, entering, scratch = memory[:block], memory[block : 2 * block], memory[2 * block :]
    places, steps = memory_places[:block], memory_places[block : 2 * block]
    cell, scratch_places = memory_places[2 * block : 3 * block], memory_places[3 * block :]
    for i in range(block):
        steps[i] = i
    room = room_for(len(values), block, lanes)
    total, rest = scratch[:room], scratch[room:]
    nan = totals(order, values, block, total)
    rows, whole = (len(position) + block - 1) // block, width // block
    inner = total[1 : rows + whole - 1]
    origin = scratch_places[:rows]
    doubling_arg.rolling(order, ties, inner, whole - 1, max(rows, 1), rest, scratch_places[room:], 1, origin)
    hollow = False
    known = place = -1
    for k in range(rows):
        begin = k * block
        results = position[begin : begin + block]
        if origin[k] != known:
            known = origin[k]
            place = known * block + _seek(values[known * block : (known + 1) * block], total[known], last)
        best, end = total[known], k + whole
        hollow = hollow or best == worst_of(order, values)
        newest = prefer(order, total[end], total[end + 1])
        suffix = _takes_part(order, total[k], best, not last, True)
        running = _takes_part(order, best, newest, last, False)
        if not (suffix or running):
            fill(shift + place, results)
            continue
        cell[0] = place - begin
        if suffix:
            _suffixes(order, ties, values[begin : begin + block], best, cell[0], steps, out, places)
        else:
            fill(best, out)
            fill(cell[0], places)
        if running:
            before = values[end * block : begin + width]
            value = best_in(order, before)[0]
            cell[0] = end * block - begin + _seek(before, value, last)
            cell[1] = width - 1
            seen = values[begin + width - 1 :][:block]
            for i in range(block):
                entering[i] = seen[i] if i < len(seen) else worst_of(order, values)
            _running(order, ties, entering, value, cell[0], cell[1], steps, out, places)
        place_on(shift + begin, places, results)
    return int(nan) + int(nan and hollow)
