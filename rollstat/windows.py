"""The window language: every way to name windows becomes bounds ``[start, end)``.

::

    number of rows       --> Rows     --> FixedWindows     [i - left, i + right)
    duration             --> Interval --> TimeWindows      times from t - before to t + after
    either with at=      -------------> WindowsAt
    explicit bounds      -------------> ExplicitWindows

No other module turns ``closed``, ``center`` and ``step`` into bounds. The bounds of windows around successive
rows never decrease; they are computed for the rows of one block at a time, so that windows over a long series
take no memory of their own. Other bounds may have any order: `arranged` sorts such windows into chains whose
bounds never decrease. Blocks are cut where a chain ends, so every kernel supports all windows. For statistics
that take windows in any order, `arranged` only cuts them into blocks that cover few rows each.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import read_only
from rollstat.kernels.bounds import breaks_of, chains_of, parts_of, row_bounds
from rollstat.kernels.time_bounds import (
    SPARSE,
    bounds_at,
    edge_bounds,
    first_unordered,
    lags_agree,
)
from rollstat.thresholds import ANY_ORDER_ROWS, ANY_ORDER_SHARE

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
# Numbers of rows before each edge of windows over the same times, by distance and whether equal times pass.
Edges = dict[tuple[Any, bool], NDArray[np.int64]]

_NO_ROWS = np.empty(0, np.int64)
# No array has as many rows, and sums with their numbers do not overflow.
_MOST_ROWS = 2**62
# Share of windows that the ends of segments cut, up to which windows of rows are computed across them.
_MOST_CUT = 0.25
# Rows between two windows that are cheaper to read than to begin another block.
_LARGEST_GAP = 1 << 12


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
    """A window that begins with the current row, cut at the end of the data.

    Parameters
    ----------
    m : int, str, timedelta or number
        Rows in the window, at least 1; or, with `times`, a duration: the window of a row at time t holds all
        rows with times in ``[t, t + m)``. `closed` chooses other ends.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kth([1.0, 3.0, 2.0], -1, rollstat.Forward(2), min_periods=1)
    array([3., 3., 2.])
    >>> rollstat.rolling_sum([1.0, 3.0, 2.0], rollstat.Forward(2.5), times=[0, 2, 5])
    array([4., 3., 2.])
    """

    m: Any


@dataclass(frozen=True)
class Around:
    """A window with separate lengths before and after the current row, cut at the ends of the data.

    Parameters
    ----------
    before, after : int, str, timedelta or number
        Rows before and after the current row; or, with `times`, durations: the window of a row at time t
        holds all rows with times in ``[t - before, t + after]``. `closed` chooses other ends.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_max([1.0, 3.0, 2.0, 0.0], rollstat.Around(2, 1), min_periods=1)
    array([3., 3., 3., 3.])
    >>> rollstat.rolling_sum([1.0, 3.0, 2.0], rollstat.Around(1, 2), times=[0, 2, 3])
    array([4., 5., 5.])
    """

    before: Any
    after: Any


def _order_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows in the order of their values."""
    from rollstat.sorting import order  # imports kernels that few windows need

    return order(values)


