"""The pandas accessors: alignment, dtypes, times from the index."""

import inspect
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rollstat
import rollstat.pandas
from rollstat.pandas.calls import STATISTICS
from rollstat.registry import REGISTRY


@pytest.fixture
def series(rng):
    values = rng.standard_normal(60).round(1)
    values[rng.random(60) < 0.1] = np.nan
    return pd.Series(
        values, index=pd.date_range("2024-03-30", periods=60, freq="7min", tz="Europe/Berlin"), name="x"
    )


def test_kth_by_method_and_by_rolling(series):
    wanted = pd.Series(rollstat.rolling_kth(series.to_numpy(), 2, 5), index=series.index, name="x")
    pd.testing.assert_series_equal(series.rollstat.kth(2, 5), wanted)
    pd.testing.assert_series_equal(series.rollstat.rolling(5).kth(2), wanted)


@pytest.mark.parametrize("window", [1, 7, "1h", pd.Timedelta("20min"), timedelta(hours=1)])
@pytest.mark.parametrize("least", [None, 1])
def test_median_and_quantile_as_in_pandas(series, window, least):
    theirs = series.rolling(window, min_periods=least)
    ours = series.rollstat.rolling(window, min_periods=least)
    pd.testing.assert_series_equal(ours.median(), theirs.median(), check_exact=True)
    for interpolation in ("linear", "lower", "higher", "nearest", "midpoint"):
        wanted = theirs.quantile(0.3, interpolation)
        pd.testing.assert_series_equal(ours.quantile(0.3, interpolation), wanted, check_exact=True)


def test_step_and_several_ranks(series):
    wanted = series.rolling(5, step=4).median()
    pd.testing.assert_series_equal(series.rollstat.rolling(5, step=4).median(), wanted)
    frame = series.rollstat.quantile(9, [0.1, 0.9])
    assert frame.columns.tolist() == [0.1, 0.9]
    pd.testing.assert_series_equal(frame[0.9], series.rolling(9).quantile(0.9), check_names=False)


def test_nullable_and_arrow_columns_keep_their_dtype():
    big = 2**62 + 1
    for dtype in ("Int64", "int64[pyarrow]"):
        column = pd.Series([big, big - 1, None, big - 3], dtype=dtype)
        result = column.rollstat.rolling(2, min_periods=1).kth(1)
        pd.testing.assert_series_equal(result, pd.Series([big, big - 1, big - 1, big - 3], dtype=dtype))
        assert column.rollstat.kth(1, 2).isna().tolist() == [True, False, True, True]
    column = pd.Series([0.5, None, 1.5], dtype="Float64")
    result = column.rollstat.median(3, min_periods=1, keep_dtype=True)
    pd.testing.assert_series_equal(result, pd.Series([0.5, 0.5, 1.0], dtype="Float64"))
    result = column.rollstat.median(3, min_periods=1)
    pd.testing.assert_series_equal(result, pd.Series([0.5, 0.5, 1.0]))
    flags = pd.Series([True, False, None], dtype="boolean")
    assert flags.rollstat.kth(-1, 2, min_periods=1).tolist() == [True, True, False]


def test_time_zones_are_kept():
    zoned = pd.Series(pd.date_range("2024-10-27", periods=4, freq="h", tz="Europe/Berlin"))
    result = zoned.rollstat.kth(-1, 2, min_periods=1)
    pd.testing.assert_series_equal(result, zoned)
    arrow = zoned.astype("timestamp[us, tz=Europe/Berlin][pyarrow]")
    pd.testing.assert_series_equal(arrow.rollstat.kth(-1, 2, min_periods=1), arrow)


def test_frames_are_computed_column_by_column(rng):
    frame = pd.DataFrame(rng.random((30, 3)), columns=list("abc"))
    pd.testing.assert_frame_equal(frame.rollstat.rolling(4).median(), frame.rolling(4).median())
    several = frame.rollstat.kth([1, 2], 4)
    assert several.columns.tolist() == [(name, k) for name in "abc" for k in (1, 2)]
    frame["t"] = pd.date_range("2024", periods=30)
    result = frame.rollstat.rolling("3D", on="t").median()
    wanted = frame.rolling("3D", on="t").median()
    pd.testing.assert_frame_equal(result, wanted[result.columns])


