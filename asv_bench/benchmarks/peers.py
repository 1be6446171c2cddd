"""The same job in other libraries: statistic -> library -> callable. One table for all benchmarks.

Every callable takes :class:`Job` and returns the full-length result with NaN where there is none, so
that equality can be checked before anything is timed.
Libraries that are not installed are left out.
"""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rollstat
from rollstat.compile.cache import host_levels
from rollstat.registry import REGISTRY

VECTORS = {"x86-64-v4": "AVX-512", "x86-64-v3": "AVX2"}


def _if_installed(module: str) -> Any:
    """Return a module, or None if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


bottleneck, numbagg, pl, screamer, ndimage, ols, talib, duckdb, pds, cv2 = map(
    _if_installed,
    (
        "bottleneck",
        "numbagg",
        "polars",
        "screamer",
        "scipy.ndimage",
        "statsmodels.regression.rolling",
        "talib",
        "duckdb",
        "polars_ds",
        "cv2",
    ),
)
if cv2:
    cv2.setNumThreads(1)
INSTALLED = {
    library: module
    for library, module in {
        "rollstat": rollstat,
        "pandas": pd,
        "bottleneck": bottleneck,
        "numbagg": numbagg,
        "polars": pl,
        "scipy": ndimage and import_module("scipy"),
        "screamer": screamer,
        "statsmodels": ols and import_module("statsmodels"),
        "TA-Lib": talib,
        "DuckDB": duckdb,
        "polars-ds": pds,
        "OpenCV": cv2,
    }.items()
    if module
}


@dataclass
class Job:
    """One series and one window, in the form of each library."""

    values: np.ndarray
    window: int
    parameters: dict[str, Any] = field(default_factory=dict)
    min_periods: int | None = None
    other: np.ndarray | None = None

    @cached_property
    def pandas(self):
        """Window of a pandas Series."""
        return pd.Series(self.values).rolling(self.window, min_periods=self.min_periods)

    @cached_property
    def pandas_other(self):
        """The other series in pandas."""
        return pd.Series(self.other)

    @cached_property
    def rows(self):
        """Number of each row, as a series."""
        return np.arange(float(len(self.values)))

    @cached_property
    def polars(self):
        """Series of polars; NaN as null, which it skips."""
        return pl.Series(self.values, nan_to_null=True)

    @property
    def samples(self):
        """Keywords of polars' rolling functions."""
        return {"window_size": self.window, "min_samples": self.min_periods}

    @property
    def least(self):
        """Keyword of bottleneck and numbagg."""
        return {"min_count": self.min_periods}

    def rollstat(self, name: str, **options):
        """Run rollstat's function of that name."""
        statistic = REGISTRY[name]
        arrays = [self.values] if statistic.series == 1 else [self.values, self.other]
        options = {"min_periods": self.min_periods, **options}
        if name.startswith("ewm_"):
            return statistic.function(*arrays, span=self.window, **options)
        return statistic.function(*arrays, window=self.window, **self.parameters, **options)


Run = Callable[[Job], Any]


def _trailing(run: Callable[[Job, int], np.ndarray]) -> Run:
    """Turn a centred filter of scipy into a trailing window."""

    def trailing(job: Job) -> np.ndarray:
        # A filter of size m is centred on m // 2: an origin of (m - 1) // 2 puts its last row last.
        return run(job, (job.window - 1) // 2)

    return trailing


def _by_duckdb(aggregate: str) -> Run:
    """Return an SQL aggregate of the columns x and y over windows of rows, in the order of the rows."""

    def run(job: Job) -> np.ndarray:
        rows = {"x": job.values, **({"y": job.other} if "y" in aggregate else {})}
        over = f"(ROWS BETWEEN {job.window - 1} PRECEDING AND CURRENT ROW)"
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.register("rows", rows)
            text = f"SELECT {aggregate} OVER {over} AS result FROM rows"
            return connection.execute(text.format(**job.parameters)).fetchnumpy()["result"]

    return run


def _by_polars_ds(job: Job) -> np.ndarray:
    fit = pds.rolling_lin_reg("y", target="x", window_size=job.window, add_bias=True)
    fits = pl.DataFrame({"x": job.values, "y": job.other}).select(fit.alias("fit"))["fit"]
    return fits.struct.field("coeffs").list.get(0, null_on_oob=True).to_numpy()


def _with_ones(values: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(values)), values])


