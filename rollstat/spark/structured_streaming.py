"""Structured streaming: rows come in micro-batches, and each series keeps the rows that its windows reach.

::

    rows -- pack --> one message per key and batch -- group by key --> series with state -- unpack --> rows

Whole rows pass through Spark's stateful operator as Arrow messages, so every type comes back unchanged. The
state of a series is a snapshot: the rows that windows of later rows reach (only the columns that statistics
need), the last row returned and, with a watermark, the rows that wait for it. It does not depend on the
kernels, so a newer rollstat continues where an older one stopped. Each partition of the state also holds the
definition of the stream, which is compared with that of the restarted query before any row is processed.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorHandleState

from rollstat.spark.aggregates import parse_window
from rollstat.spark.arrow_columns import equal, run_starts
from rollstat.spark.batch_walk import WalkPlan
from rollstat.spark.request import ColumnLike, ColumnReferences, Request, check_frame, with_plain_names
from rollstat.spark.route import HASH, hash_of
from rollstat.spark.start import ROCKS_DB, STATE_STORE, known_warnings
from rollstat.spark.stream_series import (
    LATE,
    NULL_TIME,
    RETURNED,
    Series,
    check_restart,
    definition_of,
    read_message,
    width_in_microseconds,
    write_message,
)
from rollstat.windows import Expanding

_MESSAGE, _FATE = "rollstat_message", "rollstat_fate"
_WATERMARK = "spark.watermarkDelayMs"  # by this metadata Spark knows the event time column of a frame
_MANY_OPERATORS = "spark.sql.streaming.statefulOperator.allowMultiple"
_SETS_WATERMARK = re.compile(r"^[\s:+-]*EventTimeWatermark\b", re.MULTILINE)  # an operator of a printed plan


@known_warnings()
def rolling_stream(  # 14 parameters: one for each public option
    df: DataFrame,
    *,
    partition_by: ColumnLike | Sequence[ColumnLike],
    order_by: ColumnLike | Sequence[ColumnLike],
    window: Any,
    aggs: Any,
    watermark: str | None = None,
    ttl: Any = None,
    initial: DataFrame | None = None,
    metrics: str = "rollstat",
    min_periods: int | None = None,
    center: bool = False,
    closed: str | None = None,
    nan_policy: str = "omit",
    algorithm: str = "auto",
) -> DataFrame:
    """Compute rolling statistics of every series of a stream.

    Parameters
    ----------
    df : DataFrame
        A streaming frame. The result holds every row once with all its columns, followed by the new
        columns.
    partition_by : str, Column, or sequence of them
        Columns whose values name the series of a row, at least one, given as in
        :func:`rollstat.spark.rolling`.
    order_by : str, Column, or sequence of them
        Columns that order the rows of a series: integers, strings, dates or timestamps. Rows that tie are
        ordered by the other columns, as by :func:`rollstat.spark.rolling`, if one micro-batch returns them.
        With a watermark that is so for all rows of one time. Without a watermark a row that ties with a row
        of an earlier micro-batch comes after that row, and a warning in the log of the worker says so. Rows
        in which the first column is null are dropped and counted.
    window : int, str, timedelta
        A number of rows, or a width of time on the first column of `order_by`, in rollstat's or in Spark's
        notation.
    aggs : list or mapping
        As in :func:`rollstat.spark.rolling`.
    watermark : str, optional
        How late rows may arrive, such as ``"10 minutes"``; the first column of `order_by` must be a
        timestamp. Rows then wait until no earlier row can arrive, and are returned in order. The first column
        of `order_by` keeps this watermark in the result if it is a column of `df` itself. Without a watermark
        the rows of a micro-batch are returned immediately. Leave it out if `df` already has a watermark,
        because Spark takes one only: the results of windowed aggregates and of another call with a watermark
        are in order.
    ttl : str or timedelta, optional
        Forget a series after this time without a row, such as ``"7 days"``; its next row starts a new series.
        With a watermark this is event time, otherwise processing time. With a watermark and a time window, a
        series is forgotten even without `ttl` as soon as its rows have left the window, unless a statistic
        returns positions.
    initial : DataFrame, optional
        A batch frame with the same columns, of the same types, whose rows come before the stream. If the
        window is a width, no row may be null in the first column of `order_by`; otherwise such rows come
        first.
    metrics : str
        Name under which each progress report of the query counts the ``rows`` returned and the rows dropped:
        ``late`` rows come before a row that was already returned, or are not after the watermark, and in
        ``null_time`` rows the first column of `order_by` is null. Each call in a query needs another name.
    min_periods, closed, nan_policy, algorithm
        As in the array functions.
    center : bool
        Must be False: the newest row of a stream has no later rows.

    Returns
    -------
    DataFrame
        A streaming frame, for the output mode ``append``.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For bad arguments and missing requirements, before the stream starts. A query restarted from a
        checkpoint with a different definition fails before it processes a row, with a message that names what
        changed. It may add statistics over the same columns, or take a smaller window.

    Notes
    -----
    Each row is returned exactly once, even if the query is stopped or killed, provided that the sink writes
    each micro-batch once. Results equal those of :func:`rollstat.spark.rolling` over the rows returned so
    far, unless rows of several micro-batches tie in `order_by` and there is no watermark. The state store
    must be RocksDB; :func:`rollstat.spark.session` sets it.

    With `ttl` but without a watermark, Spark also runs batches without rows to look for expired state, so a
    query with the trigger ``availableNow`` ends only if ``spark.sql.streaming.noDataMicroBatches.enabled`` is
    false.

    Examples
    --------
    >>> from rollstat.spark import rolling_stream
    >>> result = rolling_stream(  # doctest: +SKIP
    ...     readings,
    ...     partition_by="sensor",
    ...     order_by="time",
    ...     window="1 hour",
    ...     aggs={"typical": ("median", "value")},
    ...     watermark="5 minutes",
    ... )
    """
    _check_frames(df, initial, center)
    options = {"min_periods": min_periods, "center": False, "closed": closed}
    options |= {"nan_policy": nan_policy, "algorithm": algorithm}
    references = ColumnReferences(df)
    request = Request(partition_by, order_by, window, aggs, options).by_name(references)
    df = references.frame()
    plan, fields = request.plan(df.schema, case_sensitive=references.case_sensitive)
    _check(df, plan, watermark)
    if initial is not None:
        initial = references.frame(initial)
        _check_initial(initial, df, plan)
    rows, columns = with_plain_names(df)
    names = [columns[index] for index in plan.keys]
    given = list(df.schema.fields)
    if watermark is not None:
        time = plan.order[0]
        rows = rows.withWatermark(columns[time], watermark)
        delay = rows.schema.fields[time].metadata[_WATERMARK]
        field = given[time]
        metadata = {**field.metadata, _WATERMARK: delay}
        given[time] = T.StructField(field.name, field.dataType, field.nullable, metadata)
    by_key = T.StructType(
        [T.StructField(name, df.schema.fields[i].dataType) for name, i in zip(names, plan.keys)]
    )
    packed = T.StructType([*by_key, T.StructField(_MESSAGE, T.BinaryType())])
    processor = _Processor(
        plan,
        definition_of(plan, df.schema, fields, watermark, ttl),
        waits=watermark is not None,
        keep=_kept_for(plan, watermark, ttl),
    )
    start = None
    if initial is not None:
        start = _states(initial, plan, packed).groupBy(*names)
    hashed = rows.withColumn(HASH, hash_of([rows[name] for name in names]))
    messages = hashed.mapInArrow(Pack(plan.keys), packed)
    answers = messages.groupBy(*names).transformWithState(
        processor,
        T.StructType([T.StructField(_MESSAGE, T.BinaryType())]),
        outputMode="append",
        timeMode=processor.time_mode,
        initialState=start,
    )
    fate = T.StructField(_FATE, T.ByteType())
    result = answers.mapInArrow(_unpack, T.StructType([*given, *fields, fate]))
    fates = {"rows": RETURNED, "late": LATE, "null_time": NULL_TIME}
    counts = [F.count_if(F.col(_FATE) == number).alias(name) for name, number in fates.items()]
    return result.observe(metrics, *counts).where(F.col(_FATE) == RETURNED).drop(_FATE, *references.added)


def _check_frames(df: DataFrame, initial: DataFrame | None, center: bool) -> None:
    """Raise an error for frames of the wrong kind, and for centred windows."""
    check_frame("df", df)
    if initial is not None:
        check_frame("initial", initial)
    if not df.isStreaming:
        raise ValueError("df must be a streaming frame; use rollstat.spark.rolling for batch frames")
    if center:
        raise ValueError(
            "center must be False on a stream: a centred window needs rows that have not arrived yet; "
            f"got {center!r}"
        )
    if initial is not None and (initial.isStreaming or initial.schema.names != df.schema.names):
        raise ValueError(f"initial must be a batch frame with the columns {', '.join(df.schema.names)}")


def _check_initial(initial: DataFrame, df: DataFrame, plan: WalkPlan) -> None:
    """Raise TypeError for types that differ in columns of the state."""
    for index in plan.narrowed()[0]:
        given, wanted = (frame.schema.fields[index].dataType.simpleString() for frame in (initial, df))
        if given != wanted:
            raise TypeError(
                f"initial must have the column types of df; {df.schema.names[index]!r} was {given} "
                f"instead of {wanted}"
            )


def _kept_for(plan: WalkPlan, watermark: str | None, ttl: Any) -> int | None:
    """Return for how many microseconds a series without new rows is kept; None for ever."""
    needed = width_in_microseconds(plan.window) if plan.time is not None else 0
    if ttl is None:
        bounded = watermark is not None and plan.time is not None and not plan.numbers_rows
        return needed if bounded else None
    try:
        kept = width_in_microseconds(parse_window(ttl))
    except ValueError:
        kept = 0
    if kept < 1000:
        raise ValueError(f"ttl must be a width of at least a millisecond, such as '7 days'; got {ttl!r}")
    if watermark is not None and kept < needed:
        raise ValueError(f"ttl must be at least as long as the window, {plan.window!r}; got {ttl!r}")
    return kept


def _has_watermark(df: DataFrame) -> bool:
    """Return whether an operator of the plan sets a watermark, and Spark's setting forbids a second one."""
    if df.sparkSession.conf.get(_MANY_OPERATORS, "true") != "true":
        return False
    with redirect_stdout(io.StringIO()) as text:
        df.explain(extended=True)
    return _SETS_WATERMARK.search(text.getvalue()) is not None


