"""Plan and submit a batch job: one exchange, one sort and one pass over the rows of every series."""

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.spark.aggregates import Aggregate, check_new_names, parse_window, plan_calls
from rollstat.spark.arrow_columns import Kind, kind_of
from rollstat.spark.batch_walk import Plan
from rollstat.spark.buckets import BUCKET, HALO, MAX_BUCKETS, Split, split_series
from rollstat.spark.column_references import ColumnLike, ColumnReferences
from rollstat.spark.expanding import STATE, carrying, with_states
from rollstat.spark.hash_collisions import WalkJob
from rollstat.spark.result_columns import with_results
from rollstat.spark.sort_prefix import HASH, hash_of, order_code, order_columns, prefix_of
from rollstat.spark.start import known_warnings
from rollstat.windows import Expanding, Forward

__all__ = ["check_frame", "plan_frame", "plan_rolling", "rolling", "with_plain_names"]

_UNORDERED = (T.MapType, T.VariantType)


def rolling(  # 13 parameters: one for each public option
    df: DataFrame,
    *,
    partition_by: ColumnLike | Sequence[ColumnLike] = (),
    order_by: ColumnLike | Sequence[ColumnLike],
    window: Any,
    aggs: Mapping[Any, Any] | Sequence[Aggregate],
    descending: bool | Sequence[bool] = False,
    ties: str = "columns",
    split: int | str | None = None,
    min_periods: int | None = None,
    center: bool = False,
    closed: str | None = None,
    nan_policy: str = "omit",
    algorithm: str = "auto",
) -> DataFrame:
    """Compute rolling statistics of every series of a data frame.

    Parameters
    ----------
    df : DataFrame
        Any frame. The result holds every row with all its columns, followed by the new columns.
    partition_by : str, Column, or sequence of them
        Columns whose values name the series of a row. As everywhere in Spark, null is a value of its own,
        NaN equals NaN, and -0.0 equals 0.0. A column is given by name, by a path into a struct
        (``"meta.sensor"``), or as a `Column` object. Case matters only if ``spark.sql.caseSensitive`` is on.
    order_by : str, Column, or sequence of them
        Columns that order the rows of a series. Together they should be unique within it.
    window : int, str, timedelta, float, Forward or Expanding
        A number of rows; or a width such as ``"10 minutes"``, ``"1 hour 30 minutes"`` or
        ``"interval '10' minute"`` on the first column of `order_by`, a date or timestamp; or a float, the
        width on a column of numbers.
    aggs : list or mapping
        A list of statistics such as ``[rs.median("x").alias("m"), rs.quantile("x", [0.25, 0.75])]``, where
        ``rs`` is `rollstat.spark`. Or new column name to ``(statistic, column)`` or ``(statistic, column,
        parameters)``, or to the result of :func:`rollstat.spark.aggregate`. The name of a statistic is that
        of the array function without ``rolling_``. A statistic with several results takes a tuple of names.
    descending : bool or sequence of bool
        Whether the order descends, for all columns or for each; nulls come last then.
    ties : {"columns", "error"}
        ``"columns"`` orders rows that tie in `order_by` by all other columns, ascending, from left to right
        (except maps and variants, which have no order), so the result does not depend on how Spark moves
        rows. ``"error"`` raises an error that names the row.
    split : int or "auto", optional
        Split series that are too long for one task (a task should take seconds) into this many overlapping
        buckets by the first column of `order_by`; ``"auto"`` chooses the number by their lengths. This reads
        that column immediately. Default: ``"auto"`` without `partition_by`, no splitting with it; 1 leaves a
        single series in one task.
    min_periods, center, closed, nan_policy, algorithm
        As in the array functions. Nulls and NaN are missing values, and a missing result is null.

    Returns
    -------
    DataFrame
        In no particular order, as after any exchange.

    Raises
    ------
    ValueError, TypeError
        For bad arguments, before any job starts.

    Notes
    -----
    The job is one exchange by the keys, one sort, and one pass over Arrow batches. A worker holds the rows of
    one window and one batch, regardless of the length of a series. Each result equals that of the array
    function on the sorted series: exactly for order statistics, extrema and integers.

    For expanding windows a worker holds a state instead: the k smallest values for a k-th smallest, or the
    state of an operator. A statistic without such a state, such as the median, holds its columns of a whole
    series; such series cannot be split.

    Splitting does not change results. A bucket is a series of its own, with a halo of the rows that its
    windows reach, which goes through the one exchange to each bucket that needs it. The frame must contain
    the same rows each time it is read. For expanding windows an additional pass makes the state at the start
    of each bucket. Sums of floats are then the same in each run, and within their error bound of the results
    of the array functions.

    Examples
    --------
    >>> from rollstat.spark import rolling
    >>> rolling(  # doctest: +SKIP
    ...     flights,
    ...     partition_by="carrier",
    ...     order_by=["time_hour", "flight"],
    ...     window=100,
    ...     aggs={"typical": ("median", "dep_delay"), "second": ("kth", "dep_delay", {"k": 2})},
    ... )
    """
    check_frame("df", df)
    if df.isStreaming:
        raise ValueError("df must be a batch frame; use rollstat.spark.rolling_stream for streams")
    options = {"min_periods": min_periods, "center": center, "closed": closed}
    options |= {"nan_policy": nan_policy, "algorithm": algorithm}
    how = {"descending": descending, "ties": ties, "options": options, "width": len(df.columns)}
    _, frame, plan, fields = plan_frame(df, partition_by, order_by, window, aggs, **how)
    plan, unbounded = carrying(plan)
    route = _choose_route(frame, plan, _check_split(split, bool(plan.keys), unbounded))
    return route.run(df.schema.fields, fields)


