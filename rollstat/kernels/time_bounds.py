"""Bounds of time windows: those of a given width over ordered times.

::

    time     1   2   2   5   6   6   9
    row 4            [-------]            (6 - 4, 6]: without later rows of the same time
    row 5            [-----------]

A bound is found by a merge of the times with the boundaries of the windows, which never decrease either.
Eight successive rows, whose boundaries are one vector, are compared with the next sixteen times, one after
the other, and the bound of each moves by the number of those before it. So branches are rare, because at
irregular times no processor can predict one. Four parts of the rows are merged by turns, so that no row waits
for the one before. Float times, whose boundaries must not be rounded, and rows that are not successive are
merged row by row, each compared with the next four times.

State: a bound for each part. Invariant: every row before the bound lies outside the window. Cost: one step
for a row, and one for four moves of the bound; for eight rows one step, and two instructions for each time
that they are compared with. The first row of a part finds its bound by bisection, O(log n).
`regular_gap` and `lags_agree` read the times once, and stop where they are irregular.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import dispatched, overloaded
from rollstat.compile.simd.bounds import LANES, add_if_less
from rollstat.compile.simd.vectors import broadcast, load, store, zeros

__all__ = [
    "Past",
    "edge_of",
    "first_unordered",
    "future_bounds",
    "lags_agree",
    "lies_before",
    "past_bounds",
    "regular_gap",
]

_SMALLEST = -np.finfo(np.float64).max
# Rows of a segment from which it is merged in four parts.
_PARTS_FROM = 256
# Times in one pass of a loop without branches, which compiles to vector code.
_BLOCK = 1024


class Past(NamedTuple):
    """The boundary before the time of each row.

    Attributes
    ----------
    width : int64 or float64
        Distance from the time of the row.
    limit : int64 or float64
        The time from which the width can be subtracted without overflow.
    passes : bool
        Whether a time equal to the boundary lies before the bound.
    """

    width: np.int64 | np.float64
    limit: np.int64 | np.float64
    passes: bool


class Future(NamedTuple):
    """The boundary after the time of each row; `limit` is the time up to which the width can be added."""

    width: np.int64 | np.float64
    limit: np.int64 | np.float64
    passes: bool


Boundaries = Past | Future


class Edge(NamedTuple):
    """The last time before a bound, or the first one after it.

    Attributes
    ----------
    time : int64 or float64
        Integers up to `time` lie before a bound ahead, integers below it before a bound behind.
    includes : bool
        Whether floats equal to `time` lie before the bound.
    """

    time: np.int64 | np.float64
    includes: bool


@kernel(forceinline=True)
def _past_integer(boundaries, now):
    """Return the edge of a row; nothing lies before a boundary that would overflow."""
    passes = boundaries.passes & (now >= boundaries.limit)
    return Edge(max(now, boundaries.limit) - boundaries.width + np.int64(passes), False)


@kernel(forceinline=True)
def _future_integer(boundaries, now):
    """Return the edge of a row; everything lies before a boundary that would overflow."""
    passes = boundaries.passes | (now > boundaries.limit)
    return Edge(min(now, boundaries.limit) + boundaries.width - np.int64(not passes), False)


@kernel(forceinline=True)
def _float_edge(now, distance, passes):
    """Return the edge at ``now + distance``, as if not rounded: the error of the sum decides equal times.

    Equal infinite times have the distance 0.
    """
    rounded = now + distance
    part = rounded - now
    error = (now - (rounded - part)) + (distance - part)
    if abs(now) == np.inf:
        return Edge(rounded, distance > 0.0)
    if rounded == -np.inf:
        return Edge(_SMALLEST, False)  # only -inf is farther away
    return Edge(rounded, (error > 0.0) | ((error == 0.0) & passes))


@kernel(forceinline=True)
def _past_float(boundaries, now):
    return _float_edge(now, -boundaries.width, boundaries.passes)


@kernel(forceinline=True)
def _future_float(boundaries, now):
    return _float_edge(now, boundaries.width, boundaries.passes)


def edge_of(boundaries, now):
    """Return the edge of the row with the time `now`."""
    return _edge_kernel(isinstance(boundaries, Past), isinstance(now, float))(boundaries, now)


@dispatched(edge_of)
def _edge_of(boundaries, now):
    return _edge_kernel(boundaries.instance_class is Past, isinstance(now, types.Float))


def _edge_kernel(past, float_times):
    """Return the kernel for a kind of boundary and of times."""
    return ((_future_integer, _future_float), (_past_integer, _past_float))[past][float_times]


@kernel(forceinline=True)
def _before_past(boundaries, edge, time):
    return time < edge.time


@kernel(forceinline=True)
def _before_future(boundaries, edge, time):
    return time <= edge.time


@kernel(forceinline=True)
def _before_float(boundaries, edge, time):
    return (time < edge.time) | (edge.includes & (time == edge.time))


def lies_before(boundaries, edge, time):
    """Return whether a row lies before the bound of a window, given its time and the edge of the window."""
    return _before_kernel(isinstance(boundaries, Past), isinstance(time, float))(boundaries, edge, time)


@dispatched(lies_before)
def _lies_before(boundaries, edge, time):
    return _before_kernel(boundaries.instance_class is Past, isinstance(time, types.Float))


def _before_kernel(past, float_times):
    """Return the kernel for a kind of boundary and of times."""
    if float_times:
        return _before_float
    return _before_past if past else _before_future


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


@kernel
def _bisect(times, boundaries, i, low, high):
    """Return the bound of row `i`, which lies in ``low, ..., high``."""
    edge = edge_of(boundaries, times[i])
    while low < high:
        middle = (low + high) // 2
        if lies_before(boundaries, edge, times[middle]):
            low = middle + 1
        else:
            high = middle
    return low


@kernel(forceinline=True)
def _advance(times, boundaries, i, bound, high):
    """Return the bound of row `i`, which lies in ``bound, ..., high``."""
    edge = edge_of(boundaries, times[i & INDEX])
    while bound <= high - 4:
        one = np.int64(lies_before(boundaries, edge, times[bound & INDEX]))
        two = np.int64(lies_before(boundaries, edge, times[(bound + 1) & INDEX]))
        three = np.int64(lies_before(boundaries, edge, times[(bound + 2) & INDEX]))
        four = np.int64(lies_before(boundaries, edge, times[(bound + 3) & INDEX]))
        bound += (one + two) + (three + four)
        if not four:
            return bound
    while bound < high and lies_before(boundaries, edge, times[bound & INDEX]):
        bound += 1
    return bound


@kernel(forceinline=True)
def _advance_eight(times, shift, i, bound, high, row, out):
    """Write the bounds of the rows ``i, ..., i + 7``, which lie in ``bound, ..., high``; return the last one.

    A time lies before the bound of a row if it is less than the time of the row plus `shift`.
    """
    edges = load(times, i) + broadcast(shift)
    first, last = times[i & INDEX] + shift, times[(i + LANES - 1) & INDEX] + shift
    while bound <= high - LANES and times[(bound + LANES - 1) & INDEX] < first:
        bound += LANES
    counts = broadcast(bound)
    while bound < high and times[bound & INDEX] < last:
        if bound <= high - 2 * LANES:
            others = zeros(times)
            for j in range(0, 2 * LANES, 2):
                counts = add_if_less(counts, times[(bound + j) & INDEX], edges)
                others = add_if_less(others, times[(bound + j + 1) & INDEX], edges)
            counts = counts + others
            bound += 2 * LANES
        else:
            counts = add_if_less(counts, times[bound & INDEX], edges)
            bound += 1
    store(counts, out, row)
    return out[(row + LANES - 1) & INDEX]


@kernel
def _merge_eights(times, boundaries, shift, i, low, high, first, last, out):
    """Write one bound of most rows from `first` on, whose data rows begin at `i`; return their number."""
    size = (last - first) // (4 * LANES) * LANES if last - first >= _PARTS_FROM else 0
    at_a = _bisect(times, boundaries, i, low, high)
    at_b = _bisect(times, boundaries, i + size, at_a, high)
    at_c = _bisect(times, boundaries, i + 2 * size, at_b, high)
    at_d = _bisect(times, boundaries, i + 3 * size, at_c, high)
    for k in range(0, size, LANES):
        at_a = _advance_eight(times, shift, i + k, at_a, high, first + k, out)
        at_b = _advance_eight(times, shift, i + size + k, at_b, high, first + size + k, out)
        at_c = _advance_eight(times, shift, i + 2 * size + k, at_c, high, first + 2 * size + k, out)
        at_d = _advance_eight(times, shift, i + 3 * size + k, at_d, high, first + 3 * size + k, out)
    return 4 * size


@kernel
def _past_in_eights(times, boundaries, i, low, high, first, last, out):
    if times[i] < boundaries.limit:
        return 0
    shift = np.int64(boundaries.passes) - boundaries.width
    return _merge_eights(times, boundaries, shift, i, low, high, first, last, out)


@kernel
def _future_in_eights(times, boundaries, i, low, high, first, last, out):
    if times[i + last - first - 1] >= boundaries.limit:
        return 0
    shift = np.int64(boundaries.passes) + boundaries.width
    return _merge_eights(times, boundaries, shift, i, low, high, first, last, out)


@kernel
def _no_eights(times, boundaries, i, low, high, first, last, out):
    return 0


def merged_in_eights(times, boundaries, i, low, high, first, last, out):
    """Write one bound of most rows from `first` on; return their number.

    It is 0 for floats, whose boundaries must not be rounded, and where a boundary would overflow.
    """
    kernel = _kernel_in_eights(isinstance(boundaries, Past), times.dtype.kind == "f")
    return kernel(times, boundaries, i, low, high, first, last, out)


@dispatched(merged_in_eights)
def _merged_in_eights(times, boundaries, i, low, high, first, last, out):
    return _kernel_in_eights(boundaries.instance_class is Past, isinstance(times.dtype, types.Float))


def _kernel_in_eights(past, float_times):
    """Return the kernel for a kind of boundary and of times."""
    return _no_eights if float_times else _past_in_eights if past else _future_in_eights


@kernel
def _merge(times, boundaries, origin, step, low, high, first, last, out):
    """Write one bound of the rows ``first, ..., last - 1`` of a segment, see :func:`past_bounds`.

    Row ``row`` of the output belongs to row ``origin + row * step`` of the data.
    """
    if step == 1:
        done = merged_in_eights(times, boundaries, origin + first, low, high, first, last, out)
        low, first = out[first + done - 1] if done else low, first + done
    if first == last:
        return
    size = (last - first) // 4 if last - first >= _PARTS_FROM else 0
    a, b, c, d = first, first + size, first + 2 * size, first + 3 * size
    at_a = _bisect(times, boundaries, origin + a * step, low, high)
    at_b = _bisect(times, boundaries, origin + b * step, at_a, high)
    at_c = _bisect(times, boundaries, origin + c * step, at_b, high)
    at_d = _bisect(times, boundaries, origin + d * step, at_c, high)
    for k in range(size):
        at_a = _advance(times, boundaries, origin + (a + k) * step, at_a, high)
        at_b = _advance(times, boundaries, origin + (b + k) * step, at_b, high)
        at_c = _advance(times, boundaries, origin + (c + k) * step, at_c, high)
        at_d = _advance(times, boundaries, origin + (d + k) * step, at_d, high)
        out[(a + k) & INDEX] = at_a
        out[(b + k) & INDEX] = at_b
        out[(c + k) & INDEX] = at_c
        out[(d + k) & INDEX] = at_d
    for row in range(d + size, last):
        at_d = _advance(times, boundaries, origin + row * step, at_d, high)
        out[row & INDEX] = at_d


@kernel(forceinline=True)
def _data_row(position, origin, stride, row):
    return position[row] if len(position) else origin + row * stride


@kernel
def _bounds(times, boundaries, offsets, position, origin, stride, out):
    """Write one bound of the windows of some rows of data, see :func:`past_bounds`."""
    first = segment = 0
    while first < len(out):
        here = _data_row(position, origin, stride, first)
        while offsets[segment + 1] <= here:
            segment += 1
        low, high = offsets[segment], offsets[segment + 1]
        last, step = first + 1, 1
        if last < len(out) and _data_row(position, origin, stride, last) < high:
            step = _data_row(position, origin, stride, last) - here
            last = min(first + (high - here + step - 1) // step, len(out))
        _merge(times, boundaries, here - first * step, step, low, high, first, last, out)
        first = last


@kernel
def past_bounds(times, width, limit, passes, offsets, position, origin, stride, out):
    """Write to `out` how many rows lie before the past boundary of each of some rows, see :class:`Past`.

    The rows are `position`, or ``origin, origin + stride, ...`` if that is empty. Within a segment they are
    equally far apart. Both kinds of bounds are kernels of their own because most windows need only one.
    """
    _bounds(times, Past(width, limit, passes), offsets, position, origin, stride, out)


@kernel
def future_bounds(times, width, limit, passes, offsets, position, origin, stride, out):
    """Write how many rows lie before the future boundary of each row, as :func:`past_bounds`."""
    _bounds(times, Future(width, limit, passes), offsets, position, origin, stride, out)


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
