"""Functions of the values of each window: of one column, of several, and with several results."""

import pytest

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