@dataclass(frozen=True)
class Route:
    """How the rows of a job reach the workers, and how the results come back.

    Attributes
    ----------
    rows : DataFrame
        The rows, in the partitions of the tasks.
    plan : Plan
        What to compute, in columns of `rows`.
    sort : list of Column
        What each partition is sorted by.
    hashed : Column or None
        The hash of the keys, if rows are sorted by it first.
    """

    rows: DataFrame
    plan: Plan
    sort: list[Column]
    hashed: Column | None

    def run(self, old: Sequence[T.StructField], fields: Sequence[T.StructField]) -> DataFrame:
        """Return the columns `old` of the caller, which are the first of the rows, and the new columns.

        Whole rows stay in Spark, and workers get only the needed columns and return only results, unless
        windows look ahead or rows hold states.
        """
        rows = self.rows
        new = [T.StructField(f"rollstat_new{i}", field.dataType) for i, field in enumerate(fields)]
        if self.plan.looks_ahead or STATE in rows.columns:
            hash_column = None
            if self.hashed is not None:
                rows, hash_column = rows.withColumn(HASH, self.hashed), len(rows.columns)
            # Rows that hold states have nulls everywhere; all others are as in the frame of the caller.
            pairs = zip(rows.columns, old)
            same = [T.StructField(name, f.dataType, f.nullable, f.metadata) for name, f in pairs]
            result = T.StructType([*same, *rows.schema[len(old) :], *new])
            with known_warnings():
                job = WalkJob(self.plan, hash_column)
                rows = rows.sortWithinPartitions(*self.sort).mapInArrow(job, result)
        else:
            rows = with_results(rows.sortWithinPartitions(*self.sort), self.plan, self.hashed, new)
        if HALO in rows.columns:
            rows = rows.where(~rows[HALO])
        names = [*rows.columns[: len(old)], *(field.name for field in new)]
        wanted = zip(names, [*old, *fields])
        return rows.select(*(rows[name].alias(field.name) for name, field in wanted))


def _choose_route(df: DataFrame, plan: Plan, split: int | str | None) -> Route:
    """Return the route of a job. Long series are split as `split` says."""
    schema, (rows, names) = df.schema, with_plain_names(df)
    keys = [names[index] for index in plan.keys]
    cut = _split(rows, keys, names[plan.order[0]], schema, plan, split)
    if cut is None:
        rows = rows.repartition(*(rows[name] for name in keys)) if keys else rows.repartition(1)
    else:
        plan = replace(plan, bucket=len(names), rows_before=cut.rows_before)
        rows = with_states(cut, plan, schema) if plan.carries_states else cut.rows
        rows = rows.repartitionById(cut.buckets, BUCKET)
    return Route(rows, plan, *_sort_columns(rows, plan, schema))


def _sort_columns(rows: DataFrame, plan: Plan, schema: T.StructType) -> tuple[list[Column], Column | None]:
    """Return what rows are sorted by, and the hash of the keys if it is a part of that."""
    columns = [rows[name] for name in rows.columns]
    keys, first = [columns[index] for index in plan.keys], plan.order[0]
    by = keys + order_columns([columns[index] for index in plan.order], plan.descending)
    by += [columns[index].asc() for index in plan.ties]
    code = columns[first], schema.fields[first].dataType, plan.descending[0]
    hashed = hash_of(keys) if keys else None
    prefix = None if hashed is None else prefix_of(hashed, *code)
    if plan.carries_states and plan.bucket is not None:
        # The states come before all rows.
        is_row = columns[plan.bucket + 1].isNull()
        prefix = order_code(*code) if prefix is None else prefix
        by.insert(0, is_row)
        if prefix is not None:
            prefix = F.when(~is_row, F.lit(-(2**63))).otherwise(prefix)
    return (by, None) if prefix is None else ([prefix, *by], hashed)


