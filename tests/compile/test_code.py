"""The disk cache: operators of the package are keyed by their files, other operators by their code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from rollstat.compile.code import code_digest
from rollstat.compile.sources import NotFixedError
from rollstat.operators.interface import for_dtype

ROOT = Path(__file__).resolve().parents[2]
CALL = """
import numpy as np
from rollstat.kernels.aggregate import two_stacks
{imports}
header, cells = two_stacks.create(np.dtype(np.float64), 4)
for x in (2.0, 3.0):
    two_stacks.push_state({operator}, header, cells, x)
from rollstat.compile.cache import compiled_kernels
hits = [kernel for kernel in compiled_kernels if kernel.origin == "cache" and "push_state" in kernel.name]
print(two_stacks.query({operator}, header, cells), len(hits))
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


USE = """
import logging, sys
import numpy as np
import rollstat
from rollstat.compile.cache import compiled_kernels
from mine import operator
print(rollstat.rolling_aggregate(np.array([2.0, 3.0]), operator, 2, check=False)[1])
print(sum(kernel.origin == "compiled" for kernel in compiled_kernels))
"""
CLASS = """
from typing import NamedTuple
{before}
class Mine(NamedTuple):
    weight: float = 1.0
    def combine(self, older, newer):
        return {result}
operator = Mine()
"""


def use(folder, code):
    """Aggregate (2, 3) in a new process by the operator of `code`; return result and number of compiles."""
    (folder / "mine.py").write_text(code)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    value, compiled = done.stdout.split()
    return float(value), int(compiled)


@pytest.mark.parametrize(
    ("code", "old", "new", "results"),
    [
        (CLASS.format(before="", result="older + newer"), "older + newer", "older * newer", (5.0, 6.0)),
        (
            CLASS.format(before="WEIGHT = 1.0", result="older + WEIGHT * newer"),
            "WEIGHT = 1.0",
            "WEIGHT = 2.0",
            (5.0, 8.0),
        ),
        (
            CLASS.format(
                before="import numpy as np, numba\n@numba.njit\ndef add(x, y): return np.add(x, y)",
                result="add(older, newer)",
            ),
            "np.add",
            "np.multiply",
            (5.0, 6.0),
        ),
        ("operator = lambda older, newer: older + newer", "older + newer", "older * newer", (5.0, 6.0)),
    ],
)
def test_operators_of_users_are_stored_by_their_code(tmp_path, code, old, new, results):
    assert old in code
    value, compiled = use(tmp_path, code)
    assert (value, compiled > 0) == (results[0], True)
    assert use(tmp_path, code + "\n# a comment\n") == (results[0], 0)
    value, compiled = use(tmp_path, code.replace(old, new))
    assert (value, compiled > 0) == (results[1], True)


def test_functions_that_differ_in_a_number_are_stored_once(tmp_path):
    code = "def scaled(w):\n    return lambda older, newer: older + w * newer\noperator = scaled(1.0)"
    value, compiled = use(tmp_path, code)
    assert (value, compiled > 0) == (5.0, True)
    assert use(tmp_path, code.replace("scaled(1.0)", "scaled(2.0)")) == (8.0, 0)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("class Table: step = 1\ntable = Table()\ndef operator(x, y): return x + table.step * y", "Table"),
        ("import other\ndef operator(x, y): return getattr(other, 'add')(x, y)", "other is used as a value"),
        ("def operator(x, y):\n    import other\n    return other.add(x, y)", "imports modules"),
    ],
)
def test_code_that_is_not_fixed_has_no_digest(tmp_path, monkeypatch, code, reason):
    (tmp_path / "other.py").write_text("def add(x, y): return x + y\n")
    monkeypatch.syspath_prepend(tmp_path)
    names = {}
    exec(code, names)
    with pytest.raises(NotFixedError, match=reason):
        code_digest(names["operator"])


def test_private_methods_are_part_of_the_code():
    def digest(step):
        class Mine(NamedTuple):
            def _add(self, one, two):
                return one + two if step else one * two

            def combine(self, older, newer):
                return self._add(older, newer)

        return code_digest(Mine)

    assert digest(True) == digest(True) != digest(False)


def test_classes_of_equal_code_are_one_class_for_kernels():
    def made():
        class Mine(NamedTuple):
            scale: float

            def combine(self, older, newer):
                return self.scale * (older + newer)

        return for_dtype(Mine(2.0), np.dtype(np.float64))

    assert type(made()) is type(made())
    assert made() == (2.0,)


def test_digests_ignore_places_and_see_defaults_and_recursion():
    def digest(code):
        names = {}
        exec(code, names)
        return code_digest(names["f"])

    plain = digest("def f(x, y=1): return x + y")
    assert digest("\n\n# moved\ndef f(x, y=1): return x + y") == plain
    assert digest("def f(x, y=2): return x + y") != plain
    assert digest("def f(x, y=1): return x - y") != plain
    recursive = "def f(x): return g(x)\ndef g(x): return f(x - {}) if x else 0"
    assert digest(recursive.format(1)) == digest(recursive.format(1)) != digest(recursive.format(2))
    table = "import numpy as np\ntable = np.array([1, {}])\ndef f(x): return table[x]"
    assert digest(table.format(2)) == digest(table.format(2)) != digest(table.format(3))
