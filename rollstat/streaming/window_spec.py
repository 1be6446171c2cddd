"""The window of a stream: a number of rows, a duration, calendar units, all rows, or those not popped yet.

::

    times    10   12   15   15   19          width 5: the window is (19 - 5, 19]
                       [------------]
                       oldest    newest
"""

import math
import numbers
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.calendar_units import fixes_date, is_calendar
from rollstat.kernels import row_times
from rollstat.kernels.rings import SMALLEST, read_ring, resized_ring, ring_size, suitable_size, write_ring
from rollstat.options import parse_width, unmasked, whole_number, width_text
from rollstat.windows import Expanding

_MOST_ROWS = 2**40
_EARLIEST = -(2**63)
_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ROWS, _TIME, _NUMBER, _EXPANDING, _FREE = "rows", "time", "number", "expanding", "free"
_CALENDAR = "calendar"


@dataclass(frozen=True)
class WindowSpec:
    """The kind and size of a window, checked.

    Attributes
    ----------
    kind : {"rows", "time", "number", "calendar", "expanding", "free"}
        What limits it: a number of rows, a width in nanoseconds, a width in numbers, calendar units, nothing,
        or `pop`.
    size : int, float, str or DateOffset
        Rows or width; 0 if nothing limits the window.
    lateness : int, float or None
        How much older than the newest row a row of a window by width may be; None if times must not decrease.
    aging : bool
        Whether rows age with time; rows of all windows then have finite times.
    """

    kind: str
    size: Any = 0
    lateness: Any = None
    aging: bool = False

    @classmethod
    def parse(cls, window: Any, lateness: Any = None) -> "WindowSpec":
        """Return the window that an argument names; raise if it names none."""
        if lateness is not None:
            spec, late = cls.parse(window), cls.parse(lateness)
            if not spec.by_width or late.kind != (_TIME if spec.by_calendar else spec.kind):
                like = "of fixed length" if spec.by_calendar else f"like window, {window!r}"
                raise TypeError(f"lateness must be a duration {like}; got {lateness!r}")
            return replace(spec, lateness=late.size)
        if isinstance(window, WindowSpec):
            return window
        if window is None:
            return cls(_FREE)
        if isinstance(window, Expanding):
            return cls(_EXPANDING)
        duration: Any = np.timedelta64
        if isinstance(window, numbers.Integral) and not isinstance(window, duration):
            rows = whole_number("window", window, 1, math.inf)
            if rows > _MOST_ROWS:
                raise ValueError(
                    f"window must be at most {_MOST_ROWS} rows: memory is allocated up front; got {rows}"
                )
            return cls(_ROWS, rows)
        if isinstance(window, (float, np.floating)):
            if not 0 < float(window) < math.inf:
                raise ValueError(f"window must be a positive duration; got {window!r}")
            return cls(_NUMBER, float(window))
        if is_calendar(window):
            if fixes_date(window):
                raise ValueError(f"window must not be a fixed year or month on a stream; got {window!r}")
            return cls(_CALENDAR, window)
        length = parse_width(window)
        if length is None:
            raise TypeError(
                "window must be a number of rows (int), a duration (a float, '5min', '1 month', a timedelta "
                f"or a DateOffset), rollstat.Expanding(), or None to shorten it by pop; got {window!r}"
            )
        if length <= 0 or length.denominator != 1:
            raise ValueError(f"window must be a positive duration of whole nanoseconds; got {window!r}")
        return cls(_TIME, int(length))

    @classmethod
    def restored(cls, kind: str, size: Any, lateness: Any = None) -> "WindowSpec":
        """Return the window of a kind and a size from a snapshot; raise ValueError if there is none."""
        given = cls(kind, size, lateness)
        late = None if lateness is None else cls(kind, lateness).argument
        spec = cls.parse(None if given.free else given.argument, late)
        if spec != given:
            raise ValueError(f"its window must have a size that fits {kind}; got {size}")
        return spec

    @property
    def by_width(self) -> bool:
        """Whether the window is a width."""
        return self.kind in (_TIME, _NUMBER, _CALENDAR)

    @property
    def by_calendar(self) -> bool:
        """Whether the window is one of calendar units."""
        return self.kind == _CALENDAR

    @property
    def held(self) -> "WindowSpec":
        """The window that keeps the statistic: for calendar units one that is shortened by pop."""
        return WindowSpec(_FREE) if self.by_calendar else self

    def with_both_ends(self) -> "WindowSpec":
        """Return the window that also includes its first end: one row more, or the time a width ago."""
        if self.by_calendar:  # whose window knows
            return self
        if self.kind not in (_ROWS, _TIME):
            raise ValueError("closed='both' needs a window of rows or a duration")
        return replace(self, size=self.size + 1)  # times are whole nanoseconds

    def without_last_end(self, closed: str) -> "WindowSpec":
        """Return the window of the rows before the newest one, ``"left"`` or ``"neither"`` end included."""
        if not (self.fixed or self.by_width) or self.lateness is not None:
            raise ValueError(f"closed={closed!r} needs a window of rows or a duration, without lateness")
        if self.kind != _ROWS or closed == "left":
            return self
        if self.size == 1:
            raise ValueError("window must be at least 2 rows with closed='neither'; got 1")
        return replace(self, size=self.size - 1)

    @property
    def timed(self) -> bool:
        """Whether rows have times."""
        return self.by_width or self.aging

    @property
    def fixed(self) -> int:
        """The number of rows if it is fixed, else 0."""
        return int(self.size) if self.kind == _ROWS else 0

    @property
    def free(self) -> bool:
        """Whether only `pop` removes rows."""
        return self.kind == _FREE

    @property
    def argument(self) -> Any:
        """The argument `window` of the function over arrays that means this window."""
        if self.kind == _TIME:
            return np.timedelta64(self.size, "ns")
        return self.size if self.kind in (_ROWS, _NUMBER, _CALENDAR) else Expanding()

    def limit(self, time: Any, inclusive: bool = False) -> Any:
        """Return the last time before the window whose newest row has `time`; NaN if there is none.

        The window does not contain the time a width ago, unless it is `inclusive`.
        """
        if self.kind == _TIME:
            return max(time - self.size - inclusive, _EARLIEST)  # whole nanoseconds
        return _float_limit(time, self.size, inclusive)

    def check_min_periods(self, min_periods: Any) -> int:
        """Return the number of observations that an answer needs; raise if `min_periods` does not fit."""
        if min_periods is None:
            return self.fixed or 1
        number = whole_number("min_periods", min_periods, 0)
        if self.fixed and number > self.fixed:
            raise ValueError(f"min_periods must be at most the window, {self.fixed}; got {min_periods}")
        return number

    def restored_time(self, time: Any) -> Any:
        """Return a time in stored form, or None, from a snapshot; raise ValueError if there is none such."""
        fits = type(time) is int and -(2**63) < time < 2**63
        if self.kind == _NUMBER:
            fits = type(time) is float and time == time
        if time is not None and not (self.timed and fits):
            raise ValueError(f"its times must fit its window; got {time!r}")
        return time

    def restored_times(self, times: NDArray[Any], rows: int) -> NDArray[Any]:
        """Return times in stored form from a snapshot; raise ValueError if there is not one for each row."""
        fits = times.dtype == self.time_dtype and times.shape == (rows if self.by_width else 0,)
        # NaN is not at or after its neighbour, nor after itself.
        if not (fits and (times[1:] >= times[:-1]).all() and (times[:1] == times[:1]).all()):
            raise ValueError("its times must not decrease, and there must be one for each row")
        return times

    @property
    def time_dtype(self) -> Any:
        """The dtype in which times are stored: nanoseconds, or numbers."""
        return np.float64 if self.kind == _NUMBER else np.int64

    def time_of_row(self, t: Any, newest: Any) -> Any:
        """Return the time of a new row in stored form, or None if rows have none; raise if it does not fit.

        `newest` is the time of the last row, or None.
        """
        if not self.timed:
            if t is not None:
                raise TypeError(f"t does not apply: the window is not a duration; got {t!r}")
            return None
        if t is None:
            raise TypeError("t must be given: every element needs a time, to age or to leave the window")
        time = self.encode_time(t)
        if newest is not None and time < newest:
            raise ValueError(f"t must not decrease; got {shown(time, t)} after {shown(newest, t)}")
        return time

    def late_time(self, t: Any, newest: Any) -> Any:
        """Return the time of a row that may be older than the newest one; raise if it is too old."""
        time = self.encode_time(t)
        fixed = WindowSpec(_NUMBER if self.kind == _NUMBER else _TIME, self.lateness)
        if newest is not None and time < fixed.limit(newest):
            late = self.lateness if self.kind == _NUMBER else width_text(self.lateness)
            raise ValueError(
                f"t must be at most lateness, {late}, before the newest time, {shown(newest, t)}; "
                f"got {shown(time, t)}"
            )
        return time

    def times_of_rows(self, times: Any, rows: int, newest: Any) -> Any:
        """Return the times of new rows as :meth:`time_of_row` does, in an array, or None."""
        if not self.timed:
            if times is not None:
                raise TypeError("times do not apply: the window is not a duration")
            return None
        if times is None:
            raise TypeError("times must be given: every element needs a time, to age or to leave the window")
        stored = np.ascontiguousarray(self.encode_times(times))
        if stored.shape != (rows,):
            raise ValueError(
                f"times must have one entry for each of the {rows} elements; got shape {stored.shape}"
            )
        if (stored[1:] < stored[:-1]).any() or (newest is not None and (stored[:1] < newest).any()):
            every = stored if newest is None else np.append(newest, stored).astype(stored.dtype)
            row = int((every[1:] < every[:-1]).argmax())
            raise ValueError(
                f"times must not decrease; got {shown(every[row + 1], np.asarray(times))} "
                f"after {shown(every[row], np.asarray(times))}"
            )
        return stored

    def encode_time(self, t: Any) -> Any:
        """Return a time in nanoseconds or as a number; raise if it does not fit."""
        if self.kind == _NUMBER:
            duration: Any = np.timedelta64
            if isinstance(t, (bool, np.bool_, duration)) or not isinstance(t, numbers.Real):
                raise TypeError(f"t must be a number, like the window; got {t!r}")
            time = float(t)
            if time != time or (self.aging and math.isinf(time)):
                raise ValueError(f"t must not be {'infinite' if time == time else 'NaN'}; got {t!r}")
            if isinstance(t, numbers.Integral) and int(t) != time:
                raise ValueError(f"t must be exactly representable in float64; got {t!r}")
            return time
        if isinstance(t, (np.datetime64, np.timedelta64)):
            fine = t.astype(f"{t.dtype.kind}8[ns]")
            if fine.astype(t.dtype) == t:  # neither missing nor out of range
                return int(fine.astype(np.int64))
        return int(self.encode_times([t])[0])

    def encode_times(self, times: Any) -> NDArray[Any]:
        """Return times as int64 nanoseconds or float64 numbers; raise if they do not fit."""
        given = unmasked("times", times)
        if self.kind == _NUMBER:
            if given.dtype.kind not in "fiu":
                raise TypeError(f"times must be numbers, like the window; got {given.dtype}")
            plain = given.astype(np.float64)
            bad = np.isnan(plain) | (self.aging & np.isinf(plain))
            if bad.any():
                row = int(bad.argmax())
                allowed = "finite numbers" if self.aging else "numbers"
                raise ValueError(f"times must be {allowed}; got {plain.flat[row]} in row {row}")
            with np.errstate(invalid="ignore"):
                exact = given.dtype.kind == "f" or (plain.astype(given.dtype) == given).all()
            if not exact:
                raise ValueError(f"times must be exactly representable in float64; got {given.dtype}")
            return plain
        if given.dtype.kind not in "mM":
            raise TypeError(f"times must be datetimes or timedeltas; got {times!r}")
        if np.isnat(given).any():
            raise ValueError("times must not be missing; got NaT")
        fine = given.astype(f"{given.dtype.kind}8[ns]")
        if (fine.astype(given.dtype) != given).any():
            raise ValueError(f"times must fit in 64 bits of nanoseconds; got {times!r}")
        return fine.view(np.int64)


