"""Columns of every kind of dtype: the result of a window is that of its rows, as if there were no others."""

import math
from typing import Any

import numpy as np
import pandas as pd

import rollstat.pandas  # noqa: F401  # makes the accessors
from rollstat.options import Options
from rollstat.registry import REGISTRY
from tests.fuzz.accessor import OTHERS

TEXT = ("object", "str", "category", "string[pyarrow]")
TIMES = ("datetime64[ns]", "datetime64[s, UTC]", "timedelta64[ms]", "timestamp[us][pyarrow]")
NUMBERS = ("float64", "float32", "int64", "uint64", "Int64", "Float32", "double[pyarrow]", "int64[pyarrow]")
# Without positions, methods of pandas, and statistics that look at the row that the window belongs to.
NAMES = sorted(
    name
    for name in REGISTRY.rolling
    if REGISTRY[name].series == 1
    and not name.startswith("arg")
    and name not in {*OTHERS, "hampel", "zscore", "convolve"}
)


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one statistic of a column; return the rows compared."""
    n, m = int(rng.choice([1, 4, 9, 25])), int(rng.choice([1, 2, 3, 6]))
    column, name = _draw_column(rng, n), str(rng.choice(NAMES))
    samples = REGISTRY[name].samples
    sample = dict(samples[rng.integers(len(samples))])
    window, times = m, None
    if rng.random() < 0.3:
        times = np.cumsum(rng.integers(0, 4, n)) * int(rng.choice([1, -1]))
        column.index, window = pd.DatetimeIndex(times.astype("M8[s]")), f"{m}s"
    least = int(rng.integers(0, min(m, 2) + 1))
    closed = [None, "left", "both", "neither", "right"][rng.integers(5)]
    options = {"closed": closed, "center": bool(rng.random() < 0.5), "min_periods": least}
    groups = rng.integers(0, 3, n) if rng.random() < 0.4 else np.zeros(n, int)
    policy = str(rng.choice(["omit", "propagate"]))
    kind = {"keep_dtype": True, "nan_policy": policy}
    note.update(statistic=name, sample=sample, column=column, window=window, groups=groups)
    note.update(options=options | kind)
    windows = column.rollstat.groupby(groups).rolling(window, transform=True, **options, **kind)
    try:
        found = getattr(windows, name)(**sample)
    except (TypeError, ValueError):  # a statistic of numbers, or k beyond the window
        return 0
    for key in range(3):
        rows = np.flatnonzero(groups == key)
        within = None if times is None else column.index[rows].values
        checked = Options.check(center=options["center"], closed=closed, times=within)
        bounds = checked.windows(window, np.array([0, len(rows)]))
        for i, row in enumerate(rows):
            start, end = bounds.bound(i)
            if start == end:
                continue
            alone = column.iloc[rows[start:end]].rollstat.expanding(least, **kind)
            wanted = getattr(alone, name)(**sample)
            if not _equal(found.iloc[row], wanted.iloc[-1]):
                raise AssertionError(f"row {row}: {found.iloc[row]}, alone {wanted.iloc[-1]}")
    return n


def _draw_column(rng: np.random.Generator, n: int) -> pd.Series:
    """Return a column of few different values."""
    dtype = str(rng.choice([*TEXT, *TIMES, *NUMBERS]))
    values, missing = rng.integers(0, 5, n), rng.random(n) < rng.choice([0, 0.2, 0.5])
    if dtype in TEXT:
        words = [None if gone else "edcba"[i] for i, gone in zip(values, missing)]
        return pd.Series(words, dtype=object).astype(dtype)
    if dtype in TIMES:
        times = values.astype("m8[s]" if "delta" in dtype else "M8[s]")
        times[missing] = "NaT"
        column = pd.Series(times)
        return column.dt.tz_localize("UTC") if "UTC" in dtype else column.astype(dtype)
    missing &= dtype not in ("int64", "uint64")
    numbers = [None if gone else float(value) for value, gone in zip(values, missing)]
    return pd.Series(numbers, dtype=object).astype(dtype)


def _equal(one: Any, two: Any) -> bool:
    """Return whether two results, or rows of several results, are equal but for rounding."""
    if isinstance(one, pd.Series):
        return len(one) == len(two) and all(map(_equal, one, two))
    if pd.isna(one) or pd.isna(two):
        return bool(pd.isna(one) and pd.isna(two))
    if isinstance(one, (float, np.floating)):
        return math.isclose(one, two, rel_tol=1e-5, abs_tol=1e-6)
    return bool(one == two)
