"""Bounds of time windows: those of a given width over ordered times.

::

    time     1   2   2   5   6   6   9
    row 4            [-------]            (6 - 4, 6]: without later rows of the same time
    row 5            [-----------]

State: the two bounds, which never decrease within a segment. Invariant: ``start`` is the first row of the
segment whose time is inside the left boundary, or the row itself. Cost: amortised O(1) a row, as each bound
passes every row once; the first row of a call and of a segment finds its bounds by bisection, O(log n).
"""

from rollstat._jit import kernel

__all__ = ["first_unordered", "time_bounds"]


@kernel
def _first_inside(times, low, high, boundary, inclusive):
    """Return the first of the rows ``low, ..., high - 1`` with a time after `boundary`, or `high`.

    With `inclusive`, a time equal to `boundary` counts as after it.
    """
    while low < high:
        middle = (low + high) // 2
        if times[middle] > boundary or (inclusive and times[middle] == boundary):
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def time_bounds(
    times, width, earliest, latest, offsets, position, center, left_closed, right_closed, start, end
):
    """Write the bounds of the windows of the rows `position` into `start` and `end`.

    `earliest` and `latest` are the limits of the type of the times, infinite for floats.
    """
    if len(position) == 0:
        return
    segment = 0
    low = high = 0
    left = right = 0
    for row in range(len(position)):
        i = position[row]
        now = times[i]
        # Clamped, so that neither boundary overflows; a right boundary at the limit includes its own time.
        past, future = max(now, earliest + width) - width, min(now, latest - width) + width
        endless = now > latest - width
        if row == 0 or i >= high:
            while offsets[segment + 1] <= i:
                segment += 1
            low, high = offsets[segment], offsets[segment + 1]
            left = _first_inside(times, low, i, past, left_closed)
            right = left
            if center:
                right = _first_inside(times, left, high, future, not right_closed)
            elif not right_closed:
                right = _first_inside(times, left, i, now, True)
        while left < i and not (times[left] > past or (left_closed and times[left] == past)):
            left += 1
        if center:
            inclusive = right_closed or endless
            while right < high and (times[right] < future or (inclusive and times[right] == future)):
                right += 1
        elif right_closed:
            right = i + 1
        else:
            right = max(right, left)
            while right < i and times[right] < now:
                right += 1
        start[row] = left
        end[row] = max(left, right)


@kernel
def first_unordered(times, offsets):
    """Return the first row whose time is below that of the previous row of its segment, or -1."""
    for segment in range(len(offsets) - 1):
        for i in range(offsets[segment] + 1, offsets[segment + 1]):
            if times[i] < times[i - 1]:
                return i
    return -1
