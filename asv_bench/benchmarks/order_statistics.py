"""Median and quantile beside pandas and bottleneck."""

import bottleneck
import pandas as pd

import rollstat
from benchmarks.data import series


class Median:
    """Rolling median of a million values."""

    params = (["rollstat", "bottleneck", "pandas"], [5, 100, 1_000, 10_000], ["normal", "walk"])
    param_names = ("library", "window", "data")
    timeout = 120

    def setup(self, library, window, data):
        """Make the data and compile."""
        self.values = series(data)
        self.series = pd.Series(self.values)
        self.run = {
            "rollstat": lambda: rollstat.rolling_median(self.values, window),
            "bottleneck": lambda: bottleneck.move_median(self.values, window),
            "pandas": lambda: self.series.rolling(window).median(),
        }[library]
        self.run()

    def time_median(self, library, window, data):
        """Time one call."""
        self.run()
