"""A function for each statistic, which names it for `rolling`: ``median("x")``, ``kth("x", k=2)``.

They are made from the registry. ``__init__.pyi`` declares them for type checkers.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from rollstat.registry import REGISTRY
from rollstat.spark.aggregate_spec import Aggregate, own_parameters

__all__ = ["BUILDERS", "builder"]

BUILDERS = tuple(name for name in REGISTRY if name != "aggregate")  # that name is taken


@cache
def builder(name: str) -> Callable[..., Aggregate]:
    """Return the function of a statistic: it takes columns, then the parameters of the statistic."""
    statistic = REGISTRY[name]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    columns = ["column", "other"][: statistic.series]
    own = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own_parameters(statistic)]
    signature = inspect.Signature([*(inspect.Parameter(column, kind) for column in columns), *own])

    def build(*args: Any, **kwargs: Any) -> Aggregate:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}{signature}: {error}") from None
        return Aggregate(name, tuple(given.pop(column) for column in columns), given)

    build.__name__ = build.__qualname__ = name
    build.__module__ = "rollstat.spark"
    build.__doc__ = (
        f"Name :func:`rollstat.{statistic.function.__name__}` of a column for :func:`rollstat.spark.rolling`."
    )
    build.__signature__ = signature.replace(return_annotation=Aggregate)  # type: ignore[attr-defined]  # of a function
    return build
