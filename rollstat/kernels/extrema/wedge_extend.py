"""Many rows into a wedge whose window is full, at once: first the answers, then what the wedge keeps.

::

    window of 6 rows: 3 4 7 5 8 6, and words 7 4 8 2 9

    held       3 4 5 6     lower wedge; 3 and 4 leave with the first two words
    answers    4 4 4 2 2   least of what is held still, and of the words so far
    kept       2 9         of those held, what no word undercuts, here none; then of the words, from the
                           newest on, what no newer one undercuts

Each side is taken by itself, the upper as the lower of the opposite numbers: then nothing waits for the word
before it unless that is a new extremum, and a block of words is asked at once whether it has one.

State, invariant: those of :mod:`rollstat.kernels.extrema.wedge`, and its rows in a ring, ``rows``, beside it.
Pushes come to the same state, but for ties where the question follows the trend of the data.

Cost: at most 6 comparisons a word and one for each extremum held, for each side, most of them in vectors;
O(1) amortised. Windows that are not full, or small, and missing words: pushes.

Source: D. Lemire, arXiv:cs/0610046, section 4, for what a wedge keeps; see
:mod:`rollstat.kernels.extrema.wedge`.
"""

import numpy as np

import rollstat.kernels.extrema.wedge as wedge
from rollstat._jit import kernel
from rollstat.kernels.missing.counting import has_nan

__all__ = ["extend"]

_BLOCK, _FEW = 64, 16
_NEXT, _OLDEST, _WINDOW, _OBSERVED = wedge.NEXT, wedge.OLDEST, wedge.WINDOW, wedge.OBSERVED
_RISING, _COMPARISONS, _BEGIN, _END = wedge.RISING, wedge.COMPARISONS, wedge.BEGIN, wedge.END

_push = wedge.push
_minimum_position, _maximum_position = wedge.minimum_position, wedge.maximum_position


@kernel(inline="always")
def _undercuts(x, least, ties):
    """Whether x is less than `least`, or as little where `ties` count."""
    # Inlined before the passes that know loops: after them, they would take twice as long.
    return x <= least if ties else x < least


@kernel
def _any_undercuts(words, sign, least, ties):
    """Whether one of the words does; all are looked at, so that many are at once."""
    found = False
    for i in range(len(words)):
        found |= _undercuts(sign * words[i], least, ties)
    return found


@kernel
def _find_singly(position, value, begin, end, window, words, sign, newest, least, row, first, places):
    """Write the row of the answer after each word, the first of which is row `first`; newest of ties or not.

    `least` is the least of the words before these, and in row `row`; that of all is returned, after the place
    of the first extremum held that has neither left nor been undercut.
    """
    last = len(position) - 1
    held, answer = sign * value[begin & last], position[begin & last]
    leaving = answer + window - first
    if begin == end or _undercuts(least, held, newest):
        begin, answer, leaving = end, row, -1
    for i in range(len(words)):
        x = sign * words[i]
        changed = _undercuts(x, least, newest)
        if changed:
            least, row = x, first + i
        if i == leaving:
            begin += 1
            held, answer, changed = sign * value[begin & last], position[begin & last], True
            leaving = answer + window - first
        if changed and (begin == end or _undercuts(least, held, newest)):
            begin, answer, leaving = end, row, -1
        places[i] = answer
    return begin, least, row


@kernel
def _find_by_blocks(position, value, begin, end, window, words, sign, newest, least, row, first, places):
    """As `_find_singly`, where none leaves, and most blocks of words are found to change nothing."""
    answer, comparisons = position[begin & (len(position) - 1)] if begin < end else row, len(words)
    for i in range(0, len(words), _BLOCK):
        block, part = words[i : i + _BLOCK], places[i : i + _BLOCK]
        if _any_undercuts(block, sign, least, newest):
            _, least, row = _find_singly(
                position, value, begin, end, window, block, sign, newest, least, row, first + i, part
            )
            answer = part[-1]
            comparisons += 2 * len(block)
        else:
            part[:] = answer
    return least, row, comparisons


@kernel
def _find(position, value, begin, end, window, words, sign, newest, first, places):
    """Write the rows of the answers; the first extremum held that is left, the least word, comparisons."""
    last, done, comparisons = len(position) - 1, 0, 0
    least, row = sign * words[0], first
    while done < len(words):
        begin += begin < end and position[begin & last] == first + done - window
        stop = len(words)
        if begin < end:
            comparisons += 1
            if _undercuts(least, sign * value[begin & last], newest):
                begin = end
            else:
                stop = min(position[begin & last] + window - first, stop)
        if stop - done < _FEW:
            stop = min(done + _BLOCK, len(words))
            part, answers = words[done:stop], places[done:stop]
            begin, least, row = _find_singly(
                position, value, begin, end, window, part, sign, newest, least, row, first + done, answers
            )
            comparisons += 2 * (stop - done)
        else:
            part, answers = words[done:stop], places[done:stop]
            least, row, more = _find_by_blocks(
                position, value, begin, end, window, part, sign, newest, least, row, first + done, answers
            )
            comparisons += more
        done = stop
    return begin, least, comparisons


