"""Compare windows within groups of rollstat and pandas in one run, and write the table.

    python asv_bench/groups.py                      # prints the table
    python asv_bench/groups.py --output docs/performance/tables/groups.rst
    python asv_bench/groups.py --n 100000 --rounds 3 --statistics median

The results are compared before anything is timed; then the calls take turns, each with one thread. Column
"of the sum" is the time of rollstat divided by what it may take: what pandas takes to factorise the
keys, order the rows and build the index, and three times the kernel over one series of as many rows.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from benchmarks.data import N, series
from benchmarks.groups import grouped
from benchmarks.peers import versions
from benchmarks.tables import list_table, write
from benchmarks.timing import milliseconds

import rollstat.pandas  # noqa: F401  # registers the accessor
from rollstat import tiers
from rollstat.registry import REGISTRY

GROUPS = [10, 1_000, 100_000]
WINDOWS = [100, 1_000]
STATISTICS = ["median", "mean", "max", "std"]


def pandas_index(frame: pd.DataFrame) -> pd.MultiIndex:
    """Factorise the keys, order the rows and build the index, as pandas does for windows within groups."""
    grouper = frame.groupby("key")["x"]._grouper
    order = np.concatenate(list(grouper.indices.values()))
    frame["x"].take(order)
    rows = pd.MultiIndex.from_arrays([frame.index.take(order)])
    codes = [codes.take(order) for codes in grouper.codes]
    return pd.MultiIndex([*grouper.levels, *rows.levels], [*codes, *rows.codes], verify_integrity=False)


def calls(name: str, window: int, groups: int, n: int, time_windows: bool) -> dict[str, Callable[[], Any]]:
    """Return the calls to time."""
    frame = grouped(groups, n)
    values, function = series("normal", n), REGISTRY[name].function
    width = f"{window}s" if time_windows else window
    options: dict[str, Any] = {"on": "time"} if time_windows else {}
    one: dict[str, Any] = {"times": frame["time"].to_numpy()} if time_windows else {}
    columns = ["key", "x", "time"] if time_windows else ["key", "x"]
    frame = frame[columns]
    return {
        "rollstat": lambda: getattr(frame.rollstat.groupby("key").rolling(width, **options)["x"], name)(),
        "pandas": lambda: getattr(frame.groupby("key").rolling(width, **options)["x"], name)(),
        "index": lambda: pandas_index(frame),
        "kernel": lambda: function(values, width, **one),
    }


def row(name: str, window: int, groups: int, n: int, rounds: int, time_windows: bool) -> list[str]:
    """Return a row of the table: times in milliseconds and ratios."""
    runs = calls(name, window, groups, n, time_windows)
    pd.testing.assert_series_equal(runs["rollstat"](), runs["pandas"](), rtol=1e-7, atol=1e-7)
    times = milliseconds(runs, rounds)
    medians = {call: float(np.median(found)) for call, found in times.items()}
    allowed = np.array(times["index"]) + 3 * np.array(times["kernel"])
    faster = float(np.median(np.array(times["pandas"]) / times["rollstat"]))
    share = float(np.median(np.array(times["rollstat"]) / allowed))
    label = f"{window:,} s" if time_windows else f"{window:,} rows"
    cells = [f"{medians[call]:.0f}" for call in ("rollstat", "pandas", "index", "kernel")]
    return [name, label, f"{groups:,}", *cells, f"{faster:.1f}", f"{share:.2f}"]


HEADER = [
    *("statistic", "window", "groups", "rollstat, ms", "pandas, ms", "pandas' index, ms", "one series, ms"),
    *("times faster", "of the sum"),
]


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statistics", nargs="+", choices=STATISTICS, default=STATISTICS)
    parser.add_argument("--windows", nargs="+", type=int, default=WINDOWS)
    parser.add_argument("--groups", nargs="+", type=int, default=GROUPS)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    table = [HEADER]
    print("  ".join(f"{cell:>17}" for cell in HEADER))
    with tiers.using("fast"):
        for time_windows in (False, True):
            for name in arguments.statistics[: 1 if time_windows else None]:
                for window in arguments.windows[: 1 if time_windows else None]:
                    for groups in arguments.groups:
                        job = (name, window, groups, arguments.n, arguments.rounds, time_windows)
                        table.append(row(*job))
                        print("  ".join(f"{cell:>17}" for cell in table[-1]), flush=True)
    text = f"{arguments.n:,} float64 values, one thread, medians of {arguments.rounds} rounds. {versions()}."
    write(arguments.output, [*list_table(table), text, ""])


if __name__ == "__main__":
    main()
