"""A window of a fixed number of rows of a stream at two levels: rows in a ring, states of blocks in a queue.

::

    rows      . . [. .|. . . .|. . . .|. . . .|. . .]         blocks of 4 rows
    states         suffix     queue of blocks  prefix
                       built, one a row, while the block before it leaves

    result    (suffix from the oldest row on)(blocks between)(prefix)

A state is several words, and a queue that has one for each row is that many times as large as the rows. Here
the states are those of some ``sqrt(rows)`` rows and as many blocks, so that a window that has gone through an
array far longer than itself is made from its last rows in a fraction of the time, and the rows are at hand.

State: that of the queue; after it in `header` SHIFT (b is 1 << SHIFT), COUNT of observations, CURRENT (which
of two halves of the suffixes is of the block that leaves), LAST (its last observed place, or -1), LAST_BUILT
(that of the other half), BUILT (places of the other half that are not built), INSIDE (whether there is a
prefix), and the slots of :mod:`rollstat.kernels.aggregate.window`; after it in `cells` 2 b for
suffixes, one
for the blocks between and one for the prefix; `stamps`, the number of each block of the queue; `absent` and
`rows`, rings of what is missing and of elements. Invariant: a block that lacks all of its rows has no state;
place j of the suffixes of a block, up to its last observed place, holds that of rows j to b - 1; the cell of
the blocks between holds what the queue does, unless that is empty; a window of more than one row has at least
2 b.
Cost, in combinations: at most 2 a row and 2 a result (3 and 1 in arrays); by DABA 3 more where a block begins
to leave, and 4 where one ends, in the worst case; one a row to load them, and a few for each block.

Source: the queue is that of :mod:`rollstat.kernels.aggregate.daba` or
:mod:`rollstat.kernels.aggregate.two_stacks`; suffixes and
prefixes of blocks are those of van Herk, doi:10.1016/0167-8655(92)90069-C.
"""

import numpy as np
from numba import types

from rollstat._jit import INDEX, kernel
from rollstat._lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import (
    combine,
    define,
    emit,
    length,
    lift,
    lift_element,
    load,
    lower,
    save,
    take,
)
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK
from rollstat.kernels.aggregate.window import FIRST, LEAST, NEXT, SPAN, method_of_algorithm
from rollstat.kernels.aggregate.window import MORE as MORE_OF_STREAMS
from rollstat.kernels.stream.fast_call import plain, single_step

__all__ = [
    "BUILT",
    "COUNT",
    "CURRENT",
    "EXTRA",
    "INSIDE",
    "LAST",
    "LAST_BUILT",
    "MORE",
    "SHIFT",
    "evaluate",
    "extend",
    "length_of_block",
    "load_rows",
    "push_row",
    "slide",
]

SHIFT, COUNT, CURRENT, LAST, LAST_BUILT, BUILT, INSIDE = range(-7 - MORE_OF_STREAMS, -MORE_OF_STREAMS)
MORE = 7 + MORE_OF_STREAMS
# Cells besides those of suffixes.
EXTRA = 2
# Rows that are combined in pairs of pairs, so that few wait for others.
_TREE = 8

_push_state = method_of_algorithm("push_state", "operator, header, cells, state")
_pop = method_of_algorithm("pop", "operator, header, cells, number")
_query = method_of_algorithm("query", "operator, header, cells")


def length_of_block(rows):
    """Rows of a block, a power of two near the root of `rows`."""
    return 1 << max(int(rows**0.5).bit_length() - 1, 0)


@kernel(forceinline=True)
def _middle(cells):
    return len(cells) - 2


@kernel(forceinline=True)
def _prefix(cells):
    return len(cells) - 1


@kernel(forceinline=True)
def _suffixes(header, cells, which):
    """Where the suffixes of the block that the oldest row is in begin, or those of the one after."""
    return len(cells) - EXTRA - ((2 - (header[CURRENT] ^ which)) << header[SHIFT])


@kernel
def _note_middle(algorithm, operator, header, cells):
    if header[FRONT] < header[END]:
        save(cells, _middle(cells), _query(algorithm, operator, header, cells))


