"""Streams of features against the computation over frames of the rows so far."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rollstat
from rollstat import Expanding
from rollstat import features as f
from rollstat.registry import REGISTRY
from rollstat.snapshots import SnapshotError
from tests.features.frames import KINDS, transactions

WINDOWS = ("2D", 4)
COLUMNS = ["customer", "shop", "time", "amount", "price", "category", "number"]
DTYPES = {"category": object, "number": np.int64}


def rows_of(frame):
    """The rows as they arrive: missing values are None or NaN."""
    return frame[COLUMNS].to_dict("records")


def labels_of(frame, features):
    """All keys of a frame, and one without rows, at the newest time and later."""
    newest = frame["time"].max()
    keys = frame[list(dict.fromkeys(["customer", *(k for c in features.columns for k in c.by)]))]
    keys = keys.drop_duplicates()
    keys.loc[-1] = ["nobody", *[-1] * (keys.shape[1] - 1)]
    return pd.concat([keys.assign(time=newest), keys.assign(time=newest + pd.Timedelta("12h"))])


def check(stream, features, frame, exact=True):
    """Compare queries with the features of the rows so far."""
    labels = labels_of(frame, features)
    expected = features.compute(frame, at=labels)
    for row, label in enumerate(labels.to_dict("records")):
        found = stream.query(*(label[key] for key in stream.keys), label["time"])
        for name, value in found.items():
            wanted = expected[name].iloc[row]
            if pd.isna(wanted):
                assert pd.isna(value), name
            elif exact:
                assert value == wanted, (name, label)
            else:
                assert value == pytest.approx(wanted, rel=1e-9, abs=1e-9), (name, label)


def numbered(features, on):
    """The features, named by numbers of each and of its results."""
    results = [len(f.Features([each], on=on).columns) for each in features]
    return [each.alias(*(f"{i}_{j}" for j in range(n))) for i, (each, n) in enumerate(zip(features, results))]


@pytest.mark.parametrize("name", [name for name in REGISTRY if name != "aggregate"])
def test_every_statistic(name):
    frame, statistic = transactions(), REGISTRY[name]
    columns = ["amount", "price"][: statistic.series]
    features = [
        getattr(f, name)(*columns, **given).over(*WINDOWS, min_periods=1) for given in statistic.samples
    ]
    features = f.Features(numbered(features, "time"), by="customer", on="time", closed="left")
    try:
        features.compute(frame, at=labels_of(frame, features))
    except ValueError:
        with pytest.raises(ValueError, match="belong to no row"):
            features.stream()
        return
    stream = features.stream()
    for row in rows_of(frame):
        stream.push(row)
    check(stream, features, frame, statistic.exact)


def exact_features(closed=None, **options):
    """Features whose results do not round, of every kind of column and window."""
    return f.Features(
        [
            f.max("amount").over("2D", 3, Expanding(), min_periods=1),
            f.median("amount").over(5, "1D"),
            f.quantile("amount", [0.1, 0.9]).over(5, "1D"),
            f.argmax("amount").over("3D", 2),
            f.sum("number").over("30h"),
            f.nunique("category").by("customer", "shop").over("4D"),
            f.last("category").over(2, min_periods=1),
            f.mode("category").over(6, min_periods=1),
            f.count("category").where("amount > 2 and category == 'food'").over("3D").by(),
        ],
        by="customer",
        on="time",
        closed=closed,
        **options,
    )


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_rows_that_windows_need_are_held_whatever_order_they_arrive_in(closed):
    frame = transactions(400, seed=5)
    frame["time"] += pd.to_timedelta(np.arange(400) * 6 + np.random.default_rng(1).integers(0, 50, 400), "h")
    features = exact_features(closed)
    stream, rows = features.stream(dtypes=DTYPES), rows_of(frame)
    for number in range(len(rows)):
        stream.push(rows[number])
        if number in (150, 399):
            check(stream, features, frame[: number + 1])
    few = f.Features([f.max("amount").over("2D", 4)], by=["customer"], on="time").stream()
    for row in rows:
        few.push(row)
    assert max(len(held.arrays[0]) for held in few._series[0].held.values()) <= 128


USUAL = [
    *(getattr(f, name)("x") for name in ("count", "first", "last", "sum", "mean", "var", "std", "sem")),
    *(getattr(f, name)("x") for name in ("min", "max", "median", "iqr", "nunique", "mode", "mad")),
    f.kth("x", [2, -3]),
    *(f.quantile("x", [0.0, 0.3, 1.0], interpolation=each) for each in ("linear", "nearest", "higher")),
    f.std("x", ddof=0).where("y > 0.5").by(),
]
PLANTED = {
    "ties": [1.0, 2.0, -0.0, 0.0],
    "infinities": [np.inf, -np.inf, 3.0],
    "large": [1e308, 1.7e308, -1e308],
    "small": [1e-300, 3e-308, -2e-310],
    "equal": [0.1],
    "far": [1e9 + 0.25, 1e9],
    "whole": [2**53 + 1, 2**53 + 3, 5],
    "noise": [],
}


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("planted", PLANTED)
def test_usual_statistics_of_numbers_take_one_kernel_call(planted, monkeypatch):
    rng, n = np.random.default_rng(2), 300
    values, missing = np.array(PLANTED[planted]), rng.random(n) < 0.1
    x = rng.choice(values, n) if len(values) else rng.normal(size=n)
    if planted != "whole":
        x[missing & (planted != "equal")] = np.nan
    frame = pd.DataFrame({"k": rng.integers(0, 2, n), "t": np.sort(rng.integers(0, 900, n)) / 4, "x": x})
    frame["y"] = rng.random(n)
    windows = 3, 40, 20.0, 60.0, Expanding()
    features = [each.over(*windows, min_periods=1) for each in USUAL]
    features = f.Features(numbered(features, "t"), by="k", on="t", closed="left")
    stream = f.FeatureStream.from_frame(features, frame)
    labels = pd.DataFrame({"k": [0, 1, 0, 1], "t": [225.0, 225.0, 300.0, 240.5]})
    expected = features.compute(frame, at=labels)
    if planted in ("ties", "equal", "far", "noise"):
        monkeypatch.setattr(type(stream._series[0]), "_run", None)
    for row, label in enumerate(labels.to_numpy()):
        for column, found in zip(features.columns, stream.query(int(label[0]), label[1]).values()):
            wanted = expected[column.name][row]
            if REGISTRY[column.feature.statistic].exact:
                assert found == wanted or (found != found and wanted != wanted), column
            else:
                assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), column


def test_rows_at_positions():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"t": rng.integers(0, 90, 300) / 10 + np.arange(300), "x": rng.integers(0, 99, 300)})
    features = f.Features([f.max("x").over(0.7, 5.0, 2), f.argmin("x").over(5.0)], on="t", closed="both")
    stream = features.stream()
    for number, row in enumerate(frame.to_dict("records"), 1):
        stream.push(row)
        if number % 60 == 0:
            labels = frame[:number][["t"]].max().to_frame().T
            expected = features.compute(frame[:number], at=labels).iloc[0, 1:]
            assert stream.query(labels["t"][0]) == expected.to_dict()
    assert len(stream._series[0].held[()].arrays[0]) < 300


def test_further_columns_order_rows_of_equal_time():
    frame = transactions(100)
    features = exact_features(order_by="number")
    stream = features.stream(dtypes=DTYPES)
    for row in rows_of(frame.sample(frac=1, random_state=1)):
        stream.push(row)
    check(stream, features, frame)


def test_infinite_values_are_missing_where_asked_for():
    frame = transactions(100)
    frame["price"] = frame["price"].mask(frame["price"].abs() > 1, np.sign(frame["price"]) * np.inf)
    finite = f.max("price").over("2D", 4, inf="missing").alias("finite_2D", "finite_4")
    columns = [f.max("price").over("2D", 4), finite, f.argmax("price").over("1D", inf="missing")]
    features = f.Features(columns, by="customer", on="time")
    stream = features.stream()
    for row in rows_of(frame):
        stream.push(row)
    check(stream, features, frame)
    check(pickle.loads(pickle.dumps(stream)), features, frame)
    check(f.FeatureStream.from_frame(features, frame), features, frame)


@pytest.mark.parametrize("kind", KINDS)
def test_streams_continue_frames_and_snapshots(kind):
    frame = transactions(300)
    features, half = exact_features("left"), frame[:200]
    streams = [f.FeatureStream.from_frame(features, KINDS[kind](half)), features.stream(dtypes=DTYPES)]
    for row in rows_of(half):
        streams[1].push(row)
    streams.append(pickle.loads(pickle.dumps(streams[0])))
    for stream in streams:
        check(stream, features, half)
        for row in rows_of(frame[200:]):
            stream.push(row)
        check(stream, features, frame)
    assert f.FeatureStream.restore(streams[2].snapshot()).snapshot() == streams[2].snapshot()


def test_keys_expire():
    features = f.Features([f.count("x").over(10, min_periods=0)], by="k", on="t")
    stream = features.stream(ttl=5.0)
    for key, time in [("a", 0.0), ("b", 1.0), ("a", 2.0), ("c", 6.5)]:
        stream.push({"k": key, "t": time, "x": 1.0})
    assert (len(stream), stream.expired) == (2, 1)
    assert [stream.query(key, 7)["x_count_10"] for key in "abc"] == [2, 0, 1]
    stream = f.FeatureStream.restore(stream.snapshot())
    stream.push({"k": "c", "t": 7, "x": None})
    assert (len(stream), stream.expired) == (1, 2)


def test_rows_later_than_lateness():
    features = f.Features([f.sum("x").over(10.0)], by="k", on="t")
    stream = features.stream(lateness=5.0, late="drop")
    for time, x in [(1.0, 1.0), (8.0, 2.0), (3.0, 4.0), (2.9, 8.0)]:
        stream.push({"k": 1, "t": time, "x": x})
    stream = f.FeatureStream.restore(stream.snapshot())
    assert (stream.query(1, 8.0), stream.dropped) == ({"x_sum_10_0": 7.0}, 1)
    stream = features.stream(lateness=5.0)
    stream.push({"k": 1, "t": 8.0, "x": 1.0})
    with pytest.raises(
        ValueError, match=r"t must be at most lateness, 5.0, before the newest row, 8.0; got 2.0"
    ):
        stream.push({"k": 2, "t": 2.0, "x": 1.0})
    assert len(stream) == 1
    stream = f.Features([f.sum("x").over("10s")], on="t").stream(lateness="5min")
    stream.push({"t": pd.Timestamp("2026-01-01 12:00"), "x": 1.0})
    message = "at most lateness, 5min, before the newest row, 2026-01-01T12:00:00; got 2026-01-01T11:54:00"
    with pytest.raises(ValueError, match=message):
        stream.push({"t": pd.Timestamp("2026-01-01 11:54"), "x": 1.0})
    with pytest.raises(ValueError, match="late must be one of"):
        features.stream(late="keep")


def test_bad_input_changes_nothing():
    features = f.Features([f.sum("x").over(2), f.max("n").over("2s")], by="k", on="t")
    stream = features.stream(dtypes={"n": "int64"})
    row = {"k": 1, "t": np.datetime64("2026-01-01T00:00:05"), "x": 1.0, "n": 3}
    stream.push(row)
    before = stream.snapshot()
    for change, message in [
        ({"t": 3.0}, "t must be"),
        ({"t": None}, "t must not be missing"),
        ({"t": pd.Timestamp("2026-01-02", tz="UTC")}, "t must be naive datetimes"),
        ({"k": []}, "unhashable"),
        ({"t": "2026-01-02"}, "t must be naive datetimes, like the times before; got 2026-01-02"),
        ({"x": "much"}, "column 'x': x must be a real number .*; for strings, pass dtypes={'x': object}"),
        ({"n": None}, "column 'n' of int64 must not be missing"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            stream.push(row | change)
    with pytest.raises(ValueError, match="row has no column 'n'"):
        stream.push({key: row[key] for key in "ktx"})
    with pytest.raises(ValueError, match=r"t must not be before the newest row of \{'k': 1\}"):
        stream.query(1, row["t"] - np.timedelta64(1, "s"))
    with pytest.raises(TypeError, match="query takes k, t; got"):
        stream.query(1)
    assert stream.snapshot() == before
    for damaged in (before[:-1], before[:200] + b"?" + before[201:], b""):
        with pytest.raises(SnapshotError):
            f.FeatureStream.restore(damaged)


@pytest.mark.parametrize(
    "condition", ["big", "not amount > 2", "category in ('rent',) or 1 < amount <= 4", "category != 'food'"]
)
def test_filters(condition):
    frame = transactions(60)
    frame["big"] = frame["amount"] > 4
    features = f.Features([f.count("price").where(condition).over(9)], by="customer", on="time")
    stream = features.stream()
    for row in frame.to_dict("records"):
        stream.push(row)
    check(stream, features, frame)
    with pytest.raises(
        ValueError, match=r"row has no column '(big|amount|category)'|where takes comparisons"
    ):
        stream.push({"customer": "a", "time": frame["time"][0], "price": 1.0})
    assert stream.query("nobody", frame["time"].max())["price_count_9"] == 0
    with pytest.raises(TypeError, match="where must be true or false; 'price' has dtype float64"):
        f.Features([f.count("price").where("price").over(9)], on="time").stream().push(rows_of(frame)[0])


def test_definitions_that_no_stream_can_serve():
    with pytest.raises(ValueError, match="needs on="):
        f.Features([f.sum("x").over(2)]).stream()
    with pytest.raises(ValueError, match=r"feature zscore\('x'\) over 2: at does not apply"):
        f.Features([f.zscore("x").over(2)], on="t").stream()
    with pytest.raises(TypeError, match="ttl must be a duration"):
        f.Features([f.sum("x").over(2)], on="t").stream(ttl=3)
    with pytest.raises(TypeError, match=r"max\('x'\): column 'x' of dtype object supports only nunique"):
        f.Features([f.nunique("x").over(2), f.max("x").over(2)], on="t").stream(dtypes={"x": object})
    with pytest.raises(TypeError, match="durations of the same kind"):
        f.Features([f.sum("x").over("2D")], on="t").stream(ttl=3.0)


def test_the_first_time_decides_where_no_window_is_a_width():
    frame = pd.DataFrame({"t": [3, 1, 2], "x": [1.0, 2.0, 4.0]})
    features = f.Features([f.sum("x").over(2)], on="t")
    for given in (frame, frame.assign(t=pd.to_datetime(frame["t"], unit="D"))):
        stream = features.stream()
        assert np.isnan(stream.query(5.5)["x_sum_2"])
        for row in given.to_dict("records"):
            stream.push(row)
        for each in (stream, f.FeatureStream.from_frame(features, given)):
            assert each.query(given["t"].max()) == {"x_sum_2": 5.0}
            assert f.FeatureStream.restore(each.snapshot()).snapshot() == each.snapshot()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_every_dtype(kind):
    n, rng = 40, np.random.default_rng(3)
    days = pd.date_range("2026-01-01", periods=n, freq="7h", tz="Europe/Berlin")
    frame = pd.DataFrame(
        {"k": pd.Categorical(rng.choice(["a", "b"], n)), "t": days, "b": rng.random(n) < 0.5}
    )
    frame["n"] = rng.integers(-(2**50), 2**50, n)
    frame["i"] = pd.array(np.where(rng.random(n) < 0.2, pd.NA, rng.integers(0, 99, n)), dtype="Int64")
    frame["d"] = pd.date_range("2020-01-01", periods=n).where(rng.random(n) < 0.8)
    frame["x"], frame["s"] = rng.normal(size=n).astype("f4"), pd.array(rng.choice(["u", "v"], n), "string")
    features = f.Features(
        [
            f.max("n").over(3, min_periods=1),
            f.max("i").over("2D"),
            f.any("b").over("2D"),
            *(getattr(f, name)("d").over("2D") for name in ("last", "max", "count")),
            f.min("x").over("1D"),
            *(getattr(f, name)("s").over("2D") for name in ("first", "mode", "nunique")),
        ],
        by="k",
        on="t",
    )
    labels = frame[["k", "t"]][-1:].assign(t=days[-1] + pd.Timedelta("1h"))
    stream = f.FeatureStream.from_frame(features, KINDS[kind](frame))
    expected = features.compute(frame, at=labels).iloc[0, 2:].to_dict()
    expected |= {name: pd.Timestamp(expected[name]) for name in ("d_last_2D", "d_max_2D")}
    assert stream.query(*labels.iloc[0]) == expected
    assert pickle.loads(pickle.dumps(stream)).query(*labels.iloc[0]) == expected
    with pytest.raises(TypeError, match="t must be aware datetimes"):
        stream.query("a", pd.Timestamp("2027-01-01"))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_windows_of_months_follow_the_clock_of_each_time(zone, rng):
    times = pd.to_datetime("2025-01-01") + pd.to_timedelta(
        np.sort(rng.integers(0, 400 * 86_400, 150)), unit="s"
    )
    times = times if zone is None else times.tz_localize("UTC").tz_convert(zone)
    frame = pd.DataFrame({"key": rng.integers(0, 2, 150), "time": times, "x": rng.integers(0, 9, 150) * 1.0})
    windows = ("1 month", "2 months", "31D", 5)
    features = f.Features(
        [f.median("x").over(*windows, min_periods=1), f.skew("x").over("1 month")],
        by="key",
        on="time",
        closed="left",
    )
    assert f.Features.from_json(features.to_json()).columns == features.columns
    table = features.compute(frame)
    name = features.columns[0].name
    assert name == "x_median_1_month"
    for _, rows in frame.groupby("key"):
        given = {"times": rows["time"], "closed": "left", "min_periods": 1}
        wanted = rollstat.rolling_median(rows["x"].to_numpy(), "1 month", **given)
        np.testing.assert_array_equal(table.loc[rows.index, name], wanted)
    in_polars = features.compute(pl.from_pandas(frame)).to_pandas()
    pd.testing.assert_frame_equal(in_polars, table, check_dtype=False)
    stream = features.stream()
    for i, row in enumerate(frame.to_dict("records")):
        found = list(stream.query(row["key"], row["time"]).values())
        np.testing.assert_array_equal(found[:-1], table.iloc[i, 3:-1].to_numpy(float))
        np.testing.assert_allclose(found[-1], table.iloc[i, -1], rtol=1e-12)
        stream.push(row)
    query = frame["key"].iloc[-1], times[-1] + pd.Timedelta("3D")
    held = type(stream).from_frame(features, frame), type(stream).restore(stream.snapshot())
    assert [each.query(*query) for each in held] == [stream.query(*query)] * 2
