"""Sums, means and standard deviations over boxes, one axis after the other.

::

    count, mean, squares of each element  --merged along the last axis-->  of each row of a box
                                          --merged along the axis before-->  of each box
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat import operators as built_in
from rollstat.engine import Call
from rollstat.explanation import Step
from rollstat.operators.moments import MergedMoments
from rollstat.options import Options
from rollstat.plan import Output
from rollstat.statistics.aggregate.computation import Combination
from rollstat.statistics.boxes.boxes import Box, box_call
from rollstat.statistics.boxes.selection import extended_box

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


def _merge(columns: list[NDArray[Any]], operator: Any, widths: list[int]) -> list[NDArray[Any]]:
    """Return the columns combined over boxes along the last axes."""
    for axis, width in zip(range(-1, -len(widths) - 1, -1), widths[::-1]):
        dtypes = [column.dtype for column in columns]
        make = partial(Combination, operator=operator, dtypes=dtypes, required=0)
        found = Call(columns, width, make, Options.check(axis=axis, mode="valid"), "abc").run()
        columns = list(found) if isinstance(found, tuple) else [found]
    return columns


def _found(box: Box, name: str, ddof: int) -> list[NDArray[Any]]:
    """Return the result of each box; anything where a box has too few observations."""
    inside = box.extension == "cut" and box.mode == "valid"
    values, widths = extended_box(box, inside)
    missing, whole = np.ma.getmaskarray(values), box.array.dtype.kind in "iub" and name == "sum"
    data = np.where(missing, 0, np.ma.getdata(values))
    data = data.astype((np.uint64 if data.dtype.kind == "u" else np.int64) if whole else np.float64)
    if whole:
        (result,) = _merge([data], operators.Sum(), widths)
    else:
        count = (~missing).astype(np.float64)
        with np.errstate(all="ignore"):
            if name == "std":
                count, _, squares = _merge([count, data, data - data], MergedMoments(), widths)
                result = np.sqrt(squares / (count - ddof))
            else:
                (result,) = _merge([data], operators.Sum(), widths)
                result = result / _merge([count], operators.Sum(), widths)[0] if name == "mean" else result
    return [np.moveaxis(result[0], range(-len(widths), 0), box.axes).copy()]
