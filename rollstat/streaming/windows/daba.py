"""Core of an extremum by DABA Lite: rows in a ring, and a queue of operator states beside it.

::

    rows     4.0  nan  3.0  1.0  2.0         what was pushed, for snapshots and for extending
    queue    states of those that are not missing, whose combination is the answer
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

__all__ = ["StatesWindow"]

_FIRST_CAPACITY = 64


class StatesWindow:
    """A window and the combination of its observations, O(1) in every single step.

    Parameters
    ----------
    operator : Operator
        Whose results are words like its elements.
    fixed : int
        Rows of a window of a fixed number of them, which a ring keeps, else 0: then linked chunks do.
    dtype : dtype
        Of the words.
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
        # NaN says it all of floats.
        self._absent: NDArray[np.bool_] = np.zeros(0 if dtype.kind == "f" else len(self._ring), np.bool_)
        self._words, self._marks = LinkedQueue(dtype), LinkedQueue(np.bool_)

    def quick_step(self, least: int) -> tuple[Any, tuple[Any, ...]]:
        """Compiled step of a float, and its arguments."""
        return OperatorWithRows(), (self._ring, *self._window.quick_arguments(least))

    @property
    def rows(self) -> int:
        """Rows in the window."""
        rows = self.pushed - int(self._window.header[FIRST])
        return min(rows, self.fixed or rows)

    @property
    def count(self) -> int:
        """Observations among them."""
        return self._window.size

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self._window.header[NEXT])

    def extreme(self) -> Any:
        """The combination; there is an observation."""
        return self._window.value()

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        row = self.pushed
        self._write(np.array([word], self.dtype), np.array([missing]), row + 1)
        first = row - self.fixed if self.fixed else int(self._window.header[FIRST]) - 1
        self._window.slide(first, row, self.dtype.type(word), not missing)
        self._window.header[NEXT] = row + 1

    def _write(self, words: NDArray[Any], marks: NDArray[np.bool_], end: int) -> None:
        """Keep rows, the last of which is before row `end`."""
        if not self.fixed:
            for word, mark in zip(words, marks):
                self._words.append(word)
                self._marks.append(mark)
            return
        first = end - len(words)
        if self.dtype.kind == "f":
            write_ring(self._ring, first, np.where(marks, np.nan, words))
        else:
            write_ring(self._ring, first, words)
            write_ring(self._absent, first, marks)

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""
        self._window.header[FIRST] += number
        self._window.evict(int(self._window.header[FIRST]) - 1)
        self._words.drop(number)
        self._marks.drop(number)

    def contents(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Words and missing marks of the rows, oldest first."""
        if not self.fixed:
            return self._words.numbers, self._marks.numbers
        place = self.pushed - self.rows, self.rows
        words = read_ring(self._ring, *place)
        return words, np.isnan(words) if self.dtype.kind == "f" else read_ring(self._absent, *place)

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_], pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead."""
        first = pushed - len(words)
        stamps = np.arange(first, pushed)
        if self.fixed:
            self._window.load(stamps, words, missing)
            self._write(words, missing, pushed)
        else:
            self._window.evict(self.pushed)
            self._window.extend(stamps, np.int64(len(words) + 1), words, missing)
            self._words.load(words)
            self._marks.load(missing)
        self._window.header[[NEXT, FIRST]] = pushed, first

    def copy(self) -> Self:
        """Return an equal core of its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._window = self._window.copy()
        other._ring, other._absent = self._ring.copy(), self._absent.copy()
        other._words, other._marks = self._words.copy(), self._marks.copy()
        return other
