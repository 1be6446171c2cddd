"""Time the first call of each statistic in a new process, beside the first calls of other libraries.

    python asv_bench/first_call.py --output docs/performance/tables/first_call.rst
    python asv_bench/first_call.py --windows --output docs/performance/tables/first_call_windows.rst
    python asv_bench/first_call.py median min mean kth --without-peers
    python asv_bench/first_call.py --wheel-python environment/bin/python   # with a wheel of `nox -s wheels`

Every number is the wall time of one call, from the public function to its result, in a process of its own
that has imported the libraries and compiled one trivial function with Numba. "Empty cache" compiles
whatever no wheel has brought, "next process" loads what the process before has stored, "warm" is the
fastest of the calls that follow. "Wheel" is a call with an empty cache in an environment that has a wheel
with compiled kernels. "Kernels" is the number of kernels that the process with the empty cache compiled.
With --windows, first calls with an empty cache are timed for three windows: rows, expanding, and a width over
irregular times that covers as many rows on average.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.tables import list_table, write

WARM_CALLS = 10
OTHER_WINDOWS = ("expanding", "times")


def with_other_window(statistic: str, kind: str, job: Any) -> None:
    """Call a statistic with an expanding window or a time window."""
    import numpy as np

    from rollstat import Expanding
    from rollstat.registry import REGISTRY

    row = REGISTRY[statistic]
    options = {"window": Expanding()}
    if kind == "times":
        gaps = np.random.default_rng(1).exponential(size=len(job.values))
        options = {"window": float(job.window), "times": np.cumsum(gaps)}
    row.function(*[job.values, job.other][: row.series], **options, **job.parameters)


def first_call(statistic: str, library: str, n: int, window: int) -> dict[str, float]:
    """Call a statistic for the first time in this process; `library` may be one of OTHER_WINDOWS."""
    import numba
    import numpy as np
    from benchmarks.data import series
    from benchmarks.peers import Job, libraries

    from rollstat.compile.cache import compiled_kernels
    from rollstat.registry import REGISTRY

    numba.njit(lambda x: x + 1)(1.0)
    parameters = dict(REGISTRY[statistic].samples[0])
    job = Job(series("normal", n), window, parameters, None, np.cumsum(series("normal", n)))
    if library in OTHER_WINDOWS:
        run = partial(with_other_window, statistic, library)
    else:
        run = libraries(statistic, window)[library]
    times = []
    for _ in range(1 + WARM_CALLS):
        begin = time.perf_counter()
        run(job)
        times.append(time.perf_counter() - begin)
    compiled = sum(kernel.origin == "compiled" for kernel in compiled_kernels)
    return {"first": times[0], "warm": min(times[1:]), "compiled": compiled}


def in_new_process(
    statistic: str, library: str, arguments: argparse.Namespace, cache: str, python: str = sys.executable
) -> dict[str, float]:
    """Run :func:`first_call` in a new process with a cache folder."""
    size = [str(arguments.n), str(arguments.window)]
    done = subprocess.run(
        [python, __file__, "--call", statistic, library, *size],
        env={**os.environ, "NUMBA_CACHE_DIR": cache, "ROLLSTAT_TIERS": "auto"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def row(statistic: str, peers: list[str], arguments: argparse.Namespace) -> list[str]:
    """Measure one statistic: first calls of rollstat, then of the other libraries."""
    from benchmarks.peers import libraries

    with tempfile.TemporaryDirectory() as cache:
        empty = in_new_process(statistic, "rollstat", arguments, cache)
        stored = in_new_process(statistic, "rollstat", arguments, cache)
    cells = [statistic, f"{empty['compiled']}", f"{empty['first']:.2f}", f"{stored['first']:.3f}"]
    cells.append(f"{stored['warm']:.4f}")
    if arguments.wheel_python:
        with tempfile.TemporaryDirectory() as cache:
            wheel = in_new_process(statistic, "rollstat", arguments, cache, arguments.wheel_python)
        compiled = f" ({wheel['compiled']} compiled)" if wheel["compiled"] else ""
        cells.insert(2, f"{wheel['first']:.3f}{compiled}")
    for peer in peers:
        with tempfile.TemporaryDirectory() as cache:
            known = peer in libraries(statistic, arguments.window)
            cells.append(f"{in_new_process(statistic, peer, arguments, cache)['first']:.3f}" if known else "")
    return cells


def row_of_windows(statistic: str, arguments: argparse.Namespace) -> list[str]:
    """Measure the first calls of one statistic with an empty cache, and count its compiled kernels."""
    cells = [statistic]
    for kind in ("rollstat", *OTHER_WINDOWS):
        with tempfile.TemporaryDirectory() as cache:
            empty = in_new_process(statistic, kind, arguments, cache)
        cells.append(f"{empty['first']:.2f} ({empty['compiled']})")
    return cells


def main() -> None:
    """Measure, print, and write the table."""
    from benchmarks.peers import versions

    from rollstat.registry import REGISTRY

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("statistics", nargs="*", default=sorted(REGISTRY))
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--window", type=int, default=100)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--windows", action="store_true", help="time three kinds of windows instead")
    parser.add_argument("--wheel-python", help="interpreter of an environment that has a wheel")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    peers = [] if arguments.without_peers else ["pandas", "bottleneck", "numbagg", "polars"]
    header = ["statistic", "kernels", "empty cache", "next process", "warm", *peers]
    header[2:2] = ["wheel"] * bool(arguments.wheel_python)
    if arguments.windows:
        header = ["statistic", "rows", *OTHER_WINDOWS]
    rows = [header]
    print(" ".join(f"{name:>12}" for name in header))
    for statistic in arguments.statistics:
        measured = row_of_windows(statistic, arguments) if arguments.windows else None
        rows.append(measured or row(statistic, peers, arguments))
        print(" ".join(f"{cell:>12}" for cell in rows[-1]), flush=True)
    lines = [
        f"Seconds of the first call, n = {arguments.n:,}, window {arguments.window}. {versions()}.",
        "",
        *list_table(rows),
    ]
    write(arguments.output, lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--call" in sys.argv:
        name, peer, length, width = sys.argv[2:]
        print(json.dumps(first_call(name, peer, int(length), int(width))))
    else:
        main()
