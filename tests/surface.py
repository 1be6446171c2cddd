"""Write the declarations of the public names: ``python -m tests.surface``.

::

    registered functions, table of streams ---> the stubs, which type checkers and lazy_loader read

Run this program after a statistic, a stream or one of their parameters has changed. Names that belong to no
statistic are in the stubs alone, and stay as they are.
"""

import importlib
import inspect
import os
import pkgutil
import re
import sys
from pathlib import Path

import rollstat.statistics
from rollstat.registry import REGISTRY

PACKAGE = Path(rollstat.__file__).parent
FUNCTIONS = PACKAGE / "statistics" / "__init__.pyi"
STREAMS = PACKAGE / "streaming" / "__init__.pyi"
_LINE = 110
_WRITTEN = "# Written by tests/surface.py from here on:"
_ANY = ("combine", "apply")  # methods whose results may be Series or frames
_NOT_AT_THE_TOP = {"REASONS", "STREAMS"}  # names of rollstat.streaming that rollstat does not have
_IMPORT = re.compile(r"^from (\S+) import (?:\(\s*)?(\w+) as \w+,?(?:\s*\))?\n", re.MULTILINE)
_FUNCTIONS = '''\
"""The public functions over arrays, and the module of each, which is loaded on first use.

Written by tests/surface.py.
"""

'''
_NAMED_CLASSES = '''\
"""Declarations of the named classes for type checkers, written by tests/surface.py."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from rollstat.options import Window
from rollstat.streaming.base import RollingStream
from rollstat.streaming.general import OperatorStream

class _OneSeries(OperatorStream):
    def push(self, x: Any, t: Any = None) -> Any: ...  # as RollingStream.push
'''


def _imports(names):
    """Return the lines that import pairs of module and name, in the order that ruff gives them."""
    in_order = sorted(names, key=lambda each: (each[0], each[1][0].islower(), each[1].casefold()))
    return "".join(f"from {module} import {name} as {name}\n" for module, name in in_order)


def _with_imports(text, module, names):
    """Return a stub that imports `names` in place of all that it has imported from `module`."""
    found = [*_IMPORT.finditer(text)]
    kept = [pair for pair in _IMPORT.findall(text) if pair[0] != module]
    return (
        text[: found[0].start()]
        + _imports([*kept, *((module, name) for name in names)])
        + text[found[-1].end() :]
    )


def _after_marks(text, *declared):
    """Return a stub with other lines after each mark, as far as the block of the mark reaches."""
    parts = iter(declared)
    mark = re.compile(rf"^( *){_WRITTEN}\n(?:\1\S.*\n|\1 +.*\n)*", re.MULTILINE)
    written, marks = mark.subn(lambda found: f"{found[1]}{_WRITTEN}\n{next(parts)}", text)
    assert marks == len(declared)
    return written


def _annotation(parameter):
    """Return the type of a parameter as text; that of arrays is Any, because columns can take their place."""
    if parameter.annotation is parameter.empty:
        return "Any"
    given = parameter.annotation
    text = given if isinstance(given, str) else inspect.formatannotation(given)
    text = text.replace("collections.abc.", "").replace("'", '"')
    return "Any" if "numpy" in text else text


def _parameters(parameters, **types):
    """Return the declarations of parameters, with the star before those that are taken by keyword alone."""
    declared = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in declared:
            declared.append("*")
        text = f"{parameter.name}: {types.get(parameter.name) or _annotation(parameter)}"
        if parameter.default is not parameter.empty:
            simple = isinstance(parameter.default, (int, float, str, type(None)))
            text += f" = {repr(parameter.default).replace(chr(39), chr(34)) if simple else '...'}"
        declared.append(text)
    return declared


def _declaration(name, parameters, returned, indent=""):
    """Return the declaration of a function, in the form that ruff gives."""
    line = f"{indent}def {name}({', '.join(parameters)}) -> {returned}: ...\n"
    if len(line) <= _LINE + 1:
        return line
    inner = f"{indent}    {', '.join(parameters)}\n"
    if len(inner) > _LINE + 1:
        inner = "".join(f"{indent}    {parameter},\n" for parameter in parameters)
    return f"{indent}def {name}(\n{inner}{indent}) -> {returned}: ...\n"


def _own_functions(module):
    """Return the names of the public functions that a module defines."""
    return [
        name
        for name, item in vars(module).items()
        if inspect.isfunction(item) and item.__module__ == module.__name__ and not name.startswith("_")
    ]


def functions():
    """Return the stub of the functions over arrays: all public names of modules that register one."""
    names = []
    package = rollstat.statistics.__name__
    for found in pkgutil.walk_packages(rollstat.statistics.__path__, f"{package}."):
        module = importlib.import_module(found.name)
        public = [] if found.ispkg else _own_functions(module)
        if any(REGISTRY.of_function(getattr(module, name)) for name in public):
            names += [(found.name.removeprefix(package), name) for name in public]
    return _FUNCTIONS + _imports(names)


