"""Imports run downward, ARCHITECTURE.md shows how, and functions are short."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "rollstat"
# From low to high; a module may import from its own level and from those before it.
LEVELS = [
    ["_extras", "_sources"],
    ["_code"],
    ["_cache"],
    ["_jit", "_fast_call", "_lowering", "thresholds"],
    [
        "kernels.search",
        "kernels.simd",
        "kernels.integers",
        "kernels.magnitudes",
        "kernels.row_bounds",
        "kernels.time_bounds",
    ],
    ["kernels.missing"],
    ["kernels.extrema", "kernels.selection", "kernels.sums"],
    ["kernels.rank_space", "kernels.aggregate"],
    ["kernels.stream"],
    ["operators", "dtypes", "lines", "networks", "registry", "snapshots", "windows"],
    ["blocks"],
    ["options", "results"],
    ["foreign", "plan"],
    ["tiers"],
    ["explain"],
    ["engine"],
    ["algorithms"],
    ["computations"],
    ["functions"],
    ["streaming"],
    ["_usual_calls"],
    ["_warmup"],
    ["pandas", "polars"],
    ["spark"],
    ["demo"],
    ["_versions"],
    ["_prebuild", "__main__"],
]
MOST_LINES, MOST_PARAMETERS = 80, 12
# Functions beyond these limits, as "file:function", and why.
EXCEPTIONS = {
    "spark/rolling_plan.py:rolling": "a public function",
    "spark/structured_streaming.py:rolling_stream": "a public function",
}


def modules():
    """All modules but ``rollstat/__init__.py``."""
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE
    )


def place(parts):
    """What of a module's name decides its level: ``kernels.simd`` in kernels, else the first part."""
    parts = [part.removesuffix(".py") for part in parts if part != "__init__.py"]
    return ".".join(parts[: 2 if parts[0] == "kernels" else 1])


def level(name):
    for number, names in enumerate(LEVELS):
        if name in names:
            return number
    raise AssertionError(f"rollstat.{name} has no level: add it to LEVELS and ARCHITECTURE.md")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} has a relative import"
            if node.module in ("rollstat", "rollstat.kernels"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imported_places(path):
    """The places of the package that a module imports, itself left out."""
    own = place(path.relative_to(PACKAGE).parts)
    parts = (name.split(".") for name in imported(path))
    return {place(name[1:]) for name in parts if name[0] == "rollstat" and len(name) > 1} - {own}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_downward(path):
    file = str(path.relative_to(PACKAGE))
    if file == "kernels/__init__.py":
        assert not imported_places(path)
        return
    own = place(path.relative_to(PACKAGE).parts)
    for other in imported_places(path):
        assert level(other) <= level(own), f"{path} imports {other} from above"
    for name in imported(path):
        if name.partition(".")[0] in ("pandas", "pyspark", "pyarrow"):
            assert own in ("pandas", "spark", "demo"), f"{path} imports {name}"


def module_map():
    """The places that ARCHITECTURE.md lists, from low to high."""
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text()
    lines = text[text.index("```\nrollstat/\n") :].splitlines()[2:]
    places = []
    for line in lines:
        entry = re.match(r"(  |    )([\w.]+/?) ", line)
        if entry is None:
            break
        folder = "kernels." if len(entry[1]) == 4 else ""
        places.append(folder + entry[2])
    return places


def test_the_map_lists_every_module():
    listed = set(module_map())
    assert len(listed) == len(module_map())
    paths = [*PACKAGE.iterdir(), *(PACKAGE / "kernels").iterdir()]
    expected = set()
    for path in paths:
        folder = "kernels." if path.parent != PACKAGE else ""
        if path.is_dir() and list(path.glob("*.py")):
            expected.add(f"{folder}{path.name}/")
        elif path.suffix == ".py" and path.name != "__init__.py":
            expected.add(f"{folder}{path.name}")
    assert listed == expected


def test_imports_go_downward_in_the_map():
    order = {name.rstrip("/").removesuffix(".py"): number for number, name in enumerate(module_map())}
    for path in modules():
        own = place(path.relative_to(PACKAGE).parts)
        for other in imported_places(path):
            assert order[other] < order[own], f"{path} imports {other}, which the map shows above it"


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


def beyond_limits():
    """Functions with more lines or parameters than allowed, as ``file:function``."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= node.body[0].end_lineno - node.body[0].lineno + 1
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            parameters = [argument for argument in given if argument.arg not in ("self", "cls")]
            if lines > MOST_LINES or len(parameters) > MOST_PARAMETERS:
                yield f"{path.relative_to(PACKAGE)}:{node.name}"


def test_functions_are_short_and_take_few_parameters():
    found = set(beyond_limits())
    assert found <= set(EXCEPTIONS), sorted(found - set(EXCEPTIONS))
    assert found >= set(EXCEPTIONS), f"no exceptions any more: {sorted(set(EXCEPTIONS) - found)}"


def test_blocks_are_never_changed():
    """Nothing assigns to an attribute of a block; only `Block` keeps what it computes when first read."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.value.id if isinstance(node.value, ast.Name) else ""
                assert name not in ("block", "regular"), f"{path}:{node.lineno} changes a block"


def test_nothing_is_imported_while_a_block_is_computed():
    for folder in ("algorithms", "computations"):
        for path in (PACKAGE / folder).glob("*.py"):
            tree = ast.parse(path.read_text())
            for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
                inner = [
                    node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))
                ]
                assert not inner, f"{path} imports within {function.name}"
            assert "import_module" not in path.read_text(), path
