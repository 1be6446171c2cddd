r"""A set of ranks that finds its members by number: a bitmap with counts on two levels.

::

    coarse              5                  per 64 entries of `fine`
    fine          3           2            per 16 words
    bits       0110 1000 . 0000 0011 .     one bit per rank; word `r >> 6` has the bit of rank r

State: `RankSet`. Ranks run from 0 to ``64 * len(bits) - 1``; ``64 * len(bits)`` means "after all members".

Invariant: the counts match the bits, and ``size[0]`` is the number of members.

Equal values share a tied rank r. Their observations take the members ``r, r + 1, ...``; ``copies``, int64
(ranks,), is the number of observations of each tied rank in the window.

A *cursor*, int64 (2,), is a rank and the number of members below it: ``cursor[BELOW]`` members are below
``cursor[RANK]``. The rank need not be a member, so the cursor stays valid while members are added and
removed.

Cost: add and remove take O(1). A cursor moves past the members of a few nearby words. Everything else takes
at most 84 steps for 2**16 ranks, and one more for every 2**16 further ranks. Memory: little more than
one bit per rank.

Source: counting bits by words is from G. Jacobson, Space-efficient static trees and graphs (1989),
doi:10.1109/SFCS.1989.63533.

Order statistics of any monotone windows: a set of the ranks in the window.

::

    values   30  10  50  20  40  60        window [1, 5) = 10 50 20 40
    rank      2   0   4   1   3   5
    bits     1 1 0 1 1 0                    set: the ranks 0 1 3 4 that are in the window
                 ^ cursor: the rank found last, with two members below it

State: a `RankSet` with room for one more rank than there are observations,
and a cursor for each request.

Invariant: rank r is a member exactly when the observation of rank r is in the window.

Cost: the set's cost. Sorting the observations to get ranks is left to the caller, O(n log n).

Source: the reduction of sliding selection to piecewise sorting of M. Raykov, An optimal algorithm for
sliding window order statistics, section 4 (ICDT 2023, doi:10.4230/LIPIcs.ICDT.2023.5), and J. Suomela,
Median filtering is equivalent to sorting (2014), arXiv:1406.1717.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_leading_zeros, count_ones, count_trailing_zeros

RANK, BELOW = 0, 1

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)
_TOP = _ONE << np.uint64(63)
# Words around a cursor in which its new place is searched for before the counts are.
_NEARBY_WORDS = 8
# Words at the end of `bits` without members: any place before them has two words on both sides.
_EMPTY_WORDS = 2


class RankSet(NamedTuple):
    """A set of ranks.

    Attributes
    ----------
    bits : ndarray of uint64, shape (words,)
        One bit per rank.
    fine : ndarray of int64, shape (words / 16,)
        Number of set bits in every 16 words.
    coarse : ndarray of int64, shape (words / 1024,)
        Number of set bits in every 64 entries of `fine`.
    size : ndarray of int64, shape (1,)
        Number of set bits.
    """

    bits: np.ndarray
    fine: np.ndarray
    coarse: np.ndarray
    size: np.ndarray


def create(ranks):
    """Return an empty set for ranks up to and with `ranks`; `bits` may end before `fine` does."""
    ranks += 64 * _EMPTY_WORDS
    entries = (ranks >> 16) + 1
    bits = np.zeros(((ranks >> 10) + 1) << 4, np.uint64)
    return RankSet(bits, np.zeros(entries << 6, np.int64), np.zeros(entries, np.int64), np.zeros(1, np.int64))


@kernel(forceinline=True)
def _count(rank_set, rank, difference):
    rank_set.fine[(rank >> 10) & INDEX] += difference
    rank_set.coarse[(rank >> 16) & INDEX] += difference
    rank_set.size[0] += difference


@kernel(forceinline=True)
def add(rank_set, rank):
    """Add `rank`, not yet a member."""
    rank_set.bits[(rank >> 6) & INDEX] |= _ONE << np.uint64(rank & 63)
    _count(rank_set, rank, 1)


@kernel(forceinline=True)
def remove(rank_set, rank):
    """Remove the member `rank`."""
    rank_set.bits[(rank >> 6) & INDEX] &= ~(_ONE << np.uint64(rank & 63))
    _count(rank_set, rank, -1)


@kernel(forceinline=True)
def move_cursors(cursors, rank, difference):
    """Update cursors after `rank` was added, or removed if the `difference` is -1."""
    for q in range(len(cursors)):
        cursors[q, BELOW] += difference if rank < cursors[q, RANK] else 0


@kernel(forceinline=True)
def add_observation(rank_set, copies, cursors, rank):
    """Add an observation of a tied rank, and return its member."""
    added = rank + copies[rank]
    copies[rank] += 1
    add(rank_set, added)
    move_cursors(cursors, added, 1)
    return added


@kernel(forceinline=True)
def remove_observation(rank_set, copies, cursors, rank):
    """Remove an observation of a tied rank, and return the member that it frees."""
    copies[rank] -= 1
    removed = rank + copies[rank]
    remove(rank_set, removed)
    move_cursors(cursors, removed, -1)
    return removed


@kernel
def select(rank_set, index):
    """Return the member that has `index` members below it; the set has more than `index` members."""
    bits, fine, coarse, _ = rank_set
    i = 0
    while coarse[i] <= index:
        index -= coarse[i]
        i += 1
    i *= 64
    while fine[i] <= index:
        index -= fine[i]
        i += 1
    i *= 16
    while count_ones(bits[i]) <= index:
        index -= count_ones(bits[i])
        i += 1
    return i * 64 + _place(bits[i], index)


@kernel(forceinline=True)
def _place(word, index):
    """Return the place of the set bit of a word that has `index` set bits below it."""
    for _ in range(index):
        word &= word - _ONE
    return count_trailing_zeros(word)


@kernel(forceinline=True)
def _inside(bits, rank):
    """Return the rank, or the end of the members where the rank is beyond it."""
    return min(rank, 64 * (len(bits) - _EMPTY_WORDS))


@kernel(forceinline=True)
def _word_before(bits, rank):
    """Return the 64 bits before a rank; the word before the first one is the last one, always empty."""
    i, s = rank >> 6, np.uint64(rank & 63)
    return (bits[i - 1] >> s) | ((bits[i & INDEX] << _ONE) << (np.uint64(63) - s))


@kernel(forceinline=True)
def _word_from(bits, rank):
    """Return the 64 bits from a rank on."""
    i, s = rank >> 6, np.uint64(rank & 63)
    return (bits[i & INDEX] >> s) | ((bits[(i + 1) & INDEX] << _ONE) << (np.uint64(63) - s))


@kernel(noinline=True)
def _far_after(bits, fine, i):
    """Return the first member in word `i` or later, or ``64 * len(bits)``."""
    while i < len(bits) and bits[i] == 0:
        i += 16 if i & 15 == 0 and fine[i >> 4] == 0 else 1
    return 64 * i + (count_trailing_zeros(bits[i]) if i < len(bits) else 0)


@kernel(noinline=True)
def _far_before(bits, fine, i):
    """Return the last member in word `i` or earlier, or -1."""
    while i >= 0 and bits[i] == 0:
        i -= 16 if i & 15 == 15 and fine[i >> 4] == 0 else 1
    return 64 * i + 63 - count_leading_zeros(bits[i]) if i >= 0 else -1


# What follows is inlined: a call would push all arrays of the set onto the stack.
@kernel(forceinline=True)
def _after(bits, fine, rank):
    rank = _inside(bits, rank)
    word = _word_from(bits, rank)
    return rank + count_trailing_zeros(word) if word != 0 else _far_after(bits, fine, (rank >> 6) + 1)


@kernel(forceinline=True)
def _before(bits, fine, rank):
    rank = _inside(bits, rank)
    word = _word_before(bits, rank)
    return rank - 1 - count_leading_zeros(word) if word != 0 else _far_before(bits, fine, (rank >> 6) - 1)


@kernel(forceinline=True)
def at_or_after(rank_set, rank):
    """Return the first member not below `rank`, or ``64 * len(bits)``."""
    return _after(rank_set.bits, rank_set.fine, rank)


@kernel(forceinline=True)
def before(rank_set, rank):
    """Return the last member below `rank`, or -1."""
    return _before(rank_set.bits, rank_set.fine, rank)


@kernel
def bit_ahead(bits, place, ahead, first, beyond):
    """Return the set bit with `ahead` others from `place` up to it, or -1 if its word is not among the words.

    The words are ``first, ..., beyond - 1``. A negative `ahead` counts the bits from the one wanted up to
    `place`, without `place`.
    """
    i = place >> 6
    from_place = _ALL << np.uint64(place & 63)
    if ahead >= 0:
        word = bits[i] & from_place
        ones = count_ones(word)
        while ones <= ahead:
            i += 1
            if i == beyond:
                return -1
            ahead -= ones
            word = bits[i]
            ones = count_ones(word)
    else:
        word = bits[i] & ~from_place
        ones = count_ones(word)
        while ones + ahead < 0:
            i -= 1
            if i < first:
                return -1
            ahead += ones
            word = bits[i]
            ones = count_ones(word)
        ahead += ones
    return i * 64 + _place(word, ahead)


@kernel
def _far_member(rank_set, rank, ahead, index):
    """Return the member with `index` members below it; `ahead` of these are not below `rank`."""
    bits, i = rank_set.bits, rank >> 6
    first, beyond = max(i - _NEARBY_WORDS + 1, 0), min(i + _NEARBY_WORDS, len(bits))
    found = np.int64(bit_ahead(bits, rank, ahead, first, beyond))
    return found if found >= 0 else np.int64(select(rank_set, index))


@kernel(forceinline=True)
def member_near(rank_set, rank, below, index):
    """Return the member with `index` members below it, or ``64 * len(bits)``; `below` are below `rank`."""
    bits, ahead = rank_set.bits, index - below
    rank = _inside(bits, rank)
    # The choice among the nearest members cannot be predicted, so there is no branch on it.
    preceding, word = _word_before(bits, rank), _word_from(bits, rank)
    word &= word - np.uint64(ahead > 0)
    after = rank + count_trailing_zeros(word)
    found = rank - 1 - count_leading_zeros(preceding) if ahead < 0 else after
    among_these = ((preceding != 0) | (ahead >= 0)) & ((word != 0) | (ahead < 0))
    if index >= rank_set.size[0]:
        found = np.int64(64 * len(bits))
    elif not (among_these & (ahead >= -1) & (ahead <= 1)):
        found = _far_member(rank_set, rank, ahead, index)
    return found


@kernel(noinline=True)
def _far_around(bits, fine, rank, ahead):
    """Do what :func:`members_around` does, in all words."""
    rank = _after(bits, fine, rank) + 1 if ahead > 0 else rank
    previous, member = _before(bits, fine, rank), _after(bits, fine, rank)
    return _before(bits, fine, max(previous, 0)), previous, member, _after(bits, fine, member + 1)


@kernel(forceinline=True)
def members_around(rank_set, rank, ahead, index, remaining):
    """Return the members with ``index - 2``, ..., ``index + 1`` members below them.

    `ahead`, 0 or 1, of the members below the third one are not below `rank`. `remaining` members, or any
    number from 2 on if there are more, are not below it. Members that do not exist are any numbers less than,
    or greater than, all members.
    """
    bits = rank_set.bits
    rank = _inside(bits, rank)
    preceding, word = _word_before(bits, rank), _word_from(bits, rank)
    following = word if ahead == 0 else word & (word - _ONE)
    leading = count_leading_zeros(preceding)
    farther, later = preceding & ~(_TOP >> np.uint64(leading & 63)), following & (following - _ONE)
    if farther == 0 or later == 0:
        if count_ones(preceding) < min(index, 2) or count_ones(word) < ahead + min(remaining, 2):
            return _far_around(bits, rank_set.fine, rank, ahead)
    previous, first = rank - 1 - leading, rank + count_trailing_zeros(word)
    far = rank - 1 - count_leading_zeros(farther)
    return (
        far if ahead == 0 else previous,
        previous if ahead == 0 else first,
        rank + count_trailing_zeros(following),
        rank + count_trailing_zeros(later),
    )


@kernel(forceinline=True)
def seek(rank_set, cursor, index):
    """Move a cursor to the member with `index` members below it, or after all members; return its rank."""
    found = member_near(rank_set, cursor[RANK], cursor[BELOW], index)
    cursor[RANK] = found
    cursor[BELOW] = min(index, rank_set.size[0])
    return found


@kernel
def check(rank_set):
    """Return whether all counts match the bits."""
    bits, fine, coarse, size = rank_set
    right = size[0] == np.sum(coarse)
    for i in range(len(coarse)):
        right &= coarse[i] == np.sum(fine[64 * i : 64 * i + 64])
    for i in range(len(fine)):
        ones = 0
        for word in bits[16 * i : 16 * i + 16]:
            ones += count_ones(word)
        right &= fine[i] == ones
    return np.bool_(right)


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
    cursors : ndarray of int64, shape (requests, 2)
        Zeros; scratch for the cursors.
    lower, upper : ndarray of int64, shape (requests, rows)
        Receive the rank found and the next one in the window (the same one where there is no next);
        `upper` may be empty.
    """
    left = right = start[0]
    for i in range(len(start)):
        for j in range(right, end[i]):
            entering = np.int64(rank[j])
            if entering >= 0:
                add(rank_set, entering)
                move_cursors(cursors, entering, 1)
        for j in range(left, start[i]):
            leaving = np.int64(rank[j])
            if leaving >= 0:
                remove(rank_set, leaving)
                move_cursors(cursors, leaving, -1)
        left, right = start[i], end[i]
        for q in range(len(cursors)):
            target = wanted[q, i]
            if target < 0:
                continue
            found = seek(rank_set, cursors[q], target)
            lower[q, i] = found
            if upper.size > 0:
                upper[q, i] = found
                if target + 1 < rank_set.size[0]:
                    upper[q, i] = at_or_after(rank_set, found + 1)
