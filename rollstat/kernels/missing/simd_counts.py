"""Number of observations in windows of a fixed width, eight windows at once.

::

    leaving    x x N x x N x x      a byte for each lane, 1 for NaN      0 0 1 0 0 1 0 0
    entering   x x x x N x x x                                           0 0 0 0 1 0 0 0
                                    running sum of the difference        0 0 1 1 0 1 1 1
    count of a window = count of the first of the eight + running sum up to the lane before

`series` is a tuple of one or two float64 arrays; a row counts if none of them is NaN there. All eight
running sums are one product of integers, see :func:`rollstat.compile.simd.float64x8_math.nan_changes`.

State: the number of observations of the next window, an integer, which is exact. Cost: O(1) per row, about
ten instructions for eight rows.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch
from rollstat.compile.simd.float64x8_math import LANES, counts_from_changes, nan_changes
from rollstat.compile.simd.vectors import load, stack_channels, store

__all__ = ["count_series", "count_vectors", "is_observed", "observations_between"]

# Rows by which a prefetch of leaving values runs ahead: long windows have pushed them out of the cache.
_AHEAD = 64 * LANES


@kernel(forceinline=True)
def is_observed(series, i):
    """Return whether no series is NaN in row `i`."""
    return (series[0][i] == series[0][i]) & (series[-1][i] == series[-1][i])


@kernel
def observations_between(series, first, last):
    """Return the number of observations in the rows ``first, ..., last - 1``."""
    values, others = series[0][first:last], series[-1][first:last]
    observed = 0
    for i in range(len(values)):
        observed += (values[i] == values[i]) & (others[i] == others[i])
    return observed


@kernel(forceinline=True)
def _load_both(series, i):
    """Return eight rows of the first and the last series, which may be the same one."""
    return stack_channels((load(series[0], i), load(series[-1], i)))


@kernel
def count_vectors(leaving, first, entering, second, vectors, observed, count):
    """Write the observations of ``8 * vectors`` successive windows to the front of `count`.

    The first window has `observed` of them. The value that leaves it is at index `first` of `leaving`, and
    the value after its last one at index `second` of `entering`. Both are tuples of series. Return the
    observations of the window after the last one.
    """
    for i in range(0, LANES * vectors, LANES):
        prefetch(leaving[0], first + i + _AHEAD)
        if len(leaving) > 1:
            prefetch(leaving[-1], first + i + _AHEAD)
        changes = nan_changes(_load_both(leaving, first + i), _load_both(entering, second + i))
        store(counts_from_changes(changes, observed), count, i)
        observed += (changes >> 56) - 8
    return observed


@kernel
def count_series(series, width, count):
    """Write the number of observations of each window of `width` rows into `count`, of float64.

    Window ``i`` starts at row ``i``, and the last one ends with the data.
    """
    last = len(series[0]) - width
    vectors = last // LANES
    observed = observations_between(series, 0, width)
    observed = count_vectors(series, 0, series, width, vectors, observed, count)
    for i in range(LANES * vectors, last):
        count[i] = observed
        observed += int(is_observed(series, i + width)) - int(is_observed(series, i))
    count[last] = observed
