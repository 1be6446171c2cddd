"""The smallest and the greatest magnitude of floating numbers.

::

    bits without the sign, in the order of magnitudes:    0 | 5e-324 ... 1.0 ... 1.8e308 | inf | NaN

State: none. Invariant: none. Cost: a few instructions per vector of values, without branches.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["magnitudes"]

_SIGN = np.uint64(1 << 63)
_INFINITE = np.uint64(0x7FF << 52)


@kernel
def magnitudes(bits):
    """Return the bits of the least magnitude above 0 and of the greatest finite one.

    `bits` are those of float64 values, as uint64. Without such a value the results are those of inf and 0.
    """
    one = np.uint64(1)
    least, greatest = _INFINITE - one, np.uint64(0)
    for i in range(len(bits)):
        size = bits[i] & ~_SIGN
        least = min(least, size - one)  # of 0 it is the greatest integer
        greatest = max(greatest, size if size < _INFINITE else np.uint64(0))
    return least + one, greatest
