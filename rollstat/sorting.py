"""The order of observations, by a stable sort.

Integers in a small range are counted. A radix sort takes a few nanoseconds an element on every machine; NumPy
sorts what it does not suit. Ties are in row order.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import NOTHING_MISSING, Kept, read_only
from rollstat.kernels.selection.radix_sort import (
    allocate_sort,
    bits_for,
    keys_of_floats,
    rows_of,
    sort_by_counts,
    sort_records,
    value_range,
)

SIGN_BIT = np.uint64(1 << 63)


def unsigned_keys(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return keys in the order of numbers of at most 64 bits, or of times."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind != "f":
        signed = kind not in "ub"
        key: NDArray[np.uint64] = values.view(f"{'i' if signed else 'u'}{size}").astype(np.uint64)
        if signed:
            key ^= SIGN_BIT
        return key
    key, bits = np.empty(len(values), np.uint64), values.view(f"i{size}")
    keys_of_floats(bits, np.iinfo(bits.dtype).max, key)
    return key


_memory = Kept()
_MOST_ROWS_KEPT = 1 << 16


def _radix_records(
    keys: NDArray[Any], missing: NDArray[np.bool_], observed: int
) -> NDArray[np.uint64] | None:
    """Return the sorted records of float64 or unsigned keys; None where the radix sort does not suit."""
    rows = len(keys)
    size = 1 << rows.bit_length() if rows < _MOST_ROWS_KEPT else rows  # of few small sizes
    scratch = _memory.get(size, partial(allocate_sort, size), rows < _MOST_ROWS_KEPT)
    keys.flags.writeable = False  # one compiled version, not two
    lowest, highest = map(keys.dtype.type, value_range(keys, missing))
    with np.errstate(over="ignore"):  # a range without a finite scale is rejected
        count = sort_records(keys, missing, lowest, highest, observed == rows, scratch)
    return None if count < 0 else scratch.records[:count]


def sorted_records(
    values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> tuple[NDArray[Any], NDArray[np.uint64]] | None:
    """Return keys in the order of at least one observation, and sorted records; None if no radix sort suits.

    The records have the layout of :mod:`rollstat.kernels.selection.radix_sort` and stay valid until the next
    call.
    """
    absent = NOTHING_MISSING if missing is None else missing
    observed = len(values) - int(np.count_nonzero(absent))
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size in (4, 8):
        keys: NDArray[Any] = values.astype(np.float64, copy=False).view()
        records = _radix_records(keys, absent, observed)
        if records is not None:
            return keys, records
    if kind in "fiubmM" and size <= 8:
        keys = unsigned_keys(values)
        records = _radix_records(keys, absent, observed)
        if records is not None:
            return keys, records
    return None


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
    if (missing is not None and missing.all()) or len(values) == 0:
        return np.empty(0, np.int64)
    if missing is None and values.dtype.kind in "iub":
        keys = unsigned_keys(values)
        keys -= keys.min()
        largest = int(keys.max())
        if largest <= max(len(values), 255):
            row = np.empty(len(values), np.int64)
            sort_by_counts(read_only(keys), np.zeros(largest + 2, np.int64), row)
            return row
    of_two_bytes = values.dtype.kind in "iu" and values.dtype.itemsize == 2  # NumPy sorts them by digits
    found = None if of_two_bytes and missing is None else sorted_records(values, missing)
    if found is not None:
        row = np.empty(len(found[1]), np.int64)
        rows_of(found[1], bits_for(len(values)), row)
        return row
    if missing is None:
        return np.argsort(values, kind="stable")
    present = np.flatnonzero(~missing)
    return present[np.argsort(values[present], kind="stable")]
