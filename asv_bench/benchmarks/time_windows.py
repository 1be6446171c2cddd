"""Time windows of each width over each kind of times."""

from benchmarks.data import series
from benchmarks.times import KINDS, times_of
from rollstat.registry import REGISTRY


class TimeWindows:
    """One call on a million values, one row a second on average."""

    params = (["sum", "std", "min", "median", "count", "nunique"], ["10s", "5min", "20000s"], list(KINDS))
    param_names = ("statistic", "width", "times")
    timeout = 300

    def setup(self, statistic, width, times):
        """Make the data, compile, and warm the caches."""
        self.values, self.times = series("normal"), times_of(times, len(series("normal")))
        self.function = REGISTRY[statistic].function
        self.time_call(statistic, width, times)

    def time_call(self, statistic, width, times):
        """Time one call."""
        self.function(self.values, width, times=self.times)
