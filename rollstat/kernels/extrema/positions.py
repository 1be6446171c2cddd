"""Where the extrema of monotone windows stand, once their values are known.

::

    values     5 3 3 8 4 1 7
    windows    [-------]             extremum 3, first at 1
                 [-------]           extremum 3, still at 1
                   [-------]         extremum 1, better than 3: among the values that entered

State: the position found last, and the place up to which nothing is left to find. Invariant: positions
of the first extremum never move left as windows slide right, so a value that was passed over is never
looked at again unless it has just entered. The last of equal values is the first one of the mirror
image. Cost: at most 2 looks a value in total.

Source: the monotonicity is that of the wedge's front, D. Lemire, arXiv:cs/0610046, section 4.
"""

from rollstat._jit import kernel
from rollstat.kernels.simd.comparator import better, worst_of

__all__ = ["locate", "move_origin"]


@kernel
def locate(order, values, missing, start, end, last, best, position):
    """Write where the extremum ``best[i]`` of ``values[start[i]:end[i]]`` stands, -1 where nowhere.

    The first of equal values counts, or the last one.
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
    """Let positions count from `rows` rows earlier; -1 stays."""
    for i in range(len(position)):
        position[i] += rows if position[i] >= 0 else 0
