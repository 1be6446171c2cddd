"""``ewm`` of the accessors beside that of pandas."""

import re

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import rollstat.pandas

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "x": np.where(RNG.random(60) < 0.2, np.nan, RNG.standard_normal(60).cumsum()),
        "y": RNG.standard_normal(60),
        "n": RNG.integers(-9, 10, 60),
        "f": RNG.standard_normal(60).astype(np.float32),
        "ok": RNG.random(60) < 0.5,
        "u": pd.array(RNG.integers(0, 9, 60), "UInt8"),
    },
    index=pd.date_range("2026-01-01", periods=60, freq="7h"),
)
KEYS = RNG.integers(0, 4, 60)
PANDAS_2 = pd.__version__.startswith("2.")
TIMES = FRAME.index + pd.to_timedelta(RNG.integers(0, 400, 60), "min")
METHODS = [
    ("mean", {}),
    ("sum", {}),
    ("var", {}),
    ("var", {"bias": True}),
    ("std", {}),
    ("cov", {}),
    ("cov", {"bias": True, "pairwise": False}),
    ("corr", {}),
]
PARAMETERS = [
    {"span": 5, "min_periods": 2},
    {"com": 0.4, "min_periods": 3},
    {"halflife": 2.5, "ignore_na": True},
    {"alpha": 0.1, "adjust": False},
]
EVERY = pytest.mark.parametrize(("method", "given"), METHODS)


def same(ours, theirs):
    check = assert_frame_equal if isinstance(theirs, pd.DataFrame) else assert_series_equal
    check(ours, theirs, rtol=1e-12, atol=1e-12)


@EVERY
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_frames_and_series(method, given, parameters):
    if method == "sum" and "adjust" in parameters:
        with pytest.raises(NotImplementedError, match="adjust=False"):
            FRAME.rollstat.ewm(**parameters).sum()
        return
    before = rollstat.pandas.handed_back()
    same(
        getattr(FRAME.rollstat.ewm(**parameters), method)(**given),
        getattr(FRAME.ewm(**parameters), method)(**given),
    )
    own, pandas_own = FRAME["x"].rollstat.ewm(**parameters), FRAME["x"].ewm(**parameters)
    other = () if method in ("mean", "sum", "var", "std") else (FRAME["y"],)
    given = {key: value for key, value in given.items() if key != "pairwise"}
    same(getattr(own, method)(*other, **given), getattr(pandas_own, method)(*other, **given))
    same(FRAME.rollstat.ewm(**parameters)[["x", "n"]].mean(), FRAME.ewm(**parameters)[["x", "n"]].mean())
    same(FRAME.rollstat.ewm(**parameters).x.mean(), FRAME.ewm(**parameters).x.mean())
    assert rollstat.pandas.handed_back() == before


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("times", [None, TIMES])
def test_groups(parameters, times):
    if times is not None:
        parameters = {"halflife": "1D", "times": times, "ignore_na": parameters.get("ignore_na", False)}
    frame = FRAME[["x", "y"]].assign(key=KEYS)
    ours, theirs = frame.rollstat.groupby("key"), frame.groupby("key")
    same(ours.ewm(**parameters).mean(), theirs.ewm(**parameters).mean())
    same(ours["x"].ewm(**parameters).mean(), theirs["x"].ewm(**parameters).mean())
    aligned = ours.ewm(**parameters, transform=True).mean()
    wanted = theirs.ewm(**parameters).mean().droplevel(0).sort_index()
    same(aligned, wanted.set_axis(FRAME.index) if times is None else wanted.reindex(aligned.index))
    if times is None:
        same(ours.ewm(**parameters).var(), theirs.ewm(**parameters).var())
        same(ours.ewm(**parameters).corr(), theirs.ewm(**parameters).corr())
        with pytest.raises(ValueError, match="transform=True does not apply to cov"):
            ours.ewm(**parameters, transform=True).cov()


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize(
    "times", [TIMES, TIMES.tz_localize("Europe/Berlin"), pd.Series(TIMES), TIMES.to_numpy()]
)
def test_times(times, adjust):
    if PANDAS_2 and not adjust:
        pytest.skip("pandas 2 computes no times with adjust=False")
    options = {"halflife": pd.Timedelta("1D"), "times": times, "adjust": adjust}
    before = rollstat.pandas.handed_back()
    same(FRAME.rollstat.ewm(**options).mean(), FRAME.ewm(**options).mean())
    assert rollstat.pandas.handed_back() == before


@pytest.mark.parametrize(
    "times", [TIMES[:-1], TIMES.insert(1, None)[:60], TIMES.to_period("D"), np.arange(60), TIMES.tolist()]
)
def test_times_that_pandas_rejects(times):
    with pytest.raises(ValueError, match=r".") as wanted:
        FRAME.ewm(halflife="1D", times=times)
    with pytest.raises(ValueError, match=re.escape(str(wanted.value))):
        FRAME.rollstat.ewm(halflife="1D", times=times)


