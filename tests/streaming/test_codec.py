"""A process that is killed between snapshot and restore."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

import rollstat

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
