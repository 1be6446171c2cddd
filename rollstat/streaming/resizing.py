"""A core of any number of rows out of cores of a limited one, of which no push has to move many rows.

::

    in use      [ 4 8 1 5 9 2 6 . . . ]                  more than half full: a successor is made
    successor   [ 4 8 1 5 9 . . . . . . . . . . . . . ]  every eighth push puts 24 rows into it, oldest first
                          ^ until it has caught up, and takes over

Invariant: the rows of the successor are the first of those in use. Cost: at most 25 rows go into cores in any
single push, so its bound is that of the core times a constant; and four in the mean of any eight pushes. The
core is at most a constant times as large as the rows of late: when half full it is followed by a larger one,
and when an eighth full by a smaller one.

Source: Overmars, The Design of Dynamic Data Structures (1983), chapter 5, doi:10.1007/BFb0014927.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["GrowingWindow", "window_of"]

# Three rows a push, so that a successor has caught up before the room of 128 rows or more is used up.
_TURN, _STEP = 8, 24
_SMALLEST = 128


def window_of(fixed: int, make: Callable[[int], Any]) -> Any:
    """Return a core for a window of a fixed number of rows, or of any number where that is 0."""
    return make(fixed) if fixed else GrowingWindow(make)


class GrowingWindow:
    """A window of any number of rows.

    Parameters
    ----------
    make : callable
        Takes a number of rows and returns a core for at most as many, with three more methods:
        ``part(first, number)`` gives some of the rows, ``take(words, missing)`` pushes several, and
        ``begin(pushed)`` says how many have come and gone before those that an empty core is to hold.
    """

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._room = _SMALLEST
        self._core = make(_SMALLEST)
        self._successor: Any = None
        self._pushes = 0
        # What moves rows is compiled, or loaded, now and not at the first push that needs it.
        self._core.take(*self._core.part(0, 0))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._core, name)

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        self._core.push(word, missing)
        self._pushes += 1
        if self._pushes % _TURN == 0:
            self._move_on()

    def _move_on(self) -> None:
        """Make a successor if one is due, and take it further."""
        core = self._core
        rows = core.rows
        if self._successor is None and (2 * rows > self._room or 8 * rows < self._room > _SMALLEST):
            self._room = 2 * self._room if 2 * rows > self._room else self._room // 2
            self._successor = self._make(self._room)
            self._successor.begin(core.pushed - rows)
        if self._successor is not None:
            self._successor.take(*core.part(self._successor.rows, _STEP))
            if self._successor.rows == rows:
                self._core, self._successor = self._successor, None

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""
        self._core.pop(number)
        if self._successor is not None:
            self._successor.pop(min(number, self._successor.rows))
            if self._successor.rows == 0:
                self._successor.begin(self._core.pushed - self._core.rows)

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_] | None, pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead."""
        self._room = _SMALLEST
        while self._room < 2 * len(words):
            self._room *= 2
        self._core, self._successor = self._make(self._room), None
        self._core.load(words, missing, pushed)

    def copy(self) -> Self:
        """Return an equal core of its own memory."""
        other = type(self)(self._make)
        other._room, other._pushes, other._core = self._room, self._pushes, self._core.copy()
        other._successor = None if self._successor is None else self._successor.copy()
        return other