def _scipy_quantile(job: Job, origin: int) -> np.ndarray:
    return ndimage.percentile_filter(job.values, job.parameters["q"] * 100, job.window, origin=origin)


def _largest_loss(x):
    peak, loss = x[0], 0.0
    for value in x:
        peak = max(peak, value)
        loss = max(loss, (peak - value) / peak)
    return loss


PEERS: dict[str, dict[str, Run]] = {
    "median": {
        "pandas": lambda job: job.pandas.median(),
        "bottleneck": lambda job: bottleneck.move_median(job.values, job.window, **job.least),
        "polars": lambda job: job.polars.rolling_median(**job.samples),
        "scipy": _trailing(lambda job, o: ndimage.median_filter(job.values, job.window, origin=o)),
        "screamer": lambda job: screamer.RollingMedian(job.window)(job.values),
    },
    "quantile": {
        "pandas": lambda job: job.pandas.quantile(job.parameters["q"]),
        "polars": lambda job: job.polars.rolling_quantile(job.parameters["q"], "linear", **job.samples),
        "scipy": _trailing(_scipy_quantile),
        "screamer": lambda job: screamer.RollingQuantile(job.window, job.parameters["q"])(job.values),
    },
    "kth": {
        "scipy": _trailing(
            lambda job, o: ndimage.rank_filter(job.values, job.parameters["k"] - 1, job.window, origin=o)
        ),
    },
    "min": {
        "pandas": lambda job: job.pandas.min(),
        "bottleneck": lambda job: bottleneck.move_min(job.values, job.window, **job.least),
        "polars": lambda job: job.polars.rolling_min(**job.samples),
        "scipy": _trailing(lambda job, o: ndimage.minimum_filter1d(job.values, job.window, origin=o)),
        "screamer": lambda job: screamer.RollingMin(job.window)(job.values),
    },
    "max": {
        "pandas": lambda job: job.pandas.max(),
        "bottleneck": lambda job: bottleneck.move_max(job.values, job.window, **job.least),
        "polars": lambda job: job.polars.rolling_max(**job.samples),
        "scipy": _trailing(lambda job, o: ndimage.maximum_filter1d(job.values, job.window, origin=o)),
        "screamer": lambda job: screamer.RollingMax(job.window)(job.values),
    },
    "argmin": {
        "bottleneck": lambda job: bottleneck.move_argmin(job.values, job.window, **job.least),
        "screamer": lambda job: screamer.RollingArgmin(job.window)(job.values),
    },
    "argmax": {
        "bottleneck": lambda job: bottleneck.move_argmax(job.values, job.window, **job.least),
        "screamer": lambda job: screamer.RollingArgmax(job.window)(job.values),
    },
    "rank": {
        "pandas": lambda job: job.pandas.rank(),
        "bottleneck": lambda job: bottleneck.move_rank(job.values, job.window, **job.least),
        "polars": lambda job: job.polars.rolling_rank(**job.samples),
        "screamer": lambda job: screamer.RollingRank(job.window)(job.values),
    },
    "nunique": {"pandas": lambda job: job.pandas.nunique()},
    "iqr": {"screamer": lambda job: screamer.RollingIqr(job.window)(job.values)},
    "mad": {"screamer": lambda job: screamer.RollingMedianAD(job.window)(job.values)},
    "hampel": {"screamer": lambda job: screamer.Hampel(job.window)(job.values)},
    "sum": {
        "pandas": lambda job: job.pandas.sum(),
        "bottleneck": lambda job: bottleneck.move_sum(job.values, job.window, **job.least),
        "numbagg": lambda job: numbagg.move_sum(job.values, window=job.window, **job.least),
        "polars": lambda job: job.polars.rolling_sum(**job.samples),
        "screamer": lambda job: screamer.RollingSum(job.window)(job.values),
    },
    "mean": {
        "pandas": lambda job: job.pandas.mean(),
        "bottleneck": lambda job: bottleneck.move_mean(job.values, job.window, **job.least),
        "numbagg": lambda job: numbagg.move_mean(job.values, window=job.window, **job.least),
        "polars": lambda job: job.polars.rolling_mean(**job.samples),
        "screamer": lambda job: screamer.RollingMean(job.window)(job.values),
    },
    "var": {
        "pandas": lambda job: job.pandas.var(),
        "bottleneck": lambda job: bottleneck.move_var(job.values, job.window, ddof=1, **job.least),
        "numbagg": lambda job: numbagg.move_var(job.values, window=job.window, **job.least),
        "polars": lambda job: job.polars.rolling_var(**job.samples),
        "screamer": lambda job: screamer.RollingVar(job.window)(job.values),
    },
    "std": {
        "pandas": lambda job: job.pandas.std(),
        "bottleneck": lambda job: bottleneck.move_std(job.values, job.window, ddof=1, **job.least),
        "numbagg": lambda job: numbagg.move_std(job.values, window=job.window, **job.least),
        "polars": lambda job: job.polars.rolling_std(**job.samples),
        "screamer": lambda job: screamer.RollingStd(job.window)(job.values),
    },
    "sem": {"pandas": lambda job: job.pandas.sem()},
    "skew": {
        "pandas": lambda job: job.pandas.skew(),
        "polars": lambda job: job.polars.rolling_skew(job.window, bias=False),
        "screamer": lambda job: screamer.RollingSkew(job.window)(job.values),
    },
    "kurt": {
        "pandas": lambda job: job.pandas.kurt(),
        "polars": lambda job: job.polars.rolling_kurtosis(job.window, bias=False),
        "screamer": lambda job: screamer.RollingKurt(job.window)(job.values),
    },
    "cov": {
        "pandas": lambda job: job.pandas.cov(job.pandas_other),
        "numbagg": lambda job: numbagg.move_cov(job.values, job.other, window=job.window, **job.least),
        "screamer": lambda job: screamer.RollingCov(job.window)(job.values, job.other),
    },
    "corr": {
        "pandas": lambda job: job.pandas.corr(job.pandas_other),
        "numbagg": lambda job: numbagg.move_corr(job.values, job.other, window=job.window, **job.least),
        "screamer": lambda job: screamer.RollingCorr(job.window)(job.values, job.other),
    },
    "beta": {"screamer": lambda job: screamer.RollingBeta(job.window)(job.values, job.other)},
    "slope": {},
    "linear_fit": {
        "screamer": lambda job: screamer.RollingLinearRegression(job.window)(job.values, job.rows)[:, 0],
    },
    "apply": {
        "pandas": lambda job: job.pandas.apply(job.parameters["function"], raw=True, engine="numba"),
    },
    "regression": {
        "statsmodels": lambda job: (
            ols.RollingOLS(job.values, _with_ones(job.other), job.window, missing="drop").fit().params[:, 0]
        ),
    },
    "zscore": {
        "pandas": lambda job: (pd.Series(job.values) - job.pandas.mean()) / job.pandas.std(),
        "polars": lambda job: (
            (job.polars - job.polars.rolling_mean(**job.samples)) / job.polars.rolling_std(**job.samples)
        ),
    },
    "positive_sum": {"pandas": lambda job: pd.Series(job.values).clip(lower=0).rolling(job.window).sum()},
    "negative_sum": {"pandas": lambda job: pd.Series(job.values).clip(upper=0).rolling(job.window).sum()},
    "downside_deviation": {
        "pandas": lambda job: (pd.Series(job.values).clip(upper=0) ** 2).rolling(job.window).mean() ** 0.5,
    },
    "drawdown": {"pandas": lambda job: job.pandas.apply(_largest_loss, raw=True, engine="numba")},
    "convolve": {
        "scipy": lambda job: np.append(
            np.full(job.window - 1, np.nan),
            import_module("scipy.signal").convolve(job.values, job.parameters["weights"][::-1], "valid"),
        ),
    },
    "count": {"pandas": lambda job: job.pandas.count()},
    "first": {"pandas": lambda job: job.pandas.first()},
    "last": {"pandas": lambda job: job.pandas.last()},
}


