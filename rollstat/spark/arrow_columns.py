"""Convert columns between Spark, Arrow and NumPy without loss, and compare rows by Spark's rules.

A column becomes a masked array. Nulls and NaN are missing values, and integers, dates, timestamps and
decimals keep every digit. Integers are widened to 64 bits, so that workers compile each kernel once;
results that are elements of the column are narrowed again.

When Spark groups rows, null equals null, NaN equals NaN and -0.0 equals 0.0. When it sorts them, nulls come
first (last if descending) and NaN is greater than every number. Arrow's own comparisons differ in all of
these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as T

MaskedColumn: TypeAlias = np.ma.MaskedArray[Any, Any]

MAX_DIGITS = 38  # of a decimal
_LONG_DIGITS = 18  # digits of a decimal that always fit in 64 bits
_UNSCALED = pa.decimal128(MAX_DIGITS, 0)  # in units of the last digit

_SIMPLE: dict[type[T.DataType], tuple[str, pa.DataType]] = {
    T.ByteType: ("i1", pa.int8()),
    T.ShortType: ("i2", pa.int16()),
    T.IntegerType: ("i4", pa.int32()),
    T.LongType: ("i8", pa.int64()),
    T.FloatType: ("f4", pa.float32()),
    T.DoubleType: ("f8", pa.float64()),
    T.BooleanType: ("?", pa.bool_()),
    T.DateType: ("M8[D]", pa.date32()),
    T.TimestampType: ("M8[us]", pa.timestamp("us", "UTC")),
    T.TimestampNTZType: ("M8[us]", pa.timestamp("us")),
    T.DayTimeIntervalType: ("m8[us]", pa.duration("us")),
}
_RESULTS = {np.dtype(name): spark() for spark, (name, _) in _SIMPLE.items() if name[0] in "if?"}


@dataclass(frozen=True)
class Kind:
    """A Spark type and its NumPy dtype.

    Attributes
    ----------
    spark : pyspark.sql.types.DataType
        Type of the column.
    dtype : numpy.dtype
        Dtype of its values; decimals are numbers of units of their last digit, objects if 64 bits are too
        few, and strings are objects.
    infinite : bool
        Whether infinite values are values; they are missing otherwise.
    """

    spark: T.DataType
    dtype: np.dtype[Any]
    infinite: bool = True

    @property
    def scaled(self) -> bool:
        """Whether values are integers in another unit, so that results must be elements."""
        return isinstance(self.spark, T.DecimalType)

    @property
    def coded(self) -> bool:
        """Whether kernels do not take the values, but only integers in their order."""
        return self.dtype.kind == "O"

    @property
    def times_dtype(self) -> np.dtype[Any]:
        """Dtype of the column as times of windows by width."""
        return np.dtype("M8[us]") if self.dtype.kind == "M" else self.dtype


def kind_of(data_type: T.DataType, what: str, *, strings: bool = False) -> Kind:
    """Return the kind of a column of `data_type`; `what` names the column in messages.

    Parameters
    ----------
    data_type, what
        Type and name of the column.
    strings : bool
        Whether the column may hold strings; only those that are compared by bytes are allowed.

    Raises
    ------
    TypeError
        If statistics do not take that type.
    """
    if isinstance(data_type, T.DecimalType):
        return Kind(data_type, np.dtype(np.int64 if data_type.precision <= _LONG_DIGITS else object))
    if strings and isinstance(data_type, T.StringType) and data_type.isUTF8BinaryCollation():
        return Kind(data_type, np.dtype(object))
    for spark, (dtype, _) in _SIMPLE.items():
        if isinstance(data_type, spark):
            return Kind(data_type, np.dtype(dtype))
    expected = "a string of the collation UTF8_BINARY, number" if strings else "a number"
    raise TypeError(
        f"{what} must be {expected}, boolean, date, timestamp or day-time interval; "
        f"got {data_type.simpleString()}"
    )


def to_masked(array: pa.Array, kind: Kind) -> MaskedColumn:
    """Return the values of an Arrow array in the dtype that kernels take, with nulls masked."""
    mask = np.asarray(array.is_null()) if array.null_count else np.zeros(len(array), np.bool_)
    if kind.scaled:
        array = array.view(_UNSCALED)
        array = array if kind.coded else array.cast(pa.int64())
    if kind.dtype.kind in "fib" and array.null_count:
        array = array.fill_null(False if kind.dtype.kind == "b" else 0)
    values = array.to_numpy(zero_copy_only=False)
    if kind.dtype.kind == "i":
        values = values.astype(np.int64, copy=False)
    if kind.dtype.kind == "f" and not kind.infinite:
        mask = mask | np.isinf(values)
    return np.ma.MaskedArray(values, mask)


def missing_rows(columns: Sequence[MaskedColumn]) -> NDArray[np.bool_]:
    """Return which rows miss a value in any column."""
    missing = [np.ma.getmaskarray(column) for column in columns]
    missing += [np.isnan(column.data) for column in columns if column.dtype.kind == "f"]
    missing += [np.isnat(column.data) for column in columns if column.dtype.kind in "Mm"]
    return np.asarray(np.logical_or.reduce(missing))


def result_type(dtype: np.dtype[Any], kind: Kind) -> T.DataType:
    """Return the Spark type of a result of `dtype` computed from a column of `kind`."""
    if kind.scaled or (dtype.kind == "M" and dtype.kind == kind.dtype.kind):
        return kind.spark
    if dtype.kind == "m":
        return kind.spark if isinstance(kind.spark, T.DayTimeIntervalType) else T.DayTimeIntervalType()
    if dtype.kind == "u":
        return T.LongType()
    return _RESULTS[dtype]


def arrow_type(data_type: T.DataType) -> pa.DataType:
    """Return the Arrow type that Spark takes for a type of results."""
    if isinstance(data_type, T.DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, T.StringType):
        return pa.string()
    return next(arrow for spark, (_, arrow) in _SIMPLE.items() if isinstance(data_type, spark))


def to_arrow(values: NDArray[Any], data_type: T.DataType) -> pa.Array:
    """Return results as an Arrow array of `data_type`; masked entries and NaT are nulls."""
    data = np.ma.getdata(values)
    mask = np.ma.getmaskarray(values)
    wanted = arrow_type(data_type)
    if data.dtype.kind == "O":
        of_objects = _UNSCALED if isinstance(data_type, T.DecimalType) else wanted
        return pa.array(data, of_objects, mask=mask).view(wanted)
    if data.dtype.kind in "mM":
        mask = mask | np.isnat(data)
        unit = "D" if isinstance(data_type, T.DateType) else "us"
        data = data.astype(f"{data.dtype.kind}8[{unit}]", copy=False)
    array = pa.array(np.ascontiguousarray(data), mask=mask)
    if isinstance(data_type, T.DecimalType):
        return array.cast(_UNSCALED).view(wanted)
    return array if array.type == wanted else array.cast(wanted)


def sort_keys(array: pa.Array) -> list[tuple[Any, ...]]:
    """Return a tuple for each value of any type; Python orders the tuples as Spark orders the values."""
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        array = array.view(pa.int64())  # Python has no times before the year 1 or after 9999
    return list(map(_sort_key, array.to_pylist()))


def _sort_key(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, list):
        return (1, *map(_sort_key, value))
    if isinstance(value, dict):
        return (1, *map(_sort_key, value.values()))
    if isinstance(value, float):
        return (2,) if value != value else (1, value + 0.0)  # NaN is the largest number; one zero
    return (1, value)


def changes(columns: Sequence[pa.Array]) -> NDArray[np.bool_]:
    """Return which rows but the first differ from the row before."""
    signs = [compare(column.slice(0, len(column) - 1), column.slice(1)) for column in columns]
    return np.asarray(np.logical_or.reduce(signs))


def run_starts(columns: Sequence[pa.Array]) -> list[int]:
    """Return the rows at which runs of equal values start, then the number of rows, which is at least 1."""
    return [0, *(np.flatnonzero(changes(columns)) + 1).tolist(), len(columns[0])]


def compare(left: pa.Array, right: pa.Array) -> NDArray[np.int8]:
    """Return -1, 0 or 1 for each pair: less, equal or greater in Spark's ascending order.

    Spark groups equal values under one key.
    """
    kind = left.type
    if pa.types.is_struct(kind):
        sign = np.zeros(len(left), np.int8)
        for a, b in zip(left.flatten(), right.flatten()):
            sign = np.where(sign == 0, compare(a, b), sign)
    elif pa.types.is_nested(kind):
        sign = np.array([(a > b) - (a < b) for a, b in zip(sort_keys(left), sort_keys(right))], np.int8)
    elif pa.types.is_null(kind):
        sign = np.zeros(len(left), np.int8)
    else:
        above, below = (np.asarray(test(left, right).fill_null(False)) for test in (pc.greater, pc.less))
        if pa.types.is_floating(kind):  # NaN is the largest number
            nan_left, nan_right = (np.asarray(pc.is_nan(a).fill_null(False)) for a in (left, right))
            above, below = above | (nan_left & ~nan_right), below | (nan_right & ~nan_left)
        sign = above.astype(np.int8) - below.astype(np.int8)
    null_left, null_right = np.asarray(left.is_null()), np.asarray(right.is_null())
    by_null = null_right.astype(np.int8) - null_left.astype(np.int8)
    return np.where(null_left | null_right, by_null, sign).astype(np.int8)


def first_descent(
    columns: Sequence[pa.Array], descending: Sequence[bool], skip: NDArray[np.bool_]
) -> tuple[int, int]:
    """Return the first row out of order and the first that ties with the one before it, each -1 if none.

    Parameters
    ----------
    columns : sequence of pyarrow.Array
        Order columns.
    descending : sequence of bool
        Direction of each column.
    skip : ndarray of bool
        Rows but the first to ignore, because the row before them has another key.
    """
    undecided = ~skip
    for column, down in zip(columns, descending):
        if not undecided.any():
            return -1, -1
        sign = compare(column.slice(0, len(skip)), column.slice(1))
        bad = undecided & (sign == (-1 if down else 1))
        if bad.any():
            return 1 + int(bad.argmax()), -1
        undecided &= sign == 0
    return -1, 1 + int(undecided.argmax()) if undecided.any() else -1
