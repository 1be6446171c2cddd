"""The options that every rolling function takes, and the check of each."""

import math
import numbers
import os
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import read_only
from rollstat.calendar_units import distances, fixed_length, is_calendar
from rollstat.compile.bound_calls import BoundKernel
from rollstat.durations import ALLOWED, UNITS, nanoseconds
from rollstat.kernels.time_bounds import first_unordered, regular_gap
from rollstat.names import reject_unknown
from rollstat.thresholds import KEPT_TIMES
from rollstat.windows import (
    Around,
    Expanding,
    ExplicitWindows,
    FixedWindows,
    Forward,
    Interval,
    Rows,
    TimeWindows,
    Windows,
    each_window,
    time_windows,
)

Window = Any  # int, str, timedelta, number with times, (start, end), Expanding, Forward, Around, BaseIndexer

Closed = Literal["right", "left", "both", "neither"]
NanPolicy = Literal["omit", "propagate", "raise"]
Infinite = Literal["value", "missing"]
Mode = Literal["same", "valid", "reflect", "nearest", "mirror", "wrap", "constant"]
EqualTimes = Literal["past", "all"]

_PROCESSORS = os.cpu_count() or 1
_NO_TIMES = np.empty(0, np.int64)
_NAT = np.iinfo(np.int64).min

_DESCRIBE_WINDOW = (
    "a number of rows (int), a duration such as '5min' or '1 month', a Timedelta, a DateOffset or a number "
    "together with times=, an array with a size for each row, "
    "a pair of integer arrays (start, end), rollstat.Expanding(), rollstat.Forward(m), "
    "rollstat.Around(before, after) or a pandas indexer"
)


class CommonOptions(TypedDict, total=False):
    """Keyword options of every ``rolling_*`` function.

    Parameters
    ----------
    min_periods : int, optional
        Minimum number of observations (non-missing values) for a result. Default: the window size for row
        windows, otherwise 1.
    center : bool, default False
        Whether the window is centred on its row. For a box, a tuple gives one value for each axis.
    closed : {"right", "left", "both", "neither"}, optional
        Which ends the window includes, as in pandas. Default: ``"right"``.
    step : int, optional
        Compute only every `step`-th row. Default: 1.
    times : array_like of datetime64, timedelta64, int or float, shape (n,), optional
        Time or position of each row, in ascending or descending order, for windows given by a duration.
    segments : array_like of int, shape (segments + 1,), optional
        For several segments laid end to end along `axis`: the first row of each segment, then the total
        number of rows. Windows do not cross segments.
    at : array_like, shape (rows,), optional
        Times of the results, in any order, instead of the times of the rows: the result has one entry for
        each time along `axis`. Needs `times` of the same kind. With datetimes or timedeltas, an
        integer window is a number of rows.
    at_segments : array_like of int, shape (segments + 1,), optional
        The index in `at` of each segment's first time, then the total number of times.
    equal_times : {"past", "all"}, default "past"
        Whether a time window that ends with its row includes only earlier rows with the same time, or all
        rows with the same time, as RANGE does in SQL.
    axis : int, default -1
        Axis along which the window slides.
    nan_policy : {"omit", "propagate", "raise"}, default "omit"
        What to do with missing values (NaN, NaT, masked elements): ignore them; return a missing result for
        every window that contains one; or raise ValueError.
    inf : {"value", "missing"}, default "value"
        Whether infinite floats are ordinary values, or missing values as in pandas.
    mode : {"same", "valid", "reflect", "nearest", "mirror", "wrap", "constant"}, default "same"
        ``"same"`` returns a result for every row, ``"valid"`` only for windows that lie entirely inside the
        data. The other modes extend the data, or each segment, beyond the edges as in :mod:`scipy.ndimage`,
        so all row windows are full: with the rows in reverse order (``"reflect"``; ``"mirror"`` does not
        repeat the edge), the first and last row (``"nearest"``), the data again (``"wrap"``), or `fill_value`
        (``"constant"``, default 0). For a box, a tuple gives one mode for each axis.
    fill_value : scalar, optional
        Replaces missing results; must be exactly representable in the result dtype. With it, or with
        ``mode="valid"`` if no result can be missing, integers keep their dtype. An undefined result, such as
        the correlation with a constant, is still NaN.
    out : ndarray, or tuple of ndarray for several results, optional
        Array of the result's shape and dtype that receives the result. It may share memory with the
        input, the times or the bounds, but not with another result.
    threads : int or "auto", optional
        Number of threads; ``"auto"`` means one for each processor that the process may use. Default: the
        setting of :func:`rollstat.set_threads`. The number does not change results.
    algorithm : str, default "auto"
        Name of an algorithm; see :ref:`algorithms`. ``"auto"`` selects the fastest exact algorithm.
    """

    min_periods: int | None
    center: bool
    closed: Closed | None
    step: int | None
    times: ArrayLike | None
    segments: ArrayLike | None
    at: ArrayLike | None
    at_segments: ArrayLike | None
    equal_times: EqualTimes
    axis: int | tuple[int, ...]
    nan_policy: NanPolicy
    inf: Infinite
    mode: Mode
    fill_value: Any
    out: Any
    threads: int | Literal["auto"] | None
    algorithm: str


