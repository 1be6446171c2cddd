"""How rows reach the workers, and how results come back: one exchange, one sort, one pass over each series.

Unless windows look ahead, whole rows stay in Spark::

    rows, sorted ---------- a queue in Spark ----------------> rows with results
          |                                                       ^
          +--> keys, order, inputs, hash --> walk --> results ----+     one per row, in the order of the rows

Returning rows is half of the cost of passing them to a worker, and windows need few columns of wide rows.
Spark sees a column computed by a function of the row. It may evaluate such a function anywhere: after a
filter, over fewer rows, or without a sort that seems unnecessary. So the function is declared
nondeterministic. Spark loses that mark when it separates the function from the columns made of it, so those
columns also depend on the number of the partition, and Spark moves no filter across that. It does move a
limit, which is harmless: a limit takes the first rows of a partition, and no window looks ahead.

The first sort column is a prefix, one 64-bit number that decides almost every comparison::

    bit   63          ...          32 31          ...          0
         |      hash of the keys     |  code of the first order column  |     rounded: close values are equal

Spark's sort keeps an eight-byte prefix of the first sort column beside each row and fetches two rows from
memory only if their prefixes tie. With few keys they almost always tie. The key and order columns after the
prefix decide ties. The code never decreases along the order, so the prefix never contradicts these columns.
Rows whose keys share a hash are interleaved; `batch_walk` splits them. Floats and 64-bit integers have codes
on a logarithmic scale, which tells integers up to 2**25 apart, and larger ones from a difference of 3e-8 on.

Source of the prefix: Graefe, Implementing sorting in database systems, 2006, section 4.2 (poor man's
normalized keys), https://doi.org/10.1145/1132960.1132964.
"""

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf

from rollstat.explanation import Explanation, Step
from rollstat.options import whole_number
from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import Aggregate
from rollstat.spark.arrow_columns import kind_of
from rollstat.spark.batch_walk import ResultsJob, WalkJob, WalkPlan
from rollstat.spark.buckets import BUCKET, HALO, MAX_BUCKETS, Split, split_series, without_bound
from rollstat.spark.expanding import STATE_SCHEMA, BucketStates, carrying, start_states
from rollstat.spark.labels import labels_of, with_labels
from rollstat.spark.request import (
    ColumnLike,
    ColumnReferences,
    Request,
    check_frame,
    filled,
    with_plain_names,
)
from rollstat.spark.start import known_warnings

HASH, _RESULTS = "rollstat_hash", "rollstat_results"
_ONE, _NUMBER = "rollstat_one", "rollstat_number"
_WANTED = ("partition_by", "order_by", "window", "aggs", "descending", "ties")
_OPTIONS = ("min_periods", "center", "closed", "equal_times", "nan_policy", "inf", "algorithm")
ORDER_BITS = 32
_HALF = 2 ** (ORDER_BITS - 1)
_LARGEST = 2.0**63  # larger numbers are clipped to this
_RESOLUTION = 2.0**20  # numbers closer to zero than its reciprocal become zero
_MAX_LOG = 60.0  # at least log1p of the largest number times the resolution
_EPOCH = 946_684_800  # seconds; timestamps within 68 years of the year 2000 get distinct codes


