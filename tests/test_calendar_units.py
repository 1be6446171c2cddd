"""Widths of calendar units, beside pandas."""

import numpy as np
import pandas as pd
import pytest

from rollstat.calendar_units import (
    as_json,
    at_most,
    depends_on_time,
    distances,
    fixed_length,
    fixes_date,
    from_json,
    is_calendar,
)
from rollstat.windows import Around

MONTH = pd.DateOffset(months=1)
HOURS = pd.DateOffset(hours=36)
BUSINESS = pd.offsets.BusinessDay(3)


def test_which_widths_depend_on_the_time():
    assert all(map(is_calendar, ["1 month", "2 quarters", "1 year", MONTH, BUSINESS]))
    assert not any(map(is_calendar, ["1 day", "36h", HOURS, pd.offsets.Hour(2), pd.Timedelta("1D"), 5]))
    assert depends_on_time(Around(MONTH, "1D"))
    assert not depends_on_time(Around("1D", "1D"))
    assert fixed_length(HOURS) == 36 * 3_600 * 10**9
    assert fixed_length(MONTH) is None
    assert fixes_date(pd.DateOffset(month=1))
    assert not fixes_date(MONTH)


@pytest.mark.parametrize("width", ["1 month", "3 quarters", "2 years"])
def test_no_window_is_longer_than_at_most(width):
    times = pd.date_range("1999-01-31", "2004-12-31", freq="D").to_numpy()
    longest = distances(width, times, None, later=False).max()
    assert longest <= pd.Timedelta(at_most(width)).as_unit("ns").value
    assert at_most("5 days") == "5 days"


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("width", [MONTH, BUSINESS, "1 month"])
def test_distances_are_those_of_pandas(width, zone, later):
    index = pd.date_range("2026-03-01 12:00", "2026-11-15", freq="37h", tz=zone)
    offset = MONTH if isinstance(width, str) else width
    moved = index + offset if later else index - offset
    wanted = (moved - index if later else index - moved).as_unit("ns").asi8
    utc = index.tz_convert(None) if zone else index
    times = utc.to_numpy().astype("M8[ns]")
    np.testing.assert_array_equal(distances(width, times, index.tz, later=later), wanted)


@pytest.mark.parametrize("width", ["1 month", MONTH, BUSINESS, pd.offsets.MonthEnd(2)])
def test_json_and_back(width):
    assert from_json(as_json(width)) == width


def test_an_offset_with_own_rules_is_rejected():
    custom = pd.offsets.CustomBusinessDay(holidays=["2026-01-01"])
    with pytest.raises(TypeError, match="a snapshot cannot contain the window"):
        as_json(custom)
