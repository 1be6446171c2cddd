"""Windows of extrema: rows in a wedge, or for one of the two extrema in a monotonic deque."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.extrema import monotonic_deque, wedge
from rollstat.kernels.rings import read_ring, write_ring
from rollstat.streaming.windows.representation import ArrayWindow, Representation, Rows

__all__ = ["MonotonicWindow", "WedgeWindow"]


class WedgeWindow(ArrayWindow):
    """A window with a wedge, and its rows in a ring beside it; see :mod:`rollstat.kernels.extrema.wedge`.

    Parameters
    ----------
    fixed, dtype
        As in :class:`ArrayWindow`.
    ties : str
        As in :func:`rollstat.kernels.extrema.wedge.create`.
    """

    # `load` finds missing floats itself.
    finds_missing = True
    slots = wedge.NEXT, wedge.OBSERVED, wedge.NEXT

    def __init__(self, fixed: int, dtype: np.dtype[Any], ties: str) -> None:
        self.ties = ties
        super().__init__(fixed, dtype)

    def _create(self, capacity: int) -> Any:
        arrays = wedge.create(capacity, self.dtype, ties=self.ties)
        return *arrays, np.zeros(len(arrays[3]), self.dtype)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        header = self.arrays[0]
        return int(header[wedge.NEXT] - header[wedge.OLDEST])

    def extrema(self) -> tuple[Any, Any]:
        """Return minimum and maximum of a window with observations."""
        header, position, value = self.arrays[:3]
        return wedge.minimum(header, position, value), wedge.maximum(header, position, value)

    def positions(self) -> tuple[int, int]:
        """Return the rows of minimum and maximum of a window with observations."""
        header, position = self.arrays[:2]
        return wedge.minimum_position(header, position), wedge.maximum_position(header, position)

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        self._make_room()
        rows = self.arrays[4]
        rows[self.pushed & (len(rows) - 1)] = value
        wedge.push(*self.arrays[:4], self.dtype.type(value), bool(missing))

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        wedge.pop(*self.arrays[:4], number)

    def part(self, first: int, number: int) -> Rows:
        """Return values and missing marks of at most `number` rows, from the `first` oldest on."""
        header, _, _, observed, rows = self.arrays
        oldest = int(header[wedge.OLDEST]) + first
        number = min(number, self.rows - first)
        return read_ring(rows, oldest, number), read_ring(observed, oldest, number) == 0

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        """Replace all rows; missing floats are NaN."""
        write_ring(self.arrays[4], pushed - len(values), values)
        wedge.load(*self.arrays[:4], values, None if self.dtype.kind == "f" else missing, pushed)


class MonotonicWindow(Representation):
    """A window of a fixed number of rows of float64 with its minimum, or with its maximum if `sign` is -1.

    See :mod:`rollstat.kernels.extrema.monotonic_deque`; for a maximum it holds the negated values.
    """

    finds_missing = True

    def __init__(self, capacity: int, sign: int, min_periods: int) -> None:
        self.sign = sign
        self._set_state(monotonic_deque.create(capacity, min_periods))

    def _set_state(self, state: NDArray[np.float64]) -> None:
        self.state = state
        self._header: NDArray[np.int64]
        self._ring: NDArray[np.float64]
        self._header, _, self._ring = monotonic_deque.views(state)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        header = self._header
        rows = header[monotonic_deque.NEXT] - header[monotonic_deque.FIRST]
        return int(min(rows, header[monotonic_deque.WINDOW]))

    @property
    def count(self) -> int:
        """Observations in the window."""
        return int(self._header[monotonic_deque.OBSERVED])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self._header[monotonic_deque.NEXT])

    def extreme(self) -> float:
        """Return the minimum or maximum of a window with observations."""
        return self.sign * float(monotonic_deque.value_at(self.state))

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        monotonic_deque.push(self.state, np.nan if missing else self.sign * float(value))

    def part(self, first: int, number: int) -> Rows:
        """Return values and missing marks of at most `number` rows, from the `first` oldest on."""
        values = read_ring(self._ring, self.pushed - self.rows + first, min(number, self.rows - first))
        if self.sign < 0:
            np.negative(values, out=values)
        return values, np.isnan(values)

    def load(self, values: NDArray[Any], missing: NDArray[np.bool_] | None, pushed: int) -> None:
        """Replace all rows; the last is row ``pushed - 1`` of the stream. Missing values are NaN."""
        monotonic_deque.load(self.state, values, self.sign, pushed)

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self).__new__(type(self))
        other.sign = self.sign
        other._set_state(self.state.copy())
        return other
