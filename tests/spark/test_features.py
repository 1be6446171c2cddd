"""Sets of features on Spark have the results of those in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rollstat import Expanding
from rollstat import features as f
from tests.features.frames import to_arrow, transactions
from tests.spark.test_structured_streaming import write

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows():
    rows = transactions().drop(columns="category").reset_index(drop=True)
    return rows.assign(price=rows["price"].mask(rows["price"] > 1, np.inf))


def test_features_are_those_in_memory(spark, rows):
    features = f.Features(
        [
            f.max("amount").over("2D", 3, Expanding(), min_periods=1),
            f.quantile("price", [0.5, 0.9]).over(5, min_periods=2).by("shop"),
            f.max("price").over(Expanding()).by(),
            f.max("price").over("2D", "1 month", min_periods=1),
            f.max("price").over(4, min_periods=1, inf="missing"),
            f.last("amount").over(2, min_periods=1).by("number"),
            f.nunique("shop").where("amount > 2 and not price < 0").over("3D"),
        ],
        by="customer",
        on="time",
        order_by="number",
        closed="left",
    )
    expected = features.compute(rows)
    found = features.compute(spark.createDataFrame(to_arrow(rows)))
    assert found.columns == list(expected.columns)
    found = found.toArrow().to_pandas().sort_values("number").reset_index(drop=True)
    new = [column.name for column in features.columns]
    pd.testing.assert_frame_equal(found[new], expected[new], check_dtype=False)
    labels = transactions(30, seed=8)[["shop", "time", "customer", "number"]].reset_index(drop=True)
    expected = features.compute(rows, at=labels)
    found = features.compute(*(spark.createDataFrame(to_arrow(each)) for each in (rows, labels)))
    assert found.columns == list(expected.columns)
    found = found.toArrow().to_pandas().sort_values("number").reset_index(drop=True)
    pd.testing.assert_frame_equal(found[new], expected[new], check_dtype=False)


def test_what_spark_does_not_take(spark, rows):
    frame = spark.createDataFrame(to_arrow(rows[["shop", "amount", "number"]]))
    features = [f.sum("amount").over(2), f.max("amount").over(2, nan_policy="propagate")]
    with pytest.raises(ValueError, match="need on= or order_by="):
        f.Features(features[:1]).compute(frame)
    with pytest.raises(ValueError, match="threads does not apply to Spark frames; got 2"):
        f.Features(features[:1], order_by="number").compute(frame, threads=2)
    with pytest.raises(ValueError, match="split must be 'auto' or lie in"):
        f.Features(features[:1], by="shop", order_by="number").compute(frame, split=0)
    with pytest.raises(ValueError, match="split applies only to Spark frames; got 2"):
        f.Features(features[:1], order_by="number").compute(rows, split=2)
    with pytest.raises(ValueError, match="must have the same nan_policy and algorithm"):
        f.Features(features, order_by="number").compute(frame)


def test_a_stream_writes_the_features_of_a_batch(spark, rows, tmp_path):
    features = f.Features(
        [
            f.max("amount").over("2D", 3, min_periods=1),
            f.quantile("price", [0.5, 0.9]).over(5, min_periods=2).by(),
            f.nunique("shop").where("amount > 2 and not price < 0").over("3D"),
        ],
        by="customer",
        on="time",
        order_by="number",
        closed="left",
    )
    table = to_arrow(rows)
    table = table.set_column(2, "time", table["time"].cast(pa.timestamp("us", "UTC"))).sort_by("time")
    expected = features.compute(spark.createDataFrame(table)).toArrow().sort_by("number")
    start, arriving = table.slice(0, 20), table.slice(20)
    mixed = np.argsort(np.arange(len(arriving)) + np.random.default_rng(1).integers(0, 6, len(arriving)))
    (tmp_path / "in").mkdir()
    for number, part in enumerate(np.array_split(mixed, 3)):
        write(arriving.take(pa.array(part)), tmp_path, number)
    initial = spark.createDataFrame(start)
    stream = spark.readStream.schema(initial.schema).option("maxFilesPerTrigger", 1)
    stream = stream.parquet(f"{tmp_path}/in")
    writer = features.write_stream(stream, watermark="1 day", initial=initial)
    writer = writer.option("checkpointLocation", f"{tmp_path}/state").format("memory")
    query = writer.queryName("written").trigger(availableNow=True).start()
    query.awaitTermination()
    found = spark.table("written").toArrow().sort_by("number")
    assert found.column_names == expected.column_names
    assert len(found) > 20
    kept = pc.is_in(expected["number"], found["number"].combine_chunks())
    assert str(found.to_pylist()) == str(expected.filter(kept).to_pylist())
    with pytest.raises(ValueError, match="df must be a streaming frame"):
        features.write_stream(initial)
