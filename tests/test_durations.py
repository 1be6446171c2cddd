"""One grammar of durations on every face."""

import datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rollstat
import rollstat.pandas
from rollstat import features
from rollstat.durations import UNITS, months, nanoseconds, normal
from rollstat.spark.aggregates import parse_window
from rollstat.streaming.window_spec import WindowSpec

MINUTE = UNITS["min"]
FIXED = {
    "10 minutes": 10 * MINUTE,
    "5m": 5 * MINUTE,
    "5min": 5 * MINUTE,
    "5 Min": 5 * MINUTE,
    "1h30m": 90 * MINUTE,
    "1 hour 30 minutes": 90 * MINUTE,
    "1.5h": 90 * MINUTE,
    "1d": UNITS["D"],
    "P1D": UNITS["D"],
    "PT1H30M": 90 * MINUTE,
    "P1W": UNITS["W"],
    "min": MINUTE,
    "90sec": 90 * UNITS["s"],
    "5µs": 5000,
}
OF_CALENDAR = {"1 month": 1, "3mo": 3, "2q": 6, "1 year 6 months": 18, "P1Y6M": 18}
NONE = ("", "M", "5M", "1ME", "P", "5", "-5min", "5 fortnights", "1 month 2 days", "min5")
INDEX = pd.date_range("2024-01-01", periods=40, freq="4min")
VALUES = pd.Series(np.arange(40.0), INDEX)


def test_text():
    for text, length in FIXED.items():
        assert (nanoseconds(text), months(text), nanoseconds(normal(text))) == (length, None, length)
    for text, count in OF_CALENDAR.items():
        assert (nanoseconds(text), months(text), months(normal(text))) == (None, count, count)
    for text in NONE:
        assert (nanoseconds(text), months(text)) == (None, None)
    assert nanoseconds("0.3ns") == Fraction(3, 10)
    assert nanoseconds("a" * 10_000 + "!") is None  # in linear time


@pytest.mark.parametrize("text", FIXED)
def test_every_face_takes_each(text):
    length = FIXED[text]
    wanted = VALUES.rolling(pd.Timedelta(length, "ns")).sum().tolist()
    assert rollstat.rolling_sum(VALUES, text).tolist() == wanted
    assert VALUES.rollstat.rolling(text).sum().tolist() == wanted
    assert VALUES.rollstat.groupby(np.zeros(40)).rolling(text).sum().tolist() == wanted
    for spec in (text, parse_window(text), features.sum("x").over(text).windows[0]):
        assert WindowSpec.parse(spec).size == length


def test_objects_are_durations():
    wanted = VALUES.rolling("5min").sum().tolist()
    for window in (
        pd.Timedelta("5min"),
        datetime.timedelta(minutes=5),
        np.timedelta64(5, "m"),
        pd.offsets.Minute(5),
    ):
        assert rollstat.rolling_sum(VALUES, window).tolist() == wanted
        assert VALUES.rollstat.rolling(window).sum().tolist() == wanted
        assert WindowSpec.parse(window).size == 5 * MINUTE


@pytest.mark.parametrize("text", NONE)
def test_other_text_lists_what_is_allowed(text):
    for call in (
        lambda: rollstat.rolling_sum(VALUES, text),
        lambda: rollstat.RollingSum(text),
        lambda: features.sum("x").over(text),
        lambda: rollstat.ewm_mean(VALUES, halflife=text),
    ):
        with pytest.raises(
            ValueError, match=r"must be a duration such as '5min'.* m or min \(minutes\).*; got "
        ):
            call()
    if text != "-5min":  # which pandas reads
        with pytest.raises(ValueError, match=r".") as raised:
            VALUES.rollstat.rolling(text)
        assert "m or min (minutes)" in raised.value.__notes__[0]
