"""The window language: every way to name windows becomes bounds that never decrease.

No other module turns ``closed``, ``center`` and ``step`` into bounds. A window is
``[start, end)`` per output row, and neither bound ever decreases. Bounds are computed for the rows of one
block at a time, so that windows over a long series take no memory of their own.
"""

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.bounds import row_bounds
from rollstat.kernels.time_bounds import lags_agree, time_bounds

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]

_NO_ROWS = np.empty(0, np.int64)
# No array has as many rows, and sums with their numbers do not overflow.
_MOST_ROWS = 2**62


@dataclass(frozen=True)
class Expanding:
    """A window that starts at the first row and ends with the current one.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kth([1.0, 3.0, 2.0], -1, rollstat.Expanding())
    array([1., 3., 3.])
    """


@dataclass(frozen=True)
class Forward:
    """A window of the current row and the ``m - 1`` rows after it, cut at the end of the data.

    Parameters
    ----------
    m : int
        Rows in the window, at least 1.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kth([1.0, 3.0, 2.0], -1, rollstat.Forward(2), min_periods=1)
    array([3., 3., 2.])
    """

    m: int


class Windows:
    """The bounds of every output row over `length` rows of data, in one or more segments.

    Attributes
    ----------
    length : int
        Rows of data.
    rows : int
        Output rows.
    min_periods : int
        Observations that a result needs where the caller names no number.
    kind : str
        Kind of windows, for explanations.
    left : int
        Rows of a full window before its own row, where all are full ones but at the ends of the data.
    memory : tuple of ndarray
        Arrays of the caller, perhaps, that are read whenever bounds are made.
    """

    length: int
    rows: int
    min_periods: int
    kind = "bounds"
    left = 0
    memory: tuple[NDArray[Any], ...] = ()

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        raise NotImplementedError  # every concrete class has its own

    def bound(self, row: int) -> tuple[int, int]:
        """Return the bounds of one output row."""
        start, end = self.bounds(row, row + 1)
        return int(start[0]), int(end[0])

    def position(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the data rows that the output rows ``first, ..., last - 1`` belong to, int64."""
        raise NotImplementedError  # every concrete class has its own

    def grows(self, first: int, last: int) -> bool:
        """Return whether the windows of these rows certainly begin with the data, each one row longer."""
        return False

    @property
    def regular(self) -> tuple[int, int, int]:
        """The rows with full windows ``[i - left, i - left + width)``, as ``(first, last, width)``.

        These are the rows ``first, ..., last - 1``; ``first == last`` where there are none.
        """
        return 0, 0, 0

    @property
    def fixed_width(self) -> int:
        """Rows of a full window, if all but boundary windows are full and step is 1; else 0."""
        return 0

    @property
    def whole_width(self) -> int:
        """Rows of a window that is no boundary window, if all of those have one width; else 0."""
        return 0

    @property
    def whole(self) -> NDArray[np.intp] | slice:
        """Output rows that have no boundary window."""
        raise ValueError("mode='valid' needs a window of a fixed number of rows; got a width or bounds")


class _RowWindows(Windows):
    """Windows around every `step`-th row of each segment."""

    def __init__(self, offsets: NDArray[np.int64], step: int) -> None:
        self.length = int(offsets[-1])
        self.step = step
        self.offsets = offsets
        self.memory = (offsets,)
        self._positions: NDArray[np.int64] | None = None
        if len(offsets) > 2 and step > 1:
            parts = [np.arange(a, b, step, dtype=np.int64) for a, b in pairwise(offsets)]
            self._positions = np.concatenate(parts)
        self.rows = -(-self.length // step) if self._positions is None else len(self._positions)

    def position(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the data rows that the output rows ``first, ..., last - 1`` belong to."""
        if self._positions is None:
            return np.arange(first * self.step, last * self.step, self.step, dtype=np.int64)
        return self._positions[first:last]


class OffsetWindows(_RowWindows):
    """Windows ``[i - left, i + right)`` around every `step`-th row, cut short at the ends of a segment.

    Attributes
    ----------
    left, right : int
        Rows of a full window before its own row, and from its own row on.
    """

    def __init__(
        self, left: int, right: int, offsets: NDArray[np.int64], step: int, kind: str, min_periods: int
    ) -> None:
        super().__init__(offsets, step)
        self.left = left
        self.right = right
        self.kind = kind
        self.min_periods = min_periods

    @property
    def _single(self) -> bool:
        return len(self.offsets) == 2

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        return self.bounds_around(self.position(first, last))

    def bounds_around(self, position: NDArray[np.int64]) -> Bounds:
        """Return the bounds of the windows around these rows of data, which ascend, int64."""
        if self._single:
            start = np.minimum(np.maximum(position - self.left, 0), self.length)
            return start, np.minimum(np.maximum(position + self.right, start), self.length)
        start, end = np.empty(len(position), np.int64), np.empty(len(position), np.int64)
        row_bounds(self.offsets, position, self.left, self.right, start, end)
        return start, end

    def bound(self, row: int) -> tuple[int, int]:
        """Return the bounds of one output row."""
        if not self._single:
            return super().bound(row)
        start = min(max(row * self.step - self.left, 0), self.length)
        return start, min(max(row * self.step + self.right, start), self.length)

    def grows(self, first: int, last: int) -> bool:
        """Return whether the windows of these rows certainly begin with the data, each one row longer."""
        within = last - 1 <= self.left and first + self.right >= 0 and last - 1 + self.right <= self.length
        return self._single and self.step == 1 and within

    @property
    def fixed_width(self) -> int:
        """Rows of a full window, if all but boundary windows are full and step is 1; else 0."""
        return self.whole_width if self.step == 1 else 0

    @property
    def whole_width(self) -> int:
        """Rows of a window that is no boundary window."""
        return max(self.left + self.right, 0)

    @property
    def regular(self) -> tuple[int, int, int]:
        """The rows with full windows and their width, as ``(first, last, width)``."""
        width = self.left + self.right
        if not self._single or self.step != 1 or width < 1:
            return 0, 0, 0
        first = max(self.left, 0)
        last = min(self.length - max(self.right, 0) + 1, self.length)
        return (first, last, width) if first < last else (0, 0, 0)

    def across(self) -> "OffsetWindows":
        """Return the windows of the same rows if all segments were one."""
        windows = copy(self)
        windows.offsets = np.array([0, self.length], np.int64)
        return windows

    def of_rows(self, rows: NDArray[np.int64]) -> "ExplicitWindows":
        """Return the windows of these rows, which ascend."""
        bounds = self.bounds_around(rows)
        return ExplicitWindows(*bounds, self.length, self.min_periods, self.kind, position=rows)

    def cut(self) -> NDArray[np.int64]:
        """Return the rows whose windows the ends of their segments cut; `step` must be 1."""
        start, end = self.offsets[:-1], self.offsets[1:]
        full = np.minimum(start + max(self.left, 0), end)
        first = np.column_stack([start, np.maximum(end - max(self.right - 1, 0), full)]).ravel()
        count = np.column_stack([full, end]).ravel() - first
        rows: NDArray[np.int64] = np.arange(count.sum()) + np.repeat(
            first - (np.cumsum(count) - count), count
        )
        return rows


class FixedWindows(OffsetWindows):
    """Windows of a number of rows.

    Parameters
    ----------
    m : int
        Rows in the window.
    offsets : ndarray of int64, shape (segments + 1,)
        Where each segment starts, and the length of the data. No window crosses the end of a segment.
    center, closed, step
        As in :class:`pandas.core.window.Rolling`.
    forward : bool
        Whether the window looks forward from its row instead.
    """

    def __init__(
        self,
        m: int,
        offsets: NDArray[np.int64],
        *,
        center: bool = False,
        closed: str | None = None,
        step: int = 1,
        forward: bool = False,
    ) -> None:
        rows = min(m, _MOST_ROWS)
        ahead = rows - 1 if forward else (rows - 1) // 2 if center or rows == 0 else 0
        left = rows - ahead - 1 + (closed in ("left", "both"))
        right = ahead + 1 - (closed in ("left", "neither"))
        super().__init__(left, right, offsets, step, "forward" if forward else "rows", m)

    @property
    def whole(self) -> NDArray[np.intp] | slice:
        """Output rows that have no boundary window."""
        if self._single:
            first = -(-max(self.left, 0) // self.step)
            last = (self.length - max(self.right, 0)) // self.step + 1
            return slice(min(first, self.rows), max(min(last, self.rows), min(first, self.rows)))
        start, end = self.bounds(0, self.rows)
        return np.flatnonzero(end - start == self.left + self.right)


class TimeWindows(_RowWindows):
    """Windows by width over ordered times: pandas' windows by offset.

    With ``closed="right"`` a row's window holds the rows whose time lies within the width before its own,
    the row itself and earlier rows of the same time. Later rows of the same time are not in it, so that no
    result depends on the future. With ``closed="left"`` or ``"neither"`` the window ends before the current
    time. A centred window reaches half the width to both sides.

    Parameters
    ----------
    times : ndarray of int64 or float64, shape (length,)
        Non-decreasing within each segment.
    width : int or float
        In the units of `times`.
    offsets : ndarray of int64, shape (segments + 1,)
        Where each segment starts, and the length of the data.
    exact : bool
        False where the true width lies strictly between `width` and the next integer, so that no
        time can lie exactly on a boundary.
    gap : int
        Difference of successive times if it is positive and always the same, else 0.
    """

    def __init__(
        self,
        times: NDArray[Any],
        width: Any,
        offsets: NDArray[np.int64],
        *,
        center: bool = False,
        closed: str | None = None,
        step: int = 1,
        exact: bool = True,
        gap: int = 0,
    ) -> None:
        super().__init__(offsets, step)
        self._gap = gap
        self.kind = "time"
        self.min_periods = 1
        self._times = times
        self.memory = (times, offsets)
        self._width = width
        self._center = center
        closed = closed or "right"
        self._left_closed = closed in ("left", "both") or not exact
        self._right_closed = closed in ("right", "both") or (center and not exact)

    def common_offsets(self) -> tuple[int, int] | None:
        """Return `left` and `right` if all windows are ``[i - left, i + right)``, cut at the ends."""
        times, width = self._times, self._width
        closed = self._left_closed, self._right_closed
        if self._gap:
            left, ahead = (
                min((int(width) - (not inclusive)) // self._gap, _MOST_ROWS) for inclusive in closed
            )
            return left, ahead + 1 if self._center else int(self._right_closed)
        if len(self.offsets) != 2 or not len(times):
            return None
        middle = np.array([len(times) // 2])
        start, end = self._bounds_of(times, middle, 0, 1)
        left, right = int(middle[0] - start[0]), int(end[0] - middle[0])
        if start[0] == 0 or end[0] == len(times):
            return None
        # The rows that are the oldest and newest of the windows, and the next rows outside.
        lags = [(left, -width, not closed[0], False), (left + 1, -width, not closed[0], True)]
        if self._center:
            lags += [(right - 1, width, closed[1], True), (right, width, closed[1], False)]
        elif not self._right_closed:
            lags += [(1, width - width, False, True)]  # no equal times
        return (left, right) if all(lags_agree(times, *lag) for lag in lags) else None

    def over(self, times: NDArray[np.int64]) -> "TimeWindows":
        """Return windows of this width over other times that never decrease."""
        windows = object.__new__(TimeWindows)
        vars(windows).update(vars(self), _times=times, memory=(times, self.offsets))  # faster than a copy
        return windows

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        position = _NO_ROWS if self._positions is None else self._positions[first:last]
        return self._bounds_of(self._times, position, first * self.step, last - first)

    def _bounds_of(self, times: NDArray[Any], position: NDArray[np.int64], origin: int, rows: int) -> Bounds:
        """Return the bounds of the windows of the rows `position`, or from `origin` on if that is empty."""
        width, closed = self._width, self._right_closed
        which = self.offsets, position, origin, self.step
        start = np.empty(rows, np.int64)
        time_bounds(times, -width, not self._left_closed, *which, start)
        if closed and not self._center:
            if len(position):
                return start, position + 1
            return start, np.arange(origin + 1, origin + 1 + rows * self.step, self.step, dtype=np.int64)
        end = np.empty(rows, np.int64)
        distance, passes = (width, closed) if self._center else (width - width, False)
        time_bounds(times, distance, passes, *which, end)
        return start, np.maximum(start, end, out=end)


def time_windows(windows: TimeWindows) -> Windows:
    """Return time windows as windows around their rows if they all have the same rows, else as they are."""
    found = windows.common_offsets()
    return windows if found is None else OffsetWindows(*found, windows.offsets, windows.step, "time", 1)


class ExplicitWindows(Windows):
    """Windows given by their bounds.

    Parameters
    ----------
    start, end : ndarray of int64, shape (rows,)
        Non-decreasing, ``0 <= start <= end <= length``.
    length : int
        Rows of data.
    min_periods : int
        Observations that a result needs where the caller names no number.
    kind : str
        Kind of windows, for explanations.
    step : int
        The windows belong to every `step`-th row of data, if they are as many as these rows.
    position : ndarray of int64, shape (rows,), optional
        The rows that they belong to instead.
    """

    def __init__(
        self,
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        length: int,
        min_periods: int = 1,
        kind: str = "bounds",
        step: int = 1,
        position: NDArray[np.int64] | None = None,
    ) -> None:
        self.length = length
        self.rows = len(start)
        self.min_periods = min_periods
        self.kind = kind
        self._step = step
        self._position = position
        self._start = start
        self._end = end
        self.memory = (start, end)

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        return self._start[first:last], self._end[first:last]

    def position(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the data rows that the output rows ``first, ..., last - 1`` belong to, int64."""
        if self._position is not None:
            return self._position[first:last]
        if self.rows != -(-self.length // self._step):
            raise ValueError(
                f"window must hold one pair of bounds for each of the {self.length} rows; it held {self.rows}"
            )
        return np.arange(first * self._step, last * self._step, self._step, dtype=np.int64)
