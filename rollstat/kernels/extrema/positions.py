"""Positions of the extrema of monotone windows whose values are known.

::

    values     5 3 3 8 4 1 7
    windows    [-------]             extremum 3, first at row 1
                 [-------]           extremum 3, still at row 1
                   [-------]         extremum 1, better than 3: among the values that entered

State: the last position found, and the end of the previous window. Invariant: the position of the first
extremum never decreases as windows slide, so a value that was skipped is never read again unless it has just
entered. For the last of equal values, the series is read backwards. Cost: at most 2 reads a value in total.

Source: the monotonicity is that of the wedge's front, D. Lemire, arXiv:cs/0610046, section 4.
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.simd.comparator import better, worst_of

__all__ = ["locate", "move_origin"]


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