_IN_SQL = {
    "median": "median(x)",
    "quantile": "quantile_cont(x, {q})",
    **{name: f"{name}(x)" for name in ("min", "max", "sum")},
    "mean": "avg(x)",
    "var": "var_samp(x)",
    "std": "stddev_samp(x)",
    "cov": "covar_samp(x, y)",
    "corr": "corr(x, y)",
    "beta": "regr_slope(x, y)",
}
for _name, _aggregate in _IN_SQL.items():
    PEERS[_name]["DuckDB"] = _by_duckdb(_aggregate)
_IN_TALIB = {"min": "MIN", "max": "MAX", "sum": "SUM", "mean": "SMA", "slope": "LINEARREG_SLOPE"}
for _name, _function in _IN_TALIB.items():
    PEERS[_name]["TA-Lib"] = lambda job, _function=_function: getattr(talib, _function)(
        job.values, job.window
    )
PEERS["corr"]["TA-Lib"] = lambda job: talib.CORREL(job.values, job.other, job.window)
PEERS["beta"]["polars-ds"] = _by_polars_ds


def _both(low: Run, high: Run) -> Run:
    """Run two functions and return the minima, by which results are compared."""
    return lambda job: (high(job), low(job))[1]


def _exponential(name: str) -> dict[str, Run]:
    """Return the peers of an exponentially weighted statistic; the window is the span."""
    pairs = name in ("cov", "corr")

    def by_pandas(job: Job) -> Any:
        weights = pd.Series(job.values).ewm(span=job.window)
        return getattr(weights, name)(*([job.pandas_other] if pairs else []))

    def by_numbagg(job: Job) -> Any:
        arrays = (job.values, job.other) if pairs else (job.values,)
        return getattr(numbagg, f"move_exp_nan{name}")(*arrays, alpha=2 / (job.window + 1))

    def by_screamer(job: Job) -> Any:
        arrays = (job.values, job.other) if pairs else (job.values,)
        return getattr(screamer, f"Ew{name.title()}")(span=job.window)(*arrays)

    found: dict[str, Run] = {"pandas": by_pandas, "numbagg": by_numbagg}
    if name in ("mean", "var", "std"):
        found["polars"] = lambda job: getattr(job.polars, f"ewm_{name}")(span=job.window)
    if name != "sum":
        found["screamer"] = by_screamer
    if name == "mean":
        found["TA-Lib"] = lambda job: talib.EMA(job.values, job.window)
    return found