def streaming():
    """Return the stub of the classes of streams."""
    from rollstat.streaming.table import TABLE

    return _with_imports(STREAMS.read_text(), ".named_classes", [row.name for row in TABLE])


def top():
    """Return the stub of the package, which has the names of both."""
    text = (PACKAGE / "__init__.pyi").read_text()
    text = _with_imports(text, ".statistics", [name for _, name in _IMPORT.findall(functions())])
    streams = [name for _, name in _IMPORT.findall(streaming()) if name not in _NOT_AT_THE_TOP]
    return _with_imports(text, ".streaming", streams)


def named_classes():
    """Return the declarations of the named classes of streams."""
    from rollstat.streaming.named import STREAMS
    from rollstat.streaming.table import TABLE

    text = _NAMED_CLASSES
    for row in sorted(TABLE, key=lambda row: row.name.casefold()):
        cls = STREAMS[row.statistic]
        base = "_OneSeries" if "push" in vars(cls) else cls.__base__.__name__
        types = {"window": "Window", "dtype": "DTypeLike"}
        parameters = ["self", *_parameters(inspect.signature(cls).parameters.values(), **types)]
        text += f"\nclass {row.name}({base}):\n" + _declaration("__init__", parameters, "None", " " * 4)
    return text


def pandas():
    """Return the stub of the accessors and window objects, with a method of both for each statistic."""
    from rollstat.pandas.accessors import _WINDOW_OPTIONS, STATISTICS, SeriesAccessor
    from rollstat.pandas.windows import Expanding

    names, options = sorted(STATISTICS), {*_WINDOW_OPTIONS, "numeric_only"}
    windows = [_method(name, getattr(Expanding, name)) for name in names if name != "apply"]
    shortcuts = [_method(name, getattr(SeriesAccessor, name), options) for name in names]
    text = (PACKAGE / "pandas" / "__init__.pyi").read_text()
    return _after_marks(text, "".join(windows), "".join(shortcuts))


def _method(name, method, options=frozenset()):
    """Return the declaration of a method; two if a parameter may be a sequence, whose results are columns."""
    from rollstat.pandas.accessors import STATISTICS

    statistic = REGISTRY[STATISTICS[name]]
    of_function = inspect.signature(statistic.function).parameters
    parameters = [
        p for p in inspect.signature(method).parameters.values() if p.name not in {"self", *options}
    ]
    # pandas' own declarations say less about the parameters than those of the functions.
    types = {p.name: _annotation(of_function.get(p.name, p)) for p in parameters}
    several = [name for name, text in types.items() if " | Sequence" in text]
    returned = "DataFrame" if len(statistic.outputs) > 1 else "Any" if name in _ANY else "Data"
    last = ["**options: Unpack[_ShortcutOptions]"] if options else []
    if not several:
        return _declaration(name, ["self", *_parameters(parameters, **types), *last], returned, " " * 4)
    (single, sequence), text = types[several[0]].split(" | "), ""
    for kind, columns in (single, returned), (sequence, "DataFrame"):
        declared = ["self", *_parameters(parameters, **types | {several[0]: kind}), *last]
        text += "    @overload\n" + _declaration(name, declared, columns, " " * 4)
    return text


def spark():
    """Return the stub of the Spark functions, with one for each statistic."""
    from rollstat.spark.aggregates import BUILDERS

    statistics = {method: REGISTRY[name] for method, name in BUILDERS.items()}
    return _of_columns("spark", statistics, "ColumnLike", "Aggregate")


def features():
    """Return the stub of the module of features, with a function for each statistic."""
    return _of_columns("features", REGISTRY, "str", "Feature")


def _of_columns(folder, statistics, column, returned):
    """Return the stub of a package with functions that name statistics of columns."""
    declared = ""
    for name, statistic in sorted(statistics.items()):
        types = dict.fromkeys(("column", "other"), column)
        for p in inspect.signature(statistic.function).parameters.values():
            types.setdefault(p.name, _annotation(p))
        parameters = _parameters(statistic.of_columns.parameters.values(), **types)
        declared += _declaration(name, parameters, returned)
    return _after_marks((PACKAGE / folder / "__init__.pyi").read_text(), declared)


STUBS = {
    "statistics/__init__.pyi": functions,
    "__init__.pyi": top,
    "streaming/__init__.pyi": streaming,
    "streaming/named_classes.pyi": named_classes,
    "pandas/__init__.pyi": pandas,
    "spark/__init__.pyi": spark,
    "features/__init__.pyi": features,
}


def main():
    """Write each stub that is not current."""
    for name, write in STUBS.items():
        path, text = PACKAGE / name, write()
        if text != path.read_text():
            path.write_text(text)
            print(f"wrote rollstat/{name}")
            if path == FUNCTIONS:  # the names of the registry, which this process has read already
                os.execv(sys.executable, [sys.executable, "-m", "tests.surface"])


if __name__ == "__main__":
    main()
