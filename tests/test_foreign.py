"""Arrays of polars, Arrow and xarray: results of their kind, nulls, dtypes, and the namespace of polars."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import rollstat
import rollstat.polars
from rollstat import operators

VALUES = [4, 1, None, 2, 7, None, 3]


def listed(series):
    return series.to_list() if isinstance(series, pl.Series) else series.to_pylist()


def test_polars_series_keep_kind_dtype_and_nulls():
    for dtype in (pl.Int64, pl.Float64, pl.UInt8):
        series = pl.Series("x", VALUES, dtype)
        result = rollstat.rolling_max(series, 2, min_periods=1)
        assert (result.name, result.dtype) == ("x", dtype)
        assert result.to_list() == [4, 4, 1, 2, 7, 7, 3]
        assert rollstat.rolling_max(arr=series, window=2).to_list() == [None, 4, None, None, 7, None, None]
        assert rollstat.rolling_median(series, 2).dtype == pl.Float64
    low, high = rollstat.rolling_minmax(pl.Series("x", VALUES), 2, min_periods=1)
    assert low.to_list() == [4, 1, 1, 2, 2, 7, 3]
    assert high.dtype == pl.Int64
    quarters = rollstat.rolling_quantile(pl.Series([1.0, 2.0]), 2, [0.25, 0.75])
    assert [each.to_list() for each in quarters] == [[None, 1.25], [None, 1.75]]
    assert rollstat.rolling_min(pl.Series([None, None], dtype=pl.Float64), 1).to_list() == [None, None]


def test_times_with_zones():
    hours = [datetime.datetime(2024, 1, 1, hour) for hour in (5, 3, 4)]
    series = pl.Series("t", hours).dt.replace_time_zone("Europe/Berlin")
    assert rollstat.rolling_min(series, 2).to_list() == [None, series[1], series[1]]
    array = pa.array(hours, pa.timestamp("us", "Europe/Berlin"))
    result = rollstat.rolling_min(array, 2)
    assert result.type == array.type
    assert result.to_pylist() == [None, array[1].as_py(), array[1].as_py()]


def test_distances_of_dates():
    days = [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 4), datetime.date(2024, 1, 6)]
    for series in (pl.Series(days), pa.array(days), pa.chunked_array([days])):
        ptp = rollstat.rolling_ptp(series, 2)
        assert listed(ptp) == [None, None, None, datetime.timedelta(days=2)]
        assert listed(rollstat.rolling_median(series, 2, min_periods=1))[2:] == [
            days[2],
            datetime.date(2024, 1, 5),
        ]


def test_series_of_arrays_raise():
    with pytest.raises(TypeError, match="one value in each row; got one of Array"):
        rollstat.rolling_max(pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), 2)


def test_arrow_arrays_keep_kind_and_nulls():
    array = pa.array(VALUES)
    assert rollstat.rolling_max(array, 2, min_periods=1).equals(pa.array([4, 4, 1, 2, 7, 7, 3]))
    chunked = rollstat.rolling_max(pa.chunked_array([VALUES[:3], VALUES[3:]]), 2, min_periods=1)
    assert isinstance(chunked, pa.ChunkedArray)
    assert chunked.to_pylist() == [4, 4, 1, 2, 7, 7, 3]
    assert rollstat.rolling_mean(pa.array([1.0, 3.0]), 2).to_pylist() == [None, 2.0]
    assert rollstat.rolling_max(pa.array([None, None], pa.float64()), 1).null_count == 2


def test_xarray_keeps_coordinates(rng):
    data = xr.DataArray(
        rng.random((5, 2)),
        {"time": np.arange(5), "site": ["A", "B"]},
        ["time", "site"],
        "speed",
        {"unit": "m/s"},
    )
    result = rollstat.rolling_median(data, 3, axis="time")
    np.testing.assert_array_equal(result.values, rollstat.rolling_median(data.values, 3, axis=0))
    assert result.coords.equals(data.coords)
    assert (result.name, result.attrs) == (data.name, data.attrs)
    shorter = rollstat.rolling_median(data, (np.array([0]), np.array([2])), axis="time")  # rows are unknown
    assert shorter.dims == data.dims
    assert list(shorter.coords) == ["site"]


def test_xarray_keeps_the_coordinates_of_the_rows_of_results(rng):
    data = xr.DataArray(
        rng.random((7, 2)),
        {
            "time": np.arange(7) * 10,
            "site": ["A", "B"],
            "day": ("time", list("abcdefg")),
            "height": (("time", "site"), rng.random((7, 2))),
        },
        ["time", "site"],
    )
    for options, rows in (
        ({"mode": "valid"}, [2, 3, 4, 5, 6]),
        ({"mode": "valid", "center": True}, [1, 2, 3, 4, 5]),
        ({"step": 3}, [0, 3, 6]),
        ({"step": 3, "mode": "valid"}, [3, 6]),
        ({"step": 2, "segments": [0, 3, 7]}, [0, 2, 3, 5]),
        ({"mode": "valid", "segments": [0, 3, 7]}, [2, 5, 6]),
    ):
        result = rollstat.rolling_sum(data, 3, axis="time", **options)
        values = rollstat.rolling_sum(data.values, 3, axis=0, **options)
        xr.testing.assert_identical(result, data.isel(time=rows).copy(data=values))
    strided = data.rolling(time=3).construct("window", stride=3).mean("window", skipna=False)
    xr.testing.assert_allclose(rollstat.rolling_mean(data, 3, axis="time", step=3), strided)
    ahead = rollstat.rolling_kth(data.T, 1, rollstat.Forward(3), axis="time", mode="valid")
    assert list(ahead["time"]) == [0, 10, 20, 30, 40]
    at = rollstat.rolling_sum(data, 25, axis="time", times=data.time, at=np.arange(7)[::-1] * 9)
    assert set(at.coords) == {"site"}  # the rows are not those of the data
    wanted = rollstat.rolling_sum(data.values, 25, axis=0, times=np.arange(7) * 10, at=np.arange(7)[::-1] * 9)
    np.testing.assert_array_equal(at.values, wanted)
    low, high = rollstat.rolling_quantile(data, 3, [0.25, 0.75], axis=0, step=4)
    assert list(low["time"]) == list(high["time"]) == [0, 40]


def test_xarray_boxes_by_names(rng):
    data = xr.DataArray(
        rng.random((2, 6, 5)),
        {"band": ["r", "g"], "y": np.arange(6) * 2.0, "x": np.arange(5)},
        ["band", "y", "x"],
    )
    for axis in (("y", "x"), ("y", 2), (1, -1)):
        result = rollstat.rolling_min(data, (3, 2), axis=axis)
        xr.testing.assert_identical(
            result, data.copy(data=rollstat.rolling_min(data.values, (3, 2), axis=(1, 2)))
        )
    for center, y, x in ((False, slice(2, None), slice(1, None)), (True, slice(1, -1), slice(1, None))):
        options = {"mode": "valid", "center": center}
        result = rollstat.rolling_median(data, (3, 2), axis=("y", "x"), **options)
        values = rollstat.rolling_median(data.values, (3, 2), axis=(1, 2), **options)
        xr.testing.assert_identical(result, data.isel(y=y, x=x).copy(data=values))
    with pytest.raises(ValueError, match="'z' not found"):
        rollstat.rolling_min(data, (3, 2), axis=("y", "z"))


@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32, pl.Int64, pa.float64(), pa.int64()], ids=str)
def test_missing_results_are_null_whatever_the_dtype(kind):
    series = pa.array(VALUES, kind) if isinstance(kind, pa.DataType) else pl.Series("x", VALUES, kind)
    for function in (rollstat.rolling_argmin, rollstat.rolling_argmax):
        for relative_to in ("data", "oldest", "newest"):
            result = function(series, 2, relative_to=relative_to)
            assert [each is not None for each in listed(result)] == [False, True] + [False, False, True] + [
                False
            ] * 2
    assert listed(rollstat.rolling_argmin(series, 2, min_periods=1)) == [0, 1, 1, 3, 3, 4, 6]
    assert listed(rollstat.rolling_argmin(series, 2, fill_value=-1)) == [-1, 1, -1, -1, 3, -1, -1]
    assert listed(rollstat.rolling_min(series, 2, fill_value=0)) == [0, 1, 0, 0, 2, 0, 0]
    first, last = rollstat.rolling_argkth(series, [1, -1], 2)
    assert (listed(first), listed(last)) == (
        [None, 1, None, None, 3, None, None],
        [None, 0, None, None, 4, None, None],
    )
    assert listed(rollstat.rolling_argminmax(series, 1)[1]) == [0, 1, None, 3, 4, None, 6]
    cleaned, outlier = rollstat.rolling_hampel(series, 1)
    assert listed(cleaned) == VALUES
    assert listed(outlier) == [None if value is None else False for value in VALUES]
    assert np.isnan(listed(rollstat.rolling_corr(series, np.ones(7), 2, min_periods=1))).all()


def test_series_without_values_keep_their_dtype():
    for dtype in (pl.Int8, pl.Boolean, pl.Date, pl.Float32):
        assert rollstat.rolling_max(pl.Series([None], dtype=dtype), 1).dtype == dtype
    assert rollstat.rolling_max(pl.Series([None]), 1).dtype == pl.Float64
    for kind in (pa.int8(), pa.bool_(), pa.date32(), pa.timestamp("us", "UTC")):
        for values in ([None], []):
            assert rollstat.rolling_max(pa.array(values, kind), 1).type == kind
        assert rollstat.rolling_max(pa.chunked_array([], kind), 1).type == kind
    assert rollstat.rolling_max(pa.array([None]), 1).type == pa.float64()


def test_nulls_in_a_second_series():
    flags = [True, None, True, True, False, True, True]
    expected = rollstat.rolling_cov(np.array([4.0, 1, np.nan, 2, 7, np.nan, 3]), np.array(flags, float), 2)
    for series, other in ((pl.Series(VALUES), pl.Series(flags)), (pa.array(VALUES), pa.array(flags))):
        for result in (
            rollstat.rolling_cov(series, other, 2),
            rollstat.rolling_cov(series, other=other, window=2),
        ):
            assert listed(result) == [None if np.isnan(each) else each for each in expected]


def test_tables_raise_with_what_works():
    columns = {"a": [1, 2]}
    for frame in (pl.DataFrame(columns), pl.LazyFrame(columns)):
        with pytest.raises(TypeError, match=r"polars frame.* pl\.col\(column\)\.rollstat"):
            rollstat.rolling_min(frame, 2)
    for table in (pa.table(columns), pa.record_batch(columns)):
        with pytest.raises(TypeError, match=r"Arrow table.* table\[column\]"):
            rollstat.rolling_min(table, 2)


def test_a_second_xarray_has_its_dimensions_by_name(rng):
    data = xr.DataArray(rng.random((4, 4)), {"time": np.arange(4), "site": list("abcd")}, ["time", "site"])
    other = data.copy(data=rng.random((4, 4)))
    expected = data.copy(data=rollstat.rolling_cov(data.values, other.values, 2, axis=0))
    xr.testing.assert_identical(rollstat.rolling_cov(data, other.T, 2, axis="time"), expected)
    xr.testing.assert_identical(rollstat.rolling_cov(data, other=other.T, window=2, axis="time"), expected)
    one = other.sel(site="c", drop=True)
    repeated = np.repeat(one.values[:, None], 4, axis=1)
    np.testing.assert_array_equal(
        rollstat.rolling_cov(data, one, 2, axis="time"),
        rollstat.rolling_cov(data.values, repeated, 2, axis=0),
    )
    with pytest.raises(ValueError, match="cannot align"):
        rollstat.rolling_cov(data, other.assign_coords(time=np.arange(1, 5)), 2, axis="time")
    with pytest.raises(ValueError, match="other must have dimensions of arr"):
        rollstat.rolling_cov(one, other, 2, axis="time")


def test_xarray_recipes_over_dask(rng):
    data = xr.DataArray(rng.random((30, 4)), dims=["time", "site"])
    expected = rollstat.rolling_median(data, 3, axis="time")
    for given, options in (
        (data, {}),
        (data.chunk(site=2), {"dask": "parallelized", "output_dtypes": [float]}),
    ):
        result = xr.apply_ufunc(
            rollstat.rolling_median,
            given,
            input_core_dims=[["time"]],
            output_core_dims=[["time"]],
            kwargs={"window": 3},
            **options,
        )
        assert (result.chunks is None) == (not options)
        xr.testing.assert_identical(result.transpose(*data.dims).compute(), expected)


@pytest.mark.parametrize("make", [pl.Series, pa.array])
def test_undefined_results_are_not_missing(make):
    series = make([np.inf, -np.inf, 1.0, 2.0])
    for options, first in (({}, None), ({"fill_value": 0}, 0.0)):
        found = listed(rollstat.rolling_sum(series, 2, **options))
        assert (found[0], found[2:]) == (first, [-np.inf, 3.0])
        assert np.isnan(found[1])
    found = listed(rollstat.rolling_corr(make([1.0, 1.0, None, 2.0, 3.0]), np.arange(5.0), 2))
    assert [value is None for value in found] == [True, False, True, True, False]
    assert np.isnan(found[1])


ZONE = datetime.timezone(datetime.timedelta(hours=2))
AWARE = [datetime.datetime(2024, 1, 1, hour, tzinfo=ZONE) for hour in (3, 4, 6)]
NAIVE = [datetime.datetime(2024, 1, 1, hour) for hour in (1, 2, 4)]
STREAMS = [
    lambda: rollstat.RollingSum("61min"),
    lambda: rollstat.RollingMedian("61min"),
    lambda: rollstat.TimeAggregate(operators.Sum(), "61min"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "times",
    [
        AWARE,
        NAIVE,
        [each - AWARE[0] for each in AWARE],
        np.array(AWARE, object),
        list(map(pd.Timestamp, AWARE)),
        pd.Series(AWARE),
        pd.Series(AWARE).astype("timestamp[us, tz=UTC][pyarrow]"),
        pl.Series(AWARE),
        pa.array(AWARE),
        pa.chunked_array([AWARE]),
    ],
)
def test_times_of_every_kind(times):
    ones = np.ones(3)
    np.testing.assert_array_equal(rollstat.rolling_sum(ones, "61min", times=times), [1, 2, 1])
    for make, wanted in zip(STREAMS, ([1, 2, 1], [1, 1, 1], [1, 2, 1])):
        np.testing.assert_array_equal(make().extend(ones, times=times), wanted)
        stream = make()
        if isinstance(times, list):
            assert [stream.push(1.0, time) for time in times] == wanted


@pytest.mark.filterwarnings("error")
def test_times_of_two_kinds_raise():
    mixed = [*AWARE[:2], NAIVE[2]]
    with pytest.raises(TypeError, match="times must be of one kind; got aware datetimes and naive datetimes"):
        rollstat.rolling_sum(np.ones(3), "1h", times=mixed)
    for make in STREAMS:
        with pytest.raises(TypeError, match="times must be of one kind"):
            make().extend(np.ones(3), times=mixed)
        stream = make()
        stream.push(1.0, AWARE[0])
        for time in (NAIVE[1], np.datetime64(NAIVE[1]), datetime.timedelta(1)):
            with pytest.raises(TypeError, match="t must be aware datetimes, like the times before; got"):
                stream.push(1.0, time)
        with pytest.raises(TypeError, match="times must be aware datetimes, like the times before"):
            stream.copy().extend([1.0], times=NAIVE[1:2])
        assert len(stream) == 1
        stream.reset()
        with pytest.raises(TypeError, match="x must"):
            stream.push("x", AWARE[0])
        stream.push(1.0, NAIVE[0])
    greedy = rollstat.GreedyAggregate(operators.Sum(), times="M8[ns]")
    greedy.extend([1.0, 2.0, 3.0], times=AWARE)
    assert greedy.move(AWARE[0], AWARE[2]) == 5
    with pytest.raises(TypeError, match="end must be aware datetimes"):
        greedy.move(AWARE[0], NAIVE[2])


def test_times_that_are_no_instants_raise():
    for times in (pl.Series([datetime.time(1)] * 3), [datetime.time(1)] * 3):
        with pytest.raises(TypeError, match=r"times must be datetimes, .*; got datetime.time"):
            rollstat.rolling_sum(np.ones(3), "1h", times=times)
    with pytest.raises(ValueError, match="times must not be missing; row 1 is None"):
        rollstat.rolling_sum(np.ones(2), "1h", times=[NAIVE[0], None])
    with pytest.raises(ValueError, match="times must fit in 64 bits"):
        rollstat.rolling_sum(
            np.ones(2), "1h", times=[pd.Timestamp(0, unit="ns").as_unit("ns"), datetime.datetime(9999, 1, 1)]
        )


@pytest.mark.filterwarnings("error")
def test_values_of_streams_with_a_zone_are_in_utc():
    stream = rollstat.RollingMax(2, min_periods=1, dtype="M8[us]")
    assert stream.push(AWARE[0]) == stream.push(pd.Timestamp(AWARE[0])) == np.datetime64(NAIVE[0])


def test_xarray_has_positions_of_arrays():
    data = xr.DataArray([3.0, 1.0, np.nan, 2.0], dims="x")
    assert rollstat.rolling_argmin(data, 2).values.tolist() == [-1, 1, -1, -1]


MINUTES = pd.date_range("2024-01-01", periods=6, freq="2min", name="t")
READINGS = pd.Series([4.0, 1.0, 3.0, 2.0, np.nan, 5.0], MINUTES, name="x")


@pytest.mark.parametrize("options", [{}, {"mode": "valid"}, {"step": 2}, {"mode": "valid", "step": 2}])
def test_series_of_pandas_keep_index_and_name(options):
    wanted = rollstat.rolling_median(READINGS.to_numpy(), 3, min_periods=1, **options)
    found = rollstat.rolling_median(READINGS, 3, min_periods=1, **options)
    rows = slice(2 * ("mode" in options), None, options.get("step", 1))
    pd.testing.assert_series_equal(found, pd.Series(wanted, MINUTES[rows], name="x"), check_freq=False)
    low, high = rollstat.rolling_minmax(arr=READINGS, window=2)
    assert (low.index is MINUTES, high.name) == (True, "x")
    assert [each.name for each in rollstat.rolling_quantile(READINGS, 2, [0.25, 0.5])] == ["x", "x"]
    out = np.empty(6)
    assert rollstat.rolling_median(READINGS, 3, out=out) is out


def test_a_datetime_index_gives_the_times():
    wanted = READINGS.rolling("5min").median()
    for index in (MINUTES, MINUTES.tz_localize("Europe/Berlin"), MINUTES - MINUTES[0]):
        series = READINGS.set_axis(index)
        for window in ("5min", pd.Timedelta("5min"), datetime.timedelta(minutes=5)):
            found = rollstat.rolling_median(series, window)
            pd.testing.assert_series_equal(found, wanted.set_axis(index), check_freq=False)
    forward = rollstat.rolling_count(READINGS, rollstat.Forward("5min"))
    assert forward.tolist() == [3, 3, 2, 2, 1, 1]
    at = pd.to_datetime(["2024-01-01 00:03", "2024-01-01 00:01"])
    found = rollstat.rolling_sum(READINGS, "5min", at=at)
    assert (found.index.equals(at), found.tolist()) == (True, [5.0, 4.0])
    decayed = rollstat.ewm_mean(READINGS, halflife="4min")
    wanted = READINGS.ewm(halflife="4min", times=MINUTES).mean()
    np.testing.assert_allclose(decayed[READINGS.notna()], wanted[READINGS.notna()])
    with pytest.raises(ValueError, match="needs times="):
        rollstat.rolling_sum(READINGS.reset_index(drop=True), "5min")
    assert rollstat.explain(rollstat.rolling_median, READINGS, "5min").windows == "time"


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "int8[pyarrow]"])
def test_nullable_series_keep_dtype_and_nulls(dtype):
    series = pd.Series([4, 1, None, 2], dtype="Int64").astype(dtype)
    found = rollstat.rolling_max(series, 2)
    assert (found.dtype, found.isna().tolist(), found[1]) == (series.dtype, [True, False, True, True], 4)
    assert rollstat.rolling_max(series.fillna(0).astype("int8"), 2, mode="valid").dtype == np.int8


def test_columns_of_a_frame_are_series():
    frame = pd.DataFrame({"a": READINGS, "b": np.arange(6)})
    found = rollstat.rolling_max(frame, 2, fill_value=0)
    assert (found.dtypes.tolist(), found.index.equals(MINUTES)) == ([np.float64, np.int64], True)
    pd.testing.assert_series_equal(found["b"], rollstat.rolling_max(frame["b"], 2, fill_value=0))
    low, high = rollstat.rolling_minmax(frame, "5min", axis=0)
    assert (low.columns.tolist(), high["b"].tolist()) == (["a", "b"], [0, 1, 2, 3, 4, 5])
    assert rollstat.rolling_max(frame, 2, axis=1).shape == (6, 2)
    twice = rollstat.rolling_max(frame.set_axis(["a", "a"], axis=1), 2)
    assert twice.columns.tolist() == ["a", "a"]
    assert rollstat.explain(rollstat.rolling_max, frame, 2).rows == 6


def test_a_second_series_must_have_the_index_of_the_first():
    pd.testing.assert_series_equal(
        rollstat.rolling_cov(READINGS, READINGS, 3), READINGS.rolling(3).var(), check_freq=False
    )
    with pytest.raises(ValueError, match="other must have the index of arr"):
        rollstat.rolling_cov(READINGS, READINGS[::-1], 3)


def test_other_elements_of_series():
    assert rollstat.rolling_mode(pd.Series(["a", "b", "a"]), 3).tolist()[2] == "a"
    sets = rollstat.rolling_aggregate(pd.Series([{1}, {2}, {3}], [7, 8, 9]), set.union, 2)
    assert (sets.index.tolist(), sets.tolist()) == ([7, 8, 9], [None, {1, 2}, {2, 3}])


def test_times_may_name_a_coordinate():
    array = xr.DataArray(READINGS.to_numpy(), {"t": MINUTES}, ("t",))
    found = rollstat.rolling_median(array, "5min", times="t")
    assert found.values.tolist() == READINGS.rolling("5min").median().tolist()
    with pytest.raises(ValueError, match=r"name a coordinate, one of 't'; got 'time'"):
        rollstat.rolling_median(array, "5min", times="time")


@pytest.mark.parametrize(("dtype", "way_out"), [(pl.Decimal(10, 1), "Float64"), (pl.Time, "Duration")])
def test_dtypes_of_polars_without_numbers_are_named(dtype, way_out):
    with pytest.raises(TypeError, match=rf"of {dtype.base_type().__name__}.*: cast it, .*{way_out}\)"):
        rollstat.rolling_median(pl.Series([None, None], dtype=dtype), 2)
