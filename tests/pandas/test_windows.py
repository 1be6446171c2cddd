"""The accessor against pandas: index, names, dtypes, values and errors."""

import inspect
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import rollstat
import rollstat.pandas
from rollstat import operators
from rollstat.registry import REGISTRY

PANDAS_2 = pd.__version__.startswith("2.")
METHODS = {
    "sum": {},
    "mean": {},
    "median": {},
    "var": {"ddof": 0},
    "std": {},
    "sem": {},
    "min": {},
    "max": {},
    "count": {},
    "skew": {},
    "kurt": {},
    "quantile": {"q": 0.3, "interpolation": "lower"},
    "rank": {"ascending": False, "pct": True},
    "first": {},
    "last": {},
    "nunique": {},
}
if PANDAS_2:  # it has no first, last and nunique, and another sem and cov
    METHODS = {name: METHODS[name] for name in METHODS if name not in ("sem", "first", "last", "nunique")}
DTYPES = ["float64", "float32", "float16", "int64", "uint8", "bool", "object", "Int64", "Float32", "boolean"]
DTYPES += ["int64[pyarrow]", "double[pyarrow]"]


def outcome(function):
    """Return the result of a call and the error that it raises; None for the one that there is not."""
    try:
        return function(), None
    except Exception as error:
        return None, error


def same(ours, theirs):
    """Assert that two calls return the same Series or DataFrame, or raise the same error."""
    wanted, error = outcome(theirs)
    found, raised = outcome(ours)
    assert (type(raised), str(raised)) == (type(error), str(error))
    if error is not None:
        return
    assert type(found) is type(wanted)
    compare = assert_series_equal if wanted.ndim == 1 else assert_frame_equal
    compare(found, wanted, rtol=1e-9, atol=1e-12, check_freq=True)


def call(data, kind, name, parameters, *window, **options):
    """Compare a method of a window over some data."""
    ours = lambda: getattr(getattr(data.rollstat, kind)(*window, **options), name)(**parameters)  # noqa: E731 - called twice
    same(ours, lambda: getattr(getattr(data, kind)(*window, **options), name)(**parameters))


@pytest.fixture
def frame(rng):
    values = rng.standard_normal((40, 3)).round(1)
    values[rng.random((40, 3)) < 0.15] = np.nan
    index = pd.date_range("2024", periods=40, freq="7min", name="time")
    return pd.DataFrame(values, index, pd.Index(["x", "y", "z"], name="letters"))


@pytest.mark.parametrize("name", METHODS)
def test_windows_of_every_kind(frame, name):
    windows = [(5,), (5, 2), (50,), (0,), ("30min",), ("30min", 3), (pd.Timedelta("1h"),)]
    for data in (frame["x"], frame):
        for window in windows:
            call(data, "rolling", name, METHODS[name], *window)
        call(data, "expanding", name, METHODS[name])
        call(data, "expanding", name, METHODS[name], 4)
    for options in ({"closed": "both"}, {"closed": "left"}, {"closed": "neither"}, {"step": 3}, {"step": 1}):
        call(frame["x"], "rolling", name, METHODS[name], 5, 1, **options)
    if name != "rank":  # of the rows whose windows the end of the data cuts short, see the guide
        call(frame["x"], "rolling", name, METHODS[name], 5, 1, center=True)
        call(
            frame, "rolling", name, METHODS[name], pd.api.indexers.FixedForwardWindowIndexer(window_size=4), 1
        )
    call(frame[::-1], "rolling", name, METHODS[name], "30min")
    for data in (frame[:0], frame["x"][:0], frame[[]]):
        call(data, "rolling", name, METHODS[name], 3)
        call(data, "rolling", name, METHODS[name], "30min")


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_results(dtype):
    values = (
        [3, 1, 2, 2, 0, 1] if dtype not in ("bool", "boolean") else [True, False, False, True, True, False]
    )
    column = pd.Series(values, name="a").astype(dtype)
    for name, parameters in METHODS.items():
        call(column, "rolling", name, parameters, 3)
        call(pd.DataFrame({"a": column, "b": range(6)}), "rolling", name, parameters, 3, 1)


