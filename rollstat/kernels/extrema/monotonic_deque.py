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
for one value. An array at once takes up to 6 for a value, most of them in vectors, and one for each minimum.
Half of what :mod:`rollstat.kernels.extrema.wedge` keeps, for callers that ask for one; the maximum is the
minimum of the opposite numbers.

Source: R. Harter, The minimum on a sliding window algorithm (2001); Lemire's wedge, Nordic Journal of
Computing 13 (2006) 328-339, arXiv:cs/0610046, section 4, with one of its two queues.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.missing.counting import has_nan

__all__ = ["COMPARISONS", "check", "create", "extend", "load", "push", "value_at", "views"]

NEXT, FIRST, BEGIN, END, OBSERVED, WINDOW, LEAST, COMPARISONS = range(8)
HEADER = 8
_BLOCK, _FEW = 64, 16


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
def _note_minima(position, rows, low, high, begin, end):
    """Put the minima of rows `low` to `high` - 1 before place `begin`, from which to `end` newer ones are."""
    last = len(rows) - 1
    empty = begin == end
    smallest = np.inf if empty else rows[position[begin & last] & last]
    for row in range(high - 1, low - 1, -1):
        x = rows[row & last]
        if x < smallest or (empty and x == x):
            begin -= 1
            position[begin & last] = row
            smallest, empty = x, False
    return begin


@kernel
def _keep(position, rows, words, sign, first, end):
    """Keep `words`, each times `sign`, as rows from `first` on, and put their minima before place `end`.

    From the newest row on, most blocks of rows are found to hold none of the minima while they are copied.
    Returns the place of the first minimum, the observations, and the comparisons.
    """
    last, high = len(rows) - 1, first + len(words)
    begin, smallest, comparisons, observed = end, np.inf, 0, 0
    while high > first:
        # A block that begins at a multiple of its length does not go over the end of the ring.
        low = max((high - 1) & -min(_BLOCK, len(rows)), first)
        source, ring = words[low - first : high - first], rows[low & last : (low & last) + high - low]
        found = begin == end
        for i in range(len(source)):
            x = sign * source[i]
            ring[i] = x
            observed += x == x
            found |= x < smallest
        comparisons += len(source)
        if found:
            begin = _note_minima(position, rows, low, high, begin, end)
            comparisons += len(source)
            smallest = rows[position[begin & last] & last] if begin < end else np.inf
        high = low
    return begin, observed, comparisons


@kernel
def load(state, words, sign, pushed):
    """Make these rows, at most WINDOW, each times `sign`, the window, the last of `pushed`."""
    header, position, rows = _unpack(state)
    first, end = pushed - len(words), len(rows)
    begin, observed, comparisons = _keep(position, rows, words, sign, first, end)
    header[NEXT], header[FIRST], header[OBSERVED] = pushed, first, observed
    header[BEGIN], header[END], header[COMPARISONS] = begin, end, comparisons


@kernel
def _write_least(words, sign, smallest, held, first, stop, out):
    """Write the least of `held`, `smallest` and the words so far; the least of the last two."""
    for i in range(first, stop):
        x = sign * words[i]
        smallest = x if x <= smallest else smallest
        out[i] = sign * (smallest if smallest <= held else held)
    return smallest


@kernel
def _write_blocks(words, sign, smallest, held, out):
    """As `_write_least`, where most blocks of words are found to change nothing; and the comparisons."""
    comparisons = 0
    for first in range(0, len(words), _BLOCK):
        source, part = words[first : first + _BLOCK], out[first : first + _BLOCK]
        least, found = sign * (smallest if smallest <= held else held), False
        for i in range(len(source)):
            found |= sign * source[i] <= smallest
            part[i] = least
        comparisons += len(source) + 1
        if found:
            smallest = _write_least(source, sign, smallest, held, 0, len(source), part)
            comparisons += 2 * len(source)
    return smallest, comparisons


@kernel
def _write_leaving(position, rows, begin, end, leaving, words, sign, smallest, out):
    """As `_write_least`, where a row leaves before each word, row `leaving` first; minima are from `begin`.

    Returns the least word so far, and the place of the first minimum that is left.
    """
    last = len(rows) - 1
    held = rows[position[begin & last] & last] if begin < end else np.inf
    for i in range(len(words)):
        if begin < end and position[begin & last] == leaving + i:
            begin += 1
            held = rows[position[begin & last] & last] if begin < end else np.inf
        x = sign * words[i]
        smallest = x if x <= smallest else smallest
        out[i] = sign * (smallest if smallest <= held else held)
    return smallest, begin


@kernel
def _extend_full(state, words, sign, out):
    """As `extend`, of a window of observations, by at most as many."""
    header, position, rows = _unpack(state)
    last, first, begin, end = len(rows) - 1, header[NEXT], header[BEGIN], header[END]
    smallest, comparisons, done, window = np.inf, 0, 0, header[WINDOW]
    while done < len(words):
        held, stop = np.inf, len(words)
        if begin < end:
            held = rows[position[begin & last] & last]
            comparisons += 1
            if smallest <= held:
                begin, held = end, np.inf
            else:
                stop = min(position[begin & last] + window - first, stop)
        if stop - done < _FEW:
            stop = min(done + _BLOCK, len(words))
            smallest, begin = _write_leaving(
                position,
                rows,
                begin,
                end,
                first + done - window,
                words[done:stop],
                sign,
                smallest,
                out[done:stop],
            )
            comparisons += 2 * (stop - done)
        else:
            smallest, more = _write_blocks(words[done:stop], sign, smallest, held, out[done:stop])
            comparisons += more
            begin += begin < end and stop < len(words)
        done = stop
    while end > begin and rows[position[(end - 1) & last] & last] >= smallest:
        comparisons += 1
        end -= 1
    # The new minima are noted where none is in the way: before the first of those kept, in the ring.
    high = begin + len(rows)
    low, _, more = _keep(position, rows, words, sign, first, high)
    for i in range(high - low):
        position[(end + i) & last] = position[(low + i) & last]
    header[NEXT], header[BEGIN], header[END] = first + len(words), begin, end + high - low
    header[COMPARISONS] += comparisons + more


@kernel
def extend(state, words, sign, out):
    """Push all words, each times `sign`, and write the minimum after each, times `sign`, into `out`.

    Where all are observations, nothing waits for the word before it unless that is a new minimum::

        out[i]       least of (first minimum held that has not left) and (least word up to i)
        minima       of those held, the ones below all words; then those of the words, from the newest one on
    """
    header = _unpack(state)[0]
    window, full = header[WINDOW], header[OBSERVED] == header[WINDOW]
    if window < _BLOCK or not full or has_nan(words):
        for i in range(len(words)):
            out[i] = sign * push(state, sign * words[i])
        return
    for first in range(0, len(words), window):
        _extend_full(state, words[first : first + window], sign, out[first : first + window])


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
