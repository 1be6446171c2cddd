"""A process that is killed between snapshot and restore, and bytes of this release."""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rollstat
from rollstat.streaming import STREAMS
from tests.streaming.cases import FIRST, columns_of, identity, make, push_all

GOLDEN = Path(__file__).parent / "data" / "snapshots_1.json"

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


def golden_stream(name, sample):
    """The stream whose bytes are kept: twenty rows, some missing."""
    stream = make(name, sample, 5, min_periods=2)
    columns = columns_of(name, np.random.default_rng(11), 32)
    push_all(stream, [column[:20] for column in columns])
    return stream, [column[20:] for column in columns]


@pytest.mark.parametrize(("name", "sample"), FIRST, ids=identity)
def test_snapshots_of_the_first_release_are_read(name, sample):
    kept = json.loads(GOLDEN.read_text())
    stream, rest = golden_stream(name, sample)
    restored = rollstat.restore(base64.b64decode(kept[name]))
    assert type(restored) is STREAMS[name]
    assert np.array_equal(
        np.array(push_all(restored, rest)), np.array(push_all(stream, rest)), equal_nan=True
    )


def test_no_golden_snapshot_is_forgotten():
    assert set(json.loads(GOLDEN.read_text())) == {name for name, _ in FIRST}
