"""Extrema of long windows of a fixed number of rows, or their positions, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
    windows that       [===========================================)
    begin in block k       [===========================================)
                       suffix   [   common to all, M       ]   prefix

All windows that begin in one block have the blocks between in common. Their best is the front of a monotonic
deque of blocks. If neither the block in which the windows begin nor the two in which they end hold anything
better, that is the answer to all of them. Otherwise the scans of van Herk, Gil and Werman, suffixes of the
first block and prefixes of the last ones, are done for this block alone, in vectors: shifts by 1, 2, 4, ...
lanes scan a vector, and its last or first lane goes on to the next one.

Entries and what replaces NaN are as in :mod:`rollstat.kernels.extrema.doubling`.

State: scratch memory only. Invariant: ``total[b]`` is the best of block b, and the deque
``queue[head:tail]`` holds the blocks that no newer block wins against. Cost: one operation for each vector of
values, and about ``2 * log2(lanes) + 6`` more for each vector where the extremum of the windows changes
within a block; three times as much for positions.

Source: M. van Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal
kernels, Pattern Recognition Letters 13 (1992) 517-521, doi:10.1016/0167-8655(92)90069-C; J. Gil and
M. Werman, Computing 2-D min, median, and max filters, IEEE TPAMI 15 (1993) 504-507,
doi:10.1109/34.211471. D. Lemire observed that the extremum of a window seldom changes,
arXiv:cs/0610046, section 3.
"""

from typing import NamedTuple

from numpy.typing import NDArray

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch
from rollstat.compile.simd.vectors import (
    broadcast,
    broadcast_lane,
    contains_nan,
    first_lane,
    lanes_of,
    load,
    load_2d,
    propagate_nan,
    shift_in_next,
    shift_in_previous,
    store_2d,
    unaligned,
    zeros_like,
)
from rollstat.kernels.comparator import better, entry, prefer, store_result, tie_rule, worst_of
from rollstat.kernels.extrema.doubling import copy_values, store_and_prefetch
from rollstat.kernels.loops import copy


class Windows(NamedTuple):
    """Windows ``values[i:i + width]`` in blocks of `block` rows; the first begins at row `origin`."""

    values: NDArray
    width: int
    block: int
    origin: int


@kernel
def best_in(order, values):
    """Return the best of `values`, and whether there may be a NaN."""
    lanes = lanes_of(values)
    # Four accumulators: no comparison waits for the one before.
    one = two = three = four = broadcast(worst_of(order, values))
    nan = zeros_like(one)
    i, step = 0, 4 * lanes
    while i + step <= len(values):
        a, b = load(values, i), load(values, i + lanes)
        c, d = load(values, i + 2 * lanes), load(values, i + 3 * lanes)
        one, two, three, four = (
            prefer(order, a, one),
            prefer(order, b, two),
            prefer(order, c, three),
            prefer(order, d, four),
        )
        nan = propagate_nan(propagate_nan(nan, propagate_nan(a, b)), propagate_nan(c, d))
        i += step
    while i + lanes <= len(values):
        a = load(values, i)
        one, nan = prefer(order, a, one), propagate_nan(nan, a)
        i += lanes
    vector = prefer(order, prefer(order, one, two), prefer(order, three, four))
    best = first_lane(_suffixes_within(order, vector))
    found = contains_nan(nan)
    while i < len(values):
        best = prefer(order, values[i], best)
        found |= values[i] != values[i]
        i += 1
    return best, found


@kernel(forceinline=True)
def _prefixes_within(order, best):
    """Return the best entry up to each lane."""
    # Shifts bring in the first entry, with which every prefix begins.
    first = broadcast_lane(best, 0)
    best = prefer(order, best, shift_in_previous(first, best, 1))
    best = prefer(order, best, shift_in_previous(first, best, 2))
    best = prefer(order, best, shift_in_previous(first, best, 4))
    if lanes_of(best) > 8:
        best = prefer(order, best, shift_in_previous(first, best, 8))
    if lanes_of(best) > 16:
        best = prefer(order, best, shift_in_previous(first, best, 16))
    if lanes_of(best) > 32:
        best = prefer(order, best, shift_in_previous(first, best, 32))
    return best


@kernel(forceinline=True)
def _suffixes_within(order, best):
    """Return the best entry from each lane on."""
    last = broadcast_lane(best, -1)
    best = prefer(order, shift_in_next(best, last, 1), best)
    best = prefer(order, shift_in_next(best, last, 2), best)
    best = prefer(order, shift_in_next(best, last, 4), best)
    if lanes_of(best) > 8:
        best = prefer(order, shift_in_next(best, last, 8), best)
    if lanes_of(best) > 16:
        best = prefer(order, shift_in_next(best, last, 16), best)
    if lanes_of(best) > 32:
        best = prefer(order, shift_in_next(best, last, 32), best)
    return best


@kernel(forceinline=True)
def _entry_at(order, values, i, position):
    """Return the entry of the values from index `i` on, the worst value in place of NaN."""
    return entry(order, prefer(order, load(values, i), broadcast(worst_of(order, values))), position + i)


