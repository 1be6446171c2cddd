"""Windows of operator states over a stream: of numbers, in compiled code, or of Python objects.

Both have the same methods: ``push``, ``pop``, ``extend`` (numbers only), ``value``, ``fold`` and ``join``.
A window in which the operator has raised in any of them but ``value`` must not be used; see ``fail`` of
:class:`rollstat.streaming.operator_window.OperatorWindow`.
"""

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.compile.bound_calls import bind, kind
from rollstat.kernels.aggregate import window, window_extend
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, resize
from rollstat.kernels.aggregate.window import FOLDED, LEAST, MORE
from rollstat.kernels.rings import resized_ring, suitable_size
from rollstat.kernels.stream.steps import push_row
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import ArrayState, Result, Written
from rollstat.thresholds import STREAM_HALVED_WINDOWS

__all__ = ["NumberWindow", "ObjectWindow"]


class NumberWindow(ArrayState):
    """A two-buffer queue of states of numbers, each with a stamp: its row number or its time.

    Parameters
    ----------
    operator, layout
        As :func:`rollstat.statistics.aggregate.drivers.prepare` returns them.
    element : number, array or tuple
        An element of the types that will be pushed.
    algorithm : {"two_stacks", "daba"}
        Amortised, or worst-case, O(1) combinations a step.
    capacity : int
        Number of observations that the first ring has room for.
    stamps : dtype
        Of the stamps.
    size : {"free", "fixed", "folding"}
        What happens when the ring is full. ``"free"``: the ring is resized. ``"fixed"``: it never is full,
        since the capacity is that of the window. ``"folding"``: all states are combined into one, because
        the window drops nothing.

    Attributes
    ----------
    header : ndarray of int64
        Counters; the last slots are those of :mod:`rollstat.kernels.aggregate.window`.
    """

    def __init__(
        self,
        operator: Any,
        layout: Layout,
        element: Any,
        algorithm: str = "two_stacks",
        capacity: int = 16,
        stamps: DTypeLike = np.int64,
        size: str = "free",
    ) -> None:
        self._arguments = operator, layout, element, algorithm, capacity, stamps, size
        queue: Any = window.QUEUES[algorithm]
        self.queue = queue
        self.operator, self.layout, self._algorithm, self._size = operator, layout, algorithm, size
        header, cells = queue.functions.create(layout.state, capacity)
        header = np.concatenate([header, np.zeros(MORE, np.int64)])
        ring = np.zeros(int(header[MASK]) + 1, stamps)
        stamp = ring[0].item()
        self.header: NDArray[np.int64]
        self.cells: Any
        self.stamps: Any
        self.state = [header, cells, ring]
        self._result = Result(operator, layout)
        arguments = self.queue, operator, self.header, self.cells, self.stamps, stamp
        result = self._result.arguments
        self._push = bind(window.push, *arguments, stamp, element, True, 1, *result)
        self._evaluate = bind(window.evaluate, self.queue, operator, self.header, self.cells, *result)
        self._extends: dict[Any, Any] = {}

    def quick_step(self, least: int) -> tuple[Any, ...]:
        """Return the step that pushes a float into a window of SPAN rows, and what it takes before that."""
        self.header[LEAST] = least
        return push_row, self.queue, self.operator, self.header, self.cells, self.stamps

    @property
    def size(self) -> int:
        """Number of observations in the window."""
        return int(self.header[END] - self.header[FRONT] + self.header[FOLDED])

    def push(self, limit: Any, stamp: Any, element: Any, observed: bool = True, min_periods: int = 1) -> int:
        """Drop the states stamped at or before `limit`, and add an element if it is `observed`.

        Returns the number of observations. If they are at least `min_periods` (>= 1), :meth:`result` returns
        the result.
        """
        while True:
            size: int = self._push(
                self.queue,
                self.operator,
                self.header,
                self.cells,
                self.stamps,
                limit,
                stamp,
                element,
                observed,
                max(min_periods - int(self.header[FOLDED]), 1),
                *self._result.arguments,
            )
            if size >= 0:
                self._shrink(size)
                return size + int(self.header[FOLDED])
            self._make_room()

    def _make_room(self) -> None:
        if self._size == "folding":
            self.fold()
        else:
            self._resize(2 * len(self.stamps))

    def _resize(self, size: int) -> None:
        stamps = resized_ring(self.stamps, int(self.header[FRONT]), size)
        self.cells, self.stamps = resize(self.header, self.cells, size), stamps

    def _shrink(self, used: int) -> None:
        """Take a smaller ring if few cells are used."""
        if self._size == "free" and 8 * used < len(self.stamps):
            suitable = suitable_size(used, len(self.stamps))
            if suitable < len(self.stamps):
                self._resize(suitable)

    def fold(self) -> None:
        """Combine all states into one; the number of observations stays."""
        size = self.size
        if size:
            window.fold(self.queue, self.operator, self.header, self.cells)
            self.header[FOLDED] = size - 1

    def join(self, other: Self) -> None:
        """Add all that `other` holds, as if it had been pushed here, and combine all into one state."""
        size = self.size + other.size
        if other.size and not self.size:
            counters = self.header[-MORE:].copy()
            self.state = [array.copy() for array in other.state]
            self.header[-MORE:] = counters
            self.fold()
        elif other.size:
            others = other.header, other.cells
            window.join(self.queue, self.operator, self.header, self.cells, *others)
        self.header[FOLDED] = max(size - 1, 0)

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        self._evaluate(self.queue, self.operator, self.header, self.cells, *self._result.arguments)
        return self._result.read()

    def extend(
        self,
        stamps: NDArray[Any],
        span: Any,
        values: Any,
        missing: NDArray[np.bool_],
        min_periods: int = 1,
        written: Written | None = None,
    ) -> Written:
        """Add many elements, and compute the result of the window ``(stamp - span, stamp]`` of each.

        Parameters
        ----------
        stamps, span, values, missing
            The elements. In a fixed window the stamps are row numbers.
        min_periods : int
            Observations that a result needs, at least 1.
        written : Written, optional
            Where to write.

        Returns
        -------
        Written
            The results.
        """
        written = Written.of(self.layout, len(stamps)) if written is None else written
        by_row, observed = self._size == "fixed", not missing.any()
        spans = window_extend.Spans(span, by_row, observed)
        # Spans of times can be as large as their dtype, those of rows are small.
        halves = by_row and observed and self._algorithm == "daba"
        halves = halves and len(stamps) >= STREAM_HALVED_WINDOWS * int(span)
        suffixes = np.empty(3 * (int(span) // 2) if halves else 0, self.layout.state)
        rows = window.Rows(stamps, values, missing)
        # The other arguments of all calls have the same types.
        of, row = kind(values), 0
        while True:
            results = written.for_kernels(max(min_periods - int(self.header[FOLDED]), 1))
            arguments = self.queue, self.operator, *self.state, spans, rows, suffixes, results, row
            if of not in self._extends:
                self._extends[of] = bind(window_extend.extend, *arguments)
            row = self._extends[of](*arguments)
            if row == len(stamps):
                break
            self._make_room()
        self._shrink(self.size)
        return written

    def load(self, stamps: NDArray[Any], values: Any, missing: NDArray[np.bool_]) -> None:
        """Replace the contents of a fixed window by these elements."""
        if missing.any():
            several = isinstance(values, tuple)
            values = tuple(column[~missing] for column in values) if several else values[~missing]
            stamps = stamps[~missing]
        rows = window.Rows(stamps, values, np.zeros(0, np.bool_))
        arguments = self.queue, self.operator, self.header, self.cells, self.stamps, rows
        bind(window.load_rows, *arguments)(*arguments)

    def adopt(self, state: list[NDArray[Any]], fixed: int, newest: Any) -> None:
        """Take over the arrays of a snapshot; raise ValueError if they are inconsistent.

        `fixed` is the number of rows of the window or 0, `newest` the time of the newest row or None.
        """
        header, cells, stamps = state
        own = self.state
        alike = all(
            ours.dtype == theirs.dtype and ours.shape[1:] == theirs.shape[1:] and ours.ndim == theirs.ndim
            for ours, theirs in zip(own, state, strict=True)
        )
        fits = alike and header.shape == own[0].shape
        fits = fits and (self._size != "fixed" or len(stamps) == len(own[2]))
        fits = fits and (self._size == "folding" or header[FOLDED] == 0)
        if not (fits and window.check(self.queue, header, cells, stamps, fixed, newest)):
            raise ValueError("its arrays do not fit together")
        cells = cells.astype(own[1].dtype)  # an equal dtype may lack the mark of alignment
        self.state = [header, cells, stamps]

    @property
    def state(self) -> list[NDArray[Any]]:
        """The whole state as arrays."""
        return [self.header, self.cells, self.stamps]

    @state.setter
    def state(self, state: Sequence[NDArray[Any]]) -> None:
        self.header, self.cells, self.stamps = state


class ObjectWindow:
    """A two-buffer window of states of Python objects, with methods of :class:`NumberWindow`.

    The older buffer is a list of suffixes whose last item is that of the oldest element, so that dropping
    shortens it; see :mod:`rollstat.kernels.aggregate.two_stacks`. A total that was made here, by ``combine``,
    and that nobody else has seen is owned: ``combine_into`` may change it in place.
    """

    def __init__(self, operator: Any) -> None:
        self.header = [0] * MORE
        self.operator = operator
        self._lift = getattr(operator, "lift", None)
        self._lower = getattr(operator, "lower", None)
        self._combine_into = getattr(operator, "combine_into", None)
        self._stamps: deque[Any] = deque()
        self._older: list[Any] = []
        self._newer: list[Any] = []
        self._total: Any = None
        self._owned = False
        self._result: Any = None

    @property
    def size(self) -> int:
        """Number of observations in the window."""
        return len(self._stamps) + self.header[FOLDED]

    def copy(self) -> Self:
        """Return an equal window that shares the states, so that neither changes them in place."""
        self._owned = False
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.header, other._stamps = self.header.copy(), self._stamps.copy()
        other._older, other._newer = self._older.copy(), self._newer.copy()
        return other

    def _suffixes(self, states: list[Any]) -> list[Any]:
        """Return the suffixes of states, that of the oldest one last."""
        suffixes = states[-1:]
        for state in reversed(states[:-1]):
            suffixes.append(self.operator.combine(state, suffixes[-1]))
        return suffixes

    def _lowered(self, state: Any) -> Any:
        return state if self._lower is None else self._lower(state)

    def push(self, limit: Any, stamp: Any, element: Any, observed: bool = True, min_periods: int = 1) -> int:
        """Drop the states stamped at or before `limit`, add an element if `observed`; return the size.

        If it is at least `min_periods`, :meth:`result` returns the result.
        """
        number = sum(1 for _ in takewhile(lambda stamp: stamp <= limit, self._stamps))
        kept = len(self._older) - number
        if kept < 0:
            self._older, self._newer = self._suffixes(self._newer[-kept:]), []
        else:
            del self._older[kept:]
        for _ in range(number):
            self._stamps.popleft()
        if observed:
            self._append(element if self._lift is None else self._lift(element))
            self._stamps.append(stamp)
        if self.size >= min_periods:
            self._result = self._lowered(self._state())
        return self.size

    def _append(self, state: Any) -> None:
        """Append a state to the newer buffer, and combine its total."""
        before = self._total
        if not self._newer:
            self._total, self._owned = state, False
        elif self._owned and self._combine_into is not None:
            self._total = self._combine_into(before, state)
            self._owned = self._total is not state
        else:
            self._total = self.operator.combine(before, state)
            self._owned = self._total is not before and self._total is not state
        self._newer.append(state)

    def _state(self) -> Any:
        """Return all states combined; there is at least one."""
        if not self._newer:
            return self._older[-1]
        state = self.operator.combine(self._older[-1], self._total) if self._older else self._total
        self._owned = self._owned and state is not self._total  # a total that is returned is seen
        return state

    def _set_single(self, state: Any, size: int) -> None:
        """Replace the contents by one state, of so many observations."""
        stamp = self._stamps[-1] if self._stamps else 0
        self._older, self._newer, self._total, self._owned = [], [state], state, False
        self._stamps = deque([stamp])
        self.header[FOLDED] = size - 1

    def fold(self) -> None:
        """Combine all states into one; the number of observations stays."""
        if self.size:
            self._set_single(self._state(), self.size)

    def join(self, other: Self) -> None:
        """Add all that `other` holds, as if it had been pushed here, and combine all into one state."""
        if other.size:
            state = other._state()
            if self.size:
                state = self.operator.combine(self._state(), state)
            self._set_single(state, self.size + other.size)

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        return self._lowered(self._state())

    def result(self) -> Any:
        """Return the result that the last push or pop computed."""
        result, self._result = self._result, None
        return result
