"""Pushes and pops through compiled steps: that they are taken, and what they do with every kind of object."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from numba import config

import rollstat
from rollstat.streaming import STREAMS
from rollstat.streaming.table import OperatorRow
from tests.streaming.cases import NAMED, batch, identity, make, outputs, push_all, same, typical

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

N = 300
# Ties, zeros of both signs, infinities and missing values; steps of times that are often 0, or empty windows.
VALUES = [0.0, -0.0, np.nan, 1.0, 1.0, -3.5, np.inf, 2.0, -np.inf, 7.0, 1e300, -1e-300]
STEPS = [0, 0, 1, 2, 3, 5, 40]


def counted(stream):
    """Count the calls of a stream that no compiled step takes."""
    calls = []
    for name in ("_push", "_pop"):
        method = getattr(stream, name)
        setattr(stream, name, lambda *given, method=method: (calls.append(given), method(*given))[1])
    return calls


def compiled(name):
    row = STREAMS[name]._row
    return isinstance(row, OperatorRow) or (row.step is not None and not name.endswith("minmax"))


CASES = typical([case for case in NAMED if compiled(case[0])])


@pytest.mark.parametrize(("name", "sample"), CASES, ids=identity)
@pytest.mark.parametrize("kind", ["rows", "time", "number", "expanding", "free"])
def test_every_window_equals_the_function(name, sample, kind, rng):
    given = {"rows": 5, "time": "10s", "number": 10.0, "expanding": rollstat.Expanding(), "free": None}
    window = given[kind]
    exact = VALUES if not isinstance(STREAMS[name]._row, OperatorRow) else VALUES[:6]
    columns = [rng.choice(exact, N) for _ in range(rollstat.registry.REGISTRY[name].series)]
    seconds = np.cumsum(rng.choice(STEPS, N))
    times = {"time": seconds.astype("M8[s]"), "number": seconds.astype(float)}.get(kind)
    least = {"min_periods": 2} if kind == "rows" else {}
    stream = make(name, sample, window, **least)
    calls = counted(stream)
    got = push_all(stream, columns, times)
    options = least if times is None else {"times": times}
    wanted = batch(name, sample, columns, rollstat.Expanding() if kind == "free" else window, **options)
    same(name, got, wanted)
    # The first time says of which kind times are; memory grows in Python.
    assert len(calls) <= {"rows": 0, "time": 2, "number": 1, "expanding": 3, "free": 3}[kind]
    if kind == "free":
        before = len(calls)
        for start in range(7, N - 1, 7):
            value = stream.pop(7)
            if start % 49 == 0:
                rest = [column[start:] for column in columns]
                found = [w[-1:] for w in batch(name, sample, rest, rollstat.Expanding())]
                if name.startswith("arg"):
                    found = [np.where(rows >= 0, rows + start, -1) for rows in found]
                same(name, [[v] for v in outputs(value)], found)
        assert len(calls) == before


@pytest.mark.parametrize("name", ["median", "mean", "max"])
def test_times_of_every_kind(name):
    """Pushes of the same times as other objects give the same results, and errors change nothing."""
    start = datetime(2024, 2, 28, 23, 59, 50)
    rows = [(1.0, 0), (4.0, 3), (2.0, 3), (8.0, 11), (3.0, 13), (5.0, 900), (6.0, 901)]
    kinds = {
        "datetime64[s]": lambda s: np.datetime64(start, "s") + s,
        "datetime64[ms]": lambda s: np.datetime64(start, "ms") + np.timedelta64(s, "s"),
        "datetime64[ns]": lambda s: np.datetime64(start, "ns") + np.timedelta64(s, "s"),
        "datetime": lambda s: (np.datetime64(start, "us") + np.timedelta64(s, "s")).item(),
        "aware": lambda s: (np.datetime64(start, "us") + np.timedelta64(s, "s")).item().replace(tzinfo=UTC),
        "Timestamp": lambda s: pd.Timestamp(start) + pd.Timedelta(s, "s"),
        "timedelta64": lambda s: np.timedelta64(s, "s"),
        "timedelta": lambda s: np.timedelta64(s, "s").item(),
        "10 ms": lambda s: np.timedelta64(s, "s").astype("m8[10ms]"),
    }
    answers = {}
    for kind, make_time in kinds.items():
        stream = STREAMS[name]("10s")
        answers[kind] = [stream.push(x, make_time(s)) for x, s in rows]
        before = stream.snapshot()
        others = [np.timedelta64(2000, "s")] if "delta" not in kind and "10" not in kind else []
        others += [np.datetime64("NaT"), make_time(900), 901, 901.5, None, np.datetime64(2**62, "D"), "now"]
        others += [np.datetime64("2030-01-01", "s")] if kind == "aware" or "delta" in kind else []
        for bad in others:
            with pytest.raises((TypeError, ValueError)):
                stream.push(1.0, bad)
            assert stream.snapshot() == before
        assert stream.push(6.0, make_time(902)) == stream.value
    assert len({str(found) for found in answers.values()}) == 1
    stream = STREAMS[name](10.0)
    assert [stream.push(x, s) for x, s in rows] == answers["timedelta"]
    before = stream.snapshot()
    for bad in (900, 900.5, np.nan, True, None, 2**60 + 1, "902", np.timedelta64(902, "s")):
        with pytest.raises((TypeError, ValueError)):
            stream.push(1.0, bad)
    assert stream.snapshot() == before
    assert stream.push(7, np.float32(903)) == stream.value


@pytest.mark.parametrize("name", ["median", "mean", "max"])
def test_memory_follows_the_window(name):
    """Bursts and gaps: rings grow and shrink between compiled pushes, and missing rows have times too."""
    stream, calls = STREAMS[name]("1s"), None
    time, kept = np.datetime64(0, "ms"), []
    for burst in (10, 3000, 5, 200, 700):
        calls = counted(stream)
        for i in range(burst):
            time += np.timedelta64(0 if i else 2000, "ms")
            kept = [x for x in kept if i] + [np.nan if i % 3 == 1 else float(i * 7 % 100)]
            stream.push(kept[-1], time)
        function = {"median": np.nanmedian, "mean": np.nanmean, "max": np.nanmax}[name]
        assert stream.value == pytest.approx(function(kept), rel=1e-12)
        assert len(stream) == burst
        assert len(calls) <= 20
        del stream._push, stream._pop
        stream = rollstat.restore(stream.snapshot())


def test_infinite_numbers_that_are_missing():
    streams = [rollstat.RollingMean(3, min_periods=1, inf="missing"), rollstat.RollingMax(3.0, inf="missing")]
    calls = [counted(stream) for stream in streams]
    assert [streams[0].push(x) for x in (1.0, np.inf, 3.0, -np.inf)] == [1.0, 1.0, 2.0, 3.0]
    assert [streams[1].push(x, t) for t, x in enumerate((1.0, np.inf, 3.0, -np.inf))] == [1.0, 1.0, 3.0, 3.0]
    assert [len(each) for each in calls] == [0, 0]


def test_a_bound_method_survives_reset_and_growth():
    stream = rollstat.RollingMedian(None)
    push, pop = stream.push, stream.pop
    for i in range(500):
        push(float(i))
    assert pop(499) == 499.0
    stream.reset()
    assert push(3.0) == 3.0
    del stream
    assert (push(5.0), pop(n=1)) == (4.0, 5.0)
