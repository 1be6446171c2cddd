"""One stream used by several threads: each call works, or raises that another thread uses the stream."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys, threading, time
import numpy as np, rollstat

make, most, timed = lambda: eval(sys.argv[1]), int(sys.argv[2]), "10s" in sys.argv[1]
stream = make()
x, other = (1, 1.0) if "object" in sys.argv[1] else (1.0, 1)
now = np.datetime64("now", "ns")
time_of_row, of_rows = ((now,), {"times": np.full(300, now)}) if timed else ((), {})
given = np.full(300, x, object if "object" in sys.argv[1] else float)
added, refused, failures = [], [], []

def work(number):
    calls = [
        (1, lambda: stream.push(x, *time_of_row)),
        (1, lambda: stream.push(other, *time_of_row)),
        (300, lambda: stream.extend(given, **of_rows)),
        (0, lambda: stream.value),
        (0, lambda: len(stream)),
        (0, lambda: stream.copy()),
    ]
    if "None" in sys.argv[1] or "Sliding" in sys.argv[1]:
        calls.append((-2, lambda: stream.pop(2)))
    end, turn = time.time() + 1, number
    while time.time() < end:
        rows, call = calls[turn % len(calls)]
        turn += 1
        try:
            call()
            added.append(rows)
        except RuntimeError as error:
            refused.append(str(error))
        except ValueError as error:
            assert "n must be at most" in str(error)
        except BaseException as error:
            failures.append(repr(error))
            raise

stream.push(x, *time_of_row), stream.push(other, *time_of_row), stream.extend(given, **of_rows)  # load code
stream.reset()
sys.setswitchinterval(1e-6)
workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert not failures, failures[0]
assert all("another thread is using it" in text for text in refused), refused[0]
rows = min(sum(added), most or sum(added))
assert len(stream) == rows, (len(stream), rows)
twin = make()
twin.extend(np.resize(given, rows), **({"times": np.full(rows, now)} if timed else {}))
assert stream.value == twin.value, (stream.value, twin.value)
"""
# Streams, and how many rows they have at most.
STREAMS = {
    "compiled": ("rollstat.RollingMedian(1_000, min_periods=1)", 1_000),
    "sorted": ("rollstat.RollingNunique(1_000, min_periods=1)", 1_000),
    "time, states": ("rollstat.RollingMean('10s')", 0),
    "time, rows": ("rollstat.RollingMin('10s')", 0),
    "expanding, rows": ("rollstat.RollingMedian(rollstat.Expanding())", 0),
    "expanding, states": ("rollstat.RollingVar(rollstat.Expanding(), min_periods=1)", 0),
    "free": ("rollstat.RollingMax(None)", 0),
    "operator": ("rollstat.FixedAggregate(rollstat.operators.Sum(), 9, min_periods=1)", 9),
    "sliding": ("rollstat.SlidingAggregate(rollstat.operators.Sum())", 0),
    "objects": ("rollstat.FixedAggregate(lambda a, b: a + b, 9, min_periods=1, dtype=object)", 9),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_four_threads_with_one_stream(stream):
    call = [sys.executable, "-c", SCRIPT, *map(str, STREAMS[stream])]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