@pytest.mark.parametrize(
    "dtype", ["str", "category", "datetime64[ns]", "datetime64[ns, UTC]", "m8[s]", "complex"]
)
def test_columns_without_numbers_raise_what_pandas_raises(dtype):
    column = pd.Series([0, 1, 2, 3]).astype(dtype)
    frame = pd.DataFrame({"a": column, "b": 1.5})
    for name in sorted(METHODS.keys() & {"sum", "median", "max", "count", "nunique"}):
        call(column, "rolling", name, {}, 2)
        call(frame, "rolling", name, {}, 2)
        call(frame, "rolling", name, {"numeric_only": True}, 2)
        call(column, "rolling", name, {"numeric_only": True}, 2)


def test_errors_are_those_of_pandas(frame):
    bad = [((-1,), {}), ((2.5,), {}), (("x",), {}), ((3, 4), {}), ((3, -1), {}), ((3,), {"center": "a"})]
    bad += [((3,), {"closed": "up"}), ((3,), {"step": -1}), ((3,), {"step": "a"}), ((3,), {"method": "rows"})]
    bad += [(("B",), {}), ((3,), {"on": "nothing"}), ((3,), {"win_type": "nothing"})]
    for window, options in bad:
        call(frame, "rolling", "sum", {}, *window, **options)
    for name, parameters in [
        ("quantile", {"q": 2}),
        ("quantile", {"q": 0.5, "interpolation": "nothing"}),
        ("rank", {"method": "nothing"}),
        ("nothing", {}),
        ("cov", {"other": [1, 2]}),
    ]:
        call(frame, "rolling", name, parameters, 3)
    with pytest.raises(TypeError, match=r"expanding\(\) got an unexpected keyword argument 'center'"):
        frame.rollstat.expanding(center=True)


def test_errors_name_the_class_as_in_pandas(frame):
    groups = frame.assign(key=1)
    for name in METHODS:
        for data, kind, window in ((frame, "rolling", (3,)), (frame["x"], "expanding", ())):
            if (name, kind) != ("max", "rolling"):
                call(data, kind, name, {"nothing": 1}, *window)
    same(
        lambda: groups.rollstat.groupby("key").rolling(3).sum(nothing=1),
        lambda: groups.groupby("key").rolling(3).sum(nothing=1),
    )


@pytest.mark.parametrize("function", [np.max, np.min, np.sum, np.std])
def test_functions_of_numpy(frame, function):
    same(lambda: function(frame.rollstat.rolling(3)), lambda: function(frame.rolling(3)))
    same(lambda: function(frame.rollstat.expanding()), lambda: function(frame.expanding()))
    assert_frame_equal(np.max(frame.rollstat.rolling(3)), frame.rollstat.rolling(3).max())
    call(frame, "rolling", "max", {"engine": "nothing"}, 3)


def test_errors_explain_the_axis_of_pandas_2():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    for call in (frame.rollstat.rolling, frame.rollstat.expanding):
        with pytest.raises(TypeError, match=r"argument 'axis'; .*; transpose the frame instead"):
            call(2, axis=1)
    with pytest.raises(TypeError, match=r"closed, the sixth parameter .*; got 1; leave axis out"):
        frame.rollstat.rolling(2, None, False, None, None, 1)
    with pytest.raises(TypeError, match=r"method, the second parameter .*; got 0; leave axis out"):
        frame.rollstat.expanding(1, 0)


def test_parameters_of_ewm_have_the_order_of_pandas_3():
    column = pd.Series([1.0, 2.0, 4.0])
    times = pd.date_range("2024", periods=3)
    halflife = pd.Timedelta("1D")
    by_position = column.rollstat.ewm(None, None, halflife, None, 0, True, False, times).mean()
    assert_series_equal(by_position, column.ewm(halflife=halflife, times=times).mean())
    with pytest.raises(TypeError, match="ewm takes at most 9 arguments by position; got 10"):
        column.rollstat.ewm(*range(10))
    with pytest.raises(TypeError, match="ewm got multiple values for argument 'com'"):
        column.rollstat.ewm(1, com=1)


def test_weighted_windows_tables_and_engines_are_those_of_pandas(frame):
    pytest.importorskip("scipy", reason="pandas needs SciPy for weighted windows")
    call(frame, "rolling", "mean", {}, 3, win_type="triang")
    call(frame["x"], "rolling", "sum", {"engine": "cython", "engine_kwargs": None}, 3)
    with pytest.raises(ValueError, match=r"keep_dtype does not apply to win_type='hann'.*; got True"):
        frame.rollstat.rolling(3, win_type="hann", keep_dtype=True)
    with pytest.raises(TypeError, match=r"rolling\(\) got an unexpected keyword argument 'nothing'"):
        frame.rollstat.rolling(3, win_type="hann", nothing=1)
    call(frame, "rolling", "apply", {"func": np.ptp, "raw": True}, 3)


