"""The polars namespace ``rollstat``: statistics of Series and of expressions.

Importing this module registers it::

    import rollstat.polars

    series.rollstat.median(100)
    frame.with_columns(median=pl.col("speed").rollstat.median("5min", times=pl.col("time")))

Every statistic is a method with the parameters of its function. ``apply`` and ``combine`` take the fields
of a struct as several series. Missing results are null. Several results, as from ``minmax``, are the
fields of a struct.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from rollstat.explanation import explain
from rollstat.options import Options, is_duration
from rollstat.registry import REGISTRY
from rollstat.windows import Around, Forward

__all__ = ["ExpressionNamespace", "SeriesNamespace"]

# Parameters that are columns.
_COLUMNS = ("other", "x", "times", "segments", "at", "at_segments")


def _one_series(name: str, result: Any, regressors: list[str]) -> pl.Series:
    """Return one result as it is, and several as a struct."""
    if not isinstance(result, tuple):
        return result  # type: ignore[no-any-return]  # functions return the kind of their input
    found = [one for part in result for one in (part if isinstance(part, tuple) else (part,))]
    fields = REGISTRY[name].output_names([None, *regressors], len(found)) or map(str, range(len(found)))
    return pl.DataFrame([each.alias(field) for each, field in zip(found, fields)]).to_struct("")


@dataclass(frozen=True)
class _Column:
    """An argument that is one of the columns of a call; the first one is the series itself."""

    number: int


def _with_columns(value: Any, columns: Any) -> Any:
    """Return an argument with columns in their places."""
    if type(value) is tuple:
        return tuple(_with_columns(each, columns) for each in value)
    return columns[value.number] if isinstance(value, _Column) else value


def _names(x: Any) -> list[str]:
    """Return the names of the regressors, expressions or series."""
    several = x if isinstance(x, tuple) else (x,)
    return [
        each.meta.output_name() if isinstance(each, pl.Expr) else getattr(each, "name", "x")
        for each in several
    ]


def _over_columns(columns: Any, name: str, options: dict[str, Any], regressors: list[str]) -> pl.Series:
    """Compute a statistic of columns."""
    options = {key: _with_columns(value, columns) for key, value in options.items()}
    result = REGISTRY[name].function(_arrays(columns[0]), **options)
    return _one_series(name, result, regressors).alias(columns[0].name)


def _arrays(series: pl.Series) -> Any:
    """Return a series as a function takes it: the fields of a struct as a tuple."""
    return tuple(series.struct.unnest().get_columns()) if series.dtype == pl.Struct else series


def _bound(name: str, rest: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name; names of columns as expressions."""
    function: Any = REGISTRY[name].function
    given = inspect.signature(function.__wrapped__).bind(None, *rest, **options).arguments
    bound = {**given, **given.get("options", {})}
    for key in (next(iter(given)), "options"):
        bound.pop(key, None)
    return {key: _as_columns(value) if key in _COLUMNS else value for key, value in bound.items()}


def _as_columns(value: Any) -> Any:
    """Return names of columns, alone or in a list, as expressions, and other values as they are."""
    if isinstance(value, (list, tuple)) and all(isinstance(each, (str, pl.Expr)) for each in value):
        return tuple(map(_as_columns, value))
    return pl.col(value) if isinstance(value, str) else value


