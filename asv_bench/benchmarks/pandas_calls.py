"""Calls of the pandas accessor beside pandas: small Series, and wide frames."""

import numpy as np
import pandas as pd

import rollstat.pandas  # noqa: F401  # registers the accessor

FACES = {"rollstat": lambda data: data.rollstat, "pandas": lambda data: data}
METHODS = ["sum", "mean", "median", "var", "std", "min", "max", "count", "skew", "rank", "first", "nunique"]


class SmallSeries:
    """One call on 100 values."""

    params = (METHODS, ["rows", "time"], list(FACES))
    param_names = ("method", "window", "face")

    def setup(self, method, window, face):
        """Make the data, compile, and warm the caches."""
        index = pd.date_range("2024", periods=100, freq="s")
        self.data = pd.Series(np.random.default_rng(1).standard_normal(100), index)
        self.window = {"rows": 10, "time": "10s"}[window]
        self.time_call(method, window, face)

    def time_call(self, method, window, face):
        """Time one call, with the making of the window object."""
        getattr(FACES[face](self.data).rolling(self.window), method)()


class WideFrame:
    """One call on 100,000 rows and 20 columns."""

    params = (["sum", "median", "max"], list(FACES))
    param_names = ("method", "face")
    timeout = 300

    def setup(self, method, face):
        """Make the data, compile, and warm the caches."""
        self.data = pd.DataFrame(np.random.default_rng(1).standard_normal((100_000, 20)))
        self.time_call(method, face)

    def time_call(self, method, face):
        """Time one call."""
        getattr(FACES[face](self.data).rolling(100), method)()
