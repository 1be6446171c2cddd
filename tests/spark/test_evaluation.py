"""Decimals and strings: exact sums and means with Spark's own types; strings; integers that are rounded."""

import random
import warnings
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

import rollstat
import rollstat.spark as rs
from rollstat.spark import rolling
from rollstat.spark.aggregates import rolling_decimals
from rollstat.spark.arrow_columns import Kind, to_arrow, to_masked
from rollstat.spark.batch_walk import Walk
from tests.spark.test_batch_walk import ARROW, plan


def rounded(total, count, digits):
    """Return a quotient with some digits; a half goes away from zero."""
    exact = abs(Fraction(total * 10**digits, count))
    whole = (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)
    return whole if total >= 0 else -whole


def wide(values):
    """Return 128-bit integers as an Arrow array of decimals without digits after the point."""
    return pa.array([Decimal(value) for value in values], pa.decimal128(38, 0))


@pytest.mark.parametrize("largest", [10**36, 2**64, 10**18 - 1, 12345, 2])
@pytest.mark.parametrize("window", [1, 8, 300])
def test_sums_and_means_of_decimals_are_exact(largest, window):
    rng = random.Random(largest % 89)
    data = [rng.randint(-largest, largest) for _ in range(700)]
    mask = np.array([rng.random() < 0.2 for _ in data])
    if largest >= 10**18:
        column = to_masked(wide(data), Kind(T.DecimalType(38, 0), np.dtype(object)))
        column = np.ma.MaskedArray(column.data, mask)
    else:
        column = np.ma.MaskedArray(np.array(data), mask)
    digits = 1 if largest == 10**36 else 4
    options, of = {"min_periods": 1}, T.DecimalType(38, digits)
    sums = to_arrow(rolling_decimals("sum", column, window, options, 0, of), T.DecimalType(38, 0)).to_pylist()
    means = to_arrow(rolling_decimals("mean", column, window, options, 0, of), of).to_pylist()
    for i in range(len(data)):
        rows = range(max(i - window + 1, 0), i + 1)
        values = [data[row] for row in rows if not mask[row]]
        wanted = sum(values) if values else None
        assert sums[i] == wanted
        mean = None if wanted is None else rounded(wanted, len(values), digits)
        assert (means[i] and means[i].scaleb(digits, Context(prec=40))) == mean


DECIMALS = """
select id as row,
  if(id % 7 = 3, null, cast((id * 7919 % 2000 - 1000) / 8 as decimal(9, 3))) as d,
  cast(if(id % 5 = 2, -1, 1) * (999999999999999999BD - id) as decimal(18, 0)) as large,
  cast(if(id % 3 = 2, -1, 1) * (1e23BD / 3 + id / 7BD) as decimal(38, 10)) as wide,
  cast(if(id % 4 = 1, -1, 1) * (0.45678901234567890123456789012345BD + id / 2BD) as decimal(37, 32)) as deep,
  cast(if(id < 76, id % 19 - 9, 9 - id % 19) / 11BD as decimal(38, 37)) as deepest,
  if(id % 6 = 1, null, concat(substr('éaßz', 1 + id * 5 % 3, 2), id % 4)) as word
from range(160)
"""


@pytest.fixture(scope="module")
def frame(spark):
    return spark.sql(DECIMALS).repartition(3).cache()


@pytest.mark.spark
@pytest.mark.parametrize("rows", [7, None])
@pytest.mark.parametrize("split", [1, 3])
def test_sums_and_means_are_those_of_spark(frame, rows, split):
    """``None`` is an expanding window."""
    over = Window.orderBy("row").rowsBetween(Window.unboundedPreceding if rows is None else 1 - rows, 0)
    wanted = frame
    aggs = []
    for column in ("d", "large", "wide", "deep", "deepest"):
        aggs += [rs.sum(column), rs.mean(column)]
        wanted = wanted.withColumn(f"{column}_sum", F.sum(column).over(over))
        wanted = wanted.withColumn(f"{column}_mean", F.avg(column).over(over))
    window = rollstat.Expanding() if rows is None else rows
    found = rolling(frame, order_by="row", window=window, min_periods=1, aggs=aggs, split=split)
    assert found.dtypes == wanted.dtypes
    found, wanted = found.toArrow().sort_by("row"), wanted.toArrow().sort_by("row")
    assert found.equals(wanted.cast(found.schema))


@pytest.mark.spark
def test_other_statistics_of_decimals_still_ask_for_a_cast(frame):
    with pytest.raises(TypeError, match=r"'std' does not return elements .*decimal\(9,3\): cast"):
        rolling(frame, order_by="row", window=3, aggs=[rs.std("d")])


@pytest.mark.spark
def test_a_result_of_too_many_digits_is_an_error(spark):
    # The sum of both nines has 39 digits; that of all three rows has 38.
    text = "select id as row, cast(if(id < 2, 1, -1) * 9e37BD as decimal(38, 0)) as d from range(3)"
    frame = spark.sql(text)
    for name, message in (("sum", r"row=1: a result has more digits than decimal\(38,0\)"),):
        with pytest.raises(Exception, match=f"{name} failed at {message}"):
            rolling(frame, order_by="row", window=2, aggs={"s": (name, "d")}).collect()
    with pytest.raises(Exception, match=r"more digits than decimal\(38,4\)"):
        rolling(frame, order_by="row", window=2, aggs={"s": ("mean", "d")}).collect()
    rows = rolling(frame, order_by="row", window=3, aggs={"s": ("sum", "d")}).collect()
    assert [row.s for row in rows] == [None, None, 9 * 10**37]


