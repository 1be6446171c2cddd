"""One call of a statistic over columns, including those that kernels do not take: decimals and strings.

Strings, and decimals of more than 64 bits, become integers in their order: first, last, mode and distinct
values, and for decimals all elements, are those of the integers.

Sums and means of decimals are exact, in the types and with the rounding of Spark's own `sum` and `avg`. A
decimal is an integer in units of its last digit, of up to 128 bits. It is cut into limbs of 32 bits, of
which the last has the sign. The sum of a limb fits in 64 bits, so it is exact; then carries move up::

    value   |  limb 3, signed   |  limb 2  |  limb 1  |  limb 0  |     two limbs for up to 18 digits
    sum     |  up to 64 bits    |           < 2**32 each         |     after the carries

A mean divides limb by limb and adds up to four decimal digits, as Spark does; a half rounds away from zero.
Results are 128-bit integers, as Arrow stores them.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as T

from rollstat.registry import REGISTRY, Statistic
from rollstat.spark.arrow_columns import MAX_DIGITS, WIDE, Kind, MaskedColumn

__all__ = ["DECIMAL_SUMS", "Call", "carried", "decimal_result_type", "evaluate", "evaluate_call"]
__all__ += ["limbs", "mean", "rolling_decimals", "total"]

DECIMAL_SUMS = ("mean", "sum")
_BITS, _LOWER = 32, 2**32 - 1
_NEW_DIGITS = 4  # that a mean has after those of the column
_NEW_SUM_DIGITS = 10
_MAX_ROWS = 2**31  # a mean takes fewer, so that a remainder times 2**32 fits in 64 bits

Limbs: TypeAlias = Sequence[NDArray[np.int64]]  # the lowest first


@dataclass(frozen=True)
class Call:
    """One call of a public function, and the new columns that it returns.

    Attributes
    ----------
    statistic : str
        Name in the registry, which workers look up for themselves.
    inputs : tuple of int
        Which input columns it takes.
    parameters : mapping
        Its own parameters.
    types : tuple of DataType
        Of its results, one for each new column.
    positions : bool
        Whether the results are rows of the series.
    scale : int
        Digits after the point of its column, if that holds decimals.
    """

    statistic: str
    inputs: tuple[int, ...]
    parameters: Mapping[str, Any]
    types: tuple[T.DataType, ...]
    positions: bool
    scale: int = 0


def evaluate(
    statistic: Statistic,
    inputs: Sequence[Any],
    window: Any,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
) -> list[NDArray[Any]]:
    """Call the public function and return one array for each of its results."""
    names = inspect.signature(statistic.function).parameters
    window_name = "m" if "m" in names else "window"
    given = dict(zip(names, inputs)) | {window_name: window} | dict(parameters)
    return _flattened(statistic.function(**given, **options))


def _flattened(result: Any) -> list[NDArray[Any]]:
    """Return the 1-D arrays of a result that may be a tuple of arrays of any dimension."""
    if isinstance(result, np.ndarray) and result.ndim == 1:
        return [result]
    return [row for part in result for row in _flattened(part)]


def evaluate_call(
    call: Call, columns: Sequence[MaskedColumn], window: Any, options: Mapping[str, Any]
) -> list[NDArray[Any]]:
    """Return one array for each result of a call, from the columns that it takes."""
    if call.statistic in DECIMAL_SUMS and call.types and isinstance(call.types[0], T.DecimalType):
        return [rolling_decimals(call.statistic, columns[0], window, options, call.scale, call.types[0])]
    statistic = REGISTRY[call.statistic]
    if columns[0].dtype == WIDE:
        codes, values = _encoded_decimals(columns[0])
    elif columns[0].dtype == np.dtype(object):
        codes, values = _encoded_strings(columns[0])
    else:
        return evaluate(statistic, columns, window, call.parameters, options)
    results = evaluate(statistic, [codes], window, call.parameters, options)
    if not isinstance(call.types[0], (T.StringType, T.DecimalType)):
        return results
    return [_decoded(result, values) for result in results]


def _encoded_decimals(column: MaskedColumn) -> tuple[MaskedColumn, NDArray[Any]]:
    """Return the place of each decimal among the sorted distinct ones, and these."""
    data = np.ascontiguousarray(np.ma.getdata(column))
    lower, upper = data.view(np.int64).reshape(-1, 2).T
    order = np.lexsort((lower.view(np.uint64), upper))
    ordered = data[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
    codes = np.empty(len(order), np.int64)
    codes[order] = np.cumsum(new) - 1
    return np.ma.MaskedArray(codes, np.ma.getmaskarray(column)), ordered[new]


def _encoded_strings(column: MaskedColumn) -> tuple[MaskedColumn, NDArray[Any]]:
    """Return the place of each string among the sorted distinct strings, and these."""
    mask = np.ma.getmaskarray(column)
    encoded = pa.array(np.ma.getdata(column), pa.string(), mask=mask).dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)  # by bytes, as Spark
    places = np.zeros(len(order) + 1, np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    codes = places[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    words = encoded.dictionary.take(order).to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(codes, mask), words


def _decoded(result: NDArray[Any], values: NDArray[Any]) -> MaskedColumn:
    """Return the values at places."""
    mask = np.ma.getmaskarray(result)
    found = np.empty(len(mask), values.dtype)
    found[~mask] = values[np.ma.getdata(result)[~mask]]
    return np.ma.MaskedArray(found, mask)


def decimal_result_type(statistic: str, kind: Kind) -> T.DataType:
    """Return the type that Spark gives to the sum or the mean of a column."""
    precision, scale = kind.spark.precision, kind.spark.scale
    if statistic == "sum":
        return T.DecimalType(min(precision + _NEW_SUM_DIGITS, MAX_DIGITS), scale)
    return T.DecimalType(min(precision + _NEW_DIGITS, MAX_DIGITS), min(scale + _NEW_DIGITS, MAX_DIGITS))


def limbs(column: MaskedColumn) -> list[MaskedColumn]:
    """Return the limbs of each value: two of a 64-bit integer, four of a 128-bit integer."""
    data, mask = np.ma.getdata(column), np.ma.getmaskarray(column)
    words = [data]
    if data.dtype == WIDE:
        words = list(np.ascontiguousarray(data).view(np.int64).reshape(-1, 2).T)
    parts = [part for word in words for part in (word & _LOWER, (word >> _BITS) & _LOWER)]
    parts[-1] = words[-1] >> _BITS
    return [np.ma.MaskedArray(part, mask) for part in parts]


def carried(parts: Limbs) -> list[NDArray[np.int64]]:
    """Return the same integers with all limbs but the last in ``0..2**32 - 1``."""
    result, carry = [], np.zeros_like(parts[0])
    for part in parts[:-1]:
        part = part + carry
        result.append(part & _LOWER)
        carry = part >> _BITS
    return [*result, parts[-1] + carry]


def rolling_decimals(
    statistic: str, column: MaskedColumn, window: Any, options: Mapping[str, Any], scale: int, of: T.DataType
) -> MaskedColumn:
    """Return the sum or the mean of each window, as 128-bit integers.

    Parameters
    ----------
    statistic, column, window, options
        What to compute.
    scale : int
        Digits after the point of the column.
    of : DecimalType
        Type of the result.
    """
    parts = limbs(column)
    sums = [REGISTRY["sum"].function(part, window, **options) for part in parts]
    data, mask = [np.ma.getdata(part) for part in sums], np.ma.getmaskarray(sums[0])
    if statistic == "sum":
        return total(data, mask, of)
    counting = {**options, "min_periods": 0, "nan_policy": "omit", "algorithm": "auto"}
    count = np.ma.getdata(REGISTRY["count"].function(parts[0], window, **counting))
    return mean(data, np.asarray(count, np.int64), mask, scale, of)


def total(sums: Limbs, mask: NDArray[np.bool_], of: T.DataType) -> MaskedColumn:
    """Return sums of limbs as 128-bit integers, unless a result that is not masked has too many digits."""
    negative, parts = _magnitudes(sums)
    return _joined(negative, parts, mask, of)


def mean(
    sums: Limbs, count: NDArray[np.int64], mask: NDArray[np.bool_], scale: int, of: T.DataType
) -> MaskedColumn:
    """Return means of `count` values as 128-bit integers, from the sums of limbs."""
    if len(count) and count.max() >= _MAX_ROWS:
        raise OverflowError(f"a mean of decimals takes at most {_MAX_ROWS - 1:,} values")
    mask, count = mask | (count == 0), np.maximum(count, 1)
    negative, parts = _magnitudes(sums)
    rest = np.zeros_like(count)
    quotient = []
    for part in reversed(parts):
        digit, rest = np.divmod((rest << _BITS) + part, count)
        quotient.append(digit)
    more = 10 ** (of.scale - scale)
    digits, rest = np.divmod(rest * more, count)
    parts = [part * more for part in reversed(quotient)]
    parts[0] += digits + (2 * rest >= count)
    return _joined(negative, carried(parts), mask, of)


def _magnitudes(sums: Limbs) -> tuple[NDArray[np.bool_], list[NDArray[np.int64]]]:
    """Return which integers are negative, and the limbs of their magnitudes."""
    parts = carried(sums)
    negative: NDArray[np.bool_] = parts[-1] < 0
    return negative, carried([np.where(negative, -part, part) for part in parts])


def _joined(
    negative: NDArray[np.bool_], parts: Limbs, mask: NDArray[np.bool_], of: T.DataType
) -> MaskedColumn:
    """Return magnitudes with their signs as 128-bit integers, if they have no more digits than `of`."""
    parts = carried([*parts, *[np.zeros_like(parts[0])] * (4 - len(parts))])
    lower = (parts[0] | (parts[1] << _BITS)).view(np.uint64)
    upper = parts[2] | (parts[3] << _BITS)
    most_upper, most_lower = divmod(10**of.precision - 1, 2**64)
    too_many = (parts[3] > _LOWER >> 1) | (upper > most_upper)
    too_many |= (upper == most_upper) & (lower > np.uint64(most_lower))
    if (too_many & ~mask).any():
        raise OverflowError(f"a result has more digits than {of.simpleString()}")
    halves = np.empty((len(lower), 2), np.int64)
    halves[:, 0] = np.where(negative, ~lower + np.uint64(1), lower).view(np.int64)
    halves[:, 1] = np.where(negative, ~upper + (lower == 0), upper)
    return np.ma.MaskedArray(halves.view(WIDE)[:, 0], mask)
