"""Spark equals the array functions to the bit for random frames, keys, types, windows and settings."""

from datetime import UTC
from decimal import Decimal
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import rollstat
from rollstat.registry import REGISTRY
from rollstat.spark import aggregate, rolling, route
from rollstat.spark.expanding import why_no_state

pytestmark = pytest.mark.spark

# Keys made of a small number g: null, NaN and both zeros are among them.
ZEROS = "case g when 0 then -0.0D when 1 then 0.0D when 2 then double('NaN') when 3 then null else g / 3 end"
KEYS = {
    "k_long": "nullif(g, 0)",
    "k_double": ZEROS,
    "k_float": f"float({ZEROS})",
    "k_string": "concat('é', nullif(g, 1) div 2)",
    "k_binary": "binary(string(g % 3))",
    "k_flag": "nullif(g, 4) % 2 = 0",
    "k_date": "date_from_unix_date(int(nullif(g, 2)))",
    "k_decimal": "cast(g div 2 as decimal(30, 4))",
    "k_list": f"array({ZEROS}, 1)",
    # What lies within may be null as well: Spark's toArrow takes no null struct of fields that may not.
    "k_struct": f"if(g = 5, null, named_struct('a', {ZEROS}, 'b', "
    "if(g >= 0, named_struct('c', nullif(g % 2, 0)), null)))",
}
# Columns of the order made of a small number s that only rises, and what a unit of it is called in a window.
TIMES = {
    "timestamp": ("timestamp_seconds(1383451100 + s)", "{} seconds"),
    "timestamp_ntz": ("cast(timestamp_seconds(s) as timestamp_ntz)", "{} seconds"),
    "date": ("date_from_unix_date(int(s))", "{} days"),
    "interval": ("s * interval '1' second", "{} seconds"),
    "long": ("s", "{}.0"),
    "double": ("s / 1.0D", "{}.0"),
    "string": ("lpad(string(s), 2, '0')", None),
    "struct": ("named_struct('s', s, 'one', 1)", None),
}
# Columns made of a small number v, the same in NumPy, and how an element comes back.
VALUES = {
    "double": ("if(v = 9, double('NaN'), v * 0.1D)", lambda v: v * 0.1, float),
    "float": ("float(v * 0.1D)", lambda v: (v * 0.1).astype(np.float32), float),
    "long": ("9007199254740993 + v", lambda v: 2**53 + 1 + v, int),
    "tiny": ("cast(v * 14 as tinyint)", lambda v: (v * 14).astype(np.int8), int),
    "flag": ("v % 2 = 1", lambda v: v % 2 == 1, bool),
    "decimal": (
        "cast(v * 0.125BD as decimal(12, 3))",
        lambda v: v * 125,
        lambda x: Decimal(x).scaleb(-3),
    ),
    "date": ("date_from_unix_date(int(v))", lambda v: v.astype("M8[D]"), lambda x: x),
    "time": (
        "timestamp_seconds(1383451200 + v * 1800)",
        lambda v: ((1383451200 + v * 1800) * 1_000_000).astype("M8[us]"),
        lambda x: x.replace(tzinfo=UTC),
    ),
    "span": ("v * interval '1' hour", lambda v: (v * 3_600_000_000).astype("m8[us]"), lambda x: x),
}
# Statistics whose results do not round; the last are only asked of floats.
ELEMENTS = [("kth", {"k": 1}), ("min", {}), ("max", {})]
OTHERS = [("argkth", {"k": 1}), ("argmax", {}), ("count", {})]
OF_FLOATS = [("median", {}), ("quantile", {"q": [0.1, 0.75]}), ("nunique", {})]

CASES = {
    "seed": st.integers(0, 2**31),
    "rows": st.integers(0, 300),
    "groups": st.integers(1, 12),
    "keys": st.lists(st.sampled_from(sorted(KEYS)), max_size=3, unique=True),
    "time": st.sampled_from(sorted(TIMES)),
    "value": st.sampled_from(sorted(VALUES)),
    "window": st.one_of(
        st.sampled_from([1, 2, 17, 1000]),
        st.sampled_from(["0", "3", "40"]),
        st.builds(rollstat.Forward, st.sampled_from([1, 6])),
        st.builds(rollstat.Expanding),
    ),
    "options": st.fixed_dictionaries(
        {
            "center": st.booleans(),
            "closed": st.sampled_from([None, "right", "left", "both", "neither"]),
            "min_periods": st.sampled_from([None, 1, 2]),
            "nan_policy": st.sampled_from(["omit", "omit", "propagate"]),
        }
    ),
    "descending": st.booleans(),
    "split": st.sampled_from([None, 3, 7]),
    "crowded": st.booleans(),
    "parts": st.integers(1, 4),
    "shuffle": st.integers(1, 5),
    "batch": st.sampled_from([1, 2, 7, 101, 10_000]),
    "adaptive": st.booleans(),
}


def same_to_spark(key):
    """Return a key whose equality is that of Spark."""
    if isinstance(key, dict):
        return tuple(same_to_spark(item) for item in key.values())
    if isinstance(key, list | tuple):
        return tuple(same_to_spark(item) for item in key)
    return "nan" if key != key else key