def test_statistics_that_pandas_lacks_with_times():
    times, halflife = pd.date_range("2026-01-01", periods=60, freq="D"), "3D"
    windows, rows = FRAME.rollstat.ewm(halflife=halflife, times=times), FRAME.ewm(halflife=3)
    for method in ("var", "std", "cov", "corr"):
        same(getattr(windows, method)(), getattr(rows, method)())


@pytest.mark.skipif(PANDAS_2, reason="pandas 2 ignores times in var and corr")
def test_what_pandas_computes():
    before = rollstat.pandas.handed_back()
    unordered = TIMES[::-1]
    for options in ({"times": unordered}, {"times": TIMES, "com": 1}):
        same(FRAME.rollstat.ewm(halflife="1D", **options).mean(), FRAME.ewm(halflife="1D", **options).mean())
        with pytest.raises(NotImplementedError, match="var is not implemented with times"):
            FRAME.rollstat.ewm(halflife="1D", **options).var()
        with pytest.raises(NotImplementedError, match="corr is not implemented with times"):
            FRAME.rollstat.ewm(halflife="1D", **options).corr()
    reason = "times out of order, or together with com, span or alpha"
    after = rollstat.pandas.handed_back()
    for method in ("mean", "var", "corr"):
        assert after[f"ewm.{method}", reason] == before.get((f"ewm.{method}", reason), 0) + 2


@pytest.mark.parametrize(
    "options",
    [{}, {"com": -1}, {"span": 2, "com": 1}, {"alpha": 2}, {"halflife": "1D"}, {"com": 1, "method": "x"}],
)
def test_errors_are_those_of_pandas(options):
    with pytest.raises(Exception) as wanted:  # noqa: PT011  # whatever pandas raises
        FRAME.ewm(**options)
    with pytest.raises(wanted.type, match=str(wanted.value).replace("(", r"\(")[:30]):
        FRAME.rollstat.ewm(**options)


def test_columns_without_numbers_aggregates_and_names():
    frame = FRAME[["x"]].assign(text="a")
    with pytest.raises(pd.errors.DataError):
        frame.rollstat.ewm(span=3).mean()
    same(frame.rollstat.ewm(span=3).mean(numeric_only=True), frame.ewm(span=3).mean(numeric_only=True))
    same(FRAME.rollstat.ewm(span=3).agg(["mean", "std"]), FRAME.ewm(span=3).agg(["mean", "std"]))
    assert repr(FRAME.rollstat.ewm(span=3)) == repr(FRAME.ewm(span=3))
    assert not hasattr(FRAME.rollstat.ewm(span=3), "median")
    assert isinstance(FRAME.rollstat.ewm(span=3), pd.api.typing.ExponentialMovingWindow)
    same(FRAME.rollstat.ewm(span=3, times=None).mean(), FRAME.ewm(span=3).mean())
    empty = FRAME.iloc[:0]
    same(empty.rollstat.ewm(span=3).mean(), empty.ewm(span=3).mean())


@pytest.mark.parametrize(
    ("method", "given", "parameters"),
    [
        *((method, given, {"span": 3}) for method, given in METHODS),
        ("mean", {}, {"halflife": "1D", "times": TIMES}),
    ],
)
def test_infinite_values_can_be_missing(method, given, parameters):
    frame = FRAME[["x", "y"]].copy()
    frame.iloc[[3, 17], 0], frame.iloc[17:19, 1] = np.inf, -np.inf
    before = rollstat.pandas.handed_back()
    ours, theirs = frame.rollstat.ewm(**parameters, inf="missing"), frame.ewm(**parameters)
    same(getattr(ours, method)(**given), getattr(theirs, method)(**given))
    given = {key: value for key, value in given.items() if key != "pairwise"}
    same(getattr(ours["x"], method)(**given), getattr(theirs["x"], method)(**given))
    assert rollstat.pandas.handed_back() == before
    ours = frame.assign(key=KEYS).rollstat.groupby("key").ewm(**parameters, inf="missing")
    theirs = frame.assign(key=KEYS).groupby("key").ewm(**parameters)
    same(getattr(ours, method)(**given), getattr(theirs, method)(**given))
    same(getattr(ours["x"], method)(**given), getattr(theirs["x"], method)(**given))


def test_infinite_values_are_values():
    series = pd.Series([0.0, 0.0, np.inf, 2.7, 3.4])
    assert series.rollstat.ewm(span=3).mean().tolist()[2:4] == [np.inf, np.inf]
    same(series.rollstat.ewm(span=3, inf="missing").mean(), series.ewm(span=3).mean())
    with pytest.raises(ValueError, match="inf must be one of 'value', 'missing'; got 'nan'"):
        series.rollstat.ewm(span=3, inf="nan").mean()
