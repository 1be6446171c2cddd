"""Windows of statistics that depend on all observations in order: rows in a ring beside a sorted array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.stream import sorted_window
from rollstat.streaming.windows.representation import ArrayWindow, Rows

__all__ = ["SortedWindow"]


class SortedWindow(ArrayWindow):
    """Rows, and the observations in ascending order; see :mod:`rollstat.kernels.stream.sorted_window`."""

    slots = sorted_window.ROWS, sorted_window.COUNT, sorted_window.PUSHED

    def _create(self, capacity: int) -> Any:
        return sorted_window.create(capacity, self.dtype)

    @property
    def distinct(self) -> int:
        """Distinct values among the observations."""
        return int(self.arrays[0][sorted_window.DISTINCT])

    @property
    def ordered(self) -> NDArray[Any]:
        """The observations in ascending order."""
        kept: NDArray[Any] = self.arrays[3][: self.count]
        return kept

    @property
    def newest(self) -> Any:
        """Value of the newest row, None if it is missing or there is no row."""
        header, rows, absent, _ = self.arrays
        slot = (header[sorted_window.OLDEST] + self.rows - 1) % len(rows)
        return None if self.rows == 0 or absent[slot] else rows[slot]

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        self._make_room()
        sorted_window.push(*self.arrays, self.dtype.type(value), bool(missing))

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        sorted_window.pop(*self.arrays, number)

    def part(self, first: int, number: int) -> Rows:
        """Return values and missing marks of at most `number` rows, from the `first` oldest on."""
        header, rows, absent, _ = self.arrays
        slots = (header[sorted_window.OLDEST] + np.arange(first, min(first + number, self.rows))) % len(rows)
        return rows[slots], absent[slots] != 0

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        header, rows, absent, ordered = self.arrays
        header[sorted_window.OLDEST] = 0
        rows[: len(values)] = values
        absent[: len(values)] = missing
        observed = np.sort(values[~missing])
        ordered[: len(observed)] = observed
        header[sorted_window.ROWS], header[sorted_window.COUNT] = len(values), len(observed)
        header[sorted_window.PUSHED] = pushed
        header[sorted_window.DISTINCT] = (observed[1:] != observed[:-1]).sum() + (len(observed) > 0)
