"""Extrema of any monotone windows, and their positions.

::

    values    . . a b c d | e f g h .
              older: best of   | newer: best of
              each tail of the | each head of the
              block            | rows after the border
                [-------------)        answer = better of older[start] and newer[end]

`scan` makes both series block by block: windows that start at the border or after it belong to the next
block, whose border is the end of the last window. `locate` then finds the positions of the extrema, and
`correct_positions` corrects the positions found by :mod:`rollstat.kernels.extrema.doubling` where values are
missing. `growing` serves windows that begin with the data. `extremes_of_windows` does everything for a short
series, with a monotonic deque of rows.

State: scratch memory. Invariants: ``older[j - first]`` is the best of ``values[j:border]`` and
``newer[j - border]`` the best of ``values[border:j]``; the position of the first extremum never decreases as
windows slide, so `locate` never reads a skipped value again unless it has just entered; in the deque, rows
and their values increase, and every other observation has an equal or smaller one behind it.
Cost: at most 3 comparisons a value for extrema and 2 reads for positions, amortised; O(window) in the worst
case.

Source: M. van Herk (1992), doi:10.1016/0167-8655(92)90069-C, and J. Gil and M. Werman (1993),
doi:10.1109/34.211471, here with borders where the windows need them instead of every `width` rows; the deque
and the monotonicity of positions are from D. Lemire's wedge, arXiv:cs/0610046.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.kernels.bounds import first_from
from rollstat.kernels.comparator import better, prefer, tie_rule, worst_of


@kernel
def _scan_older(order, values, missing, first, border, best):
    """Write the best of every ``values[j:border]`` to ``best[j - first]``; the worst value for no values."""
    masked = len(missing) > 0
    running = best[border - first] = worst_of(order, values)
    for j in range(border - 1, first - 1, -1):
        if not (masked and missing[j]):
            running = prefer(order, values[j], running)
        best[j - first] = running


@kernel
def _scan_newer(order, values, missing, border, last, best):
    """Write the best of every ``values[border:j]`` to ``best[j - border]``; return whether a NaN was seen."""
    masked = len(missing) > 0
    running = best[0] = worst_of(order, values)
    has_nan = False
    for j in range(border, last):
        has_nan |= values[j] != values[j]
        if not (masked and missing[j]):
            running = prefer(order, values[j], running)
        best[j + 1 - border] = running
    return has_nan


@kernel
def scan(order, values, missing, start, end, older, newer, out):
    """Write the best of every window ``values[start[i]:end[i]]`` to `out`, the worst value where none is.

    NaN and rows with `missing` set are no observations; `missing` may have no length. `older` and `newer`
    have room for one value more than the longest window. Returns whether a NaN was seen.
    """
    row = right = 0
    has_nan = False
    while row < len(start):
        first = start[row]
        border = max(first, right)
        # Its first window starts at the border if it has no row in common with the windows before.
        stop = first_from(start, row, border)
        right = end[stop - 1]
        _scan_older(order, values, missing, first, border, older)
        has_nan |= _scan_newer(order, values, missing, border, right, newer)
        for i in range(row, stop):
            before, after = older[(start[i] - first) & INDEX], newer[(end[i] - border) & INDEX]
            out[i & INDEX] = prefer(order, before, after)
        row = stop
    return has_nan


@kernel
def growing(order, values, out):
    """Write the best of all but the last ``len(out) - 1`` values to ``out[0]``, ..., of all to ``out[-1]``.

    With an :class:`~rollstat.kernels.comparator.Arg` these are positions, -1 where there is no
    observation. NaN is none. Returns whether there is a NaN.
    """
    before, rule = len(values) - len(out), tie_rule(order)
    best, position, nan = worst_of(order, values), -1, False
    for i in range(len(values)):
        value = values[i]
        nan |= value != value
        if rule != 0 and (better(order, value, best) or (value == best and (rule > 0 or position < 0))):
            position = i
        best = prefer(order, value, best)
        if i >= before:
            if rule != 0:
                out[i - before] = position
            else:
                out[i - before] = best
    return nan


@kernel
def locate(order, values, missing, start, end, last, best, position):
    """Write the position of the extremum ``best[i]`` of ``values[start[i]:end[i]]``, -1 if there is none.

    Of equal values the first one counts, or the `last` one.
    """
    rows, length = len(best), len(values)
    origin, sign = (length - 1, -1) if last else (0, 1)
    masked = len(missing) > 0
    found = before = 0
    previous = worst_of(order, values)
    for i in range(rows):
        row = rows - 1 - i if last else i
        left = length - end[row] if last else start[row]
        right = length - start[row] if last else end[row]
        if better(order, best[row], previous):
            found = before
        found = max(found, left)
        while found < right:
            j = origin + sign * found
            if values[j] == best[row] and not (masked and missing[j]):
                break
            found += 1
        position[row] = origin + sign * found if found < right else -1
        before = right
        previous = best[row]


@kernel
def move_origin(position, rows):
    """Count positions from `rows` rows earlier; -1 stays."""
    for i in range(len(position)):
        position[i] += rows if position[i] >= 0 else 0


@kernel
def correct_positions(order, values, missing, width, last, shift, position):
    """Correct positions found where missing values took part as the worst value.

    They matter only if the worst value is an observation too. Then a window of nothing else gets its first or
    its last observation, and -1 if there is none.
    """
    worst, found = worst_of(order, values), 0
    for i in range(len(values)):  # without an early exit the loop compiles to vector code
        found += values[i] == worst
    if found == 0:
        return
    rows = len(position)
    masked = len(missing) > 0
    observed = -1 if last else len(values)
    for i in range(len(values)):
        j = i if last else len(values) - 1 - i
        if values[j] == values[j] and not (masked and missing[j]):
            observed = j
        row = j - width + 1 if last else j
        if 0 <= row < rows:
            place = min(max(position[row] - shift, 0), len(values) - 1)
            value = values[place]
            if value != value or value == worst or (masked and missing[place]):
                position[row] = shift + observed if row <= observed < row + width else -1


@kernel
def extremes_of_windows(values, start, end, sign, last, least, rows, mark, value, position):
    """Write the extremum of every window, or its row.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    start, end : ndarray of int64, shape (windows,)
        Monotone windows.
    sign : float
        1 for minima, -1 for maxima.
    last : bool
        Whether the row of equal values is the last of them instead of the first.
    least : int
        Observations below which a window has no result, at least 1.
    rows : ndarray of int64, shape (n,)
        Scratch.
    mark : float
        What the results are where there is none.
    value, position : ndarray of float64, shape (windows,) or (0,)
        Receive extrema and their rows; empty if they are not wanted.
    """
    head = tail = left = right = observed = 0
    for i in range(len(start)):
        if start[i] > right:  # no window has the rows between
            head = tail = observed = 0
            left = right = start[i]
        while right < end[i]:
            entering = sign * values[right]
            if entering == entering:
                observed += 1
                while tail > head:
                    back = sign * values[rows[tail - 1]]
                    if back < entering or (back == entering and not last):
                        break
                    tail -= 1
                rows[tail] = right
                tail += 1
            right += 1
        while left < start[i]:
            observed -= values[left] == values[left]
            left += 1
        while head < tail and rows[head] < left:
            head += 1
        found = observed >= least
        if len(value) > 0:
            value[i] = values[rows[head]] if found else mark
        if len(position) > 0:
            position[i] = np.float64(rows[head]) if found else mark


@kernel
def write_distances(low, high, distance):
    """Write ``high - low`` of floats, all of one dtype."""
    for i in range(len(distance)):
        distance[i] = 0.0 if low[i] == high[i] else high[i] - low[i]
