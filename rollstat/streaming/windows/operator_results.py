"""Where compiled code writes the results of an operator: of one window, or of many rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.operators.layout import Layout

__all__ = ["OfArrays", "Results", "Written"]


class Results:
    """Where compiled code writes the result of one window."""

    def __init__(self, operator: Any, layout: Layout) -> None:
        self.operator, self.layout = operator, layout
        self.arrays = [np.zeros((1, *output.shape), output.base) for output in layout.outputs]
        self.out: Any = self.arrays[0] if layout.single else tuple(self.arrays)
        self.failed = np.zeros(1, np.bool_)
        self._plain = layout.single and not layout.outputs[0].shape

    def read(self) -> Any:
        """The result as Python numbers, or arrays; an error if it does not fit."""
        if self.failed[0]:
            self.failed[0] = False
            name = type(self.operator).__name__
            raise OverflowError(f"the exact {name} of the window does not fit {self.layout.outputs[0]}")
        if self._plain:
            return self.out.item()
        values = tuple(a[0].copy() if a.ndim > 1 else a.item() for a in self.arrays)
        return values[0] if self.layout.single else values


@dataclass(frozen=True, slots=True)
class Written:
    """Results of many rows.

    Attributes
    ----------
    arrays : list of ndarray
        One for each output.
    lacking, failed : ndarray of bool
        Rows with too few observations, and those whose result does not fit: what they hold means nothing.
    single : bool
        Whether there is one output, not a tuple of them.
    """

    arrays: list[NDArray[Any]]
    lacking: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    single: bool

    @classmethod
    def of(cls, layout: Layout, rows: int, dtypes: Sequence[DTypeLike] | None = None) -> Self:
        """Room for so many rows, of the dtypes of the results or of others."""
        bases = [output.base for output in layout.outputs] if dtypes is None else dtypes
        # Rows without results are converted like others, and what is left of other numbers could overflow.
        make = np.zeros if dtypes is None else np.empty
        arrays = [make((rows, *output.shape), base) for output, base in zip(layout.outputs, bases)]
        return cls(arrays, np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), layout.single)

    @property
    def columns(self) -> tuple[Any, NDArray[np.bool_], NDArray[np.bool_]]:
        """What kernels write to."""
        return self.arrays[0] if self.single else tuple(self.arrays), self.lacking, self.failed

    def part(self, rows: slice, spare: Self) -> Self:
        """Some of the rows; with room of `spare` where results are of another dtype here."""
        lacking = self.lacking[rows]
        arrays = [
            array[rows] if array.dtype == other.dtype else other[: len(lacking)]
            for array, other in zip(self.arrays, spare.arrays)
        ]
        return type(self)(arrays, lacking, self.failed[rows], self.single)

    def convert(self, rows: slice, part: Self) -> None:
        """Take in the results of a part that are of another dtype here."""
        for array, given in zip(self.arrays, part.arrays):
            if array.dtype != given.dtype:
                array[rows] = given


class OfArrays:
    """Windows and trees of operator states whose whole state is in arrays: copies and pickles of them."""

    operator: Any
    layout: Layout
    arrays: Any
    _made_with: tuple[Any, ...]
    _results: Results

    def __reduce__(self) -> Any:
        return _with_arrays, (type(self), self._made_with, self.arrays)

    def copy(self) -> Self:
        """Return an equal one of its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.arrays = [array.copy() for array in self.arrays]
        other._results = Results(self.operator, self.layout)
        return other


def _with_arrays(cls: type[OfArrays], made_with: tuple[Any, ...], arrays: list[NDArray[Any]]) -> Any:
    made = cls(*made_with)
    made.arrays = arrays
    return made
