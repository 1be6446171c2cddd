"""Integers of 64 bits as float64, differences and halves of them, and magnitudes of floating numbers.

::

    bits without the sign, in the order of magnitudes:    0 | 5e-324 ... 1.0 ... 1.8e308 | inf | NaN

State: none. Invariant: no step on integers overflows, because magnitudes are unsigned, and every result is
rounded once. For :func:`magnitudes`, a window of at most `longest` values lies in two neighbouring blocks of
`longest` values, so the sums of two blocks bound the sums of every window. Cost: a few instructions a value,
or a vector of values, without branches.
"""

import numpy as np
from numba import types

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import count_leading_zeros, overloaded

_SIGN = np.uint64(1 << 63)
_INFINITE = np.uint64(0x7FF << 52)
_DIGITS = np.uint64(52)
_BIAS = 1023
_LEAST_EXPONENT = 63 - 1074
# Shorter blocks would not be computed as vectors.
_LEAST_BLOCK = 64


@kernel
def _difference(x, y):
    if x >= y:
        return np.float64(np.uint64(x) - np.uint64(y))
    return -np.float64(np.uint64(y) - np.uint64(x))


def difference(x, y):
    """Return ``x - y`` as a float, rounded once; both are floats, or integers of one dtype."""
    integral = isinstance(x, (int, np.integer)) and isinstance(y, (int, np.integer))
    return float(int(x) - int(y)) if integral else float(x - y)


@overloaded(difference)
def _difference_of(x, y):
    if isinstance(x, types.Float):
        return lambda x, y: x - y
    return lambda x, y: _difference(x, y)


@kernel
def exceeds(bits, below, above):
    """Return whether an integer, given as its uint64 `bits`, lies outside ``-below..above``."""
    first, span = np.uint64(below), np.uint64(below) + np.uint64(above)
    found = False
    for i in range(len(bits)):
        found |= bits[i] + first > span
    return found


@kernel
def to_floats(bits, below, above, floats):
    """Write integers as floats, signed if `below` is not 0, and return whether one is out of range."""
    for i in range(len(floats)):
        floats[i] = np.int64(bits[i]) if below > 0 else bits[i]
    return exceeds(bits, below, above)


@kernel
def half_integer(integer, odd):
    """Return ``integer + odd / 2`` rounded once; `integer` is uint64, `odd` is 0 or 1."""
    one = np.uint64(1)
    if integer >> np.uint64(62) == 0:
        return np.float64(integer << one | odd) * 0.5
    # The half is far below the last digit of the result: it only decides a tie, as bit 0 does.
    return np.float64(integer | odd)


@kernel
def magnitudes(bits, longest):
    """Return exponents of values, bounds of exponents of products, and whether all values are finite.

    `bits` are the bits of float64 values, as uint64. The first two results are exponents of 2: the exponent
    of the least magnitude above 0, rounded down, and one above the exponent of the greatest finite magnitude;
    without such a value they are 0. If the next two are `down` and `up`, and at most 1022, all products of
    values other than 0 in a window of at most `longest` values lie between ``2**-down`` and ``2**up``.
    """
    one = np.uint64(1)
    least, greatest, finite = _INFINITE - one, np.uint64(0), True
    down, up, down_before, up_before = 0, 0, 0, 0
    block = max(longest, _LEAST_BLOCK)
    for first in range(0, len(bits), block):
        below, above = 0, 0
        for i in range(first, min(first + block, len(bits))):
            size = bits[i] & ~_SIGN
            least = min(least, size - one)  # 0 gives the greatest integer
            greatest = max(greatest, size if size < _INFINITE else np.uint64(0))
            finite &= size < _INFINITE
            exponent = np.int64(size >> _DIGITS) - _BIAS  # less than -1022 if subnormal
            below += max(-exponent, 0) if size > 0 else 0
            above += max(exponent + 1, 0)
        down, up = max(down, down_before + below), max(up, up_before + above)
        down_before, up_before = below, above
    below = _exponent(least + one) if least + one < _INFINITE else 0
    above = _exponent(greatest) + 1 if greatest > 0 else 0
    return below, above, down, up, finite


@kernel
def _exponent(size):
    """Return the exponent of a magnitude above 0 and below inf, given as bits."""
    subnormal = size >> _DIGITS == 0
    return _LEAST_EXPONENT - count_leading_zeros(size) if subnormal else np.int64(size >> _DIGITS) - _BIAS
