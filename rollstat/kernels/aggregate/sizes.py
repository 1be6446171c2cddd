"""A search for values whose sums and products may leave the range of float64.

::

    least = 2**-e, limit = 2**e        0 | 2**-e ... 2**e          moderate
                                       5e-324, 1e300, inf, NaN     not moderate

State, invariant: none. Cost: O(n), in vector code. Source: the definition.
"""

from rollstat._jit import kernel

__all__ = ["all_moderate"]

# Values in one pass of a loop without branches, which compiles to vector code.
_BLOCK = 4096


@kernel
def all_moderate(values, least, limit):
    """Return whether every value is 0, or its size is at least `least` and below `limit`."""
    for first in range(0, len(values), _BLOCK):
        others = 0
        for i in range(first, min(first + _BLOCK, len(values))):
            size = abs(values[i])
            others += not ((size == 0.0) | ((size >= least) & (size < limit)))
        if others:
            return False
    return True
