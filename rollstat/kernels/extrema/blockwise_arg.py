"""Positions of the extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
                       suffix   [    common to all, at one row   ]   prefix

As :mod:`rollstat.kernels.extrema.blockwise`, with positions. For each block only the best value is stored.
Its position is searched for in the one block that answers all windows, and only when that is another block
than before. The scans of blocks read one value after the other: a branch that is taken where the extremum
changes costs less than pairs of vectors, since the extremum of random data seldom changes and that of smooth
data changes with every row.

State: ``best[i]`` is the best of the first block from row i on and of the blocks in common. Invariant:
``origin[k]`` is the block that holds the best of the blocks common to the windows of block k, the oldest or
the newest such block. Cost: a vector operation for each vector of values, a store for each vector of results,
and up to three comparisons for each row of a block within which the extremum of the windows changes.

Source: as :mod:`rollstat.kernels.extrema.blockwise`.
"""

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.simd.vectors import lanes_of
from rollstat.kernels.extrema import doubling_arg
from rollstat.kernels.extrema.blockwise import room_for, totals
from rollstat.kernels.simd.comparator import better, prefer, worst_of
from rollstat.kernels.simd.loops import copy, count_up, fill

__all__ = ["rolling", "scratch_length"]


def scratch_length(width, rows, block, lanes):
    """Return the length of each of the two parts of scratch memory, for `rows` windows of `width`."""
    blocks = (rows + width - 1) // block + 1
    room = room_for(rows + width - 1, block, lanes)
    return block + room + doubling_arg.scratch_length(width // block, blocks, lanes)


@kernel
def _position_of(values, value, last):
    """Return the first or last position of `value`; any position if there is none."""
    # No early exit, so that the loop compiles to vector code.
    found, none = 0, len(values)
    if last:
        for i in range(len(values)):
            found = max(found, i if values[i] == value else 0)
        return found
    found = none
    for i in range(len(values)):
        found = min(found, i if values[i] == value else none)
    return found % none


@kernel(forceinline=True)
def _wins(order, value, other, wins_ties):
    """Return whether `value` wins against `other`; equal values if `wins_ties`, NaN never."""
    return better(order, value, other) or (wins_ties and value == other)


@kernel
def _all_win(order, values, others, wins_ties):
    """Return whether every value wins against the other one; as many pairs as the shorter array has."""
    # A sum of comparisons without an early exit compiles to vector code.
    count = min(len(values), len(others))
    won = equal = 0
    for i in range(count):
        won += better(order, values[i], others[i])
        equal += values[i] == others[i]
    return won + (equal if wins_ties else 0) == count


@kernel
def _suffixes(order, values, value, row, wins_ties, origin, best, results):
    """Write the best of ``values[i:]`` and the newer `value` to ``best[i]``, its position to ``results[i]``.

    `row` is the position of `value`; positions are counted from `origin`, and rows of `values` from 0.
    """
    count = len(results)
    if _wins(order, values[-1], value, wins_ties) and _all_win(order, values, values[1:], wins_ties):
        copy(values, best[:count])
        count_up(origin, results)
        return
    for i in range(len(values) - 1, count - 1, -1):
        row = i if _wins(order, values[i & INDEX], value, wins_ties) else row
        value = prefer(order, values[i & INDEX], value)
    for i in range(count - 1, -1, -1):
        row = i if _wins(order, values[i & INDEX], value, wins_ties) else row
        value = prefer(order, values[i & INDEX], value)
        best[i & INDEX] = value
        results[i & INDEX] = origin + row


@kernel
def _prefixes(order, values, value, row, wins_ties, skipped, first, origin, best, results):
    """Write the position of the better of ``best[i]`` and the best of values up to ``skipped + i``.

    The older `value` at `row` comes before the values, whose first is at row `first`. Where ``best[i]`` wins,
    ``results[i]`` stays.
    """
    count = len(results)
    if count > 0 and better(order, values[0], best[0]) and _all_win(order, values[1:], values, wins_ties):
        count_up(origin + first + skipped, results)
        return
    for j in range(skipped):
        row = first + j if _wins(order, values[j & INDEX], value, wins_ties) else row
        value = prefer(order, values[j & INDEX], value)
    for i in range(count):
        newest = values[(skipped + i) & INDEX]
        row = first + skipped + i if _wins(order, newest, value, wins_ties) else row
        value = prefer(order, newest, value)
        if _wins(order, value, best[i], wins_ties):
            results[i] = origin + row


@kernel
def rolling(order, values, width, chunk, block, last, scratch, shift, position):
    """Write the position, counted from `shift`, of the best of ``values[i:i + width]`` to ``position[i]``.

    Parameters and result are those of :func:`rollstat.kernels.extrema.doubling_arg.rolling`, but `last` says
    whether the ties of `order` are `Newest`, windows hold two to 64 blocks, and `scratch` is as long as
    :func:`scratch_length` says for the rows of a `chunk`.
    """
    found = 0
    for first in range(0, len(position), chunk):
        results = position[first : first + chunk]
        seen = values[first : first + len(results) + width - 1]
        found = max(found, _by_chunk(order, seen, width, block, last, scratch, shift + first, results))
    return found


@kernel
def _by_chunk(order, values, width, block, last, scratch, shift, position):
    """As :func:`rolling`, for the rows of one chunk."""
    memory, bits, positions = scratch
    room = room_for(len(values), block, lanes_of(memory))
    used = block + room
    best, total = memory[:block], memory[block:used]
    rest = memory[used:], bits[used:], positions[used:]
    has_nan = totals(order.order, values, block, total)
    rows, whole = (len(position) + block - 1) // block, width // block
    inner, origin = total[1 : rows + whole - 1], positions[:rows]
    doubling_arg.rolling(order, inner, whole - 1, max(rows, 1), rest, 1, origin)
    empty = False
    known = row = -1
    for k in range(rows):
        begin = k * block
        results = position[begin : begin + block]
        if origin[k] != known:
            known = origin[k]
            common = values[known * block : (known + 1) * block]
            row = known * block + _position_of(common, total[known], last)
        value, end = total[known], k + whole
        empty = empty or value == worst_of(order.order, values)
        newest = prefer(order.order, total[end], total[end + 1])
        first_wins = _wins(order.order, total[k], value, not last)
        last_wins = _wins(order.order, newest, value, last)
        if not (first_wins or last_wins):
            fill(shift + row, results)
            continue
        older = values[begin : begin + block]
        if first_wins:
            _suffixes(order.order, older, value, row - begin, not last, shift + begin, best, results)
        else:
            fill(value, best)
            fill(shift + row, results)
        if last_wins:
            late = int(width % block == 0)  # the first window then ends with the blocks in common
            newer, skipped = values[end * block : begin + width - 1 + len(results)], width - 1 - whole * block
            rest = skipped + late, end * block, shift, best[late:], results[late:]
            _prefixes(order.order, newer, value, row, last, *rest)
    return int(has_nan) + int(has_nan and empty)