@kernel
def _begin_block(algorithm, operator, header, cells, stamps, first):
    """Let the suffixes that were built stand for the block of row `first`, which leaves the queue."""
    header[CURRENT] ^= 1
    header[LAST] = header[LAST_BUILT]
    header[LAST_BUILT] = -1
    header[BUILT] = 1 << header[SHIFT]
    front = header[FRONT]
    if front < header[END] and stamps[front & header[MASK]] == first >> header[SHIFT]:
        _pop(algorithm, operator, header, cells, 1)
        _note_middle(algorithm, operator, header, cells)


@kernel
def _build(operator, header, cells, absent, rows, first, place, number, which):
    """Write suffixes of the block of row `first` down from `place`; return its last observed place."""
    slot, to, last = first & (len(absent) - 1), _suffixes(header, cells, which), -1
    if place + 1 < 1 << header[SHIFT]:
        last = header[LAST_BUILT]
    state = load(cells, to + max(last, 0))
    if last >= 0:
        state = load(cells, to + place + 1)
    for j in range(place, place - number, -1):
        if not absent[slot + j]:
            older = lift(operator, cells, rows, slot + j)
            state = combine(operator, cells, older, state) if last >= 0 else older
            last = max(last, j)
        if last >= 0:
            save(cells, to + j, state)
    return last


@kernel
def _append(operator, header, cells, state):
    """Combine the prefix with what comes next."""
    if header[INSIDE]:
        state = combine(operator, cells, load(cells, _prefix(cells)), state)
    save(cells, _prefix(cells), state)
    header[INSIDE] = 1


@kernel
def _end_block(algorithm, operator, header, cells, stamps, number):
    """Move the prefix, which is that of a whole block, to the queue."""
    end = header[END]
    _push_state(algorithm, operator, header, cells, load(cells, _prefix(cells)))
    stamps[end & header[MASK]] = number
    header[INSIDE] = 0
    _note_middle(algorithm, operator, header, cells)


@kernel
def _take_in(algorithm, operator, header, cells, stamps, absent, rows, row, element, observed):
    """Let the oldest row of a full window go, and take in row number `row`."""
    shift, mask, oldest = header[SHIFT], len(absent) - 1, header[FIRST]
    within = (1 << shift) - 1
    if row - oldest >= header[SPAN]:
        oldest = row - header[SPAN]
        header[COUNT] -= not absent[oldest & mask]
        if oldest & within == 0:
            _begin_block(algorithm, operator, header, cells, stamps, oldest)
        oldest += 1
    place, first = header[BUILT] - 1, (oldest + within) & ~within
    if place >= 0 and first + within < row:
        header[LAST_BUILT] = _build(operator, header, cells, absent, rows, first, place, 1, 1)
        header[BUILT] = place
    absent[row & mask] = not observed
    save(rows, row & mask, element)
    if observed:
        header[COUNT] += 1
        _append(operator, header, cells, lift_element(operator, cells, element))
    if (row + 1) & within == 0 and header[INSIDE]:
        _end_block(algorithm, operator, header, cells, stamps, row >> shift)


@kernel
def _result(operator, header, cells, end):
    """The state of the rows before `end` that are in the window, of which some are observed."""
    oldest = max(end - header[SPAN], header[FIRST])
    place = oldest & ((1 << header[SHIFT]) - 1)
    cut, blocks = 0 < place <= header[LAST], header[FRONT] < header[END]
    suffix = _suffixes(header, cells, 0) + place
    state = load(cells, suffix if cut else _middle(cells) if blocks else _prefix(cells))
    if cut and blocks:
        state = combine(operator, cells, state, load(cells, _middle(cells)))
    if header[INSIDE] and (cut or blocks):
        state = combine(operator, cells, state, load(cells, _prefix(cells)))
    return state


@kernel
def slide(
    algorithm, operator, header, cells, stamps, absent, rows, row, element, observed, wanted, out, failed
):
    """Take in row number `row`, and write the result into slot 0 of `out` if `wanted` (>= 1) are observed."""
    _take_in(algorithm, operator, header, cells, stamps, absent, rows, row, element, observed)
    if header[COUNT] >= wanted:
        emit(operator, _result(operator, header, cells, row + 1), out, 0, failed)
    return header[COUNT]


