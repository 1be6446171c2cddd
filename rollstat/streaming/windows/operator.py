"""Windows of operator states over a stream: of numbers, in compiled code, or of Python objects.

Both kinds have the same methods, so that what is built on them need not know which it has.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.algorithms.bound_calls import bind, kind
from rollstat.kernels.aggregate import window, window_extend
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, free_size, is_idle, rehouse, settle
from rollstat.kernels.aggregate.window import FOLDED, LEAST, MORE, NEXT
from rollstat.kernels.stream.steps import push_row
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.operator_results import OfArrays, Results, Written

__all__ = ["NumberWindow", "ObjectWindow"]


# An array of so many windows takes them by halves; to begin with that, and to end, costs about two of them.
_MANY_WINDOWS = 4


class NumberWindow(OfArrays):
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
        Number of observations to make room for.
    stamps : dtype
        Of the stamps.
    size : {"free", "fixed", "folding"}
        Whether room is made for more; or there never are more; or nothing ever leaves, and the states are
        combined into one where they use up their room.

    Attributes
    ----------
    header : ndarray of int64
        Counters, with those of :mod:`rollstat.kernels.aggregate.window` at the end.
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
        queues: dict[str, Any] = {"two_stacks": window.TwoStacks, "daba": window.Daba}
        self._made_with = operator, layout, element, algorithm, capacity, stamps, size
        self.queue = queues[algorithm]()
        self.operator, self.layout, self._algorithm, self._size = operator, layout, algorithm, size
        header, cells = self.queue.create(layout.state, capacity)
        header = np.concatenate([header, np.zeros(MORE, np.int64)])
        rings = np.zeros(int(header[MASK]) + 1, stamps)
        stamp = rings[0].item()
        self.header: NDArray[np.int64]
        self.cells: Any
        self.stamps: Any
        self.arrays = [header, cells, rings]
        self._results = Results(operator, layout)
        start = self.queue, operator, self.header, self.cells, self.stamps, stamp, False
        results = self._results.out, self._results.failed
        self._slide = bind(window.slide, *start, stamp, element, True, 1, *results)
        self._evict = bind(window.evict, *start)
        self._evaluate = bind(window.evaluate, *start[:4], *results)
        self._extends: dict[Any, Any] = {}

    def quick_arguments(self, least: int) -> tuple[Any, ...]:
        """What a step takes before the float, for results of at least so many observations."""
        self.header[LEAST] = least
        return self.queue, self.operator, self.header, self.cells, self.stamps

    def quick_step(self, least: int) -> tuple[Any, ...]:
        """The step that pushes a float into a window of SPAN rows, and what it takes before that."""
        return push_row, *self.quick_arguments(least)

    @property
    def size(self) -> int:
        """Observations in the window."""
        return int(self.header[END] - self.header[FRONT] + self.header[FOLDED])

    def slide(self, limit: Any, stamp: Any, element: Any, observed: bool = True, wanted: int = 1) -> int:
        """Drop states stamped at or before `limit`, take in an element if `observed`, and compute.

        Returns the number of observations; if they are at least `wanted` (which is positive), :meth:`read`
        gives the result.
        """
        while True:
            folded = int(self.header[FOLDED])
            size: int = self._slide(
                self.queue,
                self.operator,
                self.header,
                self.cells,
                self.stamps,
                limit,
                False,
                stamp,
                element,
                observed,
                max(wanted - folded, 1),
                self._results.out,
                self._results.failed,
            )
            if size >= 0:
                return size + folded
            self._make_room()

    def _make_room(self) -> None:
        if self._size == "folding":
            self.fold()
        else:
            self.cells, self.stamps = rehouse(self.header, [self.cells, self.stamps])

    def fold(self) -> None:
        """Combine all states into one; the observations stay as many."""
        size = self.size
        if size:
            window.fold(self.queue, self.operator, self.header, self.cells)
            self.header[FOLDED] = size - 1

    def join(self, other: Self) -> None:
        """Take in all that another window holds, as if it had been pushed here, into one state."""
        size = self.size + other.size
        if other.size and not self.size:
            counters = self.header[-MORE:].copy()
            self.arrays = [array.copy() for array in other.arrays]
            self.header[-MORE:] = counters
            self.fold()
        elif other.size:
            others = other.header, other.cells
            window.join(self.queue, self.operator, self.header, self.cells, *others)
        self.header[FOLDED] = max(size - 1, 0)

    def evict(self, limit: Any, closed: bool = False) -> None:
        """Drop states stamped before `limit`, and those at it unless the window is `closed` there."""
        self._evict(self.queue, self.operator, self.header, self.cells, self.stamps, limit, closed)

    def read(self) -> Any:
        """The result that :meth:`slide` computed."""
        return self._results.read()

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        self._evaluate(
            self.queue, self.operator, self.header, self.cells, self._results.out, self._results.failed
        )
        return self._results.read()

    def extend(
        self,
        times: NDArray[Any],
        span: Any,
        values: Any,
        missing: NDArray[np.bool_],
        wanted: int = 1,
        written: Written | None = None,
    ) -> Written:
        """Take in many elements, each for the window ``(time - span, time]``.

        Parameters
        ----------
        times, span, values, missing
            The elements. In a fixed window times are the numbers of their rows.
        wanted : int
            Observations that a result needs, at least 1.
        written : Written, optional
            Where to write.

        Returns
        -------
        Written
            Results; those of rows with too few observations mean nothing.
        """
        written = Written.of(self.layout, len(times)) if written is None else written
        # No limit is before the earliest time that a whole number can be.
        earliest = -np.inf if times.dtype.kind == "f" else np.iinfo(times.dtype).min
        by_row, whole = self._size == "fixed", not missing.any()
        # All else is of one type.
        of, row = kind(values), 0
        halves = by_row and whole and self._algorithm == "daba" and len(times) >= _MANY_WINDOWS * span
        suffixes = np.empty(3 * (int(span) // 2) if halves else 0, self.layout.state)
        while True:
            least = max(wanted - int(self.header[FOLDED]), 1)
            windows = span, times.dtype.type(earliest)
            given = times, values, missing, by_row, whole, row, suffixes, least, *written.columns
            arguments = self.queue, self.operator, *self.arrays, *windows, *given
            if of not in self._extends:
                self._extends[of] = bind(window_extend.extend, *arguments)
            row = self._extends[of](*arguments)
            if row == len(times):
                break
            self._make_room()
        if is_idle(self.header, self.cells):
            self._make_room()
        return written

    def load(self, times: NDArray[Any], values: Any, missing: NDArray[np.bool_]) -> None:
        """Hold these elements instead, in a window that is fixed."""
        if missing.any():
            several = isinstance(values, tuple)
            values = tuple(column[~missing] for column in values) if several else values[~missing]
            times = times[~missing]
        state = self.queue, self.operator, self.header, self.cells, self.stamps
        arguments = *state, times, values
        bind(window.load, *arguments)(*arguments)

    def clear(self) -> None:
        """Forget all rows of a window that is fixed; the next one has the number 0."""
        mask = self.header[MASK]
        self.header[:-MORE], self.header[MASK] = 0, mask
        self.header[NEXT] = 0

    def adopt(self, arrays: list[NDArray[Any]]) -> None:
        """Go on with the arrays of a snapshot, or raise."""
        header, cells, stamps = arrays
        headers, like, times = self.arrays
        shapes = header.shape == headers.shape and cells.shape[1:] == like.shape[1:]
        cells = np.ascontiguousarray(cells).astype(like.dtype)
        fits = shapes and stamps.dtype == times.dtype and len(stamps) == header[MASK] + 1
        fits = fits and (self._size != "fixed" or len(stamps) >= len(times))
        if not (fits and header[FOLDED] >= 0 and self.queue.check(header, cells)):
            raise ValueError("its arrays do not fit together")
        self.arrays = [header, cells, stamps]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The whole state; a queue of free size is at home in one ring then."""
        if self._size != "free":
            return [self.header, self.cells, self.stamps]
        return [self.header, *settle(self.header, [self.cells, self.stamps])]

    @arrays.setter
    def arrays(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.header, self.cells, self.stamps = arrays
        if self._size == "free":
            self.cells, self.stamps = free_size([self.cells, self.stamps])


class ObjectWindow:
    """A queue of states of Python objects, with the methods of :class:`NumberWindow`: two stacks of lists."""

    def __init__(self, operator: Any) -> None:
        self.header = [0] * MORE
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
        return len(self._stamps) + self.header[FOLDED]

    def copy(self) -> Self:
        """Return an equal window; states are shared, and from now on nobody's to be changed in place."""
        self._owned = False
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.header, other._stamps = self.header.copy(), self._stamps.copy()
        other._front, other._back = self._front.copy(), self._back.copy()
        return other

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
        for stamp in stamps:
            if stamp > limit or (closed and stamp == limit):
                break
            gone += 1
        kept = len(self._front) - gone
        if kept >= 0:
            del self._front[kept:]
        else:
            # The front stack is used up: what is left of the back one becomes suffixes, the oldest on top.
            states = self._back[-kept:]
            suffixes = states[-1:]
            for state in reversed(states[:-1]):
                suffixes.append(self.operator.combine(state, suffixes[-1]))
            self._front, self._back, self._total = suffixes, [], None
        for _ in range(gone):
            stamps.popleft()

    def slide(self, limit: Any, stamp: Any, element: Any, observed: bool = True, wanted: int = 1) -> int:
        """Drop states stamped at or before `limit`, and take in an element if `observed`."""
        self.evict(limit)
        if observed:
            self._push(stamp, element)
        return self.size

    def _state(self) -> Any:
        """All states combined; there are some."""
        if not self._back:
            return self._front[-1]
        if not self._front:
            self._owned = False
            return self._total
        state = self.operator.combine(self._front[-1], self._total)
        if state is self._total:
            self._owned = False
        return state

    def _hold(self, state: Any, size: int) -> None:
        stamp = self._stamps[-1] if self._stamps else 0
        self._front, self._back, self._total, self._owned = [], [state], state, False
        self._stamps = deque([stamp])
        self.header[FOLDED] = size - 1

    def fold(self) -> None:
        """Combine all states into one; the observations stay as many."""
        if self.size:
            self._hold(self._state(), self.size)

    def join(self, other: Self) -> None:
        """Take in all that another window holds, as if it had been pushed here, into one state."""
        if other.size:
            state = other._state()
            if self.size:
                state = self.operator.combine(self._state(), state)
            self._hold(state, self.size + other.size)

    def read(self) -> Any:
        """The result of the window, which must have observations."""
        return self.value()

    def value(self) -> Any:
        """The result of the window, which must have observations."""
        state = self._state()
        return state if self._lower is None else self._lower(state)
