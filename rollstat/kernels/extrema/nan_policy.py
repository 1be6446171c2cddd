"""Constants for NaN in kernels of extrema: what is known of it, what it does to a window, what was found.

They are typed, since Numba would compile a kernel once more for a literal.
"""

from typing import NamedTuple

import numpy as np

__all__ = [
    "ALL",
    "ANY",
    "HAS_NAN",
    "HAS_SENTINEL",
    "MAY_HAVE_NAN",
    "NO",
    "NO_NAN",
    "ONE",
    "SKIP",
    "UNCHECKED",
    "YES",
    "Nan",
]

# What is known of the values: no NaN; perhaps NaN, so each is replaced; nothing, so NaN is searched for.
NO_NAN, MAY_HAVE_NAN, UNCHECKED = map(np.int64, range(3))
# Which windows give NaN: none, the caller counts observations; those with any NaN; those with nothing else.
SKIP, ANY, ALL = map(np.int64, range(3))
# What was found, as bits: a NaN; a value equal to the sentinel that replaces NaN.
HAS_NAN, HAS_SENTINEL = 1, 2
ONE, NO, YES = np.int64(1), np.bool_(False), np.bool_(True)


class Nan(NamedTuple):
    """How a kernel treats NaN."""

    mode: int
    """`NO_NAN`, `MAY_HAVE_NAN` or `UNCHECKED`."""
    sentinel: float
    """Replaces NaN."""
    decode: bool
    """Whether a result that equals the sentinel is written as NaN."""