@pytest.mark.spark
@pytest.mark.parametrize("split", [1, 3])
def test_elements_and_counts_of_all_decimals(frame, split):
    table = frame.toArrow().sort_by("row")
    for column in ("d", "wide", "deepest"):
        aggs = [rs.minmax(column), rs.kth(column, [2]), rs.argkth(column, 1), rs.first(column)]
        aggs += [rs.nunique(column), rs.count(column), rs.rank(column)]
        found = rolling(frame, order_by="row", window=9, min_periods=2, aggs=aggs, split=split)
        assert found.schema[-8].dataType == frame.schema[column].dataType
        found = found.toArrow().sort_by("row")
        values = table[column].to_pylist()
        ordered = sorted({value for value in values if value is not None})
        codes = [None if value is None else ordered.index(value) for value in values]
        codes = np.ma.MaskedArray([code or 0 for code in codes], [code is None for code in codes])
        low, high = rollstat.rolling_minmax(codes, 9, min_periods=2)
        of_codes = [low, high, rollstat.rolling_kth(codes, 2, 9, min_periods=2)]
        for name, wanted in zip(found.column_names[-8:], of_codes):
            wanted = [None if code is None else ordered[code] for code in wanted.tolist()]
            assert found[name].to_pylist() == wanted
        for name, wanted in (
            ("argkth_1", rollstat.rolling_argkth(codes, 1, 9, min_periods=2)),
            ("nunique", rollstat.rolling_nunique(codes, 9, min_periods=2)),
            ("count", rollstat.rolling_count(codes, 9, min_periods=2)),
            ("rank", rollstat.rolling_rank(codes, 9, min_periods=2)),
        ):
            assert found[f"{column}_{name}"].to_pylist() == wanted.tolist()


def brute_force(rows, window, statistic):
    """Return the statistic of each window of strings; None is a missing string."""
    results = []
    for i in range(len(rows)):
        words = [word for word in rows[max(i - window + 1, 0) : i + 1] if word is not None]
        results.append(statistic(words) if words else None)
    return results


STATISTICS = {
    "first": lambda words: words[0],
    "last": lambda words: words[-1],
    "nunique": lambda words: len(set(words)),
    "mode": lambda words: min(sorted(set(words)), key=lambda word: (-words.count(word), word.encode())),
}


@pytest.mark.spark
@pytest.mark.parametrize("split", [1, 3])
def test_strings(frame, split):
    words = frame.toArrow().sort_by("row")["word"].to_pylist()
    aggs = [rs.aggregate(name, "word").alias(name) for name in STATISTICS]
    found = rolling(frame, order_by="row", window=9, min_periods=1, aggs=aggs, split=split)
    assert dict(found.dtypes[-4:]) == {**dict.fromkeys(STATISTICS, "string"), "nunique": "bigint"}
    found = found.toArrow().sort_by("row")
    for name, statistic in STATISTICS.items():
        assert found[name].to_pylist() == brute_force(words, 9, statistic), name
    growing = rolling(frame, order_by="row", window=rollstat.Expanding(), aggs=aggs[2:])
    assert growing.toArrow().sort_by("row")["mode"].to_pylist() == brute_force(words, 999, STATISTICS["mode"])


@pytest.mark.spark
def test_strings_that_are_rejected(spark, frame):
    with pytest.raises(TypeError, match=r"column 'word' of aggs\['median'\] must be a number.*got string"):
        rolling(frame, order_by="row", window=3, aggs=[rs.median("word")])
    folded = spark.sql("select 1L as row, 'a' collate UTF8_LCASE as word")
    with pytest.raises(TypeError, match=r"must be a string of the collation UTF8_BINARY.*collate UTF8_LCASE"):
        rolling(folded, order_by="row", window=3, aggs=[rs.nunique("word")])
    with pytest.raises(ValueError, match="split must be 1 for an expanding window of 'last': string has no"):
        rolling(frame, order_by="row", window=rollstat.Expanding(), aggs=[rs.last("word")], split=2)


def test_strings_are_missing_everywhere_or_nowhere():
    from rollstat.spark.aggregates import SparkCall, evaluate_call

    call = SparkCall("last", (0,), {}, (T.StringType(),), positions=False, window=None)
    for words, wanted in ((["b", "a"], ["b", "a"]), ([None, None], [None, None])):
        array = np.array(words, object)
        column = np.ma.MaskedArray(array, [word is None for word in words])
        (found,) = evaluate_call(call, [column], 1, {})
        assert to_arrow(found, T.StringType()) == pa.array(wanted, pa.string())


def test_rounded_integers_cause_a_warning():
    rows = pa.table(
        [["a"] * 9, pa.array([0] * 9, ARROW.field("time").type), range(9), [0.0] * 9, range(9)], ARROW
    )
    aggs = {"middle": ("median", "y"), "mean": ("mean", "y")}
    for start in (0, 2**60 + 1):
        y = start + np.arange(9) ** 2
        batches = rows.set_column(4, "y", pa.array(y)).to_batches(4)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = pa.Table.from_batches(Walk(plan(4, aggs)).run(iter(batches)))
        assert {warning.category for warning in caught} == ({rollstat.PrecisionWarning} if start else set())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = rollstat.rolling_median(y, 4), rollstat.rolling_mean(y, 4)
        for column, values in zip(found.columns[5:], wanted):
            np.testing.assert_array_equal(column.to_numpy(), values)
