"""Differences and halves of integers of 64 bits as float64, rounded once.

State: none. Cost: a few instructions. Invariant: no step overflows, because magnitudes are unsigned.
"""

import numpy as np
from numba import types

from rollstat._jit import kernel
from rollstat._lowering import overloaded

__all__ = ["difference", "half_integer"]


@kernel
def _difference(x, y):
    if x >= y:
        return np.float64(np.uint64(x) - np.uint64(y))
    return -np.float64(np.uint64(y) - np.uint64(x))


def difference(x, y):
    """Return ``x - y`` as a float, rounded once; both are floats, or integers of one dtype."""
    return x - y if isinstance(x, float) else float(int(x) - int(y))


@overloaded(difference)
def _difference_of(x, y):
    if isinstance(x, types.Float):
        return lambda x, y: x - y
    return lambda x, y: _difference(x, y)


@kernel
def half_integer(integer, odd):
    """Return ``integer + odd / 2`` rounded once; `integer` is uint64, `odd` is 0 or 1."""
    one = np.uint64(1)
    if integer >> np.uint64(62) == 0:
        return np.float64(integer << one | odd) * 0.5
    # The half is far below the last digit of the result: it only decides a tie, as bit 0 does.
    return np.float64(integer | odd)
