"""Where the extrema of monotone windows stand, once their values are known.

::

    values     5 3 3 8 4 1 7
    windows    [-------]             extremum 3, first at 1
                 [-------]           extremum 3, still at 1
                   [-------]         extremum 1, better than 3: among the values that entered

State: the position found last, and the place up to which nothing is left to find. Invariant: positions
of the first extremum never move left as windows slide right, so a value that was passed over is never
looked at again unless it has just entered. The last of equal values is the first one of the mirror
image. Cost: at most 2 looks a value in total; rows that share their answer are passed by the vector,
and in short windows every place is tried for a vector of rows at once.

Source: the monotonicity is that of the wedge's front, D. Lemire, arXiv:cs/0610046, section 4.
"""

from rollstat._jit import kernel
from rollstat.kernels.order import better, worst_of
from rollstat.kernels.vectors import all_equal, broadcast, lanes_of, load

__all__ = ["SHORT", "locate", "locate_in_short_width", "locate_in_width"]

# Up to this width, trying every place in vectors is quicker than a walk.
SHORT = 16


@kernel(references=False)
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


@kernel(references=False)
def locate_in_width(order, values, missing, width, last, shift, best, position):
    """Write where the extremum ``best[i]`` of ``values[i:i + width]`` stands, -1 where nowhere.

    The first of equal values counts, or the last one. Positions count from `shift`.
    """
    rows, lanes = len(best), lanes_of(best)
    origin, sign = (len(values) - 1, -1) if last else (0, 1)
    masked = len(missing) > 0
    found, resume = -1, 0
    previous = worst_of(order, values)
    i = 0
    while i < rows:
        row = rows - 1 - i if last else i
        extremum = best[row]
        if i > 0 and better(order, extremum, previous):
            found = i + width - 1
        elif found < i:
            resume = max(i, resume)
            while resume < i + width:
                j = origin + sign * resume
                if values[j] == extremum and not (masked and missing[j]):
                    break
                resume += 1
            found = resume if resume < i + width else -1
        place = shift + origin + sign * found if found >= 0 else -1
        position[row] = place
        previous = extremum
        i += 1
        while i + lanes <= min(found + 1, rows):
            row = rows - i - lanes if last else i
            if not all_equal(load(best, row), broadcast(extremum)):
                break
            for j in range(row, row + lanes):
                position[j] = place
            i += lanes


@kernel(references=False)
def _try(values, near, far, best, shift, position):
    """Enter place ``shift + i + near``, or else `far`, for each row i whose extremum stands there."""
    one, two = values[near : near + len(best)], values[far : far + len(best)]
    for i in range(len(best)):
        place = shift + far + i if two[i] == best[i] else position[i]
        position[i] = shift + near + i if one[i] == best[i] else place


@kernel(references=False)
def locate_in_short_width(values, width, last, shift, best, position):
    """Write where the extremum ``best[i]`` of ``values[i:i + width]`` stands, -1 where nowhere.

    The first of equal values counts, or the last one. Positions count from `shift`. No value is missing
    but NaN.
    """
    stretch = 512
    for first in range(0, len(best), stretch):
        part = position[first : first + stretch]
        extrema = best[first : first + stretch]
        part[:] = -1
        for k in range(0, width, 2):
            # The places that count most are tried last; an odd one is tried twice.
            if last:
                near, far = min(k + 1, width - 1), k
            else:
                near, far = max(width - 2 - k, 0), width - 1 - k
            _try(values[first:], near, far, extrema, shift + first, part)
