"""The import of the package, and the first use of a name, each in a fresh process."""

BASE = "import numba, numpy, pandas"


class Import:
    """The time on top of the dependencies."""

    def timeraw_import(self):
        """Import the package."""
        return "import rollstat", BASE

    def timeraw_first_function(self):
        """Load a function, without calling it."""
        return "rollstat.rolling_median", f"{BASE}, rollstat"

    def timeraw_first_stream(self):
        """Load a class of streams, without making a stream."""
        return "rollstat.RollingMedian", f"{BASE}, rollstat"
