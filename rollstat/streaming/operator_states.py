"""States of an operator for the rows of a window over a stream: of numbers, in compiled code, or of objects.

Both classes of windows have the methods ``push``, ``extend`` (numbers only), ``value`` and ``join``. A window
in which the operator has raised in any of them but ``value`` must not be used; see
:mod:`rollstat.streaming.base`.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.compile.bound_calls import BoundKernel, bind, kind
from rollstat.kernels.aggregate import base_intervals, window, window_extend
from rollstat.kernels.aggregate.operator_calls import lower, take
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, resize
from rollstat.kernels.aggregate.window import FOLDED, MORE, SPAN
from rollstat.kernels.rings import SMALLEST, resized_ring, suitable_size
from rollstat.operators.layout import Layout
from rollstat.results import convert
from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.window_spec import WindowSpec

# As `min_periods` of a step: do not compute the result.
NEVER = 2**62
_MANY_ROWS = 2**62


@dataclass(frozen=True, slots=True)
class Written:
    """Results of rows, where compiled code writes them.

    Attributes
    ----------
    arrays : list of ndarray
        One for each output.
    insufficient, failed : ndarray of bool
        Rows with too few observations, and rows whose result does not fit; their items in `arrays` are not
        meaningful.
    single : bool
        Whether there is one output, not a tuple of them.
    """

    arrays: list[NDArray[Any]]
    insufficient: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    single: bool

    @classmethod
    def of(cls, layout: Layout, rows: int, dtypes: Sequence[DTypeLike] | None = None) -> Self:
        """Return memory for `rows` results, of the dtypes of the layout or of others."""
        bases = [output.base for output in layout.outputs] if dtypes is None else dtypes
        # Rows without a result are converted like the others, so they must not hold numbers that overflow.
        make = np.zeros if dtypes is None else np.empty
        arrays = [make((rows, *output.shape), base) for output, base in zip(layout.outputs, bases)]
        return cls(arrays, np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), layout.single)

    @property
    def out(self) -> Any:
        """The argument `out` of kernels."""
        return self.arrays[0] if self.single else tuple(self.arrays)

    def part(self, rows: slice, spare: Self) -> Self:
        """Return some of the rows, in the memory of `spare` for results whose dtype differs here."""
        insufficient = self.insufficient[rows]
        arrays = [
            array[rows] if array.dtype == other.dtype else other[: len(insufficient)]
            for array, other in zip(self.arrays, spare.arrays)
        ]
        return type(self)(arrays, insufficient, self.failed[rows], self.single)

    def convert(self, rows: slice, part: Self) -> None:
        """Copy the results of a part whose dtype differs here; warn if integers are rounded."""
        for array, given in zip(self.arrays, part.arrays):
            if array.dtype != given.dtype:
                given[part.insufficient | part.failed] = 0
                convert(given, array[rows])

    def read(self, operator: Any) -> Any:
        """Return the only result as Python numbers, or arrays; raise OverflowError if it does not fit."""
        if self.failed.item():
            self.failed[0] = False
            name, dtype = type(operator).__name__, self.arrays[0].dtype
            raise OverflowError(f"the exact {name} of the window does not fit {dtype}")
        values = [a[0].copy() if a.ndim > 1 else a.item() for a in self.arrays]
        return values[0] if self.single else tuple(values)


class ArrayState:
    """States of an operator that are a list of arrays, with memory for a result: copying and pickling.

    Parameters
    ----------
    adapter : OperatorAdapter
        The operator, prepared for the elements.
    *arguments
        What else the class takes.
    """

    state: Any

    def __init__(self, adapter: OperatorAdapter, *arguments: Any) -> None:
        self._arguments = adapter, *arguments
        self.operator, self.layout = adapter.ready, adapter.layout
        self._make_result()

    def _make_result(self) -> None:
        if self.layout is not None:
            self._written = Written.of(self.layout, 1)
            # The last arguments of kernels.
            self._result = self._written.out, self._written.failed

    def __reduce__(self) -> Any:
        return type(self), self._arguments, self.state

    def __setstate__(self, state: list[NDArray[Any]]) -> None:
        self.state = state

    def copy(self) -> Self:
        """Return an equal one with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.state = [array.copy() for array in self.state]
        other._make_result()
        return other

    def result(self) -> Any:
        """Return the result that the last push computed."""
        return self._written.read(self.operator)

    def _is_consistent(self, state: list[NDArray[Any]], newest: Any) -> bool:
        """Return whether arrays of the right dtypes are a state; `newest` is the last time or None."""
        raise NotImplementedError  # every class of states has its own

    def adopt(self, state: list[NDArray[Any]], newest: Any = None) -> None:
        """Take over the arrays of a snapshot; raise ValueError if they do not fit or are inconsistent."""
        own = self.state
        alike = all(
            ours.dtype == theirs.dtype and ours.shape[1:] == theirs.shape[1:] and ours.ndim == theirs.ndim
            for ours, theirs in zip(own, state, strict=True)
        )
        if not (alike and self._is_consistent(state, newest)):
            raise ValueError("its arrays do not fit together")
        # A dtype that is equal may be laid out without the mark of alignment.
        self.state = [theirs.astype(ours.dtype) for ours, theirs in zip(own, state)]


