"""The first calls of a process come from several threads at once: functions of users are compiled for all."""

import subprocess
import sys

import pytest
from numba import config

SCRIPT = """
import threading, warnings
import numpy as np, rollstat

warnings.simplefilter("error")
x, errors, barrier = np.arange(30.0), [], threading.Barrier(4)

def run(number):
    barrier.wait()
    try:
        if number % 2:
            found = rollstat.rolling_apply(x, lambda window: window.max() - window[0], 3)
        else:
            found = rollstat.rolling_aggregate(x, lambda a, b: max(a, b), 3) - np.arange(-2.0, 28.0)
        np.testing.assert_array_equal(found[2:], 2.0)
    except Exception as error:
        errors.append(error)

threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_functions_and_operators():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
