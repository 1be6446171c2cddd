"""Compiling in advance: arguments, effects on the process and the command line."""

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
        ({"statistics": "nothing"}, ValueError, "statistics must be names from aggregate.*got 'nothing'"),
        ({"statistics": ["min", 3]}, ValueError, "statistics must be .*got 3"),
        ({"statistics": 3}, TypeError, "statistics must be a name or several; got 3"),
        (
            {"dtypes": "decimal"},
            TypeError,
            "dtypes must be NumPy dtypes such as 'float64'; got 'decimal'",
        ),
        ({"dtypes": [complex]}, ValueError, "dtypes must be float, int, bool, .*got <class 'complex'>"),
        ({"dtypes": 3}, TypeError, "dtypes must be a dtype or several; got 3"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        rollstat.warmup(**arguments)


def test_the_command_shows_progress_and_names_bad_arguments(capsys):
    assert main(["warmup", "count", "--dtype", "float64"]) == 0
    shown = capsys.readouterr()
    assert "kernels compiled" in shown.out
    assert "count float64" in shown.err
    with pytest.raises(SystemExit):
        main(["warmup", "nothing"])
    assert "statistics must be names from" in capsys.readouterr().err


def test_lines_are_shown_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    rollstat.warmup("count", "float64")
    assert capsys.readouterr().err.startswith("[1/1] count float64: ")


pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