class EveryOtherRow(pd.api.indexers.BaseIndexer):
    """Windows whose bounds decrease."""

    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        start = np.where(np.arange(num_values) % 2 == 0, 0, 3)
        return start, np.full(num_values, num_values)


def test_windows_whose_bounds_decrease(frame):
    for name, parameters in METHODS.items():
        if name not in ("min", "max"):  # pandas rejects such bounds
            call(frame["x"], "rolling", name, parameters, EveryOtherRow(window_size=2), 1)
    least = frame["x"].rollstat.rolling(EveryOtherRow(window_size=2), 1).kth(1)
    assert_series_equal(frame["x"].rollstat.rolling(EveryOtherRow(window_size=2), 1).min(), least)


def test_selection_iteration_and_attributes(frame):
    ours, theirs = frame.rollstat.rolling(4, min_periods=2), frame.rolling(4, min_periods=2)
    assert repr(ours) == repr(theirs)
    assert isinstance(ours, pd.api.typing.Rolling)
    for key in ("x", ["x", "z"]):
        same(ours[key].sum, theirs[key].sum)
        assert type(ours[key]) is type(ours)
    same(ours.y.median, theirs.y.median)
    for one, two in zip(ours, theirs, strict=True):
        assert_frame_equal(one, two)
    assert (ours.window, ours.min_periods, ours.closed) == (4, 2, None)
    with pytest.raises(AttributeError, match="'Rolling' object has no attribute 'nothing'"):
        ours.nothing  # noqa: B018 - the access is the test


def test_agg_calls_the_statistics_of_rollstat(frame, monkeypatch):
    ours, theirs = frame.rollstat.rolling(4, 1), frame.rolling(4, 1)
    for func in ("sum", ["sum", "median"], {"x": "min", "y": ["max", "std"]}, np.mean):
        same(lambda func=func: ours.agg(func), lambda func=func: theirs.agg(func))
    if not PANDAS_2:
        named = {"a": ("x", "sum"), "b": ("y", "min")}
        same(lambda: ours.agg(**named), lambda: theirs.agg(**named))
    same(lambda: ours.aggregate(lambda v: v.sum()), lambda: theirs.aggregate(lambda v: v.sum()))
    if hasattr(theirs, "pipe"):
        same(lambda: ours.pipe(lambda w: w.max() - w.min()), lambda: theirs.pipe(lambda w: w.max() - w.min()))
    infinite = pd.Series([1.0, np.inf, 2.0])
    assert infinite.rollstat.rolling(2).agg(["max"])["max"].tolist()[1:] == [np.inf, np.inf]


@pytest.mark.parametrize(
    "names", [["mean"], ["max", "mean", "count"], ["sum", "sum"], ["sum", np.max], ["no"], []]
)
def test_names_of_statistics_in_agg(frame, names):
    numbers = frame[["y", "x"]]
    shapes = (
        numbers,
        numbers["x"],
        numbers.iloc[:0],
        numbers.assign(text="a"),
        numbers.set_axis([1, 1], axis=1),
    )
    for data in (*shapes, numbers[[]], pd.concat({"top": numbers}, axis=1), numbers.astype("Float64")):
        for make in (
            lambda data: data.rolling(4, 1),
            lambda data: data.rolling(4, step=3),
            lambda data: data.expanding(),
            lambda data: data.rolling(3)[["x"]],
        ):
            same(lambda: make(data.rollstat).agg(names), lambda: make(data).agg(names))  # noqa: B023 - called at once


