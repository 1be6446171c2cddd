"""Windows of operator states over a stream: of numbers, in compiled code, or of Python objects.

Both kinds have the same methods, so that what is built on them need not know which it has.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import config, typeof
from numpy.typing import DTypeLike, NDArray

from rollstat.algorithms.aggregate import AggregateOverflow
from rollstat.algorithms.objects import ObjectCells
from rollstat.kernels import greedy, greedy_stream, window_stream
from rollstat.kernels.greedy import LEFT, MASK
from rollstat.kernels.state_queue import END, FRONT, grow
from rollstat.kernels.state_queue import MASK as QUEUE_MASK
from rollstat.operators.layout import Layout

__all__ = ["NumberTree", "NumberWindow", "ObjectTree", "ObjectWindow"]


def _bind(kernel: Any, *arguments: Any) -> Any:
    """The compiled function for arguments of these types.

    It is called without looking at the types again, which for operators takes longer than the call.
    """
    return kernel if config.DISABLE_JIT else kernel.compile(tuple(map(typeof, arguments)))


class _Results:
    """Where compiled code writes the result of one window."""

    def __init__(self, operator: Any, layout: Layout) -> None:
        self.operator, self.layout = operator, layout
        self.arrays = [np.zeros((1, *output.shape), output.base) for output in layout.outputs]
        self.out: Any = self.arrays[0] if layout.single else tuple(self.arrays)
        self.failed = np.zeros(1, np.bool_)
        self._plain = layout.single and not layout.outputs[0].shape

    def read(self) -> Any:
        """The result as Python numbers, or arrays; an error if it does not fit."""
        if self.failed[0]:
            self.failed[0] = False
            raise AggregateOverflow(self.operator, self.layout.outputs[0], 0)
        if self._plain:
            return self.out.item()
        values = tuple(a[0].copy() if a.ndim > 1 else a.item() for a in self.arrays)
        return values[0] if self.layout.single else values


class NumberWindow:
    """A queue of states of numbers, each with a stamp: its row or its time.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.algorithms.aggregate.prepare` returned them.
    element : number, array or tuple
        An element of the types that will be pushed.
    algorithm : {"two_stacks", "daba"}
        Amortised, or worst-case, O(1) combinations a step.
    capacity : int
        Number of observations to make room for; the window grows when it needs to.
    stamps : dtype
        Of the stamps.
    """

    def __init__(
        self,
        operator: Any,
        layout: Layout,
        element: Any,
        algorithm: str = "two_stacks",
        capacity: int = 16,
        stamps: DTypeLike = np.int64,
    ) -> None:
        queues: dict[str, Any] = {"two_stacks": window_stream.TwoStacks, "daba": window_stream.Daba}
        self._queue = queues[algorithm]()
        self.operator, self.layout = operator, layout
        self.header, self.cells = self._queue.create(layout.state, capacity)
        self.stamps = np.zeros(int(self.header[QUEUE_MASK]) + 1, stamps)
        self._results = _Results(operator, layout)
        stamp = self.stamps[0].item()
        start = self._queue, operator, self.header, self.cells, self.stamps, stamp, False
        results = self._results.out, self._results.failed
        self._slide = _bind(window_stream.slide, *start, stamp, element, True, 1, *results)
        self._evict = _bind(window_stream.evict, *start)
        self._evaluate = _bind(window_stream.evaluate, *start[:4], *results)

    @property
    def size(self) -> int:
        """Observations in the window."""
        return int(self.header[END] - self.header[FRONT])

    def slide(self, limit: Any, stamp: Any, element: Any, observed: bool = True, wanted: int = 1) -> int:
        """Drop states stamped at or before `limit`, take in an element if `observed`, and compute.

        Returns the number of observations; if they are at least `wanted` (which is positive), :meth:`read`
        gives the result.
        """
        while True:
            size: int = self._slide(
                self._queue,
                self.operator,
                self.header,
                self.cells,
                self.stamps,
                limit,
                False,
                stamp,
                element,
                observed,
                wanted,
                self._results.out,
                self._results.failed,
            )
            if size >= 0:
                return size
            self._grow()

    def _grow(self) -> None:
        rings = [self.cells, self.stamps]
        self.cells, self.stamps = grow(self.header, rings, 2 * len(self.stamps))

    def evict(self, limit: Any, closed: bool = False) -> None:
        """Drop states stamped before `limit`, and those at it unless the window is `closed` there."""
        self._evict(self._queue, self.operator, self.header, self.cells, self.stamps, limit, closed)

    def read(self) -> Any:
        """The result that :meth:`slide` computed."""
        return self._results.read()

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        self._evaluate(
            self._queue, self.operator, self.header, self.cells, self._results.out, self._results.failed
        )
        return self._results.read()

    def extend(
        self, times: NDArray[Any], span: Any, values: Any, missing: NDArray[np.bool_]
    ) -> tuple[list[NDArray[Any]], NDArray[np.int64], NDArray[np.bool_]]:
        """Take in many elements, each for the window ``(time - span, time]``.

        Returns the results, the number of observations in each row, and where a result did not fit. Rows
        without observations hold zeros.
        """
        rows = len(times)
        arrays = [np.zeros((rows, *output.shape), output.base) for output in self.layout.outputs]
        out: Any = arrays[0] if self.layout.single else tuple(arrays)
        count, failed = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
        row = 0
        while True:
            state = self.header, self.cells, self.stamps
            given = times, values, missing, row, out, count, failed
            row = window_stream.extend(self._queue, self.operator, *state, span, False, *given)
            if row == rows:
                return arrays, count, failed
            self._grow()

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The whole state."""
        return [self.header, self.cells, self.stamps]

    @arrays.setter
    def arrays(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.header, self.cells, self.stamps = arrays


class ObjectWindow:
    """A queue of states of Python objects, with the methods of :class:`NumberWindow`: two stacks of lists."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator
        self._lift = getattr(operator, "lift", None)
        self._lower = getattr(operator, "lower", None)
        self._combine_into = getattr(operator, "combine_into", None)
        self._stamps: deque[Any] = deque()
        self._front: list[Any] = []
        self._back: list[Any] = []
        self._total: Any = None
        self._owned = False

    @property
    def size(self) -> int:
        """Observations in the window."""
        return len(self._stamps)

    def _push(self, stamp: Any, element: Any) -> None:
        state = element if self._lift is None else self._lift(element)
        if not self._back:
            self._total, self._owned = state, False
        elif self._owned and self._combine_into is not None:
            self._total = self._combine_into(self._total, state)
            self._owned = self._total is not state
        else:
            older = self._total
            self._total = self.operator.combine(older, state)
            self._owned = self._total is not older and self._total is not state
        self._back.append(state)
        self._stamps.append(stamp)

    def evict(self, limit: Any, closed: bool = False) -> None:
        """Drop states stamped before `limit`, and those at it unless the window is `closed` there."""
        stamps, gone = self._stamps, 0
        while stamps and (stamps[0] < limit or (stamps[0] == limit and not closed)):
            stamps.popleft()
            gone += 1
        kept = len(self._front) - gone
        if kept >= 0:
            del self._front[kept:]
            return
        # The front stack is used up: what is left of the back one becomes suffixes, the oldest on top.
        states = self._back[-kept:]
        suffixes = states[-1:]
        for state in reversed(states[:-1]):
            suffixes.append(self.operator.combine(state, suffixes[-1]))
        self._front, self._back, self._total = suffixes, [], None

    def slide(self, limit: Any, stamp: Any, element: Any, observed: bool = True, wanted: int = 1) -> int:
        """Drop states stamped at or before `limit`, and take in an element if `observed`."""
        self.evict(limit)
        if observed:
            self._push(stamp, element)
        return len(self._stamps)

    def read(self) -> Any:
        """The result of the window, which must have observations."""
        return self.value()

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        if not self._back:
            state = self._front[-1]
        elif not self._front:
            state, self._owned = self._total, False
        else:
            state = self.operator.combine(self._front[-1], self._total)
            if state is self._total:
                self._owned = False
        return state if self._lower is None else self._lower(state)


class NumberTree:
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
        self.operator, self.layout = operator, layout
        self.arrays = list(greedy_stream.create(layout.state, capacity))
        self._results = _Results(operator, layout)
        header, arrival, ordinals, _, _, cells, _, _ = self.arrays
        results = self._results.out, self._results.failed
        self._append = _bind(greedy_stream.append, operator, header, arrival, ordinals, cells, element, True)
        self._move = _bind(greedy_stream.move, operator, *self.arrays, 0, 0)
        self._evaluate = _bind(greedy_stream.evaluate, operator, header, cells, *results)

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
