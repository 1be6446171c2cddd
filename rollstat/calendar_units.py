"""Windows of calendar units: months, quarters, years, and any offset of pandas, such as business days.

::

    times, zone --> local clock --> times an offset earlier or later, by pandas --> distances from the times

The width of "1 month" differs from time to time. So calendar units become a width for each window, in the
unit of the times. pandas is imported when such a window is used.
"""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat._extras import require
from rollstat.durations import UNITS, months

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
    require("pandas", "a window of calendar units", "pandas")
    pandas = import_module("pandas")
    count = months(width) if isinstance(width, str) else None
    offset = width if count is None else pandas.DateOffset(months=count)
    index = pandas.DatetimeIndex(times)
    local = index if zone is None else index.tz_localize("UTC").tz_convert(zone).tz_localize(None)
    moved = local + offset if later else local - offset
    if zone is not None:
        first = np.ones(len(moved), np.bool_)
        moved = moved.tz_localize(zone, ambiguous=first, nonexistent="shift_forward").tz_convert("UTC")
        moved = moved.tz_localize(None)
    gap = (moved - index if later else index - moved).to_numpy()
    exact: NDArray[Any] = gap.astype(times.dtype.str.replace("M8", "m8"))
    if (exact != gap).any():
        raise ValueError(
            f"window must hold whole units of the times, {np.datetime_data(times.dtype)[0]}; got {width!r}"
        )
    return exact.view(np.int64)
