"""Windows of calendar units: months, quarters, years, and any offset of pandas, such as business days.

::

    times, zone --> local clock --> times an offset earlier or later, by pandas --> distances from the times

The width of "1 month" differs from time to time. So calendar units become a width for each window, in the
unit of the times. pandas is imported when such a window is used.
"""

import json
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.durations import UNITS, months

SLACK = 2
"""Days by which a window may begin before the windows of earlier times: calendar units keep the time of day,
which is less than a day, and a clock that is put back costs at most as much."""
_CLOCK = {"hours": UNITS["h"], "minutes": UNITS["min"], "seconds": UNITS["s"], "milliseconds": UNITS["ms"]}
_CLOCK |= {"microseconds": UNITS["us"], "nanoseconds": UNITS["ns"]}


def is_calendar(width: Any) -> bool:
    """Return whether a width is one of calendar units: its length depends on the time."""
    if isinstance(width, str):
        return months(width) is not None
    return hasattr(width, "rollback") and fixed_length(width) is None


def depends_on_time(window: Any) -> bool:
    """Return whether a window is one of calendar units, or reaches so far."""
    return is_calendar(window) or any(map(is_calendar, getattr(window, "__dict__", {}).values()))


def fixed_length(offset: Any) -> int | None:
    """Return the nanoseconds of an offset of pandas of fixed length; None for other objects."""
    try:
        return int(offset.nanos)
    except AttributeError:
        return None
    except ValueError:  # of pandas, also for a DateOffset of hours or less
        given = getattr(offset, "kwds", {})
        if not given or not set(given) <= set(_CLOCK):
            return None
        return int(offset.n * sum(_CLOCK[unit] * count for unit, count in given.items()))


def at_most(width: Any) -> Any:
    """Return a width of fixed length; for months, quarters and years a duration that none exceeds."""
    # No months are longer, even if the clock changes at both ends.
    return f"{31 * (months(width) or 0) + 2}D" if isinstance(width, str) and is_calendar(width) else width


def fixes_date(width: Any) -> bool:
    """Return whether a width of calendar units leads to a fixed month or year, so far back from any time."""
    return type(width).__name__ == "DateOffset" and not {"year", "month"}.isdisjoint(width.kwds)


def as_json(width: Any) -> Any:
    """Return a calendar width as a value of JSON; raise TypeError if :func:`from_json` cannot restore it."""
    if isinstance(width, str):
        return width
    plain = {"n": width.n, "normalize": width.normalize, **width.kwds}
    found = plain if type(width).__name__ == "DateOffset" else width.freqstr
    try:
        restored = from_json(json.loads(json.dumps(found)))
    except (TypeError, ValueError):
        restored = None
    if restored != width:
        raise TypeError(f"a snapshot cannot contain the window {width!r}, only offsets without own rules")
    return found


def from_json(found: Any) -> Any:
    """Return the calendar width that :func:`as_json` has written; raise if there is none."""
    if isinstance(found, dict):
        return import_module("pandas").DateOffset(**found)
    return found if is_calendar(found) else import_module("pandas").tseries.frequencies.to_offset(found)


def distances(width: Any, times: NDArray[Any], zone: Any, *, later: bool) -> NDArray[np.int64]:
    """Return how far the times lie from those a calendar width earlier, or later, in their unit.

    Parameters
    ----------
    width : str or DateOffset
        The calendar units.
    times : ndarray of datetime64
        In UTC if there is a zone, in a unit that pandas has.
    zone
        The time zone whose clock counts, or None. A time that its clock skips counts as the next one, and one
        that the clock shows twice as the first.
    later : bool
        Whether the other time lies after each time.
    """
    index = import_module("pandas").DatetimeIndex(times)
    moved = _moved(width, index, zone, np.ones(len(index), np.bool_), later=later)
    gap = (moved - index if later else index - moved).to_numpy()
    exact: NDArray[Any] = gap.astype(times.dtype.str.replace("M8", "m8"))
    if (exact != gap).any():
        raise ValueError(
            f"window must hold whole units of the times, {np.datetime_data(times.dtype)[0]}; got {width!r}"
        )
    return exact.view(np.int64)


def in_zone(times: NDArray[Any], zone: Any) -> Any:
    """Return times, which are in UTC, as datetimes of pandas in a time zone."""
    return import_module("pandas").DatetimeIndex(times, tz="UTC").tz_convert(zone)


def earlier(width: Any, time: int, zone: Any) -> int:
    """Return the time a calendar width earlier, both in nanoseconds, as :func:`distances` finds it."""
    moved = _moved(width, import_module("pandas").Timestamp(time), zone, True, later=False)
    return int(moved.as_unit("ns").value)


def _moved(width: Any, times: Any, zone: Any, first: Any, *, later: bool) -> Any:
    """Return one time or an index of times, moved by a calendar width on the clock of a zone.

    `first` is True, or once for each time: the first time counts where the clock shows one twice.
    """
    offset = _months_offset(width) if isinstance(width, str) else width
    local = times if zone is None else times.tz_localize("UTC").tz_convert(zone).tz_localize(None)
    moved = local + offset if later else local - offset
    if zone is None:
        return moved
    moved = moved.tz_localize(zone, ambiguous=first, nonexistent="shift_forward")
    return moved.tz_convert("UTC").tz_localize(None)


@lru_cache(maxsize=64)  # asked in every push into a window of months
def _months_offset(width: str) -> Any:
    return import_module("pandas").DateOffset(months=months(width))
