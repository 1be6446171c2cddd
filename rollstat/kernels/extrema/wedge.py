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
values of the lower wedge never fall and the values of the upper never rise. An observation that is in neither
wedge has a newer one that is at least as small, and a newer one that is at least as large.

One comparison with the newest observation decides which wedge it is removed from; the other wedge is not
touched. ``value > newest`` sends a tie to the lower wedge, so ties in the lower wedge end at the last row and
ties in the upper at the first; ``value < newest`` does the reverse. An adaptive wedge asks the second while
the data rise and the first while they fall, so that equal values do not accumulate in the wedge that is
popped next. The extrema are the same; their positions are any of the tied rows.

Cost: at most ``3 (n - 1)`` comparisons of data for n pushes at every moment, adaptive or not; at most
``2 (n - 1)`` on monotone data with ties when adaptive. Amortised O(1), worst case O(window) for one value.

Source: D. Lemire, Streaming maximum-minimum filter using no more than three comparisons per element,
Nordic Journal of Computing 13 (2006) 328-339, Algorithm 1, arXiv:cs/0610046. There, ties in front of a
larger value cost a third comparison on monotone data; the alternating question avoids it.
"""

import numpy as np

from rollstat.compile.jit import kernel

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
        Which of equal values gives the position of the extremum. With ``"minimum_first"`` ties of the minimum
        go to the oldest row and ties of the maximum to the newest; ``"minimum_last"`` is the reverse;
        ``"any"`` makes the fewest comparisons.
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
def load(header, position, value, observed, data, missing, pushed):
    """Make these rows, at most the capacity, the window, as the last of `pushed` rows.

    If `missing` is None, NaN is missing. From the newest row on, few are in front of a wedge; each takes two
    comparisons.
    """
    end, first, rising, held = len(observed), pushed - len(data), header[RISING] != 0, 0
    low = high = end
    for i in range(len(data) - 1, -1, -1):
        x, row = data[i], first + i
        is_observed = x == x if missing is None else not missing[i]
        observed[row & (end - 1)] = is_observed
        held += is_observed
        if is_observed and (low == end or (x <= value[LOWER, low] if rising else x < value[LOWER, low])):
            low -= 1
            position[LOWER, low], value[LOWER, low] = row, x
        if is_observed and (high == end or (x > value[UPPER, high] if rising else x >= value[UPPER, high])):
            high -= 1
            position[UPPER, high], value[UPPER, high] = row, x
    header[NEXT], header[OLDEST], header[OBSERVED] = pushed, first, held
    header[BEGIN + LOWER], header[BEGIN + UPPER] = low, high
    header[END + LOWER] = header[END + UPPER] = end
    header[COMPARISONS] = 2 * max(held - 1, 0)


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
