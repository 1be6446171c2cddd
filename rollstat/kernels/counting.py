"""Number of observations in monotone windows, and the mean of their rows.

::

    missing   0 0 1 0 1 0
              [-------)          count = 3
                [-------)        count = 3: one row entered, one left

State: none beyond the running count and sum of rows, integers, which are exact. Invariant: ``count`` is
the number of rows of ``[left, right)`` that are not missing. Cost: amortised O(1) a row, worst case the
largest jump of a bound.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.order import Greatest, prefer
from rollstat.kernels.vectors import add, first_lane, lanes_of, load, push_back, spread, store, zeros

__all__ = ["count_in_width", "count_observed", "has_nan", "mark_few", "mark_nan", "take_mean_rows"]


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


@kernel(references=False)
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


@kernel(references=False)
def _count_nan(values):
    """How many of `values` are NaN."""
    found = 0
    for i in range(len(values)):
        found += values[i] != values[i]
    return found


@kernel(references=False)
def _change(entering, leaving, balance):
    """Write how many NaN more enter than leave with each row."""
    for i in range(len(entering)):
        balance[i] = np.int16(entering[i] != entering[i]) - np.int16(leaving[i] != leaving[i])


@kernel(references=False)
def _running_sums(balance):
    """Replace whole vectors by their running sums; return the highest, or 0."""
    none = before = highest = zeros(balance)
    for i in range(0, len(balance), lanes_of(balance)):
        sums = load(balance, i)
        sums = add(sums, push_back(none, sums, 1))
        sums = add(sums, push_back(none, sums, 2))
        sums = add(sums, push_back(none, sums, 4))
        sums = add(sums, push_back(none, sums, 8))
        sums = add(add(sums, push_back(none, sums, 16)), before)
        before = spread(sums, -1)
        highest = prefer(Greatest(), sums, highest)
        store(sums, balance, i)
    highest = prefer(Greatest(), push_back(highest, highest, 16), highest)
    highest = prefer(Greatest(), push_back(highest, highest, 8), highest)
    highest = prefer(Greatest(), push_back(highest, highest, 4), highest)
    highest = prefer(Greatest(), push_back(highest, highest, 2), highest)
    return first_lane(prefer(Greatest(), push_back(highest, highest, 1), highest))


@kernel(references=False)
def _mark_above(balance, limit, mark, out):
    """Write `mark` where `balance` is larger than `limit`."""
    for i in range(len(out)):
        out[i] = mark if balance[i] > limit else out[i]


@kernel(references=False)
def mark_few(values, need, mark, balance, out, other):
    """Write `mark` to the rows of `out` with fewer than `need` values that are not NaN in their windows.

    And to the same rows of `other`, which may have no length.

    Window ``i`` starts at row ``i``, all are of one width, and the last one ends with the data. `balance`
    is scratch memory of int16 for a stretch of rows, whole vectors. In a stretch, the count of NaN is a
    running sum of small numbers, many to a vector; where it cannot come near the limit, it is not needed.
    """
    width = len(values) - len(out) + 1
    limit = width - need
    missing = _count_nan(values[:width])
    if missing > limit:
        out[0] = mark
        other[:1] = mark
    for first in range(1, len(out), len(balance)):
        part, second = out[first : first + len(balance)], other[first : first + len(balance)]
        count = len(part)
        leaving = values[first - 1 : first - 1 + count]
        entering = values[first + width - 1 : first + width - 1 + count]
        if missing + count <= limit or missing - count > limit:
            if missing > limit:
                part[:] = mark
                second[:] = mark
            missing += _count_nan(entering) - _count_nan(leaving)
            continue
        _change(entering, leaving, balance)
        if _running_sums(balance) + missing > limit:
            _mark_above(balance[:count], np.int16(limit - missing), mark, part)
            _mark_above(balance[:count], np.int16(limit - missing), mark, second)
        missing += balance[count - 1]


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