def test_frames_keep_duplicate_column_names_and_the_name_of_the_columns(rng):
    frame = pd.DataFrame(rng.random((20, 2)), columns=pd.Index(["a", "a"], name="letters"))
    for step in (None, 3):
        wanted = frame.rolling(4, step=step).median()
        pd.testing.assert_frame_equal(frame.rollstat.rolling(4, step=step).median(), wanted)
    pd.testing.assert_frame_equal(frame[[]].rollstat.rolling(4).median(), frame[[]])
    both = [("a", "minimum"), ("a", "maximum")]
    assert frame.rollstat.rolling(4.0, times=np.arange(20)).minmax().columns.tolist() == 2 * both


def test_second_series_by_position_and_by_keyword(series):
    other = series[::-1] ** 2
    wanted = series.rolling(5).cov(other, ddof=0)
    ours = series.rollstat.rolling(5)
    pd.testing.assert_series_equal(ours.cov(other, ddof=0), wanted, check_names=False)
    pd.testing.assert_series_equal(ours.cov(other=other, ddof=0), wanted, check_names=False)
    pd.testing.assert_series_equal(series.rollstat.cov(other, 5, ddof=0), wanted, check_names=False)
    frame = pd.DataFrame({"a": series, "b": other})
    pd.testing.assert_frame_equal(frame.rollstat.rolling(5).corr(other=other), frame.rolling(5).corr(other))
    for call in (ours.beta, series.rollstat.corr):
        with pytest.raises(TypeError, match="missing a required argument: 'other'"):
            call()


def test_other_windows_of_rollstat(series):
    values = series.to_numpy()
    start = np.maximum(np.arange(60) - 4, 0)
    cases = [
        (series.rollstat.rolling(rollstat.Forward(5)), (rollstat.Forward(5),), {}),
        (series.rollstat.rolling((start, np.arange(1, 61))), ((start, np.arange(1, 61)),), {}),
        (series.rollstat.rolling(2.5, times=np.arange(60)), (2.5,), {"times": np.arange(60)}),
        (series.rollstat.rolling(rollstat.Expanding()), (rollstat.Expanding(),), {}),
        (series.rollstat.rolling(rollstat.Expanding(), 7), (rollstat.Expanding(),), {"min_periods": 7}),
        (
            series.rollstat.rolling(rollstat.Expanding(), closed="left"),
            (59,),
            {"min_periods": 1, "closed": "left"},
        ),
    ]
    for ours, window, options in cases:
        wanted = pd.Series(rollstat.rolling_median(values, *window, **options), index=series.index, name="x")
        pd.testing.assert_series_equal(ours.median(), wanted)
        pd.testing.assert_series_equal(ours.apply(np.nanmedian, raw=True), wanted)


def test_no_option_of_expanding_windows_is_ignored(series):
    expanding, values = rollstat.Expanding(), series.to_numpy()
    found = series.rollstat.rolling(expanding, step=7, closed="neither").max()
    np.testing.assert_array_equal(found, rollstat.rolling_max(values, expanding, closed="neither")[::7])
    frame = series.to_frame("x").assign(key=np.arange(60) % 3)
    found = frame.rollstat.groupby("key").rolling(expanding, closed="left", transform=True)["x"].max()
    wanted = frame.groupby("key")["x"].transform(lambda x: rollstat.rolling_max(x, expanding, closed="left"))
    np.testing.assert_array_equal(found, wanted)
    frame.index = pd.date_range("2026", periods=60)
    found = frame["x"].rollstat.rolling(expanding, closed="left", at=frame.index[[9, 3]]).max()
    np.testing.assert_array_equal(found, [np.nanmax(values[:9]), np.nanmax(values[:3])])
    with pytest.raises(ValueError, match="center does not apply"):
        series.rollstat.rolling(expanding, center=True).max()