def _check_split(split: Any, keyed: bool, unbounded: str | None) -> int | str | None:
    """Return how to split long series, None for not at all; `unbounded` says why they cannot be split."""
    if unbounded is not None and split not in (None, 1):
        raise ValueError(f"split must be 1 for an expanding window of {unbounded}; it was {split!r}")
    if split is None:
        return None if keyed or unbounded is not None else "auto"
    whole = isinstance(split, numbers.Integral) and not isinstance(split, bool)
    if not (whole and 1 <= split <= MAX_BUCKETS) and split != "auto":
        raise ValueError(f"split must be 'auto' or lie in 1..{MAX_BUCKETS}; it was {split!r}")
    return None if split == 1 else split


def _split(
    rows: DataFrame, keys: list[str], order: str, schema: T.StructType, plan: Plan, split: int | str | None
) -> Split | None:
    """Return the buckets of all rows if some series must be split."""
    if split is None:
        return None
    name, data_type = plan.names[len(keys)], schema.fields[plan.order[0]].dataType
    what = f"order_by: {name!r}, by which long series are split,"
    try:
        kind = kind_of(data_type, what)
        if kind.coded:
            raise TypeError(f"{what} must have at most 18 digits; got {data_type.simpleString()}")
    except TypeError:
        if split == "auto":
            return None  # values without quantiles cannot be split
        raise
    return split_series(rows, keys, order, kind, plan, split)


def check_frame(name: str, df: Any) -> None:
    """Raise TypeError unless `df` is a Spark data frame; a pandas frame gets a hint."""
    if not isinstance(df, DataFrame):
        kind = f"{type(df).__module__}.{type(df).__qualname__}"
        raise TypeError(
            f"{name} must be a pyspark.sql.DataFrame; it was {kind}: spark.createDataFrame converts a "
            "pandas frame, and to_spark() one of pandas-on-Spark"
        )


def with_plain_names(df: DataFrame) -> tuple[DataFrame, list[str]]:
    """Return the frame and its column names, with new names if some are repeated or hold dots."""
    names = df.columns
    plain = all(name.isidentifier() and not name.lower().startswith("rollstat_") for name in names)
    if plain and len({name.lower() for name in names}) == len(names):
        return df, names
    numbered = [f"column{index}" for index in range(len(names))]
    return df.toDF(*numbered), numbered


def plan_frame(
    df: DataFrame, partition_by: Any, order_by: Any, window: Any, aggs: Any, **how: Any
) -> tuple[ColumnReferences, DataFrame, Plan, list[T.StructField]]:
    """Resolve names; return that, the frame with added columns, and what `plan_rolling` returns."""
    columns = ColumnReferences(df)
    keys, order = columns.names(partition_by, "partition_by"), columns.names(order_by, "order_by")
    named = columns.aggregates(aggs)
    frame, how = columns.frame(), {**how, "case_sensitive": columns.case_sensitive}
    return columns, frame, *plan_rolling(frame.schema, keys, order, window, named, **how)


def plan_rolling(
    schema: T.StructType,
    partition_by: str | Sequence[str],
    order_by: str | Sequence[str],
    window: Any,
    aggs: Any,
    *,
    descending: bool | Sequence[bool],
    ties: str,
    options: Mapping[str, Any],
    width: int | None = None,
    case_sensitive: bool = False,
) -> tuple[Plan, list[T.StructField]]:
    """Check all arguments against the columns; return the plan of the workers and the new columns.

    The result contains the first `width` columns of `schema`; None stands for all.
    """
    keys = _columns(schema, partition_by, "partition_by")
    order = _columns(schema, order_by, "order_by")
    if not order:
        raise ValueError("order_by must name at least one column: windows need an order of the rows")
    if both := set(keys) & set(order):
        raise ValueError(
            f"order_by must not name columns of partition_by; it named {', '.join(sorted(both))}"
        )
    down = _directions(descending, order)
    if ties not in ("columns", "error"):
        raise ValueError(f"ties must be 'columns' or 'error'; it was {ties!r}")
    _check_types(schema, keys, order)
    window = parse_window(window)
    time = _time_column(schema, order[0], window)
    checked = dict(options)
    if time is not None:
        checked["times"] = np.empty(0, time[1].times_dtype)
    calls, inputs, fields = plan_calls(aggs, schema, window, checked)
    check_new_names([field.name for field in fields], schema.names[:width], case_sensitive=case_sensitive)
    plan = Plan(
        keys=tuple(schema.names.index(name) for name in keys),
        order=tuple(schema.names.index(name) for name in order),
        descending=tuple(down),
        names=(*keys, *order),
        unique=ties == "error",
        ties=_tie_breakers(schema, {*keys, *order}, width) if ties == "columns" else (),
        inputs=tuple(
            (schema.names.index(name), kind_of(schema[name].dataType, name, strings=True)) for name in inputs
        ),
        time=time,
        calls=tuple(calls),
        window=window,
        options=dict(options),
        looks_ahead=bool(options.get("center")) or isinstance(window, Forward),
        numbers_rows=any(call.positions for call in calls),
    )
    return plan, fields


