"""Arrays as lines along one axis.

::

    shape (a, n, b), axis 1  -->  a * b lines of n rows  -->  results of the same shape
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_lines", "check_axis", "joined_lines", "to_shape"]


def as_lines(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """Return a view (or a copy, where no view exists) of `array` as lines along its last axis."""
    moved = array if axis == array.ndim - 1 else np.moveaxis(array, axis, -1)
    return moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])


def check_axis(axis: int, ndim: int) -> int:
    """Return `axis`, counted from the first, or raise."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis must lie in {-ndim}..{ndim - 1}; got {axis}")
    return axis % ndim


def joined_lines(lines: NDArray[Any]) -> NDArray[Any]:
    """Return all lines laid end to end, as one line."""
    return np.ascontiguousarray(lines).reshape(1, -1)


def to_shape(result: NDArray[Any], shape: tuple[int, ...], axis: int, kept: Any) -> NDArray[Any]:
    """Return the `kept` rows of lines of results in the shape of the input, along its `axis`."""
    part = result[:, kept]
    rest = shape[:axis] + shape[axis + 1 :]
    lines = part.reshape(*rest, part.shape[1])
    return lines if axis == len(shape) - 1 else np.moveaxis(lines, -1, axis)
