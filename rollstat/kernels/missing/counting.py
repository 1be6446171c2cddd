"""Number of observations in monotone windows, and searches for NaN.

::

    missing   0 0 1 0 1 0
              [-------)          count = 3
                [-------)        count = 3: one row entered, one left

State: the running count and sum of rows, integers, which are exact. Invariant: ``count`` is the number of
rows in ``[left, right)`` that are not missing. Cost: amortised O(1) per row, worst case the largest step of
a bound.
"""

from rollstat.compile.jit import kernel

__all__ = [
    "count_fixed",
    "count_observed",
    "has_nan",
    "mark_nan",
    "observed_prefix",
    "subtract_mean_row",
]

# Values in one pass of a loop without branches, which compiles to vector code.
_BLOCK = 4096


@kernel
def count_observed(missing, start, end, count):
    """Write the number of observations of each window into `count`."""
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
def subtract_mean_row(values, start, end, slope, height):
    """Subtract `slope` times the mean row of the observations of each window from `height`.

    Rows are counted from the start of the window. Windows without observations stay as they are.
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
def count_fixed(missing, count):
    """Write the number of observations of each window of a fixed width into `count`.

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
def observed_prefix(values, needed):
    """Return the length of the shortest prefix with `needed` observations, or ``len(values) + 1``."""
    first = 0
    while first < len(values):
        block = values[first : first + _BLOCK]
        found = 0
        for i in range(len(block)):
            found += block[i] == block[i]
        if found >= needed:
            break
        needed -= found
        first += _BLOCK
    i = min(first, len(values))
    while needed > 0 and i < len(values):
        needed -= values[i] == values[i]
        i += 1
    return i + (needed > 0)


@kernel
def has_nan(values):
    """Return whether any of the floats `values` is NaN."""
    for first in range(0, len(values), _BLOCK):
        block = values[first : first + _BLOCK]
        found = 0
        for i in range(len(block)):
            found += block[i] != block[i]
        if found:
            return True
    return False


@kernel
def mark_nan(values, missing):
    """Set `missing` where `values` is NaN; other elements stay."""
    for i in range(len(values)):
        missing[i] |= values[i] != values[i]
