"""The flags that the processor sets when a floating number overflows or underflows, per thread.

A kernel runs between :func:`clear_flags` and :func:`range_left`. So it costs nothing to know that no sum left
the range of float64. Where the flags cannot be read, the answer is always that it may have.
"""

import ctypes
import ctypes.util
import os
from collections.abc import Callable
from functools import cache

from numba import config

__all__ = ["clear_flags", "have_flags", "range_left"]

_ALL = 0x3F
# The bits of overflow and underflow: x86, ARM, Windows.
_MASKS = (8 | 16, 4 | 8, 2 | 4)
_Flags = tuple[Callable[[int], int], Callable[[int], int], int]


@cache
def _flags() -> _Flags | None:
    """Return the functions that clear and test flags and the bits to test; None if none work."""
    if config.DISABLE_JIT:  # scalars of NumPy clear the flags
        return None
    try:
        library = ctypes.PyDLL("ucrtbase" if os.name == "nt" else ctypes.util.find_library("m"))
        clear, test = library.feclearexcept, library.fetestexcept
    except (OSError, AttributeError):
        return None
    for mask in _MASKS:
        found = []
        for factor in (1e300, 1e-300, 1.1):
            clear(_ALL)
            _ = factor * factor
            found.append(bool(test(mask)))
        if found == [True, True, False]:
            return clear, test, mask
    return None


def have_flags() -> bool:
    """Return whether flags can be read; otherwise a number may always have left the range."""
    return _flags() is not None


def clear_flags() -> None:
    """Clear the flags of this thread."""
    flags = _flags()
    if flags is not None:
        flags[0](_ALL)


def range_left() -> bool:
    """Return whether a number may have overflowed or underflowed since the flags were cleared."""
    flags = _flags()
    return flags is None or flags[1](flags[2]) != 0
