"""Consecutive rows are compared by Spark's rules."""

import decimal

import numpy as np
import pyarrow as pa
import pytest

from rollstat.spark.arrow_columns import compare, first_descent, run_starts, sort_keys

NAN = float("nan")
ASCENDING = [
    pa.array([None, -np.inf, -1.0, 0.0, np.inf, NAN], pa.float64()),
    pa.array([None, -(2**62), 2**53, 2**53 + 1], pa.int64()),
    pa.array([None, "", "Z", "a", "é"]),
    pa.array([None, b"", b"\x00", b"\xff"]),
    pa.array([None, False, True]),
    pa.array([None, decimal.Decimal("-1.50"), decimal.Decimal("0.25")]),
    pa.array([None, 0, 1], pa.timestamp("us", "UTC")),
    pa.array([None, -5, 7], pa.date32()),
    pa.array([None, -5, 7], pa.duration("us")),
    pa.array([None, -128, 127], pa.int8()),
    pa.array([None, {"a": None, "b": 9.0}, {"a": 1, "b": 1.0}, {"a": 1, "b": NAN}, {"a": 2, "b": None}]),
    pa.array([None, [], [None], [None, -1.0], [-1.0], [0.5], [0.5, None], [0.5, NAN], [NAN]]),
]


@pytest.mark.parametrize("values", ASCENDING, ids=lambda values: str(values.type))
def test_order_is_that_of_spark(values):
    for i in range(len(values)):
        for j in range(len(values)):
            left, right = values.slice(i, 1), values.slice(j, 1)
            assert compare(left, right).tolist() == [(i > j) - (i < j)]
            assert (compare(left, right) == 0).tolist() == [i == j]
    keys = sort_keys(values)
    assert all(keys[i] < keys[i + 1] for i in range(len(keys) - 1))
    assert run_starts([values.take(pa.array([0, 1, 1, 2, 2]))]) == [0, 1, 3, 5]


def test_zeros_are_equal_and_nan_equals_nan():
    left = pa.array([0.0, NAN, None, 1.0])
    right = pa.array([-0.0, NAN, None, None])
    assert (compare(left, right) == 0).tolist() == [True, True, True, False]
    assert compare(left, right).tolist() == [0, 0, 0, 1]


def test_lists_are_equal_by_value():
    left = pa.array([[1.0, NAN], [0.0], None, [], [None]], pa.list_(pa.float64()))
    right = pa.array([[1.0, NAN], [-0.0], None, [None], [None]], pa.list_(pa.float64()))
    assert (compare(left, right) == 0).tolist() == [True, True, True, False, True]


def test_first_descent_looks_at_columns_in_turn():
    time = pa.array([1, 1, 2, 2, 1])
    name = pa.array(["b", "a", "x", "x", "y"])
    nothing = np.zeros(4, np.bool_)
    assert first_descent([time, name], [False, True], nothing) == (4, -1)
    assert first_descent([time, name], [False, True], np.array([0, 0, 0, 1], np.bool_)) == (-1, 3)
    assert first_descent([time, name], [False, False], nothing)[0] == 4
    lists = pa.array([[1], [1], [2], [2], [3]])
    assert first_descent([lists], [False], nothing) == (-1, 1)
    assert first_descent([lists], [True], nothing) == (2, -1)
