"""Time user-defined operators, plans over Python objects, and first calls; write their tables.

python asv_bench/operators.py --output docs/performance/tables/operators.rst
"""

import argparse
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import N, series
from benchmarks.peers import versions
from benchmarks.tables import list_table, write

import rollstat


def larger(older: float, newer: float) -> float:
    """Return the larger of two values: an operator that is a function."""
    return newer if newer > older else older


def largest(window: np.ndarray) -> float:
    """Compute the same in pandas' apply."""
    result = window[0]
    for x in window[1:]:
        result = x if x > result else result
    return result


class Fall(NamedTuple):
    """The largest fall from a value to a later one: an operator with a state of three numbers."""

    def lift(self, x: float) -> tuple[float, float, float]:
        return x, x, 0.0

    def combine(self, older: Any, newer: Any) -> tuple[float, float, float]:
        across = older[0] - newer[1]
        return max(older[0], newer[0]), min(older[1], newer[1]), max(older[2], newer[2], across)

    def lower(self, state: tuple[float, float, float]) -> float:
        return state[2]


def largest_fall(window: np.ndarray) -> float:
    """Compute the same for one window in pandas' apply."""
    highest = lowest = window[0]
    fall = 0.0
    for x in window[1:]:
        fall = max(fall, 0.0, highest - x)
        highest = max(highest, x)
        lowest = min(lowest, x)
    return fall


def seconds(run: Callable[[], Any], rounds: int = 3) -> float:
    """Return the shortest processor time of a call over some rounds, after a warm-up call."""
    run()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def own_operators(windows: list[int]) -> list[list[str]]:
    """Return nanoseconds per element of user-defined operators and of pandas' apply."""
    values = series("walk")
    rows = []
    for title, operator, function in (
        ("larger, a function", larger, largest),
        ("Fall, three numbers", Fall(), largest_fall),
    ):
        for window in windows:
            mine = seconds(lambda o=operator, m=window: rollstat.rolling_aggregate(values, o, m)) / N
            few = pd.Series(values[: max(2_000_000 // window, 2 * window)])
            found = few.rolling(window).apply(function, raw=True)
            np.testing.assert_array_equal(found, rollstat.rolling_aggregate(few.to_numpy(), operator, window))
            plain = seconds(lambda f=function, s=few, m=window: s.rolling(m).apply(f, raw=True), 1)
            more = pd.Series(values[: max(N // max(window // 100, 1), 2 * window)])
            jitted = seconds(
                lambda f=function, s=more, m=window: s.rolling(m).apply(f, raw=True, engine="numba"), 1
            )
            plain, jitted = plain / (len(few) - window + 1), jitted / (len(more) - window + 1)
            cells = [f"{1e9 * mine:.1f}"]
            for peer in (plain, jitted):
                cells += [f"{1e9 * peer:,.0f}", f"{peer / mine:,.0f}x"]
            rows.append([title, f"{window:,}", *cells])
    return rows


def object_plans() -> list[list[str]]:
    """Return nanoseconds of overhead per combination of Python objects, without the function itself."""
    calls = 0

    def count(older: Any, newer: Any) -> Any:
        nonlocal calls
        calls += 1
        return newer

    def keep(older: Any, newer: Any) -> Any:
        return newer

    elements = np.array([object() for _ in range(200_000)])
    rng = np.random.default_rng(3)
    start = np.sort(rng.integers(0, len(elements) - 1_000, len(elements)))
    end = np.maximum.accumulate(start + rng.integers(1, 1_000, len(elements)))
    rows = []
    for title, window in (("10 rows", 10), ("1,000 rows", 1_000), ("bounds at random", (start, end))):
        calls = 0
        rollstat.rolling_aggregate(elements, count, window)
        made = calls
        whole = seconds(lambda w=window: rollstat.rolling_aggregate(elements, keep, w))
        one = elements[0]

        def bare(times: int = made, one: Any = one) -> None:
            for _ in range(times):
                keep(one, one)

        over = (whole - seconds(bare)) / made
        rows.append([title, f"{made / len(elements):.2f}", f"{1e9 * over:.0f}"])
    return rows


_FIRST = """
import sys, time
sys.path.insert(0, {folder!r})
import numpy as np, rollstat, {module}
from rollstat import operators
x = np.linspace(0.0, 1.0, 1000)
start = time.process_time()
{call}
print(1e3 * (time.process_time() - start))
"""
_PLAIN = """
from numba import njit

@njit(cache=True)
def total(x):
    result = 0.0
    for i in range(len(x)):
        result += x[i]
    return result
"""


def first_calls(rounds: int) -> list[list[str]]:
    """Return the shortest processor time of the first call in a new process with a warm cache, in ms."""
    calls = {
        "a cached Numba function": "plain.total(x)",
        "Sum": "rollstat.rolling_aggregate(x, operators.Sum(), 100)",
        "Variance": "rollstat.rolling_aggregate(x, operators.Variance(), 100)",
        "ArgMaximum": "rollstat.rolling_aggregate(x, operators.ArgMaximum(), 100)",
        "LogSumExp": "rollstat.rolling_aggregate(x, operators.LogSumExp(), 100)",
        "rolling_sum": "rollstat.rolling_sum(x, 100)",
        "rolling_var": "rollstat.rolling_var(x, 100)",
    }
    times: dict[str, list[float]] = {title: [] for title in calls}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plain.py").write_text(_PLAIN)
        for _ in range(rounds + 1):
            for title, call in calls.items():
                code = _FIRST.format(folder=folder, module="plain", call=call)
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
                times[title].append(float(done.stdout))
    best = {title: min(values[1:]) for title, values in times.items()}
    least = best["a cached Numba function"]
    return [[title, f"{value:.0f}", f"{value - least:+.0f}"] for title, value in best.items()]


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    for row in [header, *rows]:
        print("  ".join(f"{cell:>20}" for cell in row), flush=True)
    return list_table([header, *rows])


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--windows", type=int, nargs="+", default=[5, 100, 1_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    header = ["operator", "window", "rollstat", "apply(raw=True)", "ratio", 'apply(engine="numba")', "ratio"]
    lines = [*_table(header, own_operators(arguments.windows)), "Nanoseconds per element.", ""]
    header = ["windows of objects", "calls an element", "overhead a call"]
    lines += [*_table(header, object_plans()), "Nanoseconds per call, without the function itself.", ""]
    header = ["first call in a process", "milliseconds", "more than a cached function"]
    lines += _table(header, first_calls(arguments.rounds))
    lines += ["Processor time of the call without imports, the minimum of the rounds.", ""]
    lines += [f"{versions()}; Python {platform.python_version()}.", ""]
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