_setting = {"threads": 1}


def set_threads(threads: int | Literal["auto"]) -> None:
    """Set the number of threads that the rolling functions use by default.

    Parameters
    ----------
    threads : int or "auto"
        At least 1; ``"auto"`` is one for each processor that the process may use. The number does not change
        results.

    Raises
    ------
    ValueError, TypeError
        If `threads` is neither an integer of at least 1 nor ``"auto"``.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.set_threads(2)
    >>> rollstat.get_threads()
    2
    >>> rollstat.set_threads(1)
    """
    _setting["threads"] = _number_of_threads("threads", threads)


def get_threads() -> int:
    """Return the number of threads that the rolling functions use by default.

    Returns
    -------
    int
        1 until :func:`set_threads` changes it.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.get_threads()
    1
    """
    return _setting["threads"]


def whole_number(name: str, value: Any, minimum: int, most: float = 2**63 - 1) -> int:
    """Return `value` as an int of at least `minimum` and at most `most`, or raise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer of at least {minimum}; got {value!r}")
    number = int(value)
    if number < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}; got {value!r}")
    if number > most:
        raise ValueError(f"{name} must be an integer of at most {most}; got {value!r}")
    return number


def choice(name: str, value: Any, choices: Collection[Any]) -> Any:
    """Return `value`; raise unless it is one of the choices."""
    if not isinstance(value, (str, type(None))) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool; raise TypeError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def _axis(name: str, value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        raise TypeError(f"{name} must be one axis for this statistic, which has no boxes; got {value!r}")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer; got {value!r}")
    return value


def _algorithm(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a name; got {value!r}")
    return value


def _number_of_threads(name: str, value: Any) -> int:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name} must be an integer of at least 1 or 'auto'; got {value!r}")
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _PROCESSORS
    return whole_number(name, value, 1)


def _threads(name: str, value: Any) -> int:
    return min(get_threads() if value is None else _number_of_threads(name, value), _PROCESSORS)


# What checks an option, in this order, and returns its value.
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "min_periods": lambda name, value: None if value is None else whole_number(name, value, 0),
    "step": lambda name, value: 1 if value is None else whole_number(name, value, 1),
    "threads": _threads,
    "center": check_flag,
    "closed": partial(choice, choices=(*get_args(Closed), None)),
    "nan_policy": partial(choice, choices=get_args(NanPolicy)),
    "inf": partial(choice, choices=get_args(Infinite)),
    "mode": partial(choice, choices=get_args(Mode)),
    "equal_times": partial(choice, choices=get_args(EqualTimes)),
    "axis": _axis,
    "algorithm": _algorithm,
}


class Options(NamedTuple):
    """Checked common options."""

    min_periods: int | None = None
    center: bool = False
    closed: str | None = None
    step: int = 1
    times: Any = None
    segments: Any = None
    at: Any = None
    at_segments: Any = None
    equal_times: str = "past"
    axis: int = -1
    nan_policy: str = "omit"
    inf: str = "value"
    mode: str = "same"
    fill_value: Any = None
    out: Any = None
    threads: int = 1
    algorithm: str = "auto"

    @classmethod
    def check(cls, **options: Unpack[CommonOptions]) -> "Options":
        """Return the checked options with defaults."""
        given: dict[str, Any] = {**DEFAULTS, **options}
        if len(given) > len(DEFAULTS):
            reject_unknown("the call", options, list(DEFAULTS))
        return cls(**given | {name: check(name, given[name]) for name, check in _CHECKS.items()})

    def offsets(self, length: int) -> NDArray[np.int64]:
        """Return the rows where segments start, and the length of the series."""
        return _offsets("segments", self.segments, length)

    def min_periods_for(self, windows: Windows) -> int:
        """Return `min_periods`, or its default for these windows."""
        return windows.min_periods if self.min_periods is None else self.min_periods

    def windows(self, window: Window, offsets: NDArray[np.int64]) -> Windows:
        """Return the windows over segments that start at `offsets`; its last entry is the length.

        Windows made before, which several calls share, are returned as they are.
        """
        if isinstance(window, Windows):
            return window
        length = int(offsets[-1])
        if self.at is not None:
            self._check_at(window)
        elif self.at_segments is not None:
            raise ValueError("at_segments needs at=, the times of the results")
        if self.equal_times == "all" and self.times is None:
            raise ValueError("equal_times='all' needs times=, the time of each row")
        if hasattr(window, "get_window_bounds"):
            return self._indexer_windows(window, offsets, length)
        if isinstance(window, tuple):
            return self._explicit_windows(window, offsets, length)
        times = None if self.times is None else self.own_times(offsets, length)
        reach = self.reach(window, length, times)
        each = any(map(np.ndim, reach))
        if isinstance(reach, Rows) and reach.kind in ("rows", "around") and not each:
            if self.min_periods is not None and self.min_periods > reach.periods:
                raise ValueError(f"min_periods must be at most the window, {window}; got {self.min_periods}")
        at = None if times is None else times.at
        if at is not None or each:
            at_offsets = _offsets("at_segments", self.at_segments, 0 if at is None else len(at), len(offsets))
            values = _NO_TIMES if times is None else times.values
            return each_window(reach, offsets, values, at, at_offsets, self.step)
        if isinstance(reach, Rows):
            return FixedWindows(reach, offsets, self.step)
        assert times is not None
        return time_windows(TimeWindows(times.values, reach, offsets, self.step, times.gap))

    def _check_at(self, window: Window) -> None:
        """Raise if `at` does not apply."""
        if self.times is None:
            raise ValueError("at needs times=, the time of each row")
        if isinstance(window, tuple) or hasattr(window, "get_window_bounds"):
            raise ValueError("at does not apply to bounds of windows: give the bounds of each result")
        for name in ("mode", "step"):
            if getattr(self, name) not in (1, "same"):
                raise ValueError(
                    f"{name} does not apply to at=, the times of all results; got {getattr(self, name)!r}"
                )
        if (self.segments is None) != (self.at_segments is None):
            missing = "segments" if self.segments is None else "at_segments"
            raise ValueError(f"{missing} must be given: at and the rows have the same segments")

    def _only_rows(self, window: Window, *, names_ends: bool = True) -> None:
        for name, given in (
            ("center", self.center),
            ("closed", names_ends and self.closed is not None and self.at is None),
            ("times", self.times is not None and self.at is None),
        ):
            if given:
                raise ValueError(f"{name} does not apply to the window {window!r}")

    def reach(self, window: Window, length: int, times: "Times | None") -> Rows | Interval:
        """Return the rows or the times of the windows."""
        if isinstance(window, Expanding):
            self._only_rows(window, names_ends=False)
            # Longer than the data, so that no row has a full window, for which another kernel would compile.
            rows = Rows.of(length + 1, closed=self.closed)
            return rows._replace(periods=1, kind="expanding" if rows.includes else "expanding before the row")
        sizes = {"window": window}
        if isinstance(window, (Forward, Around)):
            sizes = {f"{name} of rollstat.{type(window).__name__}": n for name, n in vars(window).items()}
        number = length if times is None or times.at is None else len(times.at)
        sizes = {name: _each_size(name, size, number) for name, size in sizes.items()}
        # With numbers as times a whole number is a width.
        in_rows = times is None or (
            times.unit is not None and (times.at is not None or isinstance(window, (Forward, Around)))
        )
        if in_rows and all(map(is_whole, sizes.values())):
            return self._rows(window, sizes)
        if times is not None:
            return self._interval(window, sizes, times)
        for size in sizes.values():
            if is_duration(size):
                raise ValueError(f"window, the duration {window!r}, needs times=, the time of each row")
            real = isinstance(size, numbers.Real) and not isinstance(size, (numbers.Integral, bool))
            if real or _kind(size) == "f":
                raise ValueError(f"window, the number {window!r}, needs times=, the position of each row")
        raise TypeError(f"window must be {_DESCRIBE_WINDOW}; got {window!r}")

    def _rows(self, window: Window, sizes: dict[str, Any]) -> Rows:
        """Return the rows of windows of a number of rows."""
        least = 0 if isinstance(window, Around) else 1
        rows = [n if np.ndim(n) else whole_number(name, n, least) for name, n in sizes.items()]
        if isinstance(window, (Around, Forward)):
            self._only_rows(window)
        if isinstance(window, Around):
            return Rows.around(rows[0], rows[1], self.closed)
        if isinstance(window, Forward):
            return Rows.forward(rows[0], self.closed)
        return Rows.of(rows[0], self.center, self.closed)

    def _interval(self, window: Window, sizes: dict[str, Any], times: "Times") -> Interval:
        """Return the times of windows by width."""
        named = isinstance(window, (Forward, Around))
        if self.center and (named or is_calendar(window)):
            raise ValueError(f"center does not apply to the window {window!r}")
        default = "left" if isinstance(window, Forward) else "both" if named else "right"
        closed = self.closed or default
        left, right = closed in ("left", "both"), closed in ("right", "both")
        nothing = times.values.dtype.type(0)
        (name, size), (last_name, last_size) = (*sizes.items(),) * 2 if len(sizes) == 1 else sizes.items()
        before = after = nothing
        if not isinstance(window, Forward):
            before, left = self._distance(name, size, times, left, later=False)
        if named or self.center:
            after, right = self._distance(last_name, last_size, times, right, later=True)
        elif self.equal_times == "past":
            after = None
        return Interval(before, after, left, right)

    def _distance(
        self, name: str, size: Any, times: "Times", closed: bool, *, later: bool
    ) -> tuple[Any, bool]:
        """Return a distance of a boundary in units of the times, and whether times on it lie in the window.

        The boundary lies `later` or earlier than the time of the window.
        """
        parts = 2 if self.center else 1
        if is_calendar(size):
            if times.dtype.kind != "M":
                raise TypeError(f"{name} needs datetimes as times; got {size!r} for times of {times.dtype}")
            own = times.values if times.at is None else times.at
            own = (-own if times.descending else own).view(times.dtype)
            zone = zone_of(self.times if times.at is None else self.at)
            return distances(size, own, zone, later=later != times.descending), closed
        if np.ndim(size):
            return _widths(name, size, times, parts, up=not closed), closed
        width, exact = _width(name, size, times, parts, zero=name.endswith("Around"))
        # A time cannot lie on a boundary that is not a whole number of units.
        return width, closed or not exact

    def _indexer_windows(self, window: Any, offsets: NDArray[np.int64], length: int) -> Windows:
        if len(offsets) != 2:
            raise ValueError("window must not be a pandas indexer together with segments")
        start, end = window.get_window_bounds(
            num_values=length,
            min_periods=self.min_periods,
            center=self.center,
            closed=self.closed,
            step=None if self.step == 1 else self.step,
        )
        start, end = np.asarray(start), np.asarray(end)
        rows = -(-length // self.step)
        if start.shape != (rows,) or end.shape != (rows,):
            raise ValueError(
                f"window, a pandas indexer, must give bounds for {rows} of {length} rows; "
                f"got start of shape {start.shape} and end of shape {end.shape}"
            )
        size = getattr(window, "window_size", 0)
        # pandas' own indexers return some empty windows with a start after their end.
        periods = size if isinstance(size, int) else 1
        bounds = _checked_bounds(start, np.maximum(start, end), length)
        return ExplicitWindows(*bounds, length, periods, "pandas indexer", self.step)

    def _explicit_windows(self, window: Any, offsets: NDArray[np.int64], length: int) -> Windows:
        self._only_rows("(start, end)")
        if self.step != 1:
            raise ValueError(
                "step does not apply to a window given as (start, end): give fewer bounds instead"
            )
        if len(offsets) != 2:
            raise ValueError("window must not be (start, end) together with segments")
        if len(window) != 2 or not all(map(np.ndim, window)):
            raise ValueError(
                "window as a tuple must be (start, end), two arrays, or a box, whose axes axis= names; "
                f"got {window!r}"
            )
        return ExplicitWindows(*_checked_bounds(window[0], window[1], length), length)

    def own_times(self, offsets: NDArray[np.int64], length: int) -> "Times":
        """Return the checked times of rows and results."""
        if isinstance(self.times, OrderedTimes):
            _check_length((self.times.rows,), length)
            return Times(_NO_TIMES, _unit("times", self.times.dtype), self.times.gap, self.times.dtype)
        return _checked_times(self.times, self.at, offsets, length)


DEFAULTS: dict[str, Any] = Options._field_defaults
DEFAULTS |= {"step": None, "threads": None}
"""The common options and their defaults, in the order of the signatures."""


def _offsets(name: str, given: Any, length: int, number: int = 0) -> NDArray[np.int64]:
    """Return where segments start, and the length; raise unless there are `number` offsets, if any."""
    if given is None:
        return np.array([0, length], np.int64)
    offsets = unmasked(name, given)
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or len(offsets) < 2:
        raise ValueError(f"{name} must be a 1-d integer array of at least two offsets; got {offsets!r}")
    if number and len(offsets) != number:
        raise ValueError(f"{name} must have {number} offsets, as segments; got {len(offsets)}")
    offsets = np.array(offsets, np.int64)  # a copy, since plans are kept
    if offsets[0] != 0 or offsets[-1] != length or (np.diff(offsets) < 0).any():
        raise ValueError(f"{name} must increase from 0 to the length, {length}; got {offsets!r}")
    return offsets


def is_duration(size: Any) -> bool:
    """Return whether a size of windows, or an array of them, is a length of time."""
    kind = getattr(getattr(size, "dtype", None), "kind", "")
    return isinstance(size, (str, timedelta)) or hasattr(size, "rollback") or kind == "m"


def _kind(size: Any) -> str:
    """Return the kind of the dtype of a size for each window; empty for one size."""
    return size.dtype.kind if np.ndim(size) else ""


def _each_size(name: str, size: Any, number: int) -> Any:
    """Return sizes of `number` windows as an array; one size as it is."""
    if isinstance(size, (str, tuple)) or np.ndim(size) == 0:
        return size
    array = unmasked(name, size)
    if array.ndim != 1 or array.dtype.kind not in "iufm":
        raise TypeError(f"{name} must be {_DESCRIBE_WINDOW}; got an array of {array.ndim}-d {array.dtype}")
    if len(array) != number:
        raise ValueError(f"{name} must have one size for each of {number} windows; got {len(array)}")
    plain = array.astype(np.int64) if array.dtype.kind == "m" else array
    if not plain.min(initial=0) >= 0:  # NaN is not
        row = int((~(plain >= 0)).argmax())
        raise ValueError(f"{name} must hold sizes of at least 0; got {array[row]} at row {row}")
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


def _widths(name: str, sizes: NDArray[Any], times: "Times", parts: int, up: bool) -> NDArray[Any]:
    """Return widths divided by `parts`, in units of the times, rounded up or down to whole ones.

    Whether a time lies within a width that ends between two times does not depend on rounding in the right
    direction.
    """
    if (sizes.dtype.kind == "m") != (times.unit is not None):
        expected = "numbers" if times.unit is None else "timedeltas"
        raise TypeError(f"{name} must hold {expected} for times of this type; got {sizes.dtype}")
    if times.unit is None and times.values.dtype.kind == "f":
        return sizes.astype(np.float64) / parts
    if sizes.dtype.kind == "f":
        whole = np.ceil(sizes / parts) if up else np.floor(sizes / parts)
        if whole.size and whole.max() >= 2.0**62:
            raise ValueError(f"{name} must hold durations below 2**62 units of the times; got {sizes.max()}")
        return whole.astype(np.int64)
    ratio = (_unit(name, sizes.dtype) or Fraction(1)) / (times.unit or 1) / parts
    counts = sizes.view(np.int64) if sizes.dtype.isnative else sizes.astype(np.int64)
    if counts.size and int(counts.max()) * ratio.numerator >= 2**62:
        raise ValueError(f"{name} must hold durations below 2**62 units of the times; got {sizes.max()}")
    scaled = counts * ratio.numerator
    return -(-scaled // ratio.denominator) if up else scaled // ratio.denominator


def zone_of(times: Any) -> Any:
    """Return the time zone of aware datetimes or of one, or None."""
    if isinstance(times, datetime):
        return times.tzinfo
    dtype: Any = getattr(times, "dtype", getattr(times, "type", None))
    if getattr(dtype, "kind", "") == "O" or isinstance(times, (list, tuple)):
        return next((getattr(time, "tzinfo", None) for time in times), None)
    return getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)


def is_whole(value: Any) -> bool:
    """Return whether a size is a number of rows, not a width of time."""
    if np.ndim(value):
        return _kind(value) == "i"
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def unmasked(name: str, values: Any) -> NDArray[Any]:
    """Return an array without a mask; raise if an element is masked."""
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(0, np.bool_)
    if mask.any():
        raise ValueError(f"{name} must not be missing; row {int(mask.argmax())} is masked")
    return np.asarray(values)


def numpy_times(name: str, times: Any) -> tuple[NDArray[Any], str]:
    """Return times as an array of NumPy, aware datetimes in UTC, and their kind.

    The kind is "aware datetimes", "naive datetimes" or "timedeltas", and empty for other arrays.
    """
    dtype: Any = getattr(times, "dtype", getattr(times, "type", None))
    aware = any(getattr(dtype, zone, None) is not None for zone in ("tz", "time_zone"))
    if aware and hasattr(times, "dtype") and hasattr(dtype, "unit"):  # of pandas, which would make objects
        array = times.to_numpy(dtype=f"M8[{dtype.unit}]")
    else:
        array = unmasked(name, times)
    if array.dtype.kind == "O":
        return _times_of_objects(name, array)
    kinds = {"M": "aware datetimes" if aware else "naive datetimes", "m": "timedeltas"}
    return array, kinds.get(array.dtype.kind, "")


def _times_of_objects(name: str, array: NDArray[Any]) -> tuple[NDArray[Any], str]:
    found, kinds = [], set()
    for row, item in enumerate(array.ravel().tolist()):
        if item is None or item != item:
            raise ValueError(f"{name} must not be missing; row {row} is {item!r}")
        time, kind = item, "timedeltas"
        if isinstance(item, datetime):
            aware = item.utcoffset() is not None
            kind = "aware datetimes" if aware else "naive datetimes"
            time = item.astimezone(UTC).replace(tzinfo=None) if aware else item
        elif isinstance(item, np.datetime64):
            kind = "naive datetimes"
        elif not isinstance(item, (timedelta, np.timedelta64)):
            raise TypeError(
                f"{name} must be datetimes, timedeltas or real numbers; got {item!r} in row {row}"
            )
        kinds.add(kind)
        if hasattr(time, "to_numpy"):
            found.append(time.to_numpy())
        else:
            found.append(np.array(time, "m8" if kind == "timedeltas" else "M8"))
    if len(kinds) > 1:
        raise TypeError(f"{name} must be of one kind; got {' and '.join(sorted(kinds))}")
    plain = np.array(found)
    if any(after.astype(before.dtype) != before for after, before in zip(plain, found)):
        raise ValueError(
            f"{name} must fit in 64 bits of their finest unit, {np.datetime_data(plain.dtype)[0]}"
        )
    return plain.reshape(array.shape), kinds.pop() if kinds else ""


def _checked_bounds(start: Any, end: Any, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return both bounds of windows over `length` rows; raise unless they lie in the data, in order."""
    bounds = []
    for name, values in (("start", start), ("end", end)):
        array = unmasked(f"window {name}", values)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise TypeError(
                f"window {name} must be a 1-d integer array; got {array.ndim}-d, of {array.dtype}"
            )
        array = array.astype(np.int64, copy=False)
        if array.size and (array.min() < 0 or array.max() > length):
            row = int(np.flatnonzero((array < 0) | (array > length))[0])
            raise ValueError(f"window {name} must lie in 0..{length}; got {array[row]} at row {row}")
        bounds.append(np.ascontiguousarray(array))
    if len(bounds[0]) != len(bounds[1]):
        raise ValueError(
            f"window start and end must have the same length; got {len(bounds[0])} and {len(bounds[1])}"
        )
    bad = np.flatnonzero(bounds[0] > bounds[1])
    if bad.size:
        row = int(bad[0])
        raise ValueError(
            f"window start must be at most its end; got {bounds[0][row]} and {bounds[1][row]} at row {row}"
        )
    return bounds[0], bounds[1]


