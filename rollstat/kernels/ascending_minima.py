"""Ascending minima: the minimum of the last rows of a stream of float64, in one array, one side of the wedge.

::

    rows      3   1   4   1   5   9   2   6          positions 0 ... 7, window of 6 rows: 2 ... 7
    minima                1           2   6          those that nothing newer undercuts: 3, 6, 7
                          ^ BEGIN           ^ END

State: one float64 array: HEADER words that are int64 (the slots below), a ring of ``position``, int64, and a
ring of ``rows``, NaN where missing, and anything where no row since FIRST has been. The rings are as long as
each other, a power of two no smaller than the window. Ring indices are running numbers; their low bits say
where they lie.

Invariant: the minima hold increasing positions within the window, end at the newest observation, and their
values increase; every other observation has a newer one that is at most as large.

Cost: at most ``2 n`` comparisons of data for n values at every moment, counted; O(1) amortised, O(window)
for one value. Half of what :mod:`rollstat.kernels.wedge` keeps, for callers that ask for one; the maximum
is the minimum of the opposite numbers.

Source: R. Harter, The minimum on a sliding window algorithm (2001); Lemire's wedge, Nordic Journal of
Computing 13 (2006) 328-339, arXiv:cs/0610046, section 4, with one of its two queues.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["COMPARISONS", "check", "create", "load", "push", "value_at", "views"]

NEXT, FIRST, BEGIN, END, OBSERVED, WINDOW, LEAST, COMPARISONS = range(8)
HEADER = 8
_BLOCK = 64


def create(window, least):
    """State of an empty window of `window` rows that answers with at least `least` observations."""
    size = 1 << max(window - 1, 0).bit_length()
    state = np.full(HEADER + 2 * size, np.nan)
    header = state[:HEADER].view(np.int64)
    header[:] = 0
    header[WINDOW], header[LEAST] = window, max(least, 1)
    return state


def views(state):
    """Views of the header, the positions and the rows."""
    size = (len(state) - HEADER) // 2
    return state[:HEADER].view(np.int64), state[HEADER : HEADER + size].view(np.int64), state[HEADER + size :]


_unpack = kernel(inline="always")(views)


@kernel
def push(state, x):
    """Append a row, NaN for a missing one, let go of the one `window` rows back, and return the minimum."""
    header, position, rows = _unpack(state)
    last = len(rows) - 1
    row, begin, end = header[NEXT], header[BEGIN], header[END]
    gone = row - header[WINDOW]
    leaving = rows[gone & last]
    # In places of rows before the first, whatever was there before is left.
    observed = header[OBSERVED] - ((leaving == leaving) & (gone >= header[FIRST]))
    if begin < end and position[begin & last] == gone:
        begin += 1
        header[BEGIN] = begin
    rows[row & last] = x
    if x == x:
        observed += 1
        comparisons = 0
        while end > begin:
            comparisons += 1
            if rows[position[(end - 1) & last] & last] < x:
                break
            end -= 1
        position[end & last] = row
        header[END] = end + 1
        header[COMPARISONS] += comparisons
    header[NEXT] = row + 1
    header[OBSERVED] = observed
    if observed < header[LEAST]:
        return np.nan
    return rows[position[begin & last] & last]


@kernel
def value_at(state):
    """The minimum; the window has an observation."""
    header, position, rows = _unpack(state)
    last = len(rows) - 1
    return rows[position[header[BEGIN] & last] & last]


@kernel
def _note_minima(position, rows, low, high, begin):
    """Put the minima among rows `low` to `high` - 1 before place `begin`, those of all newer rows."""
    last = len(rows) - 1
    empty = begin == len(rows)
    smallest = np.inf if empty else rows[position[begin] & last]
    for row in range(high - 1, low - 1, -1):
        x = rows[row & last]
        if x < smallest or (empty and x == x):
            begin -= 1
            position[begin] = row
            smallest, empty = x, False
    return begin


@kernel
def load(state, words, sign, pushed):
    """Make these rows, at most WINDOW, each times `sign`, the window, the last of `pushed`.

    From the newest row on, most blocks of rows are found to hold none of the minima while they are copied.
    """
    header, position, rows = _unpack(state)
    last, first, high = len(rows) - 1, pushed - len(words), pushed
    begin = end = len(rows)
    smallest, comparisons, observed = np.inf, 0, 0
    while high > first:
        # A block that begins at a multiple of its length does not go over the end of the ring.
        low = max((high - 1) & -min(_BLOCK, end), first)
        source, ring = words[low - first : high - first], rows[low & last : (low & last) + high - low]
        found = begin == end
        for i in range(len(source)):
            x = sign * source[i]
            ring[i] = x
            observed += x == x
            found |= x < smallest
        comparisons += len(source)
        if found:
            begin = _note_minima(position, rows, low, high, begin)
            comparisons += len(source)
            smallest = rows[position[begin] & last] if begin < end else np.inf
        high = low
    header[NEXT], header[FIRST], header[OBSERVED] = pushed, first, observed
    header[BEGIN], header[END], header[COMPARISONS] = begin, end, comparisons


def check(state):
    """Whether the state keeps its invariant."""
    header, position, rows = views(state)
    last, following = len(rows) - 1, int(header[NEXT])
    window = range(max(following - int(header[WINDOW]), int(header[FIRST])), following)
    seen = [row for row in window if rows[row & last] == rows[row & last]]
    minima = [int(position[i & last]) for i in range(header[BEGIN], header[END])]
    least = [
        row for i, row in enumerate(seen) if all(rows[row & last] < rows[j & last] for j in seen[i + 1 :])
    ]
    return len(seen) == header[OBSERVED] and minima == least
