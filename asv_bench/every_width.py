"""Find the windows over which another library is fastest: many widths, six kinds of typical data, one run.

    python asv_bench/every_width.py --output docs/performance/tables/every_width.rst
    python asv_bench/every_width.py --statistics mean --data normal --widths 2 7 50   # a quick look

All results are compared before anything is timed. Then rollstat and the two fastest other libraries take
turns, each with one thread. A cell is the least ratio, over the kinds of data, of the time of the fastest
other library to that of rollstat; ratios below the goal of the statistic are in bold.
"""

import argparse
import platform
import statistics
import sys
import warnings
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import TYPICAL, N, series
from benchmarks.peers import Job, libraries, versions
from benchmarks.tables import list_table, write
from benchmarks.timing import turn
from report import check

import rollstat.tiers as tiers

GOALS = {
    "mean": 1.0,
    "sum": 1.0,
    "min": 1.5,
    "max": 1.5,
    "argmin": 1.5,
    "argmax": 1.5,
    "median": 4.0,
    "quantile": 4.0,
}
PARAMETERS = {"quantile": {"q": 0.05}}
WIDTHS = (
    *(2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 25, 32, 33, 50, 64, 75, 100, 128, 150, 200, 256, 333, 500, 750),
    *(1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000),
)
CHALLENGERS = 2


def ratios(name: str, job: Job, rounds: int) -> dict[str, float]:
    """Return how many times longer each of the fastest other libraries takes than rollstat."""
    runs = libraries(name, job.window)
    mine = runs.pop("rollstat")
    result = mine(job)
    for library, run in runs.items():
        note = check(library, job, result, run(job))
        if note.startswith("differs"):
            print(f"{name} over {job.window} rows: {library} {note}", file=sys.stderr)
    first = {library: turn(partial(run, job), at_least=1.0) for library, run in runs.items()}
    fastest = {"rollstat": mine} | {name: runs[name] for name in sorted(first, key=first.get)[:CHALLENGERS]}
    times = {library: [] for library in fastest}
    for _ in range(rounds):
        for library, run in fastest.items():
            times[library].append(turn(partial(run, job)))
    middle = {library: statistics.median(found) for library, found in times.items()}
    return {library: middle[library] / middle["rollstat"] for library in middle if library != "rollstat"}


def sweep(arguments: argparse.Namespace) -> dict[tuple[str, int], str]:
    """Measure and print each cell of the table."""
    data_of = {data: series(data, arguments.n) for data in arguments.data}
    cells: dict[tuple[str, int], str] = {}
    for name in arguments.statistics:
        for width in arguments.widths:
            least: dict[str, tuple[float, str]] = {}
            for data in arguments.data:
                job = Job(data_of[data], width, PARAMETERS.get(name, {}))
                found = ratios(name, job, arguments.rounds)
                library = min(found, key=found.get)
                least[data] = found[library], library
            data = min(least, key=least.get)
            ratio, library = least[data]
            middle = statistics.median(ratio for ratio, _ in least.values())
            star = "**" if ratio < GOALS[name] else ""
            cells[name, width] = f"{star}{ratio:.2f}{star}"
            print(
                f"{name:>9} {width:>9,}  least {ratio:5.2f} ({library}, {data})  median {middle:5.2f}",
                flush=True,
            )
    return cells


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statistics", nargs="+", choices=GOALS, default=list(GOALS))
    parser.add_argument("--data", nargs="+", choices=TYPICAL, default=list(TYPICAL))
    parser.add_argument("--widths", type=int, nargs="+", default=list(WIDTHS))
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with tiers.using("fast"):
        cells = sweep(arguments)

    header = ["window", *(f"{name} (goal {GOALS[name]:g})" for name in arguments.statistics)]
    rows = [
        [f"{width:,}", *(cells[name, width] for name in arguments.statistics)] for width in arguments.widths
    ]
    lines = list_table([header, *rows])
    lines += [
        "Least ratio, over the kinds of data, of the time of the fastest other library to that of rollstat. "
        f"Data: {', '.join(arguments.data)}; {arguments.n:,} float64 values, one thread, "
        f"median of {arguments.rounds} rounds. "
        f"{versions()}; Python {platform.python_version()}.",
        "",
    ]
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
