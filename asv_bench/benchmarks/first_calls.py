"""First calls, each in a process of its own: with an empty cache, and with the kernels of an earlier one."""

import os
import subprocess
import sys
import tempfile

STATISTICS = ["median", "quantile", "kth", "min", "argmin", "mean", "std", "rank", "nunique"]
CALL = """
import numpy as np
from rollstat.registry import REGISTRY
entry = REGISTRY[{statistic!r}]
entry.function(np.random.default_rng(0).standard_normal(100_000), window=100, **entry.samples[0])
"""


class FirstCalls:
    """Import and first call; subtract the time of `Import` for the call alone."""

    params = (STATISTICS, ["empty cache", "kernels stored"])
    param_names = ("statistic", "cache")
    number = 1
    timeout = 300

    def setup(self, statistic, cache):
        """Give the new processes a cache folder of their own, and fill it if kernels are to be stored."""
        self.folder = tempfile.TemporaryDirectory()
        os.environ["NUMBA_CACHE_DIR"] = self.folder.name
        if cache == "kernels stored":
            subprocess.run([sys.executable, "-c", CALL.format(statistic=statistic)], check=True)

    def teardown(self, statistic, cache):
        """Remove the cache folder."""
        del os.environ["NUMBA_CACHE_DIR"]
        self.folder.cleanup()

    def timeraw_call(self, statistic, cache):
        """Return the code that a new process runs, and the code that it runs before."""
        folder = "import tempfile, os; os.environ['NUMBA_CACHE_DIR'] = tempfile.mkdtemp()"
        return CALL.format(statistic=statistic), folder if cache == "empty cache" else ""
