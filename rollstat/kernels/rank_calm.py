"""One order statistic of equal windows that most rows leave alone.

::

    code     1088  1089  1090  1091  1092  1093
    row        40     7    22    91    23    12       window of rows 20 to 29
                           p           second         in the window are the codes of 22 and 23

Where a processor foresees which rows replace a value below the order statistic by another below, or one above
by another above, nothing is to be done for them, sixteen at a time: no set of ranks is kept. What is next in
the window, where that changes, is found by the rows of the neighbouring ranks.

State: the cursor `p` and `second`, codes as in :mod:`rollstat.kernels.rank_slide`, and `row_of`, uint32, the
row of the observation that has a code.

Invariant: after row j, `p` is the order statistic of the rows j, ..., j + width - 1, and `second` the next
observation of the window within the band, or a code from the end of the band on.

Cost: a sixteenth of a few instructions for a row that changes nothing; for others a comparison of vectors for
every 64 ranks up to the next one in the window, of which there are about as many as a stretch has windows. At
most `patience` such comparisons in all beyond the first ones, after which the stretch is given up.

Source: as of :mod:`rollstat.kernels.rank_slide`.
"""

import numpy as np

from rollstat._jit import count_leading_zeros, count_trailing_zeros, kernel
from rollstat.kernels.lane_tests import all_beside, rows_within

__all__ = ["is_calm", "slide_calm"]

_LANES = 16
_SEARCHED = 64


@kernel
def is_calm(leaving, entering, p):
    """Whether a processor would foresee which rows leave the order statistic alone, by the first rows."""
    rows = min(256, len(entering))
    changes = 0
    before = True
    for j in range(rows):
        same = (leaving[j] < p) == (entering[j] < p)
        changes += same != before
        before = same
    return 4 * changes < rows


@kernel
def _next_within(row_of, code, top, first, width):
    """Lowest code from `code` on whose row is in the window, and vectors passed; from `top` on if none is."""
    i, passed = code, 0
    while i < top:
        bits = rows_within(row_of, i, first, width)
        if bits != 0:
            found = i + count_trailing_zeros(bits)
            return (found if found < top else max(code, top)), passed
        i += _SEARCHED
        passed += 1
    return max(code, top), passed


@kernel
def _last_within(row_of, code, bottom, first, width):
    """Highest code up to `code` whose row is in the window, and vectors passed; below `bottom` if none is."""
    i, passed = code, 0
    while i >= bottom:
        bits = rows_within(row_of, i - _SEARCHED + 1, first, width)
        if bits != 0:
            found = i - _SEARCHED + 1 + 63 - count_leading_zeros(bits)
            return (found if found >= bottom else bottom - 1), passed
        i -= _SEARCHED
        passed += 1
    return bottom - 1, passed


@kernel
def slide_calm(
    leaving, entering, p, second, row_of, width, bottom, top, limit, ordered, patience, lower, upper
):
    """Follow the window and write the order statistics of all rows but the first.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (rows - 1,)
        Codes of what each row but the first takes from the window and adds to it.
    p, second : int
        Codes of the order statistic of the first row and of the next one.
    row_of : ndarray of uint32
        Row of the observation with a code, from `bottom` to `top` - 1; 64 more may be read on either side.
    width : int
        Rows of a window.
    bottom, top, limit : int
        Codes of the band's first observation and of the end of the band, and where `second` becomes invalid.
    ordered : ndarray
        Values by code.
    patience : int
        Times that 64 ranks may be passed over.
    lower, upper : ndarray, shape (rows - 1,)
        Receive the values; may be the same.

    Returns
    -------
    done : int
        Rows after the first that are right.
    lowest, highest : int
        Codes between which the answers lay.
    """
    size = np.uint32(width)
    lowest = highest = p
    first = np.int64(0)
    while first < len(lower):
        last = min(first + _LANES, len(lower))
        full = last - first == _LANES
        if full and all_beside(leaving, entering, first, np.uint32(p), np.uint32(second)):
            upper[first:last] = ordered[second]
            lower[first:last] = ordered[p]
            first = last
            continue
        for j in range(first, last):
            enter, leave = np.int64(entering[j]), np.int64(leaving[j])
            start = np.uint32(j + 1)
            passed = 0
            if leave <= p and enter > p:
                if enter < second:
                    p = enter
                else:
                    p = second
                    second, passed = _next_within(row_of, second + 1, top, start, size)
            elif leave >= p and enter < p:
                second = second if leave == p else p
                p, passed = _last_within(row_of, p - 1, bottom, start, size)
            elif p < enter < second:
                second = enter
            elif leave == second:
                second, passed = _next_within(row_of, second + 1, top, start, size)
            patience -= passed
            if p < bottom or second >= limit or patience < 0:
                return j, lowest, highest
            upper[j] = ordered[second]
            lower[j] = ordered[p]
            lowest, highest = min(lowest, p), max(highest, p)
        first = last
    return len(lower), lowest, highest
