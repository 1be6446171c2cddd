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


def test_edit_of_an_imported_file(tmp_path):
    package = copy_package(tmp_path)
    assert call(tmp_path) == (20, 0)
    assert call(tmp_path) == (20, 1)
    low = package / "kernels" / "low.py"
    low.write_text(low.read_text().replace("x + 1", "x + 2"))
    assert call(tmp_path) == (30, 0)
    assert call(tmp_path) == (30, 1)


@pytest.mark.parametrize(
    ("statement", "called", "exports"),
    [
        ("from rollstat.kernels.family import low", "low.low", ""),
        ("from rollstat.kernels.family import (  # a comment (in brackets)\n    low,\n)", "low.low", ""),
        ("import rollstat.kernels.family.low as module", "module.low", ""),
        ("from rollstat.kernels.family.low import low", "low", ""),
        ("from rollstat.kernels.family import low as other", "other", "import low"),
        ("from rollstat.kernels.family import function", "function", "import low as function"),
    ],
)
def test_edit_of_a_kernel_in_a_subfolder(tmp_path, statement, called, exports):
    package = copy_package(tmp_path)
    family = package / "kernels" / "family"
    family.mkdir()
    (package / "kernels" / "low.py").rename(family / "low.py")
    (family / "__init__.py").write_text(f"from rollstat.kernels.family.low {exports}\n" if exports else "")
    (package / "kernels" / "high.py").write_text(
        f"from rollstat.compile.jit import kernel\n{statement}\n"
        f"@kernel\ndef high(x):\n    return {called}(x) * 10\n"
    )
    assert call(tmp_path) == (20, 0)
    assert call(tmp_path) == (20, 1)
    low = family / "low.py"
    low.write_text(low.read_text().replace("x + 1", "x + 2"))
    assert call(tmp_path) == (30, 0)


def test_edit_of_a_file_that_is_not_imported(tmp_path):
    package = copy_package(tmp_path)
    kernels = package / "kernels"
    (kernels / "other.py").write_text("from rollstat.compile.jit import kernel\n")
    high = kernels / "high.py"
    high.write_text(
        high.read_text().replace("rollstat.kernels.low import low", "rollstat.kernels import low")
    )
    high.write_text(high.read_text().replace("low(x)", "low.low(x)"))
    assert call(tmp_path) == (20, 0)
    (kernels / "other.py").write_text("from rollstat.compile.jit import kernel\n# edited\n")
    assert call(tmp_path) == (20, 1)


def test_a_process_that_runs_older_code_stores_nothing(tmp_path):
    low = copy_package(tmp_path) / "kernels" / "low.py"
    newer = low.read_text()
    low.write_text(newer.replace("x + 1", "x + 10 - 11"))  # bytecode is stale if the size is the same
    edit = f"(__import__('pathlib').Path({str(low)!r}).write_text({newer!r}), 1)[1]"
    assert call(tmp_path, argument=edit) == (0, 0)
    assert call(tmp_path) == (20, 0)
    assert call(tmp_path) == (20, 1)


def test_an_edit_may_remove_the_class_of_an_argument(tmp_path):
    package = copy_package(tmp_path)
    high = package / "kernels" / "high.py"
    tuples = "from typing import NamedTuple\nclass Step(NamedTuple):\n    x: int\n"
    with_step = tuples + high.read_text().replace("low(x)", "low(x.x)")
    high.write_text(with_step)
    assert call(tmp_path, argument="Step(1)") == (20, 0)
    assert call(tmp_path, argument="Step(1)") == (20, 1)
    high.write_text(with_step.replace("Step", "Stride"))
    assert call(tmp_path, argument="Stride(1)") == (20, 0)


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
