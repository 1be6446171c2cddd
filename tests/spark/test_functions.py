"""Functions of windows and regressions: of one column, of several, and with several results."""

import numpy as np
import pytest

import rollstat

pytest.importorskip("pyspark", reason="the tests are of Spark")

import rollstat.spark as rs


def product(x, y):
    return (x * y).sum()


def test_functions_of_columns(spark):
    rows = [(key, t, float(t * key), float(t) if t != 2 else None) for key in (1, 2) for t in range(4)]
    frame = spark.createDataFrame(rows, "key long, t long, x double, y double")
    power = 2.0
    aggs = [
        rs.apply(["x", "y"], product),
        rs.apply("x", lambda x: (x.sum() ** power, len(x))).alias("squared", "rows"),
        rs.aggregate("apply", "x", "y", function=product).alias("same"),
    ]
    found = rs.rolling(frame, partition_by="key", order_by="t", window=2, min_periods=1, aggs=aggs)
    assert found.columns[4:] == ["x_y_apply_product", "squared", "rows", "same"]
    wanted = [(0.0, 0.0, 1), (1.0, 1.0, 2), (1.0, 9.0, 2), (9.0, 25.0, 2)]
    of_first = found.where("key = 1").orderBy("t").collect()
    assert [(row.x_y_apply_product, row.squared, row.rows) for row in of_first] == wanted
    assert all(row.same == row.x_y_apply_product for row in found.collect())
    with pytest.raises(ValueError, match="statistic 'apply' takes at least 1 column"):
        rs.rolling(
            frame, order_by="t", window=2, aggs={"a": rs.Aggregate("apply", (), {"function": product})}
        )


def test_regressions_on_several_columns(spark):
    rng = np.random.default_rng(0)
    rows = [(key, t, *map(float, rng.normal(size=3))) for key in (1, 2) for t in range(12)]
    frame = spark.createDataFrame(rows, "key long, t long, r double, market double, size double")
    fit = rs.regression("r", ["market", "size"])
    found = rs.rolling(frame, partition_by="key", order_by="t", window=8, aggs=[fit])
    ends = ("intercept", "market", "size", "intercept_error", "market_error", "size_error")
    ends += ("determination", "residual", "prediction")
    assert found.columns[5:] == [f"r_market_size_regression_{end}" for end in ends]
    columns = [[row[i] for row in rows[12:]] for i in (2, 3, 4)]
    wanted = rollstat.rolling_regression(columns[0], (columns[1], columns[2]), 8)
    of_second = found.where("key = 2").orderBy("t").collect()
    for end, values in (("size", wanted.coefficients[2]), ("prediction", wanted.prediction)):
        ours = [row[f"r_market_size_regression_{end}"] for row in of_second]
        np.testing.assert_allclose(np.array(ours, float), values, rtol=1e-9)


@pytest.mark.parametrize("window", [2, rollstat.Expanding()])
def test_infinite_values_can_be_missing(spark, window):
    values = [1.0, float("inf"), 4.0, float("-inf"), float("-inf"), 3.0]
    frame = spark.createDataFrame(list(enumerate(values)), "t long, x double")
    aggs = [rs.sum("x"), rs.median("x"), rs.max("x")]
    given = {"order_by": "t", "window": window, "min_periods": 1, "aggs": aggs, "split": 1}
    for inf in ("value", "missing"):
        found = rs.rolling(frame, **given, inf=inf).orderBy("t").collect()
        for name in ("sum", "median", "max"):
            wanted = getattr(rollstat, f"rolling_{name}")(values, window, min_periods=1, inf=inf)
            ours = np.array([row[f"x_{name}"] for row in found], float)
            np.testing.assert_array_equal(ours, wanted)
    with pytest.raises(ValueError, match="inf must be one of"):
        rs.rolling(frame, **given, inf="nan")
    largest = rs.rolling_udf("max", inf="missing")
    assert frame.select(largest("x")).first()[0] == 4.0
