"""Ranks of quantiles, and the point between the two order statistics that enclose one.

::

    observations   x0    x1    x2    x3       count = 4
    q = 0.4                |                  h = q * (count - 1) = 1.2: rank 1, fraction 0.2
    linear                  x1 + (x2 - x1) * 0.2

State: none. Invariant: none. Cost: O(1) a row. Source: Hyndman and Fan (1996), *Sample Quantiles in
Statistical Packages*, definition 7, doi:10.2307/2684934, with the rounding of pandas' ``rolling.quantile``.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.numbers import half_integer

INTERPOLATIONS = {"linear": 0, "lower": 1, "higher": 2, "nearest": 3, "midpoint": 4}
LINEAR, MIDPOINT = INTERPOLATIONS["linear"], INTERPOLATIONS["midpoint"]


@kernel
def wanted_ranks(count, k, q, least, rank):
    """Write the rank of the k-th smallest, the -k-th largest or, if `k` is 0, the one at or below a quantile.

    `rank` receives -1 below `least` observations.
    """
    for i in range(len(count)):
        place = np.int64(q * (count[i] - 1)) if k == 0 else k - 1 if k > 0 else count[i] + k
        rank[i] = place if count[i] >= least else -1


@kernel(forceinline=True)
def picks_upper(rank, fraction, interpolation):
    """Whether a quantile that is an observation is the upper one."""
    if interpolation == 2:
        return fraction > 0.0
    if interpolation == 3:
        return fraction > 0.5 or (fraction == 0.5 and np.floor(rank * 0.5) < rank * 0.5)
    return False


@kernel(forceinline=True)
def point_between(below, above, fraction, middle):
    """Return the mean of two values, or ``below + (above - below) * fraction`` without the NaN of infinities.

    `fraction` is more than 0 and less than 1. All variants are computed and one is selected, for vector code.
    """
    total = below + above
    halves = below * 0.5 + above * 0.5
    mean = halves if np.abs(total) == np.inf else total * 0.5
    gap = above - below
    weighted = below * (1.0 - fraction) + above * fraction
    linear = below + gap * fraction if gap < np.inf else weighted
    inner = mean if middle else linear
    return below if below == above else inner


@kernel(forceinline=True)
def quantile_point(below, above, count, q, interpolation):
    """Return a quantile of `count` observations from the one of rank ``floor(q * (count - 1))`` and the next.

    The next one may be anything where the quantile is the first.
    """
    position = q * (count - 1)
    rank = np.floor(position)  # not an integer, for vector code
    fraction = position - rank
    above = below if fraction == 0.0 else above
    if (interpolation == LINEAR) | (interpolation == MIDPOINT):
        return point_between(below, above, fraction, interpolation == MIDPOINT)
    return above if picks_upper(rank, fraction, interpolation) else below


@kernel
def interpolate(lower, upper, count, q, interpolation, result):
    """Write quantiles as floating numbers, from the observations at rank `lower` and the next.

    Parameters
    ----------
    lower, upper : ndarray, shape (rows,)
        Order statistics of rank ``floor(q * (count - 1))`` and one more.
    count : ndarray of int64, shape (rows,)
        Observations in each window; rows without any get an arbitrary result.
    q : float
        Between 0 and 1.
    interpolation : int
        A value of `INTERPOLATIONS`.
    result : ndarray of float32 or float64, shape (rows,)
        Receives the quantiles, computed in float64.
    """
    for i in range(len(result)):
        below, above = np.float64(lower[i]), np.float64(upper[i])
        result[i] = quantile_point(below, above, count[i], q, interpolation)


@kernel
def interpolate_constant(lower, upper, fraction, middle, result):
    """Write the points between `lower` and `upper` where all rows have one fraction.

    Equal to :func:`interpolate` with linear or midpoint interpolation, and compiled to vector code.

    Parameters
    ----------
    lower, upper : ndarray, shape (rows,)
        The enclosing order statistics.
    fraction : float
        Where the quantile lies between them, above 0 and below 1.
    middle : bool
        Whether the mean of both is taken.
    result : ndarray of float32 or float64, shape (rows,)
        Receives the quantiles, computed in float64.
    """
    for i in range(len(result)):
        result[i] = point_between(np.float64(lower[i]), np.float64(upper[i]), fraction, middle)


@kernel
def interpolate_whole(lower, upper, count, q, interpolation, result):
    """Write quantiles of whole numbers in their own dtype; points between two are rounded down.

    The parameters are the same as for :func:`interpolate`, with integer `lower`, `upper` and `result`.
    """
    for i in range(len(result)):
        position = q * (count[i] - 1)
        rank = np.int64(position)
        fraction = position - rank
        if fraction == 0.0 or count[i] < 2:
            result[i] = lower[i]
        elif interpolation in (LINEAR, MIDPOINT):
            share = 0.5 if interpolation == MIDPOINT else fraction
            # Unsigned, since the difference of two int64 may not fit in one.
            distance = np.uint64(upper[i]) - np.uint64(lower[i])
            part = distance // np.uint64(2) if share == 0.5 else np.uint64(np.float64(distance) * share)
            result[i] = lower[i] + np.int64(part)
        else:
            result[i] = upper[i] if picks_upper(rank, fraction, interpolation) else lower[i]


@kernel
def interpolate_large(lower, upper, signed, count, q, interpolation, result):
    """Write linear or midpoint quantiles of large integers, each rounded once.

    Equal to :func:`interpolate` where float64 holds the integers.

    Parameters
    ----------
    lower, upper : ndarray of uint64, shape (rows,)
        Order statistics of rank ``floor(q * (count - 1))`` and one more, in two's complement if `signed`.
    count, q, interpolation, result
        As for :func:`interpolate`.
    """
    one, last = np.uint64(1), np.uint64(2**11 - 1)
    for i in range(len(result)):
        position = q * (count[i] - 1)
        fraction = position - np.floor(position)
        gap = np.uint64(0) if fraction == 0.0 or count[i] < 2 else upper[i] - lower[i]
        if interpolation == MIDPOINT:
            whole, rest = gap >> one, 0.5 * (gap & one)
        else:
            # float64 holds both parts of a large gap.
            low = gap & last if gap >> np.uint64(53) else np.uint64(0)
            part = np.float64(gap - low) * fraction
            rest = part - np.floor(part) + np.float64(low) * fraction
            whole = np.uint64(part) + np.uint64(rest)
            rest -= np.floor(rest)
        magnitude = lower[i] + whole
        negative = signed and magnitude >> np.uint64(63) != 0
        if negative:
            magnitude = np.uint64(0) - magnitude
            if rest > 0.0:
                magnitude, rest = magnitude - one, 1.0 - rest
        if magnitude >> np.uint64(52) == 0:
            point = np.float64(magnitude) + rest
        else:  # what is left of the last digit only decides a tie, as one bit does
            point = half_integer(magnitude, np.uint64(rest > 0.0))
        result[i] = -point if negative else point


@kernel
def whole_spread(lower, upper, count, q_low, q_high, middle, result):
    """Write the difference of two quantiles of whole numbers, exact up to three roundings.

    Parameters
    ----------
    lower, upper : ndarray of int64 or uint64, shape (2, rows)
        Order statistics of rank ``floor(q * (count - 1))`` and one more, for both quantiles.
    count : ndarray of int64, shape (rows,)
        Observations in each window; rows without any get an arbitrary result.
    q_low, q_high : float
        Between 0 and 1.
    middle : bool
        Whether the mean of the enclosing two is taken.
    result : ndarray of float64, shape (rows,)
        Receives the differences.
    """
    for i in range(len(result)):
        inner = 0.0
        for j in range(2):
            position = (q_high if j == 1 else q_low) * (count[i] - 1)
            fraction = position - np.int64(position)
            if fraction > 0.0:
                # Unsigned, since the difference of two int64 may not fit in one.
                gap = np.float64(np.uint64(upper[j, i]) - np.uint64(lower[j, i]))
                inner += (2 * j - 1) * gap * (0.5 if middle else fraction)
        result[i] = np.float64(np.uint64(lower[1, i]) - np.uint64(lower[0, i])) + inner
