"""The declarations for type checkers are those of the classes."""

import ast
import inspect
import runpy
from pathlib import Path

import rollstat.pandas
from rollstat.pandas.calls import STATISTICS

STUB = Path(rollstat.pandas.__file__).with_suffix(".pyi")
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
BASES = {"_Windows": rollstat.pandas.Rolling, "_Accessor": rollstat.pandas.SeriesAccessor}


def declared():
    return {node.name: node for node in ast.parse(STUB.read_text()).body if hasattr(node, "name")}


def shape(signature):
    """Name, kind and whether it has a default, of each parameter but the window options of the accessors."""
    kept = []
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "options", "numeric_only") or parameter.kind in _VARIADIC:
            continue
        kept.append((parameter.name, parameter.default is not parameter.empty))
    return kept


def of_stub(node):
    """The same for a declaration."""
    given = node.args
    optional = len(given.args) - len(given.defaults)
    found = [(argument.arg, i >= optional) for i, argument in enumerate(given.args) if argument.arg != "self"]
    found += [(a.arg, default is not None) for a, default in zip(given.kwonlyargs, given.kw_defaults)]
    return [entry for entry in found if entry[0] != "numeric_only"]


def test_every_public_name_is_declared():
    names = {name for name in declared() if not name.startswith("_")}
    assert names == set(rollstat.pandas.__all__)


def test_every_statistic_is_declared_with_its_parameters():
    for name, cls in BASES.items():
        methods = {node.name: node for node in declared()[name].body if isinstance(node, ast.FunctionDef)}
        assert set(STATISTICS) <= set(methods)
        for method, node in methods.items():
            if method.startswith("__") or method in ("agg", "aggregate", "apply", "pipe"):
                continue
            found = shape(inspect.signature(getattr(cls, method)))
            if name == "_Accessor" and method in STATISTICS:
                common = rollstat.pandas.accessors._WINDOW_OPTIONS
                found = [entry for entry in found if entry[0] not in common]
            assert of_stub(node) == found, (name, method)
    for function in ("rolling", "expanding"):
        found = shape(inspect.signature(getattr(rollstat.pandas, function)))
        assert of_stub(declared()[function]) == found


def test_the_calls_that_type_checkers_read_run():
    runpy.run_path(str(Path(__file__).with_name("typed_calls.py")))
