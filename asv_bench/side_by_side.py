"""Compare the results of all libraries on the same job, then time them in one run; write the table.

    python asv_bench/side_by_side.py median --output docs/performance/tables/median.rst
    python asv_bench/side_by_side.py quantile --parameters q=0.05 --argsort --without-vector-sort

Each library has one thread. Times are medians of several rounds in which the libraries take turns, so a
disturbance affects all of them; short calls are repeated within a turn. Rows in which rollstat is not the
fastest are marked. A library that treats missing values differently is timed (*) but does not count in the
comparison.
"""

import argparse
import platform
import statistics
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import KINDS, N, series
from benchmarks.peers import INEXACT, Job, libraries, versions
from benchmarks.tables import list_table, write
from benchmarks.timing import turn
from benchmarks.vector_sort import argsort_of_blocks, restart_without

from rollstat.registry import REGISTRY
from rollstat.results import flattened

IGNORES_MISSING = "does not skip missing values"
ARGSORT = "np.argsort of blocks"


def check(name: str, library: str, job: Job, mine: np.ndarray, theirs: np.ndarray) -> str:
    """Compare results before anything is timed; return a note if a library has another definition."""
    if np.isnan(job.values).any() and library in ("scipy", "screamer"):
        return IGNORES_MISSING
    if (name, library) in INEXACT:
        return INEXACT[name, library]
    theirs = np.asarray(theirs, dtype=np.float64)
    whole = slice(job.window - 1, None)
    same = np.isclose(mine[whole], theirs[whole], rtol=1e-7, atol=1e-9, equal_nan=True)
    if not same.all():
        return f"differs in {100 * (1 - same.mean()):.2g} % of the rows"
    return ""


def measure(
    name: str, job: Job, rounds: int, argsort: bool = False
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the milliseconds of each library in each round, and notes on different definitions."""
    runs = libraries(name, job.window)
    mine = runs["rollstat"](job)
    mine = np.asarray(flattened(mine)[0], dtype=np.float64)
    notes, times = {}, {library: [] for library in runs}
    for library, run in runs.items():
        if library != "rollstat":
            note = check(name, library, job, mine, run(job))
            if note:
                notes[library] = note
    if argsort:
        runs[ARGSORT] = lambda job: argsort_of_blocks(job.values, job.window)
        times[ARGSORT] = []
    for _ in range(rounds):
        for library, run in runs.items():
            times[library].append(turn(partial(run, job)))
    return times, notes


def medians(times: dict[str, list[float]]) -> dict[str, float]:
    """Return the median time of each library."""
    return {library: statistics.median(values) for library, values in times.items()}


def compare(times: dict[str, float], notes: dict[str, str]) -> str:
    """Return how many times faster rollstat is than the fastest library on the same job; mark less than 1."""
    same = [(t, library) for library, t in times.items() if library not in ("rollstat", ARGSORT)]
    same = [(t, library) for t, library in same if notes.get(library) != IGNORES_MISSING]
    if not same:
        return ""
    fastest, library = min(same)
    ratio = fastest / times["rollstat"]
    return f"{ratio:.2f}x {library}" if ratio >= 1 else f"**{ratio:.2f}x** {library} **(slower)**"


def cell(library: str, times: dict[str, float], notes: dict[str, str]) -> str:
    """Return the time of a library, with a star if its definition differs."""
    if library not in times:
        return ""
    return f"{times[library]:.2f}" + (" (*)" if notes.get(library) == IGNORES_MISSING else "")


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("statistic", choices=sorted(REGISTRY))
    parser.add_argument("--windows", type=int, nargs="+", default=[5, 25, 100, 1_000, 10_000, 100_000])
    parser.add_argument("--data", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--parameters", nargs="*", default=[], help="such as q=0.05")
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--argsort", action="store_true", help="time np.argsort of blocks of a window too")
    parser.add_argument("--without-vector-sort", action="store_true", help="switch off NumPy's vector sort")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if arguments.without_vector_sort:
        restart_without()
    warnings.simplefilter("ignore")

    parameters = {}
    for pair in arguments.parameters:
        key, _, value = pair.partition("=")
        parameters[key] = int(value) if value.lstrip("-").isdigit() else float(value)
    parameters = parameters or dict(REGISTRY[arguments.statistic].samples[0])
    names = list(libraries(arguments.statistic)) + [ARGSORT] * arguments.argsort
    rows, notes = [], {}
    for data in arguments.data:
        values = series(data, arguments.n)
        other = series("walk", arguments.n)
        for window in arguments.windows:
            least = None if data != "missing" else max(1, window // 2)
            job = Job(values, window, parameters, least, other)
            rounds, found = measure(arguments.statistic, job, arguments.rounds, arguments.argsort)
            times = medians(rounds)
            for library, note in found.items():
                notes.setdefault(library, []).extend([note] * (note not in notes.get(library, [])))
            times_of_row = [cell(name, times, found) for name in names]
            rows.append([data, f"{window:,}", compare(times, found), *times_of_row])
            print("  ".join(f"{text:>12}" for text in rows[-1]), flush=True)

    header = ["data", "window", "fastest peer / rollstat", *names]
    lines = [f".. {arguments.statistic} {parameters}", "", *list_table([header, *rows])]
    lines += [f"Milliseconds for {arguments.n:,} float64 values, one thread, median of "]
    lines[-1] += f"{arguments.rounds} rounds. {versions()}; Python {platform.python_version()}."
    lines[-1] += " NumPy's vector sort is switched off." if arguments.without_vector_sort else ""
    lines += ["", *(f"- {library}: {'; '.join(found)}." for library, found in notes.items()), ""]
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
