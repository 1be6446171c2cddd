"""All results of a short line in one kernel call, from a sorted array of the window.

The kernels search for NaN and write every row, so nothing but their call remains to be done. For lines of up
to :data:`rollstat.thresholds.SORTED_LINE` values that saves more than faster kernels would.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms.bound_calls import bind
from rollstat.blocks import Line, exact_floats
from rollstat.plan import Choice

__all__ = ["SortedLine", "serves"]

# Distances of integers up to here, halves of them, and means of two halves, are exact in float64.
_EXACT_DISTANCES = 2**50
_FLOAT64 = np.dtype(np.float64)


def serves(line: Line) -> bool:
    """Return whether a line is so short that a :class:`SortedLine` is the fastest."""
    return line.head + line.rows + line.width <= thresholds.SORTED_LINE


class SortedLine:
    """A function that writes the results of a short line, see :meth:`rollstat.plan.Computation.line_kernel`.

    It gives up if a value is missing, or in other cases that the kernel names.

    Parameters
    ----------
    kernel : callable
        Takes values, rows of the first and of a full window, scratch, `parameters` and outputs; returns
        whether the results are right.
    line : Line
        What to write.
    name : str
        The algorithm that serves other lines.
    *parameters
        Further arguments of the kernel.
    floats : bool
        Whether the kernel takes and writes float64, whatever the dtype.
    """

    def __init__(self, kernel: Any, line: Line, name: str, *parameters: Any, floats: bool = True) -> None:
        self._kernel = kernel
        self._sizes = line.width - line.head, line.width
        self._short = line.short
        self._parameters = parameters
        self._floats = floats
        self._code: Any = None
        reason = f"lines of at most {thresholds.SORTED_LINE} rows, none missing"
        self.choice = Choice("sorted_window", reason, ((name, "a value is missing"),))

    def __call__(self, series: list[NDArray[Any]], outputs: list[NDArray[Any]]) -> bool:
        """Write the results; return whether they are right."""
        (values,), short = series, self._short
        if short:
            for out in outputs:
                out[:short] = np.nan
            outputs = [out[short:] for out in outputs]
        written = outputs
        if self._floats:
            floats = exact_floats(values, _EXACT_DISTANCES)
            if floats is None:
                return False
            values = floats
            if outputs[0].dtype != _FLOAT64:
                written = [np.empty(len(outputs[0])), *outputs[1:]]
        window = np.empty(self._sizes[1] + 2, values.dtype)
        arguments = values, *self._sizes, window, *self._parameters, *written
        if self._code is None:
            self._code = bind(self._kernel, *arguments)
        if not self._code(*arguments):
            return False
        if written is not outputs:
            with np.errstate(over="ignore"):
                outputs[0][...] = written[0]
        return True
