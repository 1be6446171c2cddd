"""Functions of windows that ``apply`` and ``agg`` take, and that statistics compute without Python.

Results equal the results of ``apply``, which replaces inf with NaN and calls a function for every window with
at least ``min_periods`` observations, missing values included. ``raw`` decides how the function treats them.
"""

import builtins
import math
import sys
from array import array
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from itertools import chain, compress, repeat
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rollstat.registry import REGISTRY
from rollstat.thresholds import COMPILED_APPLY_ROWS


class Known(NamedTuple):
    """A function of a window that statistics compute.

    Attributes
    ----------
    compute : callable
        Takes a function of the name and the values of a statistic, the values, and the rows of a window.
    raw, series : str or None
        The `nan_policy` of the function over arrays and over Series; None where no statistic has its results
        for windows with missing values, "raise" where it has none.
    least : int
        Fewest rows of the windows, all of one width, of a function that takes no others; else 0.
    """

    compute: Callable[..., Any]
    raw: str | None = "propagate"
    series: str | None = "propagate"
    least: int = 0

    def function(self, values: Any, *, window: Any, **options: Any) -> Any:
        """Return the results for an array, as functions over arrays do."""

        def statistic(name: str, values: Any, **parameters: Any) -> Any:
            return REGISTRY[name].function(values, window, **options, **parameters)

        return self.compute(statistic, values, window)


def _named(name: str, raw: str | None, series: str | None, **parameters: Any) -> Known:
    return Known(lambda statistic, values, _: statistic(name, values, **parameters), raw, series)


def _position(name: str) -> Known:
    def compute(statistic: Any, values: Any, _: Any) -> Any:
        found = statistic(name, values, relative_to="oldest")
        return np.where(found < 0, np.nan, found)

    return Known(compute, None, "omit")


def _counted(observation: Callable[[Any], Any]) -> Known:
    """Return the number of observations of which a condition holds."""

    def compute(statistic: Any, values: Any, _: Any) -> Any:
        return statistic("sum", np.where(np.isnan(values), np.nan, observation(values)))

    return Known(compute, None, None)


def _biased(name: str, least: int, shape: Callable[[Any, int], Any]) -> Known:
    """Return a moment of SciPy, NaN where all values agree in nearly all digits, as SciPy has it."""

    def compute(statistic: Any, values: Any, rows: int) -> Any:
        varies = statistic("std", values, ddof=0) > 1e-15 * np.abs(statistic("mean", values))
        return np.where(varies, shape(statistic(name, values), rows), np.nan)

    return Known(compute, least=least)


_KNOWN: dict[Any, Known] = {
    len: _counted(np.ones_like),
    builtins.sum: _named("sum", "propagate", "propagate"),
    builtins.min: _named("min", None, None),
    builtins.max: _named("max", None, None),
    np.median: _named("median", "propagate", "propagate"),
    np.nanmedian: _named("median", "omit", "omit"),
    np.ptp: _named("ptp", "propagate", "propagate"),
    np.any: _named("any", None, "omit"),
    np.all: _named("all", None, "omit"),
    np.count_nonzero: _counted(lambda values: values != 0),
    np.argmax: _position("argmax"),
    np.argmin: _position("argmin"),
    pd.Series.nunique: _named("nunique", "raise", "omit"),
}
for _name in ("sum", "mean", "min", "max", "std", "var"):
    _parameters = {"ddof": 0} if _name in ("std", "var") else {}
    _KNOWN[getattr(np, _name)] = _named(_name, "propagate", "omit", **_parameters)
    _KNOWN[getattr(np, f"nan{_name}")] = _named(_name, "omit", "omit", **_parameters)
_OF_SCIPY = {
    "skew": _biased("skew", 3, lambda found, n: found * ((n - 2) / math.sqrt(n * (n - 1)))),
    "kurtosis": _biased("kurt", 4, lambda found, n: (found * ((n - 2) * (n - 3) / (n - 1)) - 6) / (n + 1)),
}


def known(func: Any) -> Known | None:
    """Return what computes a function that ``apply`` has been given; None if Python must call it."""
    stats: Any = sys.modules.get("scipy.stats")
    of_scipy = (entry for name, entry in _OF_SCIPY.items() if func is getattr(stats, name, None))
    return next(of_scipy, None) or (_KNOWN.get(func) if isinstance(func, Hashable) else None)


def policy_of(entry: Known, raw: bool, values: Any, rows: int) -> str | None:
    """Return the `nan_policy` with which a known function is computed; None if Python must call it.

    Parameters
    ----------
    entry : Known
        What computes the function.
    raw : bool
        Whether it takes arrays.
    values : ndarray of float64
        All values.
    rows : int
        Observations that windows must have, if all of them have as many rows, else 0.
    """
    if entry.least > rows or np.isinf(values).any():
        return None
    policy = entry.raw if raw else entry.series
    if policy is None and (rows or not np.isnan(values).any()):
        policy = "omit"  # no window with a result has a missing value
    return None if policy == "raise" else policy


def apply_without_inf(values: Any, with_missing: bool, **options: Any) -> Any:
    """Return what :func:`rollstat.rolling_apply` does with NaN in place of inf, as in pandas."""
    if np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
    with_missing = with_missing and bool(np.isnan(values).any())
    return REGISTRY["apply"].function(values, with_missing=with_missing, **options)


@lru_cache(maxsize=16)
def _bounds(rows: int, window: Any, **options: Any) -> tuple[Any, ...]:
    """Return the bounds of windows, their default of `min_periods`, and which of them have one width."""
    from rollstat.options import Options  # imports kernels

    windows = Options.check(**options).windows(window, np.array([0, rows], np.int64))
    return *windows.bounds(0, windows.rows), windows.min_periods, *windows.regular[:2]


def apply_in_turn(
    values: Any, window: Any, function: Any, args: Any, kwargs: Any, min_periods: Any = None, **options: Any
) -> Any:
    """Return what a function returns that Python calls for each window, as pandas does, in less time."""
    if np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
    values = values if values.flags.writeable else values.copy()  # functions may write to their windows
    known = len(values) < COMPILED_APPLY_ROWS and "times" not in options and type(window) is int
    bounds = _bounds if known else _bounds.__wrapped__
    start, end, least, first, last = bounds(len(values), window, **options)
    before = np.append(0, np.cumsum(values == values))
    called = before[end] - before[start] >= (least if min_periods is None else min_periods)

    def parts(rows: slice) -> Any:
        return map(values.__getitem__, map(slice, start[rows].tolist(), end[rows].tolist()))

    full: Any = ()
    if first < last:  # to iterate over rows takes half the time of slices
        shape, strides = (last - first, end[first] - start[first]), values.strides * 2
        full = np.lib.stride_tricks.as_strided(values[start[first] :], shape, strides)
    views = compress(chain(parts(slice(first)), full, parts(slice(last, None))), called)
    call = partial(function, **kwargs) if kwargs else function
    results = np.full(len(called), np.nan)
    with np.errstate(all="ignore"):
        results[called] = array("d", map(call, views, *map(repeat, args)))
    return results
