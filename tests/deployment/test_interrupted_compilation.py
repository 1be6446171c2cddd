"""Interrupts while kernels are compiled or loaded: KeyboardInterrupt, and the next call is right."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from numba import config

from rollstat.compile.interrupts import held_back

# Interrupts come until every function has returned once, each after a longer time than the one before: at
# first they meet imports and loads, later they meet the compiler.
SCRIPT = """
import os, signal, sys, threading, time
import numpy as np, rollstat

growth, names, armed, came = float(sys.argv[1]), sys.argv[2:], False, 0

def interrupt(number, frame):
    if armed:
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)

def send():
    global delay
    while True:
        time.sleep(delay)
        delay *= growth
        os.kill(os.getpid(), signal.SIGINT)
delay = 0.001
threading.Thread(target=send, daemon=True).start()

x = np.random.default_rng(1).normal(size=50)
windows = np.lib.stride_tricks.sliding_window_view(x, 5)
for name in names:
    result, delay = None, 0.001
    while result is None:
        try:
            armed = True
            result = getattr(rollstat, "rolling_" + name)(x, 5)
            armed = False
        except KeyboardInterrupt:
            armed = False
            came += 1
    np.testing.assert_allclose(result[4:], getattr(np, name)(windows, axis=1), 1e-12)
print(came)
"""


def interrupts(folder, growth, *names):
    """Return how many interrupts the first calls of functions got in a process with this cache folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    call = [sys.executable, "-c", SCRIPT, str(growth), *names]
    done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a process of Windows")
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("trials", "names"), [(1, ["max"]), pytest.param(20, ["max", "mean", "median"], marks=pytest.mark.long)]
)
def test_interrupts_while_kernels_are_compiled_and_loaded(tmp_path, trials, names):
    for trial in range(trials):
        folder, growth = tmp_path / str(trial), 1.05 + trial / 100
        assert interrupts(folder, growth, *names) > 1
        assert list((folder / "rollstat").iterdir())
        assert interrupts(folder, growth, *names) > 1


def test_the_handler_is_called_once_at_the_end():
    came = []

    def note(number, frame):
        came.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        with held_back():
            with held_back():
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            assert came == []
        assert came == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is note
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt), held_back():
            signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with held_back():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_keep_the_handler():
    before, found = signal.getsignal(signal.SIGINT), []

    def look():
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]
