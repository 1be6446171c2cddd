"""Order statistics of any monotone windows: ranks of the window as a bit set, counted on two levels.

::

    values   30  10  50  20  40  60        window [1, 5) = 10 50 20 40
    rank      2   0   4   1   3   5
    bits     1 1 0 1 1 0                    set: the ranks 0 1 3 4 that are in the window
                 ^ cursor: the rank found last, with `below` = 2 set bits before it

State, for one stretch of up to n observations: `bits`, uint64 (words,), one bit a rank; `fine`, int64,
set bits in every 64 words; `coarse`, int64, set bits in every 64 entries of `fine`; for each request
`cursor` and `below`, int64. The arrays have room for one more rank than there are observations.

Invariant: bit r is set exactly when the observation of rank r is in the window, the counts are those of
the bits, and ``below[q]`` bits are set before ``cursor[q]``.

Cost: a row that enters or leaves costs O(1); the cursor moves past a few set bits in words nearby, or is
found anew from the counts in at most 3 * 64 steps for 2**18 ranks, and one more for every 2**18
further ranks. Sorting the stretch to get ranks is the caller's, O(n log n).

Source: the reduction of sliding selection to piecewise sorting of M. Raykov, An optimal algorithm for
sliding window order statistics, section 4 (ICDT 2023, doi:10.4230/LIPIcs.ICDT.2023.5), and J. Suomela,
Median filtering is equivalent to sorting (2014), arXiv:1406.1717; counting bits by words is from
G. Jacobson, Space-efficient static trees and graphs (1989), doi:10.1109/SFCS.1989.63533.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat._lowering import count_ones, count_trailing_zeros

__all__ = ["check", "clear", "exclude", "following", "include", "nearby", "seek", "slide_any"]

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)
_REACH = 8


@kernel
def clear(bits, fine, coarse):
    """Empty the set."""
    bits[:] = 0
    fine[:] = 0
    coarse[:] = 0


@kernel
def include(bits, fine, coarse, rank):
    """Set the bit of `rank`."""
    bits[rank >> 6] |= _ONE << np.uint64(rank & 63)
    fine[rank >> 12] += 1
    coarse[rank >> 18] += 1


@kernel
def exclude(bits, fine, coarse, rank):
    """Clear the bit of `rank`, which is set."""
    bits[rank >> 6] &= ~(_ONE << np.uint64(rank & 63))
    fine[rank >> 12] -= 1
    coarse[rank >> 18] -= 1


@kernel
def seek(bits, fine, coarse, target):
    """Rank whose bit has `target` set bits before it; there are more than `target`."""
    i = 0
    while coarse[i] <= target:
        target -= coarse[i]
        i += 1
    i *= 64
    while fine[i] <= target:
        target -= fine[i]
        i += 1
    i *= 64
    while count_ones(bits[i]) <= target:
        target -= count_ones(bits[i])
        i += 1
    word = bits[i]
    for _ in range(target):
        word &= word - _ONE
    return i * 64 + count_trailing_zeros(word)


@kernel
def following(bits, fine, coarse, rank):
    """Lowest rank from `rank` on whose bit is set; there is one."""
    i = rank >> 6
    word = bits[i] >> np.uint64(rank & 63)
    if word != 0:
        return rank + count_trailing_zeros(word)
    i += 1
    while i & 63 and bits[i] == 0:
        i += 1
    if i & 63 == 0:
        i >>= 6
        while i & 63 and fine[i] == 0:
            i += 1
        if i & 63 == 0:
            i >>= 6
            while coarse[i] == 0:
                i += 1
            i <<= 6
            while fine[i] == 0:
                i += 1
        i <<= 6
        while bits[i] == 0:
            i += 1
    return i * 64 + count_trailing_zeros(bits[i])


@kernel
def nearby(bits, rank, ahead):
    """Rank with `ahead` set bits from `rank` on before it, or for negative `ahead` so many from it to `rank`.

    Looked for in a few words around `rank`; -1 if it is not there.
    """
    i = rank >> 6
    from_rank = _ALL << np.uint64(rank & 63)
    if ahead >= 0:
        beyond = min(i + _REACH, len(bits))
        word = bits[i] & from_rank
        ones = count_ones(word)
        while ones <= ahead:
            i += 1
            if i == beyond:
                return -1
            ahead -= ones
            word = bits[i]
            ones = count_ones(word)
    else:
        beyond = max(i - _REACH, -1)
        word = bits[i] & ~from_rank
        ones = count_ones(word)
        while ones + ahead < 0:
            i -= 1
            if i == beyond:
                return -1
            ahead += ones
            word = bits[i]
            ones = count_ones(word)
        ahead += ones
    for _ in range(ahead):
        word &= word - _ONE
    return i * 64 + count_trailing_zeros(word)


@kernel
def slide_any(rank, start, end, wanted, want_upper, bits, fine, coarse, cursor, below, lower, upper):
    """Follow the windows and write the ranks, among the whole stretch, of what is wanted in each.

    Parameters
    ----------
    rank : ndarray of signed integers, shape (length,)
        Rank of every observation of the stretch, all different; negative where there is none.
    start, end : ndarray of int64, shape (rows,)
        Monotone bounds into `rank`.
    wanted : ndarray of int64, shape (requests, rows)
        Rank within the window, below its number of observations; negative for nothing.
    want_upper : bool
        Whether to write `upper`.
    bits, fine, coarse : ndarray
        An empty set.
    cursor, below : ndarray of int64, shape (requests,)
        Zeros.
    lower, upper : ndarray of int64, shape (requests, rows)
        Receive the rank found and the next one in the window (the same one where there is no next).
    """
    requests = len(wanted)
    left = right = start[0]
    held = 0
    for i in range(len(start)):
        while right < end[i]:
            entering = np.int64(rank[right])
            right += 1
            if entering >= 0:
                include(bits, fine, coarse, entering)
                held += 1
                for q in range(requests):
                    below[q] += entering < cursor[q]
        while left < start[i]:
            leaving = np.int64(rank[left])
            left += 1
            if leaving >= 0:
                exclude(bits, fine, coarse, leaving)
                held -= 1
                for q in range(requests):
                    below[q] -= leaving < cursor[q]
        for q in range(requests):
            target = wanted[q, i]
            if target < 0:
                continue
            found = nearby(bits, cursor[q], target - below[q])
            if found < 0:
                found = seek(bits, fine, coarse, target)
            cursor[q] = found
            below[q] = target
            lower[q, i] = found
            if want_upper:
                upper[q, i] = found
                if target + 1 < held:
                    upper[q, i] = following(bits, fine, coarse, found + 1)


@kernel
def check(bits, fine, coarse):
    """Whether the counts are those of the bits."""
    for i in range(len(fine)):
        ones = 0
        for word in bits[64 * i : 64 * i + 64]:
            ones += count_ones(word)
        if fine[i] != ones:
            return False
    same = True
    for i in range(len(coarse)):
        same &= coarse[i] == np.sum(fine[64 * i : 64 * i + 64])
    return same
