"""The flags that the processor sets when a floating number overflows or underflows, per thread.

A kernel runs between :func:`clear_flags` and :func:`range_left`. So it costs nothing to know that no sum left
the range of float64. Where the flags cannot be read, the answer is always that it may have.
"""

import ctypes
import ctypes.util
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from rollstat import operators
from rollstat.dtypes import warn_of_precision

__all__ = ["MODERATE", "clear_flags", "have_flags", "is_moderate", "is_sum", "range_left", "warn_of_range"]

# Exponent to which fourth powers of differences, and sums of them, stay in the range of float64.
MODERATE = 200
# Operators that are not scaled, and whose sums the documented error bounds are about.
_SUMS = (
    operators.Sum,
    operators.Mean,
    operators.Variance,
    operators.StandardDeviation,
    operators.StandardError,
    operators.Skewness,
    operators.Kurtosis,
    operators.Covariance,
    operators.Correlation,
    operators.Slope,
    operators.LinearFit,
)

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


def is_moderate(values: NDArray[Any]) -> bool:
    """Return whether powers of no difference of two values can leave the range of float64."""
    size = np.abs(values)
    size = size[(size > 0) & (size < np.inf)]
    return not len(size) or bool(size.max() < 2.0**MODERATE and size.min() > 2.0 ** (54 - MODERATE))


def is_sum(operator: Any) -> bool:
    """Return whether an operator adds numbers or their powers, which may leave the range of float64."""
    return isinstance(operator, _SUMS)


def warn_of_range(operator: Any, columns: Sequence[NDArray[Any]], left: bool) -> None:
    """Warn if the sums of an operator over these series left the range of float64.

    `left` is the answer of :func:`range_left`. It does not suffice: to compile a kernel can set flags.
    """
    if left and is_sum(operator) and not all(map(is_moderate, columns)):
        name = type(operator).__name__
        warn_of_precision(
            f"sums of {name} left the range of float64; rolling_sum, rolling_var etc. scale them"
        )