class Rows(NamedTuple):
    """Windows ``[i - left, i + right)`` around their rows.

    Attributes
    ----------
    left, right : int or ndarray of int64
        Rows of a full window before its own row, and from its own row on; for all windows, or for each.
    periods : int
        Number of observations that a result needs by default.
    kind : str
        Kind of windows, for explanations.
    includes : bool
        For windows at a time: whether rows of exactly that time lie before its end.
    ahead : bool
        For windows at a time: whether its own row is the next one instead of the last.
    """

    left: Any
    right: Any
    periods: int
    kind: str = "rows"
    includes: bool = True
    ahead: bool = False

    @classmethod
    def of(cls, m: Any, center: bool = False, closed: str | None = None) -> "Rows":
        """Return windows of the last `m` rows, or of `m` rows around their own, as in pandas."""
        rows = _at_most(m, _MOST_ROWS)
        after = (rows - 1) // 2 if center else _at_most(rows, 1) - 1
        right_closed = closed not in ("left", "neither")
        left = rows - (after + (closed not in ("left", "both")))
        return cls(left, after + right_closed, _periods(m), includes=right_closed)

    @classmethod
    def forward(cls, m: Any, closed: str | None = None) -> "Rows":
        """Return windows of the current row and those after it; `closed` is for windows at a time."""
        return cls(0, _at_most(m, _MOST_ROWS), _periods(m), "forward", closed in ("right", "neither"), True)

    @classmethod
    def around(cls, before: Any, after: Any, closed: str | None = None) -> "Rows":
        """Return windows of the current row and those around it; `closed` is for windows at a time."""
        left, right = _at_most(before, _MOST_ROWS), _at_most(after, _MOST_ROWS) + 1
        return cls(left, right, _periods(before + after + 1), "around", closed not in ("left", "neither"))


def _at_most(rows: Any, most: int) -> Any:
    """Return the smaller of each; one number, or the array itself, if that is all of them."""
    if isinstance(rows, int):
        return min(rows, most)
    if len(rows) and rows.min() >= most:
        return most
    return rows if rows.max(initial=0) <= most else np.minimum(rows, most)


def _periods(rows: Any) -> int:
    return rows if isinstance(rows, int) else 1


class Interval(NamedTuple):
    """Windows of the times from ``t - before`` to ``t + after``.

    Attributes
    ----------
    before, after : int, float or ndarray of the dtype of the times
        In the units of the times, for all windows or for each. If `after` is None, a window that is closed on
        the right ends with its own row, so that no result depends on later rows of the same time.
    left_closed, right_closed : bool
        Whether times on the boundary lie in the window.
    """

    before: Any
    after: Any
    left_closed: bool
    right_closed: bool