class NumberWindow(ArrayState):
    """A two-buffer queue of states of numbers, each with a stamp: its row number or its time.

    The ring of a window of a fixed number of rows has room for all of them. In a full ring of an expanding
    window all states are combined into one, because the window drops nothing. Other rings are resized.

    Parameters
    ----------
    adapter : OperatorAdapter
        The operator.
    spec : WindowSpec
        The window.
    algorithm : {"two_stacks", "daba"}
        Amortised, or worst-case, O(1) combinations a step.

    Attributes
    ----------
    header : ndarray of int64
        Counters; the last slots belong to :mod:`rollstat.kernels.aggregate.window`.
    """

    header: NDArray[np.int64]
    cells: Any
    stamps: Any

    def __init__(self, adapter: OperatorAdapter, spec: WindowSpec, algorithm: str) -> None:
        super().__init__(adapter, spec, algorithm)
        self.spec, self._algorithm = spec, algorithm
        queue: Any = self._queue(algorithm)
        self.queue = queue
        header, cells = queue.functions.create(self.layout.state, spec.fixed or SMALLEST)
        header = np.concatenate([header, np.zeros(MORE, np.int64)])
        header[SPAN] = spec.fixed or _MANY_ROWS
        self.state = [header, cells, np.zeros(int(header[MASK]) + 1, spec.time_dtype)]
        self._push, self._evaluate = BoundKernel(window.push), BoundKernel(window.evaluate)
        self._bound: dict[Any, Any] = {}

    def _queue(self, algorithm: str) -> Any:
        return window.QUEUES[algorithm]

    @property
    def state(self) -> list[NDArray[Any]]:
        """The whole state as arrays."""
        return [self.header, self.cells, self.stamps]

    @state.setter
    def state(self, state: Sequence[NDArray[Any]]) -> None:
        self.header, self.cells, self.stamps = state

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
            header, needs = self.header, max(min_periods - int(self.header[FOLDED]), 1)
            queue = self.queue, self.operator, header, self.cells, self.stamps
            size: int = self._push(*queue, limit, stamp, element, observed, needs, *self._result)
            if size >= 0:
                self._shrink(size)
                return size + int(header[FOLDED])
            self.make_room()

    def make_room(self) -> None:
        """Before a push, combine all states of an expanding window, or change the length of the ring."""
        used, size = int(self.header[END] - self.header[FRONT]) + 1, len(self.stamps)
        if self.spec.kind == "expanding":
            self.fold()
        elif size != (suitable := 2 * size if used > size else suitable_size(used, size)):
            self._resize(suitable)

    def _resize(self, size: int) -> None:
        stamps = resized_ring(self.stamps, int(self.header[FRONT]), size)
        self.cells, self.stamps = resize(self.header, self.cells, size), stamps

    def _shrink(self, used: int) -> None:
        """Take a smaller ring if few cells are used."""
        if 8 * used < len(self.stamps) and not self.spec.fixed:
            suitable = suitable_size(used, len(self.stamps))
            if suitable < len(self.stamps):
                self._resize(suitable)

    def clear(self) -> None:
        """Remove all states; memory, and the number of the next row, stay."""
        mask = self.header[MASK]
        self.header[:-MORE] = 0
        self.header[MASK] = mask

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
        self._evaluate(self.queue, self.operator, self.header, self.cells, *self._result)
        return self.result()

    def extend(
        self,
        stamps: NDArray[Any],
        values: Any,
        missing: NDArray[np.bool_],
        min_periods: int = 1,
        written: Written | None = None,
    ) -> Written:
        """Add many elements, and compute the result of the window that ends at each.

        Parameters
        ----------
        stamps, values, missing
            The elements; in a window without a width the stamps are row numbers.
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
        span = stamps.dtype.type(self.spec.size) if self.spec.by_width else self.header[SPAN]
        spans = window_extend.Spans(span, self.spec.fixed > 0)
        rows = window.Rows(stamps, values, missing)
        of, row = kind(values), 0
        while True:
            needs = max(min_periods - int(self.header[FOLDED]), 1)
            results = window.Results(written.out, written.insufficient, written.failed, needs)
            arguments = self.queue, self.operator, *self.state, spans, rows, results, row
            row = self._call(window_extend.extend, of, *arguments)
            if row == len(stamps):
                break
            self.make_room()
        self._shrink(self.size)
        return written

    def _call(self, kernel: Any, of: Any, *arguments: Any) -> Any:
        """Call a kernel with elements of a kind; its other arguments have the same types in all calls."""
        key = kernel, of
        if key not in self._bound:
            self._bound[key] = bind(kernel, *arguments)
        return self._bound[key](*arguments)

    def _is_consistent(self, state: list[NDArray[Any]], newest: Any) -> bool:
        """Return whether arrays of the right dtypes are a state; `newest` is the last time or None."""
        spec, (own, _, ring), (header, cells, stamps) = self.spec, self.state, state
        fits = header.shape == own.shape and header[SPAN] == own[SPAN]
        fits = fits and (not spec.fixed or len(stamps) == len(ring))
        fits = fits and (spec.kind == "expanding" or header[FOLDED] == 0)
        return fits and window.check(self.queue, header, cells, stamps, spec.fixed, newest)


class LateWindow(NumberWindow):
    """States of a time window, in order of time, that takes elements older than the newest one.

    See :mod:`rollstat.kernels.aggregate.base_intervals`.
    """

    def _queue(self, algorithm: str) -> Any:
        return window.LATE

    def insert(self, stamp: Any, element: Any, observed: bool, min_periods: int) -> int:
        """Add an element in its place if it is `observed`; return the number of observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        arguments = self.stamps.dtype.type(stamp).item(), element
        while observed:
            given = self.operator, *self.state, *arguments
            if bind(base_intervals.insert, *given)(*given):
                break
            self.make_room()
        if self.size >= min_periods:
            self._evaluate(self.queue, self.operator, self.header, self.cells, *self._result)
        return self.size

    def _resize(self, size: int) -> None:
        super()._resize(size)
        self.cells = np.concatenate([self.cells[:size], np.zeros_like(self.cells[:size])])
        given = self.operator, self.header, self.cells, int(self.header[FRONT])
        bind(base_intervals.build, *given)(*given)

    def extend(
        self,
        stamps: NDArray[Any],
        values: Any,
        missing: NDArray[np.bool_],
        min_periods: int = 1,
        written: Written | None = None,
    ) -> Written:
        """Add many elements as :meth:`NumberWindow.extend` does, one by one."""
        written = Written.of(self.layout, len(stamps)) if written is None else written
        for row, stamp in enumerate(stamps.tolist()):
            element = take(values, row)
            size = self.push(self.spec.limit(stamp), stamp, element, not missing[row], min_periods)
            written.insufficient[row], written.failed[row] = size < min_periods, self._written.failed[0]
            self._written.failed[0] = False
            for out, result in zip(written.arrays, self._written.arrays):
                out[row] = result[0]
        return written


