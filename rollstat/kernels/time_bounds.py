"""Bounds of time windows: windows of a given width over ordered times.

::

    time     1   2   2   5   6   6   9
    row 4            [-------]            (6 - 4, 6]: without later rows of the same time
    row 5            [-----------]

A window begins and ends at an edge: the time of its row plus a distance. The bound is the number of rows
whose times lie before the edge. Bounds are found by a merge of the times with the edges; the edges never
decrease either. Eight successive rows, with their edges in one vector, are compared with the next sixteen
times, one after the other, and the bound of each row moves by how many of them lie before its edge. So
branches are rare, because at irregular times no processor can predict one. Four parts of the rows are merged
by turns, so that no row waits for the one before. Edges of float times must not be rounded, so float times
are merged row by row, each row compared with the next four times.

Windows have the times of rows, or times of their own. If the own times are few, or each window has a width of
its own, each bound is searched from the one before: steps double, then are halved.

State: a bound for each part. Invariant: every row before the bound lies outside the window. Cost: one step
for a row, and one for four moves of the bound; for eight rows one step, and two instructions for each time
compared with them. The first row of a part finds its bound by bisection, O(log n). A search takes O(log d)
for a bound d rows away. `lags_agree` reads the times once, and stops where they are irregular; `regular_gap`
also finds their order.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import dispatching
from rollstat.compile.simd.bounds import LANES, add_if_less
from rollstat.compile.simd.vectors import broadcast, load, store, zeros_like

_SMALLEST = -np.finfo(np.float64).max
_FIRST, _LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
# Rows of a segment from which it is merged in four parts.
_PARTS_FROM = 256
# Rows for each time of its own from which bounds are searched instead of merged.
SPARSE = 16
# Times in one pass of a loop without branches; the loop compiles to vector code.
_BLOCK = 1024


class Edge(NamedTuple):
    """Where a window begins or ends.

    Attributes
    ----------
    time : int64 or float64
        Times below it lie before the edge.
    includes : bool
        Whether times equal to it do so too.
    """

    time: np.int64 | np.float64
    includes: bool


@kernel(forceinline=True)
def _integer_edge(now, distance, passes):
    """Return the edge at ``now + distance``; nothing or everything lies before one beyond all integers."""
    if distance < 0 and now < _FIRST - distance:
        return Edge(np.int64(_FIRST), False)
    if distance > 0 and now > _LAST - distance:
        return Edge(np.int64(_LAST), True)
    return Edge(now + distance, passes)


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


@dispatching
def edge_of(now, distance, passes):
    """Return the edge at a distance from the time `now`; times equal to it lie before it if it `passes`."""
    return _float_edge if isinstance(now, (float, types.Float)) else _integer_edge


@kernel(forceinline=True)
def lies_before(edge, time):
    """Return whether a time lies before an edge."""
    return (time < edge.time) | (edge.includes & (time == edge.time))


@kernel
def _bisect(times, edge, low, high):
    """Return the first of the rows ``low, ..., high`` that does not lie before an edge."""
    while low < high:
        middle = (low + high) // 2
        if lies_before(edge, times[middle]):
            low = middle + 1
        else:
            high = middle
    return low


@kernel(forceinline=True)
def _advance(times, edge, bound, high):
    """Return the first of the rows ``bound, ..., high`` that does not lie before an edge."""
    while bound <= high - 4:
        one = np.int64(lies_before(edge, times[bound & INDEX]))
        two = np.int64(lies_before(edge, times[(bound + 1) & INDEX]))
        three = np.int64(lies_before(edge, times[(bound + 2) & INDEX]))
        four = np.int64(lies_before(edge, times[(bound + 3) & INDEX]))
        bound += (one + two) + (three + four)
        if not four:
            return bound
    while bound < high and lies_before(edge, times[bound & INDEX]):
        bound += 1
    return bound


@kernel(forceinline=True)
def _advance_eight(times, own, shift, i, bound, high, out):
    """Write the bounds at the own times ``i, ..., i + 7``; they lie in ``bound, ..., high``.

    A time lies before a bound if it is less than the own time plus `shift`.
    """
    edges = load(own, i) + broadcast(shift)
    first, last = own[i & INDEX] + shift, own[(i + LANES - 1) & INDEX] + shift
    while bound <= high - LANES and times[(bound + LANES - 1) & INDEX] < first:
        bound += LANES
    counts = broadcast(bound)
    while bound < high and times[bound & INDEX] < last:
        if bound <= high - 2 * LANES:
            others = zeros_like(counts)
            for j in range(0, 2 * LANES, 2):
                counts = add_if_less(counts, times[(bound + j) & INDEX], edges)
                others = add_if_less(others, times[(bound + j + 1) & INDEX], edges)
            counts = counts + others
            bound += 2 * LANES
        else:
            counts = add_if_less(counts, times[bound & INDEX], edges)
            bound += 1
    store(counts, out, i)


@kernel
def _merge_eights(times, own, distance, passes, low, high, first, last, out):
    """Write one bound of most rows from `first` on; return their number.

    It is 0 where there are few rows, and where an edge would overflow.
    """
    now, latest = own[first], own[last - 1]
    beyond = now < _FIRST - distance if distance < 0 else latest >= _LAST - distance
    if last - first < _PARTS_FROM or beyond:
        return 0
    done = (last - first) // LANES * LANES
    size = -(-done // (4 * LANES)) * LANES
    shift = distance + np.int64(passes)
    for k in range(0, size, LANES):
        row = k
        while row < done:
            if k:
                bound = out[first + row - 1]
            else:
                bound = _bisect(times, edge_of(own[first + row], distance, passes), low, high)
            _advance_eight(times, own, shift, first + row, bound, high, out)
            row += size
    return done


@kernel
def _no_eights(times, own, distance, passes, low, high, first, last, out):
    return 0


@dispatching
def merged_in_eights(times, own, distance, passes, low, high, first, last, out):
    """Write one bound of most rows from `first` on; return their number, 0 for floats: they are rounded."""
    return _no_eights if times.dtype in (np.dtype(np.float64), types.float64) else _merge_eights


@kernel
def _merge(times, own, distance, passes, low, high, first, last, out):
    """Write one bound of each of the own times ``first, ..., last - 1``; they never decrease."""
    done = merged_in_eights(times, own, distance, passes, low, high, first, last, out)
    low, first = out[first + done - 1] if done else low, first + done
    size = -((first - last) // 4) if last - first >= _PARTS_FROM else last - first
    row = first
    while row < last:
        out[row] = _bisect(times, edge_of(own[row], distance, passes), low, high)
        row += size
    for k in range(1, size):
        row = first + k
        while row < last:
            edge = edge_of(own[row & INDEX], distance, passes)
            out[row & INDEX] = _advance(times, edge, out[(row - 1) & INDEX], high)
            row += size


@kernel
def _search(times, edge, bound, low, high):
    """Return the first of the rows ``low, ..., high`` that does not lie before an edge, from `bound` on."""
    step = 1
    if bound > low and not lies_before(edge, times[bound - 1]):
        bound -= 1
        while bound - step >= low and not lies_before(edge, times[bound - step]):
            bound -= step
            step *= 2
        return _bisect(times, edge, max(bound - step, low), bound)
    if bound <= high - 4:
        near = np.int64(0)
        for i in range(4):
            near += np.int64(lies_before(edge, times[(bound + i) & INDEX]))
        if near < 4:
            return bound + near
        bound += 4
    while bound + step <= high and lies_before(edge, times[bound + step - 1]):
        bound += step
        step *= 2
    return _bisect(times, edge, bound, min(bound + step, high))


@kernel
def edge_bounds(times, offsets, own, own_offsets, distance, passes, out):
    """Write to `out` how many rows lie before the edge at a distance from each of the times `own`.

    The own times never decrease within a segment. The segment of rows from `offsets` on is searched for the
    own times from `own_offsets` on. There is one `distance` for each, or one for all.
    """
    last = len(distance) - 1
    for segment in range(len(offsets) - 1):
        low, high = offsets[segment], offsets[segment + 1]
        first, end = own_offsets[segment], own_offsets[segment + 1]
        if last == 0 and first < end:
            low = _bisect(times, edge_of(own[first], distance[0], passes), low, high)
            high = _bisect(times, edge_of(own[end - 1], distance[0], passes), low, high)
            if high - low < SPARSE * (end - first):
                _merge(times, own, distance[0], passes, low, high, first, end, out)
                continue
        bound = low
        for i in range(first, end):
            bound = _search(times, edge_of(own[i], distance[min(i, last)], passes), bound, low, high)
            out[i] = bound


@kernel
def bounds_at(times, now, distances, passes, beyond, bounds):
    """Write the bounds of windows at one time: the start and the end of each, one after the other.

    Each is the number of rows before the edge at a distance from `now`, plus its number of rows `beyond`.
    """
    for i in range(len(bounds)):
        rows = _bisect(times, edge_of(now, distances[i], passes[i]), 0, len(times))
        rows = min(max(rows + beyond[i], 0), len(times))
        bounds[i] = max(rows, bounds[i - 1]) if i & 1 else rows


@kernel
def lags_agree(times, lag, distance, passes, expected):
    """Return whether all pairs of times `lag` rows apart lie as `expected`.

    If `expected`, one time of each pair must lie before the edge of the other, else it must not. The edge
    belongs to the newer time or, if `distance` is positive, to the older one.
    """
    ahead = distance > 0
    for first in range(0, len(times) - lag, _BLOCK):
        newer = times[first + lag : first + lag + _BLOCK]
        older = times[first : first + len(newer)]
        own, others = (older, newer) if ahead else (newer, older)
        different = 0
        for i in range(len(newer)):
            different |= lies_before(edge_of(own[i], distance, passes), others[i]) != expected
        if different:
            return False
    return True


@kernel
def _first_descent(times, low, high):
    """Return the first of the rows ``low, ..., high - 1`` whose time is below the previous one, or -1."""
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


@kernel
def regular_gap(times):
    """Return the difference of successive integer times if it is positive and always the same.

    Otherwise return 0 if the times never decrease, else -1.
    """
    # Unsigned, because a compiler may take signed differences never to overflow.
    gap = np.int64(np.uint64(times[1]) - np.uint64(times[0])) if len(times) > 1 else 0
    irregular = gap <= 0  # also if the difference overflows
    for first in range(0, len(times), _BLOCK):
        if irregular:
            break
        block = times[first : first + _BLOCK]
        expected, different = times[0] + first * gap, 0
        for i in range(len(block)):
            different |= block[i] ^ (expected + i * gap)
        irregular = different != 0
    return gap if not irregular else -int(_first_descent(times, 1, len(times)) >= 0)


@kernel
def first_unordered(times, offsets):
    """Return the first row whose time is below the time of the previous row of its segment, or -1."""
    for segment in range(len(offsets) - 1):
        row = _first_descent(times, offsets[segment] + 1, offsets[segment + 1])
        if row >= 0:
            return row
    return -1
