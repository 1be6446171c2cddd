"""Ranks of observations, and values from them, that the rank algorithms share; ties are in row order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Point, read_only
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.radix_sort import (
    bits_for,
    direction,
    number,
    number_records,
    number_tied,
    number_ties,
)
from rollstat.sorting import SIGN_BIT, order, sorted_records, unsigned_keys


def measurable(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as float64, or uint64 in the same order: distances are exact or round as in NumPy."""
    if values.dtype == np.int64:
        return read_only(values.view(np.uint64) ^ SIGN_BIT)
    if values.dtype != np.uint64:
        values = values.astype(np.float64, copy=False)
    return read_only(values)


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
    rank = _unranked(values, missing)
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
    rank = _unranked(values, missing)
    ordered = values[row]
    number_tied(row, _first_of_ties(ordered), rank)
    return rank, ordered


def rank_ranges(
    values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the rank of every observation, ties by row, and the ranks of the first and last equal one.

    All are -1 where values are missing.
    """
    rank = _unranked(values, missing)
    if (missing is not None and missing.all()) or len(values) == 0:
        return rank, rank, rank
    keys, records = sorted_records(values, missing) or _compared_records(values, missing)
    if not number_records(records, bits_for(len(values)), keys, rank):
        return rank, rank, rank
    first, last = rank.copy(), rank.copy()
    number_ties(records, bits_for(len(values)), keys, first, last)
    return rank, first, last


def _compared_records(
    values: NDArray[Any], missing: NDArray[np.bool_] | None
) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """Return what :func:`sorted_records` does, in the order that comparisons find."""
    keys = unsigned_keys(values)
    keys.flags.writeable = False
    return keys, order(values, missing).view(np.uint64)


def _first_of_ties(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a new value begins."""
    begins_value = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins_value[1:])
    return begins_value


def _unranked(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Return an array for ranks, filled with -1 if values are missing."""
    rank = np.empty(len(values), np.int32 if len(values) < 1 << 31 else np.int64)
    if missing is not None:
        rank.fill(-1)
    return rank