def _check(name: str, bound: dict[str, Any], return_dtype: Any) -> None:
    """Raise if arguments of an expression cannot work: polars hides errors of its trial call."""
    window, alone = bound.get("window"), dict(bound)
    Options.check(**{k: v for k, v in bound.items() if k in Options._fields})
    arrays = False
    for each in ("window", *_COLUMNS):
        value = bound.get(each)
        parts = value if isinstance(value, tuple) else (value,)
        if all(isinstance(part, pl.Expr) or np.ndim(part) == 0 for part in parts):
            continue
        arrays = True
        if return_dtype is None:
            raise ValueError(
                f"{each} must be an expression, or return_dtype must name the dtype of the result, because "
                f"the trial call of polars has other rows; got {type(value).__name__}"
            )
    unknown = isinstance(window, pl.Expr) or hasattr(window, "get_window_bounds")
    if arrays or unknown or name in ("aggregate", "apply"):
        return
    # One row in place of each column; which fill values and algorithms are possible depends on the dtype.
    sizes = vars(window).values() if isinstance(window, (Forward, Around)) else [window]
    widths = [*sizes, bound.get("halflife")]
    width = any(map(is_duration, widths))
    times, offsets = np.zeros(1, "M8[s]" if width else float), np.array([0, 1])
    one_row = {"times": times, "at": times, "segments": offsets, "at_segments": offsets}
    for each in _COLUMNS:
        if bound.get(each) is not None:
            alone[each] = one_row.get(each, np.zeros(1))
    alone |= {key: np.zeros(1) for key, value in alone.items() if isinstance(value, pl.Expr)}
    if isinstance(window, tuple):
        alone["window"] = np.array([0]), np.array([1])
    for each in ("fill_value", "algorithm"):
        alone.pop(each, None)
    explain(REGISTRY[name].function, np.zeros(1), **alone)


class _Namespace:
    """Every statistic as a method."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *REGISTRY.methods]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        name = REGISTRY.of_method(name, "the namespace rollstat")
        method = partial(self._without_out, name)
        method.__doc__ = REGISTRY[name].function.__doc__
        return method

    def _without_out(self, name: str, *rest: Any, **options: Any) -> Any:
        if options.get("out") is not None:
            raise ValueError("out does not apply to polars, whose series cannot receive results")
        return self._call(name, *rest, **options)

    def _call(self, name: str, *rest: Any, **options: Any) -> Any:
        raise NotImplementedError  # both classes have their own


@pl.api.register_series_namespace("rollstat")
class SeriesNamespace(_Namespace):
    """``series.rollstat``: every statistic as a method that returns a Series.

    Examples
    --------
    >>> import polars as pl, rollstat.polars
    >>> pl.Series("x", [4, 1, None, 2]).rollstat.max(2, min_periods=1).to_list()
    [4, 4, 1, 2]
    """

    def _call(self, name: str, *rest: Any, **options: Any) -> pl.Series:
        bound = _bound(name, rest, options)
        return _over_columns([self._target], name, bound, _names(bound.get("x")))


@pl.api.register_expr_namespace("rollstat")
class ExpressionNamespace(_Namespace):
    """``expression.rollstat``: every statistic as a method that returns an expression.

    Further series and `times` are expressions or column names; explicit bounds may be a pair of expressions.
    polars finds the dtype of the result with a trial call and hides the errors of that call; pass
    `return_dtype` to see them.

    Examples
    --------
    >>> import polars as pl, rollstat.polars
    >>> frame = pl.DataFrame({"key": [1, 1, 2, 2], "x": [4.0, 1.0, 3.0, 2.0]})
    >>> frame.select(pl.col("x").rollstat.sum(2, min_periods=1).over("key"))["x"].to_list()
    [4.0, 5.0, 3.0, 5.0]
    """

    def _call(self, name: str, *rest: Any, return_dtype: Any = None, **options: Any) -> pl.Expr:
        bound = _bound(name, rest, options)
        _check(name, bound, return_dtype)
        columns = [self._target]

        def placed(value: Any) -> Any:
            if type(value) is tuple:  # operators are tuples of other classes
                return tuple(map(placed, value))
            if isinstance(value, pl.Expr):
                columns.append(value)
                return _Column(len(columns) - 1)
            return value

        further = {key: placed(value) for key, value in bound.items()}
        compute = partial(_over_columns, name=name, options=further, regressors=_names(bound.get("x")))
        return pl.map_batches(columns, compute, return_dtype)
