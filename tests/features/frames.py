"""Frames of every kind with the same rows, and features by brute force."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from rollstat.dtypes import flattened
from rollstat.registry import REGISTRY


def to_arrow(frame):
    """The rows as a table."""
    return pa.Table.from_pandas(frame, preserve_index=False)


KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "arrow": to_arrow}


def transactions(n=80, seed=3):
    """Rows of few keys, some missing, in any order, with ties of time and missing values."""
    rng = np.random.default_rng(seed)
    amount = rng.integers(0, 9, n).astype(float)
    amount[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "customer": rng.choice(np.array(["a", "b", "c", None], object), n),
            "shop": rng.integers(0, 3, n),
            "time": np.datetime64("2026-01-01", "us") + rng.integers(0, 20, n) * np.timedelta64(6, "h"),
            "amount": amount,
            "price": rng.normal(size=n),
            "category": rng.choice(np.array(["food", "rent", None], object), n),
            "number": np.arange(n),
        },
        index=rng.permutation(n),
    )


def column(frame, name):
    """The values of a column of any kind of frame as floats; NaN where missing."""
    values = frame[name]
    values = values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()
    return np.array([np.nan if value is None or value is pd.NA else value for value in values], float)


def by_brute_force(frame, keys, statistic, columns, window, parameters=None, values=None, **options):
    """One array for each result of a statistic, from a call of the function for each key."""
    spec, found = REGISTRY[statistic], None
    groups = frame.reset_index(drop=True)
    order = groups.sort_values("time", kind="stable")
    codes = order.groupby(keys, dropna=False, sort=False).ngroup() if keys else np.zeros(len(order))
    for _, rows in order.groupby(np.asarray(codes), sort=False):
        series = [rows[name].to_numpy() for name in columns] if values is None else [values[rows.index]]
        given = {p.name: each for p, each in zip(spec.arguments, series)}
        given |= {"window": window, **(parameters or {}), **options}
        if isinstance(window, str):
            given["times"] = rows["time"].to_numpy()
        results = flattened(spec.function(**given))
        if found is None:
            found = [np.full(len(frame), np.nan) for _ in results]
        for result, each in zip(found, results):
            result[rows.index] = np.where(each < 0, np.nan, each) if statistic.startswith("arg") else each
    return found