PEERS |= {f"ewm_{name}": _exponential(name) for name in ("mean", "sum", "var", "std", "cov", "corr")}
PEERS["minmax"] = {library: _both(low, PEERS["max"][library]) for library, low in PEERS["min"].items()}

# Beyond these windows a library takes minutes for a million values: its cost grows with the window.
LARGEST_WINDOW = {
    ("rank", "bottleneck"): 1_001,
    ("rank", "screamer"): 1_001,
    ("apply", "rollstat"): 1_001,
    ("apply", "pandas"): 1_001,
    ("mad", "screamer"): 101,
    ("hampel", "screamer"): 101,
    ("drawdown", "pandas"): 1_001,
    ("mean_abs_dev", "rollstat"): 1_001,
    **{(name, "DuckDB"): 1_001 for name in PEERS},
    **{(name, "TA-Lib"): 100_000 for name in PEERS},  # which it accepts at most
}


def libraries(name: str, window: int = 1) -> dict[str, Run]:
    """Return all functions that compute the statistic `name` over such a window, rollstat first."""
    return {
        library: run
        for library, run in {"rollstat": lambda job: job.rollstat(name), **PEERS.get(name, {})}.items()
        if library in INSTALLED and window <= LARGEST_WINDOW.get((name, library), window)
    }


def versions() -> str:
    """Return the versions of all libraries."""
    modules = INSTALLED | {"NumPy": np, "Numba": import_module("numba")}
    return ", ".join(f"{name} {module.__version__}" for name, module in modules.items())


def machine() -> str:
    """Return the processor and its vectors, the operating system and the versions."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    python = f"Python {platform.python_version()}"
    vectors = VECTORS.get(host_levels()[0], host_levels()[0])
    return f"{model or platform.processor()} with {vectors}, {platform.system()}; {versions()}, {python}"
