r"""Order statistics and ranks of windows in any order: a matrix of bits, one level for each bit of a rank.

::

    rank     5 0 3 1 4 2      level 0: the highest bit of each rank
    level 0  1 0 0 0 1 0      then all ranks with the bit 0 come first, each half in the order of its rows:
             0 3 1 2 | 5 4
    level 1  0 1 0 1 | 0 0    and so on with the next bit, in the order 0 1 5 4 | 3 2 ...

    window   rows [s, e) of a level; of the next one, those with the bit 0 are [s - ones(s), e - ones(e)),
             those with the bit 1 [zeros + ones(s), zeros + ones(e)); ones(i) counts the ones before row i

The bit of the wanted rank is 0 if as many rows of the window as it needs have the bit 0. The next rank of the
window is the least one in the last half that was left out and has larger ranks. The ranks below a limit are
the ranks in the halves with the bit 0 where the limit has the bit 1.

State: `WaveletMatrix`. Invariant: level l orders the rows by the highest l bits of their ranks, compared from
the lowest of these on, and rows of equal bits as they come; a word of bits and the number of ones before it
are neighbours. Cost: for L = log2(n) levels, L steps for each row to build it, and for each window 2 L
counts, or at most 4 L with the next rank, whatever the other windows are. No branch depends on the values.
Memory: L words of 128 bits for every 64 rows.

Source: F. Claude, G. Navarro and A. Ordóñez, The wavelet matrix (2015), doi:10.1016/j.is.2014.06.002; the
quantile of a range: T. Gagie, S. J. Puglisi and A. Turpin (2009), doi:10.1007/978-3-642-03784-9_1. Windows
in any order by a tree over ranks: A. Vogelsgesang and others, Efficient evaluation of arbitrarily-framed
holistic SQL aggregates and window functions (SIGMOD 2022), doi:10.1145/3514221.3526184.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_ones

_ONE = np.uint64(1)


class WaveletMatrix(NamedTuple):
    """A matrix of bits.

    Attributes
    ----------
    bits, before : ndarray of uint64, shape (levels, words)
        A bit for each row, and the number of ones before each word; views of one array of pairs.
    zeros : ndarray of int64, shape (levels,)
        The number of rows with the bit 0.
    """

    bits: np.ndarray
    before: np.ndarray
    zeros: np.ndarray


def create(rows):
    """Return memory for `rows` ranks."""
    levels = max(int(rows - 1).bit_length(), 1)
    pairs = np.zeros((levels, (rows >> 6) + 1, 2), np.uint64)
    return WaveletMatrix(pairs[..., 0], pairs[..., 1], np.zeros(levels, np.int64))


@kernel
def build(rank, half, matrix):
    """Fill the matrix with the ranks ``0, ..., n - 1`` in any order.

    `rank` and `half`, of the same length, are overwritten.
    """
    levels, rows = len(matrix.zeros), len(rank)
    for level in range(levels):
        shift = levels - 1 - level
        low = high = 0
        for word in range(matrix.bits.shape[1]):
            bits = np.uint64(0)
            matrix.before[level, word] = high
            for row in range(word << 6, min((word + 1) << 6, rows)):
                value = rank[row]
                bit = (value >> shift) & 1
                bits |= np.uint64(bit) << np.uint64(row & 63)
                half[high & INDEX] = value
                rank[low & INDEX] = value
                high += bit
                low += 1 - bit
            matrix.bits[level, word] = bits
        matrix.zeros[level] = low
        for i in range(high):
            rank[low + i] = half[i]


@kernel(forceinline=True)
def _ones(matrix, level, row):
    """Return the number of ones before a row of a level."""
    word = (row >> 6) & INDEX
    below = matrix.bits[level & INDEX, word] & ((_ONE << np.uint64(row & 63)) - _ONE)
    return np.int64(matrix.before[level & INDEX, word]) + count_ones(below)


@kernel(forceinline=True)
def _descend(matrix, level, start, end, index, rank):
    """Return the rank of the `index`-th smallest of rows of a level, and where the next one is the smallest.

    `rank` holds the bits of the levels above. The place of the next is a level, rows of it and bits; the
    level is -1 if there is none.
    """
    next_level, next_start, next_end, next_rank = -1, 0, 0, 0
    while level < len(matrix.zeros):
        a, b = _ones(matrix, level, start), _ones(matrix, level, end)
        zeros = (end - start) - (b - a)
        above = matrix.zeros[level & INDEX]
        level += 1
        rank *= 2
        upper = index >= zeros
        other = (not upper) & (b > a)
        next_level = level if other else next_level
        next_start = above + a if other else next_start
        next_end = above + b if other else next_end
        next_rank = rank + 1 if other else next_rank
        rank += upper
        index -= zeros if upper else 0
        start = above + a if upper else start - a
        end = above + b if upper else end - b
    return rank, next_level, next_start, next_end, next_rank


@kernel
def count_less(matrix, start, end, limit, count):
    """Write how many ranks of each window are below its `limit`; nothing if the limit is negative.

    Windows are of observations, and no limit is above the number of ranks.
    """
    levels = len(matrix.zeros)
    for i in range(len(count)):
        low, high, less = start[i], end[i], 0
        if limit[i] >> levels > 0:  # all are
            less, low = high - low, high
        for level in range(levels if limit[i] >= 0 else 0):
            a, b = _ones(matrix, level, low), _ones(matrix, level, high)
            zeros, above = (high - low) - (b - a), matrix.zeros[level & INDEX]
            upper = (limit[i] >> (levels - 1 - level)) & 1 == 1
            less += zeros if upper else 0
            low = above + a if upper else low - a
            high = above + b if upper else high - b
        if limit[i] >= 0:
            count[i] = less


@kernel
def select(matrix, start, end, wanted, lower, upper):
    """Write the rank that is the `wanted`-th smallest of each window, and the next one.

    Windows are of observations. Where `wanted` is negative, nothing is written. If there is no next rank,
    `upper` is the same as `lower`; if `upper` has no length, the next one is not wanted.
    """
    for i in range(len(wanted)):
        if wanted[i] >= 0:
            rank, level, first, last, above = _descend(matrix, 0, start[i], end[i], wanted[i], 0)
            lower[i] = rank
            if len(upper) > 0:
                if level >= 0:
                    rank = _descend(matrix, level, first, last, 0, above)[0]
                upper[i] = rank
