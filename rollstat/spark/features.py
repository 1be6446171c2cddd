"""Sets of features on Spark: a call of `rolling` for each set of keys, with windows of each feature's own."""

import math
from collections.abc import Iterator
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import DataStreamWriter

from rollstat.features.definition import Feature, Features, naming
from rollstat.features.frames import expression_of
from rollstat.spark.aggregates import Aggregate
from rollstat.spark.route import rolled
from rollstat.spark.structured_streaming import rolling_stream

_OF_CALLS = ("nan_policy", "algorithm")


def compute(features: Features, df: DataFrame, at: Any, threads: Any, split: Any = None) -> DataFrame:
    """Return the rows with the features; see :meth:`rollstat.features.Features.compute`."""
    if threads is not None:
        raise ValueError(f"threads does not apply to Spark frames; got {threads!r}")
    found = df if at is None else at
    for given in _calls(features, df):
        # The results of one set of keys are the input of the next: to measure series in them, Spark would
        # compute them again.
        given |= {"split": split, "known": df}
        found = rolled(found, **given) if at is None else rolled(df, at=found, **given)
    return _ordered(features, found, df if at is None else at)


def write_stream(
    features: Features,
    df: DataFrame,
    *,
    initial: DataFrame | None = None,
    metrics: str = "rollstat",
    **options: Any,
) -> DataStreamWriter:
    """Return the writer of a stream; see :meth:`rollstat.features.Features.write_stream`."""
    found, before = df, initial
    for number, given in enumerate(_calls(features, df), 1):
        given["partition_by"] = given["partition_by"] or [F.lit(0)]  # one series
        name = metrics if number == 1 else f"{metrics}_{number}"
        found, last = rolling_stream(found, initial=before, metrics=name, **given, **options), found
        options.pop("watermark", None)  # the result is in order
        if before is not None:
            new = [field for field in found.schema if field.name not in last.columns]
            before = before.withColumns({field.name: F.lit(None).cast(field.dataType) for field in new})
    return _ordered(features, found, df).writeStream.outputMode("append")


def _calls(features: Features, df: DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a call for each set of keys."""
    order = [*([] if features.on is None else [features.on]), *features.order_by]
    if not order:
        raise ValueError("Spark frames need on= or order_by=, because their rows have no order")
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
        own = [name for name in order if name not in keys]  # which are equal within a series
        yield {"partition_by": list(keys), "order_by": own, "aggs": aggs, **options[0]}


def _ordered(features: Features, found: DataFrame, df: DataFrame) -> DataFrame:
    """Return the columns of `df`, and the features in the order of the definition."""
    names = [*df.columns, *(column.name for column in features.columns)]
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
    """Return a column without the values that are not observations of a feature."""
    column = F.col(f"`{name}`")
    if feature.condition is not None:
        column = F.when(expression_of(feature.condition, df.columns, F.col), column)
    if features.is_finite(feature) and isinstance(df.schema[name].dataType, T.FractionalType):
        column = F.when(F.abs(column) != math.inf, column)
    return column
