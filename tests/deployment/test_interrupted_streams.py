"""Streams whose calls are interrupted anywhere: as before the call, or closed until a reset."""

import subprocess
import sys

import pytest

# An interrupt comes at a random moment. The rows that calls have returned for are counted. An interrupted
# stream equals one that takes these rows alone, or also the rows of a call that returned uncounted.
INTERRUPTS = """
import gc, random, signal, sys, time
import numpy as np, rollstat
from rollstat import operators
from rollstat.streaming.named import STREAMS

armed = False
def interrupt(number, frame):
    if armed:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
gc.disable()  # whose callbacks are no part of a stream

def join(older, newer):
    return older + newer

def equal(found, wanted):
    np.testing.assert_allclose(np.array(found, np.float64), np.array(wanted, np.float64), 1e-9, 1e-9)

def elements(kind, row):
    x = float(row * 7 % 11)
    series = 2 if kind.startswith("two ") else 1
    return (x, x * x % 5)[:series] + ((float(row),) if kind.endswith("timed") else ())

# Python handles signals after a call with *arguments has returned, so these have none.
PUSH = {
    "": lambda stream, x: stream.push(x[0]),
    "two ": lambda stream, x: stream.push(x[0], x[1]),
    "timed": lambda stream, x: stream.push(x[0], x[1]),
    "two timed": lambda stream, x: stream.push(x[0], x[1], x[2]),
}
EXTEND = {
    "": lambda stream, x: stream.extend(x[0]),
    "two ": lambda stream, x: stream.extend(x[0], x[1]),
    "timed": lambda stream, x: stream.extend(x[0], times=x[1]),
    "two timed": lambda stream, x: stream.extend(x[0], x[1], times=x[2]),
}

def fill(stream, kind, rows):
    for row in range(rows):
        PUSH[kind](stream, elements(kind, row))

def pushes(stream, kind, counts):
    push = PUSH[kind]
    while counts[1] < 60:
        push(stream, elements(kind, counts[1]))
        counts[1] += 1

def drops(stream, kind, counts):
    while counts[1] - counts[0] > 3:
        stream.pop(2)
        counts[0] += 2

def extends(length):
    def extend(stream, kind, counts):
        columns = [np.array(x) for x in zip(*(elements(kind, counts[1] + i) for i in range(length)))]
        EXTEND[kind](stream, columns)
        counts[1] += length
    return extend

def interrupted(after, change, *arguments):
    # Returns whether the change was interrupted; no signal comes after it.
    global armed
    armed = True
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        change(*arguments)
        armed = False
    except KeyboardInterrupt:
        armed = False
        return True
    signal.setitimer(signal.ITIMER_REAL, 0)
    return False

def compare(stream, make, kind, first, last):
    # Raises unless the stream is as one that took the rows up to `last` and dropped those before `first`.
    twin = make()
    fill(twin, kind, last)
    if first:
        twin.pop(first)
    equal(stream.value, twin.value)
    for row in range(last, last + 12):
        x = elements(kind, row)
        equal(PUSH[kind](stream, x), PUSH[kind](twin, x))

def attempt(make, kind, change, after):
    # Returns whether the call was interrupted, and whether the stream is closed.
    stream, counts = make(), [0, 17]
    fill(stream, kind, 17)
    stopped = interrupted(after, change, stream, kind, counts)
    try:
        stream.value
    except RuntimeError as error:
        assert stopped and "must not be used" in str(error), (kind, error)
        stream.reset()
        counts[:] = 0, 0
        closed = True
    else:
        closed = False
    # Python handles a signal after a compiled call has returned, and before the call is counted.
    counted = tuple(counts)
    uncounted = (counts[0] + 2, counts[1]) if change is drops else (counts[0], counts[1] + 1)
    maybe = stopped and not closed and change in (pushes, drops)
    for bounds in (counted, uncounted) if maybe else (counted,):
        try:
            compare(stream.copy(), make, kind, *bounds)
        except AssertionError:
            if bounds == uncounted or not maybe:
                raise
        else:
            break
    return stopped, closed

def search(make, kind, change, times):
    for _ in range(2):  # the first call loads code
        stream = make()
        fill(stream, kind, 17)
        begin = time.perf_counter()
        change(stream, kind, [0, 17])
        took = time.perf_counter() - begin
    times = max(times // int(sys.argv[1]), 2)
    seen.extend(attempt(make, kind, change, random.uniform(1e-6, 1.1 * took)) for _ in range(times))

seen = []
"""
NAMED = """
given = {"kth": (1,), "argkth": (1,), "quantile": (0.3,), "trimmed_mean": (0.1,), "winsorized_mean": (0.1,)}
given |= {"decayed_sum": (0.5,), "decayed_mean": (0.5,)}
def case(statistic, window):
    cls, own = STREAMS[statistic], given.get(statistic, ())
    first = own if statistic.endswith("kth") else ()
    later = () if first else own
    named = {"alpha": 0.5} if statistic.startswith("ewm") else {}
    return lambda: cls(*first, window, *later, min_periods=1, **named)
two = "cov", "corr", "beta", "weighted_mean", "ewm_cov", "ewm_corr"
some = "kth", "argkth", "median", "iqr", "min", "argminmax", "rank", "mad", "sum", "mean", "cov", "ewm_var"
for statistic in STREAMS if sys.argv[1] == "1" else some:
    kind = "two " if statistic in two else ""
    search(case(statistic, 9), kind, pushes, 40)
    search(case(statistic, 9), kind, extends(5), 15)
    search(case(statistic, 9), kind, extends(3_000), 15)
for statistic in ("median", "nunique", "min", "mean", "cov"):
    kind = "two " if statistic in two else ""
    search(case(statistic, 9.0), kind + "timed", pushes, 60)
    search(case(statistic, 9.0), kind + "timed", extends(3_000), 30)
    search(case(statistic, rollstat.Expanding()), kind, pushes, 60)
    search(case(statistic, None), kind, drops, 60)
"""
GENERAL = """
def fixed(dtype):
    return lambda: rollstat.FixedAggregate(join, 9, min_periods=1, dtype=dtype)
def sliding(dtype):
    return lambda: rollstat.SlidingAggregate(join, dtype=dtype)
def timed(dtype):
    return lambda: rollstat.TimeAggregate(join, 9.0, dtype=dtype)
for dtype in (float, object):
    for make, kind in ((fixed, ""), (sliding, ""), (timed, "timed")):
        search(make(dtype), kind, pushes, 100)
        search(make(dtype), kind, extends(400), 60)
    search(sliding(dtype), "", drops, 100)

def moves(stream, kind, counts):
    while counts[0] < 15:
        stream.move(counts[0], counts[0] + 2)
        counts[0] += 1
    pushes(stream, kind, counts)
for dtype in (float, object):
    for turn in range(150 // int(sys.argv[1])):
        stream, counts = rollstat.GreedyAggregate(join, dtype=dtype), [0, 17]
        fill(stream, "", 17)
        if turn == 0:  # loads code, which LLVM does not survive to be interrupted in
            moves(stream, "", counts)
            continue
        interrupted(random.uniform(1e-6, 1e-3), moves, stream, "", counts)
        try:
            assert stream.rows == counts[1]
            first = counts[0]
            assert stream.bounds == ((first - 1, first + 1) if first else (0, 0))
            wanted = sum(elements("", row)[0] for row in range(first, counts[1]))
            assert stream.move(first, counts[1]) == wanted
        except RuntimeError as error:
            assert "must not be used" in str(error)
"""
MEMORY = """
import resource, sys
import numpy as np, rollstat

make, full, timed = lambda: eval(sys.argv[1]), 2**18, "1e9" in sys.argv[1]  # full: its memory must grow
x = np.random.default_rng(1).integers(0, 1_000, full + 100_000).astype(float)

def extend(stream, first, end):
    return stream.extend(x[first:end], **({"times": np.arange(float(first), end)} if timed else {}))

def limit(more):
    used = next(int(row.split()[1]) for row in open("/proc/self/status") if row.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used * 1024 + more if more else -1, -1))

def push(stream):
    return stream.push(x[full], *(float(full),) * timed)

def loop(stream):
    return extend(stream, full, full + 100_000)

filled, failed = make(), 0
extend(filled, 0, full)
for change in (push, loop):
    change(filled.copy())  # loads code
    for more in range(1, 24_000_000, 1_500_000):
        stream = filled.copy()
        before = stream.value, len(stream)
        limit(more)
        try:
            change(stream)
            limit(0)
            continue
        except MemoryError:
            limit(0)
        failed += 1
        try:
            assert (stream.value, len(stream)) == before, (stream.value, len(stream), before)
        except RuntimeError as error:
            assert "must not be used" in str(error)
            stream.reset()
            assert len(stream) == 0
            extend(stream, 0, full)
        np.testing.assert_equal(change(stream), change(filled.copy()))
assert failed
"""
GROWING = [
    "rollstat.RollingMedian(rollstat.Expanding())",
    "rollstat.RollingMin(None)",
    "rollstat.RollingNunique(1e9)",
    "rollstat.SlidingAggregate(rollstat.operators.Sum())",
    "rollstat.TimeAggregate(rollstat.operators.Maximum(), 1e9)",
]


def run(script, *arguments):
    call = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no interval timers")
@pytest.mark.parametrize("cases", [NAMED, GENERAL], ids=["named", "general"])
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)])
def test_interrupts_at_random_moments(cases, share):
    run(
        INTERRUPTS
        + cases
        + """
stopped, closed = np.sum(seen, axis=0)
assert 100 < stopped and 0 < closed < len(seen), (stopped, closed)
""",
        str(share),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit private memory alone")
@pytest.mark.parametrize("stream", GROWING)
def test_memory_errors(stream):
    run(MEMORY, stream)
