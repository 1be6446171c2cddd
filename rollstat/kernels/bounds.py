"""Bounds of windows of rows, cut at the ends of segments, and searches and shifts of any bounds.

::

    rows      0 1 2 3 | 4 5 6 7 8        offsets = [0, 4, 9]
    row 5             [---]              left = 2, right = 1: two rows, as the segment starts at row 4

    start   0 0 1 1 2 5 7 7      first_from(start, 1, 5) = 5, the first row after 1 whose window starts at 5

State: the segment of the row. Invariant: no segment before it holds a later row. Cost: `row_bounds` takes one
step for each row and each segment; `first_from` O(log d) for a result d rows away, since starts never
decrease and steps double before they are halved; `subtract_row` O(n).
"""

from rollstat.compile.jit import kernel


@kernel
def row_bounds(offsets, position, left, right, start, end):
    """Write the bounds ``[i - left, i + right)`` of the ascending rows `position`, cut at their segments.

    A window that would end before it starts is empty.
    """
    low = high = segment = 0
    for row in range(len(position)):
        i = position[row]
        while i >= high:
            low, high = offsets[segment], offsets[segment + 1]
            segment += 1
        first = min(max(i - left, low), high)
        start[row] = first
        end[row] = min(max(i + right, first), high)


@kernel
def first_from(bound, row, limit):
    """Return the first row after `row` with a bound of at least `limit`, or the number of rows."""
    low, step = row, 1
    while low + step < len(bound) and bound[low + step] < limit:
        low += step
        step *= 2
    high = min(low + step, len(bound))
    while low + 1 < high:
        middle = (low + high) // 2
        if bound[middle] < limit:
            low = middle
        else:
            high = middle
    return high


@kernel
def subtract_row(start, end, row):
    """Subtract `row` from all bounds; return the number of rows of the longest window, 0 if there is none."""
    longest = 0
    for i in range(len(start)):
        longest = max(longest, end[i] - start[i])
        start[i] -= row
        end[i] -= row
    return longest