@kernel
def _note(position, value, end, words, sign, newest, first):
    """Put those words before place `end` that no newer one undercuts; the place of the first; comparisons."""
    last, begin, least, comparisons = len(position) - 1, end, np.inf, len(words)
    for stop in range(len(words), 0, -_BLOCK):
        start = max(stop - _BLOCK, 0)
        if begin == end or _any_undercuts(words[start:stop], sign, least, not newest):
            comparisons += stop - start
            for i in range(stop - 1, start - 1, -1):
                x = sign * words[i]
                if begin == end or _undercuts(x, least, not newest):
                    begin -= 1
                    position[begin & last], value[begin & last], least = first + i, words[i], x
    return begin, comparisons


@kernel
def _extend_side(header, position, value, words, side, places):
    """Write the row of the extremum after each word, and keep those of the window after all."""
    # Ties are left to the lower wedge where the question is value < newest, else to the upper one.
    sign, newest = 1 - 2 * side, (header[_RISING] != 0) == (side == 1)
    position, value = position[side], value[side]
    first, last, begin, end = header[_NEXT], len(position) - 1, header[_BEGIN + side], header[_END + side]
    begin, least, comparisons = _find(
        position, value, begin, end, header[_WINDOW], words, sign, newest, first, places
    )
    while end > begin and _undercuts(least, sign * value[(end - 1) & last], newest):
        comparisons += 1
        end -= 1
    # The new ones are noted where none is in the way: before the first of those kept, in the ring.
    high = begin + len(position)
    low, more = _note(position, value, high, words, sign, newest, first)
    for i in range(high - low):
        source, target = (low + i) & last, (end + i) & last
        position[target], value[target] = position[source], value[source]
    header[_BEGIN + side], header[_END + side] = begin, end + high - low
    header[_COMPARISONS] += comparisons + more


@kernel
def _copy(words, rows, observed):
    """Write the words, all observations, into the first rows."""
    for i in range(len(words)):
        rows[i] = words[i]
    for i in range(len(words)):
        observed[i] = 1


@kernel
def _extend_full(header, position, value, observed, rows, words, places, values):
    """As `extend`, of a window of observations, by at most as many."""
    first, last = header[_NEXT], len(rows) - 1
    for side in range(2):
        _extend_side(header, position, value, words, side, places[side])
        row, extremum = -1, np.nan
        for i in range(values.shape[1]):
            if places[side, i] != row:
                row = places[side, i]
                extremum = words[row - first] if row >= first else rows[row & last]
            values[side, i] = extremum
    # Up to the end of the ring, and what is left from its beginning on.
    done = min(len(rows) - (first & last), len(words))
    _copy(words[:done], rows[first & last :], observed[first & last :])
    _copy(words[done:], rows, observed)
    header[_NEXT] += len(words)
    header[_OLDEST] += len(words)


@kernel
def _extend_singly(header, position, value, observed, rows, least, words, places, values):
    """As `extend`, by pushes."""
    last = len(rows) - 1
    for i in range(len(words)):
        x = words[i]
        rows[header[_NEXT] & last] = x
        enough = _push(header, position, value, observed, x, x != x) >= least
        places[0, i] = _minimum_position(header, position) if enough else -1
        places[1, i] = _maximum_position(header, position) if enough else -1
        if values.shape[1] > 0:
            for side in range(2):
                values[side, i] = rows[places[side, i] & last] if enough else np.nan


@kernel
def extend(header, position, value, observed, rows, least, words, places, values):
    """Push all words; write the rows of minimum and maximum after each into `places`, -1 for none.

    There is none where there are fewer than `least` observations, which is 1 at the least. The extrema, or
    NaN, are written into `values` unless it has no length; it may be the memory of `places`.
    """
    window = header[_WINDOW]
    for first in range(0, len(words), window):
        stop = min(first + window, len(words))
        part, answers, extrema = words[first:stop], places[:, first:stop], values[:, first:stop]
        if window < _BLOCK or header[_OBSERVED] < window or has_nan(part):
            _extend_singly(header, position, value, observed, rows, least, part, answers, extrema)
        else:
            _extend_full(header, position, value, observed, rows, part, answers, extrema)