def fit(window, options, time):
    """Return a window and compatible options, for Spark and for arrays."""
    options = dict(options)
    if isinstance(window, rollstat.Expanding):
        return window, window, options | {"center": False, "closed": None}
    if isinstance(window, rollstat.Forward):
        options |= {"center": False, "closed": None}
    rows = window.m if isinstance(window, rollstat.Forward) else window
    if isinstance(rows, int):
        options["min_periods"] = min(options["min_periods"] or rows, rows)
        return window, window, options
    named = TIMES[time][1]
    if named is None or window == "0":
        return 3, 3, options
    return (float(named.format(window)) if named == "{}.0" else named.format(window)), int(window), options


def expected(name, sample, values, window, options, times):
    """Return the results of the array function, one list for each new column; missing results are None."""
    given = options | {"window": window} | sample | ({} if times is None else {"times": times})
    result = REGISTRY[name].function(values, **given)
    if name.startswith("arg"):
        result = np.ma.MaskedArray(
            np.ma.getdata(result), np.ma.getmaskarray(result) | (np.ma.getdata(result) < 0)
        )
    rows = result if result.ndim == 2 else [result]
    return [[None if x is None or x != x else x for x in row.tolist()] for row in rows]


def check(
    spark,
    *,
    seed,
    rows,
    groups,
    keys,
    time,
    value,
    window,
    options,
    descending,
    split,
    crowded,
    parts,
    shuffle,
    batch,
    adaptive,
):
    rng = np.random.default_rng(seed)
    asked, array_window, options = fit(window, options, time)
    by_width = not isinstance(asked, int | rollstat.Forward | rollstat.Expanding)
    g, s, v = (rng.integers(0, most, rows) for most in (groups, 50, 10))
    hidden = rng.random(rows) < 0.2
    table = pa.table({"row": np.arange(rows), "g": g, "s": pa.array(s), "v": pa.array(v, mask=hidden)})
    order = TIMES[time][0] if by_width else f"if(s = 0, null, {TIMES[time][0]})"
    text = [f"{KEYS[key]} as {key}" for key in keys]
    frame = spark.createDataFrame(table).repartition(parts)
    frame = frame.selectExpr("row", f"{order} as time", f"{VALUES[value][0]} as x", *text)
    kind = VALUES[value][1](v).dtype.kind
    statistics = (
        ELEMENTS + (OTHERS[:2] if value == "decimal" else OTHERS) + (OF_FLOATS if kind == "f" else [])
    )
    statistics = [(name, sample) for name, sample in statistics if kind in REGISTRY[name].kinds]
    splits = None if keys or time in ("string", "struct") else split
    if isinstance(asked, rollstat.Expanding) and splits is not None:
        statistics = [pair for pair in statistics if why_no_state(pair[0], {}) is None]
    names = [f"r{i}" if name != "quantile" else (f"r{i}", f"s{i}") for i, (name, _) in enumerate(statistics)]
    aggs = {new: aggregate(name, "x", **sample) for new, (name, sample) in zip(names, statistics)}
    conf = {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.shuffle.partitions": shuffle,
        "spark.sql.execution.arrow.maxRecordsPerBatch": batch,
    }
    before = {name: spark.conf.get(name) for name in conf}
    # Three hashes only, so that keys share them.
    hashed = (lambda keys: F.hash(*keys) % 2) if crowded else route.hash_of
    try:
        for name, setting in conf.items():
            spark.conf.set(name, setting)
        with mock.patch.object(route, "hash_of", hashed):
            result = (
                rolling(
                    frame,
                    partition_by=keys,
                    order_by=["time", "row"],
                    window=asked,
                    aggs=aggs,
                    descending=descending,
                    split=splits,
                    **options,
                )
                .drop("time")
                .toArrow()
                .sort_by("row")
            )
    finally:
        for name, setting in before.items():
            spark.conf.set(name, setting)
    assert result["row"].to_pylist() == list(range(rows))
    _, in_numpy, back = VALUES[value]
    missing = hidden | (v == 9) if value == "double" else hidden
    values = np.ma.MaskedArray(in_numpy(v), missing)
    series = {}
    for i, key in enumerate(zip(*(result[key].to_pylist() for key in keys)) if keys else [()] * rows):
        series.setdefault(same_to_spark(key), []).append(i)
    for members in series.values():
        members = np.array(members)
        members = members[np.lexsort([members, s[members]])]
        if descending:
            members = members[::-1]
        times = (-s if descending else s)[members] if by_width else None
        for new, (name, sample) in zip(names, statistics):
            wanted = expected(name, sample, values[members], array_window, options, times)
            for column, want in zip(new if isinstance(new, tuple) else [new], wanted):
                if (name, sample) in ELEMENTS:
                    want = [None if x is None else back(x) for x in want]
                got = result[column].take(pa.array(members)).to_pylist()
                assert got == want, (name, column)


@settings(max_examples=6)
@given(**CASES)
def test_equal_to_the_array_functions(spark, **case):
    check(spark, **case)


@pytest.mark.long
@settings(max_examples=150)
@given(**CASES)
def test_equal_to_the_array_functions_at_length(spark, **case):
    check(spark, **case)
