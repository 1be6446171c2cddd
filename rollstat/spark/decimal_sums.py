"""Exact sums and means of decimals, in the types and with the rounding of Spark's own `sum` and `avg`.

A decimal is an integer in units of its last digit. Its sum may need more than 64 bits, so it is kept in two
parts that are summed exactly, each in 64 bits::

    value   |     upper, signed     |  lower, 32 bits  |       value = upper * 2**32 + lower
    sum     |     upper             |  lower < 2**32   |       after the carry of `lower` went to `upper`

A mean divides digit by digit in base 2**32 and adds four decimal digits, as Spark does; a half rounds away
from zero. Results are 128-bit integers, as Arrow stores them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import types as T

from rollstat.functions import rolling_count, rolling_sum
from rollstat.spark.arrow_columns import WIDE, Kind, MaskedColumn

__all__ = ["DECIMAL_SUMS", "decimal_result_type", "finish", "rolling_decimals", "split"]

DECIMAL_SUMS = ("mean", "sum")
_BITS, _LOWER = 32, 2**32 - 1
_NEW_DIGITS = 4  # that a mean has after those of the column
_NEW_SUM_DIGITS = 10
_MAX_ROWS = 2**31  # of a mean: a remainder times 2**32 fits in 64 bits


def decimal_result_type(statistic: str, kind: Kind) -> T.DataType:
    """Return the type that Spark gives to the sum or the mean of a column."""
    precision, scale = kind.spark.precision, kind.spark.scale
    if statistic == "sum":
        return T.DecimalType(precision + _NEW_SUM_DIGITS, scale)
    return T.DecimalType(precision + _NEW_DIGITS, scale + _NEW_DIGITS)


def split(column: MaskedColumn) -> tuple[MaskedColumn, MaskedColumn]:
    """Return the upper and the lower part of each value."""
    data, mask = np.ma.getdata(column), np.ma.getmaskarray(column)
    return np.ma.MaskedArray(data >> _BITS, mask), np.ma.MaskedArray(data & _LOWER, mask)


def rolling_decimals(
    statistic: str, column: MaskedColumn, window: Any, options: Mapping[str, Any]
) -> MaskedColumn:
    """Return the sum or the mean of each window, as 128-bit integers."""
    upper, lower = (rolling_sum(part, window, **options) for part in split(column))
    count = np.ones(1, np.int64)
    if statistic == "mean":
        counting = {**options, "min_periods": 0, "nan_policy": "omit", "algorithm": "auto"}
        count = np.asarray(np.ma.getdata(rolling_count(column, window, **counting)), np.int64)
    mask = np.ma.getmaskarray(upper)
    if statistic == "mean":
        mask = mask | (count == 0)
    parts = np.ma.getdata(upper), np.ma.getdata(lower)
    return np.ma.MaskedArray(finish(statistic, *parts, np.maximum(count, 1)), mask)


def finish(
    statistic: str, upper: NDArray[np.int64], lower: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[Any]:
    """Return sums, or means of `count` values, as 128-bit integers from the sums of both parts."""
    upper, lower = upper + (lower >> _BITS), lower & _LOWER
    if statistic == "mean":
        if len(count) and count.max() >= _MAX_ROWS:
            raise OverflowError(f"a mean of decimals takes at most {_MAX_ROWS - 1:,} values")
        upper, lower = _divided(upper, lower, count)
    result = np.empty((len(upper), 2), np.int64)
    result[:, 0] = (upper << _BITS) | lower
    result[:, 1] = upper >> _BITS
    return result.view(WIDE)[:, 0]


def _divided(
    upper: NDArray[np.int64], lower: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the quotients with four more decimal digits, a half rounded away from zero."""
    quotient, rest = np.divmod(upper, count)
    low, rest = np.divmod((rest << _BITS) | lower, count)
    digits, rest = np.divmod(rest * 10**_NEW_DIGITS, count)
    low = low * 10**_NEW_DIGITS + digits
    # The quotient was rounded down, so a negative half is away from zero already.
    low += (2 * rest > count) | ((2 * rest == count) & (upper >= 0))
    upper = quotient * 10**_NEW_DIGITS + (low >> _BITS)
    return upper, low & _LOWER
