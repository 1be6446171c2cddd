"""Sets of features on Spark: a call of `rolling` for each set of keys, with windows of each feature's own."""

import math
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.features.definition import Feature, Features, naming
from rollstat.features.frames import expression_of
from rollstat.spark.aggregates import Aggregate
from rollstat.spark.route import rolling

_OF_CALLS = ("nan_policy", "algorithm")


def compute(features: Features, df: DataFrame, at: Any, threads: Any) -> DataFrame:
    """Return the rows with the features; see :meth:`rollstat.features.Features.compute`."""
    if threads is not None:
        raise ValueError(f"threads does not apply to frames of Spark; got {threads!r}")
    order = [*([] if features.on is None else [features.on]), *features.order_by]
    if not order:
        raise ValueError("frames of Spark need on= or order_by=, because their rows have no order")
    found = df if at is None else at
    for keys in dict.fromkeys(column.by for column in features.columns):
        chosen = [
            each for each in features.features if (features.by if each.keys is None else each.keys) == keys
        ]
        options = [{k: v for k, v in each.options.items() if k in _OF_CALLS} for each in chosen]
        if any(each != options[0] for each in options):
            raise ValueError(
                f"on Spark, features of the same keys must have the same {' and '.join(_OF_CALLS)}"
            )
        aggs = [_aggregate(features, feature, df) for feature in chosen]
        rows, labels = (found, None) if at is None else (df, found)
        given = {"partition_by": list(keys), "order_by": order, "aggs": aggs, **options[0]}
        found = rolling(rows, at=labels, **given)
    names = [*(df if at is None else at).columns, *(column.name for column in features.columns)]
    return found.select(*(found[f"`{name}`"] for name in names))


def _aggregate(features: Features, feature: Feature, df: DataFrame) -> Aggregate:
    """Return a feature as :func:`rollstat.spark.rolling` takes it."""
    columns: tuple[Any, ...] = feature.columns
    with naming(feature):
        if feature.condition is not None or features.is_finite(feature):
            columns = tuple(_observed(features, feature, df, name) for name in columns)
        names = tuple(column.name for column in features.columns if column.feature is feature)
        options = features.call_options(feature, feature.windows[0])
        given = {k: v for k, v in options.items() if k not in (*_OF_CALLS, "inf") and v is not None}
        return Aggregate(feature.statistic, columns, feature.parameters, names).over(
            *feature.windows, **given
        )


def _observed(features: Features, feature: Feature, df: DataFrame, name: str) -> Column:
    """Return a column without the values that are no observations of a feature."""
    column = F.col(f"`{name}`")
    if feature.condition is not None:
        column = F.when(expression_of(feature.condition, df.columns, F.col), column)
    if features.is_finite(feature) and isinstance(df.schema[name].dataType, T.FractionalType):
        column = F.when(F.abs(column) != math.inf, column)
    return column
