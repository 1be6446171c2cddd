"""Operators of users after a change of anything that decides what they mean, against plain Python.

A program has a number in each of the PLACES where an operator can get one from, and its result is their sum
and that of the window's elements. After every edit of one place the compiled result must be that of the new
program, in this process with the same function objects (``"in place"``) and with new ones (``"again"``), and
in new processes, which share a folder of machine code.
"""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import rollstat
from rollstat.operators import as_operator
from rollstat.operators.interface import compiled

ROOT = Path(__file__).resolve().parents[2]
_NUMBERS = "constant", "default", "keyword", "cell", "number", "tuple_item", "element", "member", "field"
_HELPERS = "helper", "helper_default", "nested", "cell_helper"
_MODULES = "module_number", "module_helper", "module_nested", "submodule"
PLACES = (*_NUMBERS, *_HELPERS, *_MODULES, "lift", "lower", "identity")
FORMS = ("function", "functions", "class")
VALUES = np.array([3.0, 1.0, 2.0, 5.0])

_FACTS = """
from numba import njit
__version__ = "1.0"
NUMBER = {module_number}
NESTED = {module_nested}
@njit
def helper(x):
    return x + NESTED + {module_helper}
"""
_SUB = "NUMBER = {submodule}\n"
_PROGRAM = """
from enum import Enum
from typing import NamedTuple
import numpy as np
from numba import njit
import rollstat_facts.sub
from rollstat.operators import function_operator
number = {number}
nested = {nested}
items = 1.0, ({tuple_item}, 2.0)
table = np.array([1.0, {element}])
class Level(Enum):
    HIGH = {member}
class Config(NamedTuple):
    field: float
config = Config({field})
@njit
def helper(x, default={helper_default}):
    return x + nested + default + {helper}
def make(cell, cell_helper):
    def combine({self}older, newer, default={default}, *, keyword={keyword}):
        own = {constant} + default + keyword + cell + cell_helper(0.0)
        own += number + items[1][0] + table[1] + Level.HIGH.value + config.field + helper(0.0)
        other = rollstat_facts.NUMBER + rollstat_facts.sub.NUMBER + rollstat_facts.helper(0.0)
        return older + newer + own + other
    def lift({self}x):
        return x + {lift}
    def lower({self}state):
        return state + {lower}
    return combine, lift, lower
@njit
def in_cell(x):
    return x + {cell_helper}
parts = make({cell}, in_cell)
class Mine(NamedTuple):
    combine, lift, lower = parts
    identity = {identity}
"""
_IMPORT = "import rollstat_facts.sub\n"
_OPERATORS = {
    "function": "operator = parts[0]\n",
    "functions": "operator = function_operator(*parts, identity={identity})\n",
    "class": "operator = Mine()\n",
}


def draw(rng: np.random.Generator) -> dict[str, float]:
    """Return a number for each place; all are small and whole, so that sums are exact."""
    return {place: float(rng.integers(1, 1000)) for place in PLACES}


def texts(form: str, numbers: dict[str, float]) -> dict[str, str]:
    """Return the files of the program, by their paths."""
    own = {**numbers, "self": "self, " if form == "class" else ""}
    program = (_PROGRAM + _OPERATORS[form]).format(**own)
    if form != "class":
        program = program.replace(program[program.index("class Mine") : program.index("operator = ")], "")
    return {
        "rollstat_facts/__init__.py": _FACTS.format(**own),
        "rollstat_facts/sub.py": _SUB.format(**own),
        "program.py": program,
    }


def expected(form: str, numbers: dict[str, float], values: Any = VALUES, m: int = 2) -> list[float]:
    """Return the results of full windows of `m` elements, and of the empty window as the last one."""
    lift, lower = (numbers["lift"], numbers["lower"]) if form != "function" else (0.0, 0.0)
    between = sum(numbers[place] for place in PLACES if place not in ("lift", "lower", "identity"))
    results = [sum(values[i : i + m]) + m * lift + (m - 1) * between for i in range(len(values) - m + 1)]
    empty = numbers["identity"] if form != "function" else np.nan
    return [result + lower for result in (*results, empty)]


