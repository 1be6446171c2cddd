"""The namespace ``rollstat`` of polars: statistics of Series and of expressions.

Importing this module registers it::

    import rollstat.polars

    series.rollstat.median(100)
    frame.with_columns(median=pl.col("speed").rollstat.median("5min", times=pl.col("time")))

Every statistic is a method with the parameters of its function. Missing results are null. Several results,
such as those of ``minmax``, are the fields of a struct.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl

from rollstat.registry import REGISTRY

__all__ = ["ExpressionNamespace", "SeriesNamespace"]


def _one_series(name: str, result: Any) -> pl.Series:
    """Return one result as it is, and several as a struct."""
    if not isinstance(result, tuple):
        return result  # type: ignore[no-any-return]  # functions return the kind of their input
    outputs = REGISTRY[name].outputs
    fields = outputs if len(outputs) == len(result) else [str(i) for i in range(len(result))]
    series = [each.alias(field) for each, field in zip(result, fields)]
    return pl.DataFrame(series).to_struct("")


def _over_columns(
    columns: Any, name: str, named: list[str], rest: tuple[Any, ...], options: dict[str, Any]
) -> pl.Series:
    """Compute a statistic of columns; the last ones are the options `named`."""
    series = len(columns) - len(named)
    options = options | dict(zip(named, columns[series:]))
    result = _one_series(name, REGISTRY[name].function(*columns[:series], *rest, **options))
    return result.alias(columns[0].name)


class _Namespace:
    """Every statistic as a method."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *REGISTRY]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in REGISTRY:
            raise AttributeError(
                f"the namespace rollstat has no statistic {name!r}; it has {', '.join(REGISTRY)}"
            )
        method = partial(self._call, name)
        method.__doc__ = REGISTRY[name].function.__doc__
        return method

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
        return _one_series(name, REGISTRY[name].function(self._target, *rest, **options)).alias(
            self._target.name
        )


@pl.api.register_expr_namespace("rollstat")
class ExpressionNamespace(_Namespace):
    """``expression.rollstat``: every statistic as a method that returns an expression.

    Further series and `times` may be expressions. A lazy frame needs `return_dtype`, the dtype of the result,
    if polars cannot find it by a trial call, as within ``over``.

    Examples
    --------
    >>> import polars as pl, rollstat.polars
    >>> frame = pl.DataFrame({"key": [1, 1, 2, 2], "x": [4.0, 1.0, 3.0, 2.0]})
    >>> frame.select(pl.col("x").rollstat.sum(2, min_periods=1).over("key"))["x"].to_list()
    [4.0, 5.0, 3.0, 5.0]
    """

    def _call(self, name: str, *rest: Any, return_dtype: Any = None, **options: Any) -> pl.Expr:
        further = [value for value in rest if isinstance(value, pl.Expr)]
        named = {key: value for key, value in options.items() if isinstance(value, pl.Expr)}
        compute = partial(
            _over_columns,
            name=name,
            named=list(named),
            rest=rest[len(further) :],
            options={key: value for key, value in options.items() if key not in named},
        )
        return pl.map_batches([self._target, *further, *named.values()], compute, return_dtype)
