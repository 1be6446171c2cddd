"""Windows within groups: values, index, order and names as in pandas."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import rollstat
import rollstat.pandas


@pytest.fixture
def frame(rng):
    n = 60
    values = rng.integers(0, 9, n).astype(float)
    values[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "key": rng.choice(["b", "a", "c"], n),
            "part": rng.integers(0, 3, n),
            "x": values,
            "y": rng.integers(0, 5, n),
            "time": pd.date_range("2024", periods=n, freq="7min"),
        },
        index=pd.Index(rng.permutation(n), name="row"),
    )


def missing_keys(frame):
    return frame["key"].where(frame["key"] != "c")


KEYS = {
    "name": lambda frame: {"by": "key"},
    "list": lambda frame: {"by": ["part", "key"]},
    "values": lambda frame: {"by": frame["part"].to_numpy()},
    "series": lambda frame: {"by": frame["part"] > 1},
    "function": lambda frame: {"by": lambda row: row % 3},
    "dict": lambda frame: {"by": {row: row % 2 for row in range(60)}},
    "level": lambda frame: {"level": "row"},
    "grouper": lambda frame: {"by": pd.Grouper(key="key")},
    "frequency": lambda frame: {"by": pd.Grouper(key="time", freq="2h")},
    "unsorted": lambda frame: {"by": ["key", "part"], "sort": False},
    "dropped": lambda frame: {"by": missing_keys(frame)},
    "kept": lambda frame: {"by": missing_keys(frame), "dropna": False},
    "categories": lambda frame: {"by": frame["key"].astype("category"), "observed": False},
    "observed": lambda frame: {"by": pd.Categorical(frame["key"], list("xcab")), "observed": True},
    "unsorted categories": lambda frame: {
        "by": pd.Categorical(frame["key"], list("xcab")),
        "observed": True,
        "sort": False,
    },
    "columns": lambda frame: {"by": "key", "as_index": False},
    "no keys": lambda frame: {"by": "key", "group_keys": False},
}


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("window", [{"window": 3}, {"window": "30min", "on": "time", "closed": "both"}])
def test_keys_as_in_pandas(frame, keys, window):
    options = KEYS[keys](frame)
    if keys == "frequency" and "on" in window:
        options["by"] = pd.Grouper(key="time", freq="2h", label="right")
        window = {"window": 2}
    columns = ["x", "y", "time"] if "on" in window else ["x", "y"]
    theirs = frame.groupby(**options)[columns].rolling(**window).median()
    ours = frame.rollstat.groupby(**options)[columns].rolling(**window).median()
    pd.testing.assert_frame_equal(ours, theirs)
    one = frame["x"].rename("part")
    if not {"by", "as_index"} <= options.keys() and not isinstance(
        options.get("by"), (str, list, pd.Grouper)
    ):
        ours = one.rollstat.groupby(**options).expanding(2).sum()
        pd.testing.assert_series_equal(ours, one.groupby(**options).expanding(2).sum())


@pytest.mark.parametrize("window", [4, "20min", timedelta(hours=1), rollstat.Forward(3), pd.offsets.Hour(2)])
def test_each_group_is_a_series_of_its_own(frame, window):
    frame = frame.set_index("time")
    for name in ("mean", "kth", "count", "argmax", "argkth"):
        arguments = {"k": 1} if name.endswith("kth") else {}
        windows = frame.rollstat.groupby("key").rolling(window, min_periods=2)["x"]
        found = getattr(windows, name)(**arguments)
        for key, group in frame.groupby("key"):
            alone = getattr(group["x"].rollstat.rolling(window, min_periods=2), name)(**arguments)
            pd.testing.assert_series_equal(found[key], alone)


@pytest.mark.parametrize("options", [{}, {"sort": False}, {"dropna": False}])
@pytest.mark.parametrize("two", [False, True])
def test_many_groups(frame, monkeypatch, options, two):
    frame["key"] = missing_keys(frame)
    by = ["key", "part"] if two else "key"
    wanted = frame.rollstat.groupby(by, **options)[["x", "y"]].rolling(3, min_periods=1).sum()
    monkeypatch.setattr("rollstat.pandas.groups.MANY_GROUPS", 0)
    found = frame.rollstat.groupby(by, **options)[["x", "y"]].rolling(3, min_periods=1).sum()
    pd.testing.assert_frame_equal(found, wanted)


def test_groups_without_rows(frame):
    keys = pd.Categorical(frame["key"], list("xcab"))  # pandas raises an IndexError
    found = frame.rollstat.groupby(keys, observed=False)["x"].rolling(2).sum()
    wanted = frame.groupby(keys, observed=True)["x"].rolling(2).sum()
    assert found.index.to_list() == wanted.index.to_list()
    np.testing.assert_array_equal(found, wanted)


def test_descending_times_and_their_errors(frame):
    turned = frame.iloc[::-1].sort_values("key", kind="stable")
    both = pd.concat([turned[turned["key"] == "a"], frame[frame["key"] == "b"]])
    for data in (turned, both):
        theirs = data.groupby("key").rolling("30min", on="time")["x"].sum()
        pd.testing.assert_series_equal(
            data.rollstat.groupby("key").rolling("30min", on="time")["x"].sum(), theirs
        )
    data = frame.sample(frac=1, random_state=1)
    for groups in (data.groupby("key"), data.rollstat.groupby("key")):
        with pytest.raises(ValueError, match="Each group within time must be monotonic"):
            groups.rolling("30min", on="time")
    data.loc[data.index[0], "time"] = pd.NaT
    for groups in (data.groupby("key"), data.rollstat.groupby("key")):
        with pytest.raises(ValueError, match="time values must not have NaT"):
            groups.rolling("30min", on="time")


@pytest.mark.parametrize("keys", ["name", "list", "dropped", "unsorted", "columns"])
def test_transform_has_the_rows_of_the_data(frame, keys):
    options = KEYS[keys](frame)
    ours = frame.rollstat.groupby(**options)[["x", "y"]].rolling(4, min_periods=1, transform=True).max()
    theirs = frame.groupby(**options)[["x", "y"]].transform(
        lambda column: column.rolling(4, min_periods=1).max()
    )
    pd.testing.assert_frame_equal(ours, theirs.astype(float))
    ours = frame.rollstat.groupby(**options)["x"].expanding(transform=True).max()
    wanted = frame.groupby(**options)["x"].transform(lambda column: column.expanding().max())
    pd.testing.assert_series_equal(ours, wanted)


def test_transform_keeps_the_index_beside_a_column_of_times(frame):
    ours = frame.rollstat.groupby("key").rolling("1h", on="time", transform=True)["x"].sum()
    assert ours.index.equals(frame.index)
    theirs = frame.groupby("key").rolling("1h", on="time")["x"].sum()
    pd.testing.assert_series_equal(ours.sort_values(ignore_index=True), theirs.sort_values(ignore_index=True))


def test_no_group_and_no_row(frame):
    none = np.full(len(frame), np.nan)
    assert frame.rollstat.groupby(none)["x"].rolling(2, transform=True).sum().isna().all()
    assert len(frame.rollstat.groupby(none)["x"].rolling(2).sum()) == 0
    empty = frame.iloc[:0]
    theirs = empty.groupby("key")["x"].rolling(2).sum()
    pd.testing.assert_series_equal(empty.rollstat.groupby("key")["x"].rolling(2).sum(), theirs)


@pytest.mark.parametrize("times", [False, True])
def test_time_windows_over_no_row(frame, times):
    empty = (frame.set_index("time") if times else frame).iloc[:0]
    for columns in ("x", ["x", "y"]):
        theirs = empty.groupby("key")[columns].rolling("30min").sum()
        ours = empty.rollstat.groupby("key")[columns].rolling("30min").sum()
        (pd.testing.assert_frame_equal if ours.ndim == 2 else pd.testing.assert_series_equal)(ours, theirs)


@pytest.mark.filterwarnings("ignore:Starting with pandas")
def test_parameters_by_position(frame):
    ours = frame.rollstat.groupby("key", None, True, False)["x"].rolling(2, 1, True).sum()
    # By name, because pandas 2 has another order.
    theirs = frame.groupby("key", level=None, as_index=True, sort=False)["x"]
    theirs = theirs.rolling(2, min_periods=1, center=True).sum()
    pd.testing.assert_series_equal(ours, theirs)
    with pytest.raises(TypeError, match="as_index=False only valid with DataFrame"):
        frame["x"].rollstat.groupby(frame["key"], None, False)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_of_descending_times(rows):
    series = pd.Series(np.arange(5.0), pd.date_range("2024", periods=5, freq="7min"))[::-1][:rows]
    ours = series.rollstat.groupby(np.zeros(rows)).rolling(2, 1).sum()
    theirs = series.groupby(np.zeros(rows)).rolling(2, 1).sum()
    pd.testing.assert_series_equal(ours, theirs)


def test_what_is_delegated_to_pandas(frame):
    ours, theirs = frame.rollstat.groupby("key")[["x", "y"]], frame.groupby("key")[["x", "y"]]
    pd.testing.assert_frame_equal(ours.rolling(3).corr(), theirs.rolling(3).corr())
    pd.testing.assert_frame_equal(ours.rolling(3).apply(np.max), theirs.rolling(3).apply(np.max))
    forward = pd.api.indexers.FixedForwardWindowIndexer(window_size=2)
    pd.testing.assert_frame_equal(ours.rolling(forward).sum(), theirs.rolling(forward).sum())
    pd.testing.assert_frame_equal(ours.ewm(span=2).mean(), theirs.ewm(span=2).mean())
    pd.testing.assert_frame_equal(ours.sum(), theirs.sum())
    assert len(ours) == len(theirs)
    assert [key for key, _ in ours] == [key for key, _ in theirs]
    aligned = ours.rolling(3, transform=True).apply(np.max, raw=True)
    pd.testing.assert_frame_equal(aligned, ours.rolling(3, transform=True).max())


def test_statistics_that_pandas_does_not_have(frame):
    found = frame.rollstat.groupby("key")["x"].rolling(5, min_periods=1, transform=True).quantile([0.2, 0.8])
    assert found.columns.tolist() == [0.2, 0.8]
    assert found.index.equals(frame.index)
    found = frame.rollstat.groupby("key")["x"].rolling(5, transform=True, nan_policy="propagate").mad()
    for _, group in frame.groupby("key")["x"]:
        alone = group.rollstat.rolling(5, nan_policy="propagate").mad()
        pd.testing.assert_series_equal(found[group.index], alone)


def test_errors(frame):
    groups = frame.rollstat.groupby("key")
    with pytest.raises(ValueError, match="transform=True does not apply to corr"):
        groups.rolling(2, transform=True).corr()
    with pytest.raises(TypeError, match=r"rolling\(\) got an unexpected keyword argument 'wndow'"):
        groups.rolling(2, wndow=3)
    with pytest.raises(ValueError, match="nan_policy does not apply to win_type='hann'"):
        groups.rolling(2, win_type="hann", nan_policy="raise")
    with pytest.raises(TypeError, match="unexpected keyword argument 'wndow'"):
        groups.rolling(2, win_type="hann", wndow=3)
    with pytest.raises(ValueError, match="other must be as long as the data, 60; got 61 rows"):
        groups["x"].rolling(3).beta(np.arange(61.0))
    with pytest.raises(TypeError, match="window must not be"):
        groups.rolling((np.arange(60), np.arange(60)))
    with pytest.raises(AttributeError, match="nothing"):
        groups.nothing  # noqa: B018  # reading it raises


def test_a_second_series_as_a_list(frame):
    windows = frame.rollstat.groupby("key")["x"].rolling(5, transform=True)
    pd.testing.assert_series_equal(windows.beta(list(frame["y"])), windows.beta(frame["y"]))
    pd.testing.assert_frame_equal(windows.linear_fit(list(frame["y"])), windows.linear_fit(frame["y"]))
    pd.testing.assert_frame_equal(windows.linear_fit(None), windows.linear_fit())


def test_positions_are_those_in_the_group():
    series = pd.Series([7.0, 99.0, -9.0, np.nan, -79.0, 5.0])
    frame = pd.DataFrame({"x": series, "y": -series})
    keys = [0, 1, 3, 3, 2, 0]
    windows = series.rollstat.groupby(keys).rolling(2, min_periods=1, transform=True)
    assert windows.argmax().tolist() == [0, 0, 0, 0, 0, 0]
    assert windows.argmin().tolist() == [0, 0, 0, 0, 0, 1]
    both = windows.argminmax()
    assert both["argmin"].tolist() == windows.argmin().tolist()
    assert both["argmax"].tolist() == windows.argmax().tolist()
    assert windows.argmax(relative_to="newest").tolist() == [0, 0, 0, 1, 0, 1]
    assert windows.argkth([1, 2])[2].tolist() == [-1, -1, -1, -1, -1, 0]
    table = frame.rollstat.groupby(keys).rolling(2, transform=True, fill_value=7).argmax()
    assert table.to_numpy().tolist() == [[7, 7]] * 5 + [[0, 1]]
    assert series.rollstat.groupby(keys).expanding(transform=True).argmin().tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("index", [pd.RangeIndex(3), pd.date_range("2024", periods=3)])
@pytest.mark.parametrize("window", [2, "2D"])
def test_frames_without_columns(index, window):
    empty = pd.DataFrame(index=index)
    for name in ("sum", "median", "count"):
        theirs = getattr(empty.groupby([0, 1, 0]).rolling(window), name)()
        ours = getattr(empty.rollstat.groupby([0, 1, 0]).rolling(window), name)()
        pd.testing.assert_frame_equal(ours, theirs)
