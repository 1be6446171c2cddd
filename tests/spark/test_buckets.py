"""Splitting long series into buckets with halos does not change results."""

import contextlib
import io
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

import rollstat
from rollstat.spark import buckets as buckets_module
from rollstat.spark import rolling
from rollstat.spark.arrow_columns import kind_of
from rollstat.spark.buckets import Bucket, CountCells, Reach, cell_of, choose_buckets, sorted_cuts
from rollstat.spark.start import known_warnings

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=30)


def in_order(buckets, cells, descending):
    """Return the buckets as they are where rows ascend, for rows that descend with cells in reverse."""
    if not descending:
        return buckets
    return [
        Bucket(cells - b.end, cells - b.start, cells - b.last, cells - b.first, b.rows_before, b.length)
        for b in buckets
    ]


@given(COUNTS, st.integers(1, 8), st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_halos_of_rows_hold_enough_rows(counts, buckets, back, ahead, descending):
    rising = list(range(len(counts) - 1))
    chosen = choose_buckets(counts, rising, buckets, Reach(back, ahead), descending)
    chosen = in_order(chosen, len(counts), descending)
    counts = counts[::-1] if descending else counts
    total = np.concatenate([[0], np.cumsum(counts)])
    assert len(chosen) <= buckets
    assert [b.start for b in chosen] == [0, *(b.end for b in chosen[:-1])]
    assert chosen[-1].end == len(counts)
    for bucket in chosen:
        assert 0 <= bucket.first <= bucket.start < bucket.end <= bucket.last <= len(counts)
        assert bucket.first == 0 or total[bucket.start] - total[bucket.first] >= back
        assert bucket.last == len(counts) or total[bucket.last] - total[bucket.end] >= ahead
        assert bucket.rows_before == total[bucket.first]
        assert bucket.length == total[bucket.last] - total[bucket.first]
        # no cell more than needed
        assert bucket.first == bucket.start or total[bucket.start] - total[bucket.first + 1] < back
        assert bucket.last == bucket.end or total[bucket.last - 1] - total[bucket.end] < ahead


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True),
    st.integers(1, 8),
    st.integers(1, 30),
    st.integers(0, 30),
    st.booleans(),
)
def test_halos_of_widths_reach_far_enough(rising, buckets, back, ahead, descending):
    rising = sorted(rising)
    reach = Reach(0, 0, *((ahead, back) if descending else (back, ahead)))
    for bucket in choose_buckets(None, rising, buckets, reach, descending):
        if bucket.start:
            # a row just below the first cell of the halo is out of reach of the first row of the bucket
            assert bucket.first == 0 or rising[bucket.first - 1] <= rising[bucket.start - 1] - back
        if bucket.end <= len(rising):
            far = bucket.last == len(rising) + 1 or rising[bucket.last - 1] > rising[bucket.end - 1] + ahead
            assert far if ahead else bucket.last == bucket.end


def test_cells_follow_the_order():
    values = pa.array([None, -np.inf, -1.5, 0.0, 2.0, 3.0, np.inf, np.nan])
    kind = kind_of(T.DoubleType(), "column")
    cuts, rising = sorted_cuts(pa.array([2.0, -1.5, 2.0, np.nan, None, np.inf]), kind)
    assert (cuts.to_pylist(), rising) == ([-1.5, 2.0, np.inf], [-1.5, 2.0, np.inf])
    assert cell_of(values, kind, rising).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_the_least_whole_number_is_a_cut():
    kind, ends = kind_of(T.LongType(), "column"), pa.array([-(2**63), 5, 2**63 - 1])
    cuts, rising = sorted_cuts(ends, kind)
    assert cuts.equals(ends)
    assert cell_of(ends, kind, rising).tolist() == [1, 2, 3]


