"""Exponentially weighted means and sums from the first row of each segment on.

::

    values   x0  x1  x2 | x3  NaN  x5          offsets 0, 3, 6: two segments
    factors   .   d   d |  .    d   d          weight of all earlier rows from one row to the next
    weight    1  1+d ...                       W <- W d + 1
    total    x0  x1 + x0 d ...                 S <- S d + x                    mean = S / W

    eight rows at once:   v <- v + d**1 shift(v, 1),  v + d**2 shift(v, 2),  v + d**4 shift(v, 4)
                          S = v + (d, d**2, ..., d**8) * S of the row before

    missing lanes   0 0 0 0 1 0 0 0         set 16 of 256, which has its own weights and their sums

As long as all observations equal the first one, so does the mean, exactly. A missing value adds nothing. With
`ignore_na` it does not age other rows either. Without `adjust` the first observation has the weight of all
rows before it: W is 1 / alpha in every row, and again after a gap. With `ignore_na` there are no gaps. Among
eight rows, other weights of the observations have the same effect; they depend only on which lanes are
missing, and are read from a table. With `factors`, one a row, every row is computed by itself.

State: S, W and the number of observations. Invariant: W and S belong to the row before i. Sums that leave the
range of float64 never come back, so the last sum shows whether any has left it. If one has, and with factors,
`means_by_row` takes means instead of sums. Cost: eight rows take about 20 instructions, a row by itself 5.
Source: the scan of Hillis and Steele (1986), doi:10.1145/7902.7903, for a recurrence of the first order.
"""

import math

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import (
    broadcast,
    broadcast_lane,
    first_lane,
    load,
    nan_lanes,
    replace_nan,
    shift_in_zeros,
    store,
    zeros_like,
)

LEAST_DECAY = 2.0**-40
DONE, LACKS_TABLES, OUT_OF_RANGE = range(3)
# Where the constants hold vectors for each set of missing lanes, and a number for each set: with `ignore_na`
# what the weight of earlier rows is multiplied by; without `adjust` the age after the last lane.
OF_GAPS = 40
OF_SETS = OF_GAPS + 40 * 256
SMALL = 2.0**-100
# Rows from a missing one on in which others are expected: whether eight rows have one cannot be predicted.
MIXED_ROWS = 64


@kernel(forceinline=True)
def shares(weight, age, alpha, adjust, timed):
    """Return the weight with one more observation, and the shares of all earlier ones and of the new one.

    `weight` is the weight of the earlier observations before they age by `age`; 0 if there are none.
    """
    old = weight * age
    if old == 0.0:
        return 1.0, 0.0, 1.0
    if adjust:
        new = 1.0 / (old + 1.0)
        return old + 1.0, old * new, new
    new = 1.0 - old if timed else alpha / (old + alpha)
    return 1.0, old if timed else old / (old + alpha), new


@kernel
def means_by_row(values, factors, offsets, decay, adjust, ignore_na, summed, least, out):
    """Write the mean of each row, or the sum if `summed`; NaN below `least` observations.

    Without `factors`, each row ages the earlier ones by `decay`.
    """
    alpha, timed = 1.0 - decay, len(factors) > 0
    for segment in range(len(offsets) - 1):
        mean, weight, age, count = 0.0, 0.0, 1.0, 0
        for i in range(offsets[segment], offsets[segment + 1]):
            x = values[i]
            if x == x or not ignore_na:
                age *= factors[i] if timed else decay
            if x == x:
                weight, kept, new = shares(weight, age, alpha, adjust, timed)
                mean = x if kept == 0.0 or mean == x else kept * mean + new * x
                count, age = count + 1, 1.0
            out[i] = np.nan if count < least else mean * (weight * age) if summed else mean


@kernel(forceinline=True)
def aging_of(lanes):
    """Return what `scanned` needs; the last vector is the weight of all earlier rows in each lane."""
    return broadcast(lanes[0]), broadcast(lanes[1]), broadcast(lanes[3]), load(lanes, 0)


