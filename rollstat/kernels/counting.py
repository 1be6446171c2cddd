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

__all__ = ["count_in_width", "count_observed", "has_nan", "mark_few", "mark_nan"]


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


@kernel
def count_in_width(missing, count):
    """Write into `count` the number of rows that are not missing, of windows all of one width.

    Window ``i`` starts at row ``i``, and the last one ends with the data.
    """
    width = len(missing) - len(count) + 1
    observed = 0
    for i in range(width - 1):
        observed += not missing[i]
    entering = missing[width - 1 :]
    for i in range(len(count)):
        observed += not entering[i]
        count[i] = observed
        observed -= not missing[i]


@kernel
def mark_few(values, need, mark, few, out):
    """Write `mark` to the rows of `out` with fewer than `need` values that are not NaN in their windows.

    Window ``i`` starts at row ``i``, all are of one width, and the last one ends with the data. `few` is
    scratch memory for a stretch of rows: without it the marks would be branches on the data.
    """
    width = len(values) - len(out) + 1
    observed = 0
    for i in range(width - 1):
        observed += values[i] == values[i]
    for first in range(0, len(out), len(few)):
        part = out[first : first + len(few)]
        leaving = values[first : first + len(part)]
        entering = values[first + width - 1 : first + width - 1 + len(part)]
        for i in range(len(part)):
            observed += entering[i] == entering[i]
            few[i] = observed < need
            observed -= leaving[i] == leaving[i]
        for i in range(len(part)):
            part[i] = mark if few[i] else part[i]


@kernel
def has_nan(values):
    """Whether any of the floating `values` is NaN; a sum of tests, which compiles to vector code."""
    stretch = 4096
    for first in range(0, len(values), stretch):
        part = values[first : first + stretch]
        found = 0
        for i in range(len(part)):
            found += part[i] != part[i]
        if found:
            return True
    return False


@kernel
def mark_nan(values, missing):
    """Set `missing` where `values` is NaN."""
    for i in range(len(values)):
        missing[i] |= values[i] != values[i]