class Windows:
    """The bounds of every output row over `length` rows of data, in one or more segments.

    Attributes
    ----------
    length : int
        Rows of data.
    rows : int
        Output rows.
    min_periods : int
        Number of observations that a result needs by default.
    kind : str
        Kind of windows, for explanations.
    left : int
        Rows of a full window before its own row, if all windows are full except at the ends of the data.
    step : int
        Rows from the row of one of these windows to that of the next.
    memory : tuple of ndarray
        Arrays, possibly owned by the caller, that are read whenever bounds are made.
    order : ndarray of intp, shape (rows,), or None
        The output row of each window, if windows come in another order.
    breaks : ndarray of int64
        The windows at which a block must begin; the bounds of others never decrease and leave no large gap.
    one_chain : bool
        Whether no bound ever decreases.
    any_order : bool
        Whether bounds may decrease within a block.
    """

    length: int
    rows: int
    min_periods: int
    kind = "bounds"
    left = 0
    step = 1
    memory: tuple[NDArray[Any], ...] = ()
    order: NDArray[np.intp] | None = None
    breaks = _NO_ROWS
    one_chain = True
    any_order = False
    _found: "Found | None" = None

    def arranged(self, any_order: bool) -> "Windows":
        """Return the windows in an order in which bounds decrease at few `breaks` only.

        Windows whose bounds decrease often may have `any_order` instead, if a statistic takes them.
        """
        return self

    def put_back(self, results: NDArray[Any]) -> None:
        """Move results, along the first axis in the order of the windows, to their output rows."""
        if self.order is not None:
            results[self.order] = results.copy()

    def pieces(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return these windows cut at `breaks`, as pairs of the first window and the one after the last."""
        within = self.breaks[
            np.searchsorted(self.breaks, first, "right") : np.searchsorted(self.breaks, last)
        ]
        return [(a, b) for a, b in pairwise([first, *within.tolist(), last]) if a < b]

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

        `i` is the row of data that a row belongs to. These are the rows ``first, ..., last - 1``;
        ``first == last`` where there are none.
        """
        return 0, 0, 0

    @property
    def fixed_width(self) -> int:
        """Rows of a full window, if all but boundary windows are full and blocks hold all of them; else 0."""
        return 0

    @property
    def whole_width(self) -> int:
        """Rows of a window that is not a boundary window, if all of these have one width; else 0."""
        return 0

    @property
    def few_cut(self) -> bool:
        """Whether calls compute these windows fastest across segments, since the ends cut few of them."""
        return False

    def explicit(self, first: int, last: int, edges: "Edges | None" = None) -> "ExplicitWindows":
        """Return the windows of these output rows with bounds that are made once; `order` must be None.

        Windows of the same rows over the same times can share `edges`.
        """
        bounds = self._bounds_with(first, last, edges)
        position = None if last - first == self.length else self.position(first, last)
        return ExplicitWindows(*bounds, self.length, self.min_periods, self.kind, position=position)

    def _bounds_with(self, first: int, last: int, edges: "Edges | None") -> Bounds:
        """Return the bounds of these output rows, shared with `edges` if they are found."""
        return self.bounds(first, last) if self._found is None else self._found.bounds(first, last, edges)

    @property
    def whole(self) -> NDArray[np.intp] | slice:
        """Output rows whose window is not a boundary window."""
        raise ValueError("mode='valid' needs a window of a fixed number of rows; got a duration or bounds")


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
        """Return the data rows that the output rows ``first, ..., last - 1`` belong to, in a new array."""
        if self._positions is None:
            return np.arange(first * self.step, last * self.step, self.step, dtype=np.int64)
        return self._positions[first:last].copy()

    def found(self, reach: "Rows | Interval", times: NDArray[Any]) -> "Found":
        """Return what finds the bounds of the windows of these rows."""
        if self.step == 1:
            return Found(reach, self.offsets, times, self.offsets, times, self.position)
        rows = self.position(0, self.rows)
        own = times[rows] if len(times) else times
        return Found(reach, self.offsets, times, np.searchsorted(rows, self.offsets), own, self.position)


class OffsetWindows(_RowWindows):
    """Windows ``[i - left, i + right)`` around every `step`-th row, cut short at the ends of a segment.

    Attributes
    ----------
    left, right : int
        Rows of a full window before its own row, and from its own row on.
    filled : bool
        Whether blocks hold the full windows around all rows, of which every `step`-th is kept.
    """

    def __init__(
        self, left: int, right: int, offsets: NDArray[np.int64], step: int, kind: str, min_periods: int
    ) -> None:
        super().__init__(offsets, step)
        self.left = left
        self.right = right
        self.kind = kind
        self.min_periods = min_periods
        self.filled = step == 1

    @property
    def _single(self) -> bool:
        return len(self.offsets) == 2

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        return self.bounds_around(self.position(first, last))

    def bounds_around(self, position: NDArray[np.int64]) -> Bounds:
        """Return the bounds of the windows around these ascending rows of data, int64."""
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
        """Rows of a full window, if all but boundary windows are full and blocks hold all of them; else 0."""
        return self.whole_width if self.filled else 0

    @property
    def whole_width(self) -> int:
        """Rows of a window that is not a boundary window."""
        return max(self.left + self.right, 0)

    @property
    def regular(self) -> tuple[int, int, int]:
        """The rows with full windows and their width, as ``(first, last, width)``."""
        width = self.left + self.right
        if not self._single or not self.filled or width < 1:
            return 0, 0, 0
        first = -(-max(self.left, 0) // self.step)
        last = min((self.length - max(self.right, 0)) // self.step + 1, self.rows)
        return (first, last, width) if first < last else (0, 0, 0)

    @property
    def few_cut(self) -> bool:
        """Whether calls compute these windows fastest across segments, since the ends cut few of them."""
        cut = 0 if self._single else self.whole_width * (len(self.offsets) - 1)
        return self.whole_width > 0 and cut <= _MOST_CUT * self.rows

    def across(self) -> "OffsetWindows":
        """Return the windows of the same rows if all segments were one."""
        windows = copy(self)
        windows.offsets = np.array([0, self.length], np.int64)
        return windows

    def of_rows(self, rows: NDArray[np.int64]) -> "ExplicitWindows":
        """Return the windows of these ascending rows."""
        bounds = self.bounds_around(rows)
        return ExplicitWindows(*bounds, self.length, self.min_periods, self.kind, position=rows)

    def fill(self, most: int) -> "OffsetWindows | None":
        """Return the windows filled, if steps are at most a window and `most` rows long, else None."""
        if not self._single or self.filled or not self.step <= min(self.whole_width, most):
            return None
        windows = copy(self)
        windows.filled = True
        return windows

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
    rows : Rows
        The rows of a window.
    offsets : ndarray of int64, shape (segments + 1,)
        Where each segment starts, and the length of the data. No window crosses the end of a segment.
    step : int
        As in :class:`pandas.core.window.Rolling`.
    """

    def __init__(self, rows: Rows, offsets: NDArray[np.int64], step: int = 1) -> None:
        super().__init__(rows.left, rows.right, offsets, step, rows.kind, rows.periods)

    @property
    def whole(self) -> NDArray[np.intp] | slice:
        """Output rows whose window is not a boundary window."""
        if self._single:
            first = -(-max(self.left, 0) // self.step)
            last = (self.length - max(self.right, 0)) // self.step + 1
            return slice(min(first, self.rows), max(min(last, self.rows), min(first, self.rows)))
        start, end = self.bounds(0, self.rows)
        return np.flatnonzero(end - start == self.left + self.right)


class TimeWindows(_RowWindows):
    """Time windows over ordered times: pandas' windows by offset.

    Parameters
    ----------
    times : ndarray of int64 or float64, shape (length,)
        Non-decreasing within each segment.
    interval : Interval
        The times of a window.
    offsets : ndarray of int64, shape (segments + 1,)
        Where each segment starts, and the length of the data.
    step : int
        As in :class:`pandas.core.window.Rolling`.
    gap : int
        Difference of successive times if it is positive and always the same, else 0.
    """

    _found: "Found"

    def __init__(
        self,
        times: NDArray[Any],
        interval: Interval,
        offsets: NDArray[np.int64],
        step: int = 1,
        gap: int = 0,
    ) -> None:
        super().__init__(offsets, step)
        self._gap = gap
        self.kind = "time"
        self.min_periods = 1
        self.memory = (times, offsets)
        self.interval = interval
        self._found = self.found(interval, times)

    def common_offsets(self) -> tuple[int, int] | None:
        """Return `left` and `right` if all windows are ``[i - left, i + right)``, cut at the ends."""
        times, (before, after, *closed) = self._found.times, self.interval
        if self._gap:
            left, right = (
                min((int(width) - (not inclusive)) // self._gap, _MOST_ROWS)
                for width, inclusive in zip((before, after or 0), closed)
            )
            return left, right + 1
        if len(self.offsets) != 2 or not len(times):
            return None
        row = self.rows // 2
        (middle,), (start, end) = self.position(row, row + 1), self.bound(row)
        left, right = int(middle) - start, end - int(middle)
        if start == 0 or end == len(times):
            return None
        # The rows that are the oldest and newest of the windows, and the next rows outside.
        no_equal_times = (1, before - before, False, True)
        lags = [no_equal_times]
        if before:
            lags = [(left, -before, not closed[0], False), (left + 1, -before, not closed[0], True)]
        if after:
            lags += [(right - 1, after, closed[1], True), (right, after, closed[1], False)]
        elif after is not None or not closed[1]:
            lags.append(no_equal_times)
        return (left, right) if all(lags_agree(times, *lag) for lag in lags) else None

    def over(self, times: NDArray[np.int64]) -> "TimeWindows":
        """Return windows of this width over other times that never decrease."""
        windows = object.__new__(TimeWindows)
        vars(windows).update(vars(self))  # faster than a copy
        windows.memory, windows._found = (times, self.offsets), self.found(self.interval, times)
        return windows

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        return self._found.bounds(first, last)


def time_windows(windows: TimeWindows) -> Windows:
    """Return time windows as windows around their rows if they all have the same rows, else as they are."""
    found = windows.common_offsets()
    return windows if found is None else OffsetWindows(*found, windows.offsets, windows.step, "time", 1)


class ExplicitWindows(Windows):
    """Windows given by their bounds.

    Parameters
    ----------
    start, end : ndarray of int64, shape (rows,)
        In any order, ``0 <= start <= end <= length``.
    length : int
        Rows of data.
    min_periods : int
        Number of observations that a result needs by default.
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
        self._arranged: dict[bool, ExplicitWindows] = {}

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        return self._start[first:last], self._end[first:last]

    def position(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the data rows that the output rows ``first, ..., last - 1`` belong to, int64."""
        if self.order is not None:
            return self._rows_of(0, self.rows)[self.order[first:last]]
        return self._rows_of(first, last)

    def _rows_of(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the data rows of the output rows in their own order."""
        if self._position is not None:
            return self._position[first:last]
        if self.rows != -(-self.length // self._step):
            raise ValueError(
                f"window must hold one pair of bounds for each of the {self.length} rows; got {self.rows}"
            )
        return np.arange(first * self._step, last * self._step, self._step, dtype=np.int64)

    def from_row(self, row: int) -> "ExplicitWindows":
        """Return the windows over the data from a row on; none may belong to an earlier row or reach one."""
        windows = copy(self)
        windows.length, windows._arranged = self.length - row, {}
        windows._start, windows._end = self._start - row, self._end - row
        windows.memory = (windows._start, windows._end)
        windows._position = None if self._position is None else self._position - row
        return windows

    @property
    def first(self) -> int:
        """The first row of the data that a window reaches, or their number."""
        return int(self._start.min(initial=self.length))

    def arranged(self, any_order: bool) -> "ExplicitWindows":
        """Return the windows in an order in which bounds decrease at few `breaks` only.

        Windows whose bounds decrease often may have `any_order` instead, if a statistic takes them.
        """
        if any_order not in self._arranged:
            windows = copy(self)
            self._arranged[any_order] = windows
            windows.any_order, windows.one_chain = False, True
            falls = windows._cut()
            if falls > ANY_ORDER_SHARE * self.rows and any_order:
                windows._cut_into_parts()
            elif falls:
                windows._sort_into_chains()
            # Chains serve every statistic, so they are not sorted again.
            windows._arranged = {True: windows} if windows.any_order else {True: windows, False: windows}
        return self._arranged[any_order]

    def _sort_into_chains(self) -> None:
        """Sort by start; each window joins the chain that ends latest, but not after the window ends."""
        order = np.lexsort((self._end, self._start))
        chain, end = np.empty(self.rows, np.int64), self._end[order]
        if chains_of(end, np.empty_like(end), chain) > 1:
            order = order[np.argsort(chain, kind="stable")]
        self._sort(order)
        self.one_chain = not self._cut()

    def _cut_into_parts(self) -> None:
        """Begin blocks where windows cover other rows; sort by start if that is the case everywhere."""
        self.any_order, self.one_chain = True, False
        size = max(ANY_ORDER_ROWS, 4 * int((self._end - self._start).max()))
        breaks = np.empty(self.rows, np.int64)
        count, covered = parts_of(self._start, self._end, size, breaks)
        if covered > 2 * (self.length + size):
            self._sort(_order_of(self._start))
            count, _ = parts_of(self._start, self._end, size, breaks)
        self.breaks = breaks[:count].copy()

    def _sort(self, order: NDArray[np.intp]) -> None:
        """Put the windows into an order."""
        self._start, self._end = self._start[order], self._end[order]
        self.order = order if self.order is None else self.order[order]

    def _cut(self) -> int:
        """Note where blocks must begin; return how often a bound decreases."""
        breaks = np.empty(self.rows, np.int64)
        count, falls = breaks_of(self._start, self._end, _LARGEST_GAP, breaks)
        self.breaks = breaks[:count].copy()
        return int(falls)


class WindowsAt(ExplicitWindows):
    """Windows at given times that belong to no row."""

    def explicit(self, first: int, last: int, edges: "Edges | None" = None) -> "WindowsAt":
        """Return the windows of these output rows with bounds that are made once; `order` must be None."""
        bounds = self._bounds_with(first, last, edges)
        return WindowsAt(*bounds, self.length, self.min_periods, self.kind)

    def _rows_of(self, first: int, last: int) -> NDArray[np.int64]:
        raise ValueError(
            "at does not apply to a statistic of the row itself: windows at given times belong to no row"
        )


class OrderedWindowsAt(WindowsAt):
    """Windows at ordered times of their own, so many that no block reads many rows between two of them.

    Parameters
    ----------
    found : Found
        Finds the bounds.
    length, min_periods
        As in :class:`ExplicitWindows`.
    """

    _found: "Found"

    def __init__(self, found: "Found", length: int, min_periods: int) -> None:
        super().__init__(_NO_ROWS, _NO_ROWS, length, min_periods, "at")
        self.rows = len(found.own)
        self.memory = (found.times, found.own, found.offsets, found.own_offsets)
        self._found = found
        self._arranged = {False: self, True: self}

    def bounds(self, first: int, last: int) -> Bounds:
        """Return the bounds of the output rows ``first, ..., last - 1``, int64."""
        return self._found.bounds(first, last)


class Found(NamedTuple):
    """Bounds of windows that are found one by one; see :func:`each_window`.

    Attributes
    ----------
    reach : Rows or Interval
        The rows or times of a window.
    offsets, times : ndarray
        Of the rows of data.
    own_offsets, own : ndarray
        Of the windows.
    position : callable, or None
        Returns the rows of data that a range of windows belongs to, in a new array.
    """

    reach: Rows | Interval
    offsets: NDArray[np.int64]
    times: NDArray[Any]
    own_offsets: NDArray[np.int64]
    own: NDArray[Any]
    position: Callable[[int, int], NDArray[np.int64]] | None

    def bounds(self, first: int, last: int, edges: Edges | None = None) -> Bounds:
        """Return the bounds of the windows ``first, ..., last - 1``, int64, shared with `edges` if given."""
        offsets, own = self.offsets, read_only(self.own[first:last])
        own_offsets = np.minimum(np.maximum(self.own_offsets, first), last) - first
        reach = _of_windows(self.reach, slice(first, last))
        rows = None if self.position is None else self.position(first, last)

        def found(distance: Any, passes: bool) -> NDArray[np.int64]:
            """Return the rows before the edge at a distance from the time of each window."""
            out = np.empty(len(own), np.int64)
            distances = np.array(distance, self.times.dtype, ndmin=1)
            edge_bounds(self.times, offsets, own, own_offsets, distances, passes, out)
            return out

        def count(distance: Any, passes: bool) -> NDArray[np.int64]:
            """Return the same, once for windows with common edges."""
            if edges is None or np.ndim(distance):
                return found(distance, passes)
            if (distance, passes) not in edges:
                edges[distance, passes] = found(distance, passes)
            return edges[distance, passes]

        if isinstance(reach, Interval):
            before, after, left_closed, right_closed = reach
            start = count(-before, not left_closed)
            if rows is not None and after is None and right_closed:
                end = np.add(rows, 1, out=rows)
            else:
                end = count(0 if after is None else after, right_closed)
            may_be_empty = not np.min(before + (0 if after is None else after), initial=1) > 0
            return start, np.maximum(start, end) if may_be_empty else end
        low, high = offsets[:-1], offsets[1:]
        if len(offsets) > 2:
            low, high = (np.repeat(bound, np.diff(own_offsets)) for bound in (low, high))
        own_row = count(0, reach.includes) - (reach.includes and not reach.ahead) if rows is None else rows
        start, end = own_row - reach.left, own_row + reach.right
        np.minimum(np.maximum(start, low, out=start), high, out=start)
        np.maximum(end, start, out=end)
        return start, np.minimum(end, high, out=end)


def _of_windows(reach: Rows | Interval, which: Any) -> Any:
    """Return what some windows reach."""
    sizes = {name: size[which] for name, size in zip(reach._fields, reach) if type(size) is np.ndarray}
    return reach._replace(**sizes) if sizes else reach


def each_window(
    reach: Rows | Interval,
    offsets: NDArray[np.int64],
    times: NDArray[Any],
    at: NDArray[Any] | None,
    at_offsets: NDArray[np.int64],
    step: int,
) -> ExplicitWindows:
    """Return windows whose bounds are found one by one: of a size for each, or at times of their own.

    Parameters
    ----------
    reach : Rows or Interval
        The rows or times of a window.
    offsets : ndarray of int64, shape (segments + 1,)
        Where each segment starts, and the length of the data.
    times : ndarray of int64 or float64, shape (length,) or (0,)
        Times of the rows, non-decreasing within each segment; none where the windows are of rows.
    at : ndarray of int64 or float64, shape (rows,), or None
        Times of the windows in any order, of the dtype of `times`. None for windows around rows of data.
    at_offsets : ndarray of int64, shape (segments + 1,)
        Where the windows at times of each segment start, and their number.
    step : int
        The windows belong to every `step`-th row of data if `at` is None.
    """
    length, periods = int(offsets[-1]), reach.periods if isinstance(reach, Rows) else 1
    if at is None:
        around = _RowWindows(offsets, step)
        rows = around.position(0, around.rows)
        bounds = around.found(_of_windows(reach, rows), times).bounds(0, len(rows))
        return ExplicitWindows(*bounds, length, periods, "a size for each", position=rows)
    order, same = None, not any(map(np.ndim, reach))
    if first_unordered(at, at_offsets) >= 0:
        order = _order_of(at)
        if len(offsets) > 2:
            segments = np.repeat(np.arange(len(offsets) - 1), np.diff(at_offsets))
            order = order[_order_of(segments[order])]
        at, reach = at[order], _of_windows(reach, order)
    found = Found(reach, offsets, times, at_offsets, at, None)
    if same and length < SPARSE * len(at):
        windows: WindowsAt = OrderedWindowsAt(found, length, periods)
    else:
        windows = WindowsAt(*found.bounds(0, len(at)), length, periods, "at")
    windows.order = order
    return windows


class ReachesAt:
    """Bounds of several windows at one time.

    Parameters
    ----------
    reaches : sequence of Rows or Interval
        The rows or times of each window.
    dtype : dtype
        Of the times.

    Attributes
    ----------
    edges : tuple of ndarray
        Where they begin and end, as :func:`rollstat.kernels.time_bounds.bounds_at` takes them.
    """

    def __init__(self, reaches: Sequence[Rows | Interval], dtype: Any) -> None:
        edges: list[tuple[Any, bool, int]] = []
        for reach in reaches:
            if isinstance(reach, Interval):
                edges += [
                    (-reach.before, not reach.left_closed, 0),
                    (reach.after or 0, reach.right_closed, 0),
                ]
            else:
                own = -(reach.includes and not reach.ahead)
                edges += [(0, reach.includes, own - reach.left), (0, reach.includes, own + reach.right)]
        distances, passes, beyond = (np.array(each) for each in zip(*edges))
        self.edges = read_only(distances.astype(dtype)), read_only(passes), read_only(beyond)

    def bounds(self, times: NDArray[Any], time: Any) -> Bounds:
        """Return the bounds over times that never decrease."""
        bounds = np.empty(len(self.edges[0]), np.int64)
        bounds_at(times, time, *self.edges, bounds)
        return bounds[::2].copy(), bounds[1::2].copy()