def test_other_columns_of_covariances(frame):
    for name in ("cov", "corr"):
        for data in (frame, frame["x"]):
            for parameters in (
                {},
                {"other": frame["y"]},
                {"other": frame[["z", "y"]] * 2},
                {"other": frame, "pairwise": True},
                {"other": frame["y"].iloc[5:30]},
                {"other": frame["y"].set_axis(frame.index + pd.Timedelta("14min"))},
            ):
                call(data, "rolling", name, parameters, 6, 3)
                call(data, "expanding", name, parameters)
        call(frame, "rolling", name, {"pairwise": False}, 6)
        for other in (frame["y"].iloc[5:30], frame["y"].set_axis(frame.index + pd.Timedelta("3min"))):
            call(frame, "rolling", name, {"other": other}, "40min")
            call(frame["x"], "rolling", name, {"other": other}, "40min")
        offsets = pd.api.indexers.VariableOffsetWindowIndexer(index=frame.index, offset=pd.offsets.Hour())
        for window in (6, offsets):
            call(frame, "rolling", name, {}, window, 1, step=2)
        call(frame.assign(a="b"), "rolling", name, {"numeric_only": True}, 6)
    call(frame, "rolling", "cov", {"ddof": 0}, 6)


def test_other_with_a_partly_overlapping_index_gives_the_union():
    one = pd.Series([1.0, 2.0, 4.0, 3.0], index=[0, 1, 2, 3], name="a")
    two = pd.Series([2.0, 1.0, 5.0, 3.0], index=[2, 3, 4, 5], name="a")
    call(one, "rolling", "cov", {"other": two}, 2)
    assert one.rollstat.rolling(2).cov(two).index.tolist() == [0, 1, 2, 3, 4, 5]


def test_on_a_column(frame):
    table = frame.reset_index()
    table.insert(2, "text", "a")
    for on, window in (("time", "30min"), ("time", 3), ("text", 3)):
        for name in ("median", "count", "cov"):
            call(table, "rolling", name, {"numeric_only": True}, window, on=on)
    call(table[["x", "text"]], "rolling", "sum", {}, 3, on="text")
    call(frame["x"], "rolling", "sum", {}, "30min", on=frame.index + pd.Timedelta("1h"))
    call(table.set_index("text"), "rolling", "max", {"numeric_only": True}, "30min", on="time")