@known_warnings()
def rolling(  # 18 parameters: one for each public option
    df: DataFrame,
    *,
    partition_by: ColumnLike | Sequence[ColumnLike] = (),
    order_by: ColumnLike | Sequence[ColumnLike],
    window: Any = None,
    aggs: Mapping[Any, Any] | Sequence[Aggregate],
    descending: bool | Sequence[bool] = False,
    ties: str = "columns",
    split: int | str | None = None,
    at: DataFrame | None = None,
    min_periods: int | None = None,
    center: bool = False,
    closed: str | None = None,
    step: int | None = None,
    equal_times: str = "past",
    nan_policy: str = "omit",
    inf: str = "value",
    fill_value: Any = None,
    algorithm: str = "auto",
) -> DataFrame:
    """Compute rolling statistics of every series of a data frame.

    Parameters
    ----------
    df : DataFrame
        Any frame. The result holds every row with all its columns, followed by the new columns.
    partition_by : str, Column, or sequence of them
        Key columns: each combination of their values is a series. As everywhere in Spark, null is a value,
        NaN equals NaN, and -0.0 equals 0.0. Give a column by name, by a path into a struct
        (``"meta.sensor"``), or as a `Column` object. Names are case-sensitive only if
        ``spark.sql.caseSensitive`` is true.
    order_by : str, Column, or sequence of them
        Columns that order the rows of a series. Their combined values should be unique within a series.
    window : int, str, timedelta, float, DateOffset, Forward, Around or Expanding
        A number of rows; or a duration such as ``"10 minutes"``, ``"1 hour 30 minutes"`` or
        ``"interval '10' minute"`` if the first column of `order_by` is a date or timestamp; or a float if
        that column holds numbers; or calendar units, ``"1 month"`` or a pandas DateOffset, in the
        session's time zone for timestamps that have one. The window applies to statistics without ``over``;
        omit it if each has its own.
    aggs : list or mapping
        A list of statistics such as ``[rs.median("x").alias("m"), rs.quantile("x", [0.25, 0.75])]``, where
        ``rs`` is `rollstat.spark`. Or a mapping from new column names to ``(statistic, column)`` or
        ``(column, statistic)`` (pandas' order), to ``(statistic, column, parameters)``, or to the result of
        :func:`rollstat.spark.aggregate`. Statistics have the names of the array functions without
        ``rolling_``. A statistic with several results takes a tuple of names.
        ``rs.median("x").over("7 days", 100)`` has its own windows and adds new columns for each; their names
        end with the window.
    descending : bool or sequence of bool
        Whether the order descends, for all columns or for each; nulls then come last.
    ties : {"columns", "error"}
        ``"columns"`` orders rows that tie in `order_by` by all other columns, ascending, from left to right
        (except maps and variants, which have no order), so the result does not depend on how Spark
        distributes rows. ``"error"`` raises an error that names the row.
    split : int or "auto", optional
        Split series that are too long for one task (a task should take seconds) into this many overlapping
        buckets by the first column of `order_by`. The default, ``"auto"``, splits series of more than two
        million rows (with `partition_by`, only if they also have at least twice the rows of an average
        partition) and chooses the number of buckets. To find them, Spark reads a sample of the keys
        immediately; if series are split, it also reads the order column. 1 splits no series, and no job
        starts.
    at : DataFrame, optional
        Labels: compute the windows at their times instead. The frame has the columns of `partition_by` and
        the first column of `order_by`, with the same names and types, and any others. A window holds rows up
        to the time of the label, or only earlier rows with ``closed="left"``. The result holds every label
        once with all its columns, followed by the new columns. Windows that look ahead are not allowed.
    min_periods, center, closed, equal_times, nan_policy, inf, algorithm
        As in the array functions. Nulls and NaN are missing values, and a missing result is null.
    step : int, optional
        Return only every `step`-th row of each series, starting with its first row.
    fill_value : scalar, optional
        Replaces missing results; must be exactly representable in the type of each new column.

    Returns
    -------
    DataFrame
        The rows are in no particular order, as after any exchange.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, before any job starts.

    Notes
    -----
    The job has one exchange by the keys, one sort, and one pass over Arrow batches for all windows. A worker
    holds the rows of the widest window and one batch, regardless of the length of a series.
    Each result equals the array function's result on the sorted series: exactly for order statistics, extrema
    and integers.

    For expanding windows a worker holds a state instead: the k smallest values for a k-th smallest, or the
    state of an operator. A statistic without such a state, such as the median, holds its columns of a whole
    series; such series cannot be split.

    Splitting does not change results. A bucket is a separate series with a halo: the earlier rows that its
    windows contain. The same exchange sends the halo to each bucket that needs it. The frame must contain the
    same rows each time Spark reads it. For expanding windows an additional pass runs immediately and computes
    the state at the start of each bucket. Sums of floats are then the same in each run, and within their
    error bounds.

    Examples
    --------
    `flights` is a Spark data frame:

    >>> from rollstat.spark import rolling
    >>> rolling(  # doctest: +SKIP
    ...     flights,
    ...     partition_by="carrier",
    ...     order_by=["time_hour", "flight"],
    ...     window=100,
    ...     aggs={"typical": ("median", "dep_delay"), "second": ("kth", "dep_delay", {"k": 2})},
    ... )
    """
    return rolled(**locals())


