"""Compare one thread with several on the same series; write the table for the documentation.

    python asv_bench/threads.py --output docs/performance/tables/threads.rst
    python asv_bench/threads.py --threads 4 --windows 100 1000

Threads take whole blocks of rows, so results are bit-for-bit equal, which is checked before anything is
timed. The last column is the limit of the machine: the gain of the same number of separate calls at once,
each on one thread, which share only caches, memory and, on some machines, the units of one core.
"""

import argparse
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import series
from benchmarks.peers import versions
from benchmarks.tables import list_table, write
from benchmarks.timing import turn

from rollstat.registry import REGISTRY

CASES = {
    "median": ("median", {}),
    "quantile q=0.05": ("quantile", {"q": 0.05}),
    "mad": ("mad", {}),
    "rank": ("rank", {}),
    "trimmed_mean": ("trimmed_mean", {"proportion": 0.1}),
}


def compare(name: str, parameters: dict, values: np.ndarray, window: int, threads: int, rounds: int) -> list:
    """Return milliseconds of wall time with one thread, with several, and of several calls at once."""

    def run(number: int) -> np.ndarray:
        return REGISTRY[name].function(values, window=window, threads=number, **parameters)

    if not np.array_equal(run(1), run(threads), equal_nan=True):
        raise AssertionError(f"{name} differs between 1 and {threads} threads")
    with ThreadPoolExecutor(threads) as pool:
        jobs = {
            "one": lambda: run(1),
            "several": lambda: run(threads),
            "separate": lambda: list(pool.map(run, [1] * threads)),
        }
        times: dict[str, list[float]] = {job: [] for job in jobs}
        for _ in range(rounds):
            for job, taken in times.items():
                taken.append(turn(jobs[job]))
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
    number, limit = arguments.threads, f"gain of {arguments.threads} calls at once"
    rows = [["statistic", "window", "1 thread", f"{number} threads", "gain", limit]]
    for label, (name, parameters) in CASES.items():
        for window in arguments.windows:
            one, several, calls = compare(name, parameters, values, window, number, arguments.rounds)
            gains = f"{one / several:.2f}x", f"{number * one / calls:.2f}x"
            rows.append([label, f"{window:,}", f"{one:.1f}", f"{several:.1f}", *gains])
            print("  ".join(f"{text:>16}" for text in rows[-1]), flush=True)
    lines = [*list_table(rows), f"Milliseconds for {arguments.n:,} float64 values, i.i.d. normal, median of "]
    lines[-1] += f"{arguments.rounds} rounds, on {os.cpu_count()} processors. {versions()}.\n"
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