@kernel
def evaluate(operator, header, cells, end, out, failed):
    """Write the result of the window of the rows before `end` into slot 0 of `out`."""
    emit(operator, _result(operator, header, cells, end), out, 0, failed)


@single_step
def push_row(algorithm, operator, header, cells, stamps, absent, rows, x):
    """Push a number, and return the result of the window, NaN where it has fewer than LEAST numbers."""
    header, cells, x = plain(header), plain(cells), plain(x)
    row = header[NEXT]
    header[NEXT] = row + 1
    absent, rows = plain(absent), plain(rows)
    _take_in(algorithm, operator, header, cells, plain(stamps), absent, rows, row, x, x == x)
    if header[COUNT] < header[LEAST]:
        return np.nan
    return lower(operator, _result(operator, header, cells, row + 1))


@kernel
def _pair(operator, cells, rows, i):
    return combine(operator, cells, lift(operator, cells, rows, i), lift(operator, cells, rows, i + 1))


@kernel
def _tree(operator, cells, rows, i):
    """The state of _TREE rows."""
    i &= INDEX
    older = combine(operator, cells, _pair(operator, cells, rows, i), _pair(operator, cells, rows, i + 2))
    newer = combine(operator, cells, _pair(operator, cells, rows, i + 4), _pair(operator, cells, rows, i + 6))
    return combine(operator, cells, older, newer)


@kernel
def _fold(operator, header, cells, absent, rows, slot, number, observed):
    """Combine the prefix with rows of one block, `observed` of them."""
    done = 0
    if observed == number >= _TREE:
        state = _tree(operator, cells, rows, slot)
        for i in range(_TREE, number - _TREE + 1, _TREE):
            state = combine(operator, cells, state, _tree(operator, cells, rows, slot + i))
        done = number - number % _TREE
        _append(operator, header, cells, state)
    for i in range(slot + done, slot + number):
        if not absent[i]:
            _append(operator, header, cells, lift(operator, cells, rows, i))


@kernel
def _rows_until_due(header, row):
    """For how many rows from `row` on a full window lets one go, and no block begins to leave or ends."""
    oldest, within = row - header[SPAN], (1 << header[SHIFT]) - 1
    if oldest < header[FIRST] or oldest & within == 0 or header[FRONT] == header[END]:
        return 0
    return within - max(oldest & within, row & within)


@kernel
def _take_calm(
    operator, header, cells, absent, rows, first, values, missing, i, stop, wanted, out, lacking, failed
):
    """Take in such rows, those from `i` to `stop` - 1; the next suffixes are built beforehand."""
    oldest, within = first + i - header[SPAN], (1 << header[SHIFT]) - 1
    mask = (len(absent) - 1) & INDEX
    block, built = (oldest + within) & ~within, header[BUILT]
    if built:
        header[LAST_BUILT] = _build(operator, header, cells, absent, rows, block, built - 1, built, 1)
        header[BUILT] = 0
    # What is between the block that leaves and the next row.
    total = load(cells, _middle(cells))
    if header[INSIDE]:
        total = combine(operator, cells, total, load(cells, _prefix(cells)))
    count, last, observed = header[COUNT], header[LAST], 0
    suffixes, place = _suffixes(header, cells, 0), oldest & within
    for j in range(i & INDEX, stop):
        count -= not absent[(oldest + j - i) & mask]
        place += 1
        slot = (first + j) & mask
        save(rows, slot, take(values, j))
        absent[slot] = missing[j]
        if not missing[j]:
            observed += 1
            total = combine(operator, cells, total, lift(operator, cells, values, j))
        if count + observed < wanted:
            lacking[j] = True
            continue
        state = total
        if place <= last:
            state = combine(operator, cells, load(cells, (suffixes + place) & INDEX), state)
        emit(operator, state, out, j, failed)
    header[COUNT] = count + observed
    _fold(operator, header, cells, absent, rows, (first + i) & mask, stop - i, observed)