class Program:
    """The program in this process, with modules of its own."""

    def __init__(self, form: str, numbers: dict[str, float]) -> None:
        self.form, self.numbers = form, dict(numbers)
        files = texts(form, numbers)
        self.facts, self.sub = ModuleType("rollstat_facts"), ModuleType("rollstat_facts.sub")
        exec(files["rollstat_facts/__init__.py"], self.facts.__dict__)
        exec(files["rollstat_facts/sub.py"], self.sub.__dict__)
        self.facts.sub = self.sub  # type: ignore[attr-defined]  # as an import would do
        self.names: dict[str, Any] = {"__name__": "program", "rollstat_facts": self.facts}
        exec(files["program.py"].replace(_IMPORT, ""), self.names)

    @property
    def operator(self) -> Any:
        """The operator itself."""
        return self.names["operator"]

    def edit(self, place: str, number: float) -> None:
        """Change one number as a running program does: in the functions, modules and arrays that exist."""
        self.numbers = {**self.numbers, place: number}
        files, names, facts = texts(self.form, self.numbers), self.names, vars(self.facts)
        kept, helper = dict(names), facts["helper"]
        exec(files["rollstat_facts/__init__.py"], facts)
        exec(files["rollstat_facts/sub.py"], vars(self.sub))
        exec(files["program.py"].replace(_IMPORT, ""), names)
        # What has not changed stays the same object, and functions change in place.
        if place != "module_helper":
            facts["helper"] = helper
        if place in ("helper", "helper_default"):
            kept["helper"] = names["helper"]
        kept["table"][:] = names["table"]
        for mine, its in zip(kept["parts"], names["parts"]):
            mine.__code__ = its.__code__
            mine.__defaults__, mine.__kwdefaults__ = its.__defaults__, its.__kwdefaults__
            for name, cell, other in zip(
                its.__code__.co_freevars, mine.__closure__ or (), its.__closure__ or ()
            ):
                if name == place:
                    cell.cell_contents = other.cell_contents
        if self.form == "functions":
            kept["operator"].identity = names["operator"].identity
        elif self.form == "class":
            kept["Mine"].identity = names["Mine"].identity
        for name in ("operator", "parts", "Mine", "helper", "table", "make"):
            if name in kept:
                names[name] = kept[name]


def over_array(operator: Any) -> list[float]:
    """Return the results of an array: of full windows, and of an empty one."""
    starts, ends = np.array([0, 1, 2, 4]), np.array([2, 3, 4, 4])
    full = rollstat.rolling_aggregate(VALUES, operator, 2)[1:]
    bounds = rollstat.rolling_aggregate(VALUES, operator, (starts, ends), min_periods=0)
    assert full.tolist() == bounds[:-1].tolist()
    return list(bounds)


def in_stream(operator: Any) -> list[float]:
    """Return the same results of a stream."""
    stream = rollstat.FixedAggregate(operator, 2, min_periods=0)
    empty = stream.value
    return [*[stream.push(x) for x in VALUES.tolist()][1:], empty]


def as_python(operator: Any) -> list[float]:
    """Return the same results of the functions that would be compiled, called from Python."""
    ready = compiled(as_operator(operator))
    lift, lower = getattr(ready, "lift", float), getattr(ready, "lower", float)
    lifted = [lift(x) for x in VALUES.tolist()]
    empty = getattr(ready, "identity", np.nan)
    return [*[lower(ready.combine(a, b)) for a, b in pairwise(lifted)], lower(empty)]


def check(face: Any, program: Program) -> int:
    """Compare the results of a face of the package with those of plain Python; return how many there are."""
    found, wanted = face(program.operator), expected(program.form, program.numbers)
    np.testing.assert_array_equal(found, wanted)
    return len(found)


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare a program before and after some edits, and after all are taken back."""
    form, face = str(rng.choice(FORMS)), (over_array, in_stream)[rng.integers(2)]
    program = Program(form, draw(rng))
    first, rows = dict(program.numbers), check(face, program)
    note.update(form=form, face=face.__name__, numbers=first, edits=[])
    for place in rng.choice(PLACES, 2, replace=False).tolist():
        style = str(rng.choice(["in place", "again"]))
        note["edits"].append((place, style))
        number = program.numbers[place] + 1.0
        if style == "in place":
            program.edit(place, number)
        else:
            program = Program(form, {**program.numbers, place: number})
        rows += check(face, program)
    for place, _ in note["edits"]:
        program.edit(place, first[place])
    return rows + check(face, program)


_CHILD = """
import numpy as np, rollstat
from rollstat.compile.cache import compiled_kernels
from program import operator
print(*rollstat.rolling_aggregate(np.array([3.0, 1.0, 2.0, 5.0]), operator, 2)[1:])
print(sum(kernel.origin == "compiled" for kernel in compiled_kernels))
"""


def in_child(folder: Path, form: str, numbers: dict[str, float]) -> tuple[list[float], int]:
    """Return the results of full windows in a new process, and the number of kernels that it compiled."""
    for path, text in texts(form, numbers).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}  # an edit within a second would not be seen
    command = [sys.executable, "-c", _CHILD]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    results, compiled = done.stdout.splitlines()
    return [float(number) for number in results.split()], int(compiled)
