"""The order of observations, by a stable sort.

A radix sort takes a few nanoseconds an element on every machine; NumPy sorts what it does not suit. Ties are
in row order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import NOTHING_MISSING
from rollstat.kernels.selection.radix_sort import (
    allocate_sort,
    bits_for,
    keys_of_floats,
    rows_of,
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
