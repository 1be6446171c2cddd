"""Number of observations in monotone windows, and the mean of their rows.

::

    missing   0 0 1 0 1 0
              [-------)          count = 3
                [-------)        count = 3: one row entered, one left

State: none beyond the running count and sum of rows, integers, which are exact. Invariant: ``count`` is
the number of rows of ``[left, right)`` that are not missing. Cost: amortised O(1) a row, worst case the
largest jump of a bound.
"""

from rollstat._jit import kernel

__all__ = ["count_in_width", "count_observed", "has_nan", "length_with", "mark_nan", "take_mean_rows"]


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
def take_mean_rows(values, start, end, slope, height):
    """Take `slope` times the mean row of each window's values that are not NaN off `height`.

    The first row of a window is its row 0. Windows without any observation stay as they are.
    """
    left = right = observed = total = 0
    for i in range(len(start)):
        if start[i] >= right:
            left = right = start[i]
            observed = total = 0
        while right < end[i]:
            here = int(values[right] == values[right])
            observed += here
            total += here * right
            right += 1
        while left < start[i]:
            here = int(values[left] == values[left])
            observed -= here
            total -= here * left
            left += 1
        if observed:
            height[i] -= slope[i] * ((total - start[i] * observed) / observed)


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
def length_with(values, need):
    """How many of the first values it takes for `need` that are not NaN; one more than all if too few."""
    stretch = 4096
    first = 0
    while first < len(values):
        part = values[first : first + stretch]
        found = 0
        for i in range(len(part)):
            found += part[i] == part[i]
        if found >= need:
            break
        need -= found
        first += stretch
    i = min(first, len(values))
    while need > 0 and i < len(values):
        need -= values[i] == values[i]
        i += 1
    return i + (need > 0)


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
