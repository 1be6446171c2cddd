"""Columns that keep their kind: nullable, Arrow-backed, datetimes, strings and categories."""

import statistics
from datetime import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import rollstat.pandas
from rollstat import operators

PANDAS_2 = pd.__version__.startswith("2.")
DAYS = ["2024-10-28", "2024-10-26", None, "2024-10-27"]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float32", "int64[pyarrow]", "double[pyarrow]"])
def test_methods_of_pandas_with_keep_dtype(dtype):
    column = pd.Series([3, 1, np.nan if dtype == "float32" else None, 2], dtype=dtype, name="a")
    windows = column.rollstat.rolling(2, 1, keep_dtype=True)
    for name, values in {
        "min": [3, 1, 1, 2],
        "max": [3, 3, 1, 2],
        "first": [3, 3, 1, 2],
        "sum": [3, 4, 1, 2],
    }.items():
        assert_series_equal(getattr(windows, name)(), pd.Series(values, dtype=dtype, name="a"))
    assert_series_equal(column.rollstat.max(2, min_periods=1, keep_dtype=True), windows.max())
    assert column.rollstat.rolling(2).max().dtype == column.rolling(2).max().dtype == np.float64
    assert column.rollstat.rolling(2, keep_dtype=True).max().isna().tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    "dtype",
    [
        "datetime64[us]",
        "datetime64[us, Europe/Berlin]",
        "timestamp[us][pyarrow]",
        "timestamp[us, tz=Europe/Berlin][pyarrow]",
    ],
)
def test_order_statistics_and_extrema_of_datetimes(dtype):
    column = pd.Series(pd.to_datetime(DAYS)).dt.as_unit("us")
    column = (column.dt.tz_localize("Europe/Berlin") if "Berlin" in dtype else column).astype(dtype)
    low, high = column[[1, 1, 1, 1]].set_axis(range(4)), column[[0, 0, 0, 0]].set_axis(range(4))
    windows = column.rollstat.expanding(2, keep_dtype=True)
    for found, values in (
        (windows.min(), low),
        (windows.max(), high),
        (windows.kth(1), low),
        (windows.kth(-1), high),
        (windows.quantile(0.0), low),
    ):
        assert_series_equal(found[1:], values[1:])
        assert found.isna()[0]
    assert windows.median().tolist()[-1] == column[3]
    assert windows.count().tolist()[1:] == [2, 2, 3]
    assert_series_equal(windows.first()[1:], high[1:])
    assert_series_equal(windows.last()[1:], column[[1, 1, 3]].set_axis(range(1, 4)))
    frame = windows.minmax()
    assert_series_equal(frame["maximum"][1:], high[1:], check_names=False)
    assert windows.ptp().tolist()[1:] == [pd.Timedelta(column[0] - column[1])] * 3


@pytest.mark.parametrize("dtype", ["object", "category", "string", "string[pyarrow]"])
def test_strings_and_categories(dtype):
    column = pd.Series(["b", "a", "b", None, "c", "c"], name="word").astype(dtype)
    windows = column.rollstat.rolling(3, 1, keep_dtype=True)
    for name, values in {
        "first": ["b", "b", "b", "a", "b", "c"],
        "last": ["b", "a", "b", "b", "c", "c"],
    }.items():
        assert_series_equal(getattr(windows, name)(), pd.Series(values, name="word").astype(column.dtype))
    assert_series_equal(windows.nunique(), pd.Series([1.0, 2, 2, 2, 2, 1], name="word"))
    found = windows.mode()
    assert found.dtype == column.dtype
    assert found.tolist()[2:] == ["b", found[3], found[4], "c"]
    assert found.isna().sum() == 0
    found = column.rollstat.rolling(3, keep_dtype=True).first()
    assert found.isna().tolist() == [True, True, False, True, True, True]
    assert found.dtype == column.dtype
    assert column.rollstat.mode(6, min_periods=1).tolist()[-1] in ("b", "c")


def test_strings_in_a_frame_beside_numbers():
    frame = pd.DataFrame({"a": ["x", "y", "y"], "b": [1.0, 2.0, 2.0]})
    found = frame.rollstat.rolling(2, 1).mode()
    assert_frame_equal(found, pd.DataFrame({"a": ["x", "x", "y"], "b": [1.0, 1.0, 2.0]}))
    found = frame.rollstat.rolling(2, 1, keep_dtype=True).nunique()
    assert_frame_equal(found, pd.DataFrame({"a": [1.0, 2.0, 1.0], "b": [1.0, 2.0, 1.0]}))
    for found in (
        frame.rollstat.rolling(2).kth(1, numeric_only=True),
        frame.rollstat.kth(1, 2, numeric_only=True),
        frame.rollstat.min(2, numeric_only=True),
        frame.rollstat.combine(operators.Minimum(), 2, numeric_only=True),
    ):
        assert_frame_equal(found, frame[["b"]].rolling(2).min())