def lifted(operator: Any, element: Any) -> Any:
    """Return the state of a Python object."""
    return operator.lift(element) if hasattr(operator, "lift") else element


class ObjectWindow:
    """A two-buffer window of states of Python objects, with methods of :class:`NumberWindow`.

    The older buffer is a list of suffixes whose last item belongs to the oldest element, so that dropping
    shortens it; see :mod:`rollstat.kernels.aggregate.two_stacks`. A total that was made here, by ``combine``,
    and that nobody else has seen is owned: ``combine_into`` may change it in place.
    """

    def __init__(self, adapter: OperatorAdapter, spec: WindowSpec, algorithm: str) -> None:
        self.header = [0] * MORE
        self.header[SPAN] = spec.fixed or _MANY_ROWS
        self.operator = adapter.operator
        self._combine_into = getattr(self.operator, "combine_into", None)
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
        """Return the suffixes of states, from the newest to the oldest."""
        suffixes = states[-1:]
        for state in reversed(states[:-1]):
            suffixes.append(self.operator.combine(state, suffixes[-1]))
        return suffixes

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
            self._append(lifted(self.operator, element))
            self._stamps.append(stamp)
        if self.size >= min_periods:
            self._result = lower(self.operator, self._state())
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

    def join(self, other: Self) -> None:
        """Add all that `other` holds, as if it had been pushed here, and combine all into one state."""
        if not other.size:
            return
        state, size, stamp = other._state(), self.size + other.size, other._stamps[-1]
        if self.size:
            state = self.operator.combine(self._state(), state)
        self._older, self._newer, self._total, self._owned = [], [state], state, False
        self._stamps = deque([stamp])
        self.header[FOLDED] = size - 1

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        return lower(self.operator, self._state())

    def result(self) -> Any:
        """Return the result that the last push or pop computed."""
        result, self._result = self._result, None
        return result