def _check(df: DataFrame, plan: WalkPlan, watermark: str | None) -> None:
    """Raise an error for what a stream cannot do."""
    if not plan.keys:
        raise ValueError("partition_by must name at least one column, whose values identify the series")
    if plan.looks_ahead:
        raise ValueError("window must not look ahead of its row on a stream")
    if isinstance(plan.window, Expanding):
        raise ValueError("window must be a number of rows or a width on a stream; got Expanding")
    for index in plan.order:
        field = df.schema.fields[index]
        if isinstance(field.dataType, (T.FloatType, T.DoubleType, T.StructType, T.ArrayType)):
            raise TypeError(
                f"order_by: {field.name!r} is {field.dataType.simpleString()}; a stream is ordered by "
                "integers, strings, dates or timestamps"
            )
    first = df.schema.fields[plan.order[0]]
    if watermark is not None and not isinstance(first.dataType, T.TimestampType):
        raise TypeError(
            f"order_by: {first.name!r} is {first.dataType.simpleString()}; a watermark needs a timestamp"
        )
    if watermark is not None and _has_watermark(df):
        raise ValueError(
            "watermark must be left out if df already has a watermark: with a second one Spark fails or "
            f"waits for ever; got {watermark!r}. Windowed aggregates and rolling_stream with a watermark "
            "return rows in order; before other operators remove withWatermark"
        )
    nested = [df.schema.fields[index] for index in plan.keys]
    nested = [field for field in nested if isinstance(field.dataType, (T.StructType, T.ArrayType))]
    if watermark is not None and nested and pyspark.__version__.startswith("4.1."):
        raise RuntimeError(
            f"partition_by: {nested[0].name!r} is {nested[0].dataType.simpleString()}, for which pyspark 4.1 "
            "cannot wait for a watermark: name its fields, or use a newer pyspark"
        )
    if df.sparkSession.conf.get(STATE_STORE) != ROCKS_DB:
        raise RuntimeError(f"streams with state need RocksDB: spark.conf.set({STATE_STORE!r}, {ROCKS_DB!r})")