def test_options_of_the_functions():
    column = pd.Series([1.0, np.nan, 3.0, 4.0])
    assert column.rollstat.rolling(2, 1, nan_policy="propagate").sum().isna().tolist() == [
        False,
        True,
        True,
        False,
    ]
    assert column.rollstat.rolling(2, fill_value=-1).sum().tolist() == [-1, -1, -1, 7]
    with pytest.raises(ValueError, match="no missing value with nan_policy='raise'"):
        column.rollstat.rolling(2, nan_policy="raise").sum()
    whole = pd.Series([1, 2, 3])
    assert_series_equal(whole.rollstat.rolling(2, fill_value=0, keep_dtype=True).sum(), pd.Series([0, 3, 5]))
    assert_series_equal(whole.rollstat.sum(2, fill_value=0, keep_dtype=True), pd.Series([0, 3, 5]))
    ours = pd.DataFrame({"a": whole, "b": 1}).rollstat.rolling(2, fill_value=0, keep_dtype=True)
    assert_frame_equal(ours["a"].sum().to_frame(), pd.DataFrame({"a": [0, 3, 5]}))
    assert_frame_equal(ours.agg(["sum"])["a"], pd.DataFrame({"sum": [0, 3, 5]}))


def test_every_statistic_of_a_frame(rng):
    values = rng.standard_normal((12, 2)).round(1)
    frame = pd.DataFrame(values, columns=["a", "b"])
    windows = frame.rollstat.rolling(4)
    samples = {"quantile": {"q": 0.5}, "kth": {"k": 2}, "argkth": {"k": 2}}
    names = "argmin argmax argkth ptp mad iqr mode trimmed_mean winsorized_mean gini prod any all kth median"
    for name in names.split():
        found = getattr(windows, name)(**samples.get(name, {}))
        assert found.shape == (12, 2)
        for column in frame:
            one = getattr(frame[column].rollstat.rolling(4), name)(**samples.get(name, {}))
            assert_series_equal(found[column], one)
    assert windows.hampel().columns.tolist() == [(c, o) for c in "ab" for o in ("cleaned", "outlier")]
    assert windows.minmax().columns.tolist() == [(c, o) for c in "ab" for o in ("minimum", "maximum")]
    named = frame.set_axis(pd.MultiIndex.from_product([["p"], ["a", "b"]], names=["one", "two"]), axis=1)
    assert named.rollstat.rolling(4).minmax().columns.names == ["one", "two", None]
    assert named.rollstat.rolling(4).kth(1).columns.equals(named.columns)
    several = windows.quantile([0.2, 0.8])
    for q in (pd.Series([0.2, 0.8]), pd.Index([0.2, 0.8]), np.array([0.2, 0.8]), (0.2, 0.8)):
        assert_frame_equal(windows.quantile(q), several)
    assert windows.beta(other=frame["a"])["a"][3:].to_numpy() == pytest.approx(1)
    with pytest.raises(TypeError, match="other must be a Series or an array; got a DataFrame"):
        windows.beta(frame)


def test_modes_of_objects_depend_on_their_window_alone():
    column = pd.Series(["b", "a", "b", "c", "a", None, "c"], dtype=object)
    whole = column.rollstat.rolling(2, 1).mode()
    assert whole.tolist() == ["b", "a", "a", "b", "a", "a", "c"]
    for first in range(1, len(column)):
        later = column[first:].rollstat.rolling(2, 1).mode()
        assert later[1:].tolist() == whole[first + 1 :].tolist()
    for values in ([1, "a", 1], [frozenset("a"), frozenset("b")]):
        with pytest.raises(TypeError, match="must hold values in an order for mode"):
            pd.Series(values, dtype=object).rollstat.rolling(2).mode()


def test_first_and_last_are_objects_of_the_window():
    column = pd.Series([1, True, 2, 1.0], dtype=object)
    windows = column.rollstat.rolling(2, 1, keep_dtype=True)
    assert [repr(value) for value in windows.last()] == ["1", "True", "2", "1.0"]
    assert [repr(value) for value in windows.first()] == ["1", "1", "True", "2"]


