"""Time the first call of each statistic in a new process, beside the first calls of other libraries.

    python asv_bench/first_call.py --output docs/performance/tables   # writes two tables
    python asv_bench/first_call.py median min mean kth --without-peers
    python asv_bench/first_call.py --wheel-python environment/bin/python   # with a wheel of `nox -s wheels`

Every number is the wall time of one call, from the public function to its result, in a process of its own:
a copy of one that has imported the libraries and compiled one trivial function with Numba. "Empty cache"
compiles whatever no wheel has brought, "next process" loads what the process before has stored, "warm" is the
fastest of the calls that follow. "Wheel" is a call with an empty cache in an environment that has a wheel
with compiled kernels. "Kernels" is the number of kernels that the process with the empty cache compiled.
The second table has first calls with an empty cache for three windows: rows, expanding, and a width over
irregular times that covers as many rows on average.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ["ROLLSTAT_TIERS"] = "auto"
sys.path.insert(0, str(Path(__file__).parent))

import numba
import numpy as np
from benchmarks.data import series
from benchmarks.peers import Job, libraries, versions
from benchmarks.tables import list_table, write

from rollstat import Expanding
from rollstat.compile.cache import compiled_kernels
from rollstat.registry import REGISTRY

WARM_CALLS = 10
OTHER_WINDOWS = ("expanding", "times")
PEERS = ("pandas", "bottleneck", "numbagg", "polars")
Times = dict[str, float]


def with_other_window(statistic: str, kind: str, job: Job) -> None:
    """Call a statistic with an expanding window or a time window."""
    row = REGISTRY[statistic]
    options: dict[str, Any] = {"window": Expanding()}
    if kind == "times":
        gaps = np.random.default_rng(1).exponential(size=len(job.values))
        options = {"window": float(job.window), "times": np.cumsum(gaps)}
    row.function(*[job.values, job.other][: row.series], **options, **job.parameters)


def first_call(statistic: str, library: str, n: int, window: int, cache: str) -> Times:
    """Call a statistic for the first time in this process; `library` may be one of OTHER_WINDOWS."""
    numba.config.CACHE_DIR = cache
    parameters = dict(REGISTRY[statistic].samples[0])
    job = Job(series("normal", n), window, parameters, None, np.cumsum(series("normal", n)))
    if library in OTHER_WINDOWS:
        run = partial(with_other_window, statistic, library)
    else:
        run = libraries(statistic, window)[library]
    times = []
    for _ in range(1 + WARM_CALLS):
        begin = perf_counter()
        run(job)
        times.append(perf_counter() - begin)
    compiled = sum(kernel.origin == "compiled" for kernel in compiled_kernels)
    return {"first": times[0], "warm": min(times[1:]), "compiled": compiled}


def in_copy(*call: Any) -> Times:
    """Run :func:`first_call` in a copy of this process."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: sender.send(first_call(*call)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def with_empty_cache(*call: Any) -> Times:
    """Run :func:`first_call` in a copy of this process, where no kernel is stored."""
    with tempfile.TemporaryDirectory() as cache:
        return in_copy(*call, cache)


def with_wheel(python: str, statistics: list[str], n: int, window: int) -> dict[str, str]:
    """Return the cells of calls with a wheel that another environment has."""
    command = [python, __file__, *statistics, "--only-rollstat", f"--n={n}", f"--window={window}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    cells = {}
    for statistic, times in json.loads(done.stdout.splitlines()[-1]).items():
        compiled = f" ({times['compiled']} compiled)" if times["compiled"] else ""
        cells[statistic] = f"{times['first']:.3f}{compiled}"
    return cells


def rows_of(statistic: str, wheel: dict[str, str], peers: Sequence[str], *size: int) -> list[list[str]]:
    """Measure one statistic; return its rows of both tables."""
    with tempfile.TemporaryDirectory() as cache:
        empty, stored = (in_copy(statistic, "rollstat", *size, cache) for _ in range(2))
    row = [statistic, f"{empty['compiled']}", *([wheel[statistic]] if wheel else [])]
    row += [f"{empty['first']:.2f}", f"{stored['first']:.3f}", f"{stored['warm']:.4f}"]
    known = libraries(statistic, size[1])
    row += [f"{with_empty_cache(statistic, p, *size)['first']:.3f}" if p in known else "" for p in peers]
    windows = [empty, *(with_empty_cache(statistic, kind, *size) for kind in OTHER_WINDOWS)]
    return [row, [statistic, *(f"{times['first']:.2f} ({times['compiled']})" for times in windows)]]


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("statistics", nargs="*", default=sorted(REGISTRY))
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--window", type=int, default=100)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--wheel-python", help="interpreter of an environment that has a wheel")
    parser.add_argument("--only-rollstat", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help="folder of the tables")
    arguments = parser.parse_args()
    size = arguments.n, arguments.window
    peers = () if arguments.without_peers else PEERS
    numba.njit(lambda x: x + 1)(1.0)
    if arguments.only_rollstat:
        calls = {name: with_empty_cache(name, "rollstat", *size) for name in arguments.statistics}
        print(json.dumps(calls))
        return
    wheel = with_wheel(arguments.wheel_python, arguments.statistics, *size) if arguments.wheel_python else {}
    header = ["statistic", "kernels", *(["wheel"] if wheel else []), "empty cache", "next process", "warm"]
    tables = [[header], [["statistic", "rows", *OTHER_WINDOWS]]]
    header += peers
    print(" ".join(f"{name:>12}" for name in header + tables[1][0][2:]))
    for statistic in arguments.statistics:
        rows = rows_of(statistic, wheel, peers, *size)
        for table, row in zip(tables, rows):
            table.append(row)
        print(" ".join(f"{cell:>12}" for cell in rows[0] + rows[1][2:]), flush=True)
    above = f"Seconds of the first call, n = {arguments.n:,}, window {arguments.window}. {versions()}."
    for name, table in zip(("first_call", "first_call_windows"), tables):
        path = arguments.output and arguments.output / f"{name}.rst"
        write(path, [above, "", *list_table(table)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
