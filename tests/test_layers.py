"""Imports run downward, ARCHITECTURE.md shows how, and functions are short."""

import ast
import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "rollstat"
PRIVATE = ("numba.core", "numba.extending", "numba.misc", "numba._", "llvmlite")
MOST_LINES, MOST_PARAMETERS = 80, 12
# Functions beyond these limits, as "file:function", and why.
EXCEPTIONS = {
    "spark/route.py:rolling": "a public function",
    "spark/structured_streaming.py:rolling_stream": "a public function",
}


def modules():
    """All modules but ``rollstat/__init__.py``."""
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE
    )


def module_map():
    """The places that ARCHITECTURE.md lists, from low to high, such as ``kernels.sums/``."""
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text()
    places, folder = [], ""
    for line in text[text.index("```\nrollstat/\n") :].splitlines()[2:]:
        entry = re.match(r"(  |    )([\w.]+/?) ", line)
        if entry is None:
            break
        if len(entry[1]) == 2:
            folder = entry[2].replace("/", ".")
        places.append(entry[2] if len(entry[1]) == 2 else folder + entry[2])
    return places


LISTED_INSIDE = {name.split(".")[0] for name in module_map() if re.match(r"\w+\.(?!py$)", name)}


def place(parts):
    """What of a module's name the map lists: ``kernels.sums`` in kernels, else the first part."""
    parts = [part.removesuffix(".py") for part in parts if part != "__init__.py"]
    return ".".join(parts[: 2 if parts[0] in LISTED_INSIDE else 1])


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} has a relative import"
            if node.module in ("rollstat", *(f"rollstat.{name}" for name in LISTED_INSIDE)):
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


def test_heavy_packages_are_imported_by_few():
    for path in modules():
        own = path.relative_to(PACKAGE).parts[0]
        for name in imported(path):
            if name.partition(".")[0] in ("pandas", "pyspark", "pyarrow"):
                assert own in ("pandas", "spark", "demo.py"), f"{path} imports {name}"


def test_private_parts_of_numba_are_imported_by_one_package():
    for path in modules():
        if path.relative_to(PACKAGE).parts[0] != "compile":
            found = [name for name in imported(path) if name.startswith(PRIVATE)]
            assert not found, f"{path} imports {found}: only rollstat/compile/ may"


def test_the_map_lists_every_module():
    listed = set(module_map())
    assert len(listed) == len(module_map())
    paths = [*PACKAGE.iterdir()]
    for name in LISTED_INSIDE:
        paths += (PACKAGE / name).iterdir()
    expected = set()
    for path in paths:
        folder = f"{path.parent.name}." if path.parent != PACKAGE else ""
        if path.is_dir() and list(path.glob("*.py")):
            expected.add(f"{folder}{path.name}/")
        elif path.suffix == ".py" and path.name != "__init__.py":
            expected.add(f"{folder}{path.name}")
    assert listed == expected


def test_imports_run_downward():
    order = {name.rstrip("/").removesuffix(".py"): number for number, name in enumerate(module_map())}
    for path in modules():
        own = place(path.relative_to(PACKAGE).parts)
        for other in imported_places(path):
            assert order[other] < order[own], f"{path} imports {other}, which the map does not show above it"


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
    for folder in ("algorithms", "computations", "statistics"):
        for path in (PACKAGE / folder).rglob("*.py"):
            tree = ast.parse(path.read_text())
            for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
                inner = [
                    node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))
                ]
                assert not inner, f"{path} imports within {function.name}"
            assert "import_module" not in path.read_text(), path
