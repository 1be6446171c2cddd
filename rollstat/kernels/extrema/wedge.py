"""Lemire's monotonic wedge: minimum and maximum of a sliding window, at most 3 comparisons a value.

::

    values    3 1 4 1 5 9 2 6            positions 0 ... 7, window of 6 rows: 2 ... 7
    upper             5 7                position of the maximum, of the maximum after it, ...
    lower       3     6 7                position of the minimum, of the minimum after it, ...

State: an int64 ``header`` (the slots below), ``position`` int64 ``(2, capacity)`` and ``value``
``(2, capacity)``, two rings with the lower wedge in row 0 and the upper in row 1, and ``observed`` uint8
``(capacity,)``, a ring that says which rows of the window are observations. The capacity is a power of two
no smaller than the window. A ring index is a running number; its low bits are the index of the cell.

Invariant: both wedges hold increasing positions within the window and end at the newest observation. The
values of the lower wedge never fall and those of the upper never rise. An observation that is in neither
wedge has a newer one that is at least as small, and a newer one that is at least as large.

One comparison with the newest observation decides which wedge it is removed from; the other wedge is not
touched. ``value > newest`` sends a tie to the lower wedge, so its ties end at the last row and those of the
upper at the first; ``value < newest`` does the reverse. An adaptive wedge asks the second while the data
rise and the first while they fall, so that equal values do not accumulate in the wedge that is popped next.
The extrema are the same; their positions are any of the tied rows.

Many rows at once, while the window is full::

    window of 6 rows: 3 4 7 5 8 6, and new rows 7 4 8 2 9

    held       3 4 5 6     lower wedge; 3 and 4 leave with the first two new rows
    answers    4 4 4 2 2   best of the first extremum still held and of the new rows so far
    kept       2 9         extrema held that no new row beats, here none; then the new rows that no newer
                           one beats, found from the newest on

Each side is computed alone, the upper as the lower of the negated values. No step depends on the row before
unless that is a new extremum, and a block of rows is tested at once for one. The state is the same as after
pushes, except for ties where the question follows the trend of the data.

Cost: at most ``3 (n - 1)`` comparisons of data for n pushes at every moment, adaptive or not; at most
``2 (n - 1)`` on monotone data with ties when adaptive. Amortised O(1), worst case O(window) for one value.
Many rows at once: for each side at most 6 comparisons a row, most of them in vectors, and one for each
extremum held.

Source: D. Lemire, Streaming maximum-minimum filter using no more than three comparisons per element,
Nordic Journal of Computing 13 (2006) 328-339, Algorithm 1, arXiv:cs/0610046. There, ties in front of a
larger value cost a third comparison on monotone data; the alternating question avoids it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.compile.jit import kernel
from rollstat.kernels.missing.counting import has_nan

__all__ = [
    "ADAPTIVE",
    "COMPARISONS",
    "OBSERVED",
    "check",
    "create",
    "extend",
    "extend_with_rows",
    "fill",
    "load",
    "maximum",
    "maximum_position",
    "minimum",
    "minimum_position",
    "pop",
    "push",
]

NEXT = 0  # position of the next row
OLDEST = 1  # position of the oldest row of the window
WINDOW = 2  # rows of the window, 0 where the caller pops
OBSERVED = 3  # observations in the window
ADAPTIVE = 4  # whether the question follows the trend of the data
RISING = 5  # whether the question is value < newest
COMPARISONS = 6  # comparisons of data values made so far
BEGIN = 7  # two slots: ring index of the front of each wedge
END = 9  # two slots: ring index after the back of each wedge
SLOTS = 11

LOWER = 0
UPPER = 1

# Rows that are tested together; with fewer rows up to the next change, they are processed one by one.
_BLOCK, _FEW = 64, 16

_TIES = {"any": (1, 1), "minimum_first": (0, 1), "minimum_last": (0, 0)}


def create(window, dtype, capacity=0, ties="any"):
    """Return the empty state ``(header, position, value, observed)``.

    Parameters
    ----------
    window : int
        Rows of the window; 0 for a window that only :func:`pop` shortens.
    dtype : dtype
        Of the values.
    capacity : int
        Rows that a window without a fixed length can hold.
    ties : {"any", "minimum_first", "minimum_last"}
        Which of equal values gives the position of the extremum. With ``"minimum_first"`` ties of the
        minimum go to the oldest row and those of the maximum to the newest; ``"minimum_last"`` is
        the reverse; ``"any"`` makes the fewest comparisons.
    """
    size = 1 << max(int(max(window, capacity, 1)) - 1, 0).bit_length()
    header = np.zeros(SLOTS, np.int64)
    header[WINDOW] = window
    header[ADAPTIVE], header[RISING] = _TIES[ties]
    return header, np.zeros((2, size), np.int64), np.zeros((2, size), dtype), np.zeros(size, np.uint8)


@kernel
def _append(header, position, value, row, x):
    """Append the newest observation `x`, at position `row`."""
    last = position.shape[1] - 1
    low, high = header[END + LOWER], header[END + UPPER]
    begin = header[BEGIN + LOWER]
    if low > begin:
        newest = value[LOWER, (low - 1) & last]
        rising = header[RISING] != 0
        falls = x < newest if rising else not x > newest
        comparisons = 1
        if falls:
            low -= 1
            while low > begin:
                back = value[LOWER, (low - 1) & last]
                comparisons += 1
                if not (x < back if rising else x <= back):
                    break
                low -= 1
        else:
            begin = header[BEGIN + UPPER]
            high -= 1
            while high > begin:
                back = value[UPPER, (high - 1) & last]
                comparisons += 1
                if not (x >= back if rising else x > back):
                    break
                high -= 1
        header[COMPARISONS] += comparisons
        if header[ADAPTIVE]:
            header[RISING] = not falls
    position[LOWER, low & last] = row
    value[LOWER, low & last] = x
    position[UPPER, high & last] = row
    value[UPPER, high & last] = x
    header[END + LOWER] = low + 1
    header[END + UPPER] = high + 1


@kernel
def _expire(header, position, oldest):
    """Remove the positions before `oldest` from both wedges."""
    last = position.shape[1] - 1
    low, high = header[BEGIN + LOWER], header[BEGIN + UPPER]
    while low < header[END + LOWER] and position[LOWER, low & last] < oldest:
        low += 1
    while high < header[END + UPPER] and position[UPPER, high & last] < oldest:
        high += 1
    header[BEGIN + LOWER] = low
    header[BEGIN + UPPER] = high


@kernel
def pop(header, position, value, observed, count):
    """Remove the `count` oldest rows from the window."""
    last = len(observed) - 1
    for row in range(header[OLDEST], header[OLDEST] + count):
        header[OBSERVED] -= observed[row & last]
    header[OLDEST] += count
    _expire(header, position, header[OLDEST])


@kernel
def push(header, position, value, observed, x, missing):
    """Append a row, remove the row that leaves a fixed window, and return the number of observations.

    A window without a fixed length must have fewer rows than the capacity.
    """
    row = header[NEXT]
    if header[WINDOW] > 0 and row - header[OLDEST] == header[WINDOW]:
        pop(header, position, value, observed, 1)
    observed[row & (len(observed) - 1)] = not missing
    if not missing:
        header[OBSERVED] += 1
        _append(header, position, value, row, x)
    header[NEXT] = row + 1
    return header[OBSERVED]


@kernel
def minimum(header, position, value):
    """Return the smallest value; the window has an observation."""
    return value[LOWER, header[BEGIN + LOWER] & (position.shape[1] - 1)]


@kernel
def maximum(header, position, value):
    """Return the largest value; the window has an observation."""
    return value[UPPER, header[BEGIN + UPPER] & (position.shape[1] - 1)]


@kernel
def _front(header, position, side):
    """Return the position at the front of one wedge, -1 if the window has no observation."""
    begin = header[BEGIN + side]
    return position[side, begin & (position.shape[1] - 1)] if begin < header[END + side] else -1


@kernel
def minimum_position(header, position):
    """Return the position of the smallest value, counted from the first row ever pushed; -1 if none."""
    return _front(header, position, LOWER)


@kernel
def maximum_position(header, position):
    """Return the position of the largest value, counted from the first row ever pushed; -1 if none."""
    return _front(header, position, UPPER)


@kernel
def _write(header, position, value, i, low, high, low_position, high_position):
    """Write the results of row `i` to all outputs that have a length; values only if there is one."""
    if header[BEGIN] < header[END]:
        if len(low) > 0:
            low[i] = minimum(header, position, value)
        if len(high) > 0:
            high[i] = maximum(header, position, value)
    if len(low_position) > 0:
        low_position[i] = minimum_position(header, position)
    if len(high_position) > 0:
        high_position[i] = maximum_position(header, position)


@kernel
def extend(header, position, value, observed, data, missing, count, low, high, low_position, high_position):
    """Push each of `data`, and write the results after each push; outputs without a length are not wanted.

    If `missing` has no length, nothing is missing.
    """
    for i in range(len(data)):
        absent = len(missing) > 0 and missing[i]
        held = push(header, position, value, observed, data[i], absent)
        if len(count) > 0:
            count[i] = held
        _write(header, position, value, i, low, high, low_position, high_position)


@kernel
def _fill_observed(ring, data, missing):
    """Write which rows are observations; return their number."""
    count = 0
    for i in range(len(data)):
        is_observed = data[i] == data[i] if missing is None else not missing[i]
        ring[i] = is_observed
        count += is_observed
    return count


@kernel
def _has_extremum(data, missing, smallest, greatest, rising):
    """Return whether an observation belongs at the front of a wedge."""
    # No early exit, so that the loop compiles to vector code.
    found = False
    for i in range(len(data)):
        x = data[i]
        extreme = (x <= smallest) | (x > greatest) if rising else (x < smallest) | (x >= greatest)
        found |= extreme if missing is None else extreme & (not missing[i])
    return found


@kernel
def _prepend(header, position, value, data, missing, row):
    """Prepend observations older than all in the wedges; the newest of `data` is at position `row`."""
    end, rising = position.shape[1], header[RISING] != 0
    low, high = header[BEGIN + LOWER], header[BEGIN + UPPER]
    for i in range(len(data) - 1, -1, -1):
        x = data[i]
        if x == x if missing is None else not missing[i]:
            if low == end or (x <= value[LOWER, low] if rising else x < value[LOWER, low]):
                low -= 1
                position[LOWER, low] = row
                value[LOWER, low] = x
            if high == end or (x > value[UPPER, high] if rising else x >= value[UPPER, high]):
                high -= 1
                position[UPPER, high] = row
                value[UPPER, high] = x
        row -= 1
    header[BEGIN + LOWER], header[BEGIN + UPPER] = low, high


@kernel
def load(header, position, value, observed, data, missing, pushed):
    """Make these rows, at most the capacity, the window, as the last of `pushed` rows.

    If `missing` is None, NaN is missing. The rows are processed from the newest on. A block of rows is first
    tested for an extremum, provided that the limit of 3 comparisons for each observation is kept even if it
    has one.
    """
    end, rising = len(observed), header[RISING] != 0
    first, high, held, comparisons = pushed - len(data), pushed, 0, 0
    header[BEGIN + LOWER] = header[BEGIN + UPPER] = header[END + LOWER] = header[END + UPPER] = end
    while high > first:
        # A block that begins at a multiple of its length does not cross the end of the ring.
        low = max((high - 1) & -min(_BLOCK, end), first)
        block = data[low - first : high - first]
        absent = None if missing is None else missing[low - first : high - first]
        slot = low & (end - 1)
        count = _fill_observed(observed[slot : slot + high - low], block, absent)
        # The test compares missing rows too, because it has no branches.
        tested = 2 * (high - low)
        asked = comparisons + tested + 2 * count <= 3 * (held + count - 1)
        comparisons += tested if asked else 0
        if not asked or _has_extremum(
            block,
            absent,
            value[LOWER, header[BEGIN + LOWER]],
            value[UPPER, header[BEGIN + UPPER]],
            rising,
        ):
            comparisons += 2 * (count if held > 0 else max(count - 1, 0))
            _prepend(header, position, value, block, absent, high - 1)
        held += count
        high = low
    header[NEXT], header[OLDEST], header[OBSERVED] = pushed, first, held
    header[COMPARISONS] = comparisons


@kernel
def fill(header, position, value, data, missing, start, end, low, high, low_position, high_position):
    """Write the results of every window ``data[start[i]:end[i]]``, whose bounds never decrease.

    The state is empty, and its capacity is at least the longest window. NaN and rows with `missing` set are
    no observations; `missing` may have no length.
    """
    right = 0
    for i in range(len(start)):
        _expire(header, position, start[i])
        for row in range(max(right, start[i]), end[i]):
            x = data[row]
            if x == x and not (len(missing) > 0 and missing[row]):
                _append(header, position, value, row, x)
        right = end[i]
        _write(header, position, value, i, low, high, low_position, high_position)


@kernel
def check(header, position, value, observed):
    """Return whether the state satisfies its invariant."""
    last = position.shape[1] - 1
    rows = header[NEXT] - header[OLDEST]
    valid = rows <= last + 1 and (header[WINDOW] == 0 or rows <= header[WINDOW])
    held = 0
    for row in range(header[OLDEST], header[NEXT]):
        held += int(observed[row & last])
    valid = valid and held == header[OBSERVED]
    for side in range(2):
        begin, end = header[BEGIN + side], header[END + side]
        valid = valid and (end > begin) == (held > 0) and end - begin <= held
        for index in range(begin, end):
            row = position[side, index & last]
            valid = valid and header[OLDEST] <= row < header[NEXT] and observed[row & last] == 1
            if index > begin:
                older, newer = value[side, (index - 1) & last], value[side, index & last]
                valid = valid and position[side, (index - 1) & last] < row
                valid = valid and (older <= newer if side == LOWER else older >= newer)
    for row in range(header[OLDEST], header[NEXT]):
        if observed[row & last] and held > 0:
            newest = row
    for side in range(2):
        if held > 0:
            valid = valid and position[side, (header[END + side] - 1) & last] == newest
    return valid


class _Side(NamedTuple):
    """One wedge as a lower one: its values times `sign`; `newest` says whether the newest of ties is kept."""

    position: NDArray
    value: NDArray
    end: int
    window: int
    sign: int
    newest: bool


@kernel(inline="always")
def _beats(x, best, wins_ties):
    """Return whether `x` is less than `best`, or equal to it if it `wins_ties`."""
    # Inlined before Numba optimises loops; later inlining would take twice the time to run.
    return x <= best if wins_ties else x < best


@kernel
def _any_beats(data, sign, best, wins_ties):
    """Return whether one of the values, times `sign`, beats `best`."""
    # No early exit, so that the loop compiles to vector code.
    found = False
    for i in range(len(data)):
        found |= _beats(sign * data[i], best, wins_ties)
    return found


@kernel
def _answer_rows(side, begin, data, best, row, first, answers):
    """Write the row of the extremum after each of `data`, which begin at row `first`.

    `best` is the best of the new rows before, in row `row`. Returns the ring index of the first extremum held
    that has neither left nor been beaten, the best of all new rows, and its row.
    """
    position, value, end, window, sign, newest = side
    last = len(position) - 1
    held, answer = sign * value[begin & last], position[begin & last]
    leaving = answer + window - first
    if begin == end or _beats(best, held, newest):
        begin, answer, leaving = end, row, -1
    for i in range(len(data)):
        x = sign * data[i]
        changed = _beats(x, best, newest)
        if changed:
            best, row = x, first + i
        if i == leaving:
            begin += 1
            held, answer, changed = sign * value[begin & last], position[begin & last], True
            leaving = answer + window - first
        if changed and (begin == end or _beats(best, held, newest)):
            begin, answer, leaving = end, row, -1
        answers[i] = answer
    return begin, best, row


@kernel
def _answer_blocks(side, begin, data, best, row, first, answers):
    """As :func:`_answer_rows`, while no extremum leaves; most blocks of rows change nothing.

    Returns the best of all new rows, its row, and the comparisons.
    """
    position, end = side.position, side.end
    answer, comparisons = position[begin & (len(position) - 1)] if begin < end else row, len(data)
    for i in range(0, len(data), _BLOCK):
        block, part = data[i : i + _BLOCK], answers[i : i + _BLOCK]
        if _any_beats(block, side.sign, best, side.newest):
            _, best, row = _answer_rows(side, begin, block, best, row, first + i, part)
            answer = part[-1]
            comparisons += 2 * len(block)
        else:
            part[:] = answer
    return best, row, comparisons


@kernel
def _answer_side(side, begin, data, first, answers):
    """Write the row of the extremum after each of `data`.

    Returns the ring index of the first extremum held that is left, the best of `data`, and the comparisons.
    """
    position, value, end, window, sign, newest = side
    last, done, comparisons = len(position) - 1, 0, 0
    best, row = sign * data[0], first
    while done < len(data):
        begin += begin < end and position[begin & last] == first + done - window
        stop = len(data)
        if begin < end:
            comparisons += 1
            if _beats(best, sign * value[begin & last], newest):
                begin = end
            else:
                stop = min(position[begin & last] + window - first, stop)
        # Up to row `stop` no extremum leaves: whole blocks are faster unless that is near.
        if stop - done < _FEW:
            stop = min(done + _BLOCK, len(data))
            part, rows = data[done:stop], answers[done:stop]
            begin, best, row = _answer_rows(side, begin, part, best, row, first + done, rows)
            comparisons += 2 * (stop - done)
        else:
            part, rows = data[done:stop], answers[done:stop]
            best, row, more = _answer_blocks(side, begin, part, best, row, first + done, rows)
            comparisons += more
        done = stop
    return begin, best, comparisons


@kernel
def _prepend_best(side, end, data, first):
    """Write those of `data` that no newer one beats before ring index `end`.

    Returns the ring index of the first of them, and the comparisons.
    """
    position, value, sign, newest = side.position, side.value, side.sign, side.newest
    last, begin, best, comparisons = len(position) - 1, end, np.inf, len(data)
    for stop in range(len(data), 0, -_BLOCK):
        start = max(stop - _BLOCK, 0)
        if begin == end or _any_beats(data[start:stop], sign, best, not newest):
            comparisons += stop - start
            for i in range(stop - 1, start - 1, -1):
                x = sign * data[i]
                if begin == end or _beats(x, best, not newest):
                    begin -= 1
                    position[begin & last], value[begin & last], best = first + i, data[i], x
    return begin, comparisons


@kernel
def _extend_side(header, position, value, data, lower_or_upper, answers):
    """Write the row of the extremum after each of `data`, and update one wedge."""
    # Ties are kept in the lower wedge if the question is value < newest, else in the upper one.
    sign, newest = 1 - 2 * lower_or_upper, (header[RISING] != 0) == (lower_or_upper == UPPER)
    position, value = position[lower_or_upper], value[lower_or_upper]
    first, last = header[NEXT], len(position) - 1
    begin, end = header[BEGIN + lower_or_upper], header[END + lower_or_upper]
    side = _Side(position, value, end, header[WINDOW], sign, newest)
    begin, best, comparisons = _answer_side(side, begin, data, first, answers)
    while end > begin and _beats(best, sign * value[(end - 1) & last], newest):
        comparisons += 1
        end -= 1
    # The new entries are written where there is room, before those kept in the ring, and then moved.
    high = begin + len(position)
    low, more = _prepend_best(side, high, data, first)
    for i in range(high - low):
        source, target = (low + i) & last, (end + i) & last
        position[target], value[target] = position[source], value[source]
    header[BEGIN + lower_or_upper], header[END + lower_or_upper] = begin, end + high - low
    header[COMPARISONS] += comparisons + more


@kernel
def _copy_observed(data, rows, observed):
    """Write `data`, all observations, to the first cells of the rings."""
    for i in range(len(data)):
        rows[i] = data[i]
    for i in range(len(data)):
        observed[i] = 1


@kernel
def _extend_full(header, position, value, observed, rows, data, answers, values):
    """As :func:`extend_with_rows`, for at most a window of observations and a window full of them."""
    first, last = header[NEXT], len(rows) - 1
    for side in range(2):
        _extend_side(header, position, value, data, side, answers[side])
        row, extremum = -1, np.nan
        for i in range(values.shape[1]):
            if answers[side, i] != row:
                row = answers[side, i]
                extremum = data[row - first] if row >= first else rows[row & last]
            values[side, i] = extremum
    # Up to the end of the rings, and the rest from their beginning on.
    done = min(len(rows) - (first & last), len(data))
    _copy_observed(data[:done], rows[first & last :], observed[first & last :])
    _copy_observed(data[done:], rows, observed)
    header[NEXT] += len(data)
    header[OLDEST] += len(data)


@kernel
def _extend_by_pushes(header, position, value, observed, rows, min_periods, data, answers, values):
    """As :func:`extend_with_rows`, one row at a time."""
    last = len(rows) - 1
    for i in range(len(data)):
        x = data[i]
        rows[header[NEXT] & last] = x
        enough = push(header, position, value, observed, x, x != x) >= min_periods
        answers[0, i] = minimum_position(header, position) if enough else -1
        answers[1, i] = maximum_position(header, position) if enough else -1
        if values.shape[1] > 0:
            for side in range(2):
                values[side, i] = rows[answers[side, i] & last] if enough else np.nan


@kernel
def extend_with_rows(header, position, value, observed, rows, min_periods, data, answers, values):
    """Push all of `data`; write the rows of minimum and maximum after each to `answers`, -1 for none.

    `rows` is a ring of the values of the window. There is no extremum where the window has fewer than
    `min_periods` observations, at least 1. The extrema, or NaN, are written to `values` unless it has no
    length; it may share the memory of `answers`.
    """
    window = header[WINDOW]
    for first in range(0, len(data), window):
        stop = min(first + window, len(data))
        part, answers_here, values_here = data[first:stop], answers[:, first:stop], values[:, first:stop]
        if window < _BLOCK or header[OBSERVED] < window or has_nan(part):
            _extend_by_pushes(
                header, position, value, observed, rows, min_periods, part, answers_here, values_here
            )
        else:
            _extend_full(header, position, value, observed, rows, part, answers_here, values_here)
