"""The namespace of polars: statistics of series and of expressions."""

import numpy as np
import polars as pl
import pytest

import rollstat
import rollstat.polars
from rollstat.registry import REGISTRY


def test_namespace_of_series_and_expressions():
    frame = pl.DataFrame({"key": [1, 1, 2, 2], "x": [4.0, 1.0, None, 2.0], "t": [1, 2, 1, 5]})
    assert set(REGISTRY.methods) <= set(dir(frame["x"].rollstat))
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
    with pytest.raises(AttributeError, match="no 'aggregate'; use 'combine' for operators"):
        _ = x.aggregate


def test_expressions_in_any_place():
    frame = pl.DataFrame(
        {"key": [1, 1, 1, 2, 2], "x": [4.0, 1, 5, 2, 7], "t": [1, 2, 4, 1, 5], "low": [0, 0, 1, 2, 3]}
    )
    x = pl.col("x").rollstat
    expected = rollstat.rolling_linear_fit(frame["x"].to_numpy(), 2, frame["t"].to_numpy())
    for fit in (x.linear_fit(2, pl.col("t")), x.linear_fit(window=2, x=pl.col("t"))):
        found = frame.select(fit)["x"].struct.unnest()
        np.testing.assert_allclose(found.to_numpy().T, expected)
    by_name = frame.select(x.linear_fit(2, "t"))["x"].struct.unnest()
    np.testing.assert_allclose(by_name.to_numpy().T, expected)
    assert frame.select(x.sum(2, times="t").over("key"))["x"].to_list() == [4, 5, 5, 2, 7]
    bounds = pl.col("low"), pl.int_range(1, pl.len() + 1)
    assert frame.select(x.max(bounds))["x"].to_list() == [4, 4, 5, 5, 7]
    total = x.combine(rollstat.operators.Sum(), 2, min_periods=1)
    assert frame.select(total)["x"].to_list() == [4, 5, 6, 7, 9]
    several = frame.select(pl.col("x", "t").rollstat.sum(2, min_periods=1).over("key"))
    assert several.to_dict(as_series=False) == {"x": [4, 5, 6, 2, 9], "t": [1, 3, 6, 1, 6]}


def test_exponential_weights():
    frame = pl.DataFrame({"key": [1, 1, 2, 2], "x": [4.0, None, 3.0, 2.0], "t": [1, 2, 3, 5]})
    assert frame["x"].rollstat.ewm_mean(alpha=0.5).round(3).to_list() == [4.0, 4.0, 3.2, 2.462]
    by_key = pl.col("x").rollstat.ewm_mean(alpha=0.5).over("key")
    assert frame.select(by_key)["x"].round(3).to_list() == [4.0, 4.0, 3.0, 2.333]
    times = pl.from_epoch("t", "d")
    for given in ({"halflife": 1, "times": "t"}, {"halflife": "1D", "times": times}):
        in_time = frame.select(pl.col("x").rollstat.ewm_mean(**given))["x"]
        assert in_time.round(3).to_list() == [4.0, 4.0, 3.2, 2.286]


def test_windows_at_other_times():
    frame = pl.DataFrame({"x": [4, 1, None, 2], "t": [1, 2, 4, 5], "asked": [5, 0, 3, 2]})
    x = pl.col("x").rollstat
    assert frame.select(x.sum(2, times="t", at="asked"))["x"].to_list() == [2, None, 1, 5]
    assert frame["x"].rollstat.sum(2, times=frame["t"], at=[3, 6]).to_list() == [1, 2]
    assert frame.select(x.max(2, times="t", at=pl.col("asked").head(2)))["x"].to_list() == [2, None]
    with pytest.raises(ValueError, match="at must be an expression"):
        x.sum(2, times="t", at=[3, 6])
    assert frame.select(x.sum(pl.col("t")))["x"].to_list() == [4, 5, 5, 7]  # a number of rows for each
    assert frame.select(x.sum(rollstat.Around(1, 1)))["x"].to_list() == [None, None, None, None]
    days = frame.select(pl.col("x"), pl.datetime(2024, 1, "t", time_zone="UTC").alias("t"))
    for window in (rollstat.Forward("1mo"), rollstat.Around("0s", "40D")):
        assert days.select(x.sum(window, times="t"))["x"].to_list() == [7, 3, 2, 2]
    grid = pl.datetime_range(pl.datetime(2024, 1, 2), pl.datetime(2024, 1, 6), "2d", eager=True)
    found = days["x"].rollstat.last(2, times=days["t"], at=grid.dt.replace_time_zone("UTC"), min_periods=1)
    assert found.to_list() == [1, 1, 2]


