r"""A window of the last m rows of a stream on two levels: rows in a ring, combined blocks of them in a queue.

::

    rows      . . [. .|. . . .|. . . .|. . . .|. . .]         blocks of 4 rows
                   \_/ \_____________________/ \___/
    states       suffix   middle: a queue of     prefix       result = (suffix)(middle)(prefix)
                          states, one a block

    The suffixes of the next block are built, one a row, while the rows of the oldest block are dropped.

A state can be several numbers, and a queue with a state for each row takes as many times the memory of the
rows. Here there are states for about ``sqrt(m)`` rows and as many blocks. So the window is built from its
last m rows in a fraction of the time that the pushes take, which is what a stream does with an array far
longer than the window; and the rows are available for the windows that reach into that array.

State (:class:`State`): `header` and `cells`, those of the queue of blocks followed by more. In `header`:
SHIFT (a block has b = 1 << SHIFT rows), COUNT (observations in the window), HALF (which half of the suffix
cells is that of the oldest block), LAST (last place of the oldest block that has a suffix, or -1), NEXT_LAST
(the same of the next block), UNBUILT (places of the next block whose suffixes are not built), HAS_PREFIX, and
the slots of :mod:`rollstat.kernels.aggregate.window`. In `cells`: 2 b suffixes, the middle and the
prefix. `stamps`, the number of each block in the queue; `missing` and `values`, rings of the rows.
Invariant: a block without observations has no state; suffix j of a block, up to its last observation, holds
its rows j to b - 1; the middle cell holds the queue combined, unless it is empty; a window of more than one
row has at least 2 b rows.
Cost, in combinations: at most 2 a row and 2 a result (3 and 1 in arrays); with DABA 3 more for a row that
starts to drop a block, and 4 for one that ends a block, in the worst case; loading takes one a row and a few
for each block.

Source: the queue is that of :mod:`rollstat.kernels.aggregate.daba` or
:mod:`rollstat.kernels.aggregate.two_stacks`; suffixes and prefixes of blocks: M. van Herk, Pattern
Recognition Letters 13 (1992), doi:10.1016/0167-8655(92)90069-C.
"""

from typing import Any, NamedTuple

import numpy as np

from rollstat._fast_call import plain, single_step
from rollstat._jit import INDEX, kernel
from rollstat.kernels.aggregate.operator_calls import (
    combine,
    emit,
    lift,
    lift_element,
    load,
    lower,
    save,
    take,
)
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK
from rollstat.kernels.aggregate.window import FIRST, LEAST, NEXT, SPAN, method_of_algorithm
from rollstat.kernels.aggregate.window import MORE as STREAM_SLOTS

__all__ = [
    "COUNT",
    "EXTRA",
    "HALF",
    "HAS_PREFIX",
    "LAST",
    "NEXT_LAST",
    "SHIFT",
    "SLOTS",
    "UNBUILT",
    "State",
    "block_length",
    "evaluate",
    "extend",
    "load_rows",
    "push",
    "push_row",
]

SHIFT, COUNT, HALF, LAST, NEXT_LAST, UNBUILT, HAS_PREFIX = range(-7 - STREAM_SLOTS, -STREAM_SLOTS)
SLOTS = 7 + STREAM_SLOTS
# Cells besides those of the queue and the suffixes.
EXTRA = 2
# Rows that are combined in a tree of pairs, so that few combinations wait for others.
_TREE = 8

_push_state = method_of_algorithm("push_state", "operator, header, cells, state")
_pop = method_of_algorithm("pop", "operator, header, cells, number")
_query = method_of_algorithm("query", "operator, header, cells")


class State(NamedTuple):
    """The arrays of a window, see the docstring of this module."""

    header: Any
    cells: Any
    stamps: Any
    missing: Any
    values: Any


def block_length(rows):
    """Rows of a block for a window of so many `rows`: a power of two near the root."""
    return 1 << max(int(rows**0.5).bit_length() - 1, 0)


