"""Rolling statistics of every series of a data frame: one exchange, one sort, one pass."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.spark.aggregate_spec import parse_window, plan_calls
from rollstat.spark.arrow_columns import Kind, kind_of
from rollstat.spark.batch_walk import Plan
from rollstat.spark.bucket_plan import MOST_BUCKETS, PART, Parts, find_parts, reach_of
from rollstat.spark.carried_states import asks_for_rows
from rollstat.spark.expanding_plan import STATE, order_of, with_states
from rollstat.spark.expanding_walk import CarriedPlan, carrying
from rollstat.spark.hash_collisions import MixedPlan
from rollstat.spark.result_columns import small_halos, with_results
from rollstat.spark.sort_prefix import HASH, hash_of, place_of, prefix_of
from rollstat.spark.warnings_filter import known_warnings
from rollstat.windows import Expanding, Forward

__all__ = ["check_frame", "plainly_named", "plan_rolling", "rolling"]

_UNORDERED = (T.MapType, T.VariantType)


def rolling(
    df: DataFrame,
    *,
    partition_by: str | Sequence[str] = (),
    order_by: str | Sequence[str],
    window: Any,
    aggs: Mapping[Any, Any],
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
        Any frame; every row comes back, all columns unchanged, with the new columns after them.
    partition_by : str or sequence of str
        Columns whose values name the series that a row belongs to. As everywhere in Spark null is a
        value of its own, NaN equals NaN, and -0.0 equals 0.0.
    order_by : str or sequence of str
        Columns that order the rows of a series; together they should tell all rows of it apart.
    window : int, str, timedelta, float, Forward or Expanding
        A number of rows; or a width such as ``"10 minutes"`` on the first column of `order_by`, a date
        or timestamp; or a float, the width on a column of numbers.
    aggs : mapping
        New column name to ``(statistic, column)`` or ``(statistic, column, parameters)``, or to what
        :func:`rollstat.spark.aggregate` gives. A statistic is named as in the array functions without
        ``rolling_``. One that gives several results takes a tuple of names.
    descending : bool or sequence of bool
        Whether the order descends, for all columns or for each; nulls come last then.
    ties : {"columns", "error"}
        What orders rows that tie in `order_by`: all other columns, ascending, from left to right (maps
        and variants have no order and are left out), so that the result does not depend on how Spark
        moves rows about; or it is an error that names the row.
    split : int or "auto", optional
        Cut series that are too long for one task, about so many rows that a task takes seconds, into
        this many overlapping buckets by the first column of `order_by`; ``"auto"`` chooses by their
        lengths. This looks at that column at once. Without `partition_by` it is ``"auto"`` unless said
        otherwise, with it nothing is cut unless asked for; 1 leaves a single series in one task.
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
    The plan is one exchange by the keys, one sort, and one pass over Arrow batches. A worker holds
    the rows of one window and one batch, whatever the length of a series. Each result equals that of
    the array function on the sorted series: to the bit for order statistics, extrema and whole numbers.
    For expanding windows a worker holds a state instead: the k smallest for a k-th smallest, or that of an
    operator; only where a statistic has none, as a median, the columns of a whole series that it needs, and
    such series are not cut.
    Where a series is cut makes no difference to that: rows that windows of another bucket reach travel with
    the code of the tasks, or if they are many through the one exchange, and each bucket is walked over as a
    series of its own; the frame must give the same rows each time that it is read. For expanding windows
    a pass before that makes the states from which buckets start; floating sums are then the same at each run,
    and within their bound of those of the array functions.

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
        raise ValueError("df must be a batch frame; rollstat.spark.rolling_stream serves streams")
    options = {"min_periods": min_periods, "center": center, "closed": closed}
    options |= {"nan_policy": nan_policy, "algorithm": algorithm}
    schema = df.schema
    plan, fields = plan_rolling(
        schema, partition_by, order_by, window, aggs, descending=descending, ties=ties, options=options
    )
    plan, unbounded = carrying(plan)
    rows, places = plainly_named(df)
    keys = [places[place] for place in plan.keys]
    order = [places[place] for place in plan.order]
    parts = _parts(rows, keys, order[0], schema, plan, _check_split(split, bool(keys), unbounded))
    width = len(places)
    rest = _tie_breakers(schema, {*plan.keys, *plan.order}) if ties == "columns" else []
    beside = not plan.ahead and not isinstance(plan, CarriedPlan)
    halos = None
    if parts is not None:
        plan = replace(plan, width=width, parts=width, before=parts.before)
        frame = parts.frame
        if isinstance(plan, CarriedPlan):
            frame = with_states(parts, plan, [field.dataType for field in schema], rest)
        elif beside:
            hashed, by = _sorting(frame, places, plan, schema, rest, carried=False)
            halos = small_halos(parts, plan, hashed, by)
            frame = frame if halos is None else parts.alone
        rows = frame.repartitionById(parts.count, PART)
    else:
        rows = rows.repartition(*(rows[name] for name in keys)) if keys else rows.repartition(1)
    carried = parts is not None and isinstance(plan, CarriedPlan)
    hashed, by = _sorting(rows, places, plan, schema, rest, carried=carried)
    if beside and (parts is None or halos is not None):
        return with_results(rows.sortWithinPartitions(*by), plan, hashed, schema.names, fields, halos)
    whole = replace(plan, width=width)
    job = whole if hashed is None else MixedPlan(whole, len(rows.columns))
    rows = rows if hashed is None else rows.withColumn(HASH, hashed)
    with known_warnings():
        return rows.sortWithinPartitions(*by).mapInArrow(job, T.StructType([*schema.fields, *fields]))


def _sorting(
    rows: DataFrame,
    places: Sequence[str],
    plan: Plan,
    schema: T.StructType,
    rest: Sequence[int],
    *,
    carried: bool,
) -> tuple[Column | None, list[Column]]:
    """The hash of the keys, if rows are sorted by it first, and all that they are sorted by."""
    keys = [places[place] for place in plan.keys]
    order = [places[place] for place in plan.order]
    by = [rows[name] for name in keys] + order_of(rows, order, plan.descending)
    by += [rows[places[place]].asc() for place in rest]
    first, kind = rows[order[0]], schema.fields[plan.order[0]].dataType
    hashed = hash_of(by[: len(keys)]) if keys else None
    prefix = None if hashed is None else prefix_of(hashed, first, kind, plan.descending[0])
    if carried:
        # The states stand before all rows.
        prefix = place_of(first, kind, plan.descending[0]) if prefix is None else prefix
        by.insert(0, rows[STATE].isNull())
        if prefix is not None:
            prefix = F.when(rows[STATE].isNotNull(), F.lit(-(2**63))).otherwise(prefix)
    if prefix is None:
        hashed = None
    else:
        by.insert(0, prefix)
    return hashed, by


def _check_split(split: Any, keyed: bool, unbounded: str | None) -> int | str | None:
    """How to cut long series; None not to look for them. Some statistic may need all rows, and why."""
    if unbounded is not None and split not in (None, 1):
        raise ValueError(f"split must be 1 for an expanding window of {unbounded}; it was {split!r}")
    if split is None:
        return None if keyed or unbounded is not None else "auto"
    whole = isinstance(split, numbers.Integral) and not isinstance(split, bool)
    if not (whole and 1 <= split <= MOST_BUCKETS) and split != "auto":
        raise ValueError(f"split must be 'auto' or lie in 1..{MOST_BUCKETS}; it was {split!r}")
    return None if split == 1 else split


def _parts(
    rows: DataFrame, keys: list[str], order: str, schema: T.StructType, plan: Plan, split: int | str | None
) -> Parts | None:
    """Where every row goes if series have to be cut."""
    if split is None:
        return None
    what = schema.fields[plan.order[0]].dataType
    try:
        kind = kind_of(what, f"order_by: {plan.names[len(keys)]!r}")
    except TypeError as error:
        if split == "auto":
            return None  # values without quantiles cannot be cut
        raise TypeError(f"{error}; series are split by the values of that column") from None
    time = None if plan.time is None else plan.time[1]
    reach = reach_of(plan.window, dict(plan.options), time, kind)
    if isinstance(plan, CarriedPlan):
        counted = any(asks_for_rows(call.statistic, call.parameters) for call in plan.calls)
    else:
        counted = any(call.positions for call in plan.calls)
    return find_parts(rows, keys, order, kind, plan.descending[0], reach, split, counted)


def check_frame(name: str, df: Any) -> None:
    """Refuse what is no data frame of Spark, such as one of pandas."""
    if not isinstance(df, DataFrame):
        kind = f"{type(df).__module__}.{type(df).__qualname__}"
        raise TypeError(
            f"{name} must be a pyspark.sql.DataFrame; it was {kind}: spark.createDataFrame takes one of "
            "pandas, to_spark() gives one of pandas-on-Spark"
        )


def plainly_named(df: DataFrame) -> tuple[DataFrame, list[str]]:
    """Frame whose columns can all be named, where some names are there twice or hold dots, and the names."""
    names = df.columns
    plain = all(name.isidentifier() and not name.lower().startswith("rollstat_") for name in names)
    if plain and len({name.lower() for name in names}) == len(names):
        return df, names
    numbered = [f"column{place}" for place in range(len(names))]
    return df.toDF(*numbered), numbered


def plan_rolling(
    schema: T.StructType,
    partition_by: str | Sequence[str],
    order_by: str | Sequence[str],
    window: Any,
    aggs: Mapping[Any, Any],
    *,
    descending: bool | Sequence[bool],
    ties: str,
    options: Mapping[str, Any],
) -> tuple[Plan, list[T.StructField]]:
    """Check all arguments against the columns: what the workers are to do, and the new columns."""
    keys = _columns(schema, partition_by, "partition_by")
    order = _columns(schema, order_by, "order_by")
    if not order:
        raise ValueError("order_by must name at least one column: a window has no meaning without an order")
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
        checked["times"] = np.empty(0, _time_dtype(time[1]))
    calls, inputs, fields = plan_calls(aggs, schema, window, checked)
    plan = Plan(
        keys=tuple(schema.names.index(name) for name in keys),
        order=tuple(schema.names.index(name) for name in order),
        descending=tuple(down),
        names=(*keys, *order),
        unique=ties == "error",
        inputs=tuple((schema.names.index(name), kind_of(schema[name].dataType, name)) for name in inputs),
        time=time,
        calls=tuple(calls),
        window=window,
        options=dict(options),
        ahead=bool(options.get("center")) or isinstance(window, Forward),
    )
    return plan, fields


def _columns(schema: T.StructType, names: str | Sequence[str], argument: str) -> list[str]:
    """Check column names given as one or several."""
    given = [names] if isinstance(names, str) else names
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{argument} must be a column name or a sequence of them; it was {names!r}")
    for name in given:
        if schema.names.count(name) != 1:
            found = "is there more than once" if name in schema.names else "is not among"
            raise ValueError(f"{argument}: column {name!r} {found}: {', '.join(schema.names)}")
    if len(set(given)) != len(given):
        raise ValueError(f"{argument} must name each column once; it was {names!r}")
    return list(given)


def _directions(descending: bool | Sequence[bool], order: Sequence[str]) -> list[bool]:
    given = [descending] * len(order) if isinstance(descending, bool) else descending
    if not isinstance(given, Sequence) or not all(isinstance(value, bool) for value in given):
        raise TypeError(f"descending must be True, False or a sequence of them; it was {descending!r}")
    if len(given) != len(order):
        raise ValueError(f"descending must have one entry for each of {list(order)}; it had {len(given)}")
    return list(given)


def _has(data_type: T.DataType, kinds: tuple[type[T.DataType], ...]) -> bool:
    """Whether a type is, or holds, one of some types."""
    if isinstance(data_type, T.StructType):
        return any(_has(field.dataType, kinds) for field in data_type)
    if isinstance(data_type, T.ArrayType):
        return _has(data_type.elementType, kinds)
    if isinstance(data_type, T.MapType):
        return T.MapType in kinds or _has(data_type.keyType, kinds) or _has(data_type.valueType, kinds)
    return isinstance(data_type, kinds)


def _check_types(schema: T.StructType, keys: Sequence[str], order: Sequence[str]) -> None:
    """Refuse keys that cannot be compared by the workers, and columns that Arrow cannot carry."""
    for argument, names in (("partition_by", keys), ("order_by", order)):
        for name in names:
            data_type = schema[name].dataType
            if _has(data_type, _UNORDERED):
                raise TypeError(f"{argument}: {name!r} is {data_type.simpleString()}, which has no order")
    for name in keys:
        if _collated(schema[name].dataType):
            raise TypeError(
                f"partition_by: {name!r} is {schema[name].dataType.simpleString()}; only strings of the "
                f"collation UTF8_BINARY are compared here: add a column collation_key({name}) instead"
            )
    for field in schema:
        if _has(field.dataType, (T.CalendarIntervalType, T.YearMonthIntervalType)):
            raise TypeError(
                f"column {field.name!r} is {field.dataType.simpleString()}, which Spark does not hand to "
                "Python workers: drop it or cast it to a number"
            )


def _collated(data_type: T.DataType) -> bool:
    """Whether equality of a type is not that of its bytes."""
    if isinstance(data_type, T.StructType):
        return any(_collated(field.dataType) for field in data_type)
    if isinstance(data_type, T.ArrayType):
        return _collated(data_type.elementType)
    return isinstance(data_type, T.StringType) and not data_type.isUTF8BinaryCollation()


def _tie_breakers(schema: T.StructType, used: set[int]) -> list[int]:
    """Columns that order what `order_by` leaves open."""
    free = [place for place in range(len(schema.fields)) if place not in used]
    return [place for place in free if not _has(schema.fields[place].dataType, _UNORDERED)]


def _time_column(schema: T.StructType, name: str, window: Any) -> tuple[int, Kind] | None:
    """Column of times for a window by width, None for a window of rows."""
    rows = isinstance(window, numbers.Integral) and not isinstance(window, np.timedelta64)
    if rows or isinstance(window, (Forward, Expanding)):
        return None
    if isinstance(window, tuple) or hasattr(window, "get_window_bounds"):
        raise ValueError(
            f"window must be a number of rows, a width, Forward or Expanding on Spark; it was {window!r}"
        )
    kind = kind_of(schema[name].dataType, f"order_by: {name!r}")
    if kind.whole:
        raise TypeError(f"order_by: {name!r} is {kind.spark.simpleString()}: cast it for windows by width")
    return schema.names.index(name), kind


def _time_dtype(kind: Kind) -> np.dtype[Any]:
    """Dtype of the times as workers have them."""
    return np.dtype("M8[us]") if kind.dtype.kind == "M" else kind.dtype
