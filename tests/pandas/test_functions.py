"""Functions of windows that statistics compute return what ``apply`` of pandas returns, without a call."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import rollstat.pandas
from rollstat.pandas import windows
from rollstat.pandas.functions import _KNOWN, known

stats = pytest.importorskip("scipy.stats", reason="its functions are among those that have a name")

FUNCTIONS = [*_KNOWN, stats.skew, stats.kurtosis]
DATA = {
    "clean": [4.0, 1.0, 3.0, 3.0, 0.0, -2.0, 7.0, 7.0, 7.0, 7.0, 7.0, 1.0, 0.0, 0.0, 0.0, 5.0],
    "integers": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3],
    "leading": [np.nan, np.nan, 2.0, 1.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0, -1.0, 0.0, 3.0, 2.0, 2.0, 1.0],
    "gaps": [1.0, np.nan, 2.0, 1.0, 0.0, np.nan, np.nan, 5.0, 3.0, 5.0, -1.0, np.nan, 3.0, 2.0, 2.0, 1.0],
    "inf": [1.0, np.inf, 2.0, 1.0, 0.0, 4.0, -np.inf, 5.0, 3.0, 5.0, -1.0, 6.0, 3.0, 2.0, 2.0, 1.0],
    "nearly": [1.0, 1.0 + 2**-52, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 5.0, -1.0, 6.0, 3.0, 2.0, 2.0, 1.0],
}
WINDOWS = [
    lambda data: data.rolling(4),
    lambda data: data.rolling(4, min_periods=1),
    lambda data: data.rolling(5, min_periods=5, center=True),
    lambda data: data.rolling(4, min_periods=4, closed="both"),
    lambda data: data.rolling(4, min_periods=3, step=2),
    lambda data: data.rolling("4h"),
    lambda data: data.expanding(),
    lambda data: data.rolling(pd.api.indexers.FixedForwardWindowIndexer(window_size=4), min_periods=2),
    lambda data: data.groupby(np.arange(len(data)) // 8).rolling(4),
]


def of(data, window, function, raw):
    """Return the result of ``apply``, or the type of the error that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return window(data).apply(function, raw=raw)
        except Exception as error:
            return type(error)


