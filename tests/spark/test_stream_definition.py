"""What a restarted stream may change, without Spark."""

from datetime import timedelta

import numpy as np
import pytest
from pyspark.sql import types as T

from rollstat.spark.aggregates import aggregate
from rollstat.spark.request import Request
from rollstat.spark.structured_streaming import check_restart, definition_of
from tests.spark.test_batch_walk import SCHEMA

BASE = {"keys": "key", "order": ("time", "row"), "window": 20, "watermark": None, "ttl": None}
BASE |= {"aggs": {"m": ("median", "x"), "k": ("kth", "y", {"k": 2})}}


def definition(schema=SCHEMA, **changes):
    given = BASE | changes
    options = {"min_periods": None, "center": False, "closed": None, "nan_policy": "omit"}
    options |= {name: value for name, value in changes.items() if name in options}
    request = Request(given["keys"], list(given["order"]), given["window"], given["aggs"], options)
    return definition_of(request.plan(schema), schema, given["watermark"], given["ttl"])


def with_column(name, data_type, position=0):
    fields = [field for field in SCHEMA if field.name != name]
    return T.StructType([*fields[:position], T.StructField(name, data_type), *fields[position:]])


def test_the_same_definition_goes_on():
    assert definition() == definition()
    listed = [aggregate("median", "x").alias("m"), aggregate("kth", "y", k=2).alias("k")]
    assert definition(aggs=listed) == definition()
    for changes in (
        {"aggs": {"s": ("mean", "y"), **BASE["aggs"]}},  # a statistic more, and other first inputs
        {"aggs": {"k": aggregate("kth", "y", k=2), "m": ("median", "x")}},
        {"window": 3},
        {"schema": with_column("note", T.StringType())},
    ):
        check_restart(definition(), definition(**changes))
    check_restart(definition(window="10 minutes"), definition(window=timedelta(seconds=599)))


def test_watermark_and_time_to_live_are_compared_as_widths():
    before = definition(watermark="60 seconds", ttl="1 day")
    for ttl in ("24 hours", "interval '1' day", timedelta(days=1), np.timedelta64(1, "D")):
        check_restart(before, definition(watermark="1 minute", ttl=ttl))
        check_restart(definition(watermark="1 minute", ttl=ttl), before)
    with pytest.raises(
        ValueError, match="watermark was 60 seconds and is 61 seconds; ttl was 1 day and is None"
    ):
        check_restart(before, definition(watermark="61 seconds"))
    # Text that is no width is compared as it is.
    check_restart(definition(watermark="1 month"), definition(watermark="1 month"))
    with pytest.raises(ValueError, match="watermark was 1 month and is 30 days"):
        check_restart(definition(watermark="1 month"), definition(watermark="30 days"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window": 21}, "window was 20 and is 21"),
        ({"window": "1 minute"}, "window was 20 and is 1min"),
        ({"aggs": {"m": ("median", "x")}}, r"inputs was \(x double, y bigint\) and is \(x double\)"),
        (
            {"aggs": {"m": ("median", "y"), "k": ("kth", "x", {"k": 2})}},
            r"'m' was median\(x\) and is median\(y\)",
        ),
        ({"aggs": BASE["aggs"] | {"m": ("mean", "x")}}, r"'m' was median\(x\) and is mean\(x\)"),
        ({"aggs": BASE["aggs"] | {"k": ("kth", "y", {"k": 3})}}, r"was kth\(y, k=2\) and is kth\(y, k=3\)"),
        (
            {"aggs": {"m": ("median", "x"), "l": ("max", "y")}},
            r"'k' was kth\(y, k=2\) and is no longer computed",
        ),
        ({"keys": "y"}, r"partition_by was \(key string\) and is \(y bigint\)"),
        ({"order": ("time",)}, r"order_by was \(time timestamp, row bigint\) and is \(time timestamp\)"),
        ({"watermark": "1 hour"}, "watermark was None and is 1 hour"),
        ({"ttl": "7 days"}, "ttl was None and is 7 days"),
        ({"min_periods": 2}, "min_periods was None and is 2"),
        ({"closed": "both"}, "closed was None and is both"),
        ({"nan_policy": "raise"}, "nan_policy was omit and is raise"),
        ({"schema": with_column("x", T.LongType())}, r"inputs was \(x double, y bigint\) and is \(x bigint"),
    ],
)
def test_what_changed_is_named(changes, message):
    with pytest.raises(ValueError, match=f"the state of another stream, written by rollstat .*{message}"):
        check_restart(definition(), definition(**changes))


def test_behind_a_watermark_all_columns_count():
    before = definition(watermark="1 hour")
    check_restart(before, definition(watermark="1 hour"))
    with pytest.raises(ValueError, match=r"columns was .*key string.* and is .note string, key"):
        check_restart(before, definition(watermark="1 hour", schema=with_column("note", T.StringType())))
    # A width that is not a whole number of nanoseconds keeps its size.
    with pytest.raises(ValueError, match=r"window was 0\.1us and is 0\.2us"):
        check_restart(definition(window="0.1us"), definition(window="0.2us"))


def test_text_of_parameters_is_that_of_their_values():
    aggs = [{("a", "b"): ("quantile", "x", {"q": q})} for q in ([0.25, 0.75], np.array([0.25, 0.75]))]
    assert definition(aggs=aggs[0]) == definition(aggs=aggs[1])
