"""One benchmark class for each registered statistic, with every peer that has it."""

import numpy as np

from benchmarks.data import series
from benchmarks.peers import Job, libraries
from rollstat.registry import REGISTRY

WINDOWS = [5, 100, 1_000, 100_000]


class _Benchmark:
    """One call on a million values."""

    param_names = ("library", "window", "data")
    timeout = 300
    name = ""

    def setup(self, library, window, data):
        """Make the data, compile, and warm the caches."""
        statistic = REGISTRY[self.name]
        other = series("walk") if statistic.series > 1 else None
        values, parameters = series(data), dict(statistic.samples[0])
        if self.name.startswith("weighted"):
            other = np.abs(other)
        elif self.name == "drawdown":
            values = np.abs(values) + 1
        elif "weights" in parameters:
            parameters["weights"] = np.linspace(0.5, 1, window)
        self.job = Job(values, window, parameters, other=other)
        if library not in libraries(self.name, window):
            raise NotImplementedError("too slow for such a window")  # how asv is told to skip a case
        self.run = libraries(self.name)[library]
        self.run(self.job)

    def time_call(self, library, window, data):
        """Time one call."""
        self.run(self.job)


def _benchmark(name, windows=WINDOWS, data=("normal", "walk"), prefix="Rolling"):
    params = (list(libraries(name)), list(windows), list(data))
    return type(prefix + name.title().replace("_", ""), (_Benchmark,), {"name": name, "params": params})


_classes = [_benchmark(name) for name in REGISTRY]
_classes += [_benchmark(name, (3, 7, 9, 25, 51, 151), prefix="Narrow") for name in ("median", "quantile")]
_classes += [
    _benchmark(name, data=["missing"], prefix="Gappy")
    for name in ("median", "quantile", "min", "minmax", "sum", "rank")
]
globals().update({each.__name__: each for each in _classes})
