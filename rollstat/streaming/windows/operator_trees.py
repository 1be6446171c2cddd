"""The greedy algorithm online: windows of operator states as they are asked for, of numbers or of objects.

Both kinds have the same methods, so that what is built on them need not know which it has.
"""

from collections import deque
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.bound_calls import bind
from rollstat.algorithms.objects import ObjectCells
from rollstat.kernels.aggregate import greedy, greedy_stream
from rollstat.kernels.aggregate.greedy import LEFT, MASK
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import OfArrays, Results

__all__ = ["NumberTree", "ObjectTree"]


class NumberTree(OfArrays):
    """The greedy algorithm online over numbers.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.algorithms.aggregate.prepare` returned them.
    element : number, array or tuple
        An element of the types that will be appended.
    capacity : int
        Number of rows to make room for; the tree grows when it needs to.
    """

    def __init__(self, operator: Any, layout: Layout, element: Any, capacity: int = 16) -> None:
        self._made_with = operator, layout, element, capacity
        self.operator, self.layout = operator, layout
        self.arrays = list(greedy_stream.create(layout.state, capacity))
        self._results = Results(operator, layout)
        header, arrival, ordinals, _, _, cells, _, _ = self.arrays
        results = self._results.out, self._results.failed
        self._append = bind(greedy_stream.append, operator, header, arrival, ordinals, cells, element, True)
        self._move = bind(greedy_stream.move, operator, *self.arrays, 0, 0)
        self._evaluate = bind(greedy_stream.evaluate, operator, header, cells, *results)

    def sound(self, arrays: list[NDArray[Any]]) -> bool:
        """Whether arrays from elsewhere can be the state of this tree."""
        header, arrival, ordinals, top, below, cells, older, newer = arrays
        size = len(cells)
        rings = all(len(ring) == size for ring in (ordinals, older, newer))
        kinds = all(ours.dtype == theirs.dtype for ours, theirs in zip(self.arrays, arrays))
        shapes = header.shape == self.arrays[0].shape and arrival.shape == self.arrays[1].shape
        if not (rings and kinds and shapes and cells.shape[1:] == self.arrays[5].shape[1:]):
            return False
        return bool(header[MASK] == size - 1 and greedy.check(header, top, below))

    @property
    def rows(self) -> int:
        """Rows that have arrived."""
        return int(self.arrays[1][greedy_stream.ROWS])

    @property
    def bounds(self) -> tuple[int, int]:
        """The last window."""
        return int(self.arrays[1][greedy_stream.FIRST]), int(self.arrays[1][greedy_stream.LAST])

    def append(self, element: Any, observed: bool = True) -> None:
        """Take in a row."""
        while True:
            header, arrival, ordinals, _, _, cells, _, _ = self.arrays
            if self._append(self.operator, header, arrival, ordinals, cells, element, observed):
                return
            self.arrays = list(greedy_stream.grow(*self.arrays))

    def move(self, left: int, right: int) -> int:
        """Move to the window of rows [left, right), no bound falling; return its observations."""
        return int(self._move(self.operator, *self.arrays, left, right))

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        header, cells = self.arrays[0], self.arrays[5]
        self._evaluate(self.operator, header, cells, self._results.out, self._results.failed)
        return self._results.read()


class ObjectTree:
    """The greedy algorithm online over Python objects, with the methods of :class:`NumberTree`."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator
        self._lift = getattr(operator, "lift", None)
        self._lower = getattr(operator, "lower", None)
        # Observations before each row from the last window's start on.
        self._ordinals: deque[int] = deque()
        self.rows = self._observed = self._left = self._right = 0
        self._header, self._top, self._below = greedy.create(16)
        self._plan = np.empty((2, 16), np.int64)
        self._cells = ObjectCells(operator, 16)

    @property
    def bounds(self) -> tuple[int, int]:
        """The last window."""
        return self._left, self._right

    def copy(self) -> Self:
        """Return an equal tree; states are shared, and from now on nobody's to be changed in place."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        self._cells.owned[:] = bytes(len(self._cells.owned))
        other._cells = ObjectCells(self.operator, len(self._cells.items))
        other._cells.items[:] = self._cells.items
        other._ordinals, other._plan = self._ordinals.copy(), self._plan.copy()
        other._header, other._top = self._header.copy(), self._top.copy()
        other._below = self._below.copy()
        return other

    def _grow(self) -> None:
        mask, items, owned = int(self._header[MASK]), self._cells.items, self._cells.owned
        self._top, self._below = greedy.grow(self._header, self._top, self._below)
        size = 2 * len(items)
        self._plan = np.empty((2, size), np.int64)
        self._cells = ObjectCells(self.operator, size)
        for position in range(int(self._header[LEFT]), self._observed):
            self._cells.items[position & (size - 1)] = items[position & mask]
            self._cells.owned[position & (size - 1)] = owned[position & mask]

    def append(self, element: Any, observed: bool = True) -> None:
        """Take in a row."""
        if self.rows >= self._left:
            self._ordinals.append(self._observed)
            if observed:
                if self._observed - self._header[LEFT] > self._header[MASK]:
                    self._grow()
                state = element if self._lift is None else self._lift(element)
                self._cells.put(self._observed & int(self._header[MASK]), state)
                self._observed += 1
        self.rows += 1

    def _position(self, row: int) -> int:
        return self._ordinals[row - self._left] if row < self.rows else self._observed

    def move(self, left: int, right: int) -> int:
        """Move to the window of rows [left, right), no bound falling; return its observations."""
        low = self._position(left)
        high = self._position(right) if left < right else low
        older, newer = self._plan
        first, mask = int(self._header[LEFT]), int(self._header[MASK])
        arguments = self._header, self._top, self._below, low, high
        count = greedy.plan_window(*arguments, older, newer, 0)
        self._cells.carry_out(zip(older[:count].tolist(), newer[:count].tolist()))
        for position in range(first, low):
            self._cells.items[position & mask] = None
        for _ in range(min(left, self.rows) - self._left):
            self._ordinals.popleft()
        self._left, self._right = left, right
        return high - low

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        state = self._cells.show(int(self._header[LEFT] & self._header[MASK]))
        return state if self._lower is None else self._lower(state)