@kernel
def _scan_suffixes(order, values, position, newer, entries):
    """Write the best of ``values[i:]`` and the entry `newer` to ``entries[:, i]``."""
    for i in range(len(values) - lanes_of(values), -1, -lanes_of(values)):
        within = _suffixes_within(order, _entry_at(order, values, i, position))
        store_2d(prefer(order, newer, within), entries, i)
        newer = prefer(order, newer, broadcast_lane(within, 0))


@kernel
def _write_suffixes(order, values, position, newer, results, shift, following):
    """Write the best of ``values[i:]`` and the entry `newer`, or its position, to ``results[i]``."""
    for i in range(len(values) - lanes_of(values), -1, -lanes_of(values)):
        within = _suffixes_within(order, _entry_at(order, values, i, position))
        prefetch(following, i)
        store_result(order, prefer(order, newer, within), results, i, shift)
        newer = prefer(order, newer, broadcast_lane(within, 0))


@kernel
def _write_prefixes(order, values, position, older, entries, with_entries, results, shift, following):
    """Write the best of the entry `older`, ``values[:i + 1]`` and any ``entries[:, i]`` to ``results[i]``."""
    for i in range(0, len(values), lanes_of(values)):
        within = _prefixes_within(order, _entry_at(order, values, i, position))
        best = prefer(order, within, older)
        if with_entries:
            best = prefer(order, best, load_2d(entries, i, best))
        store_and_prefetch(order, best, results, i, shift, following)
        older = prefer(order, broadcast_lane(within, -1), older)


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
    """Return whether `value` wins against `other`; equal values if `wins_ties`."""
    return better(order, value, other) or (wins_ties and value == other)


@kernel
def _answer(order, windows, k, best, position, scratch, results, shift, following):
    """Write to `results` the windows that begin in block `k`; all have `best` at `position` in common."""
    values, width, block, origin = windows
    lanes, rule, end = lanes_of(values), tie_rule(order), k + width // block
    common = broadcast_lane(entry(order, broadcast(best), position), 0)
    # Can a value of the first block win, or one of the two last blocks?
    first_wins = _wins(order, scratch.total[k], best, rule < 0)
    newest = prefer(order, scratch.total[end], scratch.total[end + 1])
    last_wins = _wins(order, newest, best, rule > 0)
    if not (first_wins or last_wins):
        for i in range(0, block, lanes):
            store_and_prefetch(order, common, results, i, shift, following)
        return
    begin, border = origin + k * block, origin + end * block
    if first_wins:
        older = values[max(begin, 0) : begin + block]
        if len(older) < block:
            copy_values(order, values, begin, block, scratch.values)
            older = scratch.values[:block]
        if not last_wins:
            _write_suffixes(order, older, begin, common, results, shift, following)
            return
        _scan_suffixes(order, older, begin, common, scratch.entries)
    rest = values[border : max(begin + width - 1, border)]  # in all windows
    value = best_in(order, rest)[0]
    if len(rest) > 0 and _wins(order, value, best, rule > 0):
        place = border + (_position_of(rest, value, rule > 0) if rule != 0 else 0)
        common = broadcast_lane(entry(order, broadcast(value), place), 0)
    border = begin + width - 1
    newer = values[border : border + block]
    if len(newer) < block:
        copy_values(order, values, border, block, scratch.values)
        newer = scratch.values[:block]
    rest_of_call = scratch.entries, first_wins, results, shift, following
    _write_prefixes(order, newer, border, common, *rest_of_call)


@kernel
def rolling(order, values, width, block, scratch, shift, out):
    """Write the best of every ``values[i:i + width]``, or its position counted from `shift`, to ``out[i]``.

    Like :func:`rollstat.kernels.extrema.doubling.rolling`; windows have at least two blocks of `block` rows,
    a number of whole vectors. `scratch` has room for a block, and for as many totals as there are blocks of
    values, and four more.
    """
    early, whole, rule = unaligned(out), width // block, tie_rule(order)
    origin = early - block if early > 0 else 0  # later blocks of results begin at a cache line
    windows, total, queue = Windows(values, width, block, origin), scratch.total, scratch.queue
    nan, known, head, tail, row, position = False, 0, 0, 0, -1, 0
    for k in range((len(out) - origin + block - 1) // block):
        while known <= k + whole + 1:
            first = origin + known * block
            total[known], found = best_in(order, values[max(first, 0) : first + block])
            nan |= found
            known += 1
        for b in range(k + whole - 1 if k > 0 else 1, k + whole):
            while tail > head and _wins(order, total[b], total[queue[tail - 1]], rule >= 0):
                tail -= 1
            queue[tail] = b
            tail += 1
        while queue[head] <= k:
            head += 1
        if rule != 0 and queue[head] != row:
            row = queue[head]
            first = max(origin + row * block, 0)
            position = first + _position_of(values[first : origin + (row + 1) * block], total[row], rule > 0)
        first = origin + k * block
        begin, end = max(first, 0), min(first + block, len(out))
        results = out[begin:end]
        if end - begin < block:
            results = scratch.results[:block]
        following = values[min(origin + known * block, len(values)) :]
        _answer(order, windows, k, total[queue[head]], position, scratch, results, shift, following)
        if end - begin < block:
            copy(results[begin - first : end - first], out[begin:end])
    return nan
