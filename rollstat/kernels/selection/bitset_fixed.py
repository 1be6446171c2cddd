"""One order statistic of equal windows: a cursor over a bit set of ranks, moved without branches.

::

    bit      0 ... 1023   1024 ... 1087                     top                           above_band_code
             below        1 1 1 1 ... 1    1 0 0 1 ... 1 0  1 1 1 ... 1    0 0 ... 0 0    above
                          guards           ranks of the band     guards
                                                 ^ cursor: the order statistic of this window

State: a `BandIndex`, see :mod:`rollstat.kernels.selection.band_codes`, whose bits are set for the rows of the
window; the cursor; `following`, the set bit after it; and the number of set bits before the cursor.

Invariant: after every row the cursor's bit is set, and the number of set bits before it is the wanted rank.
One row enters and one leaves, so in a run of rows with one rank the cursor moves to a neighbouring set bit or
stays. At a break between two runs its place is searched for. The guards are always set, so that a search
never runs out of the set. While the cursor (and the next set bit, if it is wanted) lies between the guards,
the answer is right, whatever the band. A cursor on the guards shows that the band is too narrow for this row.

Cost: O(1) a row where the set bits next to the order statistics are less than 64 ranks away, as in blocks of
a few windows on nearly all data, or where the gap is the one between the two order statistics, as in
alternating signals. Farther bits are searched for word by word. After `scan_budget` words in all the block is
left to :mod:`rollstat.kernels.selection.rank_set`.

Source: as in :mod:`rollstat.kernels.selection.rank_set` and
:mod:`rollstat.kernels.selection.band_codes`.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import count_leading_zeros, count_trailing_zeros
from rollstat.kernels.selection.band_codes import BELOW, FIRST, GUARDS, words_for
from rollstat.kernels.selection.rank_set import bit_ahead
from rollstat.kernels.selection.slide_predictable import is_predictable, slide_predictable

# The range of the answers is updated every 16 rows: where the row and this mask have no common bit.
_BETWEEN_NOTES = 15

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_BIT = np.uint64(63)
_ALL = ~np.uint64(0)


class Wanted(NamedTuple):
    """The ranks wanted of some rows.

    Attributes
    ----------
    rank : int
        The rank, if it is the same in every row.
    ranks : ndarray of int64, shape (rows,)
        The rank in every row otherwise, negative where nothing is wanted.
    breaks : ndarray of uint32, shape (rows - 1,)
        Not zero for each row but the first whose rank must be searched for, as
        :func:`rollstat.kernels.selection.band_codes.keep_ranks` writes it; empty if there is none, and `rank`
        is that of the first row.
    """

    rank: int
    ranks: np.ndarray
    breaks: np.ndarray


@kernel
def begin(code, bits, ranks):
    """Set the bits of the first window and the guards; return how many of its rows are below the band."""
    top = FIRST + ranks
    bits[: words_for(ranks)] = 0
    below = 0
    for i in range(len(code)):
        c = np.uint64(code[i])
        bits[c >> _SIX] |= _ONE << (c & _BIT)
        below += code[i] < BELOW
    bits[BELOW // 64] = _ALL
    for r in range(top, top + GUARDS):
        bits[r >> 6] |= _ONE << np.uint64(r & 63)
    return below


@kernel(forceinline=True)
def _nearest_set(bits, code, up):
    """Return the nearest set bit from `code` on, up or down, and how many words were skipped."""
    i = code >> _SIX
    word = bits[i] & (_ALL << (code & _BIT) if up else _ALL >> (_BIT - (code & _BIT)))
    skipped = 0
    while word == _ZERO:
        i = i + _ONE if up else i - _ONE
        word = bits[i]
        skipped += 1
    place = count_trailing_zeros(word) if up else 63 - count_leading_zeros(word)
    return (i << _SIX) + np.uint64(place), skipped


@kernel
def _start(bits, code, ahead, top):
    """Return the cursor `ahead` set bits after the first one from `code` on, and the set bit after it.

    The cursor lies below the band where there are fewer bits up to the guards.
    """
    found = bit_ahead(bits, np.int64(code), ahead, BELOW // 64, (np.int64(top) >> 6) + 1)
    cursor = np.uint64(max(found, BELOW))
    following = cursor + _ONE
    if cursor < top:
        following, _ = _nearest_set(bits, following, True)
    return cursor, following


@kernel(forceinline=True)
def _around(bits, low, high):
    """Return the 64 bits before `low`, and the 64 from `high` on."""
    # A shift by 64 is undefined, so the second word is shifted by one and then by up to 63.
    i, s = low >> _SIX, low & _BIT
    before = (bits[i - _ONE] >> s) | ((bits[i] << _ONE) << (_BIT - s))
    i, s = high >> _SIX, high & _BIT
    return before, (bits[i] >> s) | ((bits[i + _ONE] << _ONE) << (_BIT - s))


@kernel(forceinline=True)
def _move_near(cursor, following, enter, leave, left, right):
    """Move the cursor for one row where set bits are near, with the same rank as before.

    `left` holds the 64 bits before the cursor, `right` those after `following`. All candidates are computed
    and one is selected, because a branch on the data would be mispredicted in every other row. Returns the
    bit up to which none is set before the cursor, the cursor, and `following`.
    """
    before = cursor - _ONE - np.uint64(count_leading_zeros(left))
    after = following + _ONE + np.uint64(count_trailing_zeros(right))
    up = (leave <= cursor) & (enter > cursor)
    down = (leave >= cursor) & (enter < cursor)
    between = (cursor < enter) & (enter < following)
    here = enter if between else following
    beyond = following if between else after
    unmoved = enter if between else (after if leave == following else following)
    after_before = following if leave == cursor else cursor
    following = beyond if up else (after_before if down else unmoved)
    here = here if up else (before if down else cursor)
    return min(cursor, here), here, following


@kernel
def _move_far(bits, previous, cursor, following, enter, leave):
    """Move the cursor for one row where a neighbour may be far away, with the same rank as before.

    No bit but `enter` is set between `previous`, `cursor` and `following`, so that a wide gap beside the
    answers is searched once and not in every row. Returns the next three, and how many words were skipped.
    """
    skipped = 0
    inside = previous < enter < cursor
    between = cursor < enter < following
    if leave >= cursor and enter < cursor:
        before = enter
        if not inside:
            before, skipped = _nearest_set(bits, min(previous, cursor - _ONE), False)
        return before, before, following if leave == cursor else cursor, skipped
    if between:
        after = enter
    elif leave == following or (leave <= cursor and enter > cursor):
        after, skipped = _nearest_set(bits, following + _ONE, True)
    else:
        after = following
    if leave <= cursor and enter > cursor:
        return cursor, enter if between else following, following if between else after, skipped
    return enter if inside else previous, cursor, after, skipped


@kernel(forceinline=True)
def _move_bits(bits, enter, leave):
    """Set the bit of what enters, and clear the bit of what leaves."""
    bits[enter >> _SIX] |= _ONE << (enter & _BIT)
    bits[leave >> _SIX] &= ~(_ONE << (leave & _BIT))


@kernel
def _pass_over(leaving, entering, bits, cursor, count):
    """Update the bits where no order statistic is wanted; return how many set bits are before the cursor."""
    for j in range(len(entering)):
        enter, leave = np.uint64(entering[j]), np.uint64(leaving[j])
        _move_bits(bits, enter, leave)
        count += np.int64(enter < cursor) - np.int64(leave < cursor)
    return count


@kernel
def _slide_run(leaving, entering, index, cursor, following, limit, scan_budget, lower, upper):
    """Write the order statistics of rows whose rank is that of the row before them.

    Returns how many of these rows are right, the cursor, the codes between which most answers lie, and what
    is left of the budget.
    """
    bits, ordered = index.bits, index.ordered
    bottom = np.uint64(FIRST)
    previous = lowest = highest = cursor
    for j in range(len(lower)):
        enter, leave = np.uint64(entering[j]), np.uint64(leaving[j])
        _move_bits(bits, enter, leave)
        left, right = _around(bits, cursor, following + _ONE)
        if (left == _ZERO) | (right == _ZERO):
            previous, cursor, following, skipped = _move_far(bits, previous, cursor, following, enter, leave)
            scan_budget -= skipped
            if scan_budget < 0:
                return j, cursor, lowest, highest, scan_budget
        else:
            previous, cursor, following = _move_near(cursor, following, enter, leave, left, right)
        if (cursor < bottom) | (following >= limit):
            return j, cursor, lowest, highest, scan_budget
        upper[j] = ordered[following]
        lower[j] = ordered[cursor]
        if j & _BETWEEN_NOTES == 0:
            lowest = cursor if cursor < lowest else lowest
            highest = cursor if cursor > highest else highest
    return len(lower), cursor, lowest, highest, scan_budget


@kernel
def _end_of_run(breaks, row):
    """Return the last row from `row` on before a break."""
    while row < len(breaks) and breaks[row] == 0:
        row += 1
    return row


@kernel
def slide_fixed(leaving, entering, width, wanted, index, below, ranks, pair, scan_budget, lower, upper):
    """Slide the window over the codes and write the order statistics.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (rows - 1,)
        Codes of what each row but the first removes from the window and adds to it.
    width : int
        Rows of a window where the rows are consecutive and have no breaks: predictable rows are then
        skipped. Otherwise 0.
    wanted : Wanted
    index : BandIndex
        The codes of the band, with the bits of the first window.
    below : int
        Number of observations of the first window that are below the band.
    ranks : int
        Number of observations in the band.
    pair : bool
        Whether the next order statistic must lie in the band too: it is wanted, and observations may lie
        above the band.
    scan_budget : int
        Number of words that may be searched where no set bit is near.
    lower, upper : ndarray of uint64, shape (rows,)
        Receive the bytes of the order statistic and of the next one; `upper` may be `lower`.

    Returns
    -------
    done : int
        Number of rows that are right.
    lowest, highest : int
        Codes between which most answers lie.
    """
    rank, by_row, breaks = wanted
    bits, bottom, top = index.bits, np.uint64(FIRST), np.uint64(FIRST + ranks)
    limit = top if pair else top + _ONE
    cursor, count, row, last = bottom, below, np.int64(0), np.int64(len(lower) - 1)
    lowest, highest = np.int64(top), np.int64(bottom)
    while True:
        if len(breaks) > 0:
            rank, last = by_row[row], _end_of_run(breaks, row)
        leaves, enters = leaving[row:last], entering[row:last]
        if rank < 0:
            count = _pass_over(leaves, enters, bits, cursor, count)
        else:
            cursor, following = _start(bits, cursor, rank - count, top)
            if cursor < bottom or following >= limit:
                return row, lowest, highest
            upper[row], lower[row] = index.ordered[following], index.ordered[cursor]
            low, high = lower[row + 1 : last + 1], upper[row + 1 : last + 1]
            if width > 0 and is_predictable(leaving, entering, cursor):
                codes = np.int64(cursor), np.int64(following), np.int64(top), np.int64(limit)
                done, least, most = slide_predictable(
                    leaves, enters, codes, index, width, scan_budget, low, high
                )
                return 1 + done, least, most
            done, cursor, least, most, scan_budget = _slide_run(
                leaves, enters, index, cursor, following, limit, scan_budget, low, high
            )
            lowest, highest = min(lowest, np.int64(least)), max(highest, np.int64(most))
            if done < last - row:
                return row + 1 + done, lowest, highest
            count = by_row[last] if len(breaks) > 0 else rank
        if last + 1 == len(lower):
            return len(lower), lowest, highest
        enter, leave = np.uint64(entering[last]), np.uint64(leaving[last])
        _move_bits(bits, enter, leave)
        count += np.int64(enter < cursor) - np.int64(leave < cursor)
        row = last + 1
