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

from rollstat.kernels.rings import SMALLEST, ring_size, suitable_size

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
    """A representation whose whole state is a tuple of arrays.

    Parameters
    ----------
    fixed : int
        Rows of a window of a fixed number of rows, of which a push drops the oldest when it is full; 0 for a
        window of any number of rows, whose capacity grows and shrinks, see :mod:`rollstat.kernels.rings`.
    dtype : dtype
        Of the encoded values.

    Attributes
    ----------
    arrays : tuple of ndarray
        The state; the first is a header. `slots` are its places of `rows`, `count` and `pushed`.
    """

    slots: tuple[int, int, int]
    arrays: Any

    def __init__(self, fixed: int, dtype: np.dtype[Any]) -> None:
        self.fixed, self.dtype = fixed, dtype
        self.capacity = fixed or SMALLEST
        self._set_arrays(self._create(self.capacity))

    def _set_arrays(self, arrays: Any) -> None:
        self.arrays = arrays

    def _create(self, capacity: int) -> Any:
        """Return the arrays of an empty window of at most `capacity` rows."""
        raise NotImplementedError  # every class of states has its own

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        """Replace all rows, at most as many as the capacity."""
        raise NotImplementedError  # every class of states has its own

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return int(self.arrays[0][self.slots[0]])

    @property
    def count(self) -> int:
        """Observations in the window."""
        return int(self.arrays[0][self.slots[1]])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.arrays[0][self.slots[2]])

    def _make_room(self) -> None:
        """Before a push, grow a full window of any number of rows, and shrink one that is nearly empty."""
        if self.fixed:
            return
        rows = self.rows + 1
        size = 2 * self.capacity if rows > self.capacity else suitable_size(rows, self.capacity)
        if size != self.capacity:
            self.load(*self.contents(), self.pushed, size)

    def load(self, values: NDArray[Any], missing: Any, pushed: int, capacity: int = SMALLEST) -> None:
        """Replace all rows; the last is row ``pushed - 1`` of the stream.

        A window of any number of rows gets at least this capacity.
        """
        if not self.fixed:
            self.capacity = max(ring_size(len(values)), capacity)
            self._set_arrays(self._create(self.capacity))
        self._load(values, missing, pushed)

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._set_arrays(tuple(array.copy() for array in self.arrays))
        return other
