"""Measure the thresholds by which ``algorithm="auto"`` chooses, and print each beside the measured one.

    python asv_bench/crossovers.py
    python asv_bench/crossovers.py --without-vector-sort

Each line times the two algorithms between which a number of :mod:`rollstat.thresholds` decides, over a grid
around it. "Crossover" is the point at which the second one becomes faster; "cost" is the largest ratio on
the grid of the time of ``"auto"`` to that of the faster one. A number is good if its cost is small. For an
amount, the crossover is the best of the grid, and the cost compares the chosen amount with it.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.vector_sort import restart_without

import rollstat
from rollstat import thresholds
from rollstat.compile.cache import host_levels
from rollstat.plan import forget_plans
from rollstat.statistics.selection.networks import selection_network

HOLDS = 1.25
"""Largest cost of a good number; below it, machines differ more than algorithms."""


@dataclass
class Number:
    """One number and the circumstances in which it is measured.

    Attributes
    ----------
    name : str
        Of the number in :mod:`rollstat.thresholds`.
    circumstances : str
        Statistic, dtype, data, length.
    grid : tuple of float
        Where to time; the number and some around it.
    """

    name: str
    circumstances: str
    grid: tuple[float, ...]


@dataclass
class Choice(Number):
    """A number that decides between two algorithms.

    Attributes
    ----------
    small, large : callable
        What is done up to the number, and beyond it: takes a point of the grid, returns a call to time.
    unit : int
        What the grid is to be divided by to compare it with the number.
    """

    small: Callable[[int], Callable[[], Any]]
    large: Callable[[int], Callable[[], Any]]
    unit: int = 1


@dataclass
class Amount(Number):
    """A number that is an amount, such as a block length.

    Attributes
    ----------
    call : callable
        What to time with each.
    """

    call: Callable[[], Any]


@contextmanager
def setting(**numbers: float) -> Iterator[None]:
    """Replace numbers within a ``with`` block."""
    before = {name: getattr(thresholds, name) for name in numbers}
    try:
        for name, number in numbers.items():
            setattr(thresholds, name, number)
        forget_plans()  # whose blocks depend on the numbers
        yield
    finally:
        for name, number in before.items():
            setattr(thresholds, name, number)
        forget_plans()


def seconds(call: Callable[[], Any]) -> float:
    """Return the processor time of one call."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def times(choice: Choice, point: int, rounds: int) -> tuple[float, float]:
    """Return the shortest time of either algorithm; the two take turns."""
    calls = choice.small(point), choice.large(point)
    for call in calls:
        call()
    found = [[seconds(call) for call in calls] for _ in range(rounds)]
    return min(small for small, _ in found), min(large for _, large in found)


def crossover(grid: tuple[int, ...], ratios: list[float]) -> str:
    """Return where the ratios of both times cross 1, interpolated; or that it is outside the grid."""
    for (low, high), (before, after) in zip(pairwise(grid), pairwise(np.log(ratios))):
        if before <= 0 < after:
            return f"{low * (high / low) ** (before / (before - after)):,.0f}"
    return f"> {grid[-1]:,}" if ratios[-1] <= 1 else f"< {grid[0]:,}"


def report(choice: Choice, rounds: int) -> None:
    """Print a line about one choice."""
    number = getattr(thresholds, choice.name) * choice.unit
    measured = [times(choice, point, rounds) for point in choice.grid]
    cost = max(
        (small / large if point <= number else large / small)
        for point, (small, large) in zip(choice.grid, measured)
    )
    found = crossover(choice.grid, [small / large for small, large in measured])
    print_line(choice.name, choice.circumstances, number, found, cost)


def report_amount(amount: Amount, rounds: int) -> None:
    """Print a line about one amount."""
    chosen = getattr(thresholds, amount.name)
    taken: dict[float, list[float]] = {number: [] for number in sorted({chosen, *amount.grid})}
    for _ in range(rounds + 1):  # the first one warms up
        for number, measured in taken.items():
            with setting(**{amount.name: number}):
                measured.append(seconds(amount.call))
    least = {number: min(measured[1:]) for number, measured in taken.items()}
    best = min(least, key=lambda number: least[number])
    print_line(amount.name, amount.circumstances, chosen, f"{best:,}", least[chosen] / least[best])


