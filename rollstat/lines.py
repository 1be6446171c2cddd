"""Arrays as lines along one axis, and the memory of results.

::

    shape (a, n, b), axis 1  -->  a * b lines of n rows  -->  results of the same shape
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_lines", "check_axis", "empty_results", "lay_flat", "straight_into", "take_out", "to_shape"]


def as_lines(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """View (or copy, where no view exists) of `array` as lines along its last axis."""
    moved = array if axis == array.ndim - 1 else np.moveaxis(array, axis, -1)
    return moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])


def check_axis(axis: int, ndim: int) -> int:
    """Return `axis`, counted from the first, or raise."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis must lie in {-ndim}..{ndim - 1}; it was {axis}")
    return axis % ndim


def take_out(out: Any, shapes: list[tuple[int, ...]], dtypes: list[np.dtype[Any]]) -> list[Any]:
    """Check the arrays given as `out` against what the call returns."""
    if out is None:
        return [None] * len(shapes)
    given = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(given) != len(shapes):
        wanted = "one array" if len(shapes) == 1 else f"{len(shapes)} arrays"
        raise ValueError(f"out must hold {wanted}; it held {len(given)}")
    for array, shape, dtype in zip(given, shapes, dtypes):
        if not isinstance(array, np.ndarray) or not array.flags.writeable:
            raise TypeError(f"out must be a writable ndarray; it was {type(array).__name__}")
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"out must have shape {shape} and dtype {dtype}; it had {array.shape} and {array.dtype}"
            )
    return given


def lay_flat(lines: list[NDArray[Any]], length: int) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Lay short lines end to end; where each begins."""
    count = lines[0].shape[0]
    offsets = np.arange(count + 1, dtype=np.int64) * length
    return [np.ascontiguousarray(array).reshape(1, -1) for array in lines], offsets


def empty_results(
    count: int, rows: int, dtypes: list[np.dtype[Any]], stack: bool
) -> tuple[list[NDArray[Any]], NDArray[Any] | None]:
    """Uninitialised lines of several outputs, and the array that they share if they are to `stack`."""
    # One allocation for several outputs: the system hands fresh pages to several large ones each time.
    if stack or len(dtypes) > len(set(dtypes)) == 1:
        if stack:
            stacked = np.empty((len(dtypes), count, rows), dtypes[0])
            return list(stacked), stacked
        # All stand alike to the lines of the cache.
        size = count * rows + -count * rows % 64
        memory = np.empty((len(dtypes), size), dtypes[0])
        return [part[: count * rows].reshape(count, rows) for part in memory], None
    return [np.empty((count, rows), dtype) for dtype in dtypes], None


def straight_into(out: Any, axis: int, inputs: list[NDArray[Any]]) -> NDArray[Any] | None:
    """Lines of `out` if blocks can write there at once: contiguous, and no part of the input."""
    lines = as_lines(out, axis)
    if not lines.flags.c_contiguous or not np.may_share_memory(lines, out):
        return None
    return None if any(np.may_share_memory(out, array) for array in inputs) else lines


def to_shape(result: NDArray[Any], shape: tuple[int, ...], axis: int, whole: Any) -> NDArray[Any]:
    """Lines of results back to the shape of the input, `axis` holding the kept rows."""
    kept = result[:, whole]
    rest = shape[:axis] + shape[axis + 1 :]
    lines = kept.reshape(*rest, kept.shape[1])
    return lines if axis == len(shape) - 1 else np.moveaxis(lines, -1, axis)
