"""How many values are not NaN in windows of a fixed width, eight windows at once.

::

    leaving    x x N x x N x x      1 for each NaN, a byte each      0 0 1 0 0 1 0 0
    entering   x x x x N x x x                                       0 0 0 0 1 0 0 0
                                    running sums of the difference   0 0 1 1 0 1 1 1
    count = observations of the first of the eight windows + that sum up to the lane before

Of two series, a row counts where both are observed: `series` is a tuple of one or two arrays of float64.
All eight sums are one product of whole numbers, see :func:`rollstat.kernels.simd.float64x8_math.nan_changes`.

State: one whole number, the observations of the next window, which is exact. Cost: O(1) a row, some ten
instructions for eight rows. Source: none needed.
"""

from rollstat._jit import kernel
from rollstat._lowering import prefetch
from rollstat.kernels.simd.float64x8 import LANES, bundle, load, store
from rollstat.kernels.simd.float64x8_math import counts_before, nan_changes

__all__ = ["count_numbers", "count_rows", "is_observed", "numbers_among"]

# Values that leave long windows are asked for so many rows earlier: nobody has read them for a while.
_AHEAD = 64 * LANES


@kernel(forceinline=True)
def is_observed(series, i):
    """Whether no series is NaN in row `i`."""
    return (series[0][i] == series[0][i]) & (series[-1][i] == series[-1][i])


@kernel
def numbers_among(series, first, last):
    """How many of the rows ``first, ..., last - 1`` are observed."""
    part, other = series[0][first:last], series[-1][first:last]
    observed = 0
    for i in range(len(part)):
        observed += (part[i] == part[i]) & (other[i] == other[i])
    return observed


@kernel(forceinline=True)
def _load_both(series, i):
    """Eight rows of the first and the last series; one that is both costs no second look."""
    return bundle((load(series[0], i), load(series[-1], i)))


@kernel
def count_rows(leaving, first, entering, second, rows, observed, count):
    """Write to the front of `count` how many values are observed in each window of so many rows of eight.

    `observed` are in the first window. The values from `first` on in `leaving` are the first ones of the
    windows, and those from `second` on in `entering` the first ones behind them, of as many series. The
    observations of the window after the last one are returned.
    """
    for i in range(0, LANES * rows, LANES):
        prefetch(leaving[0], first + i + _AHEAD)
        if len(leaving) > 1:
            prefetch(leaving[-1], first + i + _AHEAD)
        changes = nan_changes(_load_both(leaving, first + i), _load_both(entering, second + i))
        store(count, i, counts_before(changes, observed))
        observed += (changes >> 56) - 8
    return observed


@kernel
def count_numbers(series, width, count):
    """Write into `count`, of float64, how many rows are observed in each window of `width`.

    Window ``i`` starts at row ``i``, and the last one ends with the data.
    """
    last = len(series[0]) - width
    rows = last // LANES
    observed = count_rows(series, 0, series, width, rows, numbers_among(series, 0, width), count)
    for i in range(LANES * rows, last):
        count[i] = observed
        observed += int(is_observed(series, i + width)) - int(is_observed(series, i))
    count[last] = observed
