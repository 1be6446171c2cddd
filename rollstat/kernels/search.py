"""Searches and shifts of bounds of windows.

::

    start   0 0 1 1 2 5 7 7      first_from(start, 1, 5) = 5, the first row after 1 whose window starts at 5

State: none. Cost: `first_from` takes O(log d) for a result d rows away, since starts never decrease and steps
double before they are halved; `subtract_row` takes O(n).
"""

from rollstat.compile.jit import kernel

__all__ = ["first_from", "subtract_row"]


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