def same(found, wanted):
    if isinstance(wanted, type):
        assert found is wanted
    else:
        (assert_series_equal if wanted.ndim == 1 else assert_frame_equal)(
            found, wanted, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("raw", [True, False])
def test_results_are_those_of_apply(function, raw):
    index = pd.date_range("2024", periods=16, freq="h")
    for values in DATA.values():
        data = pd.Series(values, index, name="x")
        for window in WINDOWS:
            same(of(Ours(data), window, function, raw), of(data, window, function, raw))


class Ours:
    """Data whose windows are those of the accessor."""

    def __init__(self, data):
        self.rolling, self.expanding = data.rollstat.rolling, data.rollstat.expanding
        self.groupby, self._rows = data.rollstat.groupby, len(data)

    def __len__(self):
        return self._rows


def counted(call):
    """Return what was handed to pandas during a call."""
    before = rollstat.pandas.handed_back()
    call()
    return {
        key: n - before.get(key, 0)
        for key, n in rollstat.pandas.handed_back().items()
        if n != before.get(key)
    }


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_no_function_is_called_over_clean_values(function):
    series = pd.Series(DATA["clean"])
    raw = function is not pd.Series.nunique
    assert counted(lambda: series.rollstat.rolling(4).apply(function, raw=raw)) == {}


@pytest.mark.parametrize("raw", [True, False])
def test_no_function_is_called_where_it_leaves_out_missing_values_or_passes_them_on(raw):
    windows = pd.Series(DATA["gaps"]).rollstat.rolling(4, min_periods=1)
    for function in (sum, np.sum, np.nanmean, np.max, np.std, np.median, np.ptp):
        assert counted(lambda function=function: windows.apply(function, raw=raw)) == {}


def test_frames_and_names_in_agg():
    frame = pd.DataFrame({"a": DATA["clean"], "b": DATA["gaps"]})
    ours = lambda: frame.rollstat.rolling(4, min_periods=2).agg({"a": [np.ptp, len], "b": np.ptp})  # noqa: E731 - called twice
    assert counted(ours) == {}
    assert_frame_equal(ours(), frame.rolling(4, min_periods=2).agg({"a": [np.ptp, len], "b": np.ptp}))
    assert counted(lambda: frame.rollstat.rolling(4).apply(np.median)) == {}
    assert frame.rollstat.rolling(4).agg("any")["a"].dropna().eq(1.0).all()


def test_what_python_must_call():
    series = pd.Series(DATA["gaps"])
    windows = series.rollstat.rolling(4, min_periods=1)
    reason = "a function that takes a Series"
    for call in (
        lambda: windows.apply(lambda window: window.max()),
        lambda: windows.apply(stats.skew),
        lambda: series.rollstat.rolling(4, threads=1).apply(np.max),
    ):
        assert counted(call) == {("apply", reason): 1}
    assert known([]) is None


def spread(window, share=1.0, *, power=1):
    return share * (window.max() - window[0]) ** power


@pytest.mark.parametrize("name", DATA)
def test_own_functions_of_arrays(name, monkeypatch):
    monkeypatch.setattr(windows, "COMPILED_APPLY_ROWS", 0)
    data = pd.DataFrame({"key": list("abca") * 4, "x": DATA[name], "y": DATA["clean"]})
    last_in_time = pd.date_range("2024", periods=16, freq="h")
    for call in (
        lambda data: data[["x", "y"]].rolling(4).apply(lambda x: x.max() - x[0], raw=True),
        lambda data: data["x"].rolling(4, min_periods=1).apply(lambda x: np.nansum(x * x), raw=True),
        lambda data: data["x"].rolling(3, min_periods=0, center=True).apply(lambda x: len(x) > 2, raw=True),
        lambda data: data["x"].expanding().apply(spread, raw=True, args=(2.0,), kwargs={"power": 2}),
        lambda data: data.set_axis(last_in_time)["x"].rolling("3h").apply(lambda x: x[-1], raw=True),
        lambda data: data.groupby("key")["x"].rolling(2).apply(np.quantile, raw=True, args=(0.5,)),
        lambda data: data["x"].rolling(4, min_periods=1).apply(lambda x: np.median(x), raw=True),
    ):
        ours = Accessor(data)
        not_compiled = "apply", "a function that Numba does not compile"  # keywords, a median with NaN
        assert counted(lambda call=call, ours=ours: call(ours)).keys() <= {not_compiled}
        same(call(ours), call(data))


class Accessor:
    """A frame whose windows are those of the accessor, whatever is selected first."""

    def __init__(self, data):
        self._data = data

    def __getitem__(self, key):
        return Accessor(self._data[key])

    def set_axis(self, labels):
        return Accessor(self._data.set_axis(labels))

    def __getattr__(self, name):
        return getattr(self._data.rollstat, name)


def test_groups_of_functions_that_are_not_compiled_go_to_pandas(monkeypatch):
    series, constants = pd.Series(DATA["clean"]).rollstat.groupby(np.arange(16) // 8), pd.Series([1.0])
    few = counted(lambda: series.rolling(4).apply(lambda x: x[0], raw=True))
    assert few == {("apply", "fewer than 20,000 windows"): 1}
    monkeypatch.setattr(windows, "COMPILED_APPLY_ROWS", 0)
    other = counted(lambda: series.rolling(4).apply(lambda x: constants[0] + x[0], raw=True))
    assert other == {("apply", "a function that Numba does not compile"): 1}


def divided(window, divisor, *, power=1):
    return np.float64(len(window)) ** power / divisor


@pytest.mark.parametrize("window", WINDOWS[:-1])
@pytest.mark.parametrize("name", DATA)
def test_functions_that_python_calls_for_each_window(name, window):
    def calls_of(data, function, options):
        seen = []

        def recorded(values, *args, **kwargs):
            seen.append(values.tolist())
            values[-1:] = values[-1:]  # which may be written
            return function(values, *args, **kwargs)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return window(data).apply(recorded, raw=True, **options), seen
            except Exception as error:
                return str(error), seen

    hours = pd.date_range("2024", periods=16, freq="h")
    data = pd.DataFrame({"x": DATA[name], "y": DATA["clean"]}, hours)
    for function, options in (
        (lambda values: values.sum(), {}),
        (divided, {"args": (0,), "kwargs": {"power": 2}}),
        (lambda values: "text" if len(values) > 3 else 1, {}),
    ):
        found, seen = calls_of(data.rollstat, function, options)
        wanted, expected = calls_of(data, function, options)
        assert repr(seen) == repr(expected)
        assert found == wanted if isinstance(wanted, str) else found.equals(wanted)


def test_functions_of_several_columns():
    frame = pd.DataFrame({"key": list("abca") * 4, "x": DATA["gaps"], "y": DATA["clean"]})
    at_most = lambda x, y: float(len(x)) + y[0]  # noqa: E731 - called twice
    wanted = [at_most(frame["x"][i - 2 : i + 1], frame["y"].to_numpy()[i - 2 : i + 1]) for i in range(2, 16)]
    found = frame.rollstat.rolling(3, min_periods=0).apply(at_most, columns=["x", "y"])
    assert found.name is None
    assert found.tolist()[2:] == wanted
    both = (
        frame.rollstat.groupby("key")
        .rolling(2, transform=True)
        .apply(lambda x, y: (x[0], y.sum()), columns=["x", "y"])
    )
    theirs = frame.groupby("key")[["x", "y"]].rolling(2).sum()
    wanted = theirs["y"].where(theirs["x"].notna()).droplevel(0).sort_index()
    np.testing.assert_array_equal(both[1], wanted)
    own = frame.rollstat.rolling(3, nan_policy="omit", min_periods=1).apply(
        lambda x, y: len(x), columns=["x", "y"]
    )
    assert own.tolist() == frame["x"].rolling(3, min_periods=1).count().replace(0, np.nan).tolist()
    with pytest.raises(KeyError, match="z"):
        frame.rollstat.rolling(3).apply(at_most, columns=["x", "z"])
    with pytest.raises(ValueError, match=r"columns needs windows that rollstat computes.*numba"):
        frame.rollstat.rolling(3).apply(at_most, engine="numba", columns=["x", "y"])


def test_handed_back_by_method_and_reason():
    series, frame = pd.Series(DATA["clean"]), pd.DataFrame({"a": DATA["clean"], "b": DATA["gaps"]})
    assert counted(lambda: series.rollstat.rolling(4).mean()) == {}
    assert counted(lambda: series.rollstat.ewm(span=3).mean()) == {}
    groups = series.rollstat.groupby([0] * 16)
    assert counted(lambda: groups.rolling(4, win_type="hann").mean()) == {}
    assert counted(lambda: series.rollstat.rolling(4, win_type="hann").mean()) == {}
    assert counted(lambda: series.rollstat.groupby([0] * 16).rolling(4).corr(series)) == {
        ("corr", "windows within groups"): 1
    }
    assert counted(lambda: series.rollstat.rolling(0).sum()) == {("sum", "zero-length windows"): 1}
    assert counted(lambda: series.rollstat.rolling(4).std(ddof=1.0)) == {("std", "its parameters"): 1}
    with pytest.raises(ValueError, match="dimensions"):
        frame.rollstat.rolling(4, method="table").sum()
    assert ("sum", "method='table'") in rollstat.pandas.handed_back()


def test_warnings_come_once_for_each_reason():
    series = pd.Series(DATA["clean"])
    try:
        rollstat.pandas.handed_back(warn=True)
        with pytest.warns(pd.errors.PerformanceWarning, match="pandas computes sum: zero-length") as caught:
            series.rollstat.rolling(0).sum()
        assert len(caught) == 1
        with warnings.catch_warnings(action="error"):
            series.rollstat.rolling(0).sum()
        with pytest.warns(pd.errors.PerformanceWarning, match="pandas computes apply: a function"):
            series.rollstat.rolling(4).apply(lambda window: 1.0)
    finally:
        rollstat.pandas.handed_back(warn=False)
    with warnings.catch_warnings(action="error"):
        series.rollstat.rolling(0).sum()


GUIDE = Path(rollstat.__file__).parent.parent / "docs/guide/migration.rst"
INSTEAD = re.findall(r"   \* - ``(lambda .*)``\n     - ``(.*)``", GUIDE.read_text())


@pytest.mark.parametrize(("function", "instead"), INSTEAD)
def test_statistics_of_the_guide_replace_lambdas(function, instead):
    s = pd.Series(np.random.default_rng(0).normal(0.1, 1, 50).round(1))
    known_names = {"s": s, "n": 7, "np": np}
    wanted = s.rolling(7).apply(eval(function, known_names), raw=True)
    found = eval(instead, known_names)
    assert_series_equal(found.where(wanted.notna()).astype(float), wanted, check_names=False)


def test_the_guide_has_lambdas():
    assert len(INSTEAD) > 9
