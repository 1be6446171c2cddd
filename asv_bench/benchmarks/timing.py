"""How long a call takes among others that take turns."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def turn(run: Callable[[], Any], at_least: float = 30.0) -> float:
    """Milliseconds of a call in one turn, the median of its calls after the first if there are several.

    A turn lasts at least so many milliseconds. A short call is so timed with caches and free memory as its
    own library leaves them, as in a loop of a user, not as whoever had the turn before.
    """
    times: list[float] = []
    while sum(times) < at_least:
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[1:] or times)


def milliseconds(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of several calls in each of the rounds, in which they take turns.

    The speed of a shared machine drifts within a second, so that only what is of one round is compared.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(turn(run))
    return times


def ratio(times: dict[str, list[float]], name: str, other: str) -> float:
    """Median over the rounds of how many times as long one call takes as another."""
    return statistics.median(t / o for t, o in zip(times[name], times[other]))
