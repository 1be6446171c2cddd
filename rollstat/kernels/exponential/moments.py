"""Exponentially weighted variances, covariances and correlations from the first row of each segment on.

::

    a row by itself      x, weight `new`, meets earlier rows of weight `kept` = 1 - new, mean m and moment C:

        m <- m + new (x - m)          C <- kept (C + new (x - m)**2)          P <- kept (kept P + 2 new)

    eight rows at once   rows about the first seen, a:       sums of decayed (x - a), (x - a)**2
                         --> mean g and moment of the eight rows alone up to each lane
                         --> merged with all earlier rows, by the pairwise formula: + K (m - g)**2

P is the sum of the products of the weights of every two rows, so C / P is the unbiased variance without a
difference of sums of weights; equal values have a variance of exactly 0. Missing values, `adjust`,
`ignore_na` and factors have the meaning of :mod:`rollstat.kernels.exponential.means`. A row counts if no
series is NaN in it. Other rows among eight have the weight 0.

State: weight, means, moments xx, yy and xy, and P, for weights that add up to 1. Invariant: the state belongs
to the observations before row i. Cost: eight rows take about 50 instructions for a variance, 110 for two
series.
Source: Chan, Golub and LeVeque (1983), doi:10.1080/00031305.1983.10483115, with weights.
"""

import math

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import count_trailing_zeros
from rollstat.compile.simd.float64x8_math import negative_to_zero, square_root
from rollstat.compile.simd.vectors import (
    broadcast,
    broadcast_lane,
    first_lane,
    load,
    nan_lanes,
    replace_nan,
    store,
    zeros_like,
)
from rollstat.kernels.exponential.means import (
    MIXED_ROWS,
    OF_GAPS,
    OF_SETS,
    SMALL,
    aging_of,
    gaps_at,
    scanned,
    shares,
)

LEAST_DECAY = 0.5
LEAST_NORMAL = 2.0**-1022  # positive number without loss of digits
VARIANCE, DEVIATION, COVARIANCE, CORRELATION, MEAN, SUM = range(6)


def vector_constants(decay):
    """Return what eight rows need, in one array of `OF_GAPS` elements.

    For each lane: the weight of all earlier rows; the weight of the eight rows up to the lane; the square of
    the first, the inverse of the second, and the sum of the products of every two of the eight.
    """
    powers = decay ** np.arange(1.0, 9.0)
    weight, pairs = np.ones(8), np.zeros(8)
    for lane in range(1, 8):
        pairs[lane] = decay * (decay * pairs[lane - 1] + 2.0 * weight[lane - 1])
        weight[lane] = decay * weight[lane - 1] + 1.0
    return np.concatenate([powers, weight, powers * powers, 1.0 / weight, pairs])


_LANES = np.arange(8)
# For each set of missing lanes, the bits of its number: which lanes are observations, and 1 for these.
_OBSERVED = (np.arange(256)[:, None] >> _LANES & 1) == 0
_SEEN = _OBSERVED * 1.0
_AGE = np.maximum(_LANES[:, None] - _LANES, 0)
# Missing lanes after each lane, and in all.
_GAPS_AFTER = np.cumsum(~_OBSERVED[:, ::-1], axis=1)[:, ::-1] - ~_OBSERVED
_GAPS = (~_OBSERVED).sum(axis=1)


def constants_with_tables(decay, adjust, ignore_na):
    """Return :func:`vector_constants`, then what eight rows need for each set of missing lanes.

    See :func:`rollstat.kernels.exponential.means.gaps_at`.
    """
    own, common, scalar = _SEEN, 1.0, np.ones(256)
    power = decay ** np.arange(9.0)
    if ignore_na:
        # All rows age by every row. To make up for this, rows before a missing one have more weight.
        common = power[_GAPS_AFTER]
        own, scalar = _SEEN / common, 1.0 / power[_GAPS]
    elif not adjust:
        # After a gap earlier rows have less weight, and the new one has the weight alpha. The following rows
        # have less, so that all weights add up to one.
        own, factor = _SEEN.copy(), np.ones(256)
        for lane in range(8):
            own[:, lane] *= factor
            scalar *= decay
            seen = _OBSERVED[:, lane]
            factor[seen] *= scalar[seen] + (1.0 - decay)
            scalar[seen] = 1.0
    powers = np.tril(power[_AGE])
    weight = own @ powers.T
    lines = np.empty((256, 5, 8))
    lines[:, 0], lines[:, 1], lines[:, 4] = own, weight, common
    # Lanes before the first observation have no weight, and no sum.
    np.divide(1.0, weight + LEAST_NORMAL, out=lines[:, 2])
    lines[:, 3] = (2.0 * own * (weight - own)) @ (powers * powers).T
    return np.concatenate([vector_constants(decay), lines.ravel(), scalar])