@kernel(forceinline=True)
def _middle(cells):
    return len(cells) - 2


@kernel(forceinline=True)
def _prefix(cells):
    return len(cells) - 1


@kernel(forceinline=True)
def _suffixes(header, cells, which):
    """Cell of the first suffix of the oldest block (`which` is 0) or of the next one (1)."""
    return len(cells) - EXTRA - ((2 - (header[HALF] ^ which)) << header[SHIFT])


@kernel
def _update_middle(algorithm, operator, header, cells):
    if header[FRONT] < header[END]:
        save(cells, _middle(cells), _query(algorithm, operator, header, cells))


@kernel
def _start_block(algorithm, operator, state, first):
    """Make the next block, which starts at row `first`, the oldest one, and remove it from the queue."""
    header = state.header
    header[HALF] ^= 1
    header[LAST] = header[NEXT_LAST]
    header[NEXT_LAST] = -1
    header[UNBUILT] = 1 << header[SHIFT]
    front = header[FRONT]
    if front < header[END] and state.stamps[front & header[MASK]] == first >> header[SHIFT]:
        _pop(algorithm, operator, header, state.cells, 1)
        _update_middle(algorithm, operator, header, state.cells)


@kernel
def _build_suffixes(operator, state, first, place, number, which):
    """Build `number` suffixes of the block that starts at row `first`, from `place` downward.

    Those of later places exist already. Returns the last place that has a suffix, or -1.
    """
    header, cells = state.header, state.cells
    slot, base, last = first & (len(state.missing) - 1), _suffixes(header, cells, which), -1
    if place + 1 < 1 << header[SHIFT]:
        last = header[NEXT_LAST]
    # Without a later suffix any cell serves: it is not read, but gives the variable its type.
    suffix = load(cells, base + (place + 1 if last >= 0 else 0))
    for j in range(place, place - number, -1):
        if not state.missing[slot + j]:
            older = lift(operator, cells, state.values, slot + j)
            suffix = combine(operator, cells, older, suffix) if last >= 0 else older
            last = max(last, j)
        if last >= 0:
            save(cells, base + j, suffix)
    return last


@kernel
def _append_to_prefix(operator, header, cells, newer):
    if header[HAS_PREFIX]:
        newer = combine(operator, cells, load(cells, _prefix(cells)), newer)
    save(cells, _prefix(cells), newer)
    header[HAS_PREFIX] = 1


@kernel
def _end_block(algorithm, operator, state, number):
    """Move the prefix, which is that of the whole block `number`, to the queue."""
    header, cells = state.header, state.cells
    end = header[END]
    _push_state(algorithm, operator, header, cells, load(cells, _prefix(cells)))
    state.stamps[end & header[MASK]] = number
    header[HAS_PREFIX] = 0
    _update_middle(algorithm, operator, header, cells)


@kernel
def _add_row(algorithm, operator, state, row, element, observed):
    """Drop the oldest row of a full window, and add row number `row`."""
    header, cells = state.header, state.cells
    shift, mask, oldest = header[SHIFT], len(state.missing) - 1, header[FIRST]
    within = (1 << shift) - 1
    if row - oldest >= header[SPAN]:
        oldest = row - header[SPAN]
        header[COUNT] -= not state.missing[oldest & mask]
        if oldest & within == 0:
            _start_block(algorithm, operator, state, oldest)
        oldest += 1
    place, first = header[UNBUILT] - 1, (oldest + within) & ~within
    if place >= 0 and first + within < row:
        header[NEXT_LAST] = _build_suffixes(operator, state, first, place, 1, 1)
        header[UNBUILT] = place
    state.missing[row & mask] = not observed
    save(state.values, row & mask, element)
    if observed:
        header[COUNT] += 1
        _append_to_prefix(operator, header, cells, lift_element(operator, cells, element))
    if (row + 1) & within == 0 and header[HAS_PREFIX]:
        _end_block(algorithm, operator, state, row >> shift)


