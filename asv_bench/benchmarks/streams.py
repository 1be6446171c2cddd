"""Benchmarks of streams and their peers, with single elements and arrays of several lengths."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from typing import Any, ClassVar

import numpy as np

import rollstat
import rollstat.operators
from benchmarks.data import series

Q = 0.05


def _screamer(name: str, *arguments: Any) -> Any:
    return getattr(import_module("screamer"), name)(*arguments)


def _river(statistic: Any) -> Callable[[float], float]:
    update, get = statistic.update, statistic.get

    def push(x: float) -> float:
        update(x)
        return get()

    return push


def _stats() -> Any:
    return import_module("river.stats")


def _rolling(name: str, m: int) -> Any:
    return import_module("river.utils").Rolling(getattr(_stats(), name), window_size=m)


# Statistic: library: a stream of a window, ready to be pushed to.
STREAMS: dict[str, dict[str, Callable[[int], Any]]] = {
    "median": {
        "rollstat": lambda m: rollstat.RollingMedian(m),
        "rollstat three_trees": lambda m: rollstat.RollingMedian(m, algorithm="three_trees"),
        "screamer": lambda m: _screamer("RollingMedian", m),
        "river": lambda m: _river(_stats().RollingQuantile(0.5, m)),
    },
    "k-th": {
        "rollstat": lambda m: rollstat.RollingKth(max(1, int(Q * m)), m),
        "rollstat three_trees": lambda m: rollstat.RollingKth(max(1, int(Q * m)), m, algorithm="three_trees"),
        "screamer": lambda m: _screamer("RollingQuantile", m, Q),
        "river": lambda m: _river(_stats().RollingQuantile(Q, m)),
    },
    "min": {
        "rollstat": lambda m: rollstat.RollingMin(m),
        "screamer": lambda m: _screamer("RollingMin", m),
        "river": lambda m: _river(_stats().RollingMin(m)),
    },
    "mean": {
        "rollstat": lambda m: rollstat.RollingMean(m),
        "rollstat two_stacks": lambda m: rollstat.RollingMean(m, algorithm="two_stacks"),
        "screamer": lambda m: _screamer("RollingMean", m),
        "river": lambda m: _river(_rolling("Mean", m)),
    },
    "var": {
        "rollstat": lambda m: rollstat.RollingVar(m),
        "rollstat two_stacks": lambda m: rollstat.RollingVar(m, algorithm="two_stacks"),
        "screamer": lambda m: _screamer("RollingVar", m),
        "river": lambda m: _river(_rolling("Var", m)),
    },
}


def single(stream: Any) -> Callable[[float], Any]:
    """Return a function that takes one element and returns the result."""
    return stream.push if hasattr(stream, "push") else stream


def filled(library: str, stream: Any, values: np.ndarray) -> Callable[[float], Any]:
    """Return `single` of a stream whose window is full."""
    push = single(stream)
    if library.startswith("rollstat"):
        stream.extend(values)
    elif library == "screamer":
        stream(values)
    else:
        for x in values.tolist():
            push(x)
    return push


def _add_and_drop(m: int) -> Callable[[Any], None]:
    stream = rollstat.SlidingAggregate(rollstat.operators.Sum())
    stream.extend(np.ones(m))

    def step(x: float) -> None:
        stream.add(x)
        stream.drop()

    return step


def _greedy_times(m: int) -> Callable[[Any], None]:
    stream = rollstat.GreedyAggregate(rollstat.operators.Sum(), times=float)
    stream.extend(np.ones(m), times=np.arange(m, dtype=float))
    times = count(m)

    def step(x: float) -> None:
        time = float(next(times))
        stream.push(x, time)
        stream.move(time - m, time)

    return step


def _months(m: int) -> Callable[[Any], None]:
    """Return pushes into a window of a month that holds `m` rows; no other library has such a stream."""
    stream, between = rollstat.RollingMean("1 month"), np.timedelta64(30 * 86_400 // m, "s")
    times = np.datetime64("2026-01-01", "s") + between * np.arange(m)
    stream.extend(np.ones(m), times=times)
    number = count(1)
    return lambda x: stream.push(x, times[-1] + next(number) * between)


def _strings(m: int) -> Callable[[Any], None]:
    words = ["a", "b", "c", "d"] * m
    return lambda x: rollstat.rolling_aggregate(words, max, m)


class OperatorSteps:
    """Steps without results, by times or in windows of months, and windows over strings."""

    makers: ClassVar = {
        "add and drop": _add_and_drop,
        "greedy times": _greedy_times,
        "months": _months,
        "strings": _strings,
    }
    param_names = ("what", "window")
    params = (list(makers), [10, 1_000])

    def setup(self, what, window):
        """Fill the window, and compile."""
        self.step = self.makers[what](window)
        self.step(1.0)

    def time_step(self, what, window):
        """Time one step."""
        self.step(2.0)


class Streams:
    """A thousand pushes, or arrays of that many elements in all, into a full window."""

    param_names = ("statistic", "library", "window", "rows")
    params = (list(STREAMS), ["rollstat", "screamer"], [11, 1_000, 100_000], [1, 10, 100, 1_000])
    timeout = 300

    def setup(self, statistic, library, window, rows):
        """Fill the window, and compile."""
        if library != "rollstat" and (rows > 1 or not find_spec(library)):
            # asv is told so to skip a case: an array begins anew there.
            raise NotImplementedError("no such library, or no arrays that go on")
        values = series("normal", window + 1_000)
        stream = STREAMS[statistic][library](window)
        self.push = filled(library, stream, values[:window])
        self.parts = values[window:].tolist() if rows == 1 else np.split(values[window:], 1_000 // rows)
        if rows > 1:
            self.push = stream.extend
        self.time_thousand(statistic, library, window, rows)

    def time_thousand(self, statistic, library, window, rows):
        """Time them."""
        push = self.push
        for part in self.parts:
            push(part)


class ExponentialMeans:
    """A thousand pushes into a new exponential mean, by row and by elapsed time; no peer takes times."""

    makers: ClassVar = {
        "rollstat by time": lambda: rollstat.EwmMean(halflife="100s"),
        "rollstat": lambda: rollstat.EwmMean(alpha=0.01),
        "screamer": lambda: _screamer("EwMean", None, None, None, 0.01),
        "river": lambda: _river(_stats().EWMean(0.01)),
    }
    params: ClassVar[Any] = list(makers)
    param_names = ("library",)

    def setup(self, library: str) -> None:
        """Make the rows, and compile."""
        if not library.startswith("rollstat") and not find_spec(library):
            raise NotImplementedError("no such library")
        columns = [series("normal", 1_000).tolist()]
        if library == "rollstat by time":
            columns.append([*(np.datetime64("2026-01-01", "s") + np.arange(1_000))])
        self.rows = [*zip(*columns)]
        self.time_thousand(library)

    def time_thousand(self, library: str) -> None:
        """Push them."""
        push = single(self.makers[library]())
        for row in self.rows:
            push(*row)


class LateRows:
    """Rows that arrive after 10 or 1,000 newer ones, in windows by time; no peer takes them."""

    params: ClassVar[Any] = (["Sum", "Var", "Median", "Max", "Nunique"], [10, 1000])
    param_names = ("statistic", "newer")

    def setup(self, statistic: str, newer: int) -> None:
        """Fill the window."""
        m = 10_000
        self.stream = getattr(rollstat, f"Rolling{statistic}")(float(m), lateness=float(m))
        self.stream.extend(series("normal", m), times=np.arange(m))
        self.time = m - newer - 0.5
        self.values = series("normal", 100).tolist()

    def time_insert(self, statistic: str, newer: int) -> None:
        """Insert a hundred rows."""
        for x in self.values:
            self.stream.insert(x, self.time)


class FeaturesOfStream:
    """A push, and a query of 36 features of a key with 400 rows; polars computes them from these rows."""

    params: ClassVar[Any] = ["rollstat", "polars"]
    param_names = ("library",)
    windows: ClassVar[Any] = (1.0, 7.0, 30.0, 90.0, 10, 100)

    def setup(self, library: str) -> None:
        """Fill the stream or the frame, and compare the features."""
        values = series("normal", 400).tolist()
        f = import_module("rollstat.features")
        features = [f.sum("x"), f.mean("x"), f.median("x"), f.quantile("x", 0.95), f.max("x"), f.nunique("x")]
        windows = [feature.over(*self.windows, min_periods=1) for feature in features]
        stream = f.Features(windows, by="k", on="t", closed="left").stream()
        for t, x in enumerate(values):
            stream.push({"k": 1, "t": float(t), "x": x})
        self.times = count(400.0)
        if library == "polars":
            self.polars = import_module("polars")
            self.frame = self.polars.DataFrame({"k": np.ones(400, int), "t": np.arange(400.0), "x": values})
            np.testing.assert_allclose(self._with_polars().row(0), list(stream.query(1, 400.0).values()))
            self.query, self.push = self._with_polars, self._append
        else:
            self.query, self.push = lambda: stream.query(1, 400.0), stream.push

    def _with_polars(self) -> Any:
        x, t = self.polars.col("x"), self.polars.col("t")
        parts = [
            x.tail(window) if isinstance(window, int) else x.filter(t >= 400.0 - window)
            for window in self.windows
        ]
        calls = (
            lambda x: x.sum(),
            lambda x: x.mean(),
            lambda x: x.median(),
            lambda x: x.quantile(0.95, "linear"),
            lambda x: x.max(),
            lambda x: x.n_unique(),
        )
        found = [call(part) for call in calls for part in parts]
        return self.frame.select(each.alias(str(i)) for i, each in enumerate(found))

    def _append(self, row: dict[str, Any]) -> None:
        self.frame.vstack(self.polars.DataFrame(row))

    def time_query(self, library: str) -> None:
        """Query once."""
        self.query()

    def time_push(self, library: str) -> None:
        """Push once."""
        self.push({"k": 1, "t": next(self.times), "x": 1.0})
