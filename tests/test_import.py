"""Importing the package loads no kernels, and nobody can see that its names are loaded on first use."""

import ast
import copy
import importlib
import inspect
import os
import pickle
import pkgutil
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rollstat
import rollstat.statistics
import rollstat.streaming
from rollstat.streaming import named_classes
from rollstat.streaming.table import TABLE

PACKAGE = Path(rollstat.__file__).parent
KERNELS = "loaded = [name for name in sys.modules if name.startswith('rollstat.kernels')]\n"


def run(code, **environment):
    """Run code in a fresh process."""
    subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"],
        check=True,
        cwd=PACKAGE.parent,
        env={**os.environ, **environment},
    )


def names_of_stub(package):
    """The names that the stub of a package imports, except submodules, with the module of each."""
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    found = [
        (alias.name, alias.asname, f"{package.__name__}.{node.module}")
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    ]
    assert all(name == exported for name, exported, _ in found)  # type checkers export "x as x" only
    assert len({name for name, _, _ in found}) == len(found)
    return {name: module for name, _, module in found}


@pytest.mark.parametrize(
    "code",
    [
        "import rollstat",
        "import rollstat\ndir(rollstat)\nrollstat.__all__\nrollstat.__version__",
        "import rollstat.statistics, rollstat.streaming",
        "import rollstat.pandas",
        "from rollstat.registry import REGISTRY\nassert 'median' in list(REGISTRY) and 'median' in REGISTRY",
    ],
)
def test_imports_load_no_kernel_module(code):
    run(f"{code}\n{KERNELS}assert not loaded, loaded")


def test_the_first_use_of_a_function_loads_only_what_it_needs():
    run(
        "import rollstat\nrollstat.rolling_mean\n"
        "others = {'rollstat.streaming', 'rollstat.statistics.selection.functions'}\n"
        "assert not others & set(sys.modules), others & set(sys.modules)"
    )


def test_pandas_methods_load_only_their_statistic():
    run(
        "import rollstat.pandas, pandas as pd\n"
        "accessor = pd.Series([1.0]).rollstat\n"
        "assert {'median', 'mean'} <= set(dir(accessor)) & set(dir(accessor.rolling(2)))\n"
        "accessor.mean\naccessor.rolling(2).mean\n"
        "assert 'rollstat.statistics.ranks.functions' not in sys.modules"
    )


@pytest.mark.parametrize("package", [rollstat, rollstat.statistics, rollstat.streaming])
def test_stubs_list_exactly_what_exists(package):
    stub = names_of_stub(package)
    assert set(stub) == set(package.__all__) - {"__version__"}
    for name, module in stub.items():
        assert getattr(package, name) is getattr(importlib.import_module(module), name)


def test_stubs_list_every_public_function_and_class():
    functions = set()
    for module in pkgutil.walk_packages(rollstat.statistics.__path__, "rollstat.statistics."):
        functions |= {
            name for name in vars(importlib.import_module(module.name)) if name.startswith("rolling_")
        }
        assert not functions - set(rollstat.statistics.__all__)
    assert {row.name for row in TABLE} <= set(rollstat.streaming.__all__)
    assert set(rollstat.statistics.__all__) | set(rollstat.streaming.__all__) - {"REASONS", "STREAMS"} <= set(
        rollstat.__all__
    )


def test_declared_stream_classes_are_those_of_the_table():
    path = PACKAGE / "streaming" / "named_classes.pyi"
    declared = {
        node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)
    }
    del declared["_OneSeries"]
    assert set(declared) == {row.name for row in TABLE}
    for name, node in declared.items():
        cls, arguments = getattr(rollstat, name), node.body[0].args
        signature = inspect.signature(cls).parameters.values()
        base = "_OneSeries" if "push" in vars(cls) else cls.__bases__[0].__name__
        assert [ast.unparse(part) for part in node.bases] == [base]
        for kind, found in (
            (inspect.Parameter.POSITIONAL_OR_KEYWORD, arguments.args[1:]),
            (inspect.Parameter.KEYWORD_ONLY, arguments.kwonlyargs),
        ):
            assert [p.arg for p in found] == [p.name for p in signature if p.kind is kind], name
        optional = len(arguments.defaults) + sum(default is not None for default in arguments.kw_defaults)
        assert optional == sum(p.default is not p.empty for p in signature), name


def test_dir_lists_the_public_names():
    assert set(rollstat.__all__) | {"operators", "statistics", "streaming"} <= {*dir(rollstat)}
    assert len(dir(rollstat)) == len(set(dir(rollstat)))


