"""Every registered statistic over every kind of window, in groups, over frames, and over few rows."""

from importlib import import_module
from typing import ClassVar

import numpy as np

import rollstat
from benchmarks.data import series
from benchmarks.times import times_of
from rollstat.registry import REGISTRY

ROWS, GROUPS, COLUMNS, WIDTH = 100_000, 1_000, 20, 100
_NAMES = {"avg": "mean", "stddev": "std"}  # of SQL and here
_ENDS = np.arange(1, ROWS + 1)

# The windows of a call on `ROWS` values, by kind.
WINDOWS = {
    "rows": (WIDTH, {}),
    "centred": (WIDTH, {"center": True, "min_periods": 1}),
    "every tenth row": (WIDTH, {"step": 10}),
    "regular time": ("100s", {"times": times_of("regular", ROWS)}),
    "irregular time": ("100s", {"times": times_of("irregular", ROWS)}),
    "bounds": ((np.maximum(_ENDS - 50 - _ENDS % 100, 0), _ENDS), {}),
    "a size for each": (50 + _ENDS // 500 % 100, {}),
    "any order": ((np.maximum(_ENDS - 50 - _ENDS * 7919 % 20, 0), _ENDS), {}),
    "at other times": (
        "100s",
        {"times": times_of("irregular", ROWS), "at": times_of("irregular", ROWS)[::-1]},
    ),
    "at few times": (
        "100s",
        {"times": times_of("irregular", ROWS), "at": times_of("irregular", ROWS)[:: ROWS // 10]},
    ),
    "month": ("1 month", {"times": times_of("irregular", ROWS)}),
    "expanding": (rollstat.Expanding(), {}),
    "groups": (WIDTH, {"segments": np.linspace(0, ROWS, GROUPS + 1).astype(np.int64), "min_periods": 1}),
    "frame": (WIDTH, {"axis": 0}),
    "small call": (10, {}),
}


def shaped(kind, values):
    """Return a series in the shape of a kind of call."""
    if kind == "frame":
        return np.ascontiguousarray(values.reshape(COLUMNS, -1).T)
    return values[:100] if kind == "small call" else values


class WindowKinds:
    """One call of a statistic over one kind of window."""

    params = (sorted(REGISTRY), list(WINDOWS))
    param_names = ("statistic", "kind")
    timeout = 300

    def setup(self, statistic, kind):
        """Make the data, compile, and warm the caches."""
        entry, (self.window, self.options) = REGISTRY[statistic], WINDOWS[kind]
        self.arrays = [shaped(kind, series(data, ROWS)) for data in ("normal", "walk")[: entry.series]]
        self.function, self.parameters = entry.function, dict(entry.samples[0])
        try:
            self.time_call(statistic, kind)
        except ValueError as error:
            if "at does not apply" in str(error):
                raise NotImplementedError from error  # asv skips the case
            raise

    def time_call(self, statistic, kind):
        """Time one call."""
        self.function(*self.arrays, **self.parameters, window=self.window, **self.options)


class LookBacks:
    """A look-back of 10 to 2,000 rows for each row, beside DuckDB, on one thread."""

    params = (
        ["median", "quantile", "max", "sum", "avg", "stddev"],
        ["rollstat", "duckdb"],
        [100_000, 1_000_000],
    )
    param_names = ("statistic", "library", "rows")
    timeout = 300

    def setup(self, statistic, library, rows):
        """Make the data, compile, and compare the results."""
        values, look_back = series("normal", rows), np.random.default_rng(2).integers(9, 2000, rows)
        extra = {"q": 0.9} if statistic == "quantile" else {}
        function = getattr(rollstat, f"rolling_{_NAMES.get(statistic, statistic)}")
        self.run = lambda: function(values, window=look_back + 1, min_periods=1, **extra)
        if library == "rollstat":
            self.run()
            return
        try:
            connection = import_module("duckdb").connect(config={"threads": 1})
        except ImportError:
            raise NotImplementedError from None  # asv skips the case
        expected, table = self.run(), {"x": values, "i": np.arange(rows), "w": look_back}
        connection.register("numbers", table)
        call = "quantile_cont(x, 0.9)" if extra else f"{statistic}(x)"
        frame = "ORDER BY i ROWS BETWEEN w PRECEDING AND CURRENT ROW"
        query = f"SELECT i, {call} OVER ({frame}) AS y FROM numbers"
        self.run = lambda: connection.execute(query).fetchnumpy()
        found = self.run()
        found = np.ma.filled(found["y"], np.nan)[np.argsort(found["i"])]
        np.testing.assert_allclose(found[1:], expected[1:], rtol=1e-7, atol=1e-9)

    def time_call(self, statistic, library, rows):
        """Time one call."""
        self.run()


class DistinctStrings:
    """Distinct strings in windows of 100 rows of a Series of polars, beside polars."""

    params: ClassVar = ["rollstat", "polars"]
    param_names = ("library",)
    timeout = 300

    def setup(self, library):
        """Make the data, compile, and compare the results."""
        pl = import_module("polars")
        import_module("rollstat.polars")
        texts = np.random.default_rng(3).integers(0, 50, ROWS).astype(str)
        table = pl.DataFrame({"i": np.arange(ROWS), "x": texts})
        distinct = pl.col("x").n_unique().rolling("i", period=f"{WIDTH}i")
        runs = {
            "rollstat": lambda: table["x"].rollstat.nunique(WIDTH, min_periods=1),
            "polars": lambda: table.select(distinct)["x"],
        }
        found, expected = (run().to_numpy() for run in runs.values())
        np.testing.assert_array_equal(found, expected)
        self.run = runs[library]

    def time_call(self, library):
        """Time one call."""
        self.run()
