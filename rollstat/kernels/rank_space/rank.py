r"""Rank of the newest value among the observations of its window.

::

    values   30  10  20  20  10  20           window [1, 6) = 10 20 20 10 20, newest 20
    rank      5   0   2   3   1   4           of the sorted block; 20 has the ranks 2 to 4
    set      1 1 1 1 1 0                      bits 0 1 for both 10, bits 2 3 4 for the three 20
    smaller = 2 members below rank 2, equal = 3 from 2 to 4: the ranks of the newest are 3, 4, 5

State: `Members`, the ranks in the window, ties by row. Where only distinct values count, these are the ranks
of the first of equal values, with ``copies``, the number of observations of each.

::

    groups   0                             41          members before each group of 64 lines
    lines    0       3       5   ...       0       2   members of the group before each line of two words
    bits     0110 .. 1000 .. 0011 ..       0101 ..     a word for 64 ranks

Invariant: there are as many members as the window has observations (or distinct values), and the counts match
the bits. Counts of lines change by vectors of steps: at once for a value that enters and one that leaves, if
there are at most two groups and both values belong to one.

Cost: O(1) for each row that enters or leaves, and for each output row, up to some million ranks: the groups
take a vector for 16. The block is sorted beforehand, in O(n log n). For narrow windows of constant width,
:func:`compare_newest` compares every observation with the newest instead, for many windows at once: O(m) a
row with a small constant.

Source: counts on two levels are from G. Jacobson, Space-efficient static trees and graphs (1989),
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
    count_equal,
    count_less,
    lanes_of,
    load,
    store,
    store_counts,
    zeros_like,
)

AVERAGE, MIN, MAX, FIRST, DENSE = 0, 1, 2, 3, 4
METHODS = {"average": AVERAGE, "min": MIN, "max": MAX, "first": FIRST, "dense": DENSE}

_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)
# Bits of a rank below those that number its line and its group, and the lines of a group.
_LINE, _GROUP, _LINES = 7, 13, 64


class Members(NamedTuple):
    """A set of ranks that counts its members below a rank.

    Attributes
    ----------
    bits : ndarray of uint64, shape (2 * lines,)
        One bit a rank.
    lines : ndarray of int16, shape (lines,)
        Number of members before each line, within its group.
    groups : ndarray of int32, shape (lines / 64 or more,)
        Number of members before each group.
    steps : ndarray of int16, shape (256,)
        64 zeros, 64 ones, 64 zeros, and -1 in 64 places.
    """

    bits: np.ndarray
    lines: np.ndarray
    groups: np.ndarray
    steps: np.ndarray


def create(ranks):
    """Return an empty set for ranks below `ranks`."""
    groups = (ranks >> _GROUP) + 1
    lines = aligned_empty(groups * _LINES, np.int16)  # vectors across cache lines could not be read at once
    lines.fill(0)
    return Members(
        np.zeros(2 * len(lines), np.uint64),
        lines,
        np.zeros((groups + 15) // 16 * 16, np.int32),  # whole vectors
        np.repeat(np.array([0, 1, 0, -1], np.int16), _LINES),
    )


@kernel(forceinline=True)
def _toggle(members, rank):
    members.bits[(rank >> 6) & INDEX] ^= _ONE << np.uint64(rank & 63)


@kernel(forceinline=True)
def _steps_of(rank):
    """Return where the steps begin that are 1 for the lines after the line of a rank."""
    return _LINES - 1 - ((rank >> _LINE) & (_LINES - 1))


@kernel(forceinline=True)
def _count(members, rank, difference):
    """Add 1 or -1 to the counts of the lines after a rank in its group."""
    lines, steps, first = members.lines, members.steps, (rank >> _GROUP) * _LINES
    place = _steps_of(rank) if difference > 0 else 2 * _LINES + _steps_of(rank)
    for i in range(0, _LINES, lanes_of(lines)):
        store(load(lines, first + i) + load(steps, place + i), lines, first + i)


@kernel(forceinline=True)
def _change(members, rank, difference):
    """Add a rank, or remove it if the `difference` is -1."""
    _toggle(members, rank)
    _count(members, rank, difference)
    group, groups = np.int32(rank >> _GROUP), members.groups
    for j in range(len(groups)):
        groups[j] += np.int32(difference) if np.int32(j) > group else np.int32(0)


@kernel(forceinline=True)
def _replace(members, old, new):
    """Remove a member and add another one."""
    _toggle(members, old)
    _toggle(members, new)
    before, after, groups = np.int32(old >> _GROUP), np.int32(new >> _GROUP), members.groups
    if before == after and len(members.lines) <= 2 * _LINES:  # with more groups, a test would be mispredicted
        lines, steps = members.lines, members.steps
        first, add, subtract = (new >> _GROUP) * _LINES, _steps_of(new), _steps_of(old)
        for i in range(0, _LINES, lanes_of(lines)):
            change = load(steps, add + i) - load(steps, subtract + i)
            store(load(lines, first + i) + change, lines, first + i)
        return
    _count(members, old, -1)
    _count(members, new, 1)
    for j in range(len(groups)):
        groups[j] += np.int32(np.int32(j) > after) - np.int32(np.int32(j) > before)


@kernel(forceinline=True)
def _count_below(members, rank):
    bits, word = members.bits, rank >> 6
    found = count_ones(bits[word & INDEX] & ((_ONE << np.uint64(rank & 63)) - _ONE))
    found += count_ones(bits[(word & ~1) & INDEX] & (_ALL if word & 1 else _ZERO))
    return found + members.lines[(rank >> _LINE) & INDEX] + members.groups[(rank >> _GROUP) & INDEX]


@kernel
def check(members):
    """Return whether the counts match the bits."""
    right, before = True, 0
    for line in range(len(members.lines)):
        right &= members.groups[line // _LINES] + members.lines[line] == before
        before += count_ones(members.bits[2 * line]) + count_ones(members.bits[2 * line + 1])
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
        An empty set.
    smaller, equal, total : ndarray of int64, shape (rows,)
        Receive the number of smaller observations, of equal ones (including the newest; 0 where the last
        row is missing) and of all in the window.
    """
    dense = len(copies) > 0
    left = right = size = 0
    for i in range(len(start)):
        out = np.int64(-1)  # the last member to be removed; the newest one may replace it
        for j in range(left, min(start[i], right)):
            gone = np.int64(firsts[j] if dense else own[j])
            if gone >= 0 and dense:
                copies[gone] -= 1
                gone = gone if copies[gone] == 0 else -1
            if gone >= 0:
                if out >= 0:
                    _change(members, out, -1)
                out = gone
                size -= 1
        if out >= 0 and max(start[i], right) < end[i] - 1:
            _change(members, out, -1)
            out = np.int64(-1)
        new = np.int64(-1)
        for j in range(max(start[i], right), end[i]):
            if new >= 0:
                _change(members, new, 1)
            new = np.int64(firsts[j] if dense else own[j])
            if new >= 0 and dense:
                copies[new] += 1
                new = new if copies[new] == 1 else -1
            size += new >= 0
        left, right = start[i], end[i]
        total[i] = size
        # Count before adding the newest: reading what was just written would stall.
        first = np.int64(firsts[right - 1]) if right > left else np.int64(-1)
        smaller[i] = equal[i] = 0
        if first >= 0:
            last = first if dense else np.int64(lasts[right - 1])
            smaller[i] = _count_below(members, first) - (0 <= out < first)
            equal[i] = 1
            if last > first:
                up_to = _count_below(members, last + 1) - (0 <= out <= last)
                equal[i] = up_to - smaller[i] + (new >= 0)
        if out >= 0 and new >= 0:
            _replace(members, out, new)
        elif new >= 0:
            _change(members, new, 1)
        elif out >= 0:
            _change(members, out, -1)


