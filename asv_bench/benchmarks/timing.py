"""Time calls that take turns."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def turn(
    run: Callable[[], Any], at_least: float = 30.0, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the milliseconds of a call in one turn: the median of its calls, without the first.

    A turn lasts at least so many milliseconds. A short call is so timed with caches and free memory as its
    own library leaves them, as in a loop of a user, not as whoever had the turn before.
    """
    times: list[float] = []
    while sum(times) < at_least:
        start = clock()
        run()
        times.append(1e3 * (clock() - start))
    return statistics.median(times[1:] or times)


def milliseconds(
    runs: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Return the milliseconds of several calls that take turns in each round.

    The speed of a shared machine drifts within a second, so that only what is of one round is compared.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(turn(run, clock=clock))
    return times


def ratio(times: dict[str, list[float]], name: str, other: str) -> float:
    """Return the median over the rounds of the ratio of two times."""
    return statistics.median(t / o for t, o in zip(times[name], times[other]))