@kernel
def _window_state(operator, header, cells, end):
    """The state of the rows before `end` that are in the window, at least one of them observed."""
    oldest = max(end - header[SPAN], header[FIRST])
    place = oldest & ((1 << header[SHIFT]) - 1)
    has_suffix, has_middle = 0 < place <= header[LAST], header[FRONT] < header[END]
    suffix = _suffixes(header, cells, 0) + place
    state = load(cells, suffix if has_suffix else _middle(cells) if has_middle else _prefix(cells))
    if has_suffix and has_middle:
        state = combine(operator, cells, state, load(cells, _middle(cells)))
    if header[HAS_PREFIX] and (has_suffix or has_middle):
        state = combine(operator, cells, state, load(cells, _prefix(cells)))
    return state


@kernel
def push(algorithm, operator, state, row, element, observed, min_periods, out, failed):
    """Add row number `row`; write the result into slot 0 of `out` if `min_periods` (>= 1) are observed."""
    _add_row(algorithm, operator, state, row, element, observed)
    header = state.header
    if header[COUNT] >= min_periods:
        emit(operator, _window_state(operator, header, state.cells, row + 1), out, 0, failed)
    return header[COUNT]


@kernel
def evaluate(operator, header, cells, end, out, failed):
    """Write the result of the window of the rows before `end` into slot 0 of `out`."""
    emit(operator, _window_state(operator, header, cells, end), out, 0, failed)


@single_step
def push_row(algorithm, operator, header, cells, stamps, missing, values, x):
    """Push a number, and return the result of the window, NaN where it has fewer than LEAST numbers."""
    header, cells, x = plain(header), plain(cells), plain(x)
    row = header[NEXT]
    header[NEXT] = row + 1
    state = State(header, cells, plain(stamps), plain(missing), plain(values))
    _add_row(algorithm, operator, state, row, x, x == x)
    if header[COUNT] < header[LEAST]:
        return np.nan
    return lower(operator, _window_state(operator, header, cells, row + 1))


@kernel
def _pair(operator, cells, values, i):
    return combine(operator, cells, lift(operator, cells, values, i), lift(operator, cells, values, i + 1))


@kernel
def _tree(operator, cells, values, i):
    """The state of the _TREE elements from `i` on."""
    i &= INDEX
    older = combine(operator, cells, _pair(operator, cells, values, i), _pair(operator, cells, values, i + 2))
    newer = combine(
        operator, cells, _pair(operator, cells, values, i + 4), _pair(operator, cells, values, i + 6)
    )
    return combine(operator, cells, older, newer)


@kernel
def _append_rows_to_prefix(operator, state, slot, number, observed):
    """Combine the prefix with `number` rows of one block in the rings, of which `observed` are observed."""
    header, cells, values = state.header, state.cells, state.values
    done = 0
    if observed == number >= _TREE:
        total = _tree(operator, cells, values, slot)
        for i in range(_TREE, number - _TREE + 1, _TREE):
            total = combine(operator, cells, total, _tree(operator, cells, values, slot + i))
        done = number - number % _TREE
        _append_to_prefix(operator, header, cells, total)
    for i in range(slot + done, slot + number):
        if not state.missing[i]:
            _append_to_prefix(operator, header, cells, lift(operator, cells, values, i))


@kernel
def _rows_until_boundary(header, row):
    """For how many rows from `row` on a full window drops one, and none starts to drop or ends a block."""
    oldest, within = row - header[SPAN], (1 << header[SHIFT]) - 1
    if oldest < header[FIRST] or oldest & within == 0 or header[FRONT] == header[END]:
        return 0
    return within - max(oldest & within, row & within)