def _columns(schema: T.StructType, names: str | Sequence[str], argument: str) -> list[str]:
    """Return column names given as one name or several, each checked."""
    given = [names] if isinstance(names, str) else names
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{argument} must be a column name or a sequence of them; it was {names!r}")
    for name in given:
        if schema.names.count(name) != 1:
            found = "appears more than once" if name in schema.names else "is not among"
            raise ValueError(f"{argument}: column {name!r} {found}: {', '.join(schema.names)}")
    if len(set(given)) != len(given):
        raise ValueError(f"{argument} must name each column once; it was {names!r}")
    return list(given)


def _directions(descending: bool | Sequence[bool], order: Sequence[str]) -> list[bool]:
    """Return the direction of each order column."""
    given = [descending] * len(order) if isinstance(descending, bool) else descending
    if not isinstance(given, Sequence) or not all(isinstance(value, bool) for value in given):
        raise TypeError(f"descending must be True, False or a sequence of them; it was {descending!r}")
    if len(given) != len(order):
        raise ValueError(f"descending must have one entry for each of {list(order)}; it had {len(given)}")
    return list(given)


def _nested(data_type: T.DataType) -> Iterator[T.DataType]:
    """Yield a type and all types within it."""
    yield data_type
    within: list[T.DataType] = []
    if isinstance(data_type, T.StructType):
        within = [field.dataType for field in data_type]
    elif isinstance(data_type, T.ArrayType):
        within = [data_type.elementType]
    elif isinstance(data_type, T.MapType):
        within = [data_type.keyType, data_type.valueType]
    for part in within:
        yield from _nested(part)


def _contains(data_type: T.DataType, kinds: tuple[type[T.DataType], ...]) -> bool:
    return any(isinstance(part, kinds) for part in _nested(data_type))


def _check_types(schema: T.StructType, keys: Sequence[str], order: Sequence[str]) -> None:
    """Raise TypeError for keys that workers cannot compare, and for columns that Arrow cannot hold."""
    for argument, names in (("partition_by", keys), ("order_by", order)):
        for name in names:
            data_type = schema[name].dataType
            if _contains(data_type, _UNORDERED):
                raise TypeError(f"{argument}: {name!r} is {data_type.simpleString()}, which has no order")
    for name in keys:
        strings = [part for part in _nested(schema[name].dataType) if isinstance(part, T.StringType)]
        if not all(part.isUTF8BinaryCollation() for part in strings):
            raise TypeError(
                f"partition_by: {name!r} is {schema[name].dataType.simpleString()}; only strings of the "
                f"collation UTF8_BINARY are supported: add a column collation_key({name}) instead"
            )
    for field in schema:
        if _contains(field.dataType, (T.CalendarIntervalType, T.YearMonthIntervalType)):
            raise TypeError(
                f"column {field.name!r} is {field.dataType.simpleString()}, which Spark cannot pass to "
                "Python workers: drop it or cast it to a number"
            )


def _tie_breakers(schema: T.StructType, used: set[str], width: int | None) -> tuple[int, ...]:
    """Return the columns that order rows which tie in `order_by`."""
    free = [(index, field) for index, field in enumerate(schema.fields[:width]) if field.name not in used]
    return tuple(index for index, field in free if not _contains(field.dataType, _UNORDERED))


def _time_column(schema: T.StructType, name: str, window: Any) -> tuple[int, Kind] | None:
    """Return the column of times for a window by width; None for a window of rows."""
    rows = isinstance(window, numbers.Integral) and not isinstance(window, np.timedelta64)
    if rows or isinstance(window, (Forward, Expanding)):
        return None
    if isinstance(window, tuple) or hasattr(window, "get_window_bounds"):
        raise ValueError(
            f"window must be a number of rows, a width, Forward or Expanding on Spark; it was {window!r}"
        )
    kind = kind_of(schema[name].dataType, f"order_by: {name!r}")
    if kind.scaled:
        raise TypeError(f"order_by: {name!r} is {kind.spark.simpleString()}: cast it for windows by width")
    return schema.names.index(name), kind