@pytest.mark.parametrize(("dtype", "fill"), [(object, 0), ("string", "z"), ("category", "b")])
def test_fill_values_are_no_codes(dtype, fill):
    column = pd.Series(["b", "a", None, "c"], dtype=dtype)
    windows = column.rollstat.rolling(2, keep_dtype=True, fill_value=fill)
    assert windows.mode().tolist() == [fill, "a", fill, fill]
    assert windows.last().tolist() == [fill, "a", fill, fill]


class Column(pd.Series):
    @property
    def _constructor(self):
        return Column

    @property
    def _constructor_expanddim(self):
        return Table


class Table(pd.DataFrame):
    @property
    def _constructor(self):
        return Table

    @property
    def _constructor_sliced(self):
        return Column


@pytest.mark.parametrize("make", [lambda data: data.rolling(2), lambda data: data.expanding()])
def test_subclasses_as_in_pandas(make):
    table = Table({"a": [1.0, 2, 4], "b": [1.0, 3, 2]})
    for data in (table, table["a"], Column([1, None, 2], dtype="Int64")):
        for name in ("sum", "count", "median", "rank", "first"):
            if name == "first" and PANDAS_2:  # which has no such method
                assert type(make(data.rollstat).first()) is type(data)
                continue
            theirs, ours = getattr(make(data), name)(), getattr(make(data.rollstat), name)()
            assert type(ours) is type(theirs)
        for name in ("cov", "corr"):
            for options in ({}, {"other": data}, {"other": data, "pairwise": True}):
                theirs = getattr(make(data), name)(**options)
                ours = getattr(make(data.rollstat), name)(**options)
                assert type(ours) is type(theirs)
                assert getattr(ours, "name", None) == getattr(theirs, "name", None)
        assert type(make(data.rollstat).kth(1)) is type(data)
        assert type(make(data.rollstat).minmax()) is Table
    assert type(Column(["a", "b"]).rollstat.rolling(1).mode()) is Column


def test_infinite_values_can_be_missing():
    column = pd.Series([1.0, np.inf, 4.0, -np.inf, 2.0])
    for name in ("sum", "max", "std", "median"):
        found = getattr(column.rollstat.rolling(3, 1, inf="missing"), name)()
        pd.testing.assert_series_equal(found, getattr(column.rolling(3, 1), name)())
        found = getattr(column.rollstat.expanding(1, inf="missing"), name)()
        pd.testing.assert_series_equal(found, getattr(column.expanding(1), name)())
    assert column.rollstat.sum(3, inf="missing", min_periods=1).tolist() == [1.0, 1.0, 5.0, 4.0, 6.0]


def test_explanations_of_methods():
    frame = pd.DataFrame({"a": np.arange(50.0), "b": 1.0, "t": pd.date_range("2026-01-01", periods=50)})
    windows = frame[["a", "b"]].rollstat.rolling(7, min_periods=2)
    before = rollstat.pandas.handed_back()
    for method, args in (("median", ()), ("quantile", (0.3, "lower")), ("kth", (2,)), ("std", (0,))):
        plan = rollstat.explain(getattr(windows, method), *args)
        function = getattr(rollstat, f"rolling_{method}")
        arguments = (2, 7) if method == "kth" else (7, *args)
        assert plan == rollstat.explain(function, frame["a"].to_numpy(), *arguments, min_periods=2)
    assert rollstat.explain(windows.agg, "median") == rollstat.explain(windows.median)
    with pytest.raises(TypeError, match=r"the name of one method to be explained; got \['sum', 'mean'\]"):
        rollstat.explain(windows.agg, ["sum", "mean"])
    timed = rollstat.explain(frame.rollstat.rolling("3D", on="t")[["a"]].mean)
    assert (timed.library, timed.rows, timed.statistic) == ("rollstat", 50, "rolling_mean")
    assert rollstat.explain(frame["a"].rollstat.ewm(span=3).mean).statistic == "ewm_mean"
    other = rollstat.explain(frame["a"].rollstat.rolling(3).mean, engine="numba")
    assert (other.library, other.steps[0].reason) == ("pandas", "its engine is named")
    apply, function = frame["a"].rollstat.rolling(3).apply, lambda values: values[0]
    assert [rollstat.explain(apply, *given).library for given in ((function,), (function, True))] == [
        "pandas",
        "Python",
    ]
    assert "a statistic for it" in str(rollstat.explain(apply, np.ptp, raw=True))
    assert rollstat.explain(windows.apply, function, True, columns=["a"]).statistic == "rolling_apply"
    assert rollstat.pandas.handed_back() == before


