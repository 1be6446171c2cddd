"""One order statistic of equal windows: a bit set of ranks that is followed without branches.

::

    bit      0 ... 1023   1024 ... 1087                     top                           far
             below        1 1 1 1 ... 1    1 0 0 1 ... 1 0  1 1 1 ... 1    0 0 ... 0 0    above
                          guards           ranks of the band     guards
                                                 ^ cursor: the order statistic of this window

A stretch of observations is classified by a band of values: those under it get codes below the guards,
those over it, and what is missing, codes from `far` on, and only those within it are ranked; their codes
begin at FIRST. Bits below and above the guards are written and never read; there are several of them,
since a processor would have to wait for its last write to always the same one. With a band that holds
every value this is selection by ranks alone.

State: `bits`, uint64; `code`, uint32, one a row of data; `ordered`, the values by code; the cursor and
`under`, how many observations of the window have codes before it.

Invariant: after a row, the cursor's bit is set and `under` is the rank wanted. One row enters and one
leaves, so with a constant rank the cursor moves to a neighbouring set bit or not at all. While the cursor is
between the guards (and the next set bit is, if it is wanted), what it points at is right, whatever the band;
where it runs onto the guards, the rows since the last check are not counted as done.
Cost: O(1) a row where the set bits next to the order statistics are less than 64 ranks away, which is so for
stretches of a few windows on nearly all data, or where the gap there is the one between the order statistics
themselves, as with signals that alternate; where they are further away, their words are searched one by one,
at most `patience` words in all, after which the stretch is given up to
:mod:`rollstat.kernels.selection.bitset_variable`.

Source: as of :mod:`rollstat.kernels.selection.bitset_variable`; leaving out what cannot be an answer is from
section 3 of
M. Raykov, An optimal algorithm for sliding window order statistics, doi:10.4230/LIPIcs.ICDT.2023.5.
"""

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat._lowering import count_leading_zeros, count_ones, count_trailing_zeros
from rollstat.kernels.selection.bitset_stable import is_calm, slide_calm

__all__ = [
    "BELOW",
    "FIRST",
    "GUARDS",
    "begin",
    "classify",
    "far_code",
    "place",
    "slide_fixed",
    "words_for",
]

GUARDS = 64
FIRST = 1088
BELOW = 1024
_SPREAD = 15
_STRIP = 15

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_LOW = np.uint64(63)
_ALL = ~np.uint64(0)


