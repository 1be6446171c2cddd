"""Windows of the accessors that pandas does not have: at other times, in any order, a size for each row."""

import numpy as np
import pandas as pd
import pytest
from pandas.api.indexers import BaseIndexer, FixedForwardWindowIndexer

import rollstat
import rollstat.pandas

N = 60


@pytest.fixture
def frame(rng):
    times = pd.DatetimeIndex(np.sort(rng.integers(0, 10**6, N)).astype("M8[s]"), tz="UTC")
    columns = {"x": rng.standard_normal(N), "y": rng.integers(0, 9, N), "key": rng.choice(["a", "b", "c"], N)}
    return pd.DataFrame(columns, times.tz_convert("Europe/Berlin").rename("time"))


AT = pd.date_range("1970-01-02", periods=9, freq="8h", tz="Europe/Berlin", name="asked")[::-1]


class Backwards(BaseIndexer):
    """Windows in any order."""

    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        start = np.random.default_rng(num_values).integers(0, num_values, num_values)
        return start, np.minimum(start + 4, num_values)


class Outside(BaseIndexer):
    """Windows that begin before the data."""

    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        return np.arange(num_values) - 1, np.arange(num_values)


def handed_back_by(call):
    before = rollstat.pandas.handed_back()
    call()
    return [key for key, count in rollstat.pandas.handed_back().items() if count != before.get(key)]


def test_results_at_other_times(frame):
    x = frame["x"]
    for window, function, options in (
        ("2D", x.rollstat.rolling("2D", at=AT), {}),
        (5, x.rollstat.rolling(5, min_periods=1, closed="left", at=AT), {"min_periods": 1, "closed": "left"}),
        (rollstat.Expanding(), x.rollstat.expanding(at=AT), {}),
        (rollstat.Around("1D", "2h"), x.rollstat.rolling(rollstat.Around("1D", "2h"), at=AT), {}),
    ):
        for name in ("mean", "kth", "nunique"):
            parameters = (1,) if name == "kth" else ()
            wanted = getattr(rollstat, f"rolling_{name}")(
                x.to_numpy(), *parameters, window, times=frame.index, at=AT, **options
            )
            found = getattr(function, name)(*parameters)
            pd.testing.assert_series_equal(found, pd.Series(wanted, AT, name="x"))
    both = x.rollstat.rolling("2D", at=AT).agg(["mean", "max"])
    pd.testing.assert_series_equal(both["max"], x.rollstat.max("2D", at=AT).rename("max"))
    table = frame[["x", "y"]].rollstat.rolling("2D", at=AT).sum()
    pd.testing.assert_index_equal(table.index, AT)
    pd.testing.assert_series_equal(table["x"], x.rollstat.rolling("2D", at=AT).sum())
    on = frame.reset_index().rollstat.rolling("2D", on="time", at=AT)[["x", "y"]].sum()
    pd.testing.assert_frame_equal(on, table)
    exact = frame["y"].rollstat.rolling("2D", at=AT, keep_dtype=True, fill_value=-1).max()
    assert exact.dtype == np.int64


def test_results_of_groups_at_other_times(frame):
    found = frame.rollstat.groupby("key").rolling("2D", at=AT)[["x", "y"]].median()
    positions = frame.rollstat.groupby("key")["x"].rolling("2D", at=AT).argmax()
    for key, rows in frame.groupby("key"):
        wanted = rows[["x", "y"]].rollstat.rolling("2D", at=AT).median()
        pd.testing.assert_frame_equal(found.loc[key], wanted, check_freq=False)
        alone = rows["x"].rollstat.rolling("2D", at=AT).argmax()
        pd.testing.assert_series_equal(positions.loc[key], alone, check_freq=False)
    assert found.index.names == ["key", "asked"]
    with pytest.raises(ValueError, match="transform=True does not apply to at="):
        frame.rollstat.groupby("key").rolling("2D", at=AT, transform=True)["x"].sum()


