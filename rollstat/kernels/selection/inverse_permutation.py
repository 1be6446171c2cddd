"""The rank of every row, from the rows in sorted order.

::

    row     3  0  2  1        rows in the order of their values
    rank    1  3  2  0        rank[row[i]] = i

State: none. Invariant: `rank` is the inverse of `row` where all ranks differ; tied ranks are those of the
first of the equal values. Cost: O(n). Source: elementary.
"""

from rollstat.compile.jit import kernel

__all__ = ["number", "number_tied"]


@kernel
def number(row, rank):
    """Write the inverse of the permutation `row`."""
    for i in range(len(row)):
        rank[row[i]] = i


@kernel
def number_tied(row, first, rank):
    """Write tied ranks: the rank of the first of equal values. `first` marks where a new value begins."""
    r = 0
    for i in range(len(row)):
        r = i if first[i] else r
        rank[row[i]] = r
