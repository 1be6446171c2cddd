"""The greedy algorithm online: windows of operator states as they are asked for, of numbers or of objects.

Both classes have the same methods; see :mod:`rollstat.kernels.aggregate.greedy`.
"""

from collections import deque
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.bound_calls import bind
from rollstat.algorithms.objects import ObjectCells
from rollstat.kernels.aggregate import greedy
from rollstat.kernels.aggregate.greedy import LEFT, MASK
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import ArrayState, Result

__all__ = ["NumberTree", "ObjectTree"]


class NumberTree(ArrayState):
    """The greedy algorithm online over numbers.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.algorithms.aggregate.prepare` returns them.
    element : number, array or tuple
        An element of the types that will be pushed.
    capacity : int
        Number of rows that the first rings have room for.
    """

    def __init__(self, operator: Any, layout: Layout, element: Any, capacity: int = 16) -> None:
        self._arguments = operator, layout, element, capacity
        self.operator, self.layout = operator, layout
        self.state = list(greedy.create_online(layout.state, capacity))
        self._result = Result(operator, layout)
        header, arrival, ordinals, _, _, cells, _, _ = self.state
        self._append = bind(greedy.append, operator, header, arrival, ordinals, cells, element, True)
        self._move = bind(greedy.move, operator, *self.state, 0, 0)
        self._evaluate = bind(greedy.evaluate, operator, header, cells, *self._result.arguments)

    def adopt(self, state: list[NDArray[Any]]) -> None:
        """Take over the arrays of a snapshot; raise ValueError if they are inconsistent."""
        header, arrival, ordinals, top, below, cells, older, newer = state
        own_cells = self.state[5]
        state[5] = cells = np.ascontiguousarray(cells).astype(own_cells.dtype)
        size = len(cells)
        rings = all(len(ring) == size for ring in (ordinals, older, newer))
        kinds = all(ours.dtype == theirs.dtype for ours, theirs in zip(self.state, state))
        shapes = header.shape == self.state[0].shape and arrival.shape == self.state[1].shape
        fits = rings and kinds and shapes and cells.shape[1:] == own_cells.shape[1:]
        if not (fits and header[MASK] == size - 1 and greedy.check(header, top, below)):
            raise ValueError("its arrays do not fit together")
        self.state = state

    @property
    def rows(self) -> int:
        """Number of rows that have arrived."""
        return int(self.state[1][greedy.ROWS])

    @property
    def bounds(self) -> tuple[int, int]:
        """Bounds of the last window."""
        return int(self.state[1][greedy.FIRST]), int(self.state[1][greedy.LAST])

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        while True:
            header, arrival, ordinals, _, _, cells, _, _ = self.state
            if self._append(self.operator, header, arrival, ordinals, cells, element, observed):
                return
            self.state = list(greedy.grow_online(*self.state))

    def move(self, left: int, right: int) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations."""
        return int(self._move(self.operator, *self.state, left, right))

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        self._evaluate(self.operator, self.state[0], self.state[5], *self._result.arguments)
        return self._result.read()


class ObjectTree:
    """The greedy algorithm online over Python objects, with the methods of :class:`NumberTree`."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator
        self._lift = getattr(operator, "lift", None)
        self._lower = getattr(operator, "lower", None)
        # Number of observations before each row, from the start of the last window on.
        self._ordinals: deque[int] = deque()
        self.rows = self._observed = self._left = self._right = 0
        self._tree = greedy.create(16)
        self._plan = np.empty((2, 16), np.int64)
        self._cells = ObjectCells(operator, 16)

    @property
    def _mask(self) -> int:
        return int(self._tree[0][MASK])

    @property
    def _first(self) -> int:
        """Ordinal of the first observation of the last window."""
        return int(self._tree[0][LEFT])

    @property
    def bounds(self) -> tuple[int, int]:
        """Bounds of the last window."""
        return self._left, self._right

    def copy(self) -> Self:
        """Return an equal tree that shares the states, so that neither changes them in place."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        self._cells.owned[:] = bytes(len(self._cells.owned))
        other._cells = ObjectCells(self.operator, len(self._cells.items))
        other._cells.items[:] = self._cells.items
        other._ordinals, other._plan = self._ordinals.copy(), self._plan.copy()
        other._tree = tuple(array.copy() for array in self._tree)
        return other

    def _grow(self) -> None:
        mask, items, owned = self._mask, self._cells.items, self._cells.owned
        header, top, below = self._tree
        self._tree = header, *greedy.grow(header, top, below)
        size = 2 * len(items)
        self._plan = np.empty((2, size), np.int64)
        self._cells = ObjectCells(self.operator, size)
        for position in range(self._first, self._observed):
            self._cells.items[position & (size - 1)] = items[position & mask]
            self._cells.owned[position & (size - 1)] = owned[position & mask]

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        if self.rows >= self._left:
            self._ordinals.append(self._observed)
            if observed:
                if self._observed - self._first > self._mask:
                    self._grow()
                state = element if self._lift is None else self._lift(element)
                self._cells.put(self._observed & self._mask, state)
                self._observed += 1
        self.rows += 1

    def _ordinal(self, row: int) -> int:
        return self._ordinals[row - self._left] if row < self.rows else self._observed

    def move(self, left: int, right: int) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations."""
        low = self._ordinal(left)
        high = self._ordinal(right) if left < right else low
        older, newer = self._plan
        first, mask = self._first, self._mask
        count = greedy.plan_window(*self._tree, low, high, older, newer, 0)
        self._cells.execute(zip(older[:count].tolist(), newer[:count].tolist()))
        for position in range(first, low):
            self._cells.items[position & mask] = None
        for _ in range(min(left, self.rows) - self._left):
            self._ordinals.popleft()
        self._left, self._right = left, right
        return high - low

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        state = self._cells.release(self._first & self._mask)
        return state if self._lower is None else self._lower(state)
