"""The sort prefix never contradicts the order."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.spark.route import ORDER_BITS, _code, _prefix, hash_of, order_code

pytestmark = pytest.mark.spark

POWERS = np.concatenate(
    [2.0 ** np.arange(-1074, 1024, 7), 2.0 ** np.arange(-30, 70), 10.0 ** np.arange(0, 20)]
)
DOUBLES = np.concatenate([POWERS, np.nextafter(POWERS, 0), np.nextafter(POWERS, np.inf), [0.0, np.inf]])
WHOLE = np.unique(
    np.clip(
        np.concatenate([DOUBLES[np.abs(DOUBLES) < 2**62], -DOUBLES[DOUBLES < 2**62]]), -(2**62), 2**62
    ).astype(np.int64)
)
WHOLE = np.concatenate([[-(2**63)], WHOLE, [2**63 - 1]])
# From the year 1 to the year 9999.
MICROSECONDS = np.unique(
    np.concatenate(
        [
            np.linspace(-62135596800, 253402300799, 2001).astype(np.int64) * 1_000_000,
            946684800000000 + WHOLE[np.abs(WHOLE) < 2**55],
        ]
    )
)
COLUMNS = {
    "double": pa.array(np.concatenate([-DOUBLES, DOUBLES, [np.nan]])),
    "float": pa.array(np.unique(np.float32(WHOLE.astype(np.float64)))),
    "long": pa.array(WHOLE),
    "int": pa.array(WHOLE[np.abs(WHOLE) < 2**31].astype(np.int32)),
    "short": pa.array(np.arange(-(2**15), 2**15, dtype=np.int16)),
    "tiny": pa.array(np.arange(-128, 128, dtype=np.int8)),
    "date": pa.array(np.arange(-719162, 2932896, 997, dtype=np.int32)).view(pa.date32()),
    "timestamp": pa.array(MICROSECONDS).view(pa.timestamp("us", "UTC")),
    "timestamp_ntz": pa.array(MICROSECONDS).view(pa.timestamp("us")),
}


@pytest.mark.parametrize("ansi", [True, False])
@pytest.mark.parametrize("kind", COLUMNS)
def test_it_never_falls_along_the_order(spark, kind, ansi):
    values = pa.concat_arrays([COLUMNS[kind], pa.nulls(2, COLUMNS[kind].type)])
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        frame = spark.createDataFrame(pa.table({"x": values}))
        hashed = hash_of([F.lit("key")])
        hashes = {frame.select(hashed).first()[0]}  # no place is beyond its bits
        for down in (False, True):
            prefix = _prefix(hashed, order_code(F.col("x"), frame.schema["x"].dataType, down))
            by = F.col("x").desc() if down else F.col("x").asc()
            rows = frame.orderBy(by).select(prefix.alias("prefix")).toArrow()["prefix"].to_pylist()
            assert all(a <= b for a, b in itertools.pairwise(rows))
            assert {row >> ORDER_BITS for row in rows} == hashes
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_the_ends_of_a_type_are_no_error(spark):
    ends = [-(2**63), 2**63 - 1]
    frame = spark.createDataFrame([(end,) for end in ends], "x long")
    for text in ("x", "timestamp_micros(x)", "double(x)", "date_from_unix_date(int(x >> 32))"):
        column = F.expr(text)
        place = _code(column, frame.select(column).schema[0].dataType)
        low, high = (row[0] for row in frame.orderBy("x").select(place).collect())
        assert 0 <= low < 2**30 < 3 * 2**30 < high < 2**ORDER_BITS, text


def test_it_tells_usual_values_apart(spark):
    frame = spark.range(0, 4_000_000, 997)
    for text in (
        "id",
        "-id",
        "30000000 + id div 997",
        "1700000000L + 50 * (id div 997)",  # seconds
        "1700000000000L + 50000 * (id div 997)",  # milliseconds
        "1700000000000000000L + 68000000000 * (id div 997)",  # nanoseconds
        "id / 1000",
        "timestamp_seconds(1.7e9 + 2 * id)",
        "date_from_unix_date(int(id % 50000))",
    ):
        column = F.expr(text)
        data_type = frame.select(column).schema[0].dataType
        place = _code(column, data_type)
        row = frame.agg(
            F.count_distinct(column).alias("values"), F.count_distinct(place).alias("places")
        ).first()
        assert row.places == row.values, text


def test_orders_without_a_number_have_none():
    for data_type in (T.StringType(), T.BinaryType(), T.DecimalType(10, 2), T.BooleanType(), T.StructType()):
        assert order_code(F.lit(None), data_type, False) is None
