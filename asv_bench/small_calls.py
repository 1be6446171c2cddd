"""Time every statistic over 100 values: the functions, the pandas accessor, and pandas.

    python asv_bench/small_calls.py median sum    # prints some; report.py measures all and writes them
    python asv_bench/small_calls.py mean max median --length 2500

Windows have 10 rows. Some statistics are also timed with expanding windows, and with windows of 10 s: over
regular times that have a frequency in pandas, over regular times without one, and over irregular times. One
thread. Times are microseconds of processor time, medians of several rounds in which the calls of a row take
turns. Calls of the accessor that take longer than those of pandas are in bold.
"""

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

import rollstat.pandas  # noqa: F401  # registers the accessor
from rollstat import Expanding, set_threads, tiers
from rollstat.registry import REGISTRY

WINDOW = 10
KEYS = ("function", "accessor", "pandas")
OVER_TIMES = ("sum", "mean", "std", "min", "max", "median", "count")


def indexes(length):
    """Return the kinds of other windows: the words for each, and an index of times; None if they expand."""
    regular = pd.date_range("2024-01-01", periods=length, freq="s")
    late = np.random.default_rng(2).integers(0, 900, length).astype("m8[ms]")
    return {
        "expanding": None,
        "10 s, with a frequency": regular,
        "10 s, regular": pd.DatetimeIndex(regular.to_numpy()),
        "10 s, irregular": pd.DatetimeIndex(np.sort(regular.to_numpy() + late)),
    }


def calls(name, values, index, expanding):
    """Return the calls to time: the function, the accessor's method, and that of pandas if it has one.

    Windows are `expanding`, or have a width in time if an index of times is given.
    """
    row = REGISTRY[name]
    series = [values, values[::-1].copy()][: row.series]
    options = row.samples[0]
    window = WINDOW if index is None else f"{WINDOW}s"
    width = {"window": Expanding(), "min_periods": 1} if expanding else {"window": window}
    windows = (lambda data: data.expanding()) if expanding else (lambda data: data.rolling(window))
    if index is not None:
        width["times"] = index.to_numpy()
    found = {"function": lambda: row.function(*series, **width, **options)}
    mine, other = (pd.Series(array, index) for array in (series[0], series[-1]))
    pairs = [other] if row.series == 2 else []
    if hasattr(windows(mine.rollstat), name):
        named = {"func" if key == "operator" else key: value for key, value in options.items()}
        found["accessor"] = lambda: getattr(windows(mine.rollstat), name)(*pairs, **named)
    if row.pandas:
        found["pandas"] = lambda: getattr(windows(mine), row.pandas)(*pairs, **options)
    return found


def measure(found, rounds, repeats):
    """Return the median microseconds of each call; calls that fail are left out."""
    times = {}
    for key, call in found.items():
        try:
            call()
        except (TypeError, ValueError, NotImplementedError) as error:
            print(f"  {key}: {type(error).__name__}: {error}", file=sys.stderr)
        else:
            times[key] = []
    for _ in range(rounds):
        for key, results in times.items():
            begin = time.process_time()
            for _ in range(repeats):
                found[key]()
            results.append((time.process_time() - begin) / repeats * 1e6)
    return {key: statistics.median(results) for key, results in times.items()}


def rows(chosen=(), rounds=9, repeats=100, length=100):
    """Print and return the rows of the table, of some statistics or all; the first row is the header."""
    set_threads(1)
    rng = np.random.default_rng(1)
    data = {"float64": rng.standard_normal(length), "int64": rng.integers(-9, 10, length)}
    table = [["statistic"] + [f"{key}, {dtype}" for dtype in data for key in KEYS]]
    names = chosen or sorted(REGISTRY)
    timed = [(name, name, None) for name in names]
    for kind, index in indexes(length).items():
        timed += [(f"{name}, {kind}", name, index) for name in OVER_TIMES if name in names]
    for label, name, index in timed:
        cells, expanding = [label], label.endswith("expanding")
        for values in data.values():
            with tiers.using("fast"):
                times = measure(calls(name, values, index, expanding), rounds, repeats)
            shown = {key: f"{time:.1f}" for key, time in times.items()}
            if times.get("accessor", 0) > times.get("pandas", float("inf")):
                shown["accessor"] = f"**{shown['accessor']}**"
            cells += [shown.get(key, "") for key in KEYS]
        table.append(cells)
        print("".join(f"{cell:>{32 if i == 0 else 11}}" for i, cell in enumerate(cells)), flush=True)
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="statistics; default: all")
    parser.add_argument("--length", type=int, default=100)
    warnings.simplefilter("ignore")
    arguments = parser.parse_args()
    rows(arguments.names, length=arguments.length)
