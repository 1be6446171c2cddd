"""Bounds of windows of rows, cut at the ends of segments.

::

    rows      0 1 2 3 | 4 5 6 7 8        offsets = [0, 4, 9]
    row 5             [---]              left = 2, right = 1: two rows, as the segment starts at row 4

State: the segment of the row. Invariant: no segment before it holds a later row. Cost: one step for each row
and each segment.
"""

from rollstat.compile.jit import kernel

__all__ = ["row_bounds"]


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
