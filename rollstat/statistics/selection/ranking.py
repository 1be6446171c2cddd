"""Sorted order and ranks of observations: the sort that the rank algorithms share.

A radix sort takes a few nanoseconds an element on every machine; NumPy sorts what it does not suit. All sorts
are stable, so ties are in row order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import NOTHING_MISSING, Point, read_only
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.radix_sort import (
    allocate_sort,
    bits_for,
    direction,
    keys_of_floats,
    number,
    number_tied,
    rows_of,
    sort_records,
    value_range,
)

_FLOAT64, _UINT64 = np.dtype(np.float64), np.dtype(np.uint64)
SIGN_BIT = np.uint64(1 << 63)


def measurable(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as float64, or uint64 in the same order: distances are exact or round as in NumPy."""
    if values.dtype == np.int64:
        return read_only(values.view(np.uint64) ^ SIGN_BIT)
    if values.dtype != np.uint64:
        values = values.astype(np.float64, copy=False)
    return read_only(values)


def unsigned_keys(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return keys in the order of numbers of at most 64 bits, or of times."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind != "f":
        signed = kind not in "ub"
        key: NDArray[np.uint64] = values.view(f"{'i' if signed else 'u'}{size}").astype(np.uint64)
        return key ^ SIGN_BIT if signed else key
    key, bits = np.empty(len(values), np.uint64), values.view(f"i{size}")
    keys_of_floats(bits, np.iinfo(bits.dtype).max, key)
    return key


def write_values(keys: NDArray[Any], result: NDArray[Any]) -> None:
    """Write the values with these unsigned keys, or these floats; a zero among the keys has no sign."""
    dtype = result.dtype
    if keys.dtype.kind == "f":
        result[...] = keys
        return
    flip = np.uint64(0 if dtype.kind in "ub" else 1 << 63)
    bits: NDArray[Any] = keys ^ flip
    if dtype.kind == "f":
        signed = bits.view(np.int64)
        bits = signed ^ ((signed >> 63) & np.iinfo(f"i{dtype.itemsize}").max)
    result[...] = bits.astype(f"{'u' if flip == 0 else 'i'}{dtype.itemsize}").view(dtype)


def write_point(point: Point, lower: NDArray[Any], upper: NDArray[Any], result: NDArray[Any]) -> None:
    """Write a point of every window from its order statistics; a point at one of them is `lower`."""
    if point.between:
        interpolate_constant(lower, upper, point.fraction, point.midpoint, result)
    else:
        result[...] = lower


def write_sorted(
    values: NDArray[Any], width: int, points: Sequence[Point], results: Sequence[NDArray[Any]]
) -> bool:
    """Write points of windows of `width` values if these only rise or only fall; return whether they do."""
    rising = direction(values)
    for point, result in zip(points, results if rising else ()):
        rank = point.rank if rising > 0 else width - 1 - point.rank
        following = rank + rising if point.between else rank
        rows = len(result)
        write_point(point, values[rank : rank + rows], values[following : following + rows], result)
    return rising != 0


def _radix_order(keys: NDArray[Any], missing: NDArray[np.bool_], observed: int) -> NDArray[np.int64] | None:
    """Return the rows in the order of float64 or unsigned keys; None where the radix sort does not suit."""
    scratch = allocate_sort(len(keys))
    keys.flags.writeable = False  # one compiled version, not two
    lowest, highest = map(keys.dtype.type, value_range(keys, missing))
    with np.errstate(over="ignore"):  # a range without a finite scale is rejected
        count = sort_records(keys, missing, lowest, highest, observed == len(keys), scratch)
    if count < 0:
        return None
    row = np.empty(count, np.int64)
    rows_of(scratch.records[:count], bits_for(len(keys)), row)
    return row


def order(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Return the rows of the observations in the order (value, row).

    Parameters
    ----------
    values : ndarray, shape (n,)
        Contiguous, of any dtype that NumPy can sort.
    missing : ndarray of bool, shape (n,), optional
        True where there is no observation; must cover every NaN.

    Returns
    -------
    ndarray of int64, shape (observations,)
    """
    absent = NOTHING_MISSING if missing is None else missing
    observed = len(values) - int(np.count_nonzero(absent))
    if observed == 0:
        return np.empty(0, np.int64)
    row = None
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size in (4, 8):
        row = _radix_order(values.astype(np.float64, copy=False).view(), absent, observed)
    if row is None and kind in "fiubmM" and size <= 8:
        row = _radix_order(unsigned_keys(values), absent, observed)
    if row is not None:
        return row
    if missing is None:
        return np.argsort(values, kind="stable")
    present = np.flatnonzero(~missing)
    return present[np.argsort(values[present], kind="stable")]


def ranks(
    values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the rank of every observation, ties by row, and the rows in rank order.

    Parameters
    ----------
    values, missing
        As in `order`.

    Returns
    -------
    rank : ndarray of int32 (int64 past 2**31 values), shape (n,)
        From 0; -1 where missing.
    row : ndarray of int64
        ``row[r]`` is the row of rank r.
    """
    row = order(values, missing)
    rank = _unranked(values, row)
    number(row, rank)
    return rank, row


def tied_ranks(
    values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the number of smaller observations for every observation, and the observations in order.

    Parameters
    ----------
    values, missing
        As in `order`.

    Returns
    -------
    rank : ndarray of int32 (int64 past 2**31 values), shape (n,)
        Equal values share the rank of the first of them; -1 where missing.
    ordered : ndarray of the dtype of the values
        ``ordered[r]`` is the value of rank r.
    """
    row = order(values, missing)
    rank = _unranked(values, row)
    ordered = values[row]
    begins_value = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins_value[1:])
    number_tied(row, begins_value, rank)
    return rank, ordered


def _unranked(values: NDArray[Any], row: NDArray[np.int64]) -> NDArray[Any]:
    """Return an array for ranks, filled with -1 where values are missing."""
    rank = np.empty(len(values), np.int32 if len(values) < 1 << 31 else np.int64)
    if len(row) < len(values):
        rank.fill(-1)
    return rank