def test_cells_are_counted_for_each_series():
    job = CountCells(kind_of(T.LongType(), "column"), ((10,), (0, 5)))
    batch = pa.RecordBatch.from_arrays([pa.array([0, 1, 1, 0, 1]), pa.array([9, None, 5, 10, 7])], ["s", "t"])
    found = [tuple(row.values()) for part in job([batch, batch]) for row in part.to_pylist()]
    assert found == [(0, 0, 2), (0, 1, 2), (1, 0, 2), (1, 2, 4)]


def collect(frame):
    table = frame.toArrow().sort_by("row")
    return table.drop_columns([name for name in table.column_names if name == "key"])  # NaN equals nothing


@pytest.fixture(scope="module")
def long(spark):
    """Return one series with ties, runs of equal times longer than a window, gaps, nulls and NaN."""
    rng = np.random.default_rng(7)
    rows = 3000
    times = np.sort(rng.integers(0, 400, rows))
    times[1000:1400] = times[1000]
    x = pa.array(rng.integers(0, 50, rows) * 0.5, mask=rng.random(rows) < 0.1)
    t = pa.array(times, mask=times < 3)
    key = pa.array(np.where(np.arange(rows) % 5 < 4, np.nan, np.arange(rows) % 7))
    frame = spark.createDataFrame(pa.table({"row": np.arange(rows), "t": t, "x": x, "key": key}))
    return frame.repartition(3, "row").cache()


AGGS = {"m": ("median", "x"), "low": ("kth", "row", {"k": 2}), "at": ("argkth", "x", {"k": 1})}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("window", "options"),
    [
        (50, {}),
        (3, {"closed": "both", "min_periods": 1, "descending": True}),
        (51, {"center": True, "min_periods": 2, "descending": [True, False]}),
        (rollstat.Forward(30), {"descending": True}),
        (2500, {"min_periods": 1}),
    ],
)
def test_a_series_split_into_buckets(long, window, options):
    arguments = {"order_by": ["t", "row"], "window": window, "aggs": AGGS, **options}
    whole = collect(rolling(long, split=1, **arguments))
    assert collect(rolling(long, split=7, **arguments)).equals(whole)


ORDERS = {
    "timestamp_seconds(t)": "20 seconds",
    "cast(timestamp_seconds(t) as timestamp_ntz)": "20 seconds",
    "date_from_unix_date(int(t))": "20 days",
    "t * interval '1' second": "20 seconds",
    "double(t) / 4": 5.0,
    "float(t)": 20.0,
}


@pytest.mark.spark
@pytest.mark.parametrize("order", ORDERS)
def test_halos_by_width(long, order):
    frame = long.where("t is not null").selectExpr("row", "x", f"{order} as o")
    arguments = {"order_by": ["o", "row"], "window": ORDERS[order], "aggs": AGGS}
    options = {"center": True, "closed": "both"} if order.startswith(("cast", "t ")) else {}
    options["descending"] = order.startswith(("cast", "date"))
    whole = collect(rolling(frame, split=1, **arguments, **options))
    assert collect(rolling(frame, split=6, **arguments, **options)).equals(whole)


@pytest.mark.spark
def test_only_long_series_are_split(spark, long, request, monkeypatch, capsys):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 500)
    arguments = {"partition_by": "key", "order_by": ["t", "row"], "window": 40, "aggs": AGGS}
    plain = collect(rolling(long, split=1, **arguments))
    rolling(long, **arguments).explain()
    assert "rollstat_bucket" not in capsys.readouterr().out  # 2,400 of 3,000 rows in one of two partitions
    spark.conf.set("spark.sql.shuffle.partitions", 4)
    request.addfinalizer(lambda: spark.conf.set("spark.sql.shuffle.partitions", 2))
    for split in ("auto", None, 3):
        cut = rolling(long, split=split, **arguments)
        capsys.readouterr()
        cut.explain()
        plan = capsys.readouterr().out.split("InMemoryTableScan")[0]
        assert len(re.findall(r"\bExchange ", plan)) == len(re.findall(r"\bSort ", plan)) == 1
        assert "rollstat_bucket" in plan
        assert collect(cut).equals(plain)
    rolling(long.where("not isnan(key)"), **arguments).explain()
    assert "rollstat_bucket" not in capsys.readouterr().out


