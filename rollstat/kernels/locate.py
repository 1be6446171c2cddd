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
from rollstat.kernels.order import all_better, better, worst_of
from rollstat.kernels.vectors import all_equal, broadcast, lanes_of, load

__all__ = ["SHORT", "locate", "locate_in_short_width", "locate_in_width"]

# Up to this width, trying every place in vectors is quicker than a walk.
SHORT = 32


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
def _fill(position, row, count, place, step):
    """Write ``place, place + step, ...`` to `count` rows from `row` on."""
    for j in range(count):
        position[row + j] = place + j * step


@kernel(references=False)
def locate_in_width(order, values, missing, width, last, shift, best, position):
    """Write where the extremum ``best[i]`` of ``values[i:i + width]`` stands, -1 where nowhere.

    The first of equal values counts, or the last one. Positions count from `shift`. Each row tells how
    the rows after it may go on: the same place while it stays in the window, the newest value while the
    extremum gets better, the oldest value while it gets worse.
    """
    rows, lanes = len(best), lanes_of(best)
    origin, sign = (len(values) - 1, -1) if last else (0, 1)
    oldest, newest = (width - 1, 0) if last else (0, width - 1)
    masked = len(missing) > 0
    found, resume = -1, 0
    previous = worst_of(order, values)
    i = 0
    while i < rows:
        row = rows - 1 - i if last else i
        extremum = best[row]
        enters = i > 0 and better(order, extremum, previous)
        if enters:
            found = i + width - 1
        elif found < i:
            resume = max(i, resume)
            while resume < i + width:
                j = origin + sign * resume
                if values[j] == extremum and not (masked and missing[j]):
                    break
                resume += 1
            found = resume if resume < i + width else -1
        position[row] = shift + origin + sign * found if found >= 0 else -1
        leaves = found == i
        i += 1
        row = rows - i - lanes if last else i
        step = -lanes if last else lanes
        if enters:
            while i + lanes <= rows and all_better(order, load(best, row), load(best, row - sign)):
                _fill(position, row, lanes, shift + row + newest, 1)
                found = i + lanes + width - 2
                i += lanes
                row += step
        elif leaves and not masked:
            while i + lanes <= rows and all_equal(load(best, row), load(values, row + oldest)):
                _fill(position, row, lanes, shift + row + oldest, 1)
                found = i + lanes - 1
                i += lanes
                row += step
        extremum = best[rows - i if last else i - 1]
        while i + lanes <= min(found + 1, rows) and all_equal(load(best, row), broadcast(extremum)):
            _fill(position, row, lanes, shift + origin + sign * found, 0)
            i += lanes
            row += step
        previous = extremum


@kernel(references=False)
def _try(values, one, two, three, four, best, shift, position):
    """Enter the first of the places ``i + one, ..., i + four`` where the extremum of row i stands, if any."""
    count = len(best)
    first, second = values[one : one + count], values[two : two + count]
    third, fourth = values[three : three + count], values[four : four + count]
    one, two, three, four = shift + one, shift + two, shift + three, shift + four
    for i in range(count):
        place = four + i if fourth[i] == best[i] else position[i]
        place = three + i if third[i] == best[i] else place
        place = two + i if second[i] == best[i] else place
        position[i] = one + i if first[i] == best[i] else place


@kernel(references=False)
def locate_in_short_width(values, width, last, shift, best, position):
    """Write where the extremum ``best[i]`` of ``values[i:i + width]`` stands, -1 where nowhere.

    The first of equal values counts, or the last one. Positions count from `shift`. No value is missing
    but NaN.
    """
    stretch = 512
    origin, sign = (width - 1, -1) if last else (0, 1)
    for start in range(0, len(best), stretch):
        part = position[start : start + stretch]
        extrema = best[start : start + stretch]
        seen = values[start:]
        for i in range(len(part)):
            part[i] = -1
        # From the places that count least. Beyond the window its last place is tried again.
        for k in range((width - 1) // 4 * 4, -1, -4):
            two, three, four = min(k + 1, width - 1), min(k + 2, width - 1), min(k + 3, width - 1)
            one, two = origin + sign * k, origin + sign * two
            three, four = origin + sign * three, origin + sign * four
            _try(seen, one, two, three, four, extrema, shift + start, part)
