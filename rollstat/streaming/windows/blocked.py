"""Core of an operator over the last so many rows of a stream: rows in rings, states of blocks of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.bound_calls import bind, kind
from rollstat.kernels.aggregate import blocked_window, window
from rollstat.kernels.aggregate.blocked_window import (
    BUILT,
    COUNT,
    CURRENT,
    EXTRA,
    INSIDE,
    LAST,
    LAST_BUILT,
    MORE,
    SHIFT,
    length_of_block,
)
from rollstat.kernels.aggregate.ring_queue import MASK, ring_size
from rollstat.kernels.aggregate.window import FIRST, LEAST, NEXT, SPAN
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import OfArrays, Results, Written
from rollstat.streaming.windows.rings import parts_of_ring, read_ring

__all__ = ["RowsWindow"]


class RowsWindow(OfArrays):
    """The last so many rows of a stream, with the methods of :class:`NumberWindow` that a push needs.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.algorithms.aggregate.prepare` returned them; states are numbers or tuples of them.
    element : number or tuple
        An element of the types that will be pushed.
    algorithm : {"two_stacks", "daba"}
        Of the queue of blocks: amortised, or worst-case, O(1) combinations a step.
    rows : int
        Of the window.
    """

    def __init__(self, operator: Any, layout: Layout, element: Any, algorithm: str, rows: int) -> None:
        queues: dict[str, Any] = {"two_stacks": window.TwoStacks, "daba": window.Daba}
        self._made_with = operator, layout, element, algorithm, rows
        self.queue, self.operator, self.layout = queues[algorithm](), operator, layout
        block = length_of_block(rows)
        header, cells = self.queue.create(layout.state, rows // block + 1)
        self._extra = 2 * block + EXTRA
        stamps = np.zeros(int(header[MASK]) + 1, np.int64)
        self._several = isinstance(element, tuple)
        elements = element if self._several else (element,)
        rings = [np.zeros(ring_size(rows), np.asarray(x).dtype) for x in elements]
        self.header: NDArray[np.int64]
        self.cells: Any
        self.stamps: Any
        self.arrays = [
            np.concatenate([header, np.zeros(MORE, np.int64)]),
            np.concatenate([cells, np.zeros(self._extra, cells.dtype)]),
            stamps,
            np.zeros(len(rings[0]), np.bool_),
            *rings,
        ]
        self.header[SHIFT], self.header[SPAN] = block.bit_length() - 1, rows
        self.header[[LAST, LAST_BUILT]], self.header[BUILT] = -1, block
        self._empty = self.header.copy()
        self._results = Results(operator, layout)
        self._codes: dict[Any, Any] = {}
        results = self._results.out, self._results.failed
        self._slide = bind(blocked_window.slide, *self._state, 0, element, True, 1, *results)
        self._evaluate = bind(blocked_window.evaluate, self.operator, self.header, self.cells, 0, *results)

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The whole state."""
        return [self.header, self.cells, self.stamps, self._absent, *self._rings]

    @arrays.setter
    def arrays(self, arrays: list[NDArray[Any]]) -> None:
        self.header, self.cells, self.stamps, self._absent, *self._rings = arrays
        self._elements: Any = tuple(self._rings) if self._several else self._rings[0]

    def adopt(self, arrays: list[NDArray[Any]]) -> None:
        """Go on with the arrays of a snapshot, or raise."""
        like = self.arrays
        if [(array.shape, array.dtype) for array in arrays] != [(array.shape, array.dtype) for array in like]:
            raise ValueError("its arrays do not fit its window")
        header, cells = arrays[:2]
        block, ones = 1 << int(self.header[SHIFT]), [CURRENT, INSIDE]
        inside = (
            (header[[SHIFT, SPAN, FIRST]] == self.header[[SHIFT, SPAN, FIRST]]).all()
            and 0 <= header[COUNT] <= min(header[SPAN], header[NEXT])
            and ((header[ones] == 0) | (header[ones] == 1)).all()
            and (header[[LAST, LAST_BUILT]] >= -1).all()
            and (header[[LAST, LAST_BUILT]] < block).all()
            and 0 <= header[BUILT] <= block
        )
        if not (inside and self.queue.check(header, cells[: -self._extra])):
            raise ValueError("its arrays do not fit together")
        self.arrays = arrays

    @property
    def size(self) -> int:
        """Observations in the window."""
        return int(self.header[COUNT])

    @property
    def _state(self) -> tuple[Any, ...]:
        queue = self.queue, self.operator, self.header, self.cells, self.stamps
        return *queue, self._absent, self._elements

    def quick_step(self, least: int) -> tuple[Any, ...]:
        """The step that pushes a float, and what it takes before that."""
        self.header[LEAST] = least
        return blocked_window.push_row, *self._state

    def slide(self, limit: Any, stamp: int, element: Any, observed: bool = True, wanted: int = 1) -> int:
        """Take in the element of row number `stamp` if it is `observed`; what leaves goes by its row.

        Returns the number of observations; if they are at least `wanted`, :meth:`read` gives the result.
        """
        results = self._results.out, self._results.failed
        size: int = self._slide(*self._state, stamp, element, observed, wanted, *results)
        return size

    def _run(self, kernel: Any, *arguments: Any) -> None:
        """Call a kernel with the state, of the types of which all calls are, and further arguments."""
        of = kernel, *map(kind, arguments)
        if of not in self._codes:
            self._codes[of] = bind(kernel, *self._state, *arguments)
        self._codes[of](*self._state, *arguments)

    def read(self) -> Any:
        """The result that :meth:`slide` computed."""
        return self._results.read()

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        results = self._results
        end = int(self.header[NEXT])
        self._evaluate(self.operator, self.header, self.cells, end, results.out, results.failed)
        return results.read()

    def extend(
        self,
        stamps: NDArray[np.int64],
        span: Any,
        values: Any,
        missing: NDArray[np.bool_],
        wanted: int = 1,
        written: Written | None = None,
    ) -> Written:
        """Take in many rows, numbered by `stamps` without a gap, and return the result after each."""
        written = Written.of(self.layout, len(missing)) if written is None else written
        if len(missing):
            self._run(blocked_window.extend, int(stamps[0]), values, missing, wanted, *written.columns)
        return written

    def before(self, newer: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Columns of the rows held, NaN where they are missing, and then of `newer` ones, floats."""
        end = int(self.header[NEXT])
        first = max(end - int(self.header[SPAN]), 0)
        held = end - first
        joined = [
            np.concatenate([*parts_of_ring(ring, first, held), column], dtype=column.dtype)
            for ring, column in zip(self._rings, newer)
        ]
        if int(self.header[COUNT]) < held:
            missing = read_ring(self._absent, first, held)
            for column in joined:
                column[:held][missing] = np.nan
        return joined

    def clear(self) -> None:
        """Forget all rows; the next one has the number 0."""
        least = self.header[LEAST]
        self.header[:] = self._empty
        self.header[LEAST] = least

    def load(self, end: int, values: Any, missing: NDArray[np.bool_] | None) -> None:
        """Hold these rows instead, the last of which is before row `end`; as many as the window has, or all.

        Where `missing` is None, those are missing that are NaN.
        """
        self.clear()
        self.header[NEXT] = end
        self._run(blocked_window.load_rows, end, values, missing)