def test_star_import_in_a_fresh_process():
    run(
        "import inspect, rollstat\nnames = {}\nexec('from rollstat import *', names)\n"
        "assert set(names) - {'__builtins__'} == set(rollstat.__all__)\n"
        "exec('from rollstat.streaming import *', names)\nexec('from rollstat.statistics import *', names)\n"
        "assert inspect.isfunction(names['explain'])"
    )


def test_names_can_be_imported_in_any_order():
    run(
        "from rollstat import rolling_median, RollingMedian, explain, restore\n"
        "import rollstat, rollstat.explanation\n"
        "assert rollstat.explain is explain and callable(explain)\n"
        "assert rollstat.rolling_median is rollstat.statistics.rolling_median is rolling_median\n"
        "assert rollstat.streaming.RollingMedian is RollingMedian"
    )
    run("import rollstat.engine, rollstat\nassert callable(rollstat.explain)")


def test_everything_can_be_loaded_at_once():
    run("import rollstat\nassert rollstat.rolling_median and rollstat.RollingMedian", EAGER_IMPORT="1")


def test_unknown_names_are_attribute_errors():
    for module in (rollstat, rollstat.statistics, rollstat.streaming, named_classes):
        with pytest.raises(AttributeError, match="rolling_nothing"):
            module.rolling_nothing  # noqa: B018 - the access is the test
    assert set(dir(named_classes)) == {row.name for row in TABLE}
    with pytest.raises(ImportError):
        from rollstat import rolling_nothing  # noqa: F401 - the import is the test


def test_help_shows_every_name():
    text = pydoc.render_doc(rollstat, renderer=pydoc.plaintext)
    for name in rollstat.__all__:
        if name != "__version__":
            assert any(part in text for part in (f"    {name}(", f"    {name} = ", f"class {name}(")), name


def test_help_of_the_accessor_shows_every_statistic():
    from rollstat.pandas import Rolling, SeriesAccessor
    from rollstat.pandas.calls import STATISTICS

    for cls in (SeriesAccessor, Rolling):
        text = pydoc.render_doc(cls, renderer=pydoc.plaintext)
        for name in STATISTICS:
            assert f" {name}(" in text, name
            assert inspect.isfunction(getattr(cls, name))


@pytest.mark.parametrize("name", ["RollingMedian", "RollingMean", "RollingMinMax", "FixedAggregate"])
def test_streams_from_other_processes_load_their_class(name, tmp_path):
    arguments = (rollstat.operators.Sum(), 2) if name == "FixedAggregate" else (2,)
    stream = getattr(rollstat, name)(*arguments, min_periods=1)
    stream.push(4.0)
    for thing in (stream, copy.copy(stream), copy.deepcopy(stream)):
        assert thing.value == stream.value
    (tmp_path / "stream").write_bytes(pickle.dumps((stream, type(stream), rollstat.rolling_median)))
    (tmp_path / "snapshot").write_bytes(stream.snapshot())
    run(
        f"import pickle\nstream, cls, function = pickle.load(open({str(tmp_path / 'stream')!r}, 'rb'))\n"
        f"assert stream.value == {stream.value!r}\n"
        "import rollstat\n"
        f"assert type(stream) is cls is rollstat.{name} and function is rollstat.rolling_median"
    )
    run(
        f"import rollstat\nstream = rollstat.restore(open({str(tmp_path / 'snapshot')!r}, 'rb').read())\n"
        f"assert type(stream) is rollstat.{name}"
    )


def test_threads_get_the_same_class():
    run(
        "import threading, rollstat.streaming\nfrom rollstat.streaming.base import CLASSES\n"
        "found, barrier = [], threading.Barrier(8)\n"
        "def use():\n    barrier.wait()\n"
        "    found.append((rollstat.RollingMedian, rollstat.rolling_median))\n"
        "threads = [threading.Thread(target=use) for _ in range(8)]\n"
        "[thread.start() for thread in threads]\n[thread.join() for thread in threads]\n"
        "assert len(found) == 8 and len(set(found)) == 1 and found[0][0] is CLASSES['RollingMedian']"
    )


def test_explain_knows_a_function_that_is_loaded_by_itself():
    run(
        "import rollstat, numpy as np\n"
        "assert rollstat.explain(rollstat.rolling_median, np.zeros(9), 3).statistic == 'rolling_median'"
    )
    with pytest.raises(TypeError):
        rollstat.explain(np.median, np.zeros(9), 3)
