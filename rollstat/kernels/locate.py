"""Where the extrema of monotone windows stand, once their values are known.

::

    values     5 3 3 8 4 1 7
    windows    [-------]             extremum 3, first at 1
                 [-------]           extremum 3, still at 1
                   [-------]         extremum 1, better than 3: among the values that entered

State: the position found last. Invariant: positions of the first extremum never move left as
windows slide right (and of the last never move right as they slide left), so a value that was passed
over is never looked at again unless it has just entered. Cost: at most 2 looks a value in total.

Source: the monotonicity is that of the wedge's front, D. Lemire, arXiv:cs/0610046, section 4.
"""

from rollstat._jit import kernel
from rollstat.kernels.order import better

__all__ = ["locate_first", "locate_last"]


@kernel
def _is(values, missing, j, extremum):
    return values[j] == extremum and not (len(missing) > 0 and missing[j])


@kernel
def locate_first(order, values, missing, width, start, end, best, position):
    """Write where each window's extremum ``best[i]`` stands first; -1 where no observation equals it.

    The windows are ``values[i:i + width]``, or ``values[start[i]:end[i]]`` where `width` is 0.
    """
    found = before = 0
    for i in range(len(best)):
        left, right = (i, i + width) if width > 0 else (start[i], end[i])
        extremum = best[i]
        if i > 0 and better(order, extremum, best[i - 1]):
            found = before
        found = max(found, left)
        while found < right and not _is(values, missing, found, extremum):
            found += 1
        position[i] = found if found < right else -1
        before = right


@kernel
def locate_last(order, values, missing, width, start, end, best, position):
    """Write where each window's extremum ``best[i]`` stands last; -1 where no observation equals it.

    The mirror image of :func:`locate_first`, from the last window to the first.
    """
    found = before = len(values) - 1
    rows = len(best)
    for i in range(rows - 1, -1, -1):
        left, right = (i, i + width) if width > 0 else (start[i], end[i])
        extremum = best[i]
        if i < rows - 1 and better(order, extremum, best[i + 1]):
            found = before
        found = min(found, right - 1)
        while found >= left and not _is(values, missing, found, extremum):
            found -= 1
        position[i] = found if found >= left else -1
        before = left - 1
