"""Windows within groups: the pandas accessor beside pandas."""

from functools import cache

import numpy as np
import pandas as pd

import rollstat.pandas  # noqa: F401  # registers the accessor
from benchmarks.data import N, series

FACES = {"rollstat": lambda data: data.rollstat, "pandas": lambda data: data}


@cache
def grouped(groups, n=N):
    """Return `n` rows with random keys of so many groups, and times one second apart."""
    keys = np.random.default_rng(5).integers(0, groups, n)
    times = pd.date_range("2024", periods=n, freq="s", unit="ns")
    return pd.DataFrame({"key": keys, "x": series("normal", n), "time": times})


class Groups:
    """Windows of 100 rows within groups."""

    params = (["median", "mean", "hamming mean"], [10, 1_000, 100_000], list(FACES))
    param_names = ("method", "groups", "face")
    timeout = 300

    def setup(self, method, groups, face):
        """Make the data, compile, and warm the caches."""
        self.time_call(method, groups, face)

    def time_call(self, method, groups, face):
        """Time one call, with the factorisation of the keys."""
        *win_type, method = method.split()
        rows = FACES[face](grouped(groups)[["key", "x"]]).groupby("key")["x"]
        getattr(rows.rolling(100, win_type=win_type[0] if win_type else None), method)()