def parse_width(window: Any, name: str = "window") -> Fraction | None:
    """Return a width of time in nanoseconds, or None if `window`, the argument `name`, is none."""
    if isinstance(window, str):
        length = nanoseconds(window)
        if length is None:
            raise ValueError(f"{name} must be {ALLOWED}; got {window!r}")
        return length
    if hasattr(window, "to_timedelta64"):
        window = window.to_timedelta64()
    if isinstance(window, np.timedelta64):
        unit, count = np.datetime_data(window.dtype)
        if np.isnat(window) or unit in ("Y", "M", "generic"):
            raise ValueError(f"{name} must be a duration of a fixed length; got {window!r}")
        name = {"m": "min"}.get(unit, unit)
        return Fraction(int(window.astype(np.int64))) * count * UNITS[name]
    if isinstance(window, timedelta):
        return Fraction(window // timedelta(microseconds=1)) * 1000
    fixed = fixed_length(window)
    return None if fixed is None else Fraction(fixed)


def width_text(width: Fraction | int) -> str:
    """Return a width in nanoseconds as text: a whole number of the longest unit up to days, if it is one."""
    unit = next(
        name for name in ("D", "h", "min", "s", "ms", "us", "ns") if not width % UNITS[name] or name == "ns"
    )
    return f"{width // UNITS[unit]}{unit}"


def _width(name: str, window: Any, times: "Times", parts: int, zero: bool) -> tuple[Any, bool]:
    """Return the width divided by `parts`, in units of the times, and whether that is exact.

    Raise unless it is positive, or 0 if that is allowed.
    """
    length, unit = parse_width(window), times.unit
    if zero and is_whole(window) and window == 0:
        length = None if unit is None else Fraction(0)
    if (length is None) != (unit is None):
        expected = "a plain number" if unit is None else "a duration such as '5min' or a Timedelta"
        raise TypeError(f"{name} must be {expected} for times of this type; got {window!r}")
    if length is None:
        if isinstance(window, (bool, np.bool_)) or not isinstance(window, numbers.Real):
            raise TypeError(f"{name} must be {_DESCRIBE_WINDOW}; got {window!r}")
        if not 0 <= float(window) < np.inf:
            raise ValueError(f"{name} must be a positive duration; got {window!r}")
        length = Fraction(int(window) if isinstance(window, numbers.Integral) else float(window))
    else:
        length /= unit or 1
    if length < 0 or (length == 0 and not zero):
        raise ValueError(f"{name} must be a positive duration; got {window!r}")
    length /= parts
    if times.values.dtype.kind == "f":
        width = float(length)
        return (math.nextafter(width, 0.0) if width > length else width), width == length
    if length >= 2**63:
        raise ValueError(
            f"{name} must be a duration below 2**63 units of the times (Expanding() reaches every row); "
            f"got {window!r}"
        )
    return np.int64(length.numerator // length.denominator), length.denominator == 1


def _unit(name: str, dtype: np.dtype[Any]) -> Fraction | None:
    """Return the unit of times in nanoseconds; None for numbers."""
    if dtype.kind not in "mM":
        return None
    unit, count = np.datetime_data(dtype)
    if unit in ("Y", "M", "generic"):
        raise TypeError(f"{name} must have a unit of a fixed length; got {dtype}")
    nanoseconds = {"ps": Fraction(1, 1000), "fs": Fraction(1, 10**6), "as": Fraction(1, 10**9)}
    return count * (nanoseconds.get(unit) or Fraction(UNITS[{"m": "min"}.get(unit, unit)]))


class Times(NamedTuple):
    """Times of rows and of results.

    Attributes
    ----------
    values : ndarray of int64 or float64
        Times of rows, which never decrease within a segment.
    unit : Fraction or None
        Nanoseconds of their unit; None for numbers.
    gap : int
        As in :class:`rollstat.windows.TimeWindows`.
    dtype : numpy.dtype
        As they were given.
    at : ndarray of the dtype of `values`, or None
        Times of results, in any order.
    descending : bool
        Whether descending times were turned into ascending ones.
    """

    values: NDArray[Any]
    unit: Fraction | None
    gap: int
    dtype: np.dtype[Any]
    at: NDArray[Any] | None = None
    descending: bool = False


class OrderedTimes(NamedTuple):
    """What a plan needs to know about times that never decrease: it takes their place in its options.

    Attributes
    ----------
    dtype : numpy.dtype
        Their dtype.
    rows : int
        Their number.
    gap : int
        As in :class:`rollstat.windows.TimeWindows`.
    """

    dtype: np.dtype[Any]
    rows: int
    gap: int


_gap_of_integers = BoundKernel(regular_gap)


def ordered_times(times: Any, most: int = KEPT_TIMES) -> OrderedTimes | None:
    """Return the form of regular times, or of at most `most` ascending ones, in 64 bits; None for others."""
    if type(times) is not np.ndarray or times.ndim != 1 or not len(times):
        return None
    dtype, flags = times.dtype, times.flags
    if dtype.kind not in "imM" or dtype.itemsize != 8 or not dtype.isnative:
        return None
    if not (flags.c_contiguous and flags.aligned):
        return None
    integers, rows = read_only(times.view(np.int64)), len(times)
    if dtype.kind != "i" and integers[0] == _NAT:
        return None
    gap = _gap_of_integers(integers)
    if gap < 0 or (gap == 0 and rows > most):
        return None
    return OrderedTimes(dtype, rows, gap)


def _check_length(shape: tuple[int, ...], length: int) -> None:
    if shape != (length,):
        raise ValueError(f"times must be 1-d and as long as the data, {length}; got shape {shape}")


def _checked_times(times: Any, at: Any, offsets: NDArray[np.int64], length: int) -> Times:
    """Return times as int64 or float64, or raise."""
    array, kind = numpy_times("times", times)
    _check_length(array.shape, length)
    asked = None
    if at is not None:
        array, asked = _in_one_unit(array, kind, *numpy_times("at", at))
    unit, dtype, array = _unit("times", array.dtype), array.dtype, _plain_times("times", array)
    _reject_nan("times", array)
    first, last = offsets[:-1], offsets[1:] - 1
    inner = first <= last
    descending = inner.any() and (array[first[inner]] > array[last[inner]]).any()
    if asked is not None:
        asked = _plain_times("at", asked)
        _reject_nan("at", asked)
        if unit is not None and asked.min(initial=0) == _NAT:
            raise ValueError(f"at must not be missing; row {int((asked == _NAT).argmax())} is NaT")
        asked = read_only(np.ascontiguousarray(_descending(asked, unit) if descending else asked))
    array = read_only(np.ascontiguousarray(_descending(array, unit) if descending else array))
    gap = int(regular_gap(array)) if len(offsets) == 2 and array.dtype.kind == "i" else -1
    row = -1 if gap >= 0 else int(first_unordered(array, offsets))
    # NaT is the smallest number: it is the first of its segment, or out of order.
    if unit is not None and (row >= 0 or (array[first[inner]] == _NAT).any()):
        missing = array == _NAT
        if missing.any():
            raise ValueError(f"times must not be missing; row {int(missing.argmax())} is NaT")
    if row >= 0:
        raise ValueError(f"times must be in order; row {row} is out of order")
    return Times(array, unit, max(gap, 0), dtype.newbyteorder("="), asked, bool(descending))


def _descending(array: NDArray[Any], unit: Fraction | None) -> NDArray[Any]:
    """Return descending times as ascending ones: windows depend on distances only.

    ``~`` does not overflow; of datetimes only NaT would, and it must stay the smallest number.
    """
    return ~array if array.dtype.kind == "i" and unit is None else -array


def _plain_times(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return times as int64 or float64; raise if they are of another kind."""
    if array.dtype.kind in "mM":
        return array.astype(array.dtype.newbyteorder("="), copy=False).view(np.int64)
    if array.dtype.kind in "iu":
        if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{name} must fit in int64; got {array.max()}")
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f":
        raise TypeError(f"{name} must be datetimes, timedeltas or real numbers; got {array.dtype}")
    return array.astype(np.float64, copy=False)


def _reject_nan(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"{name} must not be missing; row {int(np.isnan(array).argmax())} is NaN")


def _in_one_unit(
    times: NDArray[Any], kind: str, at: NDArray[Any], at_kind: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return times of rows and results in one dtype, that of the finer unit, or raise."""
    if at.ndim != 1:
        raise ValueError(f"at must be 1-d; got shape {at.shape}")
    if not at.size:
        return times, np.empty(0, times.dtype)
    if kind != at_kind:
        names = {"": "numbers"}
        raise TypeError(
            f"at must hold {names.get(kind, kind)}, as times do; got {names.get(at_kind, at_kind)}"
        )
    if not kind:
        times, at = _plain_times("times", times), _plain_times("at", at)
    dtype = np.result_type(times, at)
    for name, each in (("times", times), ("at", at)):
        if (
            each.dtype != dtype
            and (each.astype(dtype).astype(each.dtype) != each).any()
            and not (kind and np.isnat(each).any())
        ):
            raise ValueError(f"{name} must be exactly representable in {dtype}, the dtype of times and at")
    return times.astype(dtype, copy=False), at.astype(dtype, copy=False)
