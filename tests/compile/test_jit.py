"""The kernel decorator: specialisations, folders that are not writable, private kernels."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba import config, types

from rollstat.compile.jit import kernel
from rollstat.kernels.sums import moment_formulas
from tests.small_package import call_high, make_two_kernels

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
def test_threads_may_use_a_kernel_at_the_same_time_first():
    unused = kernel(add.__wrapped__)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(unused, range(40), range(40))) == list(range(0, 80, 2))
    assert (unused.__name__, unused.__doc__) == ("add", None)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_private_kernels_cannot_be_called_from_python():
    vector = np.arange(16.0)
    with pytest.raises(TypeError, match="_divide can only be called from other kernels"):
        moment_formulas._divide(vector, vector)


def test_a_cache_folder_may_be_named(tmp_path):
    make_two_kernels(tmp_path)
    assert call_high(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == (20, 0)
    assert call_high(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == (20, 1)
    assert list((tmp_path / "cache" / "rollstat").iterdir())


def test_kernels_work_without_a_writable_folder(tmp_path):
    make_two_kernels(tmp_path)
    blocked = tmp_path / "file"
    blocked.touch()
    assert call_high(tmp_path, NUMBA_CACHE_DIR=str(blocked / "below")) == (20, 0)


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