def rolled(
    df: DataFrame,
    *,
    at: DataFrame | None = None,
    split: int | str | None = None,
    step: int | None = None,
    fill_value: Any = None,
    known: DataFrame | None = None,
    **given: Any,
) -> DataFrame:
    """Compute :func:`rolling`.

    Series are measured in `known` if given: rows with the keys and order of `df` that Spark reads faster.
    """
    rows = df
    if step is not None:
        every = whole_number("step", step, 1)
        if at is not None:
            raise ValueError("step does not apply to labels: pass fewer labels instead")
        rows, given["aggs"] = with_numbers(df, given["aggs"])
    frame, plan, unbounded, old = _planned(rows, at, **given)
    split = _check_split(split, unbounded)
    # The length of a local frame is known to be small.
    split = None if split == "auto" and plan.keys and (df if known is None else known).isLocal() else split
    rows, plan = _partitioned(frame, plan, split, known)
    new = [T.StructField(f"rollstat_new{i}", field.dataType) for i, field in enumerate(plan.fields)]
    rows = _with_whole_rows(rows, plan, new) if plan.looks_ahead else _with_results(rows, plan, new)
    if HALO in rows.columns:
        rows = rows.where(~rows[HALO])
    kept = [rows[name] for name in rows.columns[: len(old)]]
    if at is not None:
        rows, kept = labels_of(rows, plan, len(old))
    fields = new if step is None else new[:-1]
    made = [filled(rows[field.name], field.dataType, fill_value) for field in fields]
    made += [rows[field.name] for field in new[len(fields) :]]
    names = [*old, *(field.name for field in plan.fields)]
    result = rows.select(*(column.alias(name) for column, name in zip([*kept, *made], names)))
    return result if step is None else every_row(result, every)


def every_row(result: DataFrame, step: int) -> DataFrame:
    """Return every `step`-th row of a result whose last statistic is the number of each row."""
    return result.where(F.col(_NUMBER) % step == 0).drop(_ONE, _NUMBER)


def with_numbers(df: DataFrame, aggs: Any) -> tuple[DataFrame, Any]:
    """Return a frame and its statistics, with the number of each row as the last of them.

    The number is the position of the maximum in a window of the row alone.
    """
    options = {"min_periods": 1, "center": False, "closed": None, "equal_times": "past"}
    number = Aggregate("argmax", (_ONE,), {}, (_NUMBER,), (1,), options)
    numbered = {**aggs, _NUMBER: number} if isinstance(aggs, Mapping) else [*aggs, number]
    return df.withColumn(_ONE, F.lit(1)), numbered


def _planned(
    df: DataFrame, at: DataFrame | None, **given: Any
) -> tuple[DataFrame, WalkPlan, str | None, list[str]]:
    """Return the rows, what to compute, why series cannot be split, and the columns that the result keeps.

    Takes the arguments of :func:`rolling`.
    """
    check_frame("df", df)
    if at is not None:
        check_frame("at", at)
        if at.isStreaming:
            raise ValueError("at must be a batch frame; got a streaming frame")
    if df.isStreaming:
        raise ValueError("df must be a batch frame; got a stream: use rollstat.spark.rolling_stream")
    columns = ColumnReferences(df)
    zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
    given = {name: parameter.default for name, parameter in signature(rolling).parameters.items()} | given
    wanted, options = ({name: given[name] for name in names} for names in (_WANTED, _OPTIONS))
    request = Request(**wanted, options=options, zone=zone).by_name(columns)
    frame = columns.frame()
    old = df.columns if at is None else at.columns
    labels = None if at is None else old
    plan = request.plan(frame.schema, len(df.columns), case_sensitive=columns.case_sensitive, labels=labels)
    if at is not None:
        frame, plan = with_labels(frame, plan, at)
    plan, unbounded = carrying(plan)
    return frame, plan, f"an expanding window of {unbounded}" if unbounded else without_bound(plan), old


def _explanation(df: DataFrame, **arguments: Any) -> Explanation:
    """Return what :func:`rollstat.explain` shows of a call of `rolling`; no job starts."""
    bound = signature(rolling).bind(df, **arguments)
    bound.apply_defaults()
    _, plan, unbounded, _ = _planned(**bound.arguments)
    split = _check_split(bound.arguments["split"], unbounded)
    if plan.carries_states:
        reason = "a worker carries a state of each series"
    elif unbounded:
        reason = f"a worker holds whole series, because of {unbounded}"
    else:
        reason = "a worker holds the rows of the widest window"
    reason += "" if split is None else "; long series are split"
    steps = [Step(call.statistic, "all", reason) for call in plan.calls]
    kinds = sorted({str(window.given) for window in plan.windows})
    whole = "rollstat.spark.rolling", " and ".join(kinds), None, 0, 0, 0, tuple(steps), 1
    return Explanation(*whole, np.dtype(object), (), ())


