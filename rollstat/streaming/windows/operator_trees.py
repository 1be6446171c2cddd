"""The greedy algorithm online: windows of operator states as they are asked for, of numbers or of objects.

Both classes have the same methods; see :mod:`rollstat.kernels.aggregate.greedy`. A method in which the
operator raises changes nothing. Rings are made smaller when rows use less than an eighth of them.
"""

from collections import deque
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.compile.bound_calls import bind
from rollstat.kernels.aggregate import greedy
from rollstat.kernels.aggregate.greedy import LEFT, MASK, RIGHT
from rollstat.kernels.rings import suitable_size
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import NEVER, ArrayState, Result

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
        state = self._state = greedy.create_online(layout.state, capacity)
        self._result = Result(operator, layout)
        self._append = bind(greedy.append, operator, state, element, True)
        self._fresh = state.cells[:0].copy()
        result = self._result.arguments
        self._move = bind(greedy.move, operator, state, self._fresh, 0, 0, 1, *result)
        self._evaluate = bind(greedy.evaluate, operator, state.header, state.cells, *result)

    @property
    def state(self) -> list[NDArray[Any]]:
        """The whole state as arrays."""
        return list(self._state)

    @state.setter
    def state(self, state: list[NDArray[Any]]) -> None:
        self._state = greedy.Online(*state)

    def adopt(self, state: list[NDArray[Any]]) -> None:
        """Take over the arrays of a snapshot; raise ValueError if they are inconsistent."""
        own = self._state
        alike = all(
            ours.dtype == theirs.dtype and ours.shape[1:] == theirs.shape[1:] and ours.ndim == theirs.ndim
            for ours, theirs in zip(own, state, strict=True)
        )
        found = greedy.Online(*state)
        if not (alike and greedy.check_online(found)):
            raise ValueError("its arrays do not fit together")
        # A dtype that is equal may be laid out without the mark of alignment.
        self.state = list(found._replace(cells=found.cells.astype(own.cells.dtype)))

    @property
    def rows(self) -> int:
        """Number of rows that have arrived."""
        return int(self._state.arrival[greedy.ROWS])

    @property
    def observations(self) -> int:
        """Observations of the last window."""
        return int(self._state.header[RIGHT] - self._state.header[LEFT])

    @property
    def bounds(self) -> tuple[int, int]:
        """Bounds of the last window."""
        arrival = self._state.arrival
        return int(arrival[greedy.FIRST]), int(arrival[greedy.LAST])

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        while not self._append(self.operator, self._state, element, observed):
            self._state = greedy.resize_online(self._state, 2 * len(self._state.cells))

    def extend(self, values: Any, missing: NDArray[np.bool_]) -> None:
        """Add the rows of arrays."""
        several, arrival = isinstance(values, tuple), self._state.arrival
        before = arrival.copy()
        try:
            for i in range(len(missing)):
                self.push(tuple(column[i] for column in values) if several else values[i], not missing[i])
        except Exception:
            arrival[:] = before
            raise

    def move(self, left: int, right: int, min_periods: int = NEVER) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        arguments = left, right, min_periods, *self._result.arguments
        size: int = self._move(self.operator, self._state, self._fresh, *arguments)
        if size < 0:
            self._fresh = np.zeros((2 * ~size, *self._fresh.shape[1:]), self._fresh.dtype)
            size = self._move(self.operator, self._state, self._fresh, *arguments)
        cells = len(self._state.cells)
        suitable = suitable_size(max(self.rows - left, 0), cells)
        if suitable < cells:
            self._state = greedy.resize_online(self._state, suitable)
            self._fresh = self._fresh[:0].copy()
        return size

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        self._evaluate(self.operator, self._state.header, self._state.cells, *self._result.arguments)
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
        self._cells: list[Any] = [None] * 16
        self._result: Any = None

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
        """Return an equal tree that shares the states, which never change."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._cells = self._cells.copy()
        other._ordinals, other._plan = self._ordinals.copy(), self._plan.copy()
        other._tree = tuple(array.copy() for array in self._tree)
        return other

    def _resize(self, size: int) -> None:
        mask, cells = self._mask, self._cells
        header, top, below = self._tree
        self._tree = header, *greedy.resize(header, top, below, size)
        self._plan = np.empty((2, size), np.int64)
        self._cells = [None] * size
        for position in range(self._first, self._observed):
            self._cells[position & (size - 1)] = cells[position & mask]

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        if self.rows >= self._left:
            state = element if self._lift is None or not observed else self._lift(element)
            self._ordinals.append(self._observed)
            if observed:
                if self._observed - self._first > self._mask:
                    self._resize(2 * len(self._cells))
                self._cells[self._observed & self._mask] = state
                self._observed += 1
        self.rows += 1

    def extend(self, elements: Any, missing: NDArray[np.bool_]) -> None:
        """Add the rows of arrays."""
        rows, observed, ordinals = self.rows, self._observed, len(self._ordinals)
        try:
            for element, is_missing in zip(elements, missing.tolist()):
                self.push(element, not is_missing)
        except Exception:
            self._free(observed, self._observed)
            self.rows, self._observed = rows, observed
            while len(self._ordinals) > ordinals:
                self._ordinals.pop()
            raise

    def _free(self, first: int, last: int) -> None:
        for position in range(first, last):
            self._cells[position & self._mask] = None

    def _ordinal(self, row: int) -> int:
        return self._ordinals[row - self._left] if row < self.rows else self._observed

    def move(self, left: int, right: int, min_periods: int = NEVER) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        low = self._ordinal(left)
        high = self._ordinal(right) if left < right else low
        older, newer = self._plan
        first, mask, cells = self._first, self._mask, self._cells
        count = greedy.list_combinations(*self._tree, low, high, older, newer, 0)
        combine, fresh, state = self.operator.combine, [], cells[(newer[0] if count else low) & mask]
        for position in older[:count].tolist():
            state = combine(cells[position & mask], state)
            fresh.append(state)
        if high - low >= min_periods:
            self._result = state if self._lower is None else self._lower(state)
        for position, state in zip(older[:count].tolist(), fresh):
            cells[position & mask] = state
        greedy.commit_window(*self._tree, low, high, older, newer, 0, count)
        self._free(first, low)
        for _ in range(min(left, self.rows) - self._left):
            self._ordinals.popleft()
        self._left, self._right = left, right
        suitable = suitable_size(max(self.rows - left, 0), len(cells))
        if suitable < len(cells):
            self._resize(suitable)
        return high - low

    def result(self) -> Any:
        """Return the result that the last move computed."""
        result, self._result = self._result, None
        return result

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        state = self._cells[self._first & self._mask]
        return state if self._lower is None else self._lower(state)
