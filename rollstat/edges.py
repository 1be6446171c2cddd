"""Arrays beyond their edges, in the modes of :mod:`scipy.ndimage`.

::

    reflect   c b a | a b c d | d c b        mirror   d c b | a b c d | c b a
    nearest   a a a | a b c d | d d d        wrap     b c d | a b c d | a b c
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.dtypes import lossless

EXTENSIONS = "reflect", "nearest", "mirror", "wrap", "constant"


def extended_rows(length: int, before: int, after: int, mode: str) -> NDArray[np.int64]:
    """Return the row at each index of an axis extended at both ends; -1 if there is none.

    The modes are those of :mod:`scipy.ndimage`, and ``"cut"``, with nothing outside of the array.
    """
    index = np.arange(-before, length + after)
    ends = np.r_[:before, before + length : len(index)]
    index[ends] = _beyond(index[ends], length, mode)
    return index


def _beyond(index: NDArray[np.int64], length: int, mode: str) -> NDArray[np.int64]:
    """Return the row at indices beyond the ends of an axis; -1 if there is none."""
    if mode == "nearest":
        return index.clip(0, length - 1)
    if mode == "wrap":
        return index % length
    if mode in ("reflect", "mirror"):
        last = 2 * length - (1 if mode == "reflect" else 2)
        index = index % max(last + (mode == "reflect"), 1)
        return np.minimum(index, last - index)
    return np.full_like(index, -1)


def beyond_edges(mode: str, dtype: np.dtype[Any], fill_value: Any) -> tuple[str, Any]:
    """Return how an array is extended beyond its edges, and the value there if `mode` is ``"constant"``."""
    zero = np.zeros((), dtype)[()]
    if mode != "constant":
        return mode if mode in EXTENSIONS else "cut", zero
    if fill_value is None and dtype.kind == "M":
        raise ValueError("fill_value must be a time with mode='constant'; got None, and times have no zero")
    if isinstance(fill_value, (float, np.floating)) and np.isnan(fill_value):
        return "cut", zero  # a missing value is no observation: there is nothing beyond the edges
    outside = lossless(zero if fill_value is None else fill_value, dtype)
    return "cut" if outside != outside else mode, outside


def extended_segments(
    offsets: NDArray[np.int64], before: int, after: int, mode: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row at each index of segments extended at both ends, -1 for none, and where each starts."""
    parts = []
    for first, last in pairwise(offsets):
        rows = (
            extended_rows(int(last - first), before, after, mode) if last > first else np.empty(0, np.int64)
        )
        parts.append(np.where(rows < 0, -1, rows + first) if first else rows)
    starts = np.cumsum([0, *map(len, parts)])
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts]), starts


def extended(array: Any, axis: int, source: NDArray[np.int64], outside: Any, before: int) -> Any:
    """Return an array with these rows along an axis; `outside` where there is none.

    The array as a whole lies after `before` of them, unless that is negative; its rows need no search then.
    """
    axis %= array.ndim
    cut = before, before + array.shape[axis]
    ends = [source] if before < 0 else [source[: cut[0]], source[cut[1] :]]
    parts = [array.take(rows, axis, mode="clip") for rows in ends]
    for rows, part in zip(ends, parts):
        part[(slice(None),) * axis + (np.flatnonzero(rows < 0),)] = outside
    if before < 0:
        return parts[0]
    join: Any = np.ma.concatenate if isinstance(array, np.ma.MaskedArray) else np.concatenate
    return join([parts[0], array, parts[1]], axis)