rolling._explanation = _explanation  # type: ignore[attr-defined]  # read by rollstat.explain


def _partitioned(
    df: DataFrame, plan: WalkPlan, split: int | str | None, known: DataFrame | None
) -> tuple[DataFrame, WalkPlan]:
    """Return the rows in the partitions of the tasks, and what to compute in columns of these rows.

    Long series are split as `split` says; the rows of `known` have the same keys and order as those in `df`.
    """
    rows, names = with_plain_names(df)
    keys, order = [names[index] for index in plan.keys], names[plan.order[0]]
    if known is not None:
        chosen = (F.col(f"`{name}`") for name in plan.names[: len(keys) + 1])
        known = known.select(*chosen).toDF(*keys, order)
    elif plan.label is not None:
        known = rows.where(~rows[names[plan.label]])
    cut = _split(rows, rows if known is None else known, keys, order, plan, split)
    if cut is None:
        return rows.repartition(*(rows[name] for name in keys)) if keys else rows.repartition(1), plan
    lengths = cut.lengths if plan.label is None else {}  # labels were not counted
    plan = replace(plan, bucket=len(names), rows_before=cut.rows_before, lengths=lengths)
    rows = cut.rows
    if plan.carries_states:
        plan = replace(plan, start_states=_start_states(cut, plan))
        rows = rows.drop(HALO)  # no bucket has one
    return rows.repartitionById(cut.ends[-1], BUCKET), plan


def _with_whole_rows(rows: DataFrame, plan: WalkPlan, new: list[T.StructField]) -> DataFrame:
    """Return the rows and the new columns; whole rows go to the workers and come back."""
    sort, hashed = _sort_columns(rows, plan)
    hash_column = None if hashed is None else len(rows.columns)
    rows = rows if hashed is None else rows.withColumn(HASH, hashed)
    result = T.StructType([*rows.schema, *new])
    return rows.sortWithinPartitions(*sort).mapInArrow(WalkJob(plan, hash_column), result)


def _with_results(rows: DataFrame, plan: WalkPlan, new: list[T.StructField]) -> DataFrame:
    """Return the rows and the new columns; workers get only needed columns and return only results."""
    sort, hashed = _sort_columns(rows, plan)
    rows = rows.sortWithinPartitions(*sort)
    given = [rows[name] for name in rows.columns]
    indexes, plan = plan.narrowed()
    needed = [given[index] for index in indexes] + ([] if hashed is None else [hashed])
    job = ResultsJob(WalkJob(plan, None if hashed is None else len(indexes)))

    def rolling(columns: Any) -> Any:
        return job(columns)

    # Annotations tell Spark what the function takes and returns.
    taken: Any = Iterator[tuple[pa.Array, ...]] if len(needed) > 1 else Iterator[pa.Array]
    rolling.__annotations__ = {"columns": taken, "return": Iterator[pa.Array]}
    function = arrow_udf(rolling, returnType=T.StructType(new)).asNondeterministic()
    rows = rows.select(*given, function(*needed).alias(_RESULTS))
    here = F.spark_partition_id() >= F.lit(0)
    made = [F.when(here, rows[_RESULTS][field.name]).alias(field.name) for field in new]
    return rows.select(*(rows[name] for name in rows.columns[:-1]), *made)


def _sort_columns(rows: DataFrame, plan: WalkPlan) -> tuple[list[Column], Column | None]:
    """Return what rows are sorted by, and the hash of the keys if it is a part of that."""
    columns = [rows[name] for name in rows.columns]
    keys, first = [columns[index] for index in plan.keys], plan.order[0]
    order = zip(plan.order, plan.descending)
    by = [*keys, *(columns[index].desc() if down else columns[index].asc() for index, down in order)]
    by += [columns[index].asc() for index in plan.ties]
    code = order_code(columns[first], rows.schema.fields[first].dataType, plan.descending[0])
    hashed = hash_of(keys) if keys else None
    return (by, None) if hashed is None or code is None else ([_prefix(hashed, code), *by], hashed)


def _check_split(split: Any, unbounded: str | None) -> int | str | None:
    """Return how to split long series, None for not at all; `unbounded` says why they cannot be split."""
    if unbounded is not None and split not in (None, 1):
        raise ValueError(f"split must be 1 for {unbounded}; got {split!r}")
    if split is None:
        return None if unbounded is not None else "auto"
    whole = isinstance(split, numbers.Integral) and not isinstance(split, bool)
    if not (whole and 1 <= split <= MAX_BUCKETS) and split != "auto":
        raise ValueError(f"split must be 'auto' or lie in 1..{MAX_BUCKETS}; got {split!r}")
    return None if split == 1 else split


