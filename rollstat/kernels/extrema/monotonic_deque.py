"""Monotonic deque: the minimum of the last rows of a stream of float64, one side of the wedge.

::

    rows      3   1   4   1   5   9   2   6          positions 0 ... 7, window of 6 rows: 2 ... 7
    minima                1           2   6          those less than all newer rows: 3, 6, 7
                          ^ BEGIN           ^ END

State: one float64 array: a header of HEADER int64 slots (below), a ring of int64 ``position``, and a ring of
``rows``, NaN where missing. Cells of ``rows`` that no row since FIRST was written to hold anything. Both
rings have the same length, a power of two no smaller than the window. Ring indices are running numbers;
their low bits are the index of the cell.

Invariant: the minima hold increasing positions within the window, end at the newest observation, and their
values increase; every other observation has a newer one that is at most as large.

Cost: at most ``2 n`` comparisons of data for n pushes at every moment, counted; O(1) amortised, O(window)
for one push. Rows loaded at once take one comparison each. The state is half the state of
:mod:`rollstat.kernels.extrema.wedge`, for callers that ask for one extremum; a maximum is the minimum of
the negated values.

Source: R. Harter, The minimum on a sliding window algorithm (2001); Lemire's wedge, Nordic Journal of
Computing 13 (2006) 328-339, arXiv:cs/0610046, section 4, with one of its two queues.
"""

import numpy as np

from rollstat.compile.jit import kernel

NEXT, FIRST, BEGIN, END, OBSERVED, WINDOW, MIN_PERIODS, COMPARISONS = range(8)
HEADER = 8


def create(window, min_periods):
    """Return the state of an empty window of `window` rows that needs `min_periods` observations."""
    size = 1 << max(window - 1, 0).bit_length()
    state = np.full(HEADER + 2 * size, np.nan)
    header = state[:HEADER].view(np.int64)
    header[:] = 0
    header[WINDOW], header[MIN_PERIODS] = window, max(min_periods, 1)
    return state


def views(state):
    """Return views of the header, the positions and the rows."""
    size = (len(state) - HEADER) // 2
    return state[:HEADER].view(np.int64), state[HEADER : HEADER + size].view(np.int64), state[HEADER + size :]


_unpack = kernel(inline="always")(views)


@kernel
def push(state, x):
    """Append a row, NaN if missing, remove the row `window` rows back, and return the minimum."""
    header, position, rows = _unpack(state)
    last = len(rows) - 1
    row, begin, end = header[NEXT], header[BEGIN], header[END]
    leaving = row - header[WINDOW]
    oldest = rows[leaving & last]
    # Cells of rows before FIRST hold anything.
    observed = header[OBSERVED] - ((oldest == oldest) & (leaving >= header[FIRST]))
    if begin < end and position[begin & last] == leaving:
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
    if observed < header[MIN_PERIODS]:
        return np.nan
    return rows[position[begin & last] & last]


@kernel
def value_at(state):
    """Return the minimum; the window has an observation."""
    header, position, rows = _unpack(state)
    last = len(rows) - 1
    return rows[position[header[BEGIN] & last] & last]


@kernel
def load(state, data, sign, pushed):
    """Make these rows, at most WINDOW, times `sign`, the window, as the last of `pushed` rows."""
    header, position, rows = _unpack(state)
    first, begin, end, last = pushed - len(data), len(rows), len(rows), len(rows) - 1
    smallest, observed = np.inf, 0
    for i in range(len(data) - 1, -1, -1):  # from the newest on, few are minima
        row, x = first + i, sign * data[i]
        rows[row & last] = x
        observed += x == x
        if x < smallest or (begin == end and x == x):
            begin -= 1
            position[begin & last] = row
            smallest = x
    header[NEXT], header[FIRST], header[OBSERVED] = pushed, first, observed
    header[BEGIN], header[END], header[COMPARISONS] = begin, end, len(data)


def check(state):
    """Return whether the state satisfies its invariant."""
    header, position, rows = views(state)
    last, following = len(rows) - 1, int(header[NEXT])
    window = range(max(following - int(header[WINDOW]), int(header[FIRST])), following)
    seen = [row for row in window if rows[row & last] == rows[row & last]]
    minima = [int(position[i & last]) for i in range(header[BEGIN], header[END])]
    least = [
        row for i, row in enumerate(seen) if all(rows[row & last] < rows[j & last] for j in seen[i + 1 :])
    ]
    return len(seen) == header[OBSERVED] and minima == least
