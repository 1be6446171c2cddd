"""How many values are not NaN in windows of a fixed width, eight windows at once.

::

    leaving    x x N x x N x x      _BEFORE   0 0 0 1 1 1 2 2     NaN that have left before each window
    entering   x x x x N x x x      _BEFORE   0 0 0 0 0 1 1 1     NaN that have come in
    count = observations of the first of the eight windows + the first line - the second

The NaN among eight values are the bits of a number, and a table knows what that means for each lane.

State: one whole number, the observations of the next window, which is exact. Cost: O(1) a row, some ten
instructions for eight rows. Source: none needed.
"""

import numpy as np

from rollstat._jit import count_ones, kernel
from rollstat.kernels.bundle_functions import nan_bits
from rollstat.kernels.bundles import LANES, load, spread, store

__all__ = ["count_numbers"]

# Row b, lane i: how many of the lowest i bits of b are set.
_BEFORE = np.array([[(bits & (1 << i) - 1).bit_count() for i in range(LANES)] for bits in range(256)], float)
_BEFORE = _BEFORE.ravel()


@kernel(references=False)
def count_numbers(values, width, count):
    """Write into `count` how many of `values` are not NaN in each window of `width`.

    Window ``i`` starts at row ``i``, and the last one ends with the data. Both arrays are of float64.
    """
    last = len(values) - width
    observed = 0
    for i in range(width):
        observed += values[i] == values[i]
    whole = last // LANES * LANES
    for i in range(0, whole, LANES):
        leaving = nan_bits(load(values, i))
        entering = nan_bits(load(values, i + width))
        change = load(_BEFORE, LANES * leaving) - load(_BEFORE, LANES * entering)
        store(count, i, spread(float(observed)) + change)
        observed += np.int64(count_ones(np.uint64(leaving))) - np.int64(count_ones(np.uint64(entering)))
    for i in range(whole, last):
        count[i] = observed
        observed += (values[i + width] == values[i + width]) - np.int64(values[i] == values[i])
    count[last] = observed
