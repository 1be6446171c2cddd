r"""A window of calendar units, such as ``"1 month"``: where it begins depends on the time.

::

    rows, times     | before the window | window ............ |      limit: the start of the window, by pandas
                      ^ may come back     ^ first             ^ last

    limit later     --> drop rows of the window held
    limit earlier   --> load the window held again: a month before 31 March, 05:00 lies before
                        a month before 30 March, 23:00

The window held has no limit of its own, and contains the rows from `first` up to `last`. Rows stay here until
no later window can reach them.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.calendar_units import SLACK, as_json, distances, earlier, from_json
from rollstat.durations import UNITS
from rollstat.kernels.rings import SMALLEST, ring_size
from rollstat.kernels.row_times import EARLIEST
from rollstat.options import choice
from rollstat.streaming.base import State, rows_of
from rollstat.streaming.lagged_window import LAGGED, OuterWindow
from rollstat.streaming.window_spec import WindowSpec
from rollstat.windows import ExplicitWindows


class CalendarWindow(OuterWindow):
    """A window of calendar units.

    Parameters
    ----------
    held : Window
        A window made with ``spec.held``.
    spec : WindowSpec
        The window of calendar units.
    closed : {"right", "both", "left", "neither"}
        Which ends the window includes.

    Attributes
    ----------
    zone
        The time zone of the times that are being added, or None.
    """

    zone: Any = None

    def __init__(self, held: Any, spec: WindowSpec, closed: str = "right") -> None:
        super().__init__(held, closed)
        self.spec = spec
        self._renew()

    def _renew(self) -> None:
        self.held = self.held.copy(empty=True)
        stored = [(self.codec.stored, np.dtype(np.bool_))] * self.columns
        self._set_rows([np.empty(SMALLEST, dtype) for dtype in (np.int64, *sum(stored, ()))], 0, 0)
        self._limit, self._first, self._last = EARLIEST, 0, 0

    def _set_rows(self, arrays: list[NDArray[Any]], count: int, dropped: int) -> None:
        """Take `count` rows in arrays with room: times, then encoded values and missing marks of columns."""
        self._arrays, self._count, self._dropped = arrays, count, dropped

    @property
    def _times(self) -> NDArray[np.int64]:
        return self._arrays[0][: self._count]

    @property
    def _newest(self) -> Any:
        return int(self._times[-1]) if self._count else None

    @property
    def full(self) -> bool:
        """Whether the window begins at the first row or later."""
        return self._dropped + self._first > 0

    def _limits(self, stored: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the last time before the window at each time."""
        starts = stored - distances(self.spec.size, stored.view("M8[ns]"), self.zone, later=False)
        limits: NDArray[np.int64] = starts - (self.closed in ("left", "both"))
        self._check_order(bool((limits < stored).all()))
        return limits

    def _check_order(self, before: bool) -> None:
        """Raise unless windows begin before their rows."""
        if not before:
            raise ValueError(f"window must begin before its row on a stream; got {self.spec.size!r}")

    # Rows.

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, move the window to it, and return the result."""
        stored = self.spec.time_of_row(time, self._newest)
        limit = earlier(self.spec.size, stored, self.zone) - (self.closed in ("left", "both"))
        self._check_order(limit < stored)
        return self._place(self._count, elements, stored, limit)

    def add(self, elements: tuple[Any, ...], time: Any) -> None:
        """Add a row, and move the window to it."""
        self.push(elements, time)

    def insert(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row that may be older than the newest one, and return the result."""
        stored, newest = self.spec.late_time(time, self._newest), self._newest
        if newest is None or stored >= newest:
            return self.push(elements, time)
        return self._place(int(np.searchsorted(self._times, stored, "right")), elements, stored, self._limit)

    def _place(self, place: int, elements: tuple[Any, ...], stored: int, limit: int) -> Any:
        """Add a row in its place, move the window, and return the result; if that fails, change nothing."""
        encoded = [self.codec.encode(x) for x in elements]
        place -= self._take_room(1)
        before, self.changed = self._limit, True
        for array, value in zip(self._arrays, (stored, *sum(encoded, ()))):
            array[place + 1 : self._count + 1] = array[place : self._count]
            array[place] = value
        self._count += 1
        try:
            return self._move(limit, late=place < self._count - 1)
        except BaseException as error:
            if not (isinstance(error, OverflowError) and hasattr(self.held, "states")):  # which keeps the row
                for array in self._arrays:
                    array[place : self._count - 1] = array[place + 1 : self._count]
                self._count -= 1
                self._load(*self._ends(before), before)
            self.changed = False
            raise

    def _move(self, limit: int, *, late: bool) -> Any:
        """Move the window after a new row, perhaps a `late` one, has come, and return the result."""
        first, last = self._ends(limit)
        if late or not self._first <= first <= self._last:
            self._load(first, last, limit)
            return self.held.value
        if first > self._first:
            self.held.drop(first - self._first)
        rows = list(rows_of(*self._part(self._last, last)))
        self._first, self._last, self._limit = first, last, limit
        for row in rows[:-1]:
            self.held.add(*row)
        return self.held.push(*rows[-1]) if rows else self.held.value

    def _ends(self, limit: int) -> tuple[int, int]:
        """Return the ends of the window, and tell the window held of a newest row that it leaves out."""
        last = self._count
        if self.closed in LAGGED and last:
            self._leave_out((self._arrays[1][last - 1], self._arrays[2][last - 1]))
            last = int(np.searchsorted(self._times, self._newest))
        return min(int(np.searchsorted(self._times, limit, "right")), last), last

    def _part(self, first: int, last: int) -> tuple[list[Any], NDArray[Any] | None]:
        """Return the columns of some rows, and their times if the window held takes times."""
        times, *columns = (array[first:last] for array in self._arrays)
        decoded = [self.codec.decode_array(*pair) for pair in zip(columns[::2], columns[1::2])]
        return decoded, times.view("M8[ns]") if self.held.spec.timed else None

    def _load(self, first: int, last: int, limit: int) -> None:
        """Let the window held contain these rows."""
        self.held.load(*self._part(first, last), self._dropped + last)
        self._first, self._last, self._limit = first, last, limit

    def _left(self) -> int:
        """Return how many rows no later window will reach."""
        limit = max(self._limit - SLACK * UNITS["D"], EARLIEST)
        return min(int(np.searchsorted(self._times, limit, "right")), self._first)

    def _take_room(self, rows: int) -> int:
        """Take memory for further rows if needed, without rows that no window will reach; return how many."""
        if self._count + rows <= len(self._arrays[0]):
            return 0
        gone = self._left()
        kept = slice(gone, self._count)
        room = ring_size(max(SMALLEST, 2 * (self._count - gone + rows)))
        arrays = [np.concatenate([a[kept], np.empty(room, a.dtype)])[:room] for a in self._arrays]
        self._set_rows(arrays, self._count - gone, self._dropped + gone)
        self._first, self._last = self._first - gone, self._last - gone
        return gone

    # Arrays.

    def extend(self, columns: tuple[Any, ...], times: Any) -> list[Any]:
        """Add the rows of arrays, and return the results after each row, an array for each output."""
        arrays, stored = self._check(columns, times)
        assert stored is not None
        limits, changed = self._limits(stored), self.copy()  # a result of integers may not fit
        results = changed._extend(arrays, stored, limits)
        self.changed = True
        self.__dict__.update(changed.__dict__)
        self.changed = False
        return results

    def load_tail(self, columns: tuple[Any, ...], times: Any) -> None:
        """Add the rows of arrays to an empty window, without results."""
        arrays, stored = self._check(columns, times)
        assert stored is not None
        self.changed = True
        if len(stored):
            (limit,) = self._limits(stored[-1:]).tolist()
            self._append(arrays, stored)
            self._load(*self._ends(limit), limit)

    def _append(self, arrays: list[Any], stored: NDArray[np.int64]) -> None:
        """Add newer rows, without moving the window."""
        self._take_room(len(stored))
        encoded = [self.codec.encode_array(array) for array in arrays]
        for own, new in zip(self._arrays, (stored, *sum(encoded, ()))):
            if own.dtype == object:
                new = np.fromiter(new, object, len(new))  # whose elements may be sequences
            own[self._count : self._count + len(stored)] = new
        self._count += len(stored)

    def _extend(self, arrays: list[Any], stored: NDArray[np.int64], limits: NDArray[np.int64]) -> list[Any]:
        self._append(arrays, stored)
        rows = self._count - len(stored)  # before the new ones
        end = np.arange(rows + 1, self._count + 1)
        if self.closed in LAGGED:
            end = np.searchsorted(self._times, stored)
        start = np.minimum(np.searchsorted(self._times, limits, "right"), end)
        if not len(stored):
            return list(self.held.extend(*self._part(0, 0)))
        exact = hasattr(self.held, "adapter") and self.held.adapter.exact and self.closed not in LAGGED
        if exact or not hasattr(self.held, "statistic"):
            return self._extend_by_runs(start, limits)
        least = int(min(start.min(), rows))
        position = np.arange(rows, self._count) - least
        windows = ExplicitWindows(start - least, end - least, self._count - least, position=position)
        results: list[Any] = self.held._call_function(*self._part(least, self._count), windows)
        if hasattr(self.held, "outputs"):
            self.held._shift_positions(results, self._dropped + least)
        self._load(*self._ends(limits[-1]), int(limits[-1]))
        return results

    def _extend_by_runs(self, start: NDArray[np.int64], limits: NDArray[np.int64]) -> list[Any]:
        """Add the last rows to the window held, in runs of rows whose windows begin with the same row."""
        rows, parts = self._count - len(start), []
        for a, b in pairwise([0, *(np.flatnonzero(np.diff(start)) + 1).tolist(), len(start)]):
            first, limit = int(start[a]), int(limits[b - 1])
            if first < self._first:
                self._load(first, rows + a, limit)
            else:
                self.held.drop(first - self._first)
            parts.append(self.held.extend(*self._part(rows + a, rows + b)))
            self._first, self._last, self._limit = first, rows + b, limit
        return [np.concatenate(results) for results in zip(*parts)]

    # Whole windows.

    def _separate(self) -> None:
        self.held = self.held.copy()
        self._arrays = [array.copy() for array in self._arrays]

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        parameters, arrays = self.held.state()
        late = [] if self.spec.lateness is None else [self.spec.lateness]
        gone = self._left()
        own = [as_json(self.spec.size), self.closed, self._limit, self._dropped + gone, self.columns, *late]
        rows = [array[gone : self._count] for array in self._arrays]
        stored = [array.astype(np.uint8) if array.dtype == np.bool_ else array for array in rows]
        return parameters | {"calendar": own}, [*arrays, *stored]

    @classmethod
    def from_state(cls, restore: Any, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        """Return the window that a snapshot contains, or raise ValueError; `restore` makes the held one."""
        size, closed, limit, dropped, columns, *late = parameters["calendar"]
        states, rows = arrays[: -1 - 2 * columns], arrays[-1 - 2 * columns :]
        held = restore({name: value for name, value in parameters.items() if name != "calendar"}, states)
        lateness = np.timedelta64(late[0], "ns") if late else None
        spec = WindowSpec.parse(from_json(size), lateness)
        window = cls(held, spec, choice("closed", closed, ("right", "both", *LAGGED)))
        window.held = held
        spec.restored_times(rows[0], len(rows[0]))
        for own, array in zip(window._arrays, rows, strict=True):
            wanted = np.uint8 if own.dtype == np.bool_ else own.dtype
            if array.dtype != wanted or array.shape != (len(rows[0]), *own.shape[1:]):
                raise ValueError("its rows have other shapes or dtypes")
        rows = [array.astype(own.dtype) for own, array in zip(window._arrays, rows)]
        for values, marks in zip(rows[1::2], rows[2::2]):
            held.codec.check_stored(values, marks)
        if not (type(limit) is type(dropped) is int and EARLIEST <= limit < 2**63 and dropped >= 0):
            raise ValueError("its window must begin at a time, after a number of rows")
        window._set_rows(rows, len(rows[0]), dropped)
        window._first, window._last = window._ends(limit)
        window._limit = limit
        if held.rows != window._last - window._first:
            raise ValueError("its rows do not fit its window")
        return window
