"""How many values are not NaN in windows of a fixed width, eight windows at once.

::

    leaving    x x N x x N x x      1 for each NaN, a byte each      0 0 1 0 0 1 0 0
    entering   x x x x N x x x                                       0 0 0 0 1 0 0 0
                                    running sums of the difference   0 0 1 1 0 1 1 1
    count = observations of the first of the eight windows + that sum up to the lane before

All eight sums are one product of whole numbers, see :func:`rollstat.kernels.bundle_functions.nan_changes`.

State: one whole number, the observations of the next window, which is exact. Cost: O(1) a row, some ten
instructions for eight rows. Source: none needed.
"""

from rollstat._jit import kernel, prefetch
from rollstat.kernels.bundle_functions import counts_before, nan_changes
from rollstat.kernels.bundles import LANES, load, store

__all__ = ["count_numbers", "count_rows", "numbers_among"]

# Values that leave long windows are asked for so many rows earlier: nobody has read them for a while.
_AHEAD = 64 * LANES


@kernel(references=False)
def numbers_among(values):
    """How many of the values are not NaN."""
    observed = 0
    for i in range(len(values)):
        observed += values[i] == values[i]
    return observed


@kernel(references=False)
def count_rows(leaving, first, entering, second, rows, observed, count):
    """Write to the front of `count` how many values are not NaN in each window of so many rows of eight.

    `observed` are in the first window. The values from `first` on in `leaving` are the first ones of the
    windows, and those from `second` on in `entering` the first ones behind them. The observations of the
    window after the last one are returned.
    """
    for i in range(0, LANES * rows, LANES):
        prefetch(leaving, first + i + _AHEAD)
        changes = nan_changes(load(leaving, first + i), load(entering, second + i))
        store(count, i, counts_before(changes, observed))
        observed += (changes >> 56) - 8
    return observed


@kernel(references=False)
def count_numbers(values, width, count):
    """Write into `count` how many of `values` are not NaN in each window of `width`.

    Window ``i`` starts at row ``i``, and the last one ends with the data. Both arrays are of float64.
    """
    last = len(values) - width
    rows = last // LANES
    observed = count_rows(values, 0, values, width, rows, numbers_among(values[:width]), count)
    for i in range(LANES * rows, last):
        count[i] = observed
        observed += (values[i + width] == values[i + width]) - (values[i] == values[i])
    count[last] = observed
