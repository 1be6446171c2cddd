"""Integers of 64 bits as float64, and differences and halves of them, rounded once.

State: none. Cost: a few instructions a value. Invariant: no step overflows, because magnitudes are unsigned.
"""

import numpy as np
from numba import types

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded

__all__ = ["difference", "exceeds", "half_integer", "to_floats"]


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
