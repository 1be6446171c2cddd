"""An operator over the last rows of a stream: rows in rings, and states of blocks of them.

See :mod:`rollstat.kernels.aggregate.blocked_window`. It takes less memory than :class:`NumberWindow`,
builds the window at once from the last rows of a long array, and can return the rows that it holds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.bound_calls import bind, kind
from rollstat.kernels.aggregate import blocked_window
from rollstat.kernels.aggregate.blocked_window import (
    COUNT,
    EXTRA,
    HALF,
    HAS_PREFIX,
    LAST,
    NEXT_LAST,
    SHIFT,
    SLOTS,
    UNBUILT,
    block_length,
)
from rollstat.kernels.aggregate.ring_queue import MASK, ring_size
from rollstat.kernels.aggregate.window import FIRST, LEAST, NEXT, QUEUES, SPAN, Rows
from rollstat.operators.layout import Layout, as_cells
from rollstat.streaming.windows.operator_results import ArrayState, Result, Written
from rollstat.streaming.windows.rings import parts_of_ring, read_ring

__all__ = ["BlockedWindow"]


class BlockedWindow(ArrayState):
    """The last `rows` rows of a stream, with the methods of :class:`NumberWindow` that a fixed window needs.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.algorithms.aggregate.prepare` returns them; states are numbers or tuples of them.
    element : number or tuple
        An element of the types that will be pushed.
    algorithm : {"two_stacks", "daba"}
        Of the queue of blocks: amortised, or worst-case, O(1) combinations a step.
    rows : int
        Rows of the window.
    """

    def __init__(self, operator: Any, layout: Layout, element: Any, algorithm: str, rows: int) -> None:
        self._arguments = operator, layout, element, algorithm, rows
        queue: Any = QUEUES[algorithm]
        self.queue, self.operator, self.layout = queue, operator, layout
        block = block_length(rows)
        header, cells = queue.functions.create(layout.state, rows // block + 1)
        self._extra = 2 * block + EXTRA
        stamps = np.zeros(int(header[MASK]) + 1, np.int64)
        self._several = isinstance(element, tuple)
        elements = element if self._several else (element,)
        rings = [np.zeros(ring_size(rows), np.asarray(x).dtype) for x in elements]
        self.state = [
            np.concatenate([header, np.zeros(SLOTS, np.int64)]),
            np.concatenate([cells, np.zeros(self._extra, cells.dtype)]),
            stamps,
            np.zeros(len(rings[0]), np.bool_),
            *rings,
        ]
        self.header[SHIFT], self.header[SPAN] = block.bit_length() - 1, rows
        self.header[[LAST, NEXT_LAST]], self.header[UNBUILT] = -1, block
        self._empty = self.header.copy()
        self._result = Result(operator, layout)
        self._compiled: dict[Any, Any] = {}
        arguments, result = (self.queue, operator, self._state), self._result.arguments
        self._push = bind(blocked_window.push, *arguments, 0, element, True, 1, *result)
        self._evaluate = bind(blocked_window.evaluate, operator, *self._state[:2], 0, *result)

    @property
    def state(self) -> list[NDArray[Any]]:
        """The whole state as arrays."""
        return [*self._state[:4], *self._rings]

    @state.setter
    def state(self, state: list[NDArray[Any]]) -> None:
        self.header: NDArray[np.int64]
        self.header, cells, stamps, missing, *self._rings = state
        values: Any = tuple(self._rings) if self._several else self._rings[0]
        self._state = blocked_window.State(self.header, cells, stamps, missing, values)

    def adopt(self, state: list[NDArray[Any]]) -> None:
        """Take over the arrays of a snapshot; raise ValueError if they are inconsistent."""
        state = [state[0], as_cells(state[1], self.layout.state), *state[2:]]
        own = [(array.shape, array.dtype) for array in self.state]
        if [(array.shape, array.dtype) for array in state] != own:
            raise ValueError("its arrays do not fit its window")
        header, cells = state[:2]
        block, flags = 1 << int(self.header[SHIFT]), [HALF, HAS_PREFIX]
        in_range = (
            (header[[SHIFT, SPAN, FIRST]] == self.header[[SHIFT, SPAN, FIRST]]).all()
            and 0 <= header[COUNT] <= min(header[SPAN], header[NEXT])
            and ((header[flags] == 0) | (header[flags] == 1)).all()
            and (header[[LAST, NEXT_LAST]] >= -1).all()
            and (header[[LAST, NEXT_LAST]] < block).all()
            and 0 <= header[UNBUILT] <= block
        )
        if not (in_range and self.queue.functions.check(header, cells[: -self._extra])):
            raise ValueError("its arrays do not fit together")
        self.state = state

    @property
    def size(self) -> int:
        """Number of observations in the window."""
        return int(self.header[COUNT])

    def quick_step(self, least: int) -> tuple[Any, ...]:
        """Return the step that pushes a float, and what it takes before that."""
        self.header[LEAST] = least
        return blocked_window.push_row, self.queue, self.operator, *self._state

    def push(self, limit: Any, stamp: int, element: Any, observed: bool = True, min_periods: int = 1) -> int:
        """Add the element of row number `stamp`, if `observed`; always drop the oldest row of a full window.

        Returns the number of observations. If they are at least `min_periods` (>= 1), :meth:`result` returns
        the result.
        """
        arguments = self.queue, self.operator, self._state, stamp, element, observed, min_periods
        size: int = self._push(*arguments, *self._result.arguments)
        return size

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        end, result = int(self.header[NEXT]), self._result
        self._evaluate(self.operator, self.header, self._state.cells, end, *result.arguments)
        return result.read()

    def _run(self, kernel: Any, values: Any, *others: Any) -> None:
        """Call a kernel; only `values`, part of the other arguments, may change its type between calls."""
        arguments = self.queue, self.operator, self._state, *others
        of = kernel, kind(values)
        if of not in self._compiled:
            self._compiled[of] = bind(kernel, *arguments)
        self._compiled[of](*arguments)

    def extend(
        self,
        stamps: NDArray[np.int64],
        span: Any,
        values: Any,
        missing: NDArray[np.bool_],
        min_periods: int = 1,
        written: Written | None = None,
    ) -> Written:
        """Add many rows, numbered by `stamps` without a gap, and compute the result after each."""
        written = Written.of(self.layout, len(missing)) if written is None else written
        rows = Rows(stamps, values, missing)
        self._run(blocked_window.extend, values, rows, written.for_kernels(min_periods))
        return written

    def before(self, newer: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the columns of the rows held, NaN where missing, followed by the floats `newer`."""
        end = int(self.header[NEXT])
        first = max(end - int(self.header[SPAN]), 0)
        held = end - first
        joined = [
            np.concatenate([*parts_of_ring(ring, first, held), column], dtype=column.dtype)
            for ring, column in zip(self._rings, newer)
        ]
        if int(self.header[COUNT]) < held:
            missing = read_ring(self._state.missing, first, held)
            for column in joined:
                column[:held][missing] = np.nan
        return joined

    def clear(self) -> None:
        """Drop all rows; the next row has the number 0."""
        least = self.header[LEAST]
        self.header[:] = self._empty
        self.header[LEAST] = least

    def load(self, first: int, values: Any, missing: NDArray[np.bool_]) -> None:
        """Replace the contents by rows from number `first` on, at most as many as the window has."""
        self.clear()
        self.header[NEXT] = first + len(missing)
        self._run(blocked_window.load_rows, values, first, values, missing)
