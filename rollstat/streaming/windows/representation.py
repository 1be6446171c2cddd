"""What every representation of a window provides: rows in arrays that compiled kernels work on.

::

    push, pop, load ---> arrays ---> rows, count, pushed, contents ---> answers, snapshots, merging
"""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayWindow", "Representation", "Rows"]

Rows = tuple[NDArray[Any], NDArray[np.bool_]]


class Representation(Protocol):
    """A window of encoded values."""

    @property
    def rows(self) -> int:
        """Rows in the window."""

    @property
    def count(self) -> int:
        """Observations in the window."""

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""

    def push(self, value: Any, missing: bool) -> None:
        """Add a row; a full window of a fixed number of rows drops its oldest."""

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""

    def contents(self) -> Rows:
        """Return values and missing marks of the rows, oldest first."""

    def load(self, values: NDArray[Any], missing: NDArray[np.bool_], pushed: int) -> None:
        """Replace all rows; the last is row ``pushed - 1`` of the stream."""

    def copy(self) -> Self:
        """Return an equal window with its own memory."""


class ArrayWindow:
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
