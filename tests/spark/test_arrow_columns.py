"""Conversions between Arrow and NumPy keep every digit."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import types as T

from rollstat.spark.arrow_columns import kind_of, result_type, to_arrow, to_masked

UTC = datetime.UTC
COLUMNS = [
    (T.ByteType(), pa.array([-128, None, 127], pa.int8())),
    (T.ShortType(), pa.array([-(2**15), None, 2**15 - 1], pa.int16())),
    (T.IntegerType(), pa.array([-(2**31), None, 2**31 - 1], pa.int32())),
    (T.LongType(), pa.array([-(2**63), None, 2**53 + 1, 2**63 - 1], pa.int64())),
    (T.FloatType(), pa.array([0.1, None, -np.inf], pa.float32())),
    (T.DoubleType(), pa.array([0.1, None, np.inf, 5e-324], pa.float64())),
    (T.BooleanType(), pa.array([True, None, False])),
    (T.DateType(), pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)])),
    (T.TimestampType(), pa.array([datetime.datetime(1, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC"))),
    (T.TimestampNTZType(), pa.array([datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None])),
    (T.DayTimeIntervalType(), pa.array([datetime.timedelta(microseconds=-1), None], pa.duration("us"))),
    (
        T.DecimalType(18, 4),
        pa.array(
            [decimal.Decimal("-99999999999999.9999"), None, decimal.Decimal("0.0001")], pa.decimal128(18, 4)
        ),
    ),
]


@pytest.mark.parametrize(("data_type", "array"), COLUMNS, ids=lambda value: str(value)[:20])
def test_round_trip(data_type, array):
    kind = kind_of(data_type, "column")
    for part in (array, array.slice(1), array.slice(0, 0), array.slice(2)):
        values = to_masked(part, kind)
        assert values.dtype in (kind.dtype, np.int64)
        assert np.ma.getmaskarray(values).tolist() == [value is None for value in part.to_pylist()]
        back = to_arrow(values, result_type(kind.dtype, kind))
        assert back.type == array.type
        assert back.equals(part)


def test_types_without_order_are_rejected_by_name():
    with pytest.raises(TypeError, match=r"column 'a' must be a number.*got string"):
        kind_of(T.StringType(), "column 'a'")
    with pytest.raises(TypeError, match="binary"):
        kind_of(T.BinaryType(), "column 'a'")


def test_results_that_are_no_elements_have_types_of_their_own():
    date = kind_of(T.DateType(), "column")
    assert result_type(np.dtype("m8[D]"), date) == T.DayTimeIntervalType()
    assert result_type(np.dtype(np.float64), date) == T.DoubleType()
    assert result_type(np.dtype(np.int64), kind_of(T.IntegerType(), "column")) == T.LongType()
    days = np.ma.MaskedArray(np.array([3, "NaT"], "m8[D]"), [False, False])
    assert to_arrow(days, T.DayTimeIntervalType()).to_pylist() == [datetime.timedelta(days=3), None]
