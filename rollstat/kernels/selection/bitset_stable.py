"""One order statistic of equal windows that most rows leave alone.

::

    code     1088  1089  1090  1091  1092  1093
    row        40     7    22    91    23    12       window of rows 20 to 29
                           p           second         in the window are the codes of 22 and 23

Where a processor foresees which rows replace a value below the order statistic by another below, or one above
by another above, nothing is to be done for them, sixteen at a time: no set of ranks is kept. What is next in
the window, where that changes, is found by the rows of the neighbouring ranks. The 64 looked at last are kept
as bits of one word, so that the many rows in a row that move the cursor one way wait for no memory.

State: the cursor `p` and `second`, codes as in :mod:`rollstat.kernels.selection.bitset_fixed`, `row_of`,
uint32, the
row of the observation that has a code, and `seen`, the bits of the codes ``near, ..., near + 63``.

Invariant: after row j, `p` is the order statistic of the rows j, ..., j + width - 1, and `second` the next
observation of the window within the band, or a code from the end of the band on; a bit of `seen` is set where
the band has the code and its row is in the window.

Cost: a sixteenth of a few instructions for a row that changes nothing, some ten for others; besides, a
comparison of vectors for every 64 ranks up to the next one in the window that `seen` does not show. At most
`patience` such comparisons in all beyond the first ones, after which the stretch is given up.

Source: as of :mod:`rollstat.kernels.selection.bitset_fixed`.
"""

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat._lowering import count_leading_zeros, count_trailing_zeros
from rollstat.kernels.simd.masks import all_outside, within_bits

__all__ = ["is_calm", "slide_calm"]

_LANES = 16
_SEEN = 64
_BEHIND = 8
_NOWHERE = -(1 << 40)

_ZERO = np.uint64(0)
_ALL = ~np.uint64(0)


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
def _within(row_of, near, bottom, top, first, width):
    """Bits of the 64 codes from `near` on: whether the band has the code and its row is in the window."""
    bits = within_bits(row_of, near, first, width)
    if near < bottom:
        bits &= _ALL << np.uint64(bottom - near)
    if near + _SEEN > top:
        bits &= _ALL >> np.uint64(near + _SEEN - top)
    return bits


@kernel
def _next_within(row_of, code, bottom, top, first, width):
    """Lowest code from `code` on whose row is in the window, from `top` on if none is.

    Returns it, what was seen around it, a code and the bits of the 64 from there on, and vectors passed.
    """
    near, skipped, passed = code - _BEHIND, _BEHIND, 0
    while near + skipped < top:
        bits = _within(row_of, near, bottom, top, first, width)
        ahead = bits >> np.uint64(skipped)
        if ahead != _ZERO:
            return near + skipped + count_trailing_zeros(ahead), near, bits, passed
        near, skipped, passed = near + _SEEN, 0, passed + 1
    return max(code, top), _NOWHERE, _ZERO, passed


@kernel
def _last_within(row_of, code, bottom, top, first, width):
    """Highest code up to `code` whose row is in the window, below `bottom` if none is; else the same."""
    near, skipped, passed = code + _BEHIND - _SEEN + 1, _BEHIND, 0
    while near + _SEEN - 1 - skipped >= bottom:
        bits = _within(row_of, near, bottom, top, first, width)
        before = bits << np.uint64(skipped)
        if before != _ZERO:
            return near + _SEEN - 1 - skipped - count_leading_zeros(before), near, bits, passed
        near, skipped, passed = near - _SEEN, 0, passed + 1
    return bottom - 1, _NOWHERE, _ZERO, passed


@kernel(forceinline=True)
def _bit(place):
    """The bit of a place among the 64, no bit elsewhere."""
    inside = (place >= 0) & (place < _SEEN)
    return np.uint64(inside) << np.uint64(place & (_SEEN - 1))


@kernel(forceinline=True)
def _from(bits, place):
    """Bits from a place on, the lowest for that place; none if it is not among the 64."""
    inside = (place >= 0) & (place < _SEEN)
    return bits >> np.uint64(place & (_SEEN - 1)) if inside else _ZERO


@kernel(forceinline=True)
def _up_to(bits, place):
    """Bits up to a place, the highest for that place; none if it is not among the 64."""
    inside = (place >= 0) & (place < _SEEN)
    return bits << np.uint64((_SEEN - 1 - place) & (_SEEN - 1)) if inside else _ZERO


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
    near, seen = np.int64(_NOWHERE), _ZERO
    first = np.int64(0)
    while first < len(lower):
        last = min(first + _LANES, len(lower))
        full = last - first == _LANES
        if full and all_outside(leaving, entering, first, np.uint32(p), np.uint32(second)):
            upper[first:last] = ordered[second]
            lower[first:last] = ordered[p]
            near, seen = np.int64(_NOWHERE), _ZERO
            first = last
            continue
        for j in range(first, last):
            enter, leave = np.int64(entering[j & INDEX]), np.int64(leaving[j & INDEX])
            seen = (seen | _bit(enter - near)) & ~_bit(leave - near)
            start = np.uint32(j + 1)
            passed = 0
            if leave <= p and enter > p:
                if enter < second:
                    p = enter
                else:
                    p = second
                    ahead = _from(seen, second + 1 - near)
                    if ahead != _ZERO:
                        second += 1 + count_trailing_zeros(ahead)
                    else:
                        second, near, seen, passed = _next_within(
                            row_of, second + 1, bottom, top, start, size
                        )
            elif leave >= p and enter < p:
                second = second if leave == p else p
                before = _up_to(seen, p - 1 - near)
                if before != _ZERO:
                    p -= 1 + count_leading_zeros(before)
                else:
                    p, near, seen, passed = _last_within(row_of, p - 1, bottom, top, start, size)
            elif p < enter < second:
                second = enter
            elif leave == second:
                second, near, seen, passed = _next_within(row_of, second + 1, bottom, top, start, size)
            patience -= passed
            if p < bottom or second >= limit or patience < 0:
                return j, lowest, highest
            upper[j & INDEX] = ordered[second & INDEX]
            lower[j & INDEX] = ordered[p & INDEX]
            lowest, highest = min(lowest, p), max(highest, p)
        first = last
    return len(lower), lowest, highest