def test_what_does_not_apply_to_other_times(frame):
    x = frame["x"]
    windows = x.rollstat.rolling("2D", at=AT)
    for call in (
        lambda: windows.cov(x),
        lambda: windows.apply(lambda values: values.sum()),
        lambda: x.rollstat.expanding(at=AT).mean(engine="numba"),
        lambda: x.rollstat.expanding(method="table", at=AT).mean(),
        lambda: frame.rollstat.groupby("key").rolling("2D", at=AT)["x"].cov(x),
    ):
        with pytest.raises(ValueError, match="at does not apply"):
            call()
    with pytest.raises(ValueError, match="needs an index of times"):
        x.reset_index(drop=True).rollstat.rolling(3, at=[1, 2]).mean()
    with pytest.raises(ValueError, match="step does not apply to at="):
        x.rollstat.rolling("2D", step=2, at=AT).mean()


def test_indexers_are_not_handed_back(frame):
    x = frame["x"]
    for indexer in (Backwards(), FixedForwardWindowIndexer(window_size=3)):
        assert not handed_back_by(lambda indexer=indexer: x.rollstat.rolling(indexer, min_periods=1).sum())
        for name in ("sum", "median"):  # pandas rejects such bounds for extrema
            wanted = getattr(x.rolling(indexer, min_periods=1), name)()
            pd.testing.assert_series_equal(
                getattr(x.rollstat.rolling(indexer, min_periods=1), name)(), wanted
            )
            wanted = getattr(frame.groupby("key")[["x", "y"]].rolling(indexer, min_periods=1), name)()
            groups = frame.rollstat.groupby("key")[["x", "y"]].rolling(indexer, min_periods=1)
            assert not handed_back_by(getattr(groups, name))
            pd.testing.assert_frame_equal(getattr(groups, name)(), wanted)
    with pytest.raises(ValueError, match=r"window start must lie in 0..60; got -1 at row 0"):
        x.rollstat.rolling(Outside(), min_periods=1).sum()
    with pytest.raises(ValueError, match=r"window start must lie in 0..\d+ in a group of .* got -1 at row 0"):
        frame.rollstat.groupby("key").rolling(Outside(), min_periods=1)["x"].sum()


def test_a_size_for_each_row(frame, rng):
    x, rows = frame["x"], rng.integers(1, 9, N)
    wanted = [x.rolling(int(m), min_periods=1).sum().iloc[i] for i, m in enumerate(rows)]
    for given in (rows, rows.tolist(), pd.Series(rows)):
        np.testing.assert_allclose(x.rollstat.rolling(given).sum(), wanted, rtol=1e-12)
    widths = rows * np.timedelta64(1, "D")
    by_width = x.rollstat.rolling(widths).sum()
    wanted = [x.rolling(width).sum().iloc[i] for i, width in enumerate(map(pd.Timedelta, widths))]
    np.testing.assert_allclose(by_width, wanted, rtol=1e-12)
    groups = frame.assign(m=rows).rollstat.groupby("key").rolling(rows)["x"].sum()
    for key, part in frame.assign(m=rows).groupby("key"):
        alone = part["x"].rollstat.rolling(part["m"].to_numpy()).sum()
        np.testing.assert_allclose(groups.loc[key], alone, rtol=1e-12)


def test_calendar_windows_and_steps_of_widths(frame):
    x = frame["x"]
    by_function = rollstat.rolling_sum(x.to_numpy(), "1 month", times=frame.index)
    np.testing.assert_array_equal(x.rollstat.rolling("1 month").sum(), by_function)
    np.testing.assert_array_equal(x.rollstat.rolling(pd.DateOffset(months=1)).sum(), by_function)
    np.testing.assert_array_equal(
        frame.reset_index().rollstat.rolling("1mo", on="time")["x"].sum(), by_function
    )
    stepped = x.rollstat.rolling("7D", step=3).sum()
    pd.testing.assert_series_equal(stepped, x.rolling("7D").sum().iloc[::3])
    everyone = x.rollstat.rolling("2D", equal_times="all").count()
    same = np.searchsorted(frame.index, frame.index, "right") - np.searchsorted(
        frame.index, frame.index - pd.Timedelta("2D"), "right"
    )
    np.testing.assert_array_equal(everyone, same)


def test_errors_about_strings_name_the_way_out():
    words = pd.Series(["a", "b"])
    for data in (words, words.to_frame("w")):
        with pytest.raises(pd.errors.DataError) as caught:
            data.rollstat.rolling(2).nunique()
        text = "with keep_dtype=True, nunique supports columns of strings, objects and categories"
        assert caught.value.__notes__ == [text, "numeric_only=True skips such columns"][: data.ndim]
    assert words.rollstat.rolling(2, keep_dtype=True).nunique().tolist()[1] == 2
