"""Arrays beyond their edges, in the modes of :mod:`scipy.ndimage`.

::

    reflect   c b a | a b c d | d c b        mirror   d c b | a b c d | c b a
    nearest   a a a | a b c d | d d d        wrap     b c d | a b c d | a b c
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.dtypes import lossless

EXTENSIONS = "reflect", "nearest", "mirror", "wrap", "constant"


def extended_rows(length: int, before: int, after: int, mode: str) -> NDArray[np.int64]:
    """Return the row at each index of an axis extended at both ends; -1 if there is none.

    The modes are as in :mod:`scipy.ndimage`; ``"cut"`` has nothing outside the array.
    """
    front, back = extended_ends(length, before, after, mode)
    return np.concatenate([front, np.arange(length), back])


def extended_ends(length: int, before: int, after: int, mode: str) -> list[NDArray[np.int64]]:
    """Return the rows before and after an axis; see :func:`extended_rows`."""
    return [_beyond(np.arange(*index), length, mode) for index in ((-before, 0), (length, length + after))]


def _beyond(index: NDArray[np.int64], length: int, mode: str) -> NDArray[np.int64]:
    """Return the row at indices beyond the ends of an axis; -1 if there is none."""
    if mode == "nearest":
        return np.minimum(np.maximum(index, 0), length - 1)  # takes half the time of clip
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
        return "cut", zero  # a missing value is not an observation: there is nothing beyond the edges
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


def extended(array: Any, axis: int, rows: Sequence[NDArray[np.int64]], outside: Any) -> Any:
    """Return an array with `rows` along an axis, or itself between two parts of them.

    A row of -1 is `outside`.
    """
    axis %= array.ndim
    parts = [array.take(part, axis, mode="clip") for part in rows]
    for part, taken in zip(rows, parts):
        taken[(slice(None),) * axis + (np.flatnonzero(part < 0),)] = outside
    join: Any = np.ma.concatenate if isinstance(array, np.ma.MaskedArray) else np.concatenate
    return parts[0] if len(parts) == 1 else join([parts[0], array, parts[1]], axis)
