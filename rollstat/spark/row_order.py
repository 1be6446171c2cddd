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
    return np.equal(compare(left, right), 0)


def compare(left: pa.Array, right: pa.Array) -> NDArray[np.int8]:
    """Return -1, 0 or 1 for each pair: less, equal or greater in Spark's ascending order."""
    kind = left.type
    if pa.types.is_struct(kind):
        sign = np.zeros(len(left), np.int8)
        for a, b in zip(left.flatten(), right.flatten()):
            sign = np.where(sign == 0, compare(a, b), sign)
    elif _is_list(kind):
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
