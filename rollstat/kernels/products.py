"""Products over any monotone windows: no overflow on the way to a result that fits.

::

                 start        border        end
                 v            v             v
    x x x x x x [x x x x x x x|x x x x x x x]x x
                <--- suffix    prefix --->          product = suffix[start] * prefix

A floating product is kept as ``fraction * 2**(512 * scale)`` with a fraction of at most 2**256 either way
round 1, so that it overflows or vanishes only at the end. An integer product is kept as a magnitude, 0
where it has outgrown 64 bits, and a sign; zeros are left out and looked for by position, since a
product that has outgrown them is 0 all the same where the window has a zero.

State: fraction (or magnitude) and scale (or sign) of every suffix of the stretch before the border.
Invariant: every window that starts before the border ends at or behind it. Nothing is divided out, so
nothing stays of a value that left. Error: (m - 1) u for floats, ``u = 2**-53``, none for integers.
Cost: amortised O(1), worst case O(m) a row. Source: two stacks, as surveyed in section 3 of Tangwongsan,
Hirzel and Schneider, doi:10.1145/3093742.3093925.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["float_products", "integer_products"]

_LARGE = 2.0**256
_SMALL = 2.0**-256
_DOWN = 2.0**-512
_UP = 2.0**512
_NONE = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(2**64 - 1)
_HALF = np.uint64(2**63)


@kernel(references=False)
def _scaled(fraction, scale):
    """The same number with a fraction near 1; zero, infinity and NaN stay as they are."""
    size = abs(fraction)
    while _LARGE < size < np.inf:
        size *= _DOWN
        fraction *= _DOWN
        scale += 1
    while 0.0 < size < _SMALL:
        size *= _UP
        fraction *= _UP
        scale -= 1
    return fraction, scale


@kernel(references=False)
def _unscaled(fraction, scale):
    """The number itself, rounded once, or infinite or zero where no float is as large or small."""
    for _ in range(min(abs(scale), 4)):
        fraction = fraction * (_UP if scale > 0 else _DOWN)
    return fraction


@kernel(references=False)
def _times(fraction, scale, value):
    """Product of a scaled number and a value, scaled."""
    factor, more = _scaled(value, 0)
    return _scaled(fraction * factor, scale + more)


@kernel(references=False)
def float_products(values, start, end, suffix, scales, out):
    """Write the product of each window; NaN counts as nothing."""
    first = border = position = 0
    fraction = 1.0
    scale = 0
    for i in range(len(start)):
        if start[i] >= border:
            first = start[i]
            border = position = end[i]
            fraction = 1.0
            scale = 0
            for j in range(border - 1, first - 1, -1):
                if values[j] == values[j]:
                    fraction, scale = _times(fraction, scale, values[j])
                suffix[j - first] = fraction
                scales[j - first] = scale
            fraction = 1.0
            scale = 0
        for j in range(position, end[i]):
            if values[j] == values[j]:
                fraction, scale = _times(fraction, scale, values[j])
        position = end[i]
        if start[i] < border:
            k = start[i] - first
            out[i] = _unscaled(*_scaled(suffix[k] * fraction, scales[k] + scale))
        else:
            out[i] = 1.0


@kernel(references=False)
def _magnitude_times(magnitude, factor):
    """Product of two magnitudes, 0 where it outgrows 64 bits or one of them has."""
    if magnitude == _NONE or factor == _NONE or magnitude > _ALL // factor:
        return _NONE
    return magnitude * factor


@kernel(references=False)
def _absorb(magnitude, negative, value, unsigned):
    """Magnitude and sign after one more factor; zeros are left to the caller."""
    if value == _NONE:
        return magnitude, negative
    if unsigned or value < _HALF:
        return _magnitude_times(magnitude, value), negative
    return _magnitude_times(magnitude, _NONE - value), not negative


@kernel(references=False)
def integer_products(values, missing, unsigned, start, end, suffix, signs, out):
    """Write the product of each window; return the first row whose product does not fit, or -1.

    `values` and `out` are uint64 or, unless `unsigned`, int64 viewed as uint64; `missing` marks what is
    no observation, or is empty.
    """
    first = border = position = 0
    magnitude = _ONE
    negative = False
    zero = -1
    for i in range(len(start)):
        for j in range(max(position, start[i]), end[i]):
            if len(missing) == 0 or not missing[j]:
                if values[j] == _NONE:
                    zero = j
                magnitude, negative = _absorb(magnitude, negative, values[j], unsigned)
        position = end[i]
        if start[i] >= border:
            first = start[i]
            border = end[i]
            magnitude = _ONE
            negative = False
            for j in range(border - 1, first - 1, -1):
                if len(missing) == 0 or not missing[j]:
                    magnitude, negative = _absorb(magnitude, negative, values[j], unsigned)
                suffix[j - first] = magnitude
                signs[j - first] = negative
            magnitude = _ONE
            negative = False
        if zero >= start[i]:
            out[i] = _NONE
        elif start[i] >= border:
            out[i] = _ONE
        else:
            k = start[i] - first
            product = _magnitude_times(suffix[k], magnitude)
            below = signs[k] != negative
            if product == _NONE or (not unsigned and product > (_HALF if below else _HALF - _ONE)):
                return i
            out[i] = _NONE - product if below else product
    return -1
