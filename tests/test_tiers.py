"""Quick kernels and fast ones: equal results, when one serves in place of the other, and how that is kept."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rollstat
from rollstat import explain, tiers
from rollstat.compile import cache
from rollstat.compile.folders import Folder
from rollstat.kernels.extrema import doubling
from rollstat.kernels.selection import bulk_select, selection_network

CALLS = {
    "kth": lambda x, m: rollstat.rolling_kth(x, 2, m),
    "argkth": lambda x, m: rollstat.rolling_argkth(x, -2, m),
    "median": rollstat.rolling_median,
    "lower quantile": lambda x, m: rollstat.rolling_quantile(x, m, 0.3, interpolation="lower"),
    "quantile": lambda x, m: rollstat.rolling_quantile(x, m, 0.85, min_periods=1),
    "quantiles": lambda x, m: rollstat.rolling_quantile(x, m, [0.1, 0.85, 0.5], min_periods=1),
    "iqr": rollstat.rolling_iqr,
    "min": rollstat.rolling_min,
    "max": lambda x, m: rollstat.rolling_max(x, m, min_periods=1),
    "minmax": rollstat.rolling_minmax,
    "argmin": rollstat.rolling_argmin,
    "argmax": rollstat.rolling_argmax,
    "ptp": rollstat.rolling_ptp,
    "smallest": lambda x, m: rollstat.rolling_kth(x, 1, m),
    "mad": rollstat.rolling_mad,
    "hampel": rollstat.rolling_hampel,
    "rank": lambda x, m: rollstat.rolling_rank(x, m, method="dense"),
    "nunique": rollstat.rolling_nunique,
    "mode": rollstat.rolling_mode,
    "trimmed mean": lambda x, m: rollstat.rolling_trimmed_mean(x, m, proportion=0.2),
    "gini": rollstat.rolling_gini,
}


def series(kind, n=4000):
    rng = np.random.default_rng(5)
    if kind == "whole":
        return rng.integers(-20, 20, n)
    values = rng.standard_normal(n)
    if kind == "missing":
        values[rng.random(n) < 0.1] = np.nan
    if kind == "zeros":
        values = rng.choice([-0.0, 0.0, 1.0, -1.0, np.inf], n)
    return values


def same_bits(one, two):
    """Return whether the bits are equal; a zero may have either sign."""
    pairs = zip(np.atleast_2d(one), np.atleast_2d(two), strict=True)
    return all(np.add(a, 0).tobytes() == np.add(b, 0).tobytes() for a, b in pairs)


@pytest.fixture
def new_process(monkeypatch):
    """Turn tiers on; return a function after which all but what is on disk is forgotten."""
    marks = set()
    monkeypatch.setattr(tiers, "is_marked", lambda function, variant: (function, variant) in marks)
    monkeypatch.setattr(tiers, "mark", lambda function, variant: marks.add((function, variant)))
    monkeypatch.setattr(tiers, "QUICK_SECONDS", 0.0)

    def forget():
        monkeypatch.setattr(tiers, "_ready", {})
        monkeypatch.setattr(tiers, "_spent", {})
        tiers.forget_plans()

    forget()
    with tiers.using("auto"):
        yield forget


@pytest.mark.parametrize("width", [5, 60, 700])
@pytest.mark.parametrize("kind", ["normal", "missing", "zeros", "whole"])
@pytest.mark.parametrize("name", CALLS)
def test_results_do_not_depend_on_the_tier(name, kind, width, monkeypatch):
    monkeypatch.setattr("rollstat.plan.ONE_CALL_ROWS", 0)  # so that the series is a long one
    values, results = series(kind), []
    for mode in ("quick", "fast"):
        with tiers.using(mode):
            results.append(CALLS[name](values, width))
    assert same_bits(*results)


@pytest.mark.parametrize(
    ("function", "quick", "fast"),
    [
        (rollstat.rolling_median, "sorted_window", "rank_bits"),
        (rollstat.rolling_min, "wedge", "doubling"),
        (rollstat.rolling_argmax, "wedge", "doubling"),
        (rollstat.rolling_mad, "sorted_window", "rank_set"),
    ],
)
def test_blocks_take_over(new_process, function, quick, fast):
    values, found, results = series("normal", 9000), [], []
    for _ in range(4):
        explanation = explain(function, values, 600)
        found.append(explanation.algorithm)
        assert explanation.one_call == (found[-1] == quick)
        if explanation.one_call:
            assert explanation.steps[-1].reason == "the kernels of blocks are not compiled yet"
        results.append(function(values, 600))
    assert found == [quick, fast, fast, fast]
    assert all(same_bits(result, results[0]) for result in results)
    new_process()
    assert explain(function, values, 600).algorithm == fast


def test_a_variant_does_not_make_another_one_ready(new_process):
    values = series("normal", 9000)
    for _ in range(2):
        rollstat.rolling_median(values, 600)
    assert explain(rollstat.rolling_median, values, 600).algorithm == "rank_bits"
    assert explain(rollstat.rolling_median, values.astype(int), 600).algorithm == "sorted_window"
    assert explain(rollstat.rolling_argkth, values, 3, 600).algorithm == "sorted_window"


def test_a_named_algorithm_has_no_tiers(new_process):
    values = series("normal", 9000)
    for name in ("rank_bits", "two_heaps"):
        assert explain(rollstat.rolling_median, values, 600, algorithm=name).algorithm == name
    assert explain(rollstat.rolling_min, values, 600, algorithm="doubling").algorithm == "doubling"


def test_calls_that_take_long_go_to_blocks_at_once(new_process):
    values = np.broadcast_to(0.0, 10**6)
    assert explain(rollstat.rolling_median, values, 100_000).algorithm == "rank_bits"
    assert explain(rollstat.rolling_median, values, 100).algorithm == "sorted_window"


def test_statistics_that_round_have_no_tiers(new_process):
    values = series("normal", 9000)
    for function in (rollstat.rolling_mean, rollstat.rolling_gini, rollstat.rolling_trimmed_mean):
        assert not explain(function, values, 600).one_call


def test_marks(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "folders", lambda: (Folder(tmp_path, True, True),))
    monkeypatch.setattr(cache, "prebuilt_folder", lambda: None)
    scan, select = doubling.rolling.py_func, bulk_select.select_fixed.py_func
    assert not cache.is_marked(scan, "float64")
    cache.mark(scan, "float64")
    cache.mark(scan, "float64")
    assert cache.is_marked(scan, "float64")
    assert not cache.is_marked(scan, "float32")
    assert not cache.is_marked(select, "float64")
    monkeypatch.setattr(cache, "source_digest", lambda path: "another source")
    assert not cache.is_marked(scan, "float64")


def test_marks_of_a_wheel_and_without_a_folder(tmp_path, monkeypatch):
    function = selection_network.run_network.py_func
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "folders", lambda: (Folder(tmp_path, True, True),))
    monkeypatch.setenv("ROLLSTAT_BUILD_LEVEL", cache.host_levels()[0])
    cache.mark(function, "float64")
    monkeypatch.delenv("ROLLSTAT_BUILD_LEVEL")
    assert not cache.is_marked(function, "float64"), "a folder for all CPUs is not for this one"
    monkeypatch.setattr(cache, "prebuilt_folder", lambda: tmp_path)
    for folder in (None, tmp_path / "missing"):
        monkeypatch.setattr(cache, "cache_folder", lambda folder=folder: folder)
        monkeypatch.setattr(cache, "folders", tuple)
        assert cache.is_marked(function, "float64")
        assert not cache.is_marked(function, "int64")
        cache.mark(function, "int64")
        assert not cache.is_marked(function, "int64")


SCRIPT = """
import numpy as np, rollstat
from rollstat.compile.cache import compiled_kernels
x = np.random.default_rng(0).standard_normal(9000)
print(rollstat.explain(rollstat.rolling_median, x, 7).algorithm)
rollstat.rolling_median(x, 7)
print([kernel.name.rsplit(".")[-1] for kernel in compiled_kernels if kernel.origin == "compiled"])
"""


def run(folder, mode):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "ROLLSTAT_TIERS": mode}
    environment["PYTHONPATH"] = str(Path(rollstat.__file__).parent.parent)
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_processes_share_what_is_ready(tmp_path):
    algorithm, compiled = run(tmp_path, "auto").stdout.splitlines()
    assert algorithm == "sorted_window"
    assert "sorted_windows" in compiled
    algorithm, compiled = run(tmp_path, "fast").stdout.splitlines()
    assert algorithm == "small_window"
    assert "run_network" in compiled
    assert run(tmp_path, "auto").stdout.splitlines() == ["small_window", "[]"]


def test_unknown_mode(tmp_path):
    assert "ROLLSTAT_TIERS must be one of" in run(tmp_path, "slow").stderr