def shown(time: Any, given: Any) -> str:
    """Return a time in stored form as text, of the kind of a time that was given."""
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    if kind == "m":
        return width_text(int(time))
    return str(np.datetime64(int(time), "ns")).rstrip("0").rstrip(".") if kind == "M" else str(time)


def nanoseconds(time: Any) -> tuple[int, str] | None:
    """Return a datetime in nanoseconds and its kind, as `numpy_times` names it; None for other times."""
    if isinstance(time, np.datetime64):
        fine = time.astype("M8[ns]")
        return (fine.item(), "naive datetimes") if fine.astype(time.dtype) == time else None
    if not isinstance(time, datetime) or time != time:  # NaT
        return None
    try:
        aware = time.tzinfo is not None and time.utcoffset() is not None
        count = getattr(time, "value", None)  # of pandas
        if count is None:
            count = (time - (_EPOCH_UTC if aware else _EPOCH)) // _MICROSECOND * 1000
    except OverflowError:
        return None
    return (count, "aware datetimes" if aware else "naive datetimes") if abs(count) < 2**63 else None


def _float_limit(time: float, width: float, inclusive: bool) -> float:
    """Return the largest float that is at most ``time - width`` without rounding, or less if `inclusive`.

    Equal infinities have the distance 0, as in the functions over arrays.
    """
    if math.isinf(time):
        return sys.float_info.max if time > 0 else math.nan
    limit = time - width
    if math.isinf(limit):
        return limit
    part = time - limit
    error = (time - (limit + part)) + (part - width)  # of the subtraction, exact
    return math.nextafter(limit, -math.inf) if error < 0 or (inclusive and error == 0) else limit


