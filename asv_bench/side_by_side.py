"""Time every library on the same job in one run, equality first; write the table for the documentation.

    python asv_bench/side_by_side.py median --q 0.5 --output docs/performance/median.rst

One thread against one thread, median of several rounds in which the libraries take turns, so that a
noisy moment hits them all. Rows where rollstat is not the fastest are marked.
"""

import argparse
import platform
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import KINDS, N, series
from benchmarks.peers import INEXACT, Job, libraries, versions

from rollstat.registry import REGISTRY


def check(name: str, library: str, job: Job, mine: np.ndarray, theirs: np.ndarray) -> str:
    """Compare results before anything is timed; a note where a library means something else."""
    if (name, library) in INEXACT:
        return INEXACT[name, library]
    theirs = np.asarray(theirs, dtype=np.float64)
    whole = slice(job.window - 1, None)
    if np.isnan(job.values).any() and library in ("scipy", "screamer"):
        return "does not skip missing values"
    same = np.isclose(mine[whole], theirs[whole], rtol=1e-7, atol=1e-9, equal_nan=True)
    if not same.all():
        return f"differs in {100 * (1 - same.mean()):.2g} % of the rows"
    return ""


def measure(name: str, job: Job, rounds: int) -> tuple[dict[str, float], dict[str, str]]:
    """Milliseconds of each library, median of the rounds, and notes on what is not the same job."""
    runs = libraries(name, job.window)
    mine = runs["rollstat"](job)
    mine = np.asarray(mine[0] if isinstance(mine, tuple) else mine, dtype=np.float64)
    notes, times = {}, {library: [] for library in runs}
    for library, run in runs.items():
        if library != "rollstat":
            note = check(name, library, job, mine, run(job))
            if note:
                notes[library] = note
    for _ in range(rounds):
        for library, run in runs.items():
            start = time.perf_counter()
            run(job)
            times[library].append(1e3 * (time.perf_counter() - start))
    return {library: statistics.median(values) for library, values in times.items()}, notes


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("statistic", choices=sorted(REGISTRY))
    parser.add_argument("--windows", type=int, nargs="+", default=[5, 25, 100, 1_000, 10_000, 100_000])
    parser.add_argument("--data", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--parameters", nargs="*", default=[], help="such as q=0.05")
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    parameters = {}
    for pair in arguments.parameters:
        key, _, value = pair.partition("=")
        parameters[key] = int(value) if value.lstrip("-").isdigit() else float(value)
    parameters = parameters or dict(REGISTRY[arguments.statistic].samples[0])
    names = list(libraries(arguments.statistic))
    rows, notes = [], {}
    for data in arguments.data:
        values = series(data, arguments.n)
        other = series("walk", arguments.n)
        for window in arguments.windows:
            least = None if data != "missing" else max(1, window // 2)
            job = Job(values, window, parameters, least, other)
            times, found = measure(arguments.statistic, job, arguments.rounds)
            notes |= found
            peers = [(t, name) for name, t in times.items() if name != "rollstat"]
            best = min(peers) if peers else None
            row = [data, f"{window:,}", *(f"{times[name]:.2f}" if name in times else "" for name in names)]
            ratio = f"{best[0] / times['rollstat']:.2f}x {best[1]}" if best else ""
            rows.append([*row, ratio])
            print("  ".join(f"{cell:>12}" for cell in rows[-1]), flush=True)

    header = ["data", "window", *names, "fastest peer / rollstat"]
    lines = [f".. {arguments.statistic} {parameters}", "", ".. list-table::", "   :header-rows: 1", ""]
    for row in [header, *rows]:
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    lines += ["", f"Milliseconds for {arguments.n:,} float64 values, one thread, median of "]
    lines[-1] += f"{arguments.rounds} rounds. {versions()}; Python {platform.python_version()}."
    lines += ["", *(f"- {library}: {note}." for library, note in notes.items()), ""]
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
