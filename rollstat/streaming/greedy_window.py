"""Windows of an operator that are asked for one after another, with the fewest possible combinations.

The states of numbers and of Python objects have a class each; see :mod:`rollstat.kernels.aggregate.greedy`.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.compile.bound_calls import bind
from rollstat.kernels.aggregate import greedy
from rollstat.kernels.aggregate.greedy import LEFT, MASK, RIGHT
from rollstat.kernels.aggregate.operator_calls import lower, take
from rollstat.kernels.rings import SMALLEST, suitable_size
from rollstat.options import whole_number
from rollstat.streaming.base import State, Window
from rollstat.streaming.operator_adapter import OperatorAdapter, operator_by_name
from rollstat.streaming.operator_states import NEVER, ArrayState, lifted
from rollstat.streaming.window_spec import Times, WindowSpec


class _Tree(ArrayState):
    """Rows, the last window and the states of its nodes, in arrays.

    Parameters
    ----------
    adapter : OperatorAdapter
        The operator.
    dtype : dtype
        Of a state.
    """

    def __init__(self, adapter: OperatorAdapter, dtype: np.dtype[Any]) -> None:
        super().__init__(adapter)
        self._state: Any = greedy.create_online(dtype, SMALLEST)

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
        for i in range(len(missing)):
            self.push(take(values, i), not missing[i])

    def _is_consistent(self, state: list[NDArray[Any]], newest: Any) -> bool:
        """Return whether arrays of the right dtypes are a state."""
        return bool(greedy.check_online(greedy.Online(*state)))

    def _grow(self) -> None:
        self._state = greedy.resize_online(self._state, 2 * len(self._state.cells))

    def _shrink(self) -> None:
        """Take smaller rings if few rows are left."""
        cells = len(self._state.cells)
        suitable = suitable_size(max(self.rows - self.bounds[0], 0), cells)
        if suitable < cells:
            self._state = greedy.resize_online(self._state, suitable)


class NumberTree(_Tree):
    """The greedy algorithm online over numbers."""

    def __init__(self, adapter: OperatorAdapter) -> None:
        super().__init__(adapter, adapter.layout.state)
        operator, state = self.operator, self._state
        self._append = bind(greedy.append, operator, state, adapter.example, True)
        self._move = bind(greedy.move, operator, state, 0, 0, 1, *self._result)
        self._evaluate = bind(greedy.evaluate, operator, state.header, state.cells, *self._result)

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        while not self._append(self.operator, self._state, element, observed):
            self._grow()

    def move(self, left: int, right: int, min_periods: int = NEVER) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        size: int = self._move(self.operator, self._state, left, right, min_periods, *self._result)
        self._shrink()
        return size

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        self._evaluate(self.operator, self._state.header, self._state.cells, *self._result)
        return self.result()


class ObjectTree(_Tree):
    """The greedy algorithm online over Python objects, with the methods of :class:`NumberTree`."""

    def __init__(self, adapter: OperatorAdapter) -> None:
        super().__init__(adapter, np.dtype(object))
        self._answer: Any = None

    def push(self, element: Any, observed: bool = True) -> None:
        """Add a row."""
        kept = observed and self.rows >= self.bounds[0]
        state = lifted(self.operator, element) if kept else element
        while (cell := greedy.append_row(*self._state[:3], observed)) == greedy.FULL:
            self._grow()
        if cell >= 0:
            self._state.cells[cell] = state

    def value(self) -> Any:
        """Return the result of the window, which must have observations."""
        header = self._state.header
        return lower(self.operator, self._state.cells[header[LEFT] & header[MASK]])

    def move(self, left: int, right: int, min_periods: int = NEVER) -> int:
        """Move to the window of rows [left, right), no bound decreasing; return its observations.

        If they are at least `min_periods`, :meth:`result` returns the result.
        """
        header, arrival, ordinals, top, below, cells, older, newer = self._state
        first = int(header[LEFT])
        count = greedy.plan_move(header, arrival, ordinals, top, below, older, newer, left, right)
        for i, j in zip(older[:count].tolist(), newer[:count].tolist()):
            cells[i] = self.operator.combine(cells[i], cells[j])
        if self.observations >= min_periods:
            self._answer = self.value()
        for position in range(first, min(int(header[LEFT]), first + len(cells))):
            cells[position & header[MASK]] = None
        self._shrink()
        return self.observations

    def result(self) -> Any:
        """Return the result that the last move computed."""
        result, self._answer = self._answer, None
        return result


class GreedyWindow(Window):
    """The last window asked for, and the rows from its start on.

    Parameters
    ----------
    operator, min_periods, dtype, times, check
        As in :class:`rollstat.GreedyAggregate`.

    Attributes
    ----------
    spec : WindowSpec
        How times are stored, if rows have times.
    """

    states: NumberTree | ObjectTree

    def __init__(
        self,
        operator: Any,
        *,
        min_periods: Any,
        dtype: DTypeLike,
        times: DTypeLike | None = None,
        check: bool = False,
    ) -> None:
        self.times_dtype = None if times is None else np.dtype(times)
        kind = "" if self.times_dtype is None else self.times_dtype.kind
        if kind and kind not in "fmM":
            raise TypeError(f"times must be float64, datetime64 or timedelta64; got {times!r}")
        self.spec = WindowSpec({"": "free", "f": "number"}.get(kind, "time"))
        self.adapter = OperatorAdapter(operator, dtype, check=check)
        self.columns = self.adapter.columns
        self.given_min_periods = min_periods
        self.min_periods = self.spec.check_min_periods(min_periods)
        self._renew()

    def _renew(self) -> None:
        adapter = self.adapter
        self.states = ObjectTree(adapter) if adapter.objects else NumberTree(adapter)
        # Times of the rows from the start of the last window on, and that window.
        self.times = Times(np.empty(0, self.spec.time_dtype))
        self._newest_time: Any = None
        self._last: tuple[Any, Any] | None = None

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, and return the result of the last window."""
        element = self.adapter.element(elements, self.arrived)
        stored = self.spec.time_of_row(time, self._newest_time)
        value, arrived = self.value, self.arrived
        self.changed = True
        try:
            self.states.push(*element)
        except BaseException:
            self.changed = self.arrived > arrived  # an operator that raises has changed nothing
            raise
        if self.spec.timed:
            self._newest_time = stored
            self.times.append(stored)
        return value

    def extend(self, columns: tuple[Any, ...], times: None) -> None:
        """Add the rows of arrays."""
        values, missing = self.adapter.encode_columns(self.adapter.arrays(columns), self.arrived)
        stored = self.spec.times_of_rows(times, len(missing), self._newest_time)
        self.changed = True
        self.states.extend(values, missing)
        if stored is not None and len(stored):
            self._newest_time = stored[-1].item()
            self.times.extend(stored)

    def _move(self, start: int, end: int) -> Any:
        first = self.bounds[0]
        self.changed = True
        observations = self.states.move(start, end, max(self.min_periods, 1))
        if self.spec.timed:
            self.times.drop(start - first)
        return self._changed_result(observations)

    def move_to_rows(self, start: Any, end: Any) -> Any:
        """Move to the window of rows ``[start, end)``, and return its result."""
        left, right = self.bounds
        start = whole_number("start", start, left)
        end = whole_number("end", end, max(right, start))
        if start < end and end > self.arrived:
            raise ValueError(f"end must be at most the rows that have arrived, {self.arrived}; got {end}")
        return self._move(start, end)

    def move_to_times(self, start: Any, end: Any) -> Any:
        """Move to the window of the rows whose times are in ``(start, end]``, and return its result."""
        low, high = self.spec.encode_time(start), self.spec.encode_time(end)
        last = self._last or (low, low)
        if low < last[0]:
            raise ValueError(f"start must not decrease; got {start!r}")
        if high < max(low, last[1]):
            raise ValueError(f"end must not decrease, nor be before start; got {end!r}")
        first = self.bounds[0]
        rows = first + self.times.up_to(low), first + self.times.up_to(high)
        self.changed, self._last = True, (low, high)
        return self._move(*rows)

    @property
    def value(self) -> Any:
        """The result of the last window; with too few observations the identity, NaN or None."""
        return self._result(self.states.observations, self.states.value)

    @property
    def bounds(self) -> tuple[int, int]:
        """The last window."""
        return self.states.bounds

    @property
    def rows(self) -> int:
        """Rows of the last window."""
        left, right = self.bounds
        return right - left

    @property
    def arrived(self) -> int:
        """Rows that have arrived."""
        return self.states.rows

    def _separate(self) -> None:
        self.states, self.times = self.states.copy(), self.times.copy()

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        own = {
            "operator": self.adapter.specification(),
            "times": None if self.times_dtype is None else self.times_dtype.str,
            "newest": self._newest_time,
            "last": None if self._last is None else list(self._last),
        }
        return self._arguments(self.adapter.dtype_name) | own, [*self.states.state, self.times.numbers]

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        """Return the window that a snapshot contains, or raise ValueError."""
        options = {name: parameters[name] for name in ("min_periods", "dtype", "times")}
        window = cls(operator_by_name(*parameters["operator"]), **options)
        spec, (*trees, times) = window.spec, arrays
        window.states.adopt(trees)
        window.times = Times(spec.restored_times(times, max(window.arrived - window.bounds[0], 0)))
        newest, last = spec.restored_time(parameters["newest"]), parameters["last"]
        has_newest = spec.timed and window.arrived > 0
        if (newest is not None) != has_newest or (has_newest and (times > newest).any()):
            raise ValueError("its newest time does not fit its rows")
        if last is not None:
            low, high = last = tuple(map(spec.restored_time, last))
            first, end = window.bounds
            if low > high or window.times.up_to(low) or first + window.times.up_to(high) < end:
                raise ValueError("its last window does not fit its rows")
        elif spec.timed and window.bounds != (0, 0):
            raise ValueError("its last window must be of times")
        window._newest_time, window._last = newest, last
        return window