@kernel
def count_newest_fixed(own, firsts, lasts, width, members, smaller, equal):
    """Do what :func:`count_newest` does for all windows of `width` rows, if no value is missing."""
    firsts, lasts = firsts[width - 1 :], lasts[width - 1 :]
    for i in range(width - 1):
        _change(members, np.int64(own[i]), 1)
    newest = own[width - 1 :]
    for i in range(len(smaller)):
        first, last = np.int64(firsts[i]), np.int64(lasts[i])
        below = _count_below(members, first)
        smaller[i] = below
        equal[i] = 1
        if last > first:
            equal[i] = 1 + _count_below(members, last + 1) - below
        if width > 1:
            _replace(members, np.int64(own[i]), np.int64(newest[i]))


@kernel(forceinline=True)
def _compare_vectors(values, first, width, smaller, equal):
    """Write the counts of the windows of two vectors that begin at row `first`."""
    lanes = lanes_of(values)
    newest, other = load(values, first + width - 1), load(values, first + width - 1 + lanes)
    less, other_less = zeros_like(newest), zeros_like(newest)
    same, other_same = zeros_like(newest), zeros_like(newest)
    for i in range(first, first + width):
        older = load(values, i)
        less, same = count_less(less, older, newest), count_equal(same, older, newest)
        older = load(values, i + lanes)
        other_less, other_same = count_less(other_less, older, other), count_equal(other_same, older, other)
    store_counts(less, smaller, first)
    store_counts(other_less, smaller, first + lanes)
    store_counts(same, equal, first)
    store_counts(other_same, equal, first + lanes)


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
    if method == AVERAGE:
        position = low + (same + 1) / 2.0
    elif method in (MIN, DENSE):
        position = low + 1.0
    else:
        position = np.float64(low + same)
    return position / max(total, 1) if pct else position


@kernel
def finish(smaller, equal, total, method, ascending, pct, result):
    """Turn counts into ranks from 1, or fractions of `total`; any number where the newest is missing."""
    for i in range(len(result)):
        result[i] = place_of(smaller[i], equal[i], total[i], method, ascending, pct)
