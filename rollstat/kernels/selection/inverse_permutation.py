"""From sorted rows to the rank of every row.

::

    row     3  0  2  1        rows in the order of their values
    rank    1  3  2  0        rank[row[i]] = i

State: none. Invariant: `rank` is the inverse of `row` where every rank differs; dense ranks grow only
where a new value begins, and tied ones are that of the first of the equal values. Cost: O(n).
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["number", "number_dense", "number_tied", "rows_of"]


@kernel
def rows_of(words, row_bits, row):
    """Cut the rows out of sorted words (see :mod:`rollstat.kernels.selection.radix_sort`)."""
    mask = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    for i in range(len(words)):
        row[i] = np.int64(words[i] & mask)


@kernel
def number(row, rank):
    """Invert the permutation `row`."""
    for i in range(len(row)):
        rank[row[i]] = i


@kernel
def number_dense(row, first, rank):
    """Number the values from 0; `first` marks where a new value begins."""
    r = -1
    for i in range(len(row)):
        r += first[i]
        rank[row[i]] = r


@kernel
def number_tied(row, first, rank):
    """Give all rows of a value the rank of the first of them; `first` marks where a new value begins."""
    r = 0
    for i in range(len(row)):
        r = i if first[i] else r
        rank[row[i]] = r
