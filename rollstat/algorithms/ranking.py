"""Order and ranks of a stretch of observations: the sort that the rank algorithms share.

Numbers are sorted by a radix sort of unsigned keys, which costs a few nanoseconds an element whether
NumPy's vector sort is there or not; what cannot be so keyed is sorted by NumPy. All sorts are stable,
so ties are in row order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.radix_sort import DIGITS, RADIX, pack, radix_sort, settle
from rollstat.kernels.rank_numbers import number, number_dense, number_tied, rows_of
from rollstat.kernels.sort_keys import key_range, keys_of_floats, keys_of_integers

__all__ = ["keys", "nothing_missing", "order", "ranks", "tied_ranks"]

nothing_missing = np.empty(0, np.bool_)


def keys(values: NDArray[Any]) -> NDArray[np.uint64] | None:
    """Unsigned keys in the order of the values, or None where the dtype has none."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "fiubmM" or size > 8:
        return None
    key = np.empty(len(values), np.uint64)
    if kind == "f":
        bits = values.view(f"i{size}")
        keys_of_floats(bits, np.iinfo(bits.dtype).max, key)
    elif kind in "ub":
        keys_of_integers(values.view(f"u{size}"), np.uint64(0), key)
    else:
        keys_of_integers(values.view(f"i{size}"), np.uint64(1 << 63), key)
    return key


def _sorted_words(
    key: NDArray[np.uint64], missing: NDArray[np.bool_], lowest: np.uint64, highest: np.uint64
) -> tuple[NDArray[np.uint64] | None, int]:
    """Words of the observations between two keys in the order (key, row), and the bits of a row.

    The words are None where the radix sort gave up.
    """
    row_bits = max(1, (len(key) - 1).bit_length())
    spread = int(highest - lowest).bit_length()
    words = np.empty(len(key) + 1, np.uint64)
    count = pack(key, missing, lowest, highest, min(64 - spread, 63), row_bits, words)
    words = words[:count]
    radix_sort(words, np.empty_like(words), np.empty((DIGITS, RADIX), np.int64))
    settled = settle(words, key, row_bits, spread + row_bits <= 64, 8 * count)
    return (words if settled else None), row_bits


def order(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Rows of the observations in the order (value, row).

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
    absent = nothing_missing if missing is None else missing
    key = keys(values)
    if key is not None:
        lowest, highest = map(np.uint64, key_range(key, absent))
        if lowest > highest:
            return np.empty(0, np.int64)
        words, row_bits = _sorted_words(key, absent, lowest, highest)
        if words is not None:
            rows = np.empty(len(words), np.int64)
            rows_of(words, row_bits, rows)
            return rows
    if missing is None:
        return np.argsort(values, kind="stable")
    present = np.flatnonzero(~missing)
    return present[np.argsort(values[present], kind="stable")]


def ranks(
    values: NDArray[Any], missing: NDArray[np.bool_] | None = None, dense: bool = False
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Rank of every observation, and the rows in rank order.

    Parameters
    ----------
    values, missing
        As in `order`.
    dense : bool
        Equal values share a rank; otherwise ties are ranked by row and all ranks differ.

    Returns
    -------
    rank : ndarray of int32 (int64 past 2**31 values), shape (n,)
        From 0; -1 where missing.
    row : ndarray of int64
        ``row[r]`` is the (first) row of rank r; its length is the number of ranks.
    """
    row = order(values, missing)
    rank = _unranked(values, row)
    if not dense:
        number(row, rank)
        return rank, row
    first = _begins(values[row])
    number_dense(row, first, rank)
    return rank, row[first]


def tied_ranks(
    values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Number of smaller observations for every observation, and the observations in order.

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
    number_tied(row, _begins(ordered), rank)
    return rank, ordered


def _unranked(values: NDArray[Any], row: NDArray[np.int64]) -> NDArray[Any]:
    """Room for ranks, -1 where a value is missing."""
    rank = np.empty(len(values), np.int32 if len(values) < 1 << 31 else np.int64)
    if len(row) < len(values):
        rank.fill(-1)
    return rank


def _begins(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a new value begins among ordered ones."""
    first = np.empty(len(ordered), np.bool_)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