@kernel
def extend(
    algorithm,
    operator,
    header,
    cells,
    stamps,
    absent,
    rows,
    first,
    values,
    missing,
    wanted,
    out,
    lacking,
    failed,
):
    """Take in many rows, the first of which has the number `first`, and write the result after each.

    Rows with fewer than `wanted` (>= 1) observations are marked in `lacking`.
    """
    i = 0
    while i < len(missing):
        stop = min(i + _rows_until_due(header, first + i), len(missing))
        if stop > i:
            given = first, values, missing, i, stop, wanted, out, lacking, failed
            _take_calm(operator, header, cells, absent, rows, *given)
            i = stop
            continue
        observed = not missing[i]
        element = take(values, i)
        _take_in(algorithm, operator, header, cells, stamps, absent, rows, first + i, element, observed)
        if header[COUNT] < wanted:
            lacking[i] = True
        else:
            emit(operator, _result(operator, header, cells, first + i + 1), out, i, failed)
        i += 1


@kernel
def _copy(ring, slot, column, i, number):
    target, source = ring[slot : slot + number], column[i : i + number]
    for j in range(len(source)):
        target[j] = source[j]


@kernel
def _note_nan(absent, slot, column, i, number):
    target, source = absent[slot : slot + number], column[i : i + number]
    for j in range(len(source)):
        target[j] |= source[j] != source[j]


def _each(function):
    """The function for a column and its ring, for every column and its ring where there are several."""

    def each(target, slot, values, i, number):
        several = isinstance(values, tuple)
        targets = target if isinstance(target, tuple) else [target] * (len(values) if several else 1)
        for one, column in zip(targets, values if several else (values,)):
            function(one, slot, column, i, number)

    @overloaded(each)
    def _of_types(target, slot, values, i, number):
        if not isinstance(values, types.BaseTuple):
            return lambda target, slot, values, i, number: function(target, slot, values, i, number)
        places = [
            f"target[{k}]" if isinstance(target, types.BaseTuple) else "target" for k in range(len(values))
        ]
        body = [f"function({place}, slot, values[{k}], i, number)" for k, place in enumerate(places)]
        return define("target, slot, values, i, number", [*body, "return None"], function=function)

    return each


_copy_each, _note_each = _each(_copy), _each(_note_nan)


@kernel
def _put(absent, rows, slot, values, missing, i, number):
    """Put elements into the rings; return how many of them are observed: where `missing` is None, no NaN."""
    _copy_each(rows, slot, values, i, number)
    marks = absent[slot : slot + number]
    marks[:] = False
    if missing is None:
        _note_each(absent, slot, values, i, number)
    else:
        _copy(absent, slot, missing, i, number)
    some_absent = False
    for j in range(len(marks)):
        some_absent |= marks[j]
    observed = number
    if some_absent:
        for j in range(len(marks)):
            observed -= marks[j]
    return observed


@kernel
def load_rows(algorithm, operator, header, cells, stamps, absent, rows, end, values, missing):
    """Hold elements in an empty window, the last of which is row ``end - 1``; without `missing`, NaN is."""
    size, mask = 1 << header[SHIFT], len(absent) - 1
    oldest = end - length(values)
    first = (oldest + size - 1) & ~(size - 1)
    # A block is combined while it is in the cache.
    for block in range(first - size, end, size):
        begin, number = max(block, oldest), min(block + size, end) - max(block, oldest)
        if number > 0:
            observed = _put(absent, rows, begin & mask, values, missing, begin - oldest, number)
            header[COUNT] += observed
            if block >= first:
                _fold(operator, header, cells, absent, rows, block & mask, number, observed)
                if number == size and observed:
                    _end_block(algorithm, operator, header, cells, stamps, block >> header[SHIFT])
    last, given = size - 1, (absent, rows)
    header[LAST] = _build(operator, header, cells, *given, first - size, last, first - oldest, 0)
    if first + size <= end:
        header[LAST_BUILT] = _build(operator, header, cells, *given, first, last, size, 1)
        header[BUILT] = 0
