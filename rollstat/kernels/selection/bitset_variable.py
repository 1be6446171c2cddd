"""Order statistics of any monotone windows: a bit set of the ranks in the window, counted on two levels.

::

    values   30  10  50  20  40  60        window [1, 5) = 10 50 20 40
    rank      2   0   4   1   3   5
    bits     1 1 0 1 1 0                    set: the ranks 0 1 3 4 that are in the window
                 ^ cursor: the rank found last, with `before` = 2 set bits before it

State: `RankSet`, with room for one more rank than there are observations; for each request a cursor and the
number of set bits before it, int64.

Invariant: bit r is set exactly when the observation of rank r is in the window, the counts are those of
the bits, and ``before[q]`` bits are set before ``cursor[q]``.

Cost: a row that enters or leaves costs O(1). The cursor moves past a few set bits in nearby words, or is
found anew from the counts in at most 3 * 64 steps for 2**18 ranks, and one more for every 2**18
further ranks. Sorting the observations to get ranks is left to the caller, O(n log n).

Source: the reduction of sliding selection to piecewise sorting of M. Raykov, An optimal algorithm for
sliding window order statistics, section 4 (ICDT 2023, doi:10.4230/LIPIcs.ICDT.2023.5), and J. Suomela,
Median filtering is equivalent to sorting (2014), arXiv:1406.1717; counting bits by words is from
G. Jacobson, Space-efficient static trees and graphs (1989), doi:10.1109/SFCS.1989.63533.
"""

from typing import NamedTuple

import numpy as np

from rollstat._jit import kernel
from rollstat._lowering import count_ones, count_trailing_zeros

__all__ = [
    "RankSet",
    "allocate",
    "exclude",
    "following",
    "include",
    "nearby",
    "seek",
    "slide_any",
]

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)
# Words that `nearby` examines.
_NEARBY_WORDS = 8


class RankSet(NamedTuple):
    """A set of ranks.

    Attributes
    ----------
    bits : ndarray of uint64, shape (words,)
        One bit per rank.
    fine : ndarray of int64, shape (words / 64,)
        Number of set bits in every 64 words.
    coarse : ndarray of int64, shape (words / 4096,)
        Number of set bits in every 64 entries of `fine`.
    """

    bits: np.ndarray
    fine: np.ndarray
    coarse: np.ndarray


def allocate(ranks):
    """Return an empty RankSet for this many ranks; `bits` may end before the last entry of `fine` does."""
    entries = (ranks >> 18) + 1
    return RankSet(
        np.zeros(min(entries << 12, ((ranks >> 12) + 1) << 6), np.uint64),
        np.zeros(entries << 6, np.int64),
        np.zeros(entries, np.int64),
    )


@kernel
def include(rank_set, rank):
    """Add `rank`, which is not in the set."""
    rank_set.bits[rank >> 6] |= _ONE << np.uint64(rank & 63)
    rank_set.fine[rank >> 12] += 1
    rank_set.coarse[rank >> 18] += 1


@kernel
def exclude(rank_set, rank):
    """Remove `rank`, which is in the set."""
    rank_set.bits[rank >> 6] &= ~(_ONE << np.uint64(rank & 63))
    rank_set.fine[rank >> 12] -= 1
    rank_set.coarse[rank >> 18] -= 1


@kernel
def seek(rank_set, target):
    """Return the rank with `target` ranks of the set before it; the set has more than `target`."""
    bits, fine, coarse = rank_set
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
def following(rank_set, rank):
    """Return the lowest rank of the set from `rank` on, which must exist."""
    bits, fine, coarse = rank_set
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
    """Return the rank `ahead` set bits after the first one from `rank` on, or -1 if it is not nearby.

    A negative `ahead` counts the bits from the one wanted up to `rank`, without `rank`.
    """
    i = rank >> 6
    from_rank = _ALL << np.uint64(rank & 63)
    if ahead >= 0:
        beyond = min(i + _NEARBY_WORDS, len(bits))
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
        beyond = max(i - _NEARBY_WORDS, -1)
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
def slide_any(rank, start, end, wanted, rank_set, cursors, lower, upper):
    """Slide over the windows and write the ranks, among all observations, of what is wanted in each window.

    Parameters
    ----------
    rank : ndarray of signed integers, shape (length,)
        Rank of every observation, all different; negative where a value is missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone bounds into `rank`.
    wanted : ndarray of int64, shape (requests, rows)
        Rank within the window, below its number of observations; negative where nothing is wanted.
    rank_set : RankSet
        An empty set.
    cursors : ndarray of int64, shape (2, requests)
        Zeros; scratch for the cursors and the numbers of set bits before them.
    lower, upper : ndarray of int64, shape (requests, rows)
        Receive the rank found and the next one in the window (the same one where there is no next);
        `upper` may be empty.
    """
    requests = len(wanted)
    cursor, before = cursors[0], cursors[1]
    left = right = start[0]
    held = 0
    for i in range(len(start)):
        while right < end[i]:
            entering = np.int64(rank[right])
            right += 1
            if entering >= 0:
                include(rank_set, entering)
                held += 1
                for q in range(requests):
                    before[q] += entering < cursor[q]
        while left < start[i]:
            leaving = np.int64(rank[left])
            left += 1
            if leaving >= 0:
                exclude(rank_set, leaving)
                held -= 1
                for q in range(requests):
                    before[q] -= leaving < cursor[q]
        for q in range(requests):
            target = wanted[q, i]
            if target < 0:
                continue
            found = nearby(rank_set.bits, cursor[q], target - before[q])
            if found < 0:
                found = seek(rank_set, target)
            cursor[q] = found
            before[q] = target
            lower[q, i] = found
            if upper.size > 0:
                upper[q, i] = found
                if target + 1 < held:
                    upper[q, i] = following(rank_set, found + 1)
