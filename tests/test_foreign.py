"""Arrays of polars, Arrow and xarray: results of their kind, nulls, dtypes, and the namespace of polars."""

import datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import rollstat
import rollstat.polars
from rollstat.registry import REGISTRY

VALUES = [4, 1, None, 2, 7, None, 3]


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
    shorter = rollstat.rolling_median(data, 3, axis="time", mode="valid")
    assert shorter.dims == data.dims
    assert list(shorter.coords) == ["site"]


def test_namespace_of_series_and_expressions():
    frame = pl.DataFrame({"key": [1, 1, 2, 2], "x": [4.0, 1.0, None, 2.0], "t": [1, 2, 1, 5]})
    assert set(REGISTRY) <= set(dir(frame["x"].rollstat))
    x = pl.col("x").rollstat
    assert frame["x"].rollstat.median(2, min_periods=1).to_list() == [4.0, 2.5, 1.0, 2.0]
    assert frame.lazy().select(x.sum(2, min_periods=1).over("key")).collect()["x"].to_list() == [
        4,
        5,
        None,
        2,
    ]
    assert frame.select(x.max(2, times=pl.col("t")).over("key"))["x"].to_list() == [4, 4, None, 2]
    assert frame.select(x.cov(pl.col("t"), 2))["x"].to_list() == [None, -1.5, None, None]
    struct = frame.select(x.minmax(2, min_periods=1))["x"].struct.unnest()
    assert struct.columns == list(REGISTRY["minmax"].outputs)
    assert frame["x"].rollstat.minmax(2, min_periods=1).struct.unnest().equals(struct)
    with pytest.raises(AttributeError, match="no statistic 'medain'"):
        _ = x.medain