def print_line(name: str, circumstances: str, number: float, found: str, cost: float) -> None:
    """Print the chosen number beside the measured one."""
    verdict = "holds" if cost <= HOLDS else "look at it"
    print(f"{name:32}{circumstances:34}{number:>10,}{found:>12}{cost:>8.2f}x  {verdict}", flush=True)


def values(dtype: str, n: int, kind: str = "normal") -> np.ndarray:
    """Return noise or a random walk; integers if the dtype requires them."""
    noise = np.random.default_rng(1).standard_normal(n)
    noise = noise.cumsum() if kind == "walk" else noise
    return (noise * 1000 if dtype[0] in "iu" else noise).astype(dtype)


def named(function: Callable[..., Any], algorithm: str, *arguments: Any, **keywords: Any) -> Any:
    """Return a call of a window with an algorithm, without the other thresholds."""

    def at(window: int) -> Callable[[], Any]:
        def call() -> None:
            with setting(SORTED_BY_NETWORK=512, COMPARED_RANK=4096):
                function(*arguments[:1], window, *arguments[1:], algorithm=algorithm, **keywords)

        return call

    return at


def networks() -> Iterator[Choice]:
    """Yield a network or ranks, by width and, if the network must be built first, by length."""
    for q, label in ((0.5, "median"), (0.05, "q=0.05"), (0.25, "q=0.25")):
        for dtype, kind in (("f8", "normal"), ("f8", "walk"), ("f4", "normal"), ("i8", "normal")):
            series = values(dtype, 1_000_000, kind)
            name = "NETWORK_OF_LONG_SERIES" if dtype == "f8" else "NETWORK_OF_OTHER_DTYPES"
            yield Choice(
                name if dtype == "f4" or "x86-64-v4" in host_levels() else "NETWORK_OF_FEW_LANES",
                f"{label} {dtype} {kind} n=10^6",
                (128, 192, 256, 320, 400, 512),
                named(rollstat.rolling_quantile, "small_window", series, q),
                named(rollstat.rolling_quantile, "rank_bits", series, q),
            )
    short = values("f8", 2_000)
    yield Choice(
        "NETWORK",
        "median f8 n=2,000",
        (16, 32, 64, 96, 128),
        named(rollstat.rolling_median, "small_window", short),
        named(rollstat.rolling_median, "rank_bits", short),
    )
    for width in (100, 200):

        def rows(algorithm: str, fresh: bool, width: int = width) -> Callable[[int], Callable[[], Any]]:
            def at(n: int) -> Callable[[], Any]:
                call = named(rollstat.rolling_median, algorithm, values("f8", n))(width)
                return afresh(call) if fresh else call

            return at

        yield Choice(
            "NETWORK_ROWS_A_ROW",
            f"median f8 m={width}, by n, first call",
            tuple(rate * width for rate in (500, 1000, 2000, 4000, 8000)),
            rows("rank_bits", False),
            rows("small_window", True),
            width,
        )


