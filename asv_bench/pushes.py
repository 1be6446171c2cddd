"""Time single pushes and arrays through streams and compare libraries; write the table.

    python asv_bench/pushes.py --output docs/performance/tables/pushes.rst

The libraries take turns within each round. Pushes are timed in processor time, and the shortest round
counts, because a single pause of the machine would dominate such short times. Arrays are added repeatedly
in each turn, so memory is equally warm for all. The table has medians of the rounds, and its ratios are
medians of the ratios within a round. The results of streams and functions are compared first.
"""

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import river
from benchmarks.peers import versions
from benchmarks.streams import STREAMS, Q, filled
from benchmarks.tables import list_table, write
from benchmarks.timing import milliseconds, ratio

import rollstat
import rollstat.operators

# The turn of a slow library ends after so many elements; some pushes of river pass over the whole window.
SLOW = 2_000


def pushes(statistic: str, window: int, rounds: int, n: int) -> dict[str, float]:
    """Return nanoseconds per push of each library."""
    rng = np.random.default_rng(7)
    fill, values = rng.standard_normal(window), rng.standard_normal(n).tolist()
    streams = {library: filled(library, make(window), fill) for library, make in STREAMS[statistic].items()}
    best = dict.fromkeys(streams, float("inf"))
    for _ in range(rounds):
        for library, push in streams.items():
            given = values[:SLOW] if library == "river" else values
            start = time.process_time_ns()
            for x in given:
                push(x)
            best[library] = min(best[library], (time.process_time_ns() - start) / len(given))
    return best


TIMED: dict[str, Callable[[Any], Any]] = {
    "mean": lambda width: rollstat.RollingMean(width),
    "var": lambda width: rollstat.RollingVar(width),
    "max": lambda width: rollstat.RollingMax(width),
    "median": lambda width: rollstat.RollingMedian(width),
    "5 % quantile": lambda width: rollstat.RollingQuantile(width, 0.05),
    "Maximum, general": lambda width: rollstat.TimeAggregate(rollstat.operators.Maximum(), width),
}
"""Streams over a width."""
START = np.datetime64("2024-01-01", "us")


def _csp_graph(statistic: str, width: timedelta, edge: Any) -> Any:
    """Return a graph of csp over the edge of values, or over the values alone."""
    csp, found = import_module("csp"), import_module("csp.stats")
    name, options = statistic.removesuffix(", general").lower().replace("maximum", "max"), {}
    if "quantile" in name:
        name, options = "quantile", {"quant": Q}

    @csp.graph  # type: ignore[misc]
    def graph() -> None:
        made = edge(csp)
        if statistic:
            made = getattr(found, name)(made, interval=width, min_window=timedelta(0), **options)
        csp.add_graph_output("result", made, tick_count=1)

    return graph


def _csp_ticks(statistic: str, window: int, values: np.ndarray) -> float:
    """Return nanoseconds that csp takes for a tick in a run of its engine."""
    csp = import_module("csp")
    times = START.astype("M8[ns]") + np.arange(len(values)) * np.timedelta64(1, "s")
    graph = _csp_graph(statistic, timedelta(seconds=window), lambda csp: csp.curve(float, (times, values)))
    start = time.process_time_ns()
    csp.run(graph, starttime=START.item(), endtime=timedelta(seconds=len(values)))
    return (time.process_time_ns() - start) / len(values)


def timed_pushes(statistic: str, window: int, rounds: int, n: int) -> dict[str, list[float]]:
    """Return nanoseconds of pushes with times: shortest mean of a round, and each push's shortest time.

    A row comes each second, so that a window has as many rows as its width has seconds.
    """
    values = np.random.default_rng(7).standard_normal(n)
    rows = values.tolist()
    numbers, datetimes = (TIMED[statistic](width) for width in (float(window), f"{window}s"))
    best = dict.fromkeys(("numbers", "datetimes", "csp", "csp, no statistic"), float("inf"))
    single = np.full(n, np.inf)
    for i in range(rounds):
        seconds = np.arange(i * n, (i + 1) * n)
        moments = list(START.astype("M8[s]") + seconds)
        for name, push, times in (
            ("numbers", numbers.push, seconds.astype(float).tolist()),
            ("datetimes", datetimes.push, moments),
        ):
            start = time.process_time_ns()
            for x, t in zip(rows, times):
                push(x, t)
            best[name] = min(best[name], (time.process_time_ns() - start) / n)
        each, clock = TIMED[statistic](float(window)), time.perf_counter_ns
        took = []
        for x, t in zip(rows, map(float, range(n))):
            begin = clock()
            each.push(x, t)
            took.append(clock() - begin)
        single = np.minimum(single, took)
        if find_spec("csp"):
            best["csp"] = min(best["csp"], _csp_ticks(statistic, window, values))
            best["csp, no statistic"] = min(best["csp, no statistic"], _csp_ticks("", window, values))
    full = single[window:]
    return {name: [took] for name, took in best.items()} | {"each": np.quantile(full, (0.5, 0.999)).tolist()}


