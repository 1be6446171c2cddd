"""Windows of calendar units and of equal times on Spark equal those of the array functions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F
from pyspark.sql import types as T

import rollstat
import rollstat.spark as rs
from rollstat.spark.batch_walk import Walk
from rollstat.spark.labels import LabelWalk, on_labels
from rollstat.spark.request import Request
from rollstat.spark.stream_series import RETURNED, Entries, SeriesRows
from rollstat.spark.structured_streaming import check_restart, definition_of
from tests.spark.test_batch_walk import ARROW, SCHEMA, cut

BERLIN = "Europe/Berlin"
WINDOWS = [
    "1 month",
    "2 quarters",
    pd.offsets.BDay(2),
    pd.offsets.MonthEnd(),
    rollstat.Forward("1 month"),
    rollstat.Around(pd.offsets.BDay(1), "1 month"),
]
STATISTICS = [rs.sum("y").alias("sum"), rs.argkth("y", 1).alias("at")]
OPTIONS = {"min_periods": 1, "center": False, "closed": None, "nan_policy": "omit"}


def plan(window, zone=BERLIN, **options):
    """Return the plan over timestamps of a zone, or without one."""
    kinds = [T.TimestampNTZType() if zone is None and f.name == "time" else f.dataType for f in SCHEMA]
    schema = T.StructType([T.StructField(field.name, kind) for field, kind in zip(SCHEMA, kinds)])
    order = ["time", "row"]
    return Request(["key"], order, window, STATISTICS, OPTIONS | options, zone=zone).plan(schema)


def random_times(rows, rng):
    """Return times around ends of months, weekends and the hour that the clock of Berlin shows twice."""
    first = np.array(["2024-09-27", "2024-10-26", "2024-10-29", "2024-11-29"], "M8[us]")
    days = rng.choice(first, rows) + rng.integers(0, 4, rows) * np.timedelta64(1, "D")
    fold = np.datetime64("2024-10-27T00:00", "us") + rng.integers(0, 8, rows) * np.timedelta64(15, "m")
    return np.sort(
        np.where(rng.random(rows) < 0.3, fold, days + rng.integers(0, 24, rows) * np.timedelta64(1, "h"))
    )


def table(series, y):
    """Return the rows of series with these times."""
    keys = [str(number) for number, times in enumerate(series) for _ in times]
    times = pa.array(np.concatenate(series)).cast(pa.timestamp("us", "UTC"))
    columns = [keys, times, np.arange(len(y)), np.zeros(len(y)), y]
    return pa.table([pa.array(column) for column in columns], schema=ARROW)


def results(walk, batches):
    """Return the rows with results of a walk that computes what is complete after each batch."""
    found = []
    for batch in batches:
        walk._hold(batch)
        found += walk._step(final=False)
    return pa.Table.from_batches([*found, *walk.flush(final=True)])


def in_zone(times, zone):
    return times if zone is None else pd.DatetimeIndex(times, tz="UTC").tz_convert(zone)


def check(series, sizes, window, zone=BERLIN, **options):
    """Compare sums and positions with those of the array functions; a missing sum is NaN there."""
    y = np.random.default_rng(5).integers(-9, 9, sum(map(len, series)))
    found = results(Walk(plan(window, zone, **options)), cut(table(series, y), sizes))
    total, at, first = [], [], 0
    for times in series:
        part, first = y[first : first + len(times)], first + len(times)
        given = {"min_periods": 1, "times": in_zone(times, zone), **options}
        total += rollstat.rolling_sum(part, window, **given).tolist()
        at += rollstat.rolling_argkth(part, 1, window, **given).tolist()
    assert found["new0"].to_pylist() == [None if value != value else value for value in total]
    assert found["new1"].to_pylist() == [None if row < 0 else row for row in at]


CASES = st.tuples(
    st.sampled_from(WINDOWS), st.sampled_from([None, "left", "both"]), st.just("past")
) | st.tuples(
    st.sampled_from(["1 month", "10D", rollstat.Forward("1 month")]),
    st.sampled_from([None, "left"]),
    st.just("all"),
)


@settings(max_examples=80)
@given(
    lengths=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    case=CASES,
    seed=st.integers(0, 2**31),
    zone=st.sampled_from([BERLIN, None]),
)
def test_equal_to_the_array_functions(lengths, sizes, case, seed, zone):
    window, closed, equal_times = case
    rng = np.random.default_rng(seed)
    series = [random_times(length, rng) for length in lengths]
    check(series, sizes, window, zone, closed=closed, equal_times=equal_times)


def test_windows_that_end_before_those_of_earlier_rows():
    times = ["2024-10-30T20", "2024-10-31T10", "2024-11-30T15", "2024-11-30T18"]
    check([np.array(times, "M8[us]")], [3, 1], rollstat.Forward("1 month"))


@pytest.mark.parametrize("window", ["1D", rollstat.Around("1D", 0)])
def test_batches_cut_at_equal_times(window):
    times = np.repeat(np.array(["2024-10-30", "2024-10-31"], "M8[us]"), [5, 4])
    for size in range(1, 9):
        check([times, times[:3]], [size], window, equal_times="all")


def test_a_worker_drops_rows_before_the_months_of_later_rows():
    walk = Walk(plan("1 month"))
    times = np.arange("2024-01-01", "2025-01-01", dtype="M8[h]").astype("M8[us]")
    for batch in cut(table([times], np.zeros(len(times), np.int64)), [500]):
        walk._hold(batch)
        list(walk._step(final=False))
        assert walk.held <= (31 + 3) * 24


@pytest.mark.parametrize("window", ["1 month", pd.offsets.BDay(2)])
@pytest.mark.parametrize("seed", range(4))
def test_at_labels(window, seed):
    rng = np.random.default_rng(seed)
    times, at, y = random_times(80, rng), random_times(30, rng), rng.integers(-9, 9, 80)
    label = np.repeat([False, True], [80, 30])
    order = np.lexsort([label, np.append(times, at)])
    rows = table([np.append(times, at)[order]], np.append(y, np.zeros(30, np.int64))[order])
    rows = rows.append_column("label", pa.array(label[order]))
    schema = T.StructType([*SCHEMA, T.StructField("label", T.BooleanType())])
    request = Request(["key"], ["time", "row"], window, [rs.sum("y")], OPTIONS, zone=BERLIN)
    walk = LabelWalk(on_labels(request.plan(schema, labels=["key", "time"]), 5))
    found = results(walk, [batch for i in range(0, 110, 9) for batch in rows[i : i + 9].to_batches()])
    zoned, labels = in_zone(times, BERLIN), in_zone(at, BERLIN)
    wanted = rollstat.rolling_sum(y, window, min_periods=1, times=zoned, at=labels).tolist()
    assert found["new0"].filter(found["label"]).to_pylist() == [None if v != v else v for v in wanted]


@pytest.mark.parametrize("split", [None, 3])
def test_the_clock_of_the_session_counts(spark, split):
    times = pd.date_range("2024-09-20", "2024-12-20", freq="7h", unit="us").repeat(2).to_numpy()
    y = np.random.default_rng(3).integers(-9, 9, len(times))
    seconds = times.astype("M8[s]").astype(np.int64)
    frame = spark.createDataFrame(pa.table({"s": seconds, "row": range(len(times)), "y": y}))
    aggs = [rs.sum("y").over("1 month", "2 quarters"), rs.sum("y").over("1 day", equal_times="all")]
    windows = {"1mo": "1 month", "2q": "2 quarters", "1D": "1D"}
    zoned = in_zone(times, spark.conf.get("spark.sql.session.timeZone"))
    ordered = frame.withColumn("time", F.timestamp_seconds("s"))
    found = rs.rolling(ordered, order_by=["time", "row"], aggs=aggs, split=split).orderBy("row").toArrow()
    for name, window in windows.items():
        ties = {"equal_times": "all"} if name == "1D" else {}
        wanted = rollstat.rolling_sum(y, window, times=zoned, **ties)
        assert found[f"y_sum_{name}"].to_pylist() == wanted.tolist(), name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zone": None}, "the session's time zone is not known here: cast it to timestamp_ntz"),
        ({"zone": "GMT+8:77"}, "spark.sql.session.timeZone must be a zone that Python knows; got"),
        ({"descending": True}, "descending must be False for calendar units"),
        ({"window": "1 month 3 days"}, "window must be a duration such as"),
        (
            {"window": pd.DateOffset(month=1)},
            "window must not be a fixed year or month on Spark; got <DateOffset",
        ),
        ({"order_by": ["row"]}, "needs datetimes as times"),
        (
            {"window": 3, "options": {"equal_times": "all"}},
            "equal_times='all' needs a time window; got 3",
        ),
    ],
)
def test_mistakes_are_named(change, message):
    given = {"partition_by": ["key"], "order_by": ["time"], "window": "1 month", "aggs": STATISTICS}
    given |= {"options": OPTIONS, "zone": BERLIN}
    with pytest.raises((TypeError, ValueError), match=message):
        Request(**given | change).plan(SCHEMA)


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 60), min_size=1, max_size=3),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    window=st.sampled_from(["1 month", "2 quarters"]),
    horizon=st.sampled_from([1, 2]),
    zone=st.sampled_from([BERLIN, None]),
    seed=st.integers(0, 2**31),
)
def test_streams_of_months(lengths, sizes, window, horizon, zone, seed):
    rng = np.random.default_rng(seed)
    every = [random_times(length, rng) for length in lengths]
    y = rng.integers(-9, 9, sum(lengths))
    late = rng.integers(0, 1 + 20 * 24 * (horizon - 1), sum(lengths)) * np.timedelta64(1, "h")
    order = np.argsort(np.concatenate(every) + late, kind="stable")
    series, state = SeriesRows(plan(window, zone), horizon=horizon, part=5), Entries()
    returned, number = np.zeros(sum(lengths), np.bool_), np.repeat(np.arange(len(lengths)), lengths)
    for batch in cut(table(every, y).take(pa.array(order)), sizes):
        for found in series.run(batch, state):
            rows = np.asarray(found["row"])
            assert found["fate"].to_pylist() == [RETURNED] * len(rows)
            returned[rows] = True
            for own in np.unique(number[rows]):
                so_far = np.flatnonzero(returned & (number == own))
                times = in_zone(np.concatenate(every)[so_far], zone)
                total = rollstat.rolling_sum(y[so_far], window, min_periods=1, times=times)
                wanted = total[np.searchsorted(so_far, rows[number[rows] == own])]
                assert np.asarray(found["new0"])[number[rows] == own].tolist() == wanted.tolist()


def test_the_state_of_a_stream_holds_a_month():
    series, state = SeriesRows(plan("1 month"), horizon=1, part=50), Entries()
    times = np.arange("2024-01-01", "2025-01-01", dtype="M8[h]").astype("M8[us]")
    for batch in cut(table([times], np.zeros(len(times), np.int64)), [500]):
        list(series.run(batch, state))
        assert len(state) <= 33 * 24 // 50 + 2


def test_a_restarted_stream_may_take_shorter_months():
    before, after = (definition_of(plan(window), SCHEMA, None, None) for window in ("2 quarters", "1 month"))
    check_restart(before, after)
    with pytest.raises(ValueError, match="window was 1mo and is 2q"):
        check_restart(after, before)


def test_offsets_are_not_split_and_streams_take_only_months(spark):
    frame = spark.range(1).selectExpr("id as key", "timestamp_seconds(id) as time", "id as y")
    request = {"order_by": "time", "aggs": [rs.sum("y")]}
    with pytest.raises(
        ValueError, match=r"split must be 1 for a window of a DateOffset, <2 \* BusinessDays>; got 3"
    ):
        rs.rolling(frame, window=pd.offsets.BDay(2), split=3, **request)
    stream = (
        spark.readStream.format("rate").load().selectExpr("value as key", "timestamp as time", "value as y")
    )
    for aggs, message in (
        (
            rs.sum("y").over(pd.offsets.BDay(2)),
            "text such as '1 month' on a stream.*got a window of a DateOffset",
        ),
        (rs.sum("y").over("1 day", equal_times="all"), "must not look ahead"),
    ):
        with pytest.raises(ValueError, match=message):
            rs.rolling_stream(stream, partition_by="key", order_by="time", aggs=[aggs], window=3)