@dataclass(frozen=True)
class Pack:
    """Packs the rows of each key of a batch, whose last column is the hash of the keys, into one message."""

    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            # Equal keys have equal hashes; a key that shares one costs only further messages.
            order = np.argsort(batch.column(batch.num_columns - 1).to_numpy(), kind="stable")
            batch = batch.take(pa.array(order)).select(range(batch.num_columns - 1))
            keys = batch.select(list(self.keys))
            starts = run_starts(keys.columns)
            messages = [write_message(batch.slice(a, b - a)) for a, b in pairwise(starts)]
            keys = keys.take(pa.array(starts[:-1]))
            yield keys.append_column(_MESSAGE, pa.array(messages, pa.binary()))


def _unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of messages."""
    for batch in batches:
        for message in batch.column(0):
            yield from read_message(message.as_py())


class _Processor(StatefulProcessor):  # type: ignore[misc]  # pyspark leaves its base untyped
    """Keeps the state of each series.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    definition : str
        From :func:`definition_of`.
    waits : bool
        Whether rows wait for a watermark.
    keep : int or None
        Microseconds after which a series without new rows is forgotten.
    """

    def __init__(self, plan: WalkPlan, definition: str, *, waits: bool, keep: int | None) -> None:
        self.plan = plan
        self.definition = definition
        self.waits = waits
        self.keep = keep

    @property
    def time_mode(self) -> str:
        """Spark's name of the clock that timers and the age of state follow."""
        if self.waits:
            return "eventTime"
        return "none" if self.keep is None else "processingTime"

    def init(self, handle: Any) -> None:
        """Open the state, and check that it is of this stream."""
        self.handle = handle
        expires = None if self.waits or self.keep is None else self.keep // 1000
        state = T.StructType([T.StructField("snapshot", T.BinaryType())])
        self.state = handle.getValueState("series", state, expires)
        stored = handle.getValueState("definition", T.StructType([T.StructField("json", T.StringType())]))
        # Spark's driver calls this too, to learn the types of the state; there is no state there.
        client = handle._statefulProcessorApiClient
        if client.handle_state is not StatefulProcessorHandleState.CREATED:
            return
        # Each partition has one definition. It is stored under a key because all state is: that of nulls.
        client.set_implicit_key((None,) * len(self.plan.keys))
        held = stored.get()
        if held is not None:
            check_restart(held[0], self.definition)
        if held is None or held[0] != self.definition:
            stored.update((self.definition,))
        client.remove_implicit_key()

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Take the rows of one key in one micro-batch."""
        series, watermark = self._series(), self._watermark(timerValues)
        before = self._timer(series)
        for row in rows:
            for batch in read_message(bytes(row[_MESSAGE])):
                yield from map(_as_row, series.take(batch, watermark))
        yield from self._emit(series, watermark, before)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        """Return the rows that the watermark has passed, or forget the series."""
        series, fired = self._series(), expiredTimerInfo.getExpiryTimeInMs()
        before = self._timer(series)
        # Spark deletes the timer that fired.
        yield from self._emit(series, self._watermark(timerValues), None if before == fired else before)

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:
        """Start from the end of a batch frame."""
        snapshot = bytes(initialState[_MESSAGE])
        self.state.update((snapshot,))
        if self.waits and self.keep is not None:
            self._change_timer(None, self._timer(Series(self.plan, snapshot)))

    def close(self) -> None:
        """Do nothing; Spark requires the method."""

    def _series(self) -> Series:
        held = self.state.get()
        return Series(self.plan, None if held is None else bytes(held[0]))

    def _watermark(self, timer: Any) -> int | None:
        return timer.getCurrentWatermarkInMs() * 1000 if self.waits else None

    def _timer(self, series: Series) -> int | None:
        """Return the watermark at which a timer of the series must fire, in whole milliseconds."""
        time = series.wakes_at(self.keep) if self.waits else None
        return None if time is None else -(-time // 1000)

    def _change_timer(self, before: int | None, after: int | None) -> None:
        if before == after:
            return
        if before is not None:
            self.handle.deleteTimer(before)
        if after is not None:
            self.handle.registerTimer(after)

    def _emit(self, series: Series, watermark: int | None, before: int | None) -> Iterator[Row]:
        """Yield the rows that are ready and store the series, whose timer is `before`."""
        yield from map(_as_row, series.emit(watermark))
        if series.empty:
            return
        after = self._timer(series)
        if watermark is not None and after is not None and not series.waiting and after * 1000 <= watermark:
            after = None
            self.state.clear()
        else:
            self.state.update((series.snapshot(),))
        self._change_timer(before, after)


def _as_row(batch: pa.RecordBatch) -> Row:
    return Row(**{_MESSAGE: write_message(batch)})


@dataclass(frozen=True)
class _FinalStates:
    """Turns the sorted rows of a batch frame into the states from which a stream continues."""

    plan: WalkPlan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        series, key = Series(self.plan, None), None
        for batch in batches:
            if not batch.num_rows:
                continue
            columns = [batch.column(index) for index in self.plan.keys]
            for start, end in pairwise(run_starts(columns)):
                here = [column.slice(start, 1) for column in columns]
                if key is None or not all(equal(a, b).all() for a, b in zip(key, here)):
                    if key is not None:
                        yield self._row(key, series)
                    series, key = Series(self.plan, None), here
                series.walk.skip(batch.slice(start, end - start))
        if key is not None:
            yield self._row(key, series)

    def _row(self, key: Any, series: Series) -> pa.RecordBatch:
        names = [*self.plan.names[: len(self.plan.keys)], _MESSAGE]
        return pa.RecordBatch.from_arrays([*key, pa.array([series.snapshot()], pa.binary())], names=names)


def _states(initial: DataFrame, plan: WalkPlan, packed: T.StructType) -> DataFrame:
    """Return the state of every series at the end of a batch frame."""
    rows, names = with_plain_names(initial)
    keys = [rows[names[index]] for index in plan.keys]
    order = [rows[names[index]] for index in (*plan.order, *plan.ties)]
    rows = rows.repartition(*keys).sortWithinPartitions(*keys, *order)
    return rows.mapInArrow(_FinalStates(plan), packed)