def floor(rounds: int, n: int) -> float:
    """Return nanoseconds for the same loop over a function of Python's own that returns a float."""
    values, best = np.random.default_rng(7).standard_normal(n).tolist(), float("inf")
    for _ in range(rounds):
        start = time.process_time_ns()
        for x in values:
            abs(x)
        best = min(best, (time.process_time_ns() - start) / n)
    return best


# What the array of a stream is compared with.
FUNCTIONS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "median": rollstat.rolling_median,
    "k-th": lambda values, m: rollstat.rolling_kth(values, max(1, int(Q * m)), m),
    "min": rollstat.rolling_min,
    "mean": rollstat.rolling_mean,
    "var": rollstat.rolling_var,
}


Times = dict[str, list[float]]


def shown(
    times: Times, names: tuple[str, ...], ratios: tuple[tuple[str, str], ...], digits: int = 2
) -> list[str]:
    """Return the cells of a table: medians and ratios."""
    medians = [f"{statistics.median(times[name]):.{digits}f}" for name in names]
    return medians + [f"{ratio(times, *pair):.2f}x" for pair in ratios]


def extends(statistic: str, window: int, rounds: int, n: int) -> Times:
    """Return milliseconds for an array: of the function, of new and running streams, and of screamer.

    A stream that goes on gives what the function does for its rows and the array, joined.
    """
    values = np.random.default_rng(7).standard_normal(n)
    held = values[max(n - window + 1, 0) :].copy()
    make = STREAMS[statistic]
    new, on, peer = make["rollstat"](window), make["rollstat"](window), make["screamer"](window)

    def begin() -> None:
        new.reset()
        new.extend(values)

    def joined() -> np.ndarray:
        return FUNCTIONS[statistic](np.concatenate([held, values]), window)[len(held) :]

    np.testing.assert_allclose(on.extend(values), FUNCTIONS[statistic](values, window), 1e-9, 1e-9)
    np.testing.assert_allclose(on.extend(values), joined(), 1e-9, 1e-9)
    runs: dict[str, Callable[[], Any]] = {
        "function": lambda: FUNCTIONS[statistic](values, window),
        "joined": joined,
        "new": begin,
        "on": lambda: on.extend(values),
        "screamer": lambda: peer(values),
    }
    return milliseconds(runs, rounds)


# Lengths of short arrays as shares of the window.
SHORT = (0.01, 0.1, 0.5)


def shorts(statistic: str, window: int, share: float, rounds: int) -> Times:
    """Return milliseconds for an array shorter than the window: of a stream, and of the function."""
    rows = int(share * window)
    values = np.random.default_rng(7).standard_normal(2 * window + rows)
    stream, array = STREAMS[statistic]["rollstat"](window), values[2 * window :].copy()
    stream.extend(values[: 2 * window])
    held = values[window + 1 : 2 * window].copy()

    def joined() -> np.ndarray:
        return FUNCTIONS[statistic](np.concatenate([held, array]), window)[len(held) :]

    np.testing.assert_allclose(stream.extend(array), joined(), 1e-9, 1e-9)
    return milliseconds({"joined": joined, "on": lambda: stream.extend(array)}, rounds)


OPERATORS = {"Sum": rollstat.operators.Sum(), "Maximum": rollstat.operators.Maximum()}