@kernel(forceinline=True)
def _with_row(state, kept, new, x, y):
    """Return means, moments and pairs with one more row; earlier rows keep the share `kept`."""
    mean_x, mean_y, xx, yy, xy, pairs = state
    if kept == 0.0:
        return x, y, x - x, y - y, (x - x) + (y - y), 0.0
    dx, dy = x - mean_x, y - mean_y
    return (
        mean_x + new * dx,
        mean_y + new * dy,
        kept * (xx + new * (dx * dx)),
        kept * (yy + new * (dy * dy)),
        kept * (xy + new * (dx * dy)),
        kept * (kept * pairs + 2.0 * new),
    )


@kernel(forceinline=True)
def result_of(moments, kind, bias):
    """Return the statistic `kind` of means, moments and pairs."""
    _, _, xx, yy, xy, pairs = moments
    if kind == CORRELATION:
        return xy / math.sqrt(xx * yy) if xx * yy > 0.0 else np.nan
    if not bias and not pairs > 0.0:
        return np.nan
    result = (xy if kind == COVARIANCE else xx) / (1.0 if bias else pairs)
    return math.sqrt(result) if kind == DEVIATION else result


@kernel(forceinline=True)
def _last(lanes):
    return first_lane(broadcast_lane(lanes, -1))


@kernel(forceinline=True)
def _without_missing(x, y, one, other):
    """Return the lanes of two series; where either is NaN, both have their given value."""
    zero = zeros_like(x)
    return replace_nan(x + y * zero, broadcast(one)), replace_nan(y + x * zero, broadcast(other))


@kernel(forceinline=True)
def _scale(powers, squares, ramp, own, before, pairs, bias):
    """Return what joins the means, and what moments are multiplied by; weight and pairs after the last lane.

    `powers` and `squares` hold the weight of earlier rows and its square, `ramp` and `own` the weights and
    pairs of the lanes alone; `before` is the weight of all earlier rows, `pairs` the share of their pairs.
    """
    old = powers * broadcast(before)
    whole = ramp + old
    inverse, joint = broadcast(1.0) / whole, old * ramp
    every = squares * broadcast(pairs * before * before) + own + joint + joint
    share = _last(inverse)
    scale = inverse if bias else whole / every
    return joint * inverse, scale, _last(whole), _last(every) * share * share


@kernel(forceinline=True)
def _about(values, first, mean, own_weight, aging, inverse_ramp):
    """Return values about `first`, the same weighted, the sums up to each lane, and the gap of the means."""
    values = values - broadcast(first)
    weighted = values * own_weight
    sums = scanned(weighted, aging)
    return values, weighted, sums, broadcast(mean - first) - sums * inverse_ramp


@kernel(forceinline=True)
def _moment(one, other, earlier_moment, aging, inverse_ramp, joint):
    """Return the moment up to each lane, times the weight: terms of the lanes, earlier rows, and both.

    `one` and `other` are series as :func:`_about` returns them.
    """
    _, weighted, sums, gap = one
    own = scanned(weighted * other[0], aging) - sums * (other[2] * inverse_ramp)
    return own + aging[3] * broadcast(earlier_moment) + joint * (gap * other[3])