def test_groups_without_values_keep_the_dtype_of_the_others():
    frame = pl.DataFrame({"key": [1, 1, 2, 2], "x": [4, 1, None, None]})
    expression = pl.col("x").rollstat.max(2, min_periods=1)
    for result in (
        frame.select(expression.over("key")),
        frame.lazy().select(expression.over("key")).collect(),
    ):
        assert (result["x"].dtype, result["x"].to_list()) == (pl.Int64, [4, 4, None, None])
    grouped = frame.group_by("key", maintain_order=True).agg(expression)
    assert grouped["x"].to_list() == [[4, 4], [None, None]]


def test_expressions_raise_where_they_are_written():
    x = pl.col("x").rollstat
    for call, error, text in (
        (lambda: x.max(2, min_period=1), TypeError, "unexpected keyword argument 'min_period'"),
        (lambda: x.max(2, min_periods=3), ValueError, "min_periods must be at most the window"),
        (lambda: x.quantile(2), TypeError, "missing a required argument: 'q'"),
        (lambda: x.max("5 parsecs", times=pl.col("t")), ValueError, "window must be a duration"),
        (lambda: x.max("5min"), ValueError, "needs times="),
        (lambda: x.max(2, axis=1), ValueError, "axis must"),
        (lambda: x.kth(9, 5), ValueError, "k must lie in 1..5"),
        (lambda: x.max(2, segments=[0, 3, 6]), ValueError, "segments must be an expression, or return_dtype"),
        (
            lambda: x.max((np.arange(3), np.arange(1, 4))),
            ValueError,
            "window must be an expression, or return",
        ),
        (lambda: x.cov(np.ones(3), 2), ValueError, "other must be an expression, or return_dtype"),
        (lambda: x.max(2, out=np.empty(3)), ValueError, "out does not apply to polars"),
        (
            lambda: pl.Series([1.0]).rollstat.max(1, out=np.empty(1)),
            ValueError,
            "out does not apply to polars",
        ),
    ):
        with pytest.raises(error, match=text):
            call()
    frame = pl.DataFrame({"x": [1, 2, 3]})
    segments = x.max(1, segments=[0, 2, 3], return_dtype=pl.Int64)
    assert frame.select(segments)["x"].to_list() == [1, 2, 3]


def test_functions_of_the_fields_of_a_struct():
    frame = pl.DataFrame({"key": [1, 1, 1, 2, 2], "x": [1.0, None, 3.0, 4.0, 5.0], "y": [1, 2, 3, 4, 5]})
    both = pl.struct("x", "y").rollstat.apply(lambda x, y: (x * y).sum(), 2, min_periods=1)
    assert frame.select(both.over("key"))["x"].to_list() == [1.0, 1.0, 9.0, 16.0, 41.0]
    ends = frame["y"].rollstat.apply(lambda y: (y[0], y[-1]), 2)
    assert ends.struct.unnest().rows() == [(None, None), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert frame["x"].rollstat.apply(len, 2, min_periods=0).to_list() == [1, 1, 1, 2, 2]


def test_regressions_name_their_coefficients():
    frame = pl.DataFrame({"key": [1] * 5 + [2] * 5, "r": np.arange(10.0) ** 2, "size": np.arange(10.0)})
    fit = pl.col("r").rollstat.regression(["size"], 4, intercept=False, weights=pl.col("size"))
    fields = ["size", "size_error", "determination", "residual", "prediction"]
    found = frame.select(fit.over("key").struct.unnest())
    assert found.columns == fields
    of_one = frame["r"][5:].rollstat.regression(
        frame["size"][5:], 4, intercept=False, weights=frame["size"][5:]
    )
    assert of_one.struct.unnest().equals(found[5:])