class Times:
    """Times of rows, oldest first; see :mod:`rollstat.kernels.row_times`.

    Parameters
    ----------
    times : ndarray
        The first ones, in stored form.
    spec : WindowSpec, optional
        The window, if compiled steps use the times.

    Attributes
    ----------
    header, ring : ndarray
        The state.
    """

    def __init__(self, times: NDArray[Any], spec: WindowSpec | None = None) -> None:
        self._spec, self._dtype = spec, times.dtype
        self.header = np.zeros(row_times.SLOTS, np.int64)
        self.header[row_times.NEWEST] = row_times.EARLIEST
        if spec is not None:
            otherwise = row_times.TICKS if spec.aging else row_times.NONE
            self.header[row_times.KIND] = _KINDS.get(spec.kind, otherwise)
            if spec.by_width:
                self.header[row_times.WIDTH] = int(_keys(np.array([spec.size], spec.time_dtype))[0])
            self.header[row_times.GROWS] = not spec.fixed
        self.ring = np.zeros(SMALLEST if spec is None or spec.timed else 0, np.int64)
        if len(times):
            self.note(times)
            self.extend(times)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"header": self.header.copy()}
        state["header"][row_times.CLASS] = 0  # an address in this process
        return state

    def copy(self) -> "Times":
        """Return equal times with their own memory."""
        other = type(self)(np.empty(0, self._dtype), self._spec)
        other.header[:], other.ring = self.header, self.ring.copy()
        return other

    def _decoded(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        if self._dtype == np.int64:
            return keys
        return np.where(keys >= 0, keys, keys ^ _MAGNITUDE).view(np.float64)

    def __len__(self) -> int:
        if not len(self.ring):  # rows without times
            return 0
        return int(self.header[row_times.END] - self.header[row_times.FIRST])

    @property
    def numbers(self) -> NDArray[Any]:
        """A copy of all times."""
        if not len(self.ring):
            return np.empty(0, self._dtype)
        return self._decoded(read_ring(self.ring, int(self.header[row_times.FIRST]), len(self)))

    def _slot(self, slot: int) -> Any:
        key = self.header[slot : slot + 1]
        return self._decoded(key).item() if self.header[row_times.STARTED] else None

    @property
    def newest(self) -> Any:
        """The newest time that has been noted, or None."""
        return self._slot(row_times.NEWEST)

    @property
    def begun(self) -> Any:
        """The first time that has been noted, or None."""
        return self._slot(row_times.BEGUN)

    def note(self, times: NDArray[Any]) -> None:
        """Note that rows with times have come."""
        keys = _keys(times)
        if not self.header[row_times.STARTED]:
            self.header[row_times.BEGUN], self.header[row_times.STARTED] = keys[0], 1
        self.header[row_times.NEWEST] = keys[-1]

    def note_late(self, time: Any) -> None:
        """Note that a row has come that is older than the newest one."""
        key = _keys(np.array([time], self._dtype))[0]
        self.header[row_times.BEGUN] = min(key, self.header[row_times.BEGUN])

    def make_room(self) -> None:
        """Change the length of the ring, if it is not suitable for one more time."""
        used, size = len(self) + 1, len(self.ring)
        suitable = 2 * size if used > size else suitable_size(used, size)
        if suitable != size:
            self.resize(suitable)

    def resize(self, size: int) -> None:
        """Take a ring of another size."""
        self.ring = resized_ring(self.ring, int(self.header[row_times.FIRST]), size)

    def extend(self, times: NDArray[Any]) -> None:
        """Add times."""
        if len(self) + len(times) > len(self.ring):
            self.resize(ring_size(len(self) + len(times)))
        write_ring(self.ring, int(self.header[row_times.END]), _keys(times))
        self.header[row_times.END] += len(times)

    def append(self, time: Any) -> None:
        """Add a time."""
        self.extend(np.array([time], self._dtype))

    def insert(self, time: Any) -> None:
        """Add a time in its place, after equal ones."""
        place, times = self.up_to(time), self.numbers
        self.header[row_times.END] = self.header[row_times.FIRST]
        self.extend(np.insert(times, place, time))

    def drop(self, number: int) -> None:
        """Remove the oldest times."""
        self.header[row_times.FIRST] += number
        size = suitable_size(len(self), len(self.ring))
        if size != len(self.ring):
            self.resize(size)

    def up_to(self, limit: Any) -> int:
        """Return how many times are at most `limit`; none if it is NaN."""
        if limit != limit:
            return 0
        key, first, size = _keys(np.array([limit], self._dtype)), self.header[row_times.FIRST], len(self.ring)
        start = int(first) % size
        parts = self.ring[start : start + len(self)], self.ring[: max(start + len(self) - size, 0)]
        return sum(int(np.searchsorted(part, key, "right")[0]) for part in parts)


_KINDS = {_TIME: row_times.TICKS, _NUMBER: row_times.NUMBERS}
_MAGNITUDE = 2**63 - 1


def _keys(times: NDArray[Any]) -> NDArray[np.int64]:
    """Return times as integers in their order."""
    if times.dtype == np.int64:
        return times
    bits = (times + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _MAGNITUDE)
