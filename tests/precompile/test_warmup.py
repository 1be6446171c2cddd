"""Compiling in advance: arguments, effects on the process, the command line, and the report of versions."""

import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from numba import config

import rollstat
from rollstat.__main__ import main
from rollstat.compile.cache import compiled_kernels
from rollstat.precompile import usual_calls
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS

ROOT = Path(__file__).resolve().parent.parent.parent


def test_it_compiles_once_and_leaves_the_process_as_it_was():
    filters, threads = list(warnings.filters), threading.active_count()
    rollstat.set_threads(2)
    try:
        done = rollstat.warmup("count", np.float64, progress=False)
        assert rollstat.get_threads() == 2
    finally:
        rollstat.set_threads(1)
    assert list(warnings.filters) == filters
    assert threading.active_count() == threads
    assert (done.statistics, done.dtypes) == (("count",), ("float64",))
    again = rollstat.warmup(["count"], ["float64"], progress=False)
    assert again.compiled == again.loaded == 0
    before = len(compiled_kernels)
    rollstat.rolling_count(np.arange(50.0), 7)
    rollstat.RollingCount(7).push(1.0)
    assert len(compiled_kernels) == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"statistics": "nothing"}, ValueError, "statistics must be names among aggregate.*was 'nothing'"),
        ({"statistics": ["min", 3]}, ValueError, "statistics must be .*was 3"),
        ({"statistics": 3}, TypeError, "statistics must be a name or several; got 3"),
        (
            {"dtypes": "decimal"},
            TypeError,
            "dtypes must be NumPy dtypes such as 'float64'; one was 'decimal'",
        ),
        ({"dtypes": [complex]}, ValueError, "dtypes must be float, int, bool, .*one was <class 'complex'>"),
        ({"dtypes": 3}, TypeError, "dtypes must be a dtype or several; got 3"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        rollstat.warmup(**arguments)


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("dtype", ["float64", "M8[ns]"])
def test_calls_are_derived_for_every_statistic(name, dtype):
    calls = list(usual_calls.usual_calls(name, np.dtype(dtype)))
    assert bool(calls) == (np.dtype(dtype).kind in REGISTRY[name].kinds)
    streams = sum(call.func is usual_calls._use_stream for call in calls if hasattr(call, "func"))
    assert bool(streams) == (bool(calls) and (name in STREAMS or name == "aggregate"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtype"), [("nunique", "bool"), ("nunique", "M8[ns]")])
def test_other_dtypes(name, dtype):
    assert len(rollstat.warmup(name, dtype, progress=False).dtypes) == 1


def test_the_command_shows_progress_and_names_bad_arguments(capsys):
    assert main(["warmup", "count", "--dtype", "float64"]) == 0
    shown = capsys.readouterr()
    assert "kernels compiled" in shown.out
    assert "count float64" in shown.err
    with pytest.raises(SystemExit):
        main(["warmup", "nothing"])
    assert "statistics must be names among" in capsys.readouterr().err


def test_lines_are_shown_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    rollstat.warmup("count", "float64")
    assert capsys.readouterr().err.startswith("[1/1] count float64: ")


def test_the_report_of_versions(capsys):
    rollstat.show_versions()
    shown = capsys.readouterr().out
    for part in (
        "rollstat",
        "numba",
        "pandas",
        "java",
        "cpu levels",
        "cache folder",
        "in this process",
        "threads",
    ):
        assert f"\n{part} " in f"\n{shown}"
    done = subprocess.run(
        [sys.executable, "-m", "rollstat", "info"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "in this process" in done.stdout


pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
