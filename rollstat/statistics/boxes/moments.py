"""Sums, means and standard deviations over boxes, one axis after the other.

::

    count, mean, squares of each element  --merged along the first axis-->  of each column of a box
                                          --merged along the next axis-->   of each box
"""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat import operators as built_in
from rollstat.blocks import read_only
from rollstat.compile.simd.vectors import aligned_empty
from rollstat.edges import extended_rows
from rollstat.engine import Call
from rollstat.explanation import Step
from rollstat.kernels.sums.boxes import combined_along
from rollstat.options import Options
from rollstat.plan import Output
from rollstat.statistics.aggregate.computation import Combination
from rollstat.statistics.boxes.boxes import Box, box_call
from rollstat.statistics.boxes.selection import extended_box

_COLUMNS, _CELLS = 32, 2048  # that are added up at once, to stay in the first-level cache
_ROOM = 64  # for a vector
_SCALE = 2.0**-600  # at which squares stay within the range of float64

operators: Any = built_in  # type checkers take class attributes of the operators for fields


def box_moment(arr: ArrayLike, window: Any, name: str, options: dict[str, Any], ddof: int = 1) -> Any:
    """Return the call of the sum, the mean or the standard deviation of each box.

    Parameters
    ----------
    arr : array_like of float, int or bool, shape (..., n, ...)
        Image, volume or array of more dimensions.
    window : tuple of int
        Rows of the box along each axis of ``options["axis"]``.
    name : {"sum", "mean", "std"}
        What to compute.
    options : dict
        The options given; those that concern a window along one axis do not apply.
    ddof : int
        Delta degrees of freedom of the standard deviation.

    Returns
    -------
    WholeCall
        Returns one array.
    """
    box = Box.check(arr, window, options)
    kind = "integer" if name == "sum" and box.array.dtype.kind in "iub" else "float"
    output = Output(kind, {"sum": 0, "mean": 1}.get(name, ddof + 1))
    step = Step("separable", "all", "a box is a window along one axis after the other", rows=box.array.size)
    return box_call(box, step, [output], partial(_found, name=name, ddof=ddof))


def _largest(box: Box) -> int:
    """Return the largest magnitude of integers in and around an array."""
    values = box.array
    return max(int(values.max(initial=0)), -int(values.min(initial=0)), abs(int(box.outside)))


def _exact_sums(box: Box) -> NDArray[Any]:
    """Return the sum of each box of integers; raise if one does not fit."""
    values, widths = extended_box(box, box.extension == "cut" and box.mode == "valid")
    data = np.where(np.ma.getmaskarray(values), 0, np.ma.getdata(values))
    data = data.astype(np.uint64 if data.dtype.kind == "u" else np.int64)
    make = partial(Combination, operator=operators.Sum(), dtypes=[data.dtype], required=0)
    for axis, width in zip(range(-1, -len(widths) - 1, -1), widths[::-1]):
        data = Call([data], width, make, Options.check(axis=axis, mode="valid"), "abc").run()
    return np.moveaxis(data[0], range(-len(widths), 0), box.axes).copy()


def _combined(box: Box, channels: Sequence[Any], outside: Sequence[float]) -> NDArray[np.float64]:
    """Return the channels combined over each box; elements beyond are `outside` with a constant extension."""
    shape, several = box.array.shape, len(channels) > 1
    whole = np.stack(np.broadcast_arrays(*channels)) if several else channels[0]
    current = np.ascontiguousarray(whole, np.float64).reshape(len(channels), -1)
    spare = [np.empty_like(current) for _ in box.axes[:2]]
    constants = np.array(outside, np.float64) * (box.extension == "constant")
    for axis, before, after in zip(box.axes, box.before, box.after) if box.array.size else ():
        length, across = shape[axis], prod(shape[axis + 1 :])
        if box.extension == "cut":  # rows beyond the edges hold nothing, however many
            before, after = min(before, length), min(after, length)
        source, width = extended_rows(length, before, after, box.extension), before + 1 + after
        columns = min(across, _COLUMNS)
        rows = min(max(_CELLS // columns, 2 * width), length)
        scratch = aligned_empty(2 * len(current) * ((rows + width) * columns + _ROOM), np.float64)
        given = read_only(current), across, before, source, constants, width, columns, rows
        combined_along(*given, scratch.reshape(2, len(current), -1), spare[0])
        current, spare = spare[0], spare[::-1]
        constants[0] *= width  # the sum or the count of a row of constants
    return current.reshape(-1, *shape)


def _found(box: Box, name: str, ddof: int) -> list[NDArray[Any]]:
    """Return the result of each box; anything where a box has too few observations."""
    if name == "sum" and box.array.dtype.kind != "f" and _largest(box) * box.cells >= 2**53:
        return [_exact_sums(box)]
    result = _of_floats(box, name, ddof, 1.0)
    if not np.isfinite(result).all():  # sums have left the range of float64, or a value is infinite
        small = _of_floats(box, name, ddof, _SCALE)
        result = np.where(np.isfinite(result), result, small / _SCALE)
    return [result[box.kept()]]


def _of_floats(box: Box, name: str, ddof: int, scale: float) -> NDArray[np.float64]:
    """Return the result of each box of the array times `scale`."""
    observed, size = box.observed, box.sizes() if box.extension == "cut" else box.cells
    values = box.array if observed is None else np.where(observed, box.array, 0)
    values, outside = (values, box.outside) if scale == 1.0 else (values * scale, box.outside * scale)
    seen = 1.0 if observed is None else observed
    with np.errstate(all="ignore"):
        if name == "std":
            count, _, result = _combined(box, [seen, values, 0.0], [1.0, outside, 0.0])
            return np.sqrt(np.divide(result, count - ddof, out=result), out=result)
        (result,) = _combined(box, [values], [outside])
        if name == "mean":
            count = size if observed is None else _combined(box, [seen], [1.0])[0]
            np.divide(result, count, out=result)
    return result
