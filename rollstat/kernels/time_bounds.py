"""Bounds of time windows: those of a given width over ordered times.

::

    time     1   2   2   5   6   6   9
    row 4            [-------]            (6 - 4, 6]: without later rows of the same time
    row 5            [-----------]

A bound is found by a merge of the times with the boundaries of the windows, which never decrease either. Each
step moves the bound or goes to the next row. Its direction is data, not a branch, because at irregular times
no processor can predict it. Four parts of the rows are merged by turns, so that no step waits for the one
before.

State: a row and a bound for each part. Invariant: every row before the bound lies outside the window. Cost:
one step for each row and each move of the bound; the first row of a part finds its bound by bisection,
O(log n). `regular_gap` and `lags_agree` read the times once, and stop where they are irregular.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from rollstat._jit import INDEX, kernel
from rollstat._lowering import overloaded

__all__ = ["first_unordered", "lags_agree", "regular_gap", "time_bounds"]

# Rows of a segment from which it is merged in four parts.
_PARTS_FROM = 256
# Times in one pass of a loop without branches, which compiles to vector code.
_BLOCK = 1024


class Boundaries(NamedTuple):
    """One boundary of the windows of all rows.

    Attributes
    ----------
    width : int64 or float64
        Distance from the time of the row.
    limit : int64 or float64
        The time up to which the width can be added, or from which it can be subtracted, without overflow.
    ahead : bool
        Whether the boundary lies after the time of the row.
    passes : bool
        Whether a time equal to the boundary lies before the bound.
    """

    width: np.int64 | np.float64
    limit: np.int64 | np.float64
    ahead: bool
    passes: bool


@kernel(forceinline=True)
def _boundary(boundaries, now):
    """Return the boundary of a window at the time `now`, clamped so that it does not overflow."""
    if boundaries.ahead:
        return min(now, boundaries.limit) + boundaries.width
    return max(now, boundaries.limit) - boundaries.width


@kernel(forceinline=True)
def _passes(boundaries, now):
    """Return whether the bound passes times equal to the boundary: all if it is clamped ahead, else none."""
    if boundaries.ahead:
        return boundaries.passes | (now > boundaries.limit)
    return boundaries.passes & (now >= boundaries.limit)


@kernel(forceinline=True)
def _integer_lies_before(boundaries, now, time):
    boundary = _boundary(boundaries, now)
    return (time < boundary) | (_passes(boundaries, now) & (time == boundary))


@kernel(forceinline=True)
def _is_farther(newer, older, width, closed):
    """Return whether a distance is more than `width`, or equal to it and not `closed`, as if not rounded.

    A rounded distance that differs from the width is on the same side of it as the exact one. Equal
    infinities have the distance 0.
    """
    distance = newer - older
    part = newer - distance
    error = (newer - (distance + part)) + (part - older)
    return (distance > width) | ((distance == width) & ((error > 0.0) | ((error == 0.0) & (not closed))))


@kernel(forceinline=True)
def _float_lies_before(boundaries, now, time):
    if boundaries.ahead:
        return not _is_farther(time, now, boundaries.width, boundaries.passes)
    return _is_farther(now, time, boundaries.width, not boundaries.passes)


def lies_before(boundaries, now, time):
    """Return whether a row lies before the bound of a window, given the times of both."""
    compare = _float_lies_before if isinstance(now, float) else _integer_lies_before
    return compare(boundaries, now, time)


@overloaded(lies_before)
def _lies_before(boundaries, now, time):
    if isinstance(now, types.Float):
        return lambda boundaries, now, time: _float_lies_before(boundaries, now, time)
    return lambda boundaries, now, time: _integer_lies_before(boundaries, now, time)


@kernel
def _bisect(times, boundaries, i, low, high):
    """Return the bound of row `i`, which lies in ``low, ..., high``."""
    while low < high:
        middle = (low + high) // 2
        if lies_before(boundaries, times[i], times[middle]):
            low = middle + 1
        else:
            high = middle
    return low


@kernel(forceinline=True)
def _step(times, boundaries, origin, step, high, row, bound, out):
    """Move the bound of `row`, or write it and go to the next row; return both."""
    i = origin + row * step
    limit = high if boundaries.ahead else i
    before = lies_before(boundaries, times[i & INDEX], times[min(bound, high - 1) & INDEX])
    moves = np.int64(before & (bound < limit))
    out[row & INDEX] = bound
    return row + 1 - moves, bound + moves


@kernel
def _merge(times, boundaries, origin, step, low, high, first, last, out):
    """Write one bound of the rows ``first, ..., last - 1`` of a segment, see :func:`time_bounds`.

    Row ``row`` of the output belongs to row ``origin + row * step`` of the data.
    """
    size = (last - first) // 4 if last - first >= _PARTS_FROM else 0
    a, b, c, d = first, first + size, first + 2 * size, first + 3 * size
    end_a, end_b, end_c = b, c, d
    i = origin + a * step
    at_a = _bisect(times, boundaries, i, low, high if boundaries.ahead else i)
    i = origin + b * step
    at_b = _bisect(times, boundaries, i, at_a, high if boundaries.ahead else i)
    i = origin + c * step
    at_c = _bisect(times, boundaries, i, at_b, high if boundaries.ahead else i)
    i = origin + d * step
    at_d = _bisect(times, boundaries, i, at_c, high if boundaries.ahead else i)
    while (a < end_a) & (b < end_b) & (c < end_c) & (d < last):
        a, at_a = _step(times, boundaries, origin, step, high, a, at_a, out)
        b, at_b = _step(times, boundaries, origin, step, high, b, at_b, out)
        c, at_c = _step(times, boundaries, origin, step, high, c, at_c, out)
        d, at_d = _step(times, boundaries, origin, step, high, d, at_d, out)
    while a < end_a:
        a, at_a = _step(times, boundaries, origin, step, high, a, at_a, out)
    while b < end_b:
        b, at_b = _step(times, boundaries, origin, step, high, b, at_b, out)
    while c < end_c:
        c, at_c = _step(times, boundaries, origin, step, high, c, at_c, out)
    while d < last:
        d, at_d = _step(times, boundaries, origin, step, high, d, at_d, out)


@kernel
def _ends_before_now(times, now_itself, position, first, last, low, start, end):
    """Write the first row with the time of each row, or the start of the window if that is later."""
    right = _bisect(times, now_itself, position[first], low, position[first])
    for row in range(first, last):
        now = times[position[row]]
        if times[right] < now:
            right = position[row]
            # Rows that a step leaves out can have the same time.
            while times[right - 1] == now:
                right -= 1
        end[row] = max(right, start[row])


@kernel
def time_bounds(
    times, width, earliest, latest, offsets, position, center, left_closed, right_closed, start, end
):
    """Write the bounds of the windows of the rows `position` into `start` and `end`.

    `earliest` and `latest` are the limits of the type of the times, infinite for floats. Within a segment
    the rows `position` are equally far apart.
    """
    past = Boundaries(width, earliest + width, False, not left_closed)
    future = Boundaries(width, latest - width, True, right_closed)
    first = segment = 0
    while first < len(position):
        while offsets[segment + 1] <= position[first]:
            segment += 1
        low, high = offsets[segment], offsets[segment + 1]
        last, step = first + 1, 1
        if last < len(position) and position[last] < high:
            step = position[last] - position[first]
            last = min(first + (high - position[first] + step - 1) // step, len(position))
        origin = position[first] - first * step
        _merge(times, past, origin, step, low, high, first, last, start)
        if center:
            _merge(times, future, origin, step, low, high, first, last, end)
            for row in range(first, last):
                end[row] = max(start[row], end[row])
        elif right_closed:
            for row in range(first, last):
                end[row] = origin + row * step + 1
        else:
            now_itself = Boundaries(width - width, earliest, False, False)
            _ends_before_now(times, now_itself, position, first, last, low, start, end)
        first = last


@kernel(forceinline=True)
def _integer_is_outside(newer, older, width, ahead, closed):
    if ahead:
        return (newer > older + width) | ((not closed) & (newer == older + width))
    return (older < newer - width) | ((not closed) & (older == newer - width))


def is_outside(newer, older, width, ahead, closed):
    """Return whether a time lies outside a window that begins or ends at another one."""
    if isinstance(newer, float):
        return _is_farther(newer, older, width, closed)
    return _integer_is_outside(newer, older, width, ahead, closed)


@overloaded(is_outside)
def _is_outside(newer, older, width, ahead, closed):
    if isinstance(newer, types.Float):
        return lambda newer, older, width, ahead, closed: _is_farther(newer, older, width, closed)
    return lambda newer, older, width, ahead, closed: _integer_is_outside(newer, older, width, ahead, closed)


@kernel
def lags_agree(times, lag, width, ahead, closed, inside):
    """Return whether all pairs of times `lag` rows apart are at most `width` apart, or all are farther.

    All are wanted to be `inside`, or none. A distance equal to the width counts as inside if `closed`.
    Integers are compared from the newer time or, with `ahead`, from the older one.
    """
    for first in range(0, len(times) - lag, _BLOCK):
        newer = times[first + lag : first + lag + _BLOCK]
        older = times[first : first + len(newer)]
        different = 0
        for i in range(len(newer)):
            different |= is_outside(newer[i], older[i], width, ahead, closed) == inside
        if different:
            return False
    return True


@kernel
def regular_gap(times):
    """Return the difference of successive integer times if it is positive and always the same, else 0."""
    if len(times) < 2 or times[1] <= times[0]:
        return 0
    gap = times[1] - times[0]
    for first in range(0, len(times), _BLOCK):
        block = times[first : first + _BLOCK]
        expected, different = times[0] + first * gap, 0
        for i in range(len(block)):
            different |= block[i] ^ (expected + i * gap)
        if different:
            return 0
    return gap


@kernel
def first_unordered(times, offsets):
    """Return the first row whose time is below that of the previous row of its segment, or -1."""
    for segment in range(len(offsets) - 1):
        low, high = offsets[segment] + 1, offsets[segment + 1]
        for first in range(low, high, _BLOCK):
            older, newer = times[first - 1 : min(first + _BLOCK, high) - 1], times[first : first + _BLOCK]
            descends = 0
            for i in range(len(older)):
                descends |= newer[i] < older[i]
            if descends:
                for i in range(len(older)):
                    if newer[i] < older[i]:
                        return first + i
    return -1
