"""Strings as codes in their order, for statistics of equal values, and codes as strings.

::

    "b"  "a"  None  "b"   -->   1  0  NaN  1   with the labels  "a"  "b"
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_codes(arr: ArrayLike) -> tuple[NDArray[np.float64], list[str]] | None:
    """Return the code of each string and the labels; None for other arrays.

    The code of None, NaN and masked entries is NaN. Objects that are not strings raise TypeError.
    """
    array = np.asarray(np.ma.getdata(arr))
    if array.dtype.kind not in "USTO" or not array.ndim:
        return None
    missing = (
        np.ma.getmaskarray(arr).ravel() if isinstance(arr, np.ma.MaskedArray) else np.zeros(array.size, bool)
    )
    elements = array.ravel().tolist()
    absent = [gone or x is None or x != x for gone, x in zip(missing, elements)]
    labels = {x for x, gone in zip(elements, absent) if not gone}
    if not all(isinstance(label, (str, bytes)) for label in labels) or len(set(map(type, labels))) > 1:
        raise TypeError(f"arr must hold numbers, times or strings; got {array.dtype}")
    order = {label: code for code, label in enumerate(sorted(labels))}
    codes = [np.nan if gone else order[x] for x, gone in zip(elements, absent)]
    return np.array(codes, np.float64).reshape(array.shape), list(order)


def labels_of(codes: NDArray[np.float64], labels: list[str], fill_value: Any) -> NDArray[Any]:
    """Return the label of each code as an array of objects, `fill_value` for NaN."""
    known = np.array([*labels, fill_value], object)
    found: NDArray[Any] = known[np.where(np.isnan(codes), len(labels), codes).astype(np.intp)]
    return found
