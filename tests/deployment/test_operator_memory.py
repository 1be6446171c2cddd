"""Memory of many operators of users, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

_BEGIN = """
import gc
import numpy as np, rollstat
from rollstat.compile import jit
from rollstat.operators import interface
values = np.arange(5.0)
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) / 256  # MiB, of pages of 4 KiB
def run(operator):
    got = rollstat.rolling_aggregate(values, operator, 2, mode="valid", check=False).tolist()
    assert got == [operator(a, b) for a, b in zip(values.tolist(), values[1:].tolist())], got
def other(i):
    return eval(f"lambda older, newer: older + {i}.5 * newer")
"""
_NUMBERS = """
def make(number):
    return lambda older, newer: older + number * newer
run(make(0.5))
before = resident()
for i in range(1000):
    run(make(i + 0.25))
print(resident() - before)
"""
_CODE = """
interface._MOST_CLASSES = 3
first, stream = other(0), rollstat.FixedAggregate(other(1), 2)
run(first)
for i in range(2, 5):
    run(other(i))
before = resident()
for i in range(5, 11):
    run(other(i))
print((resident() - before) / 6)
assert len(interface._classes) == 3
signatures = [signature for kernel in list(jit._dispatchers) for signature in kernel.overloads]
types = {str(each).partition("(")[0] for signature in signatures for each in signature}
assert 1 <= sum("_lambda_" in text for text in types) <= 3, types
run(first)
assert [stream.push(x) for x in (1.0, 2.0)][1] == other(1)(1.0, 2.0)
"""


def _megabytes(script, folder):
    root = str(Path(__file__).resolve().parents[2])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": root}
    command = [sys.executable, "-c", _BEGIN + script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the resident memory"),
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled"),
]


def test_a_thousand_operators_that_differ_in_numbers_share_a_kernel(tmp_path):
    assert _megabytes(_NUMBERS, tmp_path) < 100


def test_the_least_recently_used_operators_are_released(tmp_path):
    assert _megabytes(_CODE, tmp_path) < 1.5
