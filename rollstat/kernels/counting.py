"""Number of observations in monotone windows.

::

    missing   0 0 1 0 1 0
              [-------)          count = 3
                [-------)        count = 3: one row entered, one left

State: none beyond the running count, an integer, which is exact. Invariant: ``count`` is the number
of rows of ``[left, right)`` that are not missing. Cost: amortised O(1) a row, worst case the largest
jump of a bound.
"""

from rollstat._jit import kernel

__all__ = ["count_observed"]


@kernel
def count_observed(missing, start, end, count):
    """Write into `count` the number of rows of each window that are not missing."""
    left = right = observed = 0
    for i in range(len(start)):
        if start[i] >= right:
            left = right = start[i]
            observed = 0
        while right < end[i]:
            observed += not missing[right]
            right += 1
        while left < start[i]:
            observed -= not missing[left]
            left += 1
        count[i] = observed