@pytest.mark.spark
def test_keys_as_long_as_others_are_not_split(spark, monkeypatch, capsys):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 500)
    rows = spark.range(4000).selectExpr("id as row", "id % 4 as key", "double(id) as x")
    arguments = {"order_by": "row", "window": 40, "aggs": {"m": ("median", "x")}}
    rolling(rows, partition_by="key", **arguments).explain()
    assert "rollstat_bucket" not in capsys.readouterr().out
    local = spark.createDataFrame(rows.toArrow())  # cannot be long, so no job looks for long keys
    monkeypatch.setattr(buckets_module, "_long_series", None)
    rolling(local, partition_by="key", **arguments)
    with pytest.raises(TypeError, match="not callable"):
        rolling(rows, partition_by="key", **arguments)


@pytest.mark.spark
def test_a_frame_with_other_rows_at_each_read_is_an_error(spark, tmp_path):
    length = tmp_path / "length"
    length.write_text("3000")

    def rows(batches):
        for _ in batches:  # of one row
            yield pa.RecordBatch.from_pydict({"id": np.arange(int(length.read_text()))})

    with known_warnings():
        frame = spark.range(1).mapInArrow(rows, "id long")
    cut = rolling(frame, order_by="id", window=9, aggs={"m": ("median", "id")}, split=3)
    assert cut.where("m is not null").count() == 2992
    length.write_text("2500")
    with pytest.raises(Exception, match="the frame must have the same rows each time Spark reads it"):
        cut.where("m is not null").count()


@pytest.mark.spark
def test_without_keys_long_series_are_split_by_default(long, monkeypatch, capsys):
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 1000)
    result = rolling(long, order_by=["t", "row"], window=10, aggs=AGGS)
    result.explain()
    assert "rollstat_bucket" in capsys.readouterr().out
    assert collect(result).equals(
        collect(rolling(long, order_by=["t", "row"], window=10, aggs=AGGS, split=1))
    )
    rolling(long, order_by=["t", "row"], window=2000, aggs=AGGS).explain()
    assert "rollstat_bucket" not in capsys.readouterr().out  # halos would be longer than buckets


@pytest.mark.spark
def test_degenerate_series(spark):
    empty = spark.createDataFrame([], "row long, t long, x double")
    assert collect(rolling(empty, order_by="t", window=3, aggs=AGGS, split=4)).num_rows == 0
    same = spark.range(50).selectExpr("id as row", "7L as t", "double(id) as x")
    arguments = {"order_by": ["t", "row"], "window": 3, "aggs": AGGS}
    whole = collect(rolling(same, split=1, **arguments))
    assert collect(rolling(same, split=4, **arguments)).equals(whole)
    with pytest.raises(TypeError, match="'t', by which long series are split, must be a number"):
        rolling(same.selectExpr("row", "string(t) as t", "x"), split=4, **arguments)
    for bad in (0, 1.5, True, "many", 10_000):
        with pytest.raises(ValueError, match="split must be"):
            rolling(same, split=bad, **arguments)


@pytest.mark.spark
@pytest.mark.parametrize("center", [False, True])
def test_rows_of_halos_are_sent_and_dropped(long, monkeypatch, center):
    arguments = {"order_by": ["t", "row"], "window": 20, "aggs": AGGS, "center": center}
    cut = rolling(long, split=4, **arguments)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        cut.explain()
    assert ("MapInArrow" if center else "ArrowEvalPython") in shown.getvalue()
    whole = collect(rolling(long, split=1, **arguments))
    assert collect(cut).equals(whole)
    few = pa.array(whole["row"].to_numpy() % 7 == 3)
    assert collect(cut.where("row % 7 = 3")).equals(whole.filter(few))
    monkeypatch.setattr(buckets_module, "ROWS_PER_BUCKET", 500)
    many = rolling(long, partition_by="key", split=4, **arguments)
    assert collect(many).equals(collect(rolling(long, partition_by="key", **arguments)))