def afresh(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return the same call with no network built yet."""

    def built() -> None:
        selection_network.cache_clear()
        call()

    return built


def stretches() -> Iterator[Choice | Amount]:
    """Yield the number of rows to rank at a time, and the width from which a sample is drawn first."""
    grids = {
        "RANKED_WINDOWS": (300, (8, 16, 32)),
        "RANKED_ROWS": (1_000, (1 << 12, 1 << 13, 1 << 14, 1 << 15)),
        "RANKED_WINDOWS_AT_LEAST": (30_000, (2.2, 3.3, 5.0, 8.0)),
    }
    for name, (width, grid) in grids.items():
        for kind in ("normal", "walk"):
            call = named(rollstat.rolling_median, "rank_bits", values("f8", 1_000_000, kind))(width)
            yield Amount(name, f"median f8 {kind} m={width:,} n=10^6", grid, call)

    def at(narrowest: int) -> Callable[[int], Callable[[], Any]]:
        def of(width: int) -> Callable[[], Any]:
            call = named(rollstat.rolling_median, "rank_bits", values("f8", 1_000_000))(width)

            def narrow() -> None:
                with setting(SAMPLED=narrowest):
                    call()

            return narrow

        return of

    grid = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
    yield Choice("SAMPLED", "median f8 normal n=10^6", grid, at(1 << 60), at(8))


def sorted_windows() -> Iterator[Choice]:
    """Yield a network, a sorted array or a bit set of ranks for statistics of whole windows."""
    series = values("f8", 200_000)
    for function, label, keywords in (
        (rollstat.rolling_mad, "mad", {}),
        (rollstat.rolling_trimmed_mean, "trimmed mean", {"proportion": 0.1}),
    ):
        yield Choice(
            "SORTED_BY_NETWORK",
            f"{label} f8 n=200,000",
            (8, 16, 24, 32, 48),
            named(function, "network", series, **keywords),
            named(function, "sorted_window", series, **keywords),
        )
        of = "SORTED_WINDOW_OF_DEVIATIONS" if label == "mad" else "SORTED_WINDOW_OF_TRIMMED_MEANS"
        yield Choice(
            of,
            f"{label} f8 n=200,000",
            (32, 64, 96, 160, 256, 400, 512, 640, 800),
            named(function, "sorted_window", series, **keywords),
            named(function, "rank_set", series, **keywords),
        )
    for dtype in ("f8", "f4", "i8"):
        yield Choice(
            "COMPARED_RANK",
            f"rank {dtype} n=200,000",
            (48, 64, 96, 128, 192, 256),
            named(rollstat.rolling_rank, "comparisons", values(dtype, 200_000)),
            named(rollstat.rolling_rank, "rank_set", values(dtype, 200_000)),
        )


def varying_windows() -> Iterator[Choice]:
    """Yield a sorted array or a bit set of ranks for windows by time, by their rows on average."""
    series, times = values("f8", 200_000), np.random.default_rng(2).exponential(size=200_000).cumsum()

    def at(most: int, q: float | list[float]) -> Callable[[int], Callable[[], Any]]:
        def of(rows: int) -> Callable[[], Any]:
            def call() -> None:
                with setting(SORTED_WINDOW_OF_POINTS=most):
                    rollstat.rolling_quantile(series, float(rows), q, times=times)

            return call

        return of

    for q, label in ((0.5, "one"), ([0.5, 0.95], "two, half of the rows")):
        grid = (9, 18, 36, 72, 144) if label == "one" else (18, 36, 72, 144, 288)
        number = 1 if label == "one" else 2
        yield Choice("SORTED_WINDOW_OF_POINTS", f"{label} n=200,000", grid, at(1 << 20, q), at(0, q), number)


def steps() -> Iterator[Choice]:
    """Yield the windows around all rows, or those of the results alone."""
    series = values("f8", 1_000_000)

    def up_to(most: int, name: str, function: Callable[..., Any]) -> Callable[[int], Callable[[], Any]]:
        def at(step: int) -> Callable[[], Any]:
            def call() -> None:
                with setting(**{name: most}):
                    function(series, 1_000, step=step)

            return call

        return at

    for name, function in (
        ("FILLED_STEP_OF_SUMS", rollstat.rolling_mean),
        ("FILLED_STEP_OF_SUMS", rollstat.rolling_kurt),
        ("FILLED_STEP_OF_ENDS", rollstat.rolling_max),
        ("FILLED_STEP_OF_ENDS", rollstat.rolling_first),
    ):
        both = up_to(1_000, name, function), up_to(1, name, function)
        yield Choice(name, f"{function.__name__} f8 m=1,000 n=10^6", (8, 16, 32, 64, 128, 256, 512), *both)


def main() -> None:
    """Measure and print everything, or the requested numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="numbers to measure; all by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-vector-sort", action="store_true", help="switch off NumPy's vector sort")
    arguments = parser.parse_args()
    if arguments.without_vector_sort:
        restart_without()
    print(f"{'number':32}{'where':34}{'chosen':>10}{'crossover':>12}{'cost':>9}")
    for numbers in (networks, stretches, sorted_windows, varying_windows, steps):
        for number in numbers():
            if not arguments.names or number.name in arguments.names:
                (report_amount if isinstance(number, Amount) else report)(number, arguments.rounds)


if __name__ == "__main__":
    main()
