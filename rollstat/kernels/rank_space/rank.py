r"""Rank of the newest value among the observations of its window.

::

    values   30  10  20  20  10  20           windows of 5 rows, the newest of the last one is 20
    rows in the order of values  1 4 2 3 5 0
    set       .   1   .   .   1   .           the rows of 10, before those of 20 are added
                 |<---- window ---->|         smaller = 2 members from row 1 to 5
    set       .   1   1   1   1   1           equal = 3 more: the ranks of the newest are 3, 4, 5

In windows that move by one row, rows are taken in the order of their values. The set holds the rows before in
this order, so that those in a window are counted as the members below its end less those below its start.

In other windows, or where only distinct values count, rows are taken in the order of time. The set then holds
the ranks in the window, ties by row; for distinct values the ranks of the first of equal values, with
``copies``, the number of observations of each.

State: `Members`, a set of rows or ranks.

::

    groups   0                                23   ..    members before each group of 32 lines
    lines    0                    5           .. 0       members of the group before each line of four words
    words    0     3     5     5  0     2     ..         members of the line before each word
    bits     0110  1000  0000 ..  0101  0000  ..         a word for 64 rows or ranks

Invariant: the counts match the bits, and there are as many ranks as the window has observations (or distinct
values). A change adds to the four words of its line at once, as bytes of one integer, and vectors of steps to
the lines of its group and to the groups.

Cost: O(1) for each row that enters or leaves, and for each output row, up to some million rows: the groups
take a vector for 16. The block is sorted beforehand, in O(n log n). For narrow windows of constant width,
:func:`compare_newest` compares every observation with the newest instead, for many windows at once: O(m) a
row with a small constant.

Source: counts on several levels are from G. Jacobson, Space-efficient static trees and graphs (1989),
doi:10.1109/SFCS.1989.63533; the reduction to sorted blocks is from Raykov, An optimal algorithm for sliding
window order statistics, section 4 (ICDT 2023), doi:10.4230/LIPIcs.ICDT.2023.5. The methods follow pandas'
``rolling.rank`` and ``Series.rank``.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_ones
from rollstat.compile.simd.vectors import (
    aligned_empty,
    broadcast,
    count_equal,
    count_less,
    lanes_of,
    load,
    store,
)
from rollstat.kernels.selection.radix_sort import (
    SortScratch,
    allocate_sort,
    bits_for,
    row_mask,
    sort_observations,
)

AVERAGE, MIN, MAX, FIRST, DENSE = 0, 1, 2, 3, 4
METHODS = {"average": AVERAGE, "min": MIN, "max": MAX, "first": FIRST, "dense": DENSE}

_ONE = np.uint64(1)
# Bits of a member below those that number its word, line and group; lines of a group, groups of a vector.
_WORD, _LINE, _GROUP = 6, 8, 13
_LINES, _GROUPS = 32, 16
_STEPS_OF_WORDS = np.uint32(0x01010100)


class Members(NamedTuple):
    """A set of small integers that counts its members below one of them.

    Attributes
    ----------
    bits : ndarray of uint64, shape (4 * lines,)
        One bit for each integer.
    words : ndarray of uint8, shape (4 * lines,)
        Number of members before each word, within its line.
    fours : ndarray of uint32, shape (lines,)
        The same memory as `words`.
    lines : ndarray of int16, shape (lines,)
        Number of members before each line, within its group.
    groups : ndarray of int32, shape (lines / 32 or more,)
        Number of members before each group; at least one vector, aligned, from the second group on.
    line_steps, group_steps : ndarray of int16, shape (64,), and of int32, shape (32,)
        A vector of zeros and one of ones.
    """

    bits: np.ndarray
    words: np.ndarray
    fours: np.ndarray
    lines: np.ndarray
    groups: np.ndarray
    line_steps: np.ndarray
    group_steps: np.ndarray


def _zeros(length, dtype):
    zeros = aligned_empty(length, dtype)  # vectors across cache lines could not be read at once
    zeros.fill(0)
    return zeros


def create(limit):
    """Return an empty set for members below `limit`."""
    groups = (max(limit - 1, 0) >> _GROUP) + 1
    words = np.zeros(4 * _LINES * groups, np.uint8)
    return Members(
        np.zeros(len(words), np.uint64),
        words,
        words.view(np.uint32),
        _zeros(_LINES * groups, np.int16),
        _zeros((groups + 2 * _GROUPS) // _GROUPS * _GROUPS, np.int32)[_GROUPS - 1 :],
        np.repeat(np.array([0, 1], np.int16), _LINES),
        np.repeat(np.array([0, 1], np.int32), _GROUPS),
    )


@kernel(forceinline=True)
def _counted(counts, steps, before, adds):
    """Return a vector of counts, all but the `before` first plus 1, or minus 1."""
    change = load(steps, lanes_of(steps) - before)
    return counts + change if adds else counts - change


@kernel(forceinline=True)
def _change(members, member, adds, top):
    """Add a member, or remove it; `top` and the result are the first vector of `groups`, before and after.

    To read it from memory would take until the last change has been stored.
    """
    fours, lines, groups = members.fours, members.lines, members.groups
    line, group = member >> _LINE, member >> _GROUP
    members.bits[(member >> _WORD) & INDEX] ^= _ONE << np.uint64(member & 63)
    change = _STEPS_OF_WORDS << np.uint32((member >> (_WORD - 3)) & 24)
    fours[line & INDEX] = fours[line & INDEX] + change if adds else fours[line & INDEX] - change
    first, before = group * _LINES, (line & (_LINES - 1)) + 1
    store(_counted(load(lines, first), members.line_steps, before, adds), lines, first)
    top = _counted(top, members.group_steps, min(group, _GROUPS), adds)
    store(top, groups, 1)
    for i in range(1 + _GROUPS, len(groups), _GROUPS):
        before = min(max(group + 1 - i, 0), _GROUPS)
        store(_counted(load(groups, i), members.group_steps, before, adds), groups, i)
    return top


@kernel(forceinline=True)
def _count_below(members, limit):
    word, below = limit >> _WORD, (_ONE << np.uint64(limit & 63)) - _ONE
    found = count_ones(members.bits[word & INDEX] & below) + members.words[word & INDEX]
    return found + members.lines[(limit >> _LINE) & INDEX] + members.groups[(limit >> _GROUP) & INDEX]


@kernel
def check(members):
    """Return whether the counts match the bits."""
    right, before = True, 0
    for word in range(len(members.bits)):
        right &= _count_below(members, word << _WORD) == before
        before += count_ones(members.bits[word])
    return right


@kernel
def count_newest(own, firsts, lasts, start, end, copies, members, smaller, equal, total):
    """Count the observations that are smaller than the last row of every window, and those equal to it.

    Parameters
    ----------
    own : ndarray of int, shape (n,)
        Rank of every row, ties by row, negative where missing.
    firsts, lasts : ndarray of int, shape (n,)
        Ranks of the first and of the last row with the same value.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    copies : ndarray of int32
        Zeros for all ranks, to count distinct values instead of observations; or empty.
    members : Members
        An empty set for one more than the ranks.
    smaller, equal, total : ndarray of int64, shape (rows,)
        Receive the number of smaller observations, of equal ones (including the newest; 0 where the last
        row is missing) and of all in the window.
    """
    dense, top = len(copies) > 0, load(members.groups, 1)
    left = right = size = 0
    for i in range(len(start)):
        for j in range(left, min(start[i], right)):
            rank = np.int64(firsts[j] if dense else own[j])
            if rank >= 0:
                last_copy = True
                if dense:
                    copies[rank] -= 1
                    last_copy = copies[rank] == 0
                if last_copy:
                    top = _change(members, rank, False, top)
                    size -= 1
        for j in range(max(start[i], right), end[i]):
            rank = np.int64(firsts[j] if dense else own[j])
            if rank >= 0:
                first_copy = True
                if dense:
                    copies[rank] += 1
                    first_copy = copies[rank] == 1
                if first_copy:
                    top = _change(members, rank, True, top)
                    size += 1
        left, right = start[i], end[i]
        total[i] = size
        smaller[i] = equal[i] = 0
        first = np.int64(firsts[right - 1]) if right > left else np.int64(-1)
        if first >= 0:
            last = first if dense else np.int64(lasts[right - 1])
            smaller[i] = _count_below(members, first)
            equal[i] = _count_below(members, last + 1) - smaller[i]


class Memory(NamedTuple):
    """Memory of :func:`rank_in_parts`.

    Attributes
    ----------
    sort : SortScratch
    members : Members
    smaller, equal : ndarray of int32, shape (rows of a part,)
    width : ndarray of int64, shape (rows of a part,)
        The rows of a window, where all have as many.
    """

    sort: SortScratch
    members: Members
    smaller: np.ndarray
    equal: np.ndarray
    width: np.ndarray


def allocate(rows, width):
    """Return memory for parts of up to this many rows, and windows of `width` rows, 0 if that varies."""
    counts = np.empty((2, rows), np.int32)
    return Memory(allocate_sort(rows), create(rows), *counts, np.full(rows, width, np.int64))


@kernel(forceinline=True)
def _low(row, start, offset, first, width):
    """Return the first row of the window that ends with `row`, or `row` if there is none."""
    return max(row + 1 - width, 0) if width > 0 else min(start[max(row - offset, 0)] - first, row)


@kernel
def count_by_value(records, row_bits, values, first, start, offset, width, members, smaller, equal):
    """Count what :func:`count_newest` does for windows each of which ends one row later than the one before.

    Parameters
    ----------
    records : ndarray of uint64, shape (observations,)
        Sorted records, see :mod:`rollstat.kernels.selection.radix_sort`.
    row_bits : int
        Bits of a row in a record.
    values : ndarray, shape (n,)
        They end with the last window.
    first : int
        The row of the series that ``values[0]`` is.
    start : ndarray of int64, shape (rows,)
        First row of every window, in the series; read where widths vary.
    offset : int
        Row of `values` that ends the first window.
    width : int
        Rows of every window; 0 where they vary.
    members : Members
        Scratch, for n rows.
    smaller, equal : ndarray of int32, shape (n or more,)
        Receive the counts of the window that ends with each row; those of rows before the first window mean
        nothing, nor do those of missing rows.
    """
    members.bits[:] = 0
    members.words[:] = 0
    members.lines[:] = 0
    members.groups[:] = 0
    equal[: len(values)] = 1
    mask, i, top = row_mask(row_bits), 0, load(members.groups, 1)
    while i < len(records):
        record = records[i]
        row, end = np.int64(record & mask), i + 1
        while (
            end < len(records)
            and (records[end & INDEX] ^ record) <= mask
            and values[np.int64(records[end & INDEX] & mask) & INDEX] == values[row & INDEX]
        ):
            end += 1
        if end == i + 1:
            low = _low(row, start, offset, first, width)
            smaller[row & INDEX] = _count_below(members, row) - _count_below(members, low)
            top = _change(members, row, True, top)
        else:
            for j in range(i, end):
                row = np.int64(records[j] & mask)
                low = _low(row, start, offset, first, width)
                smaller[row] = _count_below(members, row) - _count_below(members, low)
            for j in range(i, end):
                top = _change(members, np.int64(records[j] & mask), True, top)
            for j in range(i, end):
                row = np.int64(records[j] & mask)
                low = _low(row, start, offset, first, width)
                equal[row] = 1 + _count_below(members, row) - _count_below(members, low) - smaller[row]
        i = end


@kernel
def rank_in_parts(
    values, missing, start, width, total, fewest, memory, method, ascending, pct, result
):  # 11 parameters: series, windows, memory, and what a rank is
    """Write the rank of the last row of every window; the next window ends one row later.

    Parameters
    ----------
    values : ndarray of float64 or uint64, shape (n,)
    missing : ndarray of bool, shape (n,), or (0,) where no value is missing
    start : ndarray of int64, shape (rows,)
        First row of every window; empty where all have one width.
    width : int
        Rows of every window; 0 where they vary.
    total : ndarray of int64, shape (rows,)
        Number of observations in every window; empty where it is `width`.
    fewest : int
        A part covers this many rows, or four first windows if these are more.
    memory : Memory
    method, ascending, pct
        As for :func:`place_of`.
    result : ndarray of float64, shape (rows,)
        Receives the ranks; any number where the last row is missing.

    Returns
    -------
    int
        Number of windows that are done: it stops before a part that the radix sort does not suit.
    """
    sort, members, smaller, equal, all_width = memory
    offset, first = len(values) - len(result), 0
    while first < len(result):
        row = first + offset
        low = first if width > 0 else min(start[first], row)
        end = min(low + max(fewest, 4 * (row + 1 - low)), len(values))
        part, absent, rows = values[low:end], missing[low:end], slice(first, end - offset)
        count = sort_observations(part, absent, sort)
        if count < 0:
            return first
        given = sort.records[:count], bits_for(len(part)), part, low, start[rows], row - low, width
        count_by_value(*given, members, smaller, equal)
        of_part = slice(row - low, end - low)
        totals = total[rows] if len(total) > 0 else all_width[of_part]
        finish(smaller[of_part], equal[of_part], totals, method, ascending, pct, result[rows])
        first = end - offset
    return first


@kernel(forceinline=True)
def _compare_vectors(values, first, width, smaller, equal):
    """Write the counts of the windows of two vectors that begin at row `first`."""
    lanes = lanes_of(values)
    newest, other = load(values, first + width - 1), load(values, first + width - 1 + lanes)
    less = other_less = same = other_same = broadcast(np.int64(0))
    for i in range(first, first + width):
        older = load(values, i)
        less, same = count_less(less, older, newest), count_equal(same, older, newest)
        older = load(values, i + lanes)
        other_less, other_same = count_less(other_less, older, other), count_equal(other_same, older, other)
    store(less, smaller, first)
    store(other_less, smaller, first + lanes)
    store(same, equal, first)
    store(other_same, equal, first + lanes)


@kernel
def compare_newest(values, width, smaller, equal):
    """Count the smaller and the equal observations for the last row of every window of `width` rows.

    Missing values must be NaN. The counts are written into `smaller` and `equal`, int64 (rows,).
    """
    step = 2 * lanes_of(values)
    whole = len(smaller) // step * step
    for first in range(0, whole, step):
        _compare_vectors(values, first, width, smaller, equal)
    for i in range(whole, len(smaller)):
        newest = values[i + width - 1]
        smaller[i] = equal[i] = 0
        for value in values[i : i + width]:
            smaller[i] += value < newest
            equal[i] += value == newest


@kernel
def place_of(smaller, equal, total, method, ascending, pct):
    """Return the rank of a value, from 1, or the fraction of `total`."""
    same = max(equal, 1)
    low = smaller if ascending else total - smaller - same
    share = 0.5 if method == AVERAGE else np.float64(method in (MAX, FIRST))  # no branch, so that vectors do
    position = low + 1.0 + share * (same - 1)
    return position / max(total, 1) if pct else position


@kernel
def finish(smaller, equal, total, method, ascending, pct, result):
    """Turn counts into ranks from 1, or fractions of `total`; any number where the newest is missing."""
    for i in range(len(result)):
        result[i] = place_of(smaller[i], equal[i], total[i], method, ascending, pct)
