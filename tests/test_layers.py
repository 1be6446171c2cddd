"""Imports run downward, and only the faces know pandas and pyspark."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "rollstat"
# From the ground up; a module may import from its own level and from those before it.
LEVELS = [
    ["_jit", "_lowering"],
    ["kernels", "operators"],
    ["blocks", "dtypes", "lines", "networks", "registry", "thresholds", "windows"],
    ["options"],
    ["engine", "prepared"],
    ["algorithms"],
    ["computations"],
    ["functions"],
    ["streaming", "snapshots"],
    ["pandas"],
    ["spark"],
    ["demo"],
]


def modules():
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE
    )


def level(name):
    for number, names in enumerate(LEVELS):
        if name in names:
            return number
    raise AssertionError(f"rollstat.{name} stands in no level: add it to LEVELS and ARCHITECTURE.md")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} has a relative import"
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_downward(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "rollstat" and len(parts) > 1:
            assert level(parts[1]) <= level(own), f"{path} imports {name} from above"
        if parts[0] in ("pandas", "pyspark", "pyarrow"):
            assert own in ("pandas", "spark", "demo"), f"{path} imports {name}"


def test_importing_rollstat_imports_nothing_heavy_and_compiles_nothing():
    code = (
        "import sys, rollstat\n"
        "heavy = {'pandas', 'pyspark', 'matplotlib', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "import gc\n"
        "done = [d for d in gc.get_objects() if isinstance(d, Dispatcher) and d.overloads\n"
        "        and d.py_func.__module__.startswith('rollstat')]\n"
        "assert not done, done\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PACKAGE.parent)


def test_every_module_is_short():
    for path in modules():
        assert len(path.read_text().splitlines()) <= 700, path
