"""A process that is killed between snapshot and restore, and bytes of this release."""

import base64
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rollstat
from rollstat import operators
from rollstat.streaming import STREAMS
from rollstat.streaming.base import CLASSES
from tests.streaming.cases import AGGREGATES, NAMED, columns_of, identity, make, outputs, push_all, same

DATA = Path(__file__).parent / "data"
GOLDEN = DATA / "snapshots_1.json"
# Of windows of rows that keep the rows themselves.
GOLDEN_ROWS = DATA / "snapshots_1_rows.json"

FIRST_HALF = """
import sys, numpy as np, rollstat
stream = rollstat.RollingQuantile(7, 0.3, min_periods=2)
for x in np.random.default_rng(5).normal(size=40)[:23]:
    stream.push(x)
sys.stdout.buffer.write(stream.snapshot())
sys.stdout.flush()
import time
time.sleep(600)
"""


def test_a_killed_process_is_continued_exactly():
    values = np.random.default_rng(5).normal(size=40)
    length = len(rollstat.RollingQuantile.from_tail(values[:23], 7, 0.3, min_periods=2).snapshot())
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)}
    process = subprocess.Popen([sys.executable, "-c", FIRST_HALF], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    with process.stdout:
        data = process.stdout.read(length)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    stream = rollstat.restore(data)
    wanted = rollstat.rolling_quantile(values, 7, 0.3, min_periods=2)[23:]
    assert [stream.push(x) for x in values[23:]] == wanted.tolist()


ROWS = list({name: (name, sample) for name, sample in reversed(AGGREGATES)}.values())


def golden_stream(name, sample):
    """The stream whose bytes are kept: twenty rows, some missing."""
    stream = make(name, sample, 5, min_periods=2)
    columns = columns_of(name, np.random.default_rng(11), 32)
    push_all(stream, [column[:20] for column in columns])
    return stream, [column[20:] for column in columns]


# Statistics that the first release did not have.
ADDED = {"argminmax", "gini"}
FIRST_RELEASE = [(name, sample) for name, sample in NAMED if name not in ADDED]


@pytest.mark.parametrize(("name", "sample"), FIRST_RELEASE, ids=identity)
def test_snapshots_of_the_first_release_are_read(name, sample):
    kept = json.loads(GOLDEN.read_text())
    stream, rest = golden_stream(name, sample)
    restored = rollstat.restore(base64.b64decode(kept[name]))
    assert type(restored) is STREAMS[name]
    # Sums had a state for each row, and combine them in another order.
    same(name, push_all(restored, rest), push_all(stream, rest))
    again = rollstat.restore(restored.snapshot())
    columns = columns_of(name, np.random.default_rng(12), 40)
    for part in (slice(0, 3), slice(3, 40)):
        given = [column[part] for column in columns]
        wanted = outputs(stream.extend(*given))
        same(name, outputs(restored.extend(*given)), wanted)
        same(name, outputs(again.extend(*given)), wanted)


@pytest.mark.parametrize(("name", "sample"), ROWS, ids=identity)
def test_snapshots_with_rows_are_read(name, sample):
    stream, rest = golden_stream(name, sample)
    restored = rollstat.restore(base64.b64decode(json.loads(GOLDEN_ROWS.read_text())[name]))
    assert repr(push_all(restored, rest)) == repr(push_all(stream, rest))


GENERAL_VALUES = [3.0, -1.5, math.nan, 8.0, 0.25, 4.0, -7.0]

# A stream of each general class, and what is done with it before and after its bytes were kept.
GENERAL = {
    "FixedAggregate": (
        lambda: rollstat.FixedAggregate(operators.Variance(0), 5, min_periods=2),
        lambda stream, start: [stream.push(x) for x in GENERAL_VALUES],
    ),
    "SlidingAggregate": (
        lambda: rollstat.SlidingAggregate(operators.Maximum(), algorithm="daba"),
        lambda stream, start: [(stream.push(x), stream.pop(2 * (len(stream) > 3))) for x in GENERAL_VALUES],
    ),
    "TimeAggregate": (
        lambda: rollstat.TimeAggregate(operators.Sum(), 5.0),
        lambda stream, start: [stream.push(x, start + i) for i, x in enumerate(GENERAL_VALUES)],
    ),
    "GreedyAggregate": (
        lambda: rollstat.GreedyAggregate(operators.Mean()),
        lambda stream, start: (
            [stream.push(x) for x in GENERAL_VALUES]
            + [stream.move(start + i, start + 2 + i) for i in range(6)]
        ),
    ),
    "RollingKth by three_trees": (
        lambda: rollstat.RollingKth(-2, 4, min_periods=2, algorithm="three_trees"),
        lambda stream, start: [stream.push(x) for x in GENERAL_VALUES],
    ),
}


@pytest.mark.parametrize("name", GENERAL)
def test_general_snapshots_of_the_first_release_are_read(name):
    make_stream, use = GENERAL[name]
    stream = make_stream()
    use(stream, 0)
    restored = rollstat.restore(base64.b64decode(json.loads(GOLDEN.read_text())[name]))
    assert type(restored) is type(stream)
    assert repr(use(restored, len(GENERAL_VALUES))) == repr(use(stream, len(GENERAL_VALUES)))


def test_no_golden_snapshot_is_forgotten():
    kept = json.loads(GOLDEN.read_text())
    assert set(kept) == {name for name, _ in FIRST_RELEASE} | set(GENERAL)
    assert set(json.loads(GOLDEN_ROWS.read_text())) == {name for name, _ in ROWS}
    restored = {type(rollstat.restore(base64.b64decode(data))) for data in kept.values()}
    assert restored == set(CLASSES.values()) - {STREAMS[name] for name in ADDED}
