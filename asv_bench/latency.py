"""Time every single push on worst-case data and compare libraries; draw the plot.

    python asv_bench/latency.py --pushes 10000        # prints; report.py measures more and writes the tables

Each push is timed by itself, including the time of the clock, in several runs over the same data. The cost
of the data recurs in every run at the same push, and interruptions by the machine do not. So the
distribution is that of the shortest time of each push; the table also has the longest push of a single run.
"""

import argparse
import gc
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import river
from benchmarks.peers import versions
from benchmarks.streams import STREAMS, filled

from rollstat import RollingKth
from rollstat.kernels.selection import three_trees

WARM = 200
STATISTICS = ("median", "k-th", "min", "mean")
LIBRARIES = (
    "rollstat",
    "rollstat three_trees",
    "rollstat two_stacks",
    "screamer",
    "river",
)
COLOURS = dict(zip(LIBRARIES, ("#1f5fa8", "#1a9850", "#e6a000", "#d73027", "#7f7f7f")))


def data(window: int, n: int) -> dict[str, np.ndarray]:
    """Return the worst cases of several structures; blocks of three trees are half a window."""
    rows = np.arange(n, dtype=np.float64)
    noise = np.random.default_rng(7).standard_normal(n)
    return {
        "normal": noise,
        "sorted": rows,
        "reversed": -rows,
        "alternating": np.resize([-1.0, 1.0], n) * (1.0 + rows),
        "sawtooth": rows % (window // 2),
    }


def timed(push: Callable[[float], Any], values: list[float]) -> np.ndarray:
    """Return the nanoseconds of each push."""
    clock, took = time.perf_counter_ns, []
    note = took.append
    for x in values:
        start = clock()
        push(x)
        note(clock() - start)
    # The first iterations of any loop are slow, because the caches hold other data.
    return np.array(took[WARM:])


def measure(
    statistic: str, series: np.ndarray, window: int, rounds: int, slow: int
) -> dict[str, tuple[np.ndarray, int]]:
    """Return for each library the shortest time of each push, and the longest single push."""
    given = series[window:].tolist()
    best: dict[str, np.ndarray] = {}
    longest: dict[str, int] = {}
    for _ in range(rounds):
        for library, make in STREAMS[statistic].items():
            part = given[:slow] if library == "river" else given
            push = filled(library, make(window), series[:window])
            took = timed(push, part)
            best[library] = np.minimum(best.get(library, took), took)
            longest[library] = max(longest.get(library, 0), int(took.max()))
    return {library: (best[library], longest[library]) for library in best}


def steps(series: np.ndarray, window: int, k: int) -> tuple[int, int]:
    """Return the median and the maximum of the steps of a push by three trees, which counts them."""
    stream = RollingKth(k, window, algorithm="three_trees")
    header = stream._window.representation.arrays[0]
    counts = []
    for x in series.tolist():
        stream.push(x)
        counts.append(int(header[three_trees.STEPS]))  # those of this push alone
    kept = np.array(counts[window:])
    return int(np.median(kept)), int(kept.max())


def plot(
    distributions: dict[str, dict[str, list[tuple[np.ndarray, np.ndarray]]]], path: Path, about: str
) -> None:
    """Draw for each statistic how many pushes on worst-case data take longer than a given time."""
    mpl.use("Agg")
    from matplotlib import pyplot, ticker

    mpl.rcParams["svg.hashsalt"] = "latency"
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 7), sharey=True)
    axes = grid.ravel()
    for axis, (statistic, found) in zip(axes, distributions.items()):
        for library in LIBRARIES:
            if library in found:
                times, counts = map(np.concatenate, zip(*found[library]))
                order = np.argsort(times)
                longer = counts.sum() - np.cumsum(counts[order]) + counts[order]
                axis.step(
                    times[order],
                    longer / counts.sum(),
                    where="post",
                    color=COLOURS[library],
                    label=library,
                    linewidth=1.4,
                )
        axis.set(title=statistic, xlabel="nanoseconds", xscale="log", yscale="log")
        axis.xaxis.set_minor_formatter(ticker.NullFormatter())
        axis.set_xlim(left=100)
        axis.grid(alpha=0.3)
    for axis in grid[:, 0]:
        axis.set_ylabel("share of pushes, at least so long")
    figure.suptitle(about, fontsize=10)
    drawn = {line.get_label(): line for axis in axes for line in axis.get_lines()}
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.legend(drawn.values(), drawn, loc="lower center", ncol=3, fontsize=9, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def tables(
    window: int = 100_000,
    pushes: int = 1_000_000,
    rounds: int = 3,
    slow: int = 5_000,
    output: Path | None = None,
) -> dict[str, Any]:
    """Measure and print; return the rows of both tables and a sentence about them, and draw the plot.

    river makes only `slow` pushes.
    """
    gc.disable()
    rows = [
        [
            "statistic",
            "data",
            "library",
            "p50",
            "p99.9",
            "max",
            "max / p50",
            "screamer's p99.9 / this",
            "longest single push",
        ]
    ]
    hostile: dict[str, dict[str, list[tuple[np.ndarray, np.ndarray]]]] = {
        statistic: {} for statistic in STATISTICS
    }
    for kind, series in data(window, window + pushes).items():
        for statistic in STATISTICS:
            found = measure(statistic, series, window, rounds, slow)
            for library, (took, longest) in found.items():
                half, late, most = np.percentile(took, [50, 99.9, 100], method="higher")
                peer = np.percentile(found["screamer"][0], 99.9, method="higher") / late
                cells = [f"{half:,.0f}", f"{late:,.0f}", f"{most:,.0f}", f"{most / half:.0f}"]
                cells += [f"{peer:.2f}x", f"{longest:,}"]
                rows.append([statistic, kind, library, *cells])
                print("  ".join(f"{cell:>12}" for cell in rows[-1]), flush=True)
                if kind != "normal":
                    hostile[statistic].setdefault(library, []).append(np.unique(took, return_counts=True))
    counted = [["data", "steps, median push", "steps, worst push"]]
    for kind, series in data(window, 3 * window).items():
        counted.append([kind, *(f"{number:,}" for number in steps(series, window, max(1, window // 20)))])
    about = (
        f"Nanoseconds per push, window of {window:,} rows, {pushes:,} pushes ({slow:,} of river), "
        f"each the shortest of {rounds} runs; k is 5 % of the window; libraries without k "
        "compute a quantile. "
        "The longest single push of all runs includes pauses of the machine."
    )
    made_by = f"{versions()}, river {river.__version__}; Python {platform.python_version()}."
    if output:
        plot(hostile, output, f"pushes on sorted, reversed, alternating and sawtooth data, window {window:,}")
    gc.enable()
    return {"rows": rows, "steps": counted, "about": f"{about} {made_by}"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pushes", type=int, default=1_000_000)
    tables(pushes=parser.parse_args().pushes)