@kernel
def far_code(ranks):
    """Lowest code of what is above a band of this many ranks."""
    return ((FIRST + ranks + GUARDS) // 64 + 2) * 64


@kernel
def words_for(ranks):
    """Words that a bit set of this many ranks takes."""
    return far_code(ranks) // 64 + _SPREAD + 1


@kernel
def classify(values, missing, lowest, far, code):
    """Give codes to what is under the band and over it or missing; `place` sees to what is within.

    `missing` is as long as `values` or empty.
    """
    if len(missing) == 0:
        for i in range(len(values)):
            code[i] = ((i & _SPREAD) << 6) + (0 if values[i] < lowest else far)
    else:
        for i in range(len(values)):
            code[i] = ((i & _SPREAD) << 6) + (0 if (values[i] < lowest) & (not missing[i]) else far)


@kernel
def place(words, row_bits, values, code, ordered, row_of):
    """Give the sorted observations of the band their codes, and line up their values and rows."""
    rows = (_ONE << np.uint64(row_bits)) - _ONE
    for r in range(len(words)):
        row = words[r] & rows
        of_row = (FIRST + r) & INDEX
        code[row] = of_row
        ordered[of_row] = values[row]
        row_of[of_row] = row


@kernel
def begin(code, bits, ranks):
    """Set the bits of the first window, `code`, and the guards; return how many are under the band."""
    top = FIRST + ranks
    bits[: words_for(ranks)] = 0
    under = 0
    for i in range(len(code)):
        c = np.uint64(code[i])
        bits[c >> _SIX] |= _ONE << (c & _LOW)
        under += code[i] < BELOW
    bits[BELOW // 64] = _ALL
    for r in range(top, top + GUARDS):
        bits[r >> 6] |= _ONE << np.uint64(r & 63)
    return under


@kernel(forceinline=True)
def _next_set(bits, p):
    """Lowest set bit from `p` on, and how many words had to be passed."""
    i = p >> _SIX
    word = bits[i] & (_ALL << (p & _LOW))
    passed = 0
    while word == _ZERO:
        i += _ONE
        word = bits[i]
        passed += 1
    return (i << _SIX) + np.uint64(count_trailing_zeros(word)), passed


@kernel
def _search(bits, p, ahead, top):
    """Set bit with `ahead` others from `p` up to it, or for negative `ahead` the one so many before `p`.

    Returns it, or a guard beyond which it would lie, and how many words had to be passed.
    """
    i = p >> _SIX
    passed = 0
    if ahead >= 0:
        word = bits[i] & (_ALL << (p & _LOW))
        ones = count_ones(word)
        while ones <= ahead and i < top >> _SIX:
            ahead -= ones
            i += _ONE
            word = bits[i]
            ones = count_ones(word)
            passed += 1
        ahead = min(ahead, ones - 1)
    else:
        word = bits[i] & ((_ONE << (p & _LOW)) - _ONE)
        ahead = -ahead
        ones = count_ones(word)
        while ones < ahead and i > BELOW // 64:
            ahead -= ones
            i -= _ONE
            word = bits[i]
            ones = count_ones(word)
            passed += 1
        ahead = max(ones - ahead, 0)
    for _ in range(ahead):
        word &= word - _ONE
    return (i << _SIX) + np.uint64(count_trailing_zeros(word)), passed


@kernel(forceinline=True)
def _last_set(bits, p):
    """Highest set bit up to `p`, and how many words had to be passed."""
    i = p >> _SIX
    word = bits[i] & (_ALL >> (_LOW - (p & _LOW)))
    passed = 0
    while word == _ZERO:
        i -= _ONE
        word = bits[i]
        passed += 1
    return (i << _SIX) + _LOW - np.uint64(count_leading_zeros(word)), passed


@kernel
def _start(bits, p, ahead, top):
    """The cursor `ahead` set bits after the first one from `p` on, and the set bit after it."""
    p, _ = _search(bits, p, ahead, top)
    second = p + _ONE
    if p < top:
        second, _ = _next_set(bits, second)
    return p, second


@kernel(forceinline=True)
def _around(bits, low, high):
    """The 64 bits before `low`, and the 64 from `high` on."""
    i, s = low >> _SIX, low & _LOW  # shifts stay below 64
    before = (bits[i - _ONE] >> s) | ((bits[i] << _ONE) << (_LOW - s))
    i, s = high >> _SIX, high & _LOW
    return before, (bits[i] >> s) | ((bits[i + _ONE] << _ONE) << (_LOW - s))


@kernel
def _step(bits, prior, p, second, enter, leave):
    """One row of the cursor `p` where a neighbour may be far away, with the same rank as before.

    No bit but `enter` is set between `prior`, `p` and `second`, so that wide gaps beside the answers are
    passed once and not in every row. Returns the next `prior`, cursor and `second`, and how many words had
    to be passed.
    """
    passed = 0
    inside = prior < enter < p
    between = p < enter < second
    if leave >= p and enter < p:
        before = enter
        if not inside:
            before, passed = _last_set(bits, min(prior, p - _ONE))
        return before, before, second if leave == p else p, passed
    if between:
        after = enter
    elif leave == second or (leave <= p and enter > p):
        after, passed = _next_set(bits, second + _ONE)
    else:
        after = second
    if leave <= p and enter > p:
        return p, enter if between else second, second if between else after, passed
    return enter if inside else prior, p, after, passed


@kernel
def slide_fixed(
    leaving,
    entering,
    row_of,
    width,
    target,
    targets,
    origin,
    bits,
    under,
    ranks,
    open_top,
    want_upper,
    ordered,
    patience,
    lower,
    upper,
):
    """Follow the window over `code` and write the order statistics.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (rows - 1,)
        Codes of what each row but the first takes from the window and adds to it.
    row_of : ndarray of uint32
        Row of the observation with a code, within the band.
    width : int
        Rows of a window if the rows are consecutive and `targets` is None, otherwise 0: then rows that change
        nothing are not looked for.
    target : int
        The rank, if it is the same in every row.
    targets : ndarray of int64, shape (origin + rows or more,), or None
        The rank in every row otherwise, from `origin` on; negative where nothing is wanted.
    origin : int
        Where the ranks of the stretch begin.
    bits : ndarray of uint64
        The set of the first window.
    under : int
        Observations of the first window that are under the band.
    ranks : int
        Observations in the band.
    open_top : bool
        Whether there are no observations over the band, so that one in it may have no next one.
    want_upper : bool
        Whether the next order statistic is wanted as well.
    ordered : ndarray
        Values by code.
    patience : int
        Words that may be searched where there is no set bit nearby.
    lower, upper : ndarray, shape (rows,)
        Receive the values; `upper` may be `lower` where it is not wanted.

    Returns
    -------
    done : int
        Rows that are right.
    lowest, highest : int
        Codes between which most answers lay.
    """
    bottom, top = np.uint64(FIRST), np.uint64(FIRST + ranks)
    limit = top if want_upper and not open_top else top + _ONE
    p = second = bottom
    lowest, highest = top, bottom
    if targets is not None:
        target = targets[origin]
    lost = target < 0
    if not lost:
        p, second = _start(bits, bottom, target - under, top)
        if p < bottom or second >= limit:
            return 0, 0, 0
        under = target
        upper[0] = ordered[second]
        lower[0] = ordered[p]
        lowest = highest = p
    below, above = lower[1:], upper[1:]
    if width > 0 and is_calm(leaving, entering, p):
        done, least, most = slide_calm(
            leaving,
            entering,
            np.int64(p),
            np.int64(second),
            row_of,
            width,
            np.int64(bottom),
            np.int64(top),
            np.int64(limit),
            ordered,
            patience,
            below,
            above,
        )
        return 1 + done, least, most
    prior = p
    for j in range(len(below)):
        enter = np.uint64(entering[j])
        leave = np.uint64(leaving[j])
        bits[enter >> _SIX] |= _ONE << (enter & _LOW)
        bits[leave >> _SIX] &= ~(_ONE << (leave & _LOW))
        if lost:
            under += np.int64(enter < p) - np.int64(leave < p)
        else:
            left, right = _around(bits, p, second + _ONE)
            if (left == _ZERO) | (right == _ZERO):
                prior, p, second, passed = _step(bits, prior, p, second, enter, leave)
                patience -= passed
                if patience < 0:
                    return j + 1, np.int64(lowest), np.int64(highest)
            else:
                before = p - _ONE - np.uint64(count_leading_zeros(left))
                after = second + _ONE + np.uint64(count_trailing_zeros(right))
                up = (leave <= p) & (enter > p)
                down = (leave >= p) & (enter < p)
                between = (p < enter) & (enter < second)
                here = enter if between else second
                beyond = second if between else after
                still = enter if between else (after if leave == second else second)
                above_before = second if leave == p else p
                second = beyond if up else (above_before if down else still)
                here = here if up else (before if down else p)
                prior = min(p, here)
                p = here
        if targets is not None:
            target = targets[origin + j + 1]
            if target < 0:
                lost = True
                continue
            if lost or target != under:
                lost = False
                p, second = _start(bits, p, target - under, top)
                prior = p
                under = target
        if (p < bottom) | (second >= limit):
            return j + 1, np.int64(lowest), np.int64(highest)
        above[j] = ordered[second]
        below[j] = ordered[p]
        if j & _STRIP == 0:
            lowest = p if p < lowest else lowest
            highest = p if p > highest else highest
    return len(lower), np.int64(lowest), np.int64(highest)
