"""Extrema over boxes of images and volumes, one axis after the other."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.edges import extended_rows
from rollstat.kernels.comparator import Greatest, Least
from rollstat.kernels.extrema.separable import scan_lines, scan_rows
from rollstat.statistics.extrema.drivers import kernel_for_rows

# Bytes of scratch memory for the columns scanned at once, to stay in the second-level cache.
_SCRATCH_BYTES = 1 << 18


def _in_lines(values: NDArray[Any], axis: int) -> bool:
    """Return whether the rows across an axis are too short for vectors."""
    return prod(values.shape[axis + 1 :]) < int(lanes_in(values.dtype))


def _along(
    order: Least | Greatest,
    values: NDArray[Any],
    axis: int,
    before: int,
    after: int,
    mode: str,
    outside: Any,
    out: NDArray[Any],
) -> None:
    """Write the extrema along one axis of C-contiguous `values` to `out`; lines may overwrite `values`."""
    length = values.shape[axis]
    across = prod(values.shape[axis + 1 :])
    width, lanes = before + 1 + after, lanes_in(values.dtype)
    source = extended_rows(length, before, after, mode)
    flat, target = values.reshape(-1), out.reshape(-1)
    if _in_lines(values, axis):
        _, size, scratch = kernel_for_rows(order, values.dtype, width, target[:length])
        memory = aligned_empty(len(source) + length, values.dtype)
        scan_lines(order, flat, across, before, source, outside, width, size, memory, scratch, target)
        return
    columns = max(min(_SCRATCH_BYTES // values.itemsize // width, across) // lanes, 1) * lanes
    scratch = aligned_empty((width + 2) * columns, values.dtype)
    for first in range(0, len(flat), length * across):
        part = slice(first, first + length * across)
        scan_rows(order, flat[part], across, source, outside, width, columns, scratch, target[part])


def box_extremum(
    order: Least | Greatest,
    values: NDArray[Any],
    axes: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
    mode: str,
    outside: Any,
) -> NDArray[Any]:
    """Return the extrema of boxes that reach `before` and `after` each element along each of `axes`.

    Parameters
    ----------
    order : Least or Greatest
        Which extremum.
    values : ndarray
        C-contiguous, native byte order; bool as uint8, datetimes as int64. NaN is not an observation.
    axes : sequence of int
        Different axes, not negative.
    before, after : sequence of int
        Elements before and after each element, for each axis.
    mode : str
        The values outside of the array; see :func:`extended_rows`.
    outside : scalar
        The value there if `mode` is ``"constant"`` or ``"cut"``.

    Returns
    -------
    ndarray
        In memory of its own, of the shape and dtype of `values`; the worst value where a box has no
        observation, if that is `outside`.
    """
    outside = values.dtype.type(outside)
    passes = sorted(zip(axes, before, after))
    current, spare = values, None
    for axis, front, behind in passes:
        if values.size == 0:
            break
        if current is not values and _in_lines(values, axis):
            out = current  # a line is copied before it is overwritten
        else:
            out = np.empty_like(values) if spare is None else spare
        _along(order, current, axis, front, behind, mode, outside, out)
        if current is not values and out is not current:
            spare = current
        current = out
    return values.copy() if current is values else current
