"""User-defined functions for columns of arrays and for aggregations."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.util import PythonEvalType

import rollstat
from rollstat.registry import REGISTRY
from rollstat.spark import rolling_udf, udf

pytestmark = pytest.mark.spark

LARGE = 2**53 + 1
NAN = float("nan")


@pytest.fixture(scope="module")
def frame(spark):
    hour = datetime.datetime(2013, 3, 10, 6, 30)
    moments = [[hour + datetime.timedelta(hours=1), hour], None, [], [None]]
    table = pa.table(
        {
            "row": [0, 1, 2, 3],
            "x": pa.array([[1.0, 5.0, None, NAN, 2.0], None, [], [None, 4.0, 1.0]]),
            "i": pa.array([[LARGE, LARGE + 2, None, LARGE + 1], None, [], [None]]),
            "t": pa.array(moments, pa.list_(pa.timestamp("us", "UTC"))),
            "long": pa.array([LARGE, LARGE + 2, None, LARGE + 1]),
        }
    )
    return spark.createDataFrame(table).cache()


def values(frame, column):
    return [
        row["result"]
        for row in sorted(
            frame.select("row", column.alias("result")).toArrow().to_pylist(), key=lambda row: row["row"]
        )
    ]


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_arrays_in_arrays_out(frame, kind):
    lowest = rolling_udf("kth", 2, k=1, min_periods=1, kind=kind)
    assert values(frame, lowest("x")) == [[1.0, 1.0, 5.0, None, 2.0], None, [], [None, 4.0, 1.0]]
    median = rolling_udf("median", 3, min_periods=1, center=True, kind=kind)
    assert values(frame, median("x")) == [[3.0, 3.0, 5.0, 2.0, 2.0], None, [], [4.0, 2.5, 2.5]]


def test_longs_and_timestamps_stay_exact(frame):
    lowest = rolling_udf("kth", 2, k=1, min_periods=1, like=frame.schema["i"])
    assert lowest.returnType == T.ArrayType(T.LongType())
    assert values(frame, lowest("i")) == [[LARGE, LARGE, LARGE + 2, LARGE + 1], None, [], [None]]
    by_type = rolling_udf("kth", 2, k=1, min_periods=1, like=T.ArrayType(T.LongType()))
    assert values(frame, by_type("i"))[0][0] == LARGE
    first = rolling_udf("kth", 2, k=1, min_periods=1, like=frame.schema["t"])
    assert values(frame, first("t"))[0][1].isoformat() == "2013-03-10T06:30:00+00:00"


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_without_a_window_a_group_gives_one_value(frame, kind):
    median = rolling_udf("median", kind=kind)
    assert frame.agg(median("row").alias("m"), median("long").alias("n")).collect() == [
        (1.5, float(LARGE + 1))
    ]
    grouped = frame.groupBy((F.col("row") % 2).alias("g")).agg(median("row").alias("m")).collect()
    assert sorted(grouped) == [(0, 1.0), (1, 2.0)]
    over = median("row").over(Window.orderBy("row").rowsBetween(-1, 0))
    assert values(frame, over) == [0.0, 0.5, 1.5, 2.5]


def test_arrow_is_the_default_and_the_functions_of_spark_in_the_docstring_are_exact(spark):
    assert rolling_udf("median").evalType == PythonEvalType.SQL_GROUPED_AGG_ARROW_UDF
    frame = spark.sql(
        "select id % 3 as g, id * 7919 % 101 + 9007199254740993 as i, (id * 7919 % 53) / 7D as x, "
        "(id * 31 % 47) / 3D as y from range(200)"
    )
    pairs = {
        "min": F.min("x"),
        "max": F.max("x"),
        "count": F.count("x").cast("double"),
        "median": F.median("x"),
        "nunique": F.count_distinct("x").cast("double"),
        "mode": F.mode("x", True),
        "sum": F.sum("x"),
        "mean": F.avg("x"),
        "std": F.stddev("x"),
        "var": F.var_samp("x"),
        "corr": F.corr("x", "y"),
        "cov": F.covar_samp("x", "y"),
    }
    columns = ["x", "y"]
    ours = [rolling_udf(s)(*columns[: REGISTRY[s].series]).alias(s) for s in pairs]
    ours.append(rolling_udf("quantile", q=0.3)("x").alias("quantile"))
    pairs["quantile"] = F.percentile("x", 0.3)
    found = frame.groupBy("g").agg(*ours).toArrow().sort_by("g").to_pydict()
    wanted = [column.alias(name) for name, column in pairs.items()]
    wanted = frame.groupBy("g").agg(*wanted).toArrow().sort_by("g").to_pydict()
    for name in pairs:
        exact = name in ("min", "max", "count", "nunique", "mode")
        assert found[name] == (wanted[name] if exact else pytest.approx(wanted[name], rel=1e-13)), name


def test_decimals_and_strings(spark):
    frame = spark.sql("select array(1.25BD, 2.50BD, null) as d, array('b', 'a', 'b') as s, 2.50BD as one")
    total = rolling_udf("sum", 2, min_periods=1, like=frame.schema["d"])
    assert total.returnType == T.ArrayType(T.DecimalType(13, 2))
    most = rolling_udf("mode", 3, min_periods=1, like=frame.schema["s"])
    row = frame.select(total("d"), most("s"), rolling_udf("median", 1)("d")).first()
    assert row[0] == [Decimal("1.25"), Decimal("3.75"), Decimal("2.50")]
    assert row[1] == ["b", "a", "b"]
    assert row[2] == [1.25, 2.5, None]  # doubles, not the digits of the decimals
    assert frame.agg(rolling_udf("median")("one")).first() == (2.5,)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize(
    ("statistic", "column", "message"),
    [
        ("mode", "'a'", "rolling_mode takes must be a number to return double; got strings: give .* like="),
        ("max", "'a'", "rolling_max takes must be a number, .*; got string"),
        ("max", "date'2025-01-01'", r"results of rolling_max are datetime64\[.*\], .* to return double"),
        ("median", "timestamp'2025-01-01'", r"results of rolling_median are datetime64\[.*\], .* double"),
    ],
)
def test_what_is_no_number_needs_like(spark, kind, window, statistic, column, message):
    function = rolling_udf(statistic, window, kind=kind)
    frame = spark.sql(f"select {column if window is None else f'array({column})'} as x")
    with pytest.raises(Exception, match=message):
        frame.select(function("x")).collect()


def test_distinct_strings_need_no_like(spark):
    assert spark.sql("select 'a' as x").agg(rolling_udf("nunique")("x")).first() == (1.0,)


def test_sql(spark, frame):
    spark.udf.register("second_smallest", rolling_udf("kth", k=2, like=frame.schema["long"]))
    frame.createOrReplaceTempView("measurements")
    assert spark.sql("select second_smallest(long) from measurements").collect() == [(LARGE + 1,)]


BAD = [
    (("middle", 3), {}, ValueError, "statistic must be one of"),
    (("median", 0), {}, ValueError, "window must be an integer of at least 1"),
    (("median", "5min"), {}, ValueError, "window must be a number of rows, Forward or Expanding here"),
    (("kth", 3), {"k": 4}, ValueError, r"k must lie in 1\.\.3"),
    (("kth", 3), {"k": [1, 2]}, ValueError, "returns 2 results here"),
    (("median", 3), {"kind": "polars"}, ValueError, "kind must be 'arrow' or 'pandas'; got 'polars'"),
    (("sum",), {"kind": "pandas", "like": T.LongType()}, ValueError, "cannot hold bigint with nulls"),
    (("median", 3), {"like": T.DoubleType()}, TypeError, "like must be a column of arrays with a window"),
    (("median",), {"like": T.StringType()}, TypeError, "like must be a number"),
    (("argkth",), {"k": 1}, ValueError, "depends on the order of rows"),
    (("kth", 3), {}, TypeError, "'kth' needs its parameter 'k'"),
    (("max", 3), {"step": 2}, TypeError, "'max' got an unexpected keyword argument 'step'"),
]


@pytest.mark.parametrize(("arguments", "options", "error", "message"), BAD)
def test_bad_arguments(arguments, options, error, message):
    with pytest.raises(error, match=message):
        rolling_udf(*arguments, **options)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_a_window_over_numbers_is_rejected_by_name(frame, kind):
    with pytest.raises(Exception, match="rolling_median with a window takes columns of arrays; got one"):
        frame.select(rolling_udf("median", 3, kind=kind)("row")).collect()


def test_expanding_and_forward(frame):
    assert values(frame, rolling_udf("kth", rollstat.Expanding(), k=-1)("x"))[0] == [1.0, 5.0, 5.0, 5.0, 5.0]
    assert values(frame, rolling_udf("kth", rollstat.Forward(2), k=1, min_periods=1)("x"))[3] == [
        4.0,
        1.0,
        1.0,
    ]


def test_functions_of_a_script_that_mention_the_package_run_in_workers(frame):
    names = {"__name__": "__main__", "rollstat": rollstat}
    exec("def last(x): return float(rollstat.rolling_median(x, 3, min_periods=1)[-1])", names)
    last = F.udf(names["last"], T.DoubleType(), useArrow=False)
    found = frame.where("row = 3").select(last(F.array(F.lit(4.0), F.lit(1.0), F.lit(2.0)))).collect()
    assert found[0][0] == 2.0


UNORDERED = [name for name, statistic in REGISTRY.items() if not statistic.ordered and "f" in statistic.kinds]


@pytest.mark.parametrize("like", [None, T.LongType()])
@pytest.mark.parametrize("min_periods", [None, 4])
@pytest.mark.parametrize("name", UNORDERED)
def test_a_null_row_changes_no_result_of_a_group(name, min_periods, like, monkeypatch, rng):
    """Groups without nulls are computed in another way than groups with them."""
    jobs, statistic = [], REGISTRY[name]
    monkeypatch.setattr(udf, "_make", lambda job, pandas: jobs.append(job))
    for sample in statistic.samples:
        try:
            rolling_udf(name, min_periods=min_periods, like=like, **sample)
        except (TypeError, ValueError):  # several results, or functions of windows
            continue
        for rows in (1, 2, 3, 8, 30):
            series = [rng.integers(1, 9, rows) for _ in range(statistic.series)]
            arrays = [pa.array(each, pa.int64() if like else pa.float64()) for each in series]
            with_null = [pa.concat_arrays([array, pa.array([None], array.type)]) for array in arrays]
            found, expected = (jobs[-1]([*given]) for given in (arrays, with_null))
            assert type(found) is type(expected)
            if expected is not None:
                assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
