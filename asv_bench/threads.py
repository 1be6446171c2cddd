"""One thread against several on the same series; write the table for the documentation.

    python asv_bench/threads.py --output docs/performance/tables/threads.rst
    python asv_bench/threads.py --threads 4 --windows 100 1000

Threads take whole blocks of rows, so results are equal to the bit, which is checked before anything is timed.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import series
from benchmarks.peers import versions
from benchmarks.tables import list_table, write

from rollstat.registry import REGISTRY

CASES = {
    "median": ("median", {}),
    "quantile q=0.05": ("quantile", {"q": 0.05}),
    "mad": ("mad", {}),
    "rank": ("rank", {}),
    "trimmed_mean": ("trimmed_mean", {"proportion": 0.1}),
}


def compare(name: str, parameters: dict, values: np.ndarray, window: int, threads: int, rounds: int) -> list:
    """Milliseconds of wall time with one thread and with several, in turns."""

    def run(number: int) -> np.ndarray:
        return REGISTRY[name].function(values, window=window, threads=number, **parameters)

    if not np.array_equal(run(1), run(threads), equal_nan=True):
        raise AssertionError(f"{name} differs between 1 and {threads} threads")
    times: dict[int, list[float]] = {1: [], threads: []}
    for _ in range(rounds):
        for number, taken in times.items():
            start = time.perf_counter()
            run(number)
            taken.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(taken) for taken in times.values()]


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--windows", type=int, nargs="+", default=[25, 1_000, 100_000])
    parser.add_argument("--n", type=int, default=4_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    values = series("normal", arguments.n)
    rows = [["statistic", "window", "1 thread", f"{arguments.threads} threads", "gain"]]
    for label, (name, parameters) in CASES.items():
        for window in arguments.windows:
            one, several = compare(name, parameters, values, window, arguments.threads, arguments.rounds)
            rows.append([label, f"{window:,}", f"{one:.1f}", f"{several:.1f}", f"{one / several:.2f}x"])
            print("  ".join(f"{text:>16}" for text in rows[-1]), flush=True)
    lines = [*list_table(rows), f"Milliseconds for {arguments.n:,} float64 values, i.i.d. normal, median of "]
    lines[-1] += f"{arguments.rounds} rounds, on {os.cpu_count()} processors. {versions()}.\n"
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
