"""Windows of an operator that are asked for one after another, with the fewest possible combinations."""

from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import DTypeLike, NDArray

from rollstat.options import whole_number
from rollstat.streaming.base import State
from rollstat.streaming.operator_adapter import OperatorAdapter, operator_by_name
from rollstat.streaming.windows.operator_trees import NumberTree, ObjectTree

__all__ = ["GreedyWindow"]


class GreedyWindow:
    """The last window asked for, and the rows from its start on.

    Parameters
    ----------
    operator, min_periods, dtype
        As in :class:`rollstat.GreedyAggregate`.
    """

    def __init__(self, operator: Any, *, min_periods: Any, dtype: DTypeLike) -> None:
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

    def push(self, elements: tuple[Any, ...], time: None) -> Any:
        """Add a row, and return the result of the last window."""
        element, value = self.adapter.element(elements, self.arrived), self.value
        self._tree.push(*element)
        return value

    def extend(self, columns: tuple[Any, ...], times: None) -> None:
        """Add the rows of arrays."""
        values, missing = self.adapter.encode_columns(self.adapter.arrays(columns), self.arrived)
        self._tree.extend(values, missing)

    def move(self, start: int, end: int) -> Any:
        """Move to the window of rows ``[start, end)``, and return its result."""
        self._observations = self._tree.move(start, end, max(self.min_periods, 1))
        return self.adapter.answer(self._observations, self.min_periods, self._tree.result)

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

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._tree = self._tree.copy()
        return other

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        given = self.given_min_periods
        specification = {
            "operator": self.adapter.specification(),
            "min_periods": None if given is None else int(given),
            "dtype": self.adapter.codec.dtype.str,
            "size": int(self._observations),
        }
        return specification, self._tree.state

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        """Return the window that a snapshot contains, or raise ValueError."""
        operator = operator_by_name(*parameters["operator"])
        window = cls(operator, min_periods=parameters["min_periods"], dtype=parameters["dtype"])
        window._tree.adopt(arrays)
        window._observations = parameters["size"]
        return window
