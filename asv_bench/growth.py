"""Plot the time per element against the length of the series, the width of the window and k.

    python asv_bench/growth.py --output docs/_static/order_statistics_growth.svg
    python asv_bench/growth.py --largest 100000000 --output docs/_static/order_statistics_growth.svg

Time is linear in the length if the lines on the left are level. It grows at most with the logarithm of the
window and of k if the lines in the middle and on the right are no steeper than the dotted one.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

os.environ["ROLLSTAT_TIERS"] = "fast"
import rollstat

WINDOWS = (5, 100, 1_000, 10_000, 100_000)
LENGTHS = tuple(10**i for i in range(3, 9))
N = 1_000_000


def nanoseconds(call: Callable[[], object], n: int, budget: float = 1.0) -> float:
    """Return the shortest processor time per element; short calls are repeated."""
    call()
    least, spent = float("inf"), 0.0
    while spent < budget:
        start = time.thread_time()
        call()
        took = time.thread_time() - start
        least, spent = min(least, took), spent + took
    return 1e9 * least / n


def by_length(values: np.ndarray, largest: int) -> dict[str, dict[int, float]]:
    """Return times of the median for several windows, by the length of the series."""
    lines: dict[str, dict[int, float]] = {}
    for window in WINDOWS:
        line = lines[f"m = {window:,}"] = {}
        for n in LENGTHS:
            if 2 * window <= n <= largest:
                part = values[:n]
                line[n] = nanoseconds(lambda part=part, m=window: rollstat.rolling_median(part, m), n)
                print(f"median m={window:,} n={n:,}: {line[n]:.2f} ns", flush=True)
    return lines


def by_window(values: np.ndarray) -> dict[str, dict[int, float]]:
    """Return times of each algorithm for a million elements, by the width of the window."""
    lines: dict[str, dict[int, float]] = {}
    for algorithm in ("auto", "two_heaps", "three_trees"):
        line = lines[algorithm] = {}
        for window in (5, 25, 100, 1_000, 10_000, 100_000):
            line[window] = nanoseconds(
                lambda a=algorithm, m=window: rollstat.rolling_median(values, m, algorithm=a), len(values)
            )
            print(f"median {algorithm} m={window:,}: {line[window]:.2f} ns", flush=True)
    return lines


def by_rank(values: np.ndarray, window: int = 100_000) -> dict[str, dict[int, float]]:
    """Return times of the k-th smallest for windows of one width, by k."""
    lines: dict[str, dict[int, float]] = {}
    for algorithm in ("auto", "two_heaps", "three_trees"):
        line = lines[algorithm] = {}
        for k in (1, 10, 100, 1_000, 10_000, 50_000):
            line[k] = nanoseconds(
                lambda a=algorithm, k=k: rollstat.rolling_kth(values, k, window, algorithm=a), len(values)
            )
            print(f"kth {algorithm} k={k:,} m={window:,}: {line[k]:.2f} ns", flush=True)
    return lines


def draw(panels: list[tuple[str, str, dict[str, dict[int, float]]]], output: Path) -> None:
    """Draw three panels; the last two show logarithmic growth for comparison."""
    figure, axes = plt.subplots(1, len(panels), figsize=(12, 4), layout="constrained")
    for axis, (title, label, lines) in zip(axes, panels):
        for name, line in lines.items():
            axis.plot(list(line), list(line.values()), marker="o", markersize=4, label=name)
        if label != "n":
            points = np.array(list(next(iter(lines.values()))))
            axis.plot(points, 25 * np.log2(points + 1), ":", color="gray", label="∝ log")
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.set_title(title, fontsize="medium")
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize="small")
    axes[0].set_ylabel("ns an element")
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--largest", type=int, default=10**7, help="longest series")
    parser.add_argument("--output", type=Path, required=True, help="an SVG or PNG file")
    arguments = parser.parse_args()
    values = np.random.default_rng(0).standard_normal(arguments.largest)
    million = values[:N]
    panels = [
        ("median, by length of the series", "n", by_length(values, arguments.largest)),
        (f"median, by window (n = {len(million):,})", "m", by_window(million)),
        (f"k-th smallest, by k (m = 100,000, n = {len(million):,})", "k", by_rank(million)),
    ]
    draw(panels, arguments.output)


if __name__ == "__main__":
    main()
