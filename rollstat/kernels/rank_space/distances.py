"""Arithmetic of distances from a median: two middle observations, two middle distances, one deviation.

::

    observations      y0 ... | lower  upper | ... yn          median = (lower + upper) / 2
    distances         low - y         y - high                of values below and above the median

Floating numbers have ``low == high``, the rounded median, so distances are rounded as in NumPy. Rounding is
monotone: the rounded distances are in the order of the exact ones. Integers, as uint64, have ``low == lower``
and ``high == upper``. Their distances are exact and all of them are short by ``(upper - lower) / 2``, which
:func:`integer_deviations` adds at the end.

Cost: O(1) a value. Source: the definition.
"""

import numpy as np
from numba import types

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded
from rollstat.kernels.numbers import half_integer

__all__ = [
    "centers",
    "deviation",
    "float_deviations",
    "integer_deviations",
    "integer_distances",
    "middle",
    "near_distance",
]


@kernel
def middle(below, above):
    """Return the mean of two floating numbers; they are halved first where their sum overflows."""
    total = below + above
    if np.isinf(total):
        return below * 0.5 + above * 0.5
    return total / 2.0


def centers(below, above):
    """Return `low` and `high`, from which distances are measured, given the two middle observations."""
    if isinstance(below, np.floating):
        return middle(below, above), middle(below, above)
    return below, above


@overloaded(centers)
def _centers(below, above):
    if isinstance(below, types.Float):
        return lambda below, above: (middle(below, above), middle(below, above))
    return lambda below, above: (below, above)


@kernel
def near_distance(low, high, first, last, some_below, some_above):
    """Return the largest distance in a run of neighbours, from its `first` and `last` value.

    `some_below` and `some_above` say whether the run has values on that side of the median. A distance is
    only computed on a side that has values, because the unsigned difference wraps on the other side.
    """
    if not some_below:
        return last - high
    below = low - first
    if not some_above:
        return below
    above = last - high
    return below if below > above else above


@kernel
def deviation(center, near, far):
    """Return the deviation from a median `center`: NaN where that is not finite, as in NumPy; never -0.0."""
    return middle(near, far) + 0.0 if np.isfinite(center) else np.nan


@kernel
def integer_deviations(lower, upper, near, far, result):
    """Turn middle observations and distances of integers into median absolute deviations.

    The deviation is ``(near + far + (upper - lower)) / 2``. It is at most the largest distance of two values,
    so its integer part fits in 64 bits even where the sum does not. Results are rounded once.
    """
    one = np.uint64(1)
    for i in range(len(result)):
        gap = upper[i] - lower[i]
        odd = (near[i] & one) + (far[i] & one) + (gap & one)
        integer = (near[i] >> one) + (far[i] >> one) + (gap >> one) + (odd >> one)
        result[i] = half_integer(integer, odd & one)


@kernel
def integer_distances(key, lower, upper, result):
    """Write the distance of every integer of `key` from the mean of `lower` and `upper`, rounded once.

    All are uint64, ``lower <= upper``.
    """
    one = np.uint64(1)
    for i in range(len(result)):
        half, odd = (upper[i] - lower[i]) >> one, (upper[i] - lower[i]) & one
        if key[i] >= upper[i]:
            integer = key[i] - upper[i] + half
        elif key[i] <= lower[i]:
            integer = lower[i] - key[i] + half
        elif key[i] - lower[i] > half:
            integer = key[i] - lower[i] - half - odd
        else:
            integer = half - (key[i] - lower[i])
        result[i] = half_integer(integer, odd)


@kernel
def float_deviations(lower, upper, near, far, center, result):
    """Turn middle observations and distances of floats into medians and median absolute deviations."""
    for i in range(len(result)):
        center[i] = middle(lower[i], upper[i])
        result[i] = deviation(center[i], near[i], far[i])
