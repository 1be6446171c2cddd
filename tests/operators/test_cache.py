"""The disk cache: operators of the package are cached by content, other operators never."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALL = """
import numpy as np
from rollstat.kernels.aggregate import two_stacks
{imports}
header, cells = two_stacks.create(np.dtype(np.float64), 4)
for x in (2.0, 3.0):
    two_stacks.push_state({operator}, header, cells, x)
from rollstat._cache import compiled_kernels
hits = [kernel for kernel in compiled_kernels if kernel.origin == "cache" and "push_state" in kernel.name]
print(two_stacks.query({operator}, header, cells), len(hits))
"""
USERS = """
from typing import NamedTuple

class Mine(NamedTuple):
    def combine(self, older, newer):
        return older + newer
"""


def call(folder, imports, operator):
    """Run in a fresh process; the aggregate of (2, 3) and how often the cache was hit."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(imports=imports, operator=operator)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    value, hits = done.stdout.split()
    return float(value), int(hits)


def copy_package(folder):
    shutil.copytree(ROOT / "rollstat", folder / "rollstat", ignore=shutil.ignore_patterns("__pycache__"))


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_edit_of_an_operator_of_the_package(tmp_path):
    copy_package(tmp_path)
    names = "from rollstat.operators.choices import Last", "Last()"
    assert call(tmp_path, *names) == (3.0, 0)
    assert call(tmp_path, *names) == (3.0, 1)
    last = "return {}\n\n\nclass AnyTrue"
    edit(tmp_path / "rollstat" / "operators" / "choices.py", last.format("newer"), last.format("7.0"))
    assert call(tmp_path, *names) == (7.0, 0)


def test_edit_of_an_operator_of_a_user(tmp_path):
    copy_package(tmp_path)
    (tmp_path / "mine.py").write_text(USERS)
    names = "from mine import Mine", "Mine()"
    assert call(tmp_path, *names) == (5.0, 0)
    edit(tmp_path / "mine.py", "older + newer", "older * newer")
    assert call(tmp_path, *names) == (6.0, 0)
