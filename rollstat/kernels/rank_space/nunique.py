"""Number of distinct values in a window.

::

    rank    5  0  2  2  0        window [1, 5): copies[0] = 2, copies[2] = 2, two distinct values

State: ``copies``, int64 (ranks,), the number of observations of each tied rank in the window.

Invariant: the running count is the number of nonzero entries of ``copies``.

Cost: O(1) in the worst case for each row that enters or leaves, after the block was sorted in O(n log n).
Source: as pandas' ``roll_nunique``, with an array instead of a hash table.
"""

from rollstat.compile.jit import kernel

__all__ = ["count_distinct"]


@kernel
def count_distinct(rank, start, end, copies, result):
    """Write the number of distinct values of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    copies : ndarray of int64, shape (ranks,)
        State, zero at first.
    result : ndarray, shape (rows,)
        Receives the counts.
    """
    left = right = distinct = 0
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                copies[rank[left]] -= 1
                distinct -= copies[rank[left]] == 0
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                distinct += copies[rank[right]] == 0
                copies[rank[right]] += 1
            right += 1
        result[i] = distinct
