"""Numbers of any size as pairs ``(x, exponent)`` with the value ``x * 2**exponent``.

Exponents are multiples of 512, and x is 0, not finite, or ``2**-256 <= abs(x) < 2**256``. So products of two
such numbers, and sums of as many as a window holds, neither overflow nor underflow. Numbers of moderate size
have the exponent 0, and cost one comparison more than plain floats. Scaling by a power of two is exact.
"""

import math

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import dispatched, jitable

Scaled = tuple[float, int]

_LEAST, _LIMIT = 2.0**-256, 2.0**256
_STEP = 512
_UP, _DOWN = 2.0**_STEP, 2.0**-_STEP
# Exponents of 0, and of inf and NaN: below and above the exponents of all other numbers.
_LOWEST, _HIGHEST = -(1 << 40), 1 << 40
ZERO: Scaled = (0.0, _LOWEST)


@jitable
def split(x: float, exponent: int) -> Scaled:
    """Return ``x * 2**exponent`` as a pair."""
    if _LEAST <= abs(x) < _LIMIT:
        return x, exponent
    return _split_extreme(x, exponent)


def _split_extreme(x: float, exponent: int) -> Scaled:
    """As :func:`split`, for 0 and all other numbers that are not moderate."""
    if x == 0.0:
        return x, _LOWEST
    if not math.isfinite(x):
        return x, _HIGHEST
    while abs(x) < _LEAST:
        x, exponent = x * _UP, exponent - _STEP
    while abs(x) >= _LIMIT:
        x, exponent = x * _DOWN, exponent + _STEP
    return x, exponent


_compiled = kernel(noinline=True)(_split_extreme)
dispatched(_split_extreme)(lambda x, exponent: _compiled)


@jitable
def join(x: float, exponent: int) -> float:
    """Return ``x * 2**exponent``, rounded once; x may be any float."""
    if exponent == 0:
        return x
    x, exponent = split(x, exponent)
    if exponent > 2 * _STEP:
        return x * math.inf
    if exponent < -3 * _STEP:
        return x * 0.0
    while exponent > 0:
        x, exponent = x * _UP, exponent - _STEP
    while exponent < 0:
        x, exponent = x * _DOWN, exponent + _STEP
    return x


@jitable
def shift(exponents: int) -> float:
    """Return the power of two that scales a number before addition if its exponent is lower by `exponents`.

    A number two steps lower has no effect on the rounded sum.
    """
    return 1.0 if exponents == 0 else (_DOWN if exponents == _STEP else 0.0)


@jitable
def add_scaled(x: Scaled, y: Scaled) -> Scaled:
    """Return the sum, rounded once."""
    if x[1] == y[1]:
        return split(x[0] + y[0], x[1])
    exponent = max(x[1], y[1])
    return split(x[0] * shift(exponent - x[1]) + y[0] * shift(exponent - y[1]), exponent)


@jitable
def multiply_scaled(x: Scaled, y: Scaled) -> Scaled:
    """Return the product, rounded once."""
    return split(x[0] * y[0], x[1] + y[1])
