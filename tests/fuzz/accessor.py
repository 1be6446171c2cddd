"""The pandas accessors: Series of every kind of dtype, indices with times, groups."""

from typing import Any

import numpy as np
import pandas as pd

import rollstat.pandas  # noqa: F401  # makes the accessors
from rollstat.registry import REGISTRY
from tests.fuzz.compare import Rule, answers, check
from tests.fuzz.draws import draw_values

DTYPES = {"float64": "f8", "int64": "i8", "Int64": "i8", "Float64": "f8", "int64[pyarrow]": "i8", "bool": "?"}

OTHERS = {"aggregate", "apply", "count"}  # methods of pandas' own: min_periods of its count are rows


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one statistic of a Series or of groups; return the rows compared."""
    names = [name for name in REGISTRY.rolling if REGISTRY[name].series == 1 and name not in OTHERS]
    statistic = REGISTRY[str(rng.choice(sorted(names)))]
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    kind = str(rng.choice(list(DTYPES)))
    n = int(rng.choice([1, 5, 40, 120]))
    values = draw_values(rng, n, np.dtype(DTYPES[kind]), False, False)
    if statistic.name == "prod":  # products fit in 64 bits
        values = (values % 2).astype(values.dtype)
    missing = np.isnan(values) if kind in ("float64", "Float64") else rng.random(n) < 0.2
    if kind in ("int64", "bool"):
        missing[:] = False
    series = pd.Series(values).astype(kind)
    if kind not in ("int64", "bool"):
        series[missing] = None if kind != "float64" else np.nan
    m, step = int(rng.choice([1, 2, 3, 8, 50])), 1
    if abs(sample.get("k", 1)) > m:
        return 0
    least = int(rng.integers(0, m + 1))
    window: Any = m
    seconds = np.sort(rng.integers(0, 2 * n, n))
    by_time = bool(rng.random() < 0.3)
    if by_time:
        series.index, window = pd.DatetimeIndex(seconds.astype("M8[s]").astype("M8[ns]")), f"{m}s"
    groups = None if rng.random() < 0.6 else rng.integers(0, 4, n)
    if groups is None and not by_time and rng.random() < 0.3:
        step = int(rng.integers(1, 4))
    given = {"min_periods": least} | ({"step": step} if step > 1 else {})
    note.update(
        statistic=statistic.name, sample=sample, window=window, options=given, series=series, groups=groups
    )
    rule, compared = Rule(least, False, missing), 0
    for members in (
        [np.arange(n)] if groups is None else [np.flatnonzero(groups == g) for g in np.unique(groups)]
    ):
        rows = [
            (int(i), *_window(members, seconds, int(i), m, by_time)) for i in range(0, len(members), step)
        ]
        wanted = answers(statistic, [values[members]], rows, sample, rule._replace(missing=missing[members]))
        if groups is None:
            found = getattr(series.rollstat.rolling(window, **given), statistic.name)(**sample)
        else:
            parts = series.rollstat.groupby(groups).rolling(window, **given)
            found = getattr(parts, statistic.name)(**sample)
            found = found.loc[[groups[members[0]]]]
        columns = [found] if isinstance(found, pd.Series) else [found[name] for name in found]
        results = [
            column.to_numpy() if column.dtype == np.int64 else column.to_numpy(np.float64, na_value=np.nan)
            for column in columns
        ]
        if len(results) == 2 and statistic.name == "hampel":
            results[1] = results[1] == 1
        check(statistic, results, wanted)
        compared += len(rows)
    return compared


def _window(members: np.ndarray, seconds: np.ndarray, row: int, m: int, by_time: bool) -> tuple[int, int]:
    """Return the bounds of a window among the members of a group."""
    if by_time:
        times = seconds[members]
        return int(np.searchsorted(times, times[row] - m, "right")), row + 1
    return max(row + 1 - m, 0), row + 1
