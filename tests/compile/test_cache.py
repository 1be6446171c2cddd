"""Machine code on disk: many processes at once, damaged files, full disks, several CPUs, CPU levels."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from rollstat.compile import cache
from tests.small_package import call_high, make_package, make_two_kernels

ROOT = Path(__file__).resolve().parent.parent.parent
CALL = """
import os, resource
if "FILE_LIMIT" in os.environ:  # the largest file that this process can write
    resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (int(os.environ["FILE_LIMIT"]),))
from rollstat.kernels.low import low
from rollstat.compile.cache import compiled_kernels
print(low(20), ",".join(kernel.origin for kernel in compiled_kernels))
"""


@pytest.fixture
def package(tmp_path):
    """A small package of the same name with one kernel."""
    return make_package(tmp_path / "installed")


def start(package, **environment):
    """Start a process that calls the kernel."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_", "ROLLSTAT_"))}
    home = package.parent.parent
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), **kept, **environment}
    return subprocess.Popen(
        [sys.executable, "-c", CALL],
        cwd=package.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Return where the process had the code from, and what it logged."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    answer, origin = output.split()
    assert answer == "21"
    return origin, errors


def call(package, **options):
    return finish(start(package, **options))[0]


def files(package):
    return [path for path in (package.parent.parent / "cache").rglob("*") if path.is_file()]


def test_several_processes_share_an_empty_cache(package):
    origins = [finish(process)[0] for process in [start(package) for _ in range(4)]]
    assert "compiled" in origins
    assert set(origins) <= {"compiled", "cache"}
    assert len(files(package)) == 1  # and no temporary files
    assert call(package) == "cache"


def test_nothing_is_written_to_the_installed_package(package):
    before = set(package.rglob("*"))
    assert (call(package), call(package)) == ("compiled", "cache")
    new = {path for path in set(package.rglob("*")) - before if path.name != "__pycache__"}
    assert {path.suffix for path in new} <= {".pyc"}  # which pip removes together with the sources


def test_a_damaged_file_is_compiled_again(package):
    assert call(package) == "compiled"
    (file,) = files(package)
    content = file.read_bytes()
    flipped = content[:200] + bytes([content[200] ^ 1]) + content[201:]
    for damaged in (b"", content[:-9], flipped, b"x" * 999):
        file.write_bytes(damaged)
        assert call(package) == "compiled"
        assert file.read_bytes() != damaged
    assert call(package) == "cache"


def test_a_full_disk_is_reported_and_nothing_else(package):
    # Without bytecode, which Python writes in part if the disk is full.
    origin, errors = finish(start(package, FILE_LIMIT="100", PYTHONDONTWRITEBYTECODE="1"))
    assert origin == "compiled"
    assert errors.count("cannot be stored") == 1
    assert not files(package)
    assert call(package) == "compiled"


def test_a_folder_that_is_not_writable(package):
    (package.parent.parent / "cache").touch()
    temporary = package.parent.parent / "temporary"
    temporary.mkdir()
    for origin in ("compiled", "cache"):
        assert call(package, TMPDIR=str(temporary)) == origin
    assert [path.name.startswith("rollstat-cache-") for path in temporary.iterdir()] == [True]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the names are of x86-64 CPUs")
def test_two_kinds_of_cpu_share_a_folder(package):
    small = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"}
    assert (call(package), call(package, **small)) == ("compiled", "compiled")
    assert (call(package), call(package, **small)) == ("cache", "cache")


@pytest.mark.parametrize(
    ("lacking", "levels"),
    [
        ((), ("x86-64-v4", "x86-64-v3", "x86-64-v2")),
        (("avx512f",), ("x86-64-v3", "x86-64-v2")),
        (("avx512vl", "avx2"), ("x86-64-v2",)),
        (("popcnt",), ()),
    ],
)
def test_levels_need_all_their_features(monkeypatch, lacking, levels):
    monkeypatch.setattr(cache.binding, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    features = [f"+{name}" for name in cache.LEVELS["x86-64-v4"] if name not in lacking]
    monkeypatch.setattr(config, "CPU_FEATURES", ",".join([*features, *(f"-{name}" for name in lacking)]))
    cache.host_levels.cache_clear()
    try:
        assert cache.host_levels() == levels
    finally:
        cache.host_levels.cache_clear()


def test_levels_of_this_host_are_found_without_settings():
    assert cache.host_levels()


def test_a_slow_compile_is_reported_once(monkeypatch, caplog):
    monkeypatch.setattr(cache, "compiled_kernels", [])
    cache._say_that_compiling_takes_time.cache_clear()
    for seconds in (0.5, 1.5, 2.5):
        cache.record(test_levels_need_all_their_features, (), "compiled", seconds)
    cache.record(test_levels_need_all_their_features, (), "cache", 3.0)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "rollstat.warmup()" in caplog.text
    assert [kernel.seconds for kernel in cache.compiled_kernels] == [0.5, 1.5, 2.5, 3.0]


def test_a_stored_kernel_loads_nothing_that_only_compiling_needs(tmp_path):
    make_two_kernels(tmp_path)
    assert call_high(tmp_path) == (20, 0)
    modules = "__import__('sys').modules"
    found = f"'numba.np.arrayobj' in {modules} or {modules}['numba.core.entrypoints']._already_initialized"
    assert call_high(tmp_path, argument=f"(high(1), int({found}))[1]") == (10, 1)
    assert call_high(tmp_path, argument=f"(high.py_func, high(1.0), int({found}))[2]") == (20, 1)
