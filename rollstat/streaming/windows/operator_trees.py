"""The greedy algorithm online: windows of operator states as they are asked for, of numbers or of objects.

See :mod:`rollstat.kernels.aggregate.greedy`. A method in which the operator raises changes nothing. Rings are
made smaller when rows use less than an eighth of them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.compile.bound_calls import bind
from rollstat.kernels.aggregate import greedy
from rollstat.kernels.aggregate.greedy import LEFT, MASK, RIGHT
from rollstat.kernels.rings import suitable_size
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import NEVER, ArrayState, Result

__all__ = ["NumberTree", "ObjectTree"]


class _Tree(ArrayState):
    """Rows, the last window and the states of its nodes, in arrays."""

    _state: Any

    @property
    def state(self) -> list[NDArray[Any]]:
        """The whole state as arrays."""
        return list(self._state)

    @state.setter
    def state(self, state: list[NDArray[Any]]) -> None:
        self._state = greedy.Online(*state)

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
        raise NotImplementedError  # every class of states has its own

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

    def _grow(self) -> None:
        self._state = greedy.resize_online(self._state, 2 * len(self._state.cells))

    def _shrink(self) -> bool:
        """Take smaller rings if few rows are left; return whether it did."""
        cells = len(self._state.cells)
        suitable = suitable_size(max(self.rows - self.bounds[0], 0), cells)
        if suitable < cells:
            self._state = greedy.resize_online(self._state, suitable)
        return bool(suitable < cells)


class NumberTree(_Tree):
    """The greedy algorithm online over numbers.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.statistics.aggregate.drivers.prepare` returns them.
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

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        while not self._append(self.operator, self._state, element, observed):
            self._grow()

    def move(self, left: int, right: int, min_periods: int = NEVER) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        arguments = left, right, min_periods, *self._result.arguments
        size: int = self._move(self.operator, self._state, self._fresh, *arguments)
        if size < 0:
            self._fresh = np.zeros((2 * ~size, *self._fresh.shape[1:]), self._fresh.dtype)
            size = self._move(self.operator, self._state, self._fresh, *arguments)
        if self._shrink():
            self._fresh = self._fresh[:0].copy()
        return size

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        self._evaluate(self.operator, self._state.header, self._state.cells, *self._result.arguments)
        return self._result.read()


class ObjectTree(_Tree):
    """The greedy algorithm online over Python objects, with the methods of :class:`NumberTree`."""

    layout = None

    def __init__(self, operator: Any) -> None:
        self._arguments = (operator,)
        self.operator = operator
        self._state = greedy.create_online(np.dtype(object), 16)
        self._answer: Any = None

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        lift = getattr(self.operator, "lift", None)
        kept = observed and self.rows >= self.bounds[0]
        state = lift(element) if kept and lift is not None else element
        while (cell := greedy.append_row(*self._state[:3], observed)) == greedy.FULL:
            self._grow()
        if cell >= 0:
            self._state.cells[cell] = state

    def _lowered(self, state: Any) -> Any:
        lower = getattr(self.operator, "lower", None)
        return state if lower is None else lower(state)

    def move(self, left: int, right: int, min_periods: int = NEVER) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        header, arrival, ordinals, top, below, cells, older, newer = self._state
        first, mask = int(header[LEFT]), int(header[MASK])
        low, high, count = greedy.list_move(header, arrival, ordinals, top, below, older, newer, left, right)
        places, fresh = (older[:count] & mask).tolist(), []
        state = cells[(newer[0] if count else low) & mask]
        for place in places:
            state = self.operator.combine(cells[place], state)
            fresh.append(state)
        if high - low >= min_periods:
            self._answer = self._lowered(state)
        for place, state in zip(places, fresh):
            cells[place] = state
        greedy.commit_move(header, arrival, top, below, older, newer, left, right, low, high, count)
        for position in range(first, min(low, first + len(cells))):
            cells[position & mask] = None
        self._shrink()
        return int(high - low)

    def result(self) -> Any:
        """Return the result that the last move computed."""
        result, self._answer = self._answer, None
        return result

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        header = self._state.header
        return self._lowered(self._state.cells[header[LEFT] & header[MASK]])