@kernel
def _slide(operator, state, rows, i, stop, results):
    """Add rows `i` to `stop` - 1, none of which starts to drop or ends a block."""
    header, cells = state.header, state.cells
    row = rows.stamps[0] + i
    oldest, within = row - header[SPAN], (1 << header[SHIFT]) - 1
    mask = (len(state.missing) - 1) & INDEX
    unbuilt = header[UNBUILT]
    if unbuilt:
        # All of them now; single pushes build one a row.
        first = (oldest + within) & ~within
        header[NEXT_LAST] = _build_suffixes(operator, state, first, unbuilt - 1, unbuilt, 1)
        header[UNBUILT] = 0
    # Middle and prefix are combined once; then each row takes one combination more, and one for its result.
    total = load(cells, _middle(cells))
    if header[HAS_PREFIX]:
        total = combine(operator, cells, total, load(cells, _prefix(cells)))
    count, last, observed = header[COUNT], header[LAST], 0
    suffixes, place = _suffixes(header, cells, 0), oldest & within
    for j in range(i & INDEX, stop):
        count -= not state.missing[(oldest + j - i) & mask]
        place += 1
        slot = (row + j - i) & mask
        save(state.values, slot, take(rows.values, j))
        state.missing[slot] = rows.missing[j]
        if not rows.missing[j]:
            observed += 1
            total = combine(operator, cells, total, lift(operator, cells, rows.values, j))
        if count + observed < results.min_periods:
            results.insufficient[j] = True
            continue
        window = total
        if place <= last:
            window = combine(operator, cells, load(cells, (suffixes + place) & INDEX), window)
        emit(operator, window, results.out, j, results.failed)
    header[COUNT] = count + observed
    _append_rows_to_prefix(operator, state, row & mask, stop - i, observed)


@kernel
def extend(algorithm, operator, state, rows, results):
    """Add `rows`, whose stamps are row numbers without a gap, and write the result after each."""
    header, i = state.header, 0
    while i < len(rows.stamps):
        row = rows.stamps[i]
        stop = min(i + _rows_until_boundary(header, row), len(rows.stamps))
        if stop > i:
            _slide(operator, state, rows, i, stop, results)
            i = stop
            continue
        _add_row(algorithm, operator, state, row, take(rows.values, i), not rows.missing[i])
        if header[COUNT] < results.min_periods:
            results.insufficient[i] = True
        else:
            window = _window_state(operator, header, state.cells, row + 1)
            emit(operator, window, results.out, i, results.failed)
        i += 1


@kernel
def _store_rows(state, slot, values, missing, i, number):
    """Write `number` rows from `i` on into the rings, from `slot` on; return how many are observed."""
    observed = number
    # Separate loops over indices that cannot be negative, which the compiler turns into vector instructions.
    for j in range(number):
        save(state.values, (slot + j) & INDEX, take(values, (i + j) & INDEX))
    for j in range(number):
        state.missing[(slot + j) & INDEX] = missing[(i + j) & INDEX]
    for j in range(number):
        observed -= missing[(i + j) & INDEX]
    return observed


@kernel
def load_rows(algorithm, operator, state, oldest, values, missing):
    """Add rows, at most as many as the window has and the first of number `oldest`, to an empty window."""
    header = state.header
    size, mask, last = 1 << header[SHIFT], len(state.missing) - 1, (1 << header[SHIFT]) - 1
    if len(missing) == 0:
        return
    end, first = oldest + len(missing), (oldest + last) & ~last
    # A block is combined right after it was written, while it is in the cache.
    for block in range(first - size, end, size):
        begin, stop = max(block, oldest), min(block + size, end)
        if begin < stop:
            observed = _store_rows(state, begin & mask, values, missing, begin - oldest, stop - begin)
            header[COUNT] += observed
            if block >= first:
                _append_rows_to_prefix(operator, state, block & mask, stop - begin, observed)
                if stop - begin == size and observed:
                    _end_block(algorithm, operator, state, block >> header[SHIFT])
    # The oldest block, of which the window may have dropped some rows, and the next one.
    header[LAST] = _build_suffixes(operator, state, first - size, last, first - oldest, 0)
    if first + size <= end:
        header[NEXT_LAST] = _build_suffixes(operator, state, first, last, size, 1)
        header[UNBUILT] = 0