def aggregates(name: str, kind: str, window: int, rounds: int, n: int) -> Times:
    """Return milliseconds for an array: of new and running general windows, and of `rolling_aggregate`."""
    rng = np.random.default_rng(7)
    values = rng.integers(-1_000, 1_000, n) if kind == "int64" else rng.standard_normal(n)
    if kind == "10 % NaN":
        values[rng.random(n) < 0.1] = np.nan
    operator = OPERATORS[name]
    new, on = (rollstat.FixedAggregate(operator, window, dtype=values.dtype) for _ in range(2))
    given = new.extend(values)
    np.testing.assert_allclose(given, rollstat.rolling_aggregate(values, operator, window), 1e-9, 1e-9)
    on.extend(values[:window])

    def begin() -> None:
        new.reset()
        new.extend(values)

    runs: dict[str, Callable[[], Any]] = {
        "function": lambda: rollstat.rolling_aggregate(values, operator, window),
        "new": begin,
        "on": lambda: on.extend(values),
    }
    return milliseconds(runs, rounds)


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--windows", type=int, nargs="+", default=[11, 1_000, 100_000])
    parser.add_argument("--pushes", type=int, default=50_000)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()

    others = ("rollstat three_trees", "rollstat two_stacks")
    one = [["statistic", "window", "rollstat", "by name", "screamer", "river", "screamer / rollstat"]]
    timed = [["statistic", "rows", "times as floats", "as datetime64", "p50", "p99.9", "csp", "csp alone"]]
    for statistic in TIMED:
        for window in (window for window in arguments.windows if window < arguments.pushes):
            each = timed_pushes(statistic, window, arguments.rounds, arguments.pushes)
            texts = [f"{x:,.0f}" if np.isfinite(x) else "" for found in each.values() for x in found]
            timed.append([statistic, f"{window:,}", *texts[:2], *texts[4:], *texts[2:4]])
            print("  ".join(f"{cell:>10}" for cell in timed[-1]), flush=True)
    many = [["statistic", "window", "function", "extend", "function, joined", "extend, going on", "screamer"]]
    many[0] += ["extend / function", "going on / joined", "screamer / extend"]
    for statistic in STREAMS:
        for window in arguments.windows:
            took = pushes(statistic, window, arguments.rounds, arguments.pushes)
            by_name = next((took[name] for name in others if name in took), None)
            cells = [took["rollstat"], by_name, took["screamer"], took["river"]]
            texts = ["" if cell is None else f"{cell:,.0f}" for cell in cells]
            times = f"{took['screamer'] / took['rollstat']:.2f}x"
            one.append([statistic, f"{window:,}", *texts, times])
            print("  ".join(f"{cell:>10}" for cell in one[-1]), flush=True)
    for statistic in STREAMS:
        for window in arguments.windows:
            arrays = extends(statistic, window, arguments.rounds, arguments.n)
            names = "function", "new", "joined", "on", "screamer"
            pairs = ("new", "function"), ("on", "joined"), ("screamer", "new")
            many.append([statistic, f"{window:,}", *shown(arrays, names, pairs)])
            print("  ".join(f"{cell:>10}" for cell in many[-1]), flush=True)
    short = [["statistic", "window", "rows", "function, joined", "extend", "extend / joined"]]
    for statistic in STREAMS:
        for window in (window for window in arguments.windows if window >= 1 / min(SHORT)):
            for share in SHORT:
                arrays = shorts(statistic, window, share, 5 * arguments.rounds)
                cells = shown(arrays, ("joined", "on"), (("on", "joined"),), digits=3)
                short.append([statistic, f"{window:,}", f"{int(share * window):,}", *cells])
                print("  ".join(f"{cell:>10}" for cell in short[-1]), flush=True)
    general = [
        ["operator", "values", "window", "function", "extend", "extend, going on", "extend / function"]
    ]
    for name in OPERATORS:
        for kind in ("float64", "10 % NaN", "int64"):
            for window in (2, *arguments.windows):
                arrays = aggregates(name, kind, window, arguments.rounds, arguments.n)
                cells = shown(arrays, ("function", "new", "on"), (("new", "function"),))
                general.append([name, kind, f"{window:,}", *cells])
                print("  ".join(f"{cell:>10}" for cell in general[-1]), flush=True)
    about = (
        "Nanoseconds per push from Python into a full window of normal numbers, shortest of "
        f"{arguments.rounds} rounds; k is 5 % of the window, and the other libraries compute a quantile. "
        "By name: the k-th by ``three_trees``, mean and variance by ``two_stacks``. The same loop over "
        f"Python's ``abs`` takes {floor(arguments.rounds, arguments.pushes):.0f} ns, the minimum for a call "
        "from Python."
    )
    about_timed = (
        "Nanoseconds per push with a time into a time window, one row per second, shortest of "
        f"{arguments.rounds} rounds; p50 and p99.9 of single pushes with times as floats, each the "
        "shortest of the rounds, including the clock. csp: processor time per tick when its "
        "engine runs over an array, with and without the statistic; ticks need no calls from Python."
    )
    about_arrays = (
        f"Milliseconds for an array of {arguments.n:,} numbers, median of {arguments.rounds} rounds: the "
        "array function, ``extend`` of an empty stream and of a stream with a full window, and screamer's "
        "call, which starts empty and keeps no window. For a continuing stream, the function gets the window "
        "and the array concatenated."
    )
    made_by = f"{versions()}, river {river.__version__}; Python {platform.python_version()}."
    about_short = (
        "Milliseconds for an array shorter than the window, with a stream whose window is full, median of "
        f"{5 * arguments.rounds} rounds; and with the array function over the window and the array "
        "concatenated, without a window for later rows."
    )
    about_operators = (
        f"Milliseconds for an array of {arguments.n:,} numbers with ``FixedAggregate``, empty or full, "
        "and with ``rolling_aggregate`` and the same operator."
    )
    text = [
        *list_table(one),
        about,
        "",
        *list_table(timed),
        about_timed,
        "",
        *list_table(many),
        about_arrays,
        "",
        *list_table(short),
    ]
    text += [about_short, "", *list_table(general)]
    write(arguments.output, [*text, about_operators, "", made_by, ""])


if __name__ == "__main__":
    main()