@kernel
def moments(xs, ys, factors, offsets, lanes, decay, adjust, ignore_na, bias, kind, least, out):
    """Write the statistic `kind` of each row; NaN below `least` observations.

    `ys` is None for one series. `lanes` is what :func:`vector_constants` or :func:`constants_with_tables`
    returns, or empty for rows by themselves; it must be empty with `factors`, and for decays below
    `LEAST_DECAY`. Return whether a value is missing and there are no tables; the results are then worthless.
    """
    alpha, timed = 1.0 - decay, len(factors) > 0
    one = inverse_ramp = joint = scale = broadcast(1.0)
    aging = inverse_ramp, inverse_ramp, inverse_ramp, inverse_ramp
    next_weight = next_pairs = 1.0
    if len(lanes):
        aging = aging_of(lanes)
    for segment in range(len(offsets) - 1):
        state, weight, age, count = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0, 1.0, 0
        scaled_for = -1.0, -1.0
        i, end = offsets[segment], offsets[segment + 1]
        mixed = i
        while i < end:
            before = weight * age if adjust else age / alpha
            by_vector = len(lanes) and count >= max(least, 1) and i + 8 <= end and before > SMALL
            if by_vector and (adjust or age == 1.0):
                x = load(xs, i)
                y = x if ys is None else load(ys, i)
                gaps = nan_lanes(x) if ys is None else nan_lanes(x) | nan_lanes(y)
                if gaps:
                    mixed = i + MIXED_ROWS
                mean_x, mean_y, xx, yy, xy, pairs = state
                first, first_y, own_weight = xs[i], xs[i] if ys is None else ys[i], one
                age = 1.0
                if i < mixed:
                    if len(lanes) == OF_GAPS:
                        return True
                    # Rows about a value outside the eight would lose digits: after a gap they can have 1e20
                    # times the weight of all earlier rows, and the variance is that of the small weight.
                    first, first_y, row = mean_x, mean_y, i + count_trailing_zeros(~gaps)
                    if row < i + 8:
                        first, first_y = xs[row], xs[row] if ys is None else ys[row]
                    own_weight, ramp, inverse_ramp, own, _ = gaps_at(lanes, gaps)
                    if ignore_na:
                        before *= lanes[OF_SETS + gaps]
                    elif not adjust:
                        age = lanes[OF_SETS + gaps]
                    joined = _scale(aging[3], load(lanes, 16), ramp, own, before, pairs, bias)
                    joint, scale, next_weight, next_pairs = joined
                    scaled_for = -1.0, -1.0
                    x, y = _without_missing(x, y, first, first_y)
                elif scaled_for != (before, pairs):
                    scaled_for, inverse_ramp = (before, pairs), load(lanes, 24)
                    own = load(lanes, 16), load(lanes, 8), load(lanes, 32)
                    joint, scale, next_weight, next_pairs = _scale(aging[3], *own, before, pairs, bias)
                earlier, share = before * lanes[7], 1.0 / next_weight
                shared = aging, inverse_ramp
                of_x = _about(x, first, mean_x, own_weight, *shared)
                xx_lanes = _moment(of_x, of_x, xx * before, *shared, joint)
                mean_x = first + (_last(of_x[2]) + earlier * (mean_x - first)) * share
                if ys is None:
                    result = negative_to_zero(xx_lanes * scale)
                else:
                    of_y = _about(y, first_y, mean_y, own_weight, *shared)
                    xy_lanes = _moment(of_x, of_y, xy * before, *shared, joint)
                    yy_lanes = _moment(of_y, of_y, yy * before, *shared, joint)
                    mean_y = first_y + (_last(of_y[2]) + earlier * (mean_y - first_y)) * share
                    yy, xy = _last(yy_lanes) * share, _last(xy_lanes) * share
                    result = xy_lanes * scale
                    if kind == CORRELATION:
                        result = xy_lanes / square_root(xx_lanes * yy_lanes)
                if kind == DEVIATION:
                    result = square_root(result)
                store(result, out, i)
                xx = _last(xx_lanes) * share
                weight = next_weight if adjust else 1.0
                state, i = (mean_x, mean_y, xx, yy, xy, next_pairs), i + 8
                continue
            x = xs[i]
            y = x if ys is None else ys[i]
            seen = x == x and y == y
            if seen or not ignore_na:
                age *= factors[i] if timed else decay
            if seen:
                weight, kept, new = shares(weight, age, alpha, adjust, timed)
                state, count, age = _with_row(state, kept, new, x, y), count + 1, 1.0
            out[i] = np.nan if count < least else result_of(state, kind, bias)
            i += 1
    return False
