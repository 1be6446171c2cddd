"""Rows that arrive after newer ones: results are those of the function over the rows in order of time."""

import pickle

import numpy as np
import pytest

import rollstat
from rollstat.operators import Sum
from rollstat.streaming import STREAMS
from tests.streaming.cases import (
    CASES,
    NAMED,
    SUMS,
    batch,
    columns_of,
    identity,
    make,
    outputs,
    same,
    samples,
    typical,
)

LATENESS = 9
LATE = [name for name in STREAMS if name != "linear_fit" and not name.startswith("ewm")]
FIRST = typical([(name, sample) for name, sample in NAMED if name in LATE])
N = 40


def arrivals(rng, n=N):
    """Times with ties, and an order in which none arrives more than LATENESS late."""
    times = np.sort(rng.integers(0, n, n))
    return times, np.argsort(times + rng.integers(0, LATENESS + 1, n), kind="stable")


def check_prefixes(name, sample, columns, times, order, insert, **options):
    """Insert rows as they arrive, and compare each result."""
    for number in range(1, len(order) + 1):
        arrived = order[:number]
        by_time = arrived[np.argsort(times[arrived], kind="stable")]
        got = outputs(insert(arrived[-1]))
        given = [column[by_time] for column in columns]
        wanted = batch(name, sample, given, 5.0, times=times[by_time].astype(float), **options)
        same(name, [[value] for value in got], [value[-1:] for value in wanted])


@pytest.mark.parametrize(("name", "sample"), FIRST, ids=identity)
def test_any_order_within_the_bound(name, sample, rng):
    columns, (times, order) = columns_of(name, rng, N), arrivals(rng)
    stream = make(name, sample, 5.0, lateness=float(LATENESS), min_periods=2)

    def insert(row):
        nonlocal stream
        result = stream.insert(*(column[row] for column in columns), times[row])
        if row % 8 == 0:
            stream = rollstat.restore(stream.snapshot())
        elif row % 8 == 4:
            stream = pickle.loads(pickle.dumps(stream)).copy()
        return result

    check_prefixes(name, sample, columns, times, order, insert, min_periods=2)
    newest = times[order].max()
    more = [column[order] for column in columns]
    results = outputs(stream.extend(*more, times=newest + np.sort(times)))
    twin = make(name, sample, 5.0, lateness=float(LATENESS), min_periods=2)
    before = order[np.argsort(times[order], kind="stable")]
    twin.extend(*(column[before] for column in columns), times=times[before])
    same(name, results, outputs(twin.extend(*more, times=newest + np.sort(times))))
    assert len(stream) == len(twin)


@pytest.mark.parametrize(
    ("name", "sample"), [case for case in CASES if len(samples(case[0])) > 1], ids=identity
)
def test_every_parameter(name, sample, rng):
    columns, (times, order) = columns_of(name, rng, N), arrivals(rng)
    stream = make(name, sample, 5.0, lateness=float(LATENESS))

    def insert(row):
        return stream.insert(columns[0][row], times[row])

    check_prefixes(name, sample, columns, times, order, insert)


@pytest.mark.parametrize("name", ["median", "argmax", "ptp", "nunique", "sum"])
def test_other_dtypes(name, rng):
    sample = samples(name)[0]
    for dtype in ("i8", "m8[s]") if name != "sum" else ("i8",):
        columns, (times, order) = columns_of(name, rng, N, dtype), arrivals(rng)
        stream = make(name, sample, 5.0, lateness=float(LATENESS), dtype=dtype)

        def insert(row, stream=stream, columns=columns, times=times):
            return stream.insert(columns[0][row], times[row])

        check_prefixes(name, sample, columns, times, order, insert)


@pytest.mark.parametrize("name", ["median", "min", "mode", "sum"])
def test_many_rows(name, rng):
    sample, columns, times = samples(name)[0], columns_of(name, rng, 600), rng.integers(0, 600, 600) / 100.0
    order = rng.permutation(600)
    stream = make(name, sample, 5.0, lateness=9.0)
    for row in order.tolist():
        got = stream.insert(columns[0][row], times[row])
    by_time = order[np.argsort(times[order], kind="stable")]
    wanted = batch(name, sample, [columns[0][by_time]], 5.0, times=times[by_time])
    same(name, [[got]], [wanted[0][-1:]])


def test_rows_that_are_too_late_change_nothing():
    stream = rollstat.RollingMean("10s", lateness="1min")
    stream.push(1.0, np.datetime64("2026-01-01T00:02:00"))
    before = stream.snapshot()
    with pytest.raises(ValueError, match="t must be at most lateness, 1min, before the newest time"):
        stream.insert(1.0, np.datetime64("2026-01-01T00:00:59"))
    with pytest.raises(ValueError, match="t must not decrease"):
        stream.push(1.0, np.datetime64("2026-01-01T00:01:59"))
    assert stream.snapshot() == before
    assert stream.insert(9.0, np.datetime64("2026-01-01T00:01:00")) == 1.0
    assert stream.insert(2.0, np.datetime64("2026-01-01T00:01:55")) == 1.5


def test_streams_that_take_no_late_rows():
    with pytest.raises(TypeError, match="insert needs a stream made with lateness="):
        rollstat.RollingSum(5).insert(1.0, 2.0)
    for window, lateness in [(5, 3.0), ("5s", 3.0), (None, "5s")]:
        with pytest.raises(TypeError, match="lateness must be a duration like window"):
            rollstat.RollingMax(window, lateness=lateness)
    for make_stream in (
        lambda: rollstat.RollingLinearFit(5.0, lateness=1.0),
        lambda: rollstat.RollingSum(5.0, lateness=1.0, algorithm="daba"),
        lambda: rollstat.TimeAggregate(Sum(), 5, dtype=object, lateness=1),
    ):
        with pytest.raises(ValueError, match="lateness supports operators over numbers"):
            make_stream()
    assert {name for name in SUMS if name not in LATE} <= {"linear_fit", *(n for n in SUMS if n[:3] == "ewm")}


def test_any_operator_over_time():
    stream = rollstat.TimeAggregate(lambda older, newer: older, 10, lateness=5)  # the first element
    assert [stream.push(1.0, 0), stream.push(2.0, 8), stream.insert(3.0, 4)] == [1.0, 1.0, 1.0]
    assert [stream.push(4.0, 11), stream.insert(5.0, 6), stream.push(6.0, 15)] == [3.0, 3.0, 5.0]


def test_errors_show_times():
    for made, times, text in (
        (
            "5min",
            ["2024-01-01T10", "2024-01-01T09"],
            "got 2024-01-01T09:00:00 after 2024-01-01T10:00:00",
        ),
        ("5min", [np.timedelta64(4, "m"), np.timedelta64(2, "m")], "got 2min after 4min"),
        (5.0, [4.0, 2.0], r"got 2\.0 after 4\.0"),
    ):
        times = np.array(times, "M8[m]") if isinstance(times[0], str) else np.array(times)
        stream = rollstat.RollingMean(made)
        with pytest.raises(ValueError, match=f"times must not decrease; {text}"):
            stream.extend([1.0, 2.0], times=times)
        stream.push(1.0, times[0])
        with pytest.raises(ValueError, match=f"t must not decrease; {text}"):
            stream.push(2.0, times[1])
        with pytest.raises(ValueError, match=f"times must not decrease; {text}"):
            stream.extend([2.0], times=times[1:])
