"""Compare time windows of rollstat, pandas and polars in one run, and write the tables.

    python asv_bench/time_windows.py                     # prints the tables and the rows that rollstat loses
    python asv_bench/time_windows.py --output docs/performance/tables/time_windows.rst
    python asv_bench/time_windows.py --n 100000 --rounds 3 --statistics sum median --kinds regular

One row a second on average: at regular times, at random ones, or in bursts. The results are compared before
anything is timed; then the libraries take turns, each with one thread. A cell shows the median over the
rounds of the time of the faster other library divided by that of rollstat. For regular times the last column
shows how much longer time windows take than windows of as many rows.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("POLARS_MAX_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
import polars as pl
from benchmarks.data import N, series
from benchmarks.peers import versions
from benchmarks.tables import list_table, write
from benchmarks.times import KINDS, times_of
from benchmarks.timing import milliseconds, ratio
from pandas.api.indexers import BaseIndexer

from rollstat import tiers
from rollstat.registry import REGISTRY

WIDTHS = {"10 s": 10, "5 min": 300, "20,000 s": 20_000}
STATISTICS: dict[str, dict[str, Any]] = {
    "sum": {},
    "mean": {},
    "std": {},
    "skew": {},
    "min": {},
    "max": {},
    "median": {},
    "quantile": {"q": 0.05},
    "count": {},
    "nunique": {},
    "rank": {},
    "first": {},
    "cov": {},
}
IN_POLARS = {"sum", "mean", "std", "min", "max", "median", "quantile", "rank"}
VARIANTS = {
    "closed='left'": {"closed": "left"},
    "closed='both'": {"closed": "both"},
    "closed='neither'": {"closed": "neither"},
    "center=True": {"center": True},
    "step=10": {"step": 10},
    "bounds": {},
}
VARIED = ("sum", "std", "min", "median")
Runs = dict[str, Callable[[], Any]]


class Bounds(BaseIndexer):
    """Explicit bounds for pandas."""

    def get_window_bounds(
        self,
        num_values: int = 0,
        min_periods: int | None = None,
        center: bool | None = None,
        closed: str | None = None,
        step: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds that the object was made with."""
        return self.start, self.end


class Data(NamedTuple):
    """A series and its times, in the form of each library."""

    values: np.ndarray
    other: np.ndarray
    times: np.ndarray

    @classmethod
    def make(cls, kind: str, n: int) -> "Data":
        """Return normal values at times of one kind."""
        return cls(series("normal", n), series("walk", n), times_of(kind, n))


def rollstat_run(name: str, data: Data, window: Any, **options: Any) -> Callable[[], Any]:
    """Return a call of rollstat."""
    entry = REGISTRY[name]
    arrays = (data.values, data.other) if entry.series > 1 else (data.values,)
    keywords = STATISTICS[name] | {"window": window} | options
    return lambda: entry.function(*arrays, **keywords)


def pandas_run(name: str, data: Data, window: Any, **options: Any) -> Callable[[], Any]:
    """Return a call of pandas."""
    column, other = (pd.Series(v, pd.DatetimeIndex(data.times)) for v in (data.values, data.other))
    arguments = (other,) if name == "cov" else tuple(STATISTICS[name].values())
    return lambda: getattr(column.rolling(window, **options), name)(*arguments)


def polars_run(name: str, data: Data, window: str, **options: Any) -> Callable[[], Any]:
    """Return a call of polars."""
    frame = pl.DataFrame({"time": data.times, "value": data.values})
    keywords = {"quantile": 0.05, "interpolation": "linear"} if name == "quantile" else {}
    if options.get("closed") == "neither":
        options["closed"] = "none"
    method = getattr(pl.col("value"), f"rolling_{name}_by")
    expression = method("time", window_size=window, **keywords, **options)
    return lambda: frame.select(expression)["value"]


