"""What every representation of a window provides: rows in arrays that compiled kernels work on.

::

    push, pop, load ---> arrays ---> rows, count, pushed, part ---> answers, snapshots, merging

A representation has the properties ``rows``, ``count`` (observations) and ``pushed`` (rows of the stream so
far), and the methods

- ``push(value, missing)``: add a row; a full window of a fixed number of rows drops its oldest;
- ``pop(number)``: remove the oldest rows, unless the number of rows is fixed;
- ``part(first, number)``: return values and missing marks of at most `number` rows, from the `first` oldest
  on;
- ``load(values, missing, pushed)``: replace all rows, the last being row ``pushed - 1`` of the stream; in
  place if the number of rows is fixed;
- ``copy()``: return an equal window with its own memory.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayWindow", "Representation", "Rows"]

Rows = tuple[NDArray[Any], NDArray[np.bool_]]


class Representation:
    """A representation, which has :meth:`part`."""

    rows: Any
    part: Any

    def contents(self) -> Rows:
        """Return values and missing marks of the rows, oldest first."""
        values, missing = self.part(0, self.rows)
        return values, missing


class ArrayWindow(Representation):
    """A representation whose whole state is a tuple of arrays."""

    arrays: Any

    def _set_arrays(self, arrays: Any) -> None:
        self.arrays = arrays

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._set_arrays(tuple(array.copy() for array in self.arrays))
        return other