@pytest.mark.filterwarnings("ignore:'d' is deprecated")
def test_widths_that_pandas_takes():
    daily = pd.Series(np.arange(6.0), index=pd.date_range("2024", periods=6))
    for window in ("2D", pd.offsets.Hour(36), np.int64(2), 0):
        call(daily, "rolling", "sum", {}, window)
        call(daily, "rolling", "median", {}, window)
    monthly = pd.Series(np.arange(6.0), index=pd.period_range("2024-01", periods=6, freq="D"))
    call(monthly, "rolling", "sum", {}, "3D")
    call(daily.tz_localize("Europe/Berlin"), "rolling", "max", {}, "2D")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_widths_in_every_unit(unit):
    seconds = np.array([0, 1, 2, 5, 6], f"m8[{unit}]") * (np.timedelta64(1, "s") // np.timedelta64(1, unit))
    times = np.datetime64("2024-01-01", unit) + seconds
    for index in (
        times,
        seconds,
        times[::-1],
        times[[1, 0, 2, 3, 4]],
        np.r_[times[:4], np.array("NaT", times.dtype)],
    ):
        for window in ("2s", "1500ms", "1ns", "1h", "-1s", "1ME", "nothing"):
            for _ in range(2):  # the width of the second is known
                call(pd.Series(np.arange(5.0), index), "rolling", "sum", {}, window)
                call(pd.Series(np.arange(5.0), index), "rolling", "sum", {}, window, 2, closed="both")


def test_periods_with_gaps_and_widths_between_their_frequency():
    hourly = pd.Series(np.arange(6.0), pd.period_range("2024", periods=6, freq="h"))
    for column in (hourly, hourly.iloc[[0, 1, 3, 4]], hourly.iloc[::-1], hourly.iloc[[0, 0, 1, 5]]):
        for width in ("90min", "2h", "200min"):
            for options in ({}, {"min_periods": 2}, {"closed": "left"}, {"center": True}):
                call(column, "rolling", "sum", {}, width, **options)
                call(column, "rolling", "median", {}, width, **options)
    gap = hourly.iloc[[0, 1, 3, 4]]
    assert gap.rollstat.rolling("2h").count().tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("width", ["-5min", pd.Timedelta(0), pd.Timedelta("-1h")])
def test_widths_of_no_time(frame, width):
    for name in ("sum", "median", "count"):
        call(frame, "rolling", name, {}, width)
        call(frame["x"], "rolling", name, {}, width, 1, center=True, closed="both")
    with pytest.raises(ValueError, match="kth takes windows of at least one row"):
        frame.rollstat.rolling(width).kth(1)


def test_descending_regular_times_without_min_periods(frame):
    for name in ("sum", "median", "count"):
        call(frame[::-1], "rolling", name, {}, "30min", 0)
        call(frame, "rolling", name, {}, "30min", 0)


def test_indexers_that_raise_after_other_checks(frame):
    forward = pd.api.indexers.FixedForwardWindowIndexer(window_size=2)
    for data in (frame, frame[:0], frame[[]], frame.assign(x="a"), frame["x"]):
        for name in ("sum", "median", "cov"):
            call(data, "rolling", name, {}, forward, center=True)
    with pytest.raises(ValueError, match="Forward-looking windows can't have center=True"):
        frame.rollstat.rolling(forward, center=True).kth(1)


def test_times_of_another_length(frame):
    for data in (frame, frame["x"]):
        for name in ("sum", "corr"):
            call(data, "rolling", name, {}, "30min", on=frame.index[:3])


def test_values_of_parameters(frame):
    for ddof in (-1, 0, 7, True, np.int64(0), 1.5, None):
        for name in ("var", "std") if PANDAS_2 else ("var", "std", "sem", "cov"):
            call(frame, "rolling", name, {"ddof": ddof}, 4, 1)
    for q in (True, False, np.array(0.5), np.float32(0.5), np.nan, None):
        call(frame["x"], "rolling", "quantile", {"q": q}, 4, 1)
    for window in ((3,), (), True, 3.0):
        call(frame, "rolling", "sum", {}, window)
    assert frame.rollstat.rolling(4).quantile(np.array([0.5])).columns.nlevels == 2


def test_names_of_the_result_are_not_those_of_the_data(frame):
    for name in ("sum", "median", "count"):
        for windows in (frame.rollstat.rolling(3), frame.rollstat.expanding()):
            found = getattr(windows, name)()
            found.columns.name = "changed"
        found = getattr(frame["x"].rollstat.rolling(3), name)()
        if name == "count":
            found.index.name = "changed"
    found = frame.rollstat.rolling(3).kth(1)
    found.columns.name = "changed"
    found = frame.rollstat.groupby(np.zeros(40)).rolling(3, transform=True).sum()
    found.columns.name = found.index.name = "changed"
    assert (frame.index.name, frame.columns.name) == ("time", "letters")


def test_names_in_messages_and_in_repr(frame):
    with pytest.raises(TypeError, match=r"^rolling\(\) missing 1 required positional argument: 'window'"):
        frame.rollstat.rolling()
    assert "window=Forward(m=3)" in repr(frame.rollstat.rolling(rollstat.Forward(3)))
    bounds = np.zeros(40, np.int64), np.arange(40)
    assert "window=(start, end)" in repr(frame.rollstat.rolling(bounds))


def test_step_over_less_than_two_rows_keeps_the_frequency(frame):
    for rows in range(4):
        for name in ("sum", "count", "median"):
            call(frame[:rows], "rolling", name, {}, 3, 1, step=2)
            call(frame["x"][:rows], "rolling", name, {}, 3, 1, step=2)


@pytest.mark.parametrize("dtype", ["Sparse[int64]", "Sparse[float64]", "Sparse[bool]"])
def test_sparse_columns(dtype):
    column = pd.Series([0, 0, 1, 3, 0], name="a").astype(dtype)
    for name in ("sum", "median", "count"):
        call(column, "rolling", name, {}, 2)
        call(column.to_frame(), "expanding", name, {})


class Extremes(NamedTuple):
    """Three results: the smallest value, the largest, and how many there are."""

    def lift(self, x):
        return x, x, 1.0

    def combine(self, older, newer):
        return min(older[0], newer[0]), max(older[1], newer[1]), older[2] + newer[2]


def test_operators_over_windows(frame):
    column = frame["x"]
    for windows in (column.rollstat.rolling(5, 1), column.rollstat.expanding()):
        assert_series_equal(windows.combine(operators.Maximum()), windows.max())
    assert_series_equal(column.rollstat.combine(operators.Maximum(), 5), column.rollstat.max(5))
    found = frame.rollstat.rolling(5).combine(operators.Maximum())
    assert_frame_equal(found, frame.rollstat.rolling(5).max())
    windows = column.rollstat.rolling(5, 2)
    wanted = pd.DataFrame({0: windows.min(), 1: windows.max()})
    for found in (
        windows.combine(Extremes()),
        column.rollstat.combine(Extremes(), 5, min_periods=2),
    ):
        assert found.columns.tolist() == [0, 1, 2]
        assert_frame_equal(found[[0, 1]], wanted)
        observed = column.notna().rolling(5, 2).sum().where(found[0].notna())
        assert_series_equal(found[2], observed, check_names=False)


def test_the_old_names_of_combine_raise(frame):
    with pytest.raises(TypeError, match=r"func must be a function, .*; combine takes Maximum\(\)"):
        frame.rollstat.rolling(5).agg(operators.Maximum())
    with pytest.raises(AttributeError, match=r"'aggregate'; did you mean combine\?"):
        frame.rollstat.aggregate  # noqa: B018  # raises when it is looked up
    with pytest.raises(ValueError, match="operator must be associative"):
        frame["x"].rollstat.rolling(3).combine(lambda older, newer: older - newer)
    assert frame["x"].rollstat.combine(lambda older, newer: older - newer, 3, check=False).size


def test_the_functions_take_a_frame_as_columns(frame):
    for options in ({}, {"axis": 0}):
        assert_frame_equal(rollstat.rolling_median(frame, 10, **options), frame.rolling(10).median())
    with pytest.raises(TypeError, match=r"other must be an array or a Series; got a DataFrame"):
        rollstat.rolling_cov(frame.iloc[:, 0], frame, 10)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_regular_times_run_as_rows(zone):
    for frequency, widths in (("7min", ("7min", "1min", "30min", "35min", "2D")), ("D", ("1D", "47h", "3D"))):
        index = pd.date_range("2024-03-29", periods=30, freq=frequency, tz=zone)
        column = pd.Series(np.arange(30.0) % 7, index)
        for width in widths:
            for options in ({}, {"min_periods": 4}, {"closed": "left"}, {"center": True}):
                call(column, "rolling", "sum", {}, width, **options)
                call(column[::-1], "rolling", "sum", {}, width, **options)
                call(column[::3], "rolling", "count", {}, width, **options)
        call(column[:1], "rolling", "sum", {}, "1D")
        call(column[:0], "rolling", "sum", {}, "1D")
    for dates in (
        pd.timedelta_range("0s", periods=30, freq="3s"),
        pd.period_range("2024", periods=30, freq="3h"),
    ):
        call(pd.Series(np.arange(30.0), dates), "rolling", "sum", {}, "10h")
        call(pd.Series(np.arange(30.0), dates), "rolling", "median", {}, "9h", 2)


@pytest.mark.parametrize("method", ["sum", "mean", "min", "max", "var", "std"])
def test_the_engine_reaches_pandas(method, monkeypatch):
    column = pd.Series([1.0, 2.0])
    for windows in (column.rollstat.rolling(2), column.rollstat.expanding()):
        monkeypatch.setattr(type(windows), "_numba_apply", lambda *_, **__: pd.Series([9.0]), raising=False)
        assert getattr(windows, method)(engine="numba").tolist() == [3.0 if method == "std" else 9.0]


def parameters_of(method):
    return [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()]


@pytest.mark.skipif(PANDAS_2, reason="it lacks some of the methods")
@pytest.mark.parametrize("kind", ["Rolling", "Expanding"])
def test_methods_have_the_parameters_of_pandas_and_name_their_class_in_errors(kind):
    ours, theirs = getattr(rollstat.pandas, kind), getattr(pd.api.typing, kind)
    names = [name for name in REGISTRY if hasattr(theirs, name)]
    assert {"sum", "var", "sem", "skew", "count", "quantile", "rank", "cov"} <= set(names)
    for name in names:
        own = [p for p in parameters_of(getattr(ours, name)) if p[0] != "columns"]  # of apply
        assert own == parameters_of(getattr(theirs, name)), name
        assert getattr(ours, name).__name__ == name
    for name in set(names) - {"aggregate", "max"}:  # these two take any keyword
        with pytest.raises(TypeError, match=rf"{kind}\.{name}\(\) got an unexpected keyword argument"):
            getattr(ours, name)(pd.Series([1.0]).rolling(1), nothing=1)
    written = {name for name in REGISTRY if REGISTRY[name].pandas}
    assert written | {"count", "aggregate", "apply"} == set(
        names
    )  # the count has another default of `min_periods`
