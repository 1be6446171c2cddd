"""The kernel decorator: cache keys, folders that are not writable, private kernels."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, types

from rollstat.compile.jit import kernel
from rollstat.kernels.sums import moment_formulas
from tests.small_package import make_package

ROOT = Path(__file__).resolve().parent.parent.parent


@kernel
def add(one, two):
    return one + two


@kernel
def sum_of_three(value):
    return add(value, 1) + add(value, 2) + add(value, value)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_literals_do_not_specialise_kernels():
    sum_of_three._cache.disable()  # code from disk would not compile `add`
    assert sum_of_three(5) == 23
    assert list(add.inner.overloads) == [(types.int64, types.int64)]


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_private_kernels_cannot_be_called_from_python():
    vector = np.arange(16.0)
    with pytest.raises(TypeError, match="_divide can only be called from other kernels"):
        moment_formulas._divide(vector, vector)


def copy_package(folder):
    """Make a small package of the same name, with a kernel that uses a function of another file."""
    package = make_package(folder)
    header = "from rollstat.compile.jit import kernel\n"
    (package / "kernels" / "high.py").write_text(
        f"{header}from rollstat.kernels.low import low\n@kernel\ndef high(x):\n    return low(x) * 10\n"
    )
    return package


def call(folder, argument="1", **environment):
    """Call the kernel in a new process; return the result and the number of cache hits."""
    code = (
        "from rollstat.kernels.high import *\n"
        f"answer = high({argument})\n"
        "from rollstat.compile.cache import compiled_kernels\n"
        "print(answer, sum(kernel.origin == 'cache' for kernel in compiled_kernels))\n"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    kept |= {"XDG_CACHE_HOME": str(folder / "user"), "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    answer, hits = done.stdout.split()
    return int(answer), int(hits)


def test_a_cache_folder_may_be_named(tmp_path):
    copy_package(tmp_path)
    assert call(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == (20, 0)
    assert call(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == (20, 1)
    assert list((tmp_path / "cache" / "rollstat").iterdir())


def test_kernels_work_without_a_writable_folder(tmp_path):
    copy_package(tmp_path)
    blocked = tmp_path / "file"
    blocked.touch()
    assert call(tmp_path, NUMBA_CACHE_DIR=str(blocked / "below")) == (20, 0)


def test_kernels_run_as_plain_python():
    code = (
        "import numpy as np, rollstat\n"
        "x = np.array([3.0, 1.0, 2.0, np.nan, 5.0] * 20)\n"
        "print(np.nansum(rollstat.rolling_median(x, 7, min_periods=3)))\n"
    )
    results = set()
    for disable in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        results.add(done.stdout)
    assert len(results) == 1
