"""Count what the source papers promise, on public calls and streams, and plot it against the bounds.

    python asv_bench/counts.py          # writes docs/_static/counts_*.svg

The counts do not depend on the machine. Each point is the largest count over several hostile series.
"""

import argparse
import sys
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import rollstat
from rollstat.kernels.extrema import wedge
from rollstat.kernels.selection import three_trees, two_heaps

STATIC = Path(__file__).parents[1] / "docs" / "_static"
COUNTED, BOUND = ("#1f6fb2", "#2ca02c", "#e08e0b", "#6b46c1"), "#d62728"
NO_GAPS, NO_POSITIONS = np.empty(0, np.bool_), np.empty(0, np.int64)


class Counting(NamedTuple):
    """A sum that counts its combinations."""

    combinations: Any

    def combine(self, older, newer):
        """Return the sum."""
        self.combinations[0] += 1
        return older + newer


def hostile(n: int, m: int) -> dict[str, np.ndarray]:
    """Return series that are the worst case of one algorithm or another."""
    rows = np.arange(n, dtype=float)
    return {
        "random": np.random.default_rng(20261124).random(n),
        "sorted": rows,
        "reversed": -rows,
        "alternating": rows * np.where(rows % 2, 1, -1),
        "sawtooth": rows % max(2, m // 2),
    }


def steps_of_three_trees(k: int, m: int) -> int:
    """Return the most steps of a push."""
    most = 0
    for values in hostile(m + 4 * k + 2_000, m).values():
        stream = rollstat.RollingKth(k, m, algorithm="three_trees")
        stream.extend(values[:m])
        header = stream._window.representation.arrays[0]
        for x in values[m:].tolist():
            stream.push(x)
            most = max(most, int(header[three_trees.STEPS]))  # those of this push alone
    return most


def writes_of_two_heaps(m: int) -> int:
    """Return the most entries of the heaps that a push writes."""
    most = 0
    for values in hostile(m + 400, m).values():
        header, keys, links = state = two_heaps.create(m, float, width=m)
        two_heaps.extend(*state, values[:m], NO_GAPS, np.empty(0), NO_POSITIONS)
        for x in values[m:].tolist():
            before = links[: 2 * m].copy()
            two_heaps.push(header, keys, links, x, False)
            most = max(most, int((links[: 2 * m] != before).sum()))
    return most


def comparisons_of_wedge(m: int, names: tuple[str, ...]) -> float:
    """Return the largest number of comparisons per value."""
    most, n = 0.0, 20_000
    for values in (hostile(n, m)[name] for name in names):
        state = wedge.create(m, np.float64, ties="any")
        for x in values.tolist():
            wedge.push(*state, x, False)
        most = max(most, state[0][wedge.COMPARISONS] / n)
    return most


def plan(algorithm: str, m: int) -> tuple[float, float]:
    """Return the combinations per element, over windows of m rows and over irregular ones."""
    n, counts = 3_000, []
    rng = np.random.default_rng(1)
    start = np.sort(rng.integers(0, n, n))
    end = np.maximum(start, np.minimum(n, np.maximum.accumulate(start + rng.integers(1, 2 * m, n))))
    for window in (m, (start, end)):
        made = [0]

        def add(older, newer, made=made):
            made[0] += 1
            return older + newer

        if algorithm == "greedy":
            rollstat.rolling_aggregate(np.ones(n, object), add, window, min_periods=1)
        else:
            operator = Counting(np.zeros(1, np.int64))
            options = {"algorithm": algorithm, "min_periods": 1}
            rollstat.rolling_aggregate(np.ones(n), operator, window, **options)
            made[0] = int(operator.combinations[0])
        counts.append(made[0] / n)
    return counts[0], counts[1]


def combinations_of_pushes(algorithm: str, m: int) -> tuple[int, float]:
    """Return the most combinations of a push, with its pop and its result, and the mean."""
    operator = Counting(np.zeros(1, np.int64))
    stream = rollstat.FixedAggregate(operator, m, min_periods=1, algorithm=algorithm, check=False)
    made = []
    for _ in range(6 * m + 50):
        before = int(operator.combinations[0])
        stream.push(1.0)
        made.append(int(operator.combinations[0]) - before)
    return max(made), float(np.mean(made[m:]))


def draw(
    name: str, lines: dict[str, dict[float, float]], label: str, unit: str, bounds: tuple[str, ...], log: bool
) -> None:
    """Draw counts as points and bounds as lines."""
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    colors = iter(COUNTED)
    for text, line in lines.items():
        bound = text in bounds
        axes.plot(
            list(line),
            list(line.values()),
            label=text,
            color=BOUND if bound else next(colors),
            linestyle="--" if bound else "-",
            marker="" if bound else ".",
        )
    axes.set(xscale="log", xlabel=label, ylabel=unit)
    axes.set_yscale("log" if log else "linear")
    if not log:
        axes.set_ylim(0)
    axes.grid(color="#8884", linewidth=0.5)
    axes.legend()
    figure.savefig(STATIC / f"counts_{name}.svg")
    plt.close(figure)
    for text, line in lines.items():
        print(name, text, {x: round(y, 2) for x, y in line.items()}, flush=True)


def _draw_three_trees() -> None:
    ks = (1, 2, 4, 16, 64, 256, 1024, 4096)
    lines = {
        f"m = {m:,}": {k: steps_of_three_trees(k, m) for k in ks if k <= m // 2} for m in (10_000, 200_000)
    }
    bound = {k: 56 * (1 + log2(k)) for k in ks}
    draw(
        "three_trees",
        lines | {"56 (1 + log2 k)": bound},
        "k",
        "most steps of a push",
        ("56 (1 + log2 k)",),
        False,
    )


def _draw_two_heaps() -> None:
    windows = (10, 100, 1_000, 10_000, 100_000)
    lines = {"counted": {m: writes_of_two_heaps(m) for m in windows}}
    bound = "2 (1 + log4 m)"
    lines[bound] = {m: 2 * (1 + log2(m) / 2) for m in windows}
    draw("two_heaps", lines, "window, rows", "most entries written by a push", (bound,), False)


def _draw_wedge() -> None:
    windows = (2, 5, 25, 100, 1_000, 10_000)
    every = tuple(hostile(2, 2))
    lines = {
        "hostile series": {m: comparisons_of_wedge(m, every) for m in windows},
        "monotone series": {m: comparisons_of_wedge(m, ("sorted", "reversed")) for m in windows},
        "bound: 3": dict.fromkeys(windows, 3.0),
        "bound: 2": dict.fromkeys(windows, 2.0),
    }
    draw("wedge", lines, "window, rows", "comparisons per value", ("bound: 3", "bound: 2"), False)


def _draw_greedy() -> None:
    windows = (2, 5, 20, 100, 500)
    lines: dict[str, dict[float, float]] = {"bound: 4": dict.fromkeys(windows, 4.0)}
    for algorithm in ("greedy", "two_stacks"):
        counts = {m: plan(algorithm, m) for m in windows}
        lines[f"{algorithm}, m rows"] = {m: counts[m][0] for m in windows}
        lines[f"{algorithm}, irregular windows"] = {m: counts[m][1] for m in windows}
    draw("greedy", lines, "window, rows", "combinations per element", ("bound: 4",), False)


def _draw_pushes() -> None:
    windows = (2, 8, 32, 128, 512, 2_048)
    counts = {name: {m: combinations_of_pushes(name, m) for m in windows} for name in ("two_stacks", "daba")}
    lines: dict[str, dict[float, float]] = {
        "two_stacks, worst push": {m: counts["two_stacks"][m][0] for m in windows},
        "two_stacks, mean": {m: counts["two_stacks"][m][1] for m in windows},
        "daba, worst push": {m: counts["daba"][m][0] for m in windows},
        "bound of daba: 6": dict.fromkeys(windows, 6.0),
    }
    draw("pushes", lines, "window, rows", "combinations of a push", ("bound of daba: 6",), True)


DRAWINGS: dict[str, Callable[[], None]] = {
    "three_trees": _draw_three_trees,
    "two_heaps": _draw_two_heaps,
    "wedge": _draw_wedge,
    "greedy": _draw_greedy,
    "pushes": _draw_pushes,
}


def main() -> None:
    """Count and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*DRAWINGS, []], help="all by default")
    for name in parser.parse_args().names or DRAWINGS:
        DRAWINGS[name]()


if __name__ == "__main__":
    sys.exit(main())
