"""Calls with threads at the end of the interpreter, when no other thread can start."""

import subprocess
import sys

import pytest

CALL = """
import numpy as np, rollstat
rollstat.rolling_sum([1.0], 1)  # a process that has used the package before
def call():
    x = np.arange(500_000.0)
    result = rollstat.rolling_sum(x, 3, threads=2)
    print(bool((result[2:] == 3 * x[1:-1]).all()))
"""
AT_EXIT = "import atexit\natexit.register(call)\n"
AFTER_THE_MAIN_THREAD = """
import threading, time
def later():
    while threading.main_thread().is_alive():
        time.sleep(0.01)
    call()
threading.Thread(target=later).start()
"""


@pytest.mark.parametrize("end", [AT_EXIT, AFTER_THE_MAIN_THREAD])
def test_one_thread_computes_when_no_other_can_start(end):
    done = subprocess.run([sys.executable, "-c", CALL + end], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