@kernel(forceinline=True)
def gaps_at(lanes, gaps):
    """Return what eight rows need if the lanes in `gaps` are missing: five vectors.

    The weight of each lane, the sum of the weights up to each, its inverse, the sum of the products of every
    two weights, and a factor of all weights, which sums must be multiplied by.
    """
    row = OF_GAPS + 40 * gaps
    return (
        load(lanes, row),
        load(lanes, row + 8),
        load(lanes, row + 16),
        load(lanes, row + 24),
        load(lanes, row + 32),
    )


@kernel(forceinline=True)
def scanned(v, aging):
    """Return for each lane the decayed sum of the lanes up to it."""
    v = v + aging[0] * shift_in_zeros(v, 1)
    v = v + aging[1] * shift_in_zeros(v, 2)
    return v + aging[2] * shift_in_zeros(v, 4)


@kernel
def means_by_vector(values, offsets, lanes, alpha, adjust, ignore_na, summed, least, out):
    """As :func:`means_by_row` without factors; return `DONE`, or why the results are worthless.

    `LACKS_TABLES`: a value is missing, and `lanes` has no tables for that. `OUT_OF_RANGE`: a sum may have
    left the range of float64.

    `lanes` is what `vector_constants` or `constants_with_tables` of
    :mod:`rollstat.kernels.exponential.moments` returns. The decay is at least `LEAST_DECAY`.
    """
    decay, aging, ramp, one = lanes[0], aging_of(lanes), load(lanes, 8), broadcast(1.0)
    finite = True
    for segment in range(len(offsets) - 1):
        i, end = offsets[segment], offsets[segment + 1]
        while i < end and values[i] != values[i]:
            out[i] = np.nan
            i += 1
        if i == end:
            continue
        # Nothing is subtracted from the values: the rounding of a large one would outlast its weight.
        equal, differs = values[i], i
        while differs < end and (values[differs] == equal or values[differs] != values[differs]):
            differs += 1
        total, weight, count, age, mixed = 0.0, 0.0, 0, 1.0, i
        scale, inverse, scaled = one, one, -1.0
        while i < end:
            if i >= differs and count >= least and i + 8 <= end and weight > SMALL and age == 1.0:
                v = load(values, i)
                gaps = nan_lanes(v)
                if gaps:
                    mixed = i + MIXED_ROWS
                if i < mixed:
                    if len(lanes) == OF_GAPS:
                        return LACKS_TABLES
                    weights, own, _, _, common = gaps_at(lanes, gaps)
                    v = replace_nan(v, zeros_like(v)) * weights
                    if ignore_na:
                        total, weight = total * lanes[OF_SETS + gaps], weight * lanes[OF_SETS + gaps]
                    scale, scaled = own + aging[3] * broadcast(weight), -1.0
                    inverse = common if summed else one / scale
                elif scaled != weight:
                    scale, scaled = ramp + aging[3] * broadcast(weight), weight
                    inverse = one if summed else one / scale
                v = scanned(v, aging) + aging[3] * broadcast(total)
                store(v * inverse, out, i)
                total, weight = first_lane(broadcast_lane(v, -1)), first_lane(broadcast_lane(scale, -1))
                if scaled < 0.0 and not (adjust or ignore_na):
                    age = lanes[OF_SETS + gaps]
                    total, weight = total * (age / (alpha * weight)), age / alpha
                i += 8
                continue
            x = values[i]
            if x == x:
                if age != 1.0:
                    total, weight, age = total * decay + x, weight * decay + 1.0, 1.0
                    total, weight = total / weight / alpha, 1.0 / alpha
                elif count == 0:
                    weight = 1.0 if adjust else 1.0 / alpha
                    total = x * weight
                else:
                    total, weight = total * decay + x, weight * decay + 1.0
                count += 1
            elif not ignore_na:
                total, weight, age = total * decay, weight * decay, 1.0 if adjust else age * decay
            if x == x or summed:
                mean = equal if i < differs else total / weight
                out[i] = np.nan if count < least else total if summed else mean
            else:  # the weight may be too small to divide by
                out[i] = out[i - 1]
            i += 1
        finite = finite and math.isfinite(total)
    return DONE if finite else OUT_OF_RANGE
