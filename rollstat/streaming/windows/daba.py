"""The window of an extremum by DABA Lite: the rows, and a queue of operator states.

::

    rows     4.0  nan  3.0  1.0  2.0         what was pushed, for snapshots and for arrays
    queue    states of the observations, which combine to the answer
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.aggregate.ring_queue import ring_size
from rollstat.kernels.aggregate.window import FIRST, NEXT, SPAN
from rollstat.kernels.stream.steps import OperatorWithRows
from rollstat.operators.interface import for_dtype
from rollstat.operators.layout import describe
from rollstat.streaming.linked_queue import LinkedQueue
from rollstat.streaming.windows.operator import NumberWindow
from rollstat.streaming.windows.rings import read_ring, write_ring

__all__ = ["DabaWindow"]

_FIRST_CAPACITY = 64


class DabaWindow:
    """A window and the combination of its observations, with O(1) combinations in every single step.

    Parameters
    ----------
    operator : Operator
        An operator whose results have the dtype of its elements.
    fixed : int
        Rows of a window of a fixed number of rows, which are kept in a ring; else 0, for a linked queue.
    dtype : dtype
        Of the encoded elements.
    """

    def __init__(self, operator: Any, fixed: int, dtype: np.dtype[Any]) -> None:
        self.fixed, self.dtype = fixed, dtype
        ready = for_dtype(operator, dtype)
        layout = describe(ready, np.ones(1, dtype))
        capacity = fixed or _FIRST_CAPACITY
        size = "fixed" if fixed else "free"
        self._window = NumberWindow(ready, layout, dtype.type(0), "daba", capacity, size=size)
        self._window.header[SPAN] = fixed
        self._ring: NDArray[Any] = np.zeros(ring_size(fixed), dtype)
        # In a ring of floats NaN marks what is missing.
        self._ring_missing = np.zeros(0 if dtype.kind == "f" else len(self._ring), np.bool_)
        self._queue, self._queue_missing = LinkedQueue(dtype), LinkedQueue(np.bool_)

    def quick_step(self, least: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the compiled step of a float, and its arguments."""
        return OperatorWithRows(), (self._ring, *self._window.quick_arguments(least))

    @property
    def rows(self) -> int:
        """Number of rows in the window."""
        rows = self.pushed - int(self._window.header[FIRST])
        return min(rows, self.fixed or rows)

    @property
    def count(self) -> int:
        """Number of observations among them."""
        return self._window.size

    @property
    def pushed(self) -> int:
        """Number of rows pushed so far."""
        return int(self._window.header[NEXT])

    def extreme(self) -> Any:
        """Return the combination of the window, which must have an observation."""
        return self._window.value()

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        row = self.pushed
        self._keep(np.array([value], self.dtype), np.array([missing]), row + 1)
        limit = row - self.fixed if self.fixed else int(self._window.header[FIRST]) - 1
        self._window.push(limit, row, self.dtype.type(value), not missing)
        self._window.header[NEXT] = row + 1

    def _keep(self, values: NDArray[Any], missing: NDArray[np.bool_], end: int) -> None:
        """Store rows, the last of which is before row `end`."""
        if not self.fixed:
            for value, mark in zip(values, missing):
                self._queue.append(value)
                self._queue_missing.append(mark)
            return
        first = end - len(values)
        if self.dtype.kind == "f":
            write_ring(self._ring, first, np.where(missing, np.nan, values))
        else:
            write_ring(self._ring, first, values)
            write_ring(self._ring_missing, first, missing)

    def pop(self, number: int) -> None:
        """Drop the `number` oldest rows."""
        self._window.header[FIRST] += number
        self._window.pop(int(self._window.header[FIRST]) - 1)
        self._queue.drop(number)
        self._queue_missing.drop(number)

    def contents(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the encoded rows, oldest first, and which of them are missing."""
        if not self.fixed:
            return self._queue.numbers, self._queue_missing.numbers
        place = self.pushed - self.rows, self.rows
        values = read_ring(self._ring, *place)
        missing = np.isnan(values) if self.dtype.kind == "f" else read_ring(self._ring_missing, *place)
        return values, missing

    def load(self, values: NDArray[Any], missing: NDArray[np.bool_], pushed: int) -> None:
        """Replace the contents by these rows, the last of `pushed`."""
        first = pushed - len(values)
        stamps = np.arange(first, pushed)
        if self.fixed:
            self._window.load(stamps, values, missing)
            self._keep(values, missing, pushed)
        else:
            self._window.pop(self.pushed)
            self._window.extend(stamps, np.int64(len(values) + 1), values, missing)
            self._queue.load(values)
            self._queue_missing.load(missing)
        self._window.header[[NEXT, FIRST]] = pushed, first

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._window = self._window.copy()
        other._ring, other._ring_missing = self._ring.copy(), self._ring_missing.copy()
        other._queue, other._queue_missing = self._queue.copy(), self._queue_missing.copy()
        return other
