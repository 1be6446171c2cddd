"""Functions that mention the package, pickled by value as joblib, dask and Spark do."""

import subprocess
import sys

import cloudpickle
import dask
import joblib
import numpy as np
import pytest

import rollstat

SERIES = [3.0, 1.0, 2.0, 5.0, 4.0]
MEDIANS = [None, None, 2.0, 2.0, 4.0]


def made_at_run_time(source):
    """Return the function `f` of a script, which belongs to no module that another process can import."""
    names = {"__name__": "__main__", "rollstat": rollstat}
    exec(source, names)
    return names["f"]


@pytest.fixture(scope="module")
def median():
    return made_at_run_time("def f(x): return rollstat.rolling_median(x, 3)")


def agrees(result):
    np.testing.assert_array_equal(result, np.array(MEDIANS, float))


@pytest.mark.parametrize("name", rollstat.__all__)
def test_functions_that_mention_a_public_name_are_pickled(name):
    function = made_at_run_time(f"def f(): return rollstat.{name}")
    assert cloudpickle.loads(cloudpickle.dumps(function))() is getattr(rollstat, name)


def test_a_fresh_process_loads_and_calls_the_function(median, tmp_path):
    (tmp_path / "function").write_bytes(cloudpickle.dumps(median))
    script = f"import pickle; print(pickle.load(open('function', 'rb'))({SERIES}).tolist())"
    run = [sys.executable, "-c", script]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[nan, nan, 2.0, 2.0, 4.0]"


def test_joblib_runs_the_function_in_other_processes(median):
    for result in joblib.Parallel(n_jobs=2)(joblib.delayed(median)(SERIES) for _ in range(2)):
        agrees(result)


def test_dask_runs_the_function_in_other_processes(median):
    (result,) = dask.compute(dask.delayed(median)(SERIES), scheduler="processes", num_workers=1)
    agrees(result)
