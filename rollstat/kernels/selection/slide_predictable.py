"""One order statistic of equal windows where most rows do not change it: no bit set, 16 rows at a time.

::

    code     1088  1089  1090  1091  1092  1093
    row        40     7    22    91    23    12       window of rows 20 to 29
                         cursor      next             the codes of rows 22 and 23 are in the window

Used where branches are predictable: runs of rows replace a value below the order statistic by another one
below, or one above by another one above. 16 such rows are recognised by one comparison of vectors. Where the
order statistic changes, its neighbours in the window are found by the rows of the neighbouring codes. The 64
codes examined last are kept as the bits of one integer, so that a run of rows that move the cursor one way
does not wait for memory.

State: the codes `cursor` and `following`, as in :mod:`rollstat.kernels.selection.band_codes`; `row_of`,
uint32, the row of every code of the band; `seen`, the bits of the codes ``near, ..., near + 63``.

Invariant: after row j, `cursor` is the order statistic of the rows j, ..., j + width - 1, and `following` the
next observation of the window within the band, or a code from the end of the band on. A bit of `seen` is set
exactly where the band has the code and its row is in the window.

Cost: a few instructions for 16 rows that change nothing, about ten for each other row; also one
comparison of vectors for every 64 codes up to the next one in the window that `seen` does not cover. After
`scan_budget` such comparisons beyond the first ones the block is abandoned.

Source: as in :mod:`rollstat.kernels.selection.rank_set`.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_leading_zeros, count_trailing_zeros
from rollstat.compile.simd.masks import within_bits
from rollstat.kernels.selection.band_codes import FIRST
from rollstat.thresholds import PREDICTABLE_PROBED_ROWS, PREDICTABLE_SHARE

# Rows that one comparison of vectors examines.
_LANES = 16
# Codes whose bits `seen` holds.
_SEEN = 64
# Codes behind the search that `seen` also covers, for a cursor that turns back.
_MARGIN = 8
# `near` when `seen` covers no code: too low for any code to lie within 64 of it.
_NOWHERE = -(1 << 40)

_ZERO = np.uint64(0)
_ALL = ~np.uint64(0)


@kernel
def is_predictable(leaving, entering, cursor):
    """Whether a processor would predict which way rows move the order statistic, by the first rows."""
    rows = min(PREDICTABLE_PROBED_ROWS, len(entering))
    changes = before = 0
    for j in range(rows):
        moved = np.int64(leaving[j] < cursor) - np.int64(entering[j] < cursor)
        changes += moved != before
        before = moved
    return changes < PREDICTABLE_SHARE * rows


@kernel(forceinline=True)
def all_outside(leaving, entering, first, lowest, highest):
    """Return whether in each of 16 rows from `first` on both codes are on the same side of a range.

    The leaving and the entering code must both be less than `lowest`, or both greater than `highest`.
    """
    leaves, enters = leaving[first : first + _LANES], entering[first : first + _LANES]
    inside = np.uint32(0)
    for j in range(_LANES):
        low, high = min(leaves[j], enters[j]), max(leaves[j], enters[j])
        inside |= np.uint32((high >= lowest) & (low <= highest))
    return inside == 0


@kernel
def _within(row_of, near, top, first, width):
    """Bits of the 64 codes from `near` on, set where the band has the code and its row is in the window."""
    bits = within_bits(row_of, near, first, width)
    if near < FIRST:
        bits &= _ALL << np.uint64(FIRST - near)
    if near + _SEEN > top:
        bits &= _ALL >> np.uint64(near + _SEEN - top)
    return bits


@kernel
def _nearest_within(row_of, code, up, top, first, width):
    """Return the nearest code from `code` on, up or down, whose row is in the window, or one beyond the band.

    Also returns what was examined around it, as `near` and `seen`, and the number of vectors skipped.
    """
    near, skipped, passed = code - _MARGIN if up else code + _MARGIN - _SEEN + 1, _MARGIN, 0
    while near + skipped < top if up else near + _SEEN - skipped > FIRST:
        bits = _within(row_of, near, top, first, width)
        ahead = bits >> np.uint64(skipped) if up else bits << np.uint64(skipped)
        if ahead != _ZERO:
            nearest = skipped + (count_trailing_zeros(ahead) if up else count_leading_zeros(ahead))
            return near + (nearest if up else _SEEN - 1 - nearest), near, bits, passed
        near, skipped, passed = near + (_SEEN if up else -_SEEN), 0, passed + 1
    return max(code, top) if up else FIRST - 1, _NOWHERE, _ZERO, passed


@kernel(forceinline=True)
def _bit(place):
    """The bit of one of 64 places, or no bit for any other place."""
    inside = (place >= 0) & (place < _SEEN)
    return np.uint64(inside) << np.uint64(place & (_SEEN - 1))


@kernel(forceinline=True)
def _from(bits, place):
    """Bits from a place on, shifted so that the place's bit is the lowest; none for any other place."""
    inside = (place >= 0) & (place < _SEEN)
    return bits >> np.uint64(place & (_SEEN - 1)) if inside else _ZERO


