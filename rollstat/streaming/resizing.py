"""A window of any number of rows, made from windows of a limited number, without a long push.

::

    in use      [ 4 8 1 5 9 2 6 . . . ]                  more than half full: a successor is created
    successor   [ 4 8 1 5 9 . . . . . . . . . . . . . ]  every eighth push copies 24 rows, oldest first
                          ^ it replaces the window in use when it has all rows

Invariant: the rows of the successor are the oldest rows of the window in use.

Cost: a single push adds at most 25 rows to windows, and eight pushes in a row at most 32, so the worst push
costs a constant number of pushes of the window in use. A window that is half full is followed by one of twice
the capacity, and a window that is an eighth full by one of half the capacity: memory stays proportional to
the recent number of rows.

Source: Overmars, The Design of Dynamic Data Structures (1983), chapter 5, doi:10.1007/BFb0014927.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["ResizingWindow", "make_window"]

# Three rows a push on average: the successor has all rows before a capacity of 128 rows or more is used up.
_PUSHES, _ROWS_COPIED = 8, 24
_SMALLEST = 128


def make_window(fixed: int, make: Callable[[int], Any]) -> Any:
    """Return a window of a fixed number of rows, or of any number of rows if `fixed` is 0."""
    return make(fixed) if fixed else ResizingWindow(make)


class ResizingWindow:
    """A window of any number of rows.

    Parameters
    ----------
    make : callable
        Return a window of at most the given number of rows. It needs three methods beyond
        :mod:`~rollstat.streaming.windows.representation`: ``part(first, number)`` returns some of the rows,
        ``push_all(values, missing)`` pushes several, and ``start_at(row)`` sets the number of the first row
        that an empty window will hold.
    """

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._capacity = _SMALLEST
        self._window = make(_SMALLEST)
        self._successor: Any = None
        self._pushes = 0
        # Compile or load what copies rows now, not in the first push that needs it.
        self._window.push_all(*self._window.part(0, 0))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._window, name)

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        self._window.push(value, missing)
        self._pushes += 1
        if self._pushes % _PUSHES == 0:
            self._copy_to_successor()

    def _copy_to_successor(self) -> None:
        """Create a successor if one is due, and copy some rows into it."""
        window = self._window
        rows = window.rows
        if self._successor is None and (2 * rows > self._capacity or 8 * rows < self._capacity > _SMALLEST):
            self._capacity = 2 * self._capacity if 2 * rows > self._capacity else self._capacity // 2
            self._successor = self._make(self._capacity)
            self._successor.start_at(window.pushed - rows)
        if self._successor is not None:
            self._successor.push_all(*window.part(self._successor.rows, _ROWS_COPIED))
            if self._successor.rows == rows:
                self._window, self._successor = self._successor, None

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        self._window.pop(number)
        if self._successor is not None:
            self._successor.pop(min(number, self._successor.rows))
            if self._successor.rows == 0:
                self._successor.start_at(self._window.pushed - self._window.rows)

    def load(self, values: NDArray[Any], missing: NDArray[np.bool_] | None, pushed: int) -> None:
        """Replace all rows; the last is row ``pushed - 1`` of the stream."""
        self._capacity = _SMALLEST
        while self._capacity < 2 * len(values):
            self._capacity *= 2
        self._window, self._successor = self._make(self._capacity), None
        self._window.load(values, missing, pushed)

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self)(self._make)
        other._capacity, other._pushes, other._window = self._capacity, self._pushes, self._window.copy()
        other._successor = None if self._successor is None else self._successor.copy()
        return other
