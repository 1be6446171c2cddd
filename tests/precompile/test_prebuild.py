"""Compiled kernels of a wheel: the best level that the host supports is loaded, and never a stale one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from rollstat.compile.cache import LEVELS, host_levels
from rollstat.precompile import prebuild
from tests.small_package import make_package

ROOT = Path(__file__).resolve().parent.parent.parent
BUILT = [level for level in ("x86-64-v4", "x86-64-v3") if level in host_levels()]
CODE = """
import json
from rollstat.kernels.high import high
answer = high(1)
from rollstat.compile.cache import compiled_kernels
print(json.dumps([answer, *[[kernel.origin, kernel.key] for kernel in compiled_kernels]]))
"""

pytestmark = [
    pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled"),
    pytest.mark.skipif(not BUILT, reason="the levels are those of x86-64"),
]


def call(folder, code=CODE, **environment):
    """Call the kernel in a new process; return the answer, and origin and key of the kernel."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "ROLLSTAT_"))}
    kept |= {"NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=kept | environment | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    answer, (origin, key) = json.loads(done.stdout)
    return answer, origin, key


def host_with(level):
    """Return the environment in which this host pretends to have the features of a level alone."""
    return {"NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in LEVELS[level])}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a folder with a package of one kernel, compiled for each level, and the files of each."""
    folder = tmp_path_factory.mktemp("built")
    package = make_package(folder)
    (package / "kernels" / "high.py").write_text(
        "from rollstat.compile.jit import kernel\nfrom rollstat.kernels.low import low\n"
        "@kernel\ndef high(x):\n    return low(x) * 10\n"
    )
    files = {}
    (package / "_prebuilt").mkdir()
    for level in BUILT:
        work = folder / level
        assert call(folder, **prebuild.settings(level, work))[:2] == (20, "compiled")
        (file,) = (file for file in (work / "rollstat").iterdir() if not file.suffix)
        shutil.copy(file, package / "_prebuilt")
        files[level] = file.name
    return package, files


@pytest.fixture
def wheel(built, tmp_path):
    """Return a folder with a copy of the package, and the files of each level."""
    package, files = built
    shutil.copytree(package, tmp_path / "rollstat", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path, files


def test_the_best_level_of_the_host_is_loaded(wheel):
    folder, files = wheel
    assert call(folder) == (20, "wheel", files[BUILT[0]])
    assert not list((folder / "cache" / "rollstat").glob("*"))


def test_a_host_without_avx512_loads_the_level_below(wheel):
    folder, files = wheel
    assert call(folder, **host_with("x86-64-v3")) == (20, "wheel", files["x86-64-v3"])


def test_a_host_with_avx512_and_a_feature_missing_loads_the_level_below(wheel):
    folder, files = wheel
    features = ",".join(f"+{feature}" for feature in LEVELS["x86-64-v4"] if feature != "avx512vl")
    assert call(folder, NUMBA_CPU_FEATURES=features) == (20, "wheel", files["x86-64-v3"])


def test_a_host_without_avx2_compiles(wheel):
    folder, _ = wheel
    assert call(folder, **host_with("x86-64-v2"))[:2] == (20, "compiled")
    assert call(folder, **host_with("x86-64-v2"))[:2] == (20, "cache")


@pytest.mark.skipif(len(BUILT) < 2, reason="a process compiles for a level that the host runs, and others")
def test_one_process_compiles_for_all_levels(wheel, tmp_path):
    folder, files = wheel
    prebuilt, (first, *others) = folder / "rollstat" / "_prebuilt", BUILT
    for file in prebuilt.iterdir():
        file.unlink()
    also = f"from rollstat.compile.levels import compile_also\ncompile_also({others})\n"
    assert call(folder, also + CODE, **prebuild.settings(first, tmp_path))[:2] == (20, "compiled")
    stored = tmp_path / "rollstat"
    for name in files.values():
        shutil.copy(stored / name, prebuilt)
    for level, name in files.items():
        assert call(folder, **host_with(level)) == (20, "wheel", name)


def test_an_edited_source_is_compiled(wheel):
    folder, _ = wheel
    low = folder / "rollstat" / "kernels" / "low.py"
    low.write_text(low.read_text().replace("x + 1", "x + 2"))
    assert call(folder)[:2] == (30, "compiled")


def test_a_damaged_file_is_compiled(wheel):
    folder, files = wheel
    file = folder / "rollstat" / "_prebuilt" / files[BUILT[0]]
    content = bytearray(file.read_bytes())
    content[-10] ^= 1
    file.write_bytes(content)
    file = folder / "rollstat" / "_prebuilt" / files[BUILT[-1]]
    file.write_bytes(file.read_bytes()[:-20])
    assert call(folder)[:2] == (20, "compiled")


def test_levels_that_this_cpu_lacks_are_rejected(monkeypatch):
    monkeypatch.setattr(prebuild, "host_levels", lambda: ("x86-64-v2",))
    with pytest.raises(RuntimeError, match="this CPU cannot run code for x86-64-v4, x86-64-v3"):
        prebuild.levels_to_build()


@pytest.mark.long  # the other tests load kernels of a small package
def test_usual_calls_compile_nothing_with_prebuilt_kernels(tmp_path, monkeypatch):
    """Kernels of one statistic are compiled for the lowest level; a copy of the package loads them all."""
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)  # kernels of wheels check no bounds
    package = tmp_path / "rollstat"
    shutil.copytree(ROOT / "rollstat", package, ignore=shutil.ignore_patterns("__pycache__", "_prebuilt"))
    number = prebuild.prebuild(package / "_prebuilt", ["x86-64-v3"], ["count"], ["float64"])
    manifest = json.loads((package / "_prebuilt" / prebuild.MANIFEST).read_text())
    assert manifest["levels"] == {"x86-64-v3": number}
    code = (
        "import numpy as np, rollstat\n"
        "done = rollstat.warmup('count', 'float64', progress=False)\n"
        "assert rollstat.rolling_count(np.array([1.0, np.nan]), 2).tolist() == [1.0, 1.0]\n"
        "assert done.compiled == 0, done\n"
        "from rollstat.compile.cache import compiled_kernels\n"
        "assert {kernel.origin for kernel in compiled_kernels} == {'wheel'}\n"
        "rollstat.show_versions()\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert f"x86-64-v3 ({number} kernels)" in done.stdout
    assert "NOT USED" not in done.stdout
