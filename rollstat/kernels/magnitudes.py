"""Magnitudes of floating numbers, and sums of their exponents in windows.

::

    bits without the sign, in the order of magnitudes:    0 | 5e-324 ... 1.0 ... 1.8e308 | inf | NaN

State: none. Invariant: a window of at most `longest` values lies in two neighbouring blocks of as many, so
the sums of two blocks bound those of every window. Cost: a few instructions per vector of values, without
branches.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["magnitudes"]

_SIGN = np.uint64(1 << 63)
_INFINITE = np.uint64(0x7FF << 52)
_DIGITS = np.uint64(52)
_BIAS = 1023
# Shorter blocks would not be computed as vectors.
_LEAST_BLOCK = 64


@kernel
def magnitudes(bits, longest):
    """Return the extreme magnitudes, bounds of the exponents of products, and whether all values are finite.

    `bits` are those of float64 values, as uint64. The first two results are the bits of the least magnitude
    above 0 and of the greatest finite one; without such a value they are those of inf and 0. If the next two
    are `down` and `up`, and at most 1022, all products of values other than 0 in a window of at most
    `longest` values lie between ``2**-down`` and ``2**up``.
    """
    one = np.uint64(1)
    least, greatest, finite = _INFINITE - one, np.uint64(0), True
    down, up, down_before, up_before = 0, 0, 0, 0
    block = max(longest, _LEAST_BLOCK)
    for first in range(0, len(bits), block):
        below, above = 0, 0
        for i in range(first, min(first + block, len(bits))):
            size = bits[i] & ~_SIGN
            least = min(least, size - one)  # of 0 it is the greatest integer
            greatest = max(greatest, size if size < _INFINITE else np.uint64(0))
            finite &= size < _INFINITE
            exponent = np.int64(size >> _DIGITS) - _BIAS  # less than -1022 if subnormal
            below += max(-exponent, 0) if size > 0 else 0
            above += max(exponent + 1, 0)
        down, up = max(down, down_before + below), max(up, up_before + above)
        down_before, up_before = below, above
    return least + one, greatest, down, up, finite
