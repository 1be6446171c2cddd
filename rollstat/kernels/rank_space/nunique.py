"""Number of distinct values in a window.

::

    rank    5  0  2  2  0        window [1, 5): held[0] = 2, held[2] = 2, two distinct values

State: ``held``, int64 (ranks,), how many observations of the window have that tied rank.

Invariant: the running count is the number of entries of ``held`` that are not zero.

Cost: O(1) a row that enters or leaves, worst case, after the stretch was sorted, O(n log n).
Source: folklore, as pandas' ``roll_nunique`` with an array in place of its hash table.
"""

from rollstat._jit import kernel

__all__ = ["count_distinct"]


@kernel
def count_distinct(rank, start, end, held, result):
    """Write the number of distinct values of every window.

    Parameters
    ----------
    rank : ndarray of int, shape (n,)
        Tied rank of every row, negative where missing.
    start, end : ndarray of int64, shape (rows,)
        Monotone windows.
    held : ndarray of int64
        State, zero at first.
    result : ndarray, shape (rows,)
        Receives the counts.
    """
    left = right = distinct = 0
    for i in range(len(start)):
        while left < start[i]:
            if left < right and rank[left] >= 0:
                held[rank[left]] -= 1
                distinct -= held[rank[left]] == 0
            left += 1
        right = max(left, right)
        while right < end[i]:
            if rank[right] >= 0:
                distinct += held[rank[right]] == 0
                held[rank[right]] += 1
            right += 1
        result[i] = distinct
