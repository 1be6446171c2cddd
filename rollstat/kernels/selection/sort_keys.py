"""Unsigned 64-bit keys in the order of the values.

::

    float   -inf ... -1.0 ... -0.0 = 0.0 ... 1.0 ... inf
    bits    sign and magnitude: negative numbers run backwards
    key     0 <---------------- 2**63 ----------------> 2**64 - 1

State: none. Invariant: ``key[i] < key[j]`` exactly when ``values[i] < values[j]``, and equal where
those are equal (both zeros have one key). The key of a NaN means nothing. Cost: O(n).

Source: the sign-magnitude reversal is folklore, see M. Herf, Radix tricks, 2001.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["keys_of_floats", "keys_of_integers"]

_SIGN = np.uint64(1 << 63)


@kernel
def keys_of_floats(bits, magnitude, key):
    """Keys of floats given as their bits in a signed integer type; `magnitude` is its largest value."""
    negative_zero = -magnitude - 1
    for i in range(len(bits)):
        word = np.int64(bits[i])
        word = np.int64(0) if word == negative_zero else word
        key[i] = np.uint64(word ^ ((word >> 63) & magnitude)) ^ _SIGN


@kernel
def keys_of_integers(values, flip, key):
    """Keys of integers; `flip` is 2**63 for signed types and 0 for unsigned ones."""
    for i in range(len(values)):
        key[i] = np.uint64(values[i]) ^ flip
