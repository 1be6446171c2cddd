"""Windows of an operator that are asked for one after another, with the fewest possible combinations."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.options import whole_number
from rollstat.streaming.base import State, Window
from rollstat.streaming.operator_adapter import OperatorAdapter, operator_by_name
from rollstat.streaming.window_spec import Times, WindowSpec
from rollstat.streaming.windows.operator_trees import NumberTree, ObjectTree

__all__ = ["GreedyWindow"]


class GreedyWindow(Window):
    """The last window asked for, and the rows from its start on.

    Parameters
    ----------
    operator, min_periods, dtype, times
        As in :class:`rollstat.GreedyAggregate`.

    Attributes
    ----------
    spec : WindowSpec
        How times are stored, if rows have times.
    """

    def __init__(
        self, operator: Any, *, min_periods: Any, dtype: DTypeLike, times: DTypeLike | None = None
    ) -> None:
        self.times_dtype = None if times is None else np.dtype(times)
        kind = "" if self.times_dtype is None else self.times_dtype.kind
        if kind and kind not in "fmM":
            raise TypeError(f"times must be float64, datetime64 or timedelta64; got {times!r}")
        self.spec = WindowSpec({"": "free", "f": "number"}.get(kind, "time"))
        self.adapter = OperatorAdapter(operator, dtype)
        self.columns = self.adapter.columns
        self.given_min_periods = min_periods
        self.min_periods = 1 if min_periods is None else whole_number("min_periods", min_periods, 0)
        self.clear()

    def clear(self) -> None:
        """Remove all rows."""
        adapter = self.adapter
        self._tree: Any
        if adapter.objects:
            self._tree = ObjectTree(adapter.operator)
        else:
            self._tree = NumberTree(adapter.ready, adapter.layout, adapter.example)
        self._observations = 0
        # Times of the rows from the start of the last window on, and that window.
        self._times = Times(self.spec.time_dtype)
        self._newest_time: Any = None
        self._last: tuple[Any, Any] | None = None

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, and return the result of the last window."""
        element = self.adapter.element(elements, self.arrived)
        stored = self.spec.time_of_row(time, self._newest_time)
        value = self.value
        self._tree.push(*element)
        if self.spec.timed:
            self._newest_time = stored
            self._times.append(stored)
        return value

    def extend(self, columns: tuple[Any, ...], times: None) -> None:
        """Add the rows of arrays."""
        values, missing = self.adapter.encode_columns(self.adapter.arrays(columns), self.arrived)
        stored = self.spec.times_of_rows(times, len(missing), self._newest_time)
        self._tree.extend(values, missing)
        if stored is not None and len(stored):
            self._newest_time = stored[-1].item()
            self._times.extend(stored)

    def move(self, start: int, end: int) -> Any:
        """Move to the window of rows ``[start, end)``, and return its result."""
        first = self.bounds[0]
        self._observations = self._tree.move(start, end, max(self.min_periods, 1))
        if self.spec.timed:
            self._times.drop(start - first)
        return self.adapter.answer(self._observations, self.min_periods, self._tree.result)

    def move_to_times(self, start: Any, end: Any) -> Any:
        """Move to the window of the rows whose times are in ``(start, end]``, and return its result."""
        low, high = self.spec.encode_time(start), self.spec.encode_time(end)
        last = self._last or (low, low)
        if low < last[0]:
            raise ValueError(f"start must not decrease; got {start!r}")
        if high < max(low, last[1]):
            raise ValueError(f"end must not decrease, nor be before start; got {end!r}")
        first = self.bounds[0]
        answer = self.move(first + self._times.up_to(low), first + self._times.up_to(high))
        self._last = low, high
        return answer

    @property
    def value(self) -> Any:
        """The result of the last window; with too few observations the identity, NaN or None."""
        return self.adapter.answer(self._observations, self.min_periods, self._tree.value)

    @property
    def bounds(self) -> tuple[int, int]:
        """The last window."""
        left, right = self._tree.bounds
        return left, right

    @property
    def rows(self) -> int:
        """Rows of the last window."""
        left, right = self.bounds
        return right - left

    @property
    def arrived(self) -> int:
        """Rows that have arrived."""
        return int(self._tree.rows)

    def _separate(self) -> None:
        self._tree, self._times = self._tree.copy(), self._times.copy()

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        own = {
            "operator": self.adapter.specification(),
            "times": None if self.times_dtype is None else self.times_dtype.str,
            "newest": self._newest_time,
            "last": None if self._last is None else list(self._last),
        }
        return self._arguments(self.adapter.dtype_name) | own, [*self._tree.state, self._times.numbers]

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        """Return the window that a snapshot contains, or raise ValueError."""
        options = {name: parameters[name] for name in ("min_periods", "dtype", "times")}
        window = cls(operator_by_name(*parameters["operator"]), **options)
        spec, (*trees, times) = window.spec, arrays
        window._tree.adopt(trees)
        window._observations = window._tree.observations
        window._times.load(spec.restored_times(times, max(window.arrived - window.bounds[0], 0)))
        newest, last = spec.restored_time(parameters["newest"]), parameters["last"]
        has_newest = spec.timed and window.arrived > 0
        if (newest is not None) != has_newest or (has_newest and (times > newest).any()):
            raise ValueError("its newest time does not fit its rows")
        if last is not None:
            low, high = last = tuple(map(spec.restored_time, last))
            first, end = window.bounds
            if low > high or window._times.up_to(low) or first + window._times.up_to(high) < end:
                raise ValueError("its last window does not fit its rows")
        elif spec.timed and window.bounds != (0, 0):
            raise ValueError("its last window must be of times")
        window._newest_time, window._last = newest, last
        return window