@kernel(forceinline=True)
def _up_to(bits, place):
    """Bits up to a place, shifted so that the place's bit is the highest; none for any other place."""
    inside = (place >= 0) & (place < _SEEN)
    return bits << np.uint64((_SEEN - 1 - place) & (_SEEN - 1)) if inside else _ZERO


@kernel
def slide_predictable(leaving, entering, codes, index, width, scan_budget, lower, upper):
    """Write the order statistics of all rows but the first.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (rows - 1,)
        Codes of what each row but the first removes from the window and adds to it.
    codes : tuple of int
        The order statistic of the first row, the next one, the code after the band's codes, and the lowest
        code that the next one must not reach.
    index : BandIndex
        The codes of the band; its bits are not used.
    width : int
        Rows of a window.
    scan_budget : int
        Number of times that 64 codes may be skipped.
    lower, upper : ndarray of uint64, shape (rows - 1,)
        Receive the values; may be the same.

    Returns
    -------
    done : int
        Number of rows after the first that are right.
    lowest, highest : int
        Codes between which the answers lie.
    """
    cursor, following, top, limit = codes
    row_of, ordered = index.row_of, index.ordered
    size = np.uint32(width)
    lowest = highest = cursor
    near, seen = np.int64(_NOWHERE), _ZERO
    first = np.int64(0)
    while first < len(lower):
        last = min(first + _LANES, len(lower))
        full = last - first == _LANES
        if full and all_outside(leaving, entering, first, np.uint32(cursor), np.uint32(following)):
            upper[first:last] = ordered[following]
            lower[first:last] = ordered[cursor]
            near, seen = np.int64(_NOWHERE), _ZERO  # `seen` misses what these rows changed
            first = last
            continue
        for j in range(first, last):
            enter, leave = np.int64(entering[j & INDEX]), np.int64(leaving[j & INDEX])
            seen = (seen | _bit(enter - near)) & ~_bit(leave - near)
            start = np.uint32(j + 1)
            passed = 0
            if leave <= cursor and enter > cursor:
                if enter < following:
                    cursor = enter
                else:
                    cursor = following
                    ahead = _from(seen, following + 1 - near)
                    if ahead != _ZERO:
                        following += 1 + count_trailing_zeros(ahead)
                    else:
                        following, near, seen, passed = _nearest_within(
                            row_of, following + 1, True, top, start, size
                        )
            elif leave >= cursor and enter < cursor:
                following = following if leave == cursor else cursor
                before = _up_to(seen, cursor - 1 - near)
                if before != _ZERO:
                    cursor -= 1 + count_leading_zeros(before)
                else:
                    cursor, near, seen, passed = _nearest_within(row_of, cursor - 1, False, top, start, size)
            elif cursor < enter < following:
                following = enter
            elif leave == following:
                following, near, seen, passed = _nearest_within(row_of, following + 1, True, top, start, size)
            scan_budget -= passed
            if cursor < FIRST or following >= limit or scan_budget < 0:
                return j, lowest, highest
            upper[j & INDEX] = ordered[following & INDEX]
            lower[j & INDEX] = ordered[cursor & INDEX]
            lowest, highest = min(lowest, cursor), max(highest, cursor)
        first = last
    return len(lower), lowest, highest
