"""Whether sums of powers may leave the range of float64, from the magnitudes of the values.

The kernels of :mod:`rollstat.kernels.sums` report it for the windows that they compute, and such windows are
computed again at another scale. Operators are not scaled, so functions and streams warn before they run.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import operators
from rollstat.blocks import read_only
from rollstat.compile.bound_calls import BoundKernel
from rollstat.dtypes import warn_of_precision
from rollstat.kernels.numbers import magnitudes
from rollstat.kernels.sums.moment_formulas import degree_of

# Exponent to which fourth powers of differences, and sums of them, stay in the range of float64.
MODERATE = 200
# Exponents between which the documented bounds of operators hold.
_LEAST, _GREATEST = -970, 996
# Two different floats of one magnitude differ by at least 2**-53 of it.
_DIGITS = 53
_magnitudes = BoundKernel(magnitudes)


def _exponents(values: NDArray[Any], longest: int = 1) -> tuple[int, int, int, int, bool]:
    """Return the results of :func:`rollstat.kernels.numbers.magnitudes` for numbers."""
    known = values.dtype == np.float64 and values.flags.c_contiguous and not values.flags.writeable
    floats = values if known else read_only(np.ascontiguousarray(values, np.float64))
    found: tuple[int, int, int, int, bool] = _magnitudes(floats.view(np.uint64), longest)
    return found


def is_moderate(values: NDArray[Any]) -> bool:
    """Return whether powers of no difference of two values can leave the range of float64."""
    least, greatest, *_ = _exponents(values)
    return least >= _DIGITS - MODERATE and greatest <= MODERATE


def is_extreme(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values :func:`is_moderate` finds too large or too small."""
    sizes = np.abs(values)
    small = (sizes < 2.0 ** (_DIGITS - MODERATE)) & (sizes > 0.0)
    return np.asarray(small | ((sizes >= 2.0**MODERATE) & (sizes < np.inf)))


def combine_within_range(values: NDArray[Any], limits: tuple[float, float], longest: int) -> bool:
    """Return whether an operator without exponents combines values to finite numbers that do not underflow.

    All values must be finite, and the exponents of 2 of every value must be within the first limit, or those
    of the products of values in windows of up to `longest` rows within the second one.
    """
    least, greatest, down, up, finite = _exponents(values, longest)
    return finite and (max(-least, greatest) <= limits[0] or max(down, up) <= limits[1])


def power_of(operator: Any) -> int:
    """Return the greatest power of values that an operator of the package sums; 0 for others."""
    kind = type(operator)
    known = getattr(operators, kind.__name__, None) is kind  # a user may give an operator the same name
    return degree_of(operator) if known else 0


def may_leave_range(power: int, columns: Sequence[NDArray[Any]], rows: int) -> bool:
    """Return whether sums of a `power` over windows of up to `rows` rows may leave the range of float64."""
    if not power:
        return False
    spare = rows.bit_length()
    for column in columns:
        if column.dtype.kind != "f":
            continue
        least, greatest, *_ = _exponents(column)
        if power == 1:
            left = greatest + spare > np.finfo(np.float64).maxexp
        else:
            left = power * (greatest + 1) + spare > _GREATEST or power * (least - _DIGITS) < _LEAST
        if left:
            return True
    return False


def warn_of_range(operator: Any, columns: Sequence[NDArray[Any]], rows: int) -> None:
    """Warn if sums of an operator over windows of up to `rows` rows may leave the range of float64."""
    if may_leave_range(power_of(operator), columns, rows):
        name = type(operator).__name__
        warn_of_precision(
            f"sums of {name} may leave the range of float64; rolling_sum, rolling_var etc. scale them"
        )
