"""Where compiled code writes the results of an operator, and what windows and trees of states share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.kernels.aggregate.window import Results
from rollstat.operators.layout import Layout
from rollstat.results import convert

__all__ = ["NEVER", "ArrayState", "Result", "Written"]

# As `min_periods` of a step: do not compute the result.
NEVER = 2**62


class Result:
    """Where compiled code writes the result of one window."""

    def __init__(self, operator: Any, layout: Layout) -> None:
        self.operator, self.layout = operator, layout
        self._arrays = [np.zeros((1, *output.shape), output.base) for output in layout.outputs]
        self._failed = np.zeros(1, np.bool_)
        out: Any = self._arrays[0] if layout.single else tuple(self._arrays)
        # The last arguments of kernels.
        self.arguments = out, self._failed
        self._plain = layout.single and not layout.outputs[0].shape

    def read(self) -> Any:
        """Return the result as Python numbers, or arrays; raise OverflowError if it does not fit."""
        if self._failed[0]:
            self._failed[0] = False
            name = type(self.operator).__name__
            raise OverflowError(f"the exact {name} of the window does not fit {self.layout.outputs[0]}")
        if self._plain:
            return self._arrays[0].item()
        values = tuple(a[0].copy() if a.ndim > 1 else a.item() for a in self._arrays)
        return values[0] if self.layout.single else values


@dataclass(frozen=True, slots=True)
class Written:
    """Results of many rows.

    Attributes
    ----------
    arrays : list of ndarray
        One for each output.
    insufficient, failed : ndarray of bool
        Rows with too few observations, and rows whose result does not fit; their items in `arrays` are not
        meaningful.
    single : bool
        Whether there is one output, not a tuple of them.
    """

    arrays: list[NDArray[Any]]
    insufficient: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    single: bool

    @classmethod
    def of(cls, layout: Layout, rows: int, dtypes: Sequence[DTypeLike] | None = None) -> Self:
        """Return memory for `rows` results, of the dtypes of the layout or of others."""
        bases = [output.base for output in layout.outputs] if dtypes is None else dtypes
        # Rows without a result are converted like the others, so they must not hold numbers that overflow.
        make = np.zeros if dtypes is None else np.empty
        arrays = [make((rows, *output.shape), base) for output, base in zip(layout.outputs, bases)]
        return cls(arrays, np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), layout.single)

    def for_kernels(self, min_periods: int) -> Results:
        """Return the argument of a kernel."""
        out = self.arrays[0] if self.single else tuple(self.arrays)
        return Results(out, self.insufficient, self.failed, min_periods)

    def part(self, rows: slice, spare: Self) -> Self:
        """Return some of the rows, in the memory of `spare` for results whose dtype differs here."""
        insufficient = self.insufficient[rows]
        arrays = [
            array[rows] if array.dtype == other.dtype else other[: len(insufficient)]
            for array, other in zip(self.arrays, spare.arrays)
        ]
        return type(self)(arrays, insufficient, self.failed[rows], self.single)

    def convert(self, rows: slice, part: Self) -> None:
        """Copy the results of a part whose dtype differs here; warn if integers are rounded."""
        for array, given in zip(self.arrays, part.arrays):
            if array.dtype != given.dtype:
                given[part.insufficient | part.failed] = 0
                convert(given, array[rows])


class ArrayState:
    """A window or tree of operator states whose whole state is a list of arrays: copying and pickling."""

    operator: Any
    layout: Any
    state: Any
    _arguments: tuple[Any, ...]
    _result: Result

    def __reduce__(self) -> Any:
        return _with_state, (type(self), self._arguments, self.state)

    def copy(self) -> Self:
        """Return an equal one with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.state = [array.copy() for array in self.state]
        if self.layout is not None:
            other._result = Result(self.operator, self.layout)
        return other

    def result(self) -> Any:
        """Return the result that the last push computed."""
        return self._result.read()


def _with_state(cls: type[ArrayState], arguments: tuple[Any, ...], state: list[NDArray[Any]]) -> Any:
    made = cls(*arguments)
    made.state = state
    return made
