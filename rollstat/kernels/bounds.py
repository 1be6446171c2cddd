"""Bounds of windows of rows, cut at the ends of segments, and searches, shifts and chains of any bounds.

::

    rows      0 1 2 3 | 4 5 6 7 8        offsets = [0, 4, 9]
    row 5             [---]              left = 2, right = 1: two rows, as the segment starts at row 4

    start   0 0 1 1 2 5 7 7      first_from(start, 1, 5) = 5, the first row after 1 whose window starts at 5

    end     3 5 4 6 4 5      chain  0 0 1 0 1 1, sorted by start: in each chain ends never decrease

    start   8 2 5 4 9    end 9 4 8 9 11    parts of at most 7 rows: windows 0, 1, 2 and 3 cover [2, 9)

State: the segment of the row; for chains, the last end of each chain, in descending order; for parts, the
rows that the last part covers. Invariant: no segment before the row's segment holds a later row. Cost:
`row_bounds` takes one step for each row and each segment; `first_from` O(log d) for a result d rows away,
since starts never decrease and steps double before they are halved; `subtract_row`, `breaks_of` and
`parts_of` O(n); `chains_of` O(log c) for each window and c chains. No fewer chains are possible: Fredman
(1975), doi:10.1016/0012-365X(75)90103-X.
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


@kernel
def chains_of(end, last, chain):
    """Write the chain of each window to `chain`; return their number. Windows come sorted by start.

    A window joins the chain that ends latest, but not after the end of the window. `last` is scratch memory
    for the end of each chain.
    """
    count = 0
    for i in range(len(end)):
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if last[middle] > end[i]:
                low = middle + 1
            else:
                high = middle
        last[low] = end[i]
        chain[i] = low
        count = max(count, low + 1)
    return count


@kernel
def breaks_of(start, end, gap, breaks):
    """Write the windows with a bound below the previous window's, or more than `gap` rows after its end.

    Return their number, and how many of them have such a bound.
    """
    count = falls = 0
    for i in range(1, len(start)):
        lower = (start[i] < start[i - 1]) | (end[i] < end[i - 1])
        falls += lower
        breaks[count] = i  # always, since a branch would often be predicted wrongly
        count += lower | (start[i] - end[i - 1] > gap)
    return count, falls


@kernel
def parts_of(start, end, size, breaks):
    """Write where to cut windows in any order into parts that cover at most `size` rows, or hold one window.

    Return the number of windows after the first at which a part begins, and the rows of all parts.
    """
    count = covered = 0
    low = high = start[0]
    for i in range(len(start)):
        lower, higher = min(low, start[i]), max(high, end[i])
        if higher - lower > size and i > 0:
            breaks[count] = i
            count += 1
            covered += high - low
            lower, higher = start[i], end[i]
        low, high = lower, higher
    return count, covered + high - low