def test_columns_without_numbers_raise():
    for dtype in (object, "category", "str", "datetime64[ns]"):
        column = pd.Series(["2024", "2025"]).astype(dtype)
        for call in ("median", "sum"):
            with pytest.raises(pd.errors.DataError, match="No numeric types to aggregate"):
                getattr(pd.Series(["a", "b"]).astype("category").rollstat.rolling(2), call)()
        if dtype != "datetime64[ns]":
            with pytest.raises(TypeError, match="the Series has dtype"):
                column.rollstat.kth(1, 2)
    with pytest.raises(TypeError, match="column 'b' has dtype"):
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).rollstat.kth(1, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'"):
        pd.Series([1.0]).rollstat.median(5, mode="valid")
    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'; in addition to those"):
        pd.Series([1.0]).rollstat.rolling(5, mode="valid")


def test_every_statistic_is_a_method(series):
    for name, of_statistic in STATISTICS.items():
        statistic = REGISTRY[of_statistic]
        summary = inspect.getdoc(statistic.function).partition("\n")[0]
        own = set(statistic.parameters)
        method = getattr(series.rollstat, name)
        assert inspect.getdoc(method).startswith(summary)
        assert own <= set(inspect.signature(method).parameters)
        method = getattr(series.rollstat.rolling(5), name)
        assert inspect.getdoc(method)
        assert not {"arr", "window", "m", "axis"} & set(inspect.signature(method).parameters)
        for parameter in inspect.signature(method).parameters:
            assert parameter in inspect.getdoc(method), (name, parameter)
        assert name == "apply" or own <= set(inspect.signature(method).parameters)
    for method in (series.rollstat.rolling, series.rollstat.expanding, series.rollstat.ewm):
        text = inspect.getdoc(method)
        for parameter in inspect.signature(method).parameters:
            assert parameter in text
        assert "data : " not in text
    assert repr(series.rollstat.rolling(5, center=True)) == repr(series.rolling(5, center=True))


def test_dates_of_arrow_with_missing_ones():
    days = [date(2024, 1, 5), None, date(2024, 1, 2), date(2024, 1, 9)]
    for dtype in (pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns")):
        series = pd.Series(days, dtype=pd.ArrowDtype(dtype))
        result = series.rollstat.kth(-1, 2)
        assert result.dtype == series.dtype
        assert result.isna().tolist() == [True, True, True, False]
        assert result.iloc[3] == series.iloc[3]
        assert series.rollstat.kth(1, 3, min_periods=1).tolist() == [series.iloc[i] for i in (0, 0, 2, 2)]


def test_labels_of_extrema(series):
    windows = series.rollstat.rolling(5, 3)
    for found, position in ((windows.idxmin(), windows.argmin()), (windows.idxmax(), windows.argmax())):
        wanted = [pd.NaT if row < 0 else series.index[row] for row in position]
        pd.testing.assert_series_equal(
            found,
            pd.Series(pd.DatetimeIndex(wanted).as_unit(series.index.unit), series.index, name="x"),
            check_freq=False,
        )
    pd.testing.assert_series_equal(series.rollstat.idxmin("30min"), series.rollstat.rolling("30min").idxmin())
    letters = pd.Series([3.0, 1.0, 1.0, np.nan], list("abcd"))
    assert letters.rollstat.rolling(2, 1, fill_value="none").idxmin().tolist() == ["a", "b", "b", "c"]
    frame = pd.DataFrame({"key": [1, 2, 1, 2, 1], "x": [3, 1, 2, 5, 4]}, list("abcde"))
    found = frame.rollstat.groupby("key").rolling(2, 1)["x"].idxmin()
    assert found.tolist() == ["a", "c", "c", "b", "b"]
    assert frame[["x"]].rollstat.expanding().idxmax()["x"].tolist() == ["a", "a", "a", "d", "d"]
    assert rollstat.explain(windows.idxmin).statistic == "rolling_argmin"
