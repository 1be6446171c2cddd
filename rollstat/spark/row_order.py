"""Compare consecutive rows of Arrow arrays by Spark's rules.

When Spark groups rows, null equals null, NaN equals NaN and -0.0 equals 0.0. When it sorts them, nulls come
first (last if descending) and NaN is greater than every number. Arrow's own comparisons differ in all of
these.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["compare", "equal", "first_descent", "run_starts", "sort_keys"]


def _is_list(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _numbers(array: pa.Array) -> NDArray[Any]:
    """Return the values of a numeric array; nulls may become anything."""
    filled = array.fill_null(0) if array.null_count else array
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _as_integers(left: pa.Array, right: pa.Array) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return two arrays as integers of the same order if no copy is needed: almost all keys and orders."""
    kind = left.type
    if left.null_count or right.null_count or kind != right.type:
        return None
    if pa.types.is_date32(kind):
        return left.view(pa.int32()).to_numpy(), right.view(pa.int32()).to_numpy()
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return left.view(pa.int64()).to_numpy(), right.view(pa.int64()).to_numpy()
    return (left.to_numpy(), right.to_numpy()) if pa.types.is_signed_integer(kind) else None


def _nulls(array: pa.Array) -> NDArray[np.bool_]:
    if not array.null_count and not pa.types.is_null(array.type):
        return np.zeros(len(array), np.bool_)
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), np.bool_)


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
    return (2,) if value != value else (1, value)  # NaN is the largest number


def run_starts(columns: Sequence[pa.Array]) -> list[int]:
    """Return the rows at which runs of equal values start, then the number of rows."""
    rows = len(columns[0])
    same = np.ones(max(rows - 1, 0), np.bool_)
    for column in columns:
        same &= equal(column.slice(0, len(same)), column.slice(1))
    return [0, *(np.flatnonzero(~same) + 1).tolist(), rows]


def equal(left: pa.Array, right: pa.Array) -> NDArray[np.bool_]:
    """Return for each pair whether Spark groups both values under one key."""
    integers = _as_integers(left, right)
    if integers is not None:
        return np.asarray(integers[0] == integers[1], np.bool_)
    kind = left.type
    if pa.types.is_null(kind):
        return np.ones(len(left), np.bool_)
    null = _nulls(left)
    same_null = null == _nulls(right)
    if pa.types.is_struct(kind):
        fields = [equal(a, b) for a, b in zip(left.flatten(), right.flatten())]
        same = np.logical_and.reduce(fields) if fields else np.ones(len(left), np.bool_)
    elif pa.types.is_floating(kind):
        a, b = _numbers(left), _numbers(right)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    elif _is_list(kind):
        same = np.array([a == b for a, b in zip(sort_keys(left), sort_keys(right))], np.bool_)
    else:
        same = pc.equal(left, right).fill_null(False).to_numpy(zero_copy_only=False)
    return np.asarray(same_null & (null | same), np.bool_)


def compare(left: pa.Array, right: pa.Array) -> NDArray[np.int8]:
    """Return -1, 0 or 1 for each pair: less, equal or greater in Spark's ascending order."""
    integers = _as_integers(left, right)
    if integers is not None:
        a, b = integers
        return (a > b).view(np.int8) - (a < b).view(np.int8)
    kind = left.type
    null_left, null_right = _nulls(left), _nulls(right)
    by_null = null_right.astype(np.int8) - null_left.astype(np.int8)
    if pa.types.is_struct(kind):
        sign = np.zeros(len(left), np.int8)
        for a, b in zip(left.flatten(), right.flatten()):
            sign = np.where(sign == 0, compare(a, b), sign)
    elif pa.types.is_floating(kind):
        a, b = _numbers(left), _numbers(right)
        above = (a > b) | (np.isnan(a) & ~np.isnan(b))
        below = (a < b) | (np.isnan(b) & ~np.isnan(a))
        sign = above.astype(np.int8) - below.astype(np.int8)
    elif _is_list(kind):
        sign = np.array([(a > b) - (a < b) for a, b in zip(sort_keys(left), sort_keys(right))], np.int8)
    elif pa.types.is_null(kind):
        sign = np.zeros(len(left), np.int8)
    else:
        above = pc.greater(left, right).fill_null(False).to_numpy(zero_copy_only=False)
        below = pc.less(left, right).fill_null(False).to_numpy(zero_copy_only=False)
        sign = above.astype(np.int8) - below.astype(np.int8)
    return np.where(null_left | null_right, by_null, sign).astype(np.int8)


def first_descent(
    left: list[pa.Array], right: list[pa.Array], descending: list[bool], skip: NDArray[np.bool_]
) -> tuple[int, int]:
    """Return the first pair that is out of order and the first that ties in every column, each -1 if none.

    Parameters
    ----------
    left, right : list of pyarrow.Array
        Order columns of the earlier and of the later row of each pair.
    descending : list of bool
        Direction of each column.
    skip : ndarray of bool
        Pairs to ignore, because their rows have different keys.
    """
    undecided = ~skip
    for a, b, down in zip(left, right, descending):
        if not undecided.any():
            return -1, -1
        sign = compare(a, b)
        bad = undecided & (sign == (-1 if down else 1))
        if bad.any():
            return int(bad.argmax()), -1
        undecided &= sign == 0
    return -1, int(undecided.argmax()) if undecided.any() else -1