def calls(name: str, data: Data, seconds: int, variant: str = "") -> Runs:
    """Return the calls to compare, rollstat first."""
    width, options = f"{seconds}s", dict(VARIANTS.get(variant, {}))
    if variant == "bounds":
        end = np.arange(1, len(data.times) + 1)
        start = np.searchsorted(data.times, data.times - np.timedelta64(seconds, "s"), side="right")
        indexer = Bounds(start=start, end=end)
        return {
            "rollstat": rollstat_run(name, data, (start, end)),
            "pandas": pandas_run(name, data, indexer, min_periods=1),
        }
    runs: Runs = {"rollstat": rollstat_run(name, data, width, times=data.times, **options)}
    if variant == "step=10":  # neither library skips rows of time windows
        every_row = pandas_run(name, data, width)
        return runs | {"pandas": lambda: every_row()[::10]}
    runs["pandas"] = pandas_run(name, data, width, **options)
    if name in IN_POLARS and variant != "center=True":
        runs["polars"] = polars_run(name, data, width, **options)
    return runs


def check(label: str, runs: Runs) -> list[str]:
    """Compare the results, and return a note for each library that differs."""
    mine, notes = np.asarray(runs["rollstat"](), np.float64), []
    for library, run in runs.items():
        theirs = np.asarray(run(), np.float64)
        same = np.isclose(mine, theirs, rtol=1e-7, atol=1e-7, equal_nan=True)
        if not same.all():
            notes.append(f"{label}: {library} differs in {100 * (1 - same.mean()):.2g} % of the rows")
    return notes


def of_faster_peer(times: dict[str, list[float]]) -> tuple[float, str]:
    """Return how many times faster rollstat is than the faster other library, and that library."""
    return min((ratio(times, library, "rollstat"), library) for library in times if library in PEERS)


PEERS = ("pandas", "polars")


class Tables:
    """The rows of both tables, and the rows that rollstat loses."""

    def __init__(self, n: int, rounds: int, kinds: list[str]) -> None:
        self.rounds = rounds
        self.data = {kind: Data.make(kind, n) for kind in kinds}
        self.losing: list[str] = []
        self.notes: list[str] = []

    def measure(self, name: str, label: str, variant: str = "") -> list[str]:
        """Return the cells of one row: a ratio for each kind of times, and that to windows of rows."""
        cells, rows_cell = [], ""
        for kind, data in self.data.items():
            runs = calls(name, data, WIDTHS[label], variant)
            place = f"{name}, {label}, {kind} times" + (f", {variant}" if variant else "")
            self.notes += check(place, runs)
            if kind == "regular" and not variant:
                runs["rows"] = rollstat_run(name, data, WIDTHS[label], min_periods=1)
            times = milliseconds(runs, self.rounds)
            faster, library = of_faster_peer(times)
            if "rows" in times:
                rows_cell = f"{ratio(times, 'rollstat', 'rows'):.2f}"
            cells.append(f"{faster:.2f} {library}" if faster >= 1 else f"**{faster:.2f}** {library}")
            if faster < 1:
                self.losing.append(f"{place}: {faster:.2f} times as fast as {library}")
        return [*cells, *([] if variant else [rows_cell])]


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statistics", nargs="+", choices=STATISTICS, default=list(STATISTICS))
    parser.add_argument("--widths", nargs="+", choices=WIDTHS, default=list(WIDTHS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    tables = Tables(arguments.n, arguments.rounds, arguments.kinds)
    header = ["statistic", "duration", *arguments.kinds]
    plain = [[*header, "regular times / rows"]]
    varied = [["window", *header]]
    jobs = [(plain, (name, label, "")) for name in arguments.statistics for label in arguments.widths]
    jobs += [
        (varied, (name, "5 min", variant))
        for variant in arguments.variants
        for name in VARIED
        if name in arguments.statistics
    ]
    with tiers.using("fast"):
        for table, (name, label, variant) in jobs:
            names = [variant, name, label] if variant else [name, label]
            table.append([*names, *tables.measure(name, label, variant)])
            print("  ".join(f"{cell:>16}" for cell in table[-1]), flush=True)
    lines = [*list_table(plain), *(list_table(varied) if len(varied) > 1 else [])]
    lines += [
        f"{arguments.n:,} float64 values, one thread, medians of {arguments.rounds} rounds. {versions()}.",
        "",
    ]
    for title, found in (("Rows in which another library is faster", tables.losing), ("Notes", tables.notes)):
        lines += [f"{title}: {'none.' if not found else ''}", "", *(f"- {line}." for line in found), ""]
        print(title, *found or ["none"], sep="\n  ")
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
