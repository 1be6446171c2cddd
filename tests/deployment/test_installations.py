"""Installations without docstrings or sources, in a zip file, and in one program made by PyInstaller."""

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "rollstat"
CALLS = """
import pandas, rollstat, rollstat.pandas
assert rollstat.rolling_median([3.0, 1.0, 2.0], 2).tolist()[1:] == [2.0, 1.5]
assert rollstat.rolling_aggregate([3.0, 1.0], lambda a, b: a + b, 2).tolist()[1:] == [4.0]
assert rollstat.RollingMedian(2).extend([3.0, 1.0]).tolist()[1:] == [2.0]
assert pandas.Series([3.0, 1.0]).rollstat.rolling(2).sum().tolist()[1:] == [4.0]
for name in rollstat.__all__:
    getattr(rollstat, name)
print(rollstat.__file__)
"""


def run(folder, *options, calls=CALLS):
    """Run calls in a new process that imports the package from `folder`."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *options, "-c", calls]
    return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copied(tmp_path):
    """A copy of the package without bytecode."""
    shutil.copytree(PACKAGE, tmp_path / "rollstat", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_without_docstrings_and_assertions():
    done = run(PACKAGE.parent, "-OO")
    assert done.returncode == 0, done.stderr


def test_bytecode_without_sources(copied):
    compileall.compile_dir(copied / "rollstat", quiet=1, legacy=True)
    for source in (copied / "rollstat").rglob("*.py"):
        source.unlink()
    done = run(copied)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("__init__.pyc")


def test_a_zip_file_says_that_it_cannot_be_imported(copied):
    archive = shutil.make_archive(str(copied / "packed"), "zip", copied, "rollstat")
    done = run(archive, calls="import rollstat")
    assert done.stderr.splitlines()[-1].startswith("ImportError: rollstat needs its .pyi files")


@pytest.mark.long
def test_one_program_of_pyinstaller(tmp_path):
    pyinstaller = pytest.importorskip("PyInstaller.__main__", reason="`nox -s sweeps` installs it")
    script = tmp_path / "app.py"
    script.write_text(CALLS)
    others = ["pyspark", "matplotlib", "polars", "dask", "xarray", "scipy", "sphinx", "mypy", "tkinter"]
    folders = [f"--{name}path={tmp_path / name}" for name in ("work", "spec", "dist")]
    hooks = ["--additional-hooks-dir", str(PACKAGE / "_pyinstaller"), "--paths", str(PACKAGE.parent)]
    excluded = [f"--exclude-module={name}" for name in others]
    pyinstaller.run(["--onefile", "--log-level=ERROR", *folders, *hooks, *excluded, str(script)])
    done = subprocess.run([tmp_path / "dist" / "app"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