def _split(
    rows: DataFrame,
    known: DataFrame,
    keys: list[str],
    order: str,
    plan: WalkPlan,
    split: int | str | None,
) -> Split | None:
    """Return the buckets of all rows if some series must be split."""
    if split is None:
        return None
    name, data_type = plan.names[len(keys)], rows.schema[order].dataType
    what = f"order_by: {name!r}, by which long series are split,"
    try:
        kind = kind_of(data_type, what)
        if kind.coded:
            raise TypeError(f"{what} must have at most 18 digits; got {data_type.simpleString()}")
    except TypeError:
        if split == "auto":
            return None  # values without quantiles cannot be split
        raise
    return split_series(rows, known, keys, order, kind, plan, split)


def _start_states(split: Split, plan: WalkPlan) -> dict[int, bytes]:
    """Return the states before each bucket that has others before it, from a pass over the needed columns."""
    rows = split.rows
    inputs = [index for index, _ in plan.inputs]
    # If order does not matter, rows that tie in the needed columns are interchangeable.
    ordered = any(REGISTRY[call.statistic].ordered for call in plan.calls)
    ties = () if plan.unique else plan.ties if ordered else inputs
    job = replace(plan, keys=(), names=plan.names[len(plan.keys) :], unique=False, ties=tuple(ties))
    indexes, job = job.narrowed(ties)
    needed = rows.where(F.col(BUCKET) >= split.ends[0])
    needed = needed.select(*(needed.columns[index] for index in indexes))
    needed = needed.repartitionById(split.ends[-1], BUCKET)
    states = needed.sortWithinPartitions(*_sort_columns(needed, job)[0])
    table = states.mapInArrow(BucketStates(job), STATE_SCHEMA).toArrow()
    own = dict(zip(*(table[name].to_pylist() for name in ("bucket", "state"))))
    return start_states(plan, own, split.ends)


def hash_of(keys: Sequence[Column]) -> Column:
    """Return a 32-bit integer that is the same for equal keys."""
    return F.hash(*keys)


def _prefix(hashed: Column, code: Column) -> Column:
    """Return the number to sort by first, from the hash of the keys and the code of the order."""
    return F.shiftleft(hashed.cast("long"), ORDER_BITS) + code


def order_code(order: Column, data_type: T.DataType, descending: bool) -> Column | None:
    """Return the lower half of the prefix, which is never negative; None for a type that has no code."""
    code = _code(order, data_type)
    if code is None:
        return None
    code = F.when(order.isNull(), F.lit(0)).otherwise(code)  # `least` would ignore a null
    return F.lit(2 * _HALF - 1) - code if descending else code


def _code(column: Column, data_type: T.DataType) -> Column | None:
    """Return an integer of `ORDER_BITS` bits that never decreases where the column increases."""
    if isinstance(data_type, (T.ByteType, T.ShortType, T.IntegerType)):
        return column.cast("long") + F.lit(_HALF)
    if isinstance(data_type, (T.LongType, T.FloatType, T.DoubleType)):
        # Java's log1p rounds monotonically. Both `least` and `<` of Spark put NaN above every number.
        number = column.cast("double")
        size = F.log1p(F.least(F.abs(number), F.lit(_LARGEST)) * F.lit(_RESOLUTION)) * F.lit(1 / _MAX_LOG)
        signed = F.when(number < F.lit(0.0), -size).otherwise(size)
        return ((signed + F.lit(1.0)) * F.lit(float(_HALF))).cast("long")
    if isinstance(data_type, T.DateType):
        return F.unix_date(column).cast("long") + F.lit(_HALF)
    if isinstance(data_type, T.TimestampType):
        # Shift first: subtracting from the smallest long, which is a valid timestamp, would overflow.
        seconds = F.shiftright(F.unix_micros(column), 20) - F.lit(_EPOCH * 1_000_000 >> 20)
    elif isinstance(data_type, T.TimestampNTZType):
        epoch = F.lit("2000-01-01 00:00:00").cast(data_type)
        seconds = F.timestamp_diff("SECOND", epoch, column)
    else:
        return None
    return F.least(F.greatest(seconds, F.lit(-_HALF)), F.lit(_HALF - 1)) + F.lit(_HALF)
