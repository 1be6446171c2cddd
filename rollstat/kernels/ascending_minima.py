"""Ascending minima: the minimum of the last rows of a stream of float64, in one array, one side of the wedge.

::

    rows      3   1   4   1   5   9   2   6          positions 0 ... 7, window of 6 rows: 2 ... 7
    minima                1           2   6          those that nothing newer undercuts: 3, 6, 7
                          ^ BEGIN           ^ END

State: one float64 array: HEADER words that are int64 (the slots below), a ring of ``position``, int64, and a
ring of ``rows``, NaN where missing or not yet there. The rings are as long as each other, a power of two no
smaller than the window. Ring indices are running numbers; their low bits say where they lie.

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
    observed = header[OBSERVED] - (leaving == leaving)
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
def _copy_rows(header, rows, words, sign):
    """Put `words` into the ring as the rows before NEXT, and count the observations."""
    first, last, observed = header[NEXT] - len(words), len(rows) - 1, 0
    # Before there are as many rows as the window has, a push looks for what would be leaving.
    for row in range(header[NEXT] - header[WINDOW], first):
        rows[row & last] = np.nan
    done = 0
    while done < len(words):
        start = (first + done) & last
        part = words[done : done + len(rows) - start]
        ring = rows[start : start + len(part)]
        for i in range(len(part)):
            ring[i] = sign * part[i]
            observed += ring[i] == ring[i]
        done += len(part)
    return observed


@kernel
def load(state, words, sign, pushed):
    """Make these rows, at most WINDOW, each times `sign`, the window, the last of `pushed`.

    The minima are found from the newest row on, most blocks of rows by one pass that finds none.
    """
    header, position, rows = _unpack(state)
    end = begin = len(rows)
    header[NEXT], header[FIRST] = pushed, pushed - len(words)
    header[OBSERVED] = _copy_rows(header, rows, words, sign)
    smallest, comparisons, high = np.inf, 0, len(words)
    while high > 0:
        low = max(high - _BLOCK, 0)
        block = words[low:high]
        found = begin == end
        for i in range(len(block)):
            found |= sign * block[i] < smallest
        comparisons += len(block)
        if found:
            for i in range(len(block) - 1, -1, -1):
                x = sign * block[i]
                if x < smallest or (begin == end and x == x):
                    begin -= 1
                    position[begin] = header[FIRST] + low + i
                    smallest = x
            comparisons += len(block)
        high = low
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