def of_decimals(values, digits=9, scale=2):
    pyarrow = pytest.importorskip("pyarrow", reason="only Arrow has decimals")
    return pd.Series(values, dtype=pd.ArrowDtype(pyarrow.decimal128(digits, scale)), name="price")


def test_decimals():
    values = [Decimal("1.25"), None, Decimal("-3.10"), Decimal("7.77"), Decimal("2.00"), Decimal("2.00")]
    column = of_decimals(values)
    windows = column.rollstat.rolling(3, 1, keep_dtype=True)
    seen = [[x for x in values[max(i - 2, 0) : i + 1] if x is not None] for i in range(6)]
    for name, function in {"min": min, "max": max}.items():
        assert_series_equal(getattr(windows, name)(), of_decimals([function(x) for x in seen]))
    assert_series_equal(windows.sum(), of_decimals([sum(x) for x in seen], 38))
    assert_series_equal(windows.ptp(), of_decimals([max(x) - min(x) for x in seen], 38))
    assert_series_equal(windows.median(), of_decimals([statistics.median(x) for x in seen], 10, 3))
    assert_series_equal(windows.quantile(0.5, "lower"), of_decimals([statistics.median_low(x) for x in seen]))
    assert windows.kth([1, -1])[-1].tolist() == windows.minmax()["maximum"].tolist() == windows.max().tolist()
    assert windows.rank().tolist()[2:] == [1.0, 2.0, 2.0, 1.5]
    assert windows.idxmin().tolist() == windows.argmin().tolist() == [0, 0, 2, 2, 2, 4]
    groups = column.rollstat.groupby([0, 1, 0, 1, 0, 1]).rolling(2, keep_dtype=True, transform=True)
    assert groups.sum().isna().tolist() == [True, True, False, True, False, False]
    assert column.rollstat.rolling(3, keep_dtype=True).min().isna().tolist() == [True] * 4 + [False] * 2


def test_what_decimals_do_not_have():
    column = of_decimals([Decimal(10**18 - 1)] * 12, 18, 0)
    windows = column.rollstat.rolling(9, keep_dtype=True)
    assert windows.sum()[11] == 9 * Decimal(10**18 - 1)
    with pytest.raises(OverflowError, match="row 9 does not fit") as caught:
        column.rollstat.rolling(10, keep_dtype=True).sum()
    assert caught.value.__notes__ == ["cast decimal128(18, 0)[pyarrow] to double[pyarrow]"]
    with pytest.raises(TypeError, match=r"at most 17 digits here.*: cast it to fewer digits, or to double"):
        windows.median()
    with pytest.raises(TypeError, match=r"mean of decimal.* may be no decimal: cast it to double\[py"):
        windows.mean()
    with pytest.raises(TypeError, match="or take an interpolation such as 'lower'"):
        windows.quantile(0.5)
    with pytest.raises(TypeError, match=r"fill_value does not apply to decimal.*: use fillna"):
        column.rollstat.rolling(2, keep_dtype=True, fill_value=0).min()


@pytest.mark.parametrize("dtype", ["time32[s]", "time64[us]", "time64[ns]"])
def test_times_of_day(dtype):
    times = [time(3, 4, 5), time(1, 0, 1), None, time(23, 59, 59)]
    column = pd.Series(times, dtype=f"{dtype}[pyarrow]")
    windows = column.rollstat.rolling(3, 1, keep_dtype=True)
    for name, rows in {"min": [0, 1, 1, 1], "max": [0, 0, 0, 3]}.items():
        wanted = pd.Series([times[row] for row in rows], dtype=column.dtype)
        assert_series_equal(getattr(windows, name)(), wanted)
    assert windows.median().tolist() == [times[0], time(2, 2, 3), time(2, 2, 3), time(12, 30)]
    assert windows.ptp().tolist()[-1] == pd.Timedelta("22:59:58")
    with pytest.raises(
        TypeError, match=r"got datetime64.*: .* or series - datetime.time\(0\) for times of day"
    ):
        windows.sum()
    since = (column - time(0)).rollstat.rolling(2, 1, keep_dtype=True).sum()
    assert since.tolist()[:2] == [pd.Timedelta("3:04:05"), pd.Timedelta("4:04:06")]
