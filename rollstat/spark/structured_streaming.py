r"""Structured streaming: rows come in micro-batches, and each series keeps the rows that its windows reach.

::

    rows -- pack --> one message per key and batch -- group by key --> series with state -- unpack --> rows

Whole rows pass through Spark's stateful operator as Arrow messages, so every type comes back unchanged. The
state of a series is a snapshot: the rows that windows of later rows reach (only the columns that statistics
need), the last row returned and, with a watermark, the rows that wait for it. It does not depend on the
kernels, so a newer rollstat continues where an older one stopped. Within a micro-batch::

    new rows -- take --> late or without a time: dropped
                   \--> waiting rows -- emit, once the watermark has passed --> walk --> rows with results

The rows of a snapshot serve any statistic over the same inputs and any smaller window. With a wider window
rows are missing, and with other columns the held rows mean something else. So each partition of the state
also holds the definition of the stream as text, which is compared with that of the restarted query before any
row is processed.
"""

import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyspark
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorHandleState

import rollstat
from rollstat import snapshots
from rollstat.options import parse_width
from rollstat.spark.aggregates import CallWindow, SparkCall, parse_window
from rollstat.spark.arrow_columns import (
    arrow_type,
    changes,
    compare,
    run_starts,
    sort_keys,
    to_arrow,
    to_masked,
)
from rollstat.spark.batch_walk import Walk, WalkPlan, batch_of
from rollstat.spark.request import ColumnLike, ColumnReferences, Request, check_frame, with_plain_names
from rollstat.spark.route import HASH, hash_of
from rollstat.spark.start import ROCKS_DB, STATE_STORE, known_warnings
from rollstat.windows import Expanding

_MESSAGE, _FATE = "rollstat_message", "rollstat_fate"
_MANY_OPERATORS = "spark.sql.streaming.statefulOperator.allowMultiple"
_SETS_WATERMARK = re.compile(r"^[\s:+-]*EventTimeWatermark\b", re.MULTILINE)  # an operator of a printed plan


RETURNED, LATE, NULL_TIME = range(3)  # fates of a row
_NAME = "spark.rolling_stream"  # of snapshots


@known_warnings()
def rolling_stream(  # 14 parameters: one for each public option
    df: DataFrame,
    *,
    partition_by: ColumnLike | Sequence[ColumnLike],
    order_by: ColumnLike | Sequence[ColumnLike],
    window: Any = None,
    aggs: Any,
    watermark: str | None = None,
    ttl: Any = None,
    initial: DataFrame | None = None,
    metrics: str = "rollstat",
    min_periods: int | None = None,
    center: bool = False,
    closed: str | None = None,
    nan_policy: str = "omit",
    inf: str = "value",
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
        notation. Statistics with windows of their own need none.
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
    min_periods, closed, nan_policy, inf, algorithm
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
    options |= {"nan_policy": nan_policy, "inf": inf, "algorithm": algorithm}
    references = ColumnReferences(df)
    request = Request(partition_by, order_by, window, aggs, options, zone="UTC").by_name(references)
    df = references.frame()
    plan = request.plan(df.schema, case_sensitive=references.case_sensitive)
    _check(df, plan, watermark)
    if initial is not None:
        initial = references.frame(initial)
        _check_initial(initial, df, plan)
    rows, columns = with_plain_names(df)
    if watermark is not None:
        rows = rows.withWatermark(columns[plan.order[0]], watermark)
    # The metadata of a column tell Spark that it has a watermark.
    given = [
        T.StructField(name, field.dataType, field.nullable, field.metadata)
        for name, field in zip(df.columns, rows.schema)
    ]
    definition, keep = definition_of(plan, df.schema, watermark, ttl), _kept_for(plan, watermark, ttl)
    processor = _Processor(plan, definition, waits=watermark is not None, keep=keep)
    answers = _answers(rows, columns, processor, initial)
    result = answers.mapInArrow(_unpack, T.StructType([*given, *plan.fields]).add(_FATE, T.ByteType()))
    fates = {"rows": RETURNED, "late": LATE, "null_time": NULL_TIME}
    counts = [F.count_if(F.col(_FATE) == number).alias(name) for name, number in fates.items()]
    return result.observe(metrics, *counts).where(F.col(_FATE) == RETURNED).drop(_FATE, *references.added)


def _answers(
    rows: DataFrame, columns: Sequence[str], processor: "_Processor", initial: DataFrame | None
) -> DataFrame:
    """Return what the processor answers to the rows, packed into messages by their keys."""
    plan = processor.plan
    names = [columns[index] for index in plan.keys]
    by_key = [T.StructField(name, rows.schema[name].dataType) for name in names]
    message = T.StructType().add(_MESSAGE, T.BinaryType())
    packed = T.StructType([*by_key, *message])
    hashed = rows.withColumn(HASH, hash_of([rows[name] for name in names]))
    messages = hashed.mapInArrow(Pack(plan.keys), packed)
    start = None if initial is None else _states(initial, plan, packed).groupBy(*names)
    return messages.groupBy(*names).transformWithState(
        processor, message, outputMode="append", timeMode=processor.time_mode, initialState=start
    )


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
    widths = [window.given for window in plan.windows if window.by_width]
    widest = max(widths, key=width_in_microseconds, default=None)
    needed = 0 if widest is None else width_in_microseconds(widest)
    if ttl is None:
        bounded = watermark is not None and len(widths) == len(plan.windows) and not plan.numbers_rows
        return needed if bounded else None
    try:
        kept = width_in_microseconds(parse_window(ttl))
    except ValueError:
        kept = 0
    if kept < 1000:
        raise ValueError(f"ttl must be a width of at least a millisecond, such as '7 days'; got {ttl!r}")
    if watermark is not None and kept < needed:
        raise ValueError(f"ttl must be at least as long as the window, {widest!r}; got {ttl!r}")
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
    if any(window.by_calendar for window in plan.windows):
        raise ValueError("window must be a width of a fixed length on a stream, at most in weeks, or rows")
    if any(isinstance(window.given, Expanding) for window in plan.windows):
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
        for batch in filter(len, batches):
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


class Series:
    """One series of a stream.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    snapshot : bytes, optional
        State to continue from.
    """

    def __init__(self, plan: WalkPlan, snapshot: bytes | None) -> None:
        self.plan = plan
        self.walk = Walk(plan)
        self.walk.min_rows = self.walk.wait_rows = 1
        self.waiting: list[pa.RecordBatch] = []
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> bytes:
        """Return the state as bytes."""
        walk, held = self.walk, []
        if walk.held:
            columns = [np.ma.concatenate(parts) for parts in walk.columns]
            arrays = [to_arrow(column, kind.spark) for column, (_, kind) in zip(columns, self.plan.inputs)]
            held = [batch_of([*arrays, *(pa.array(times.data) for times in columns[len(arrays) :])])]
        last = [] if walk.last is None else [batch_of(walk.last)]
        messages = [write_message(batch) for batch in (*held, *last, *self.waiting)]
        parameters = {"dropped": walk.dropped, "inputs": len(self.plan.inputs)}
        parameters |= {"held": len(held), "last": len(last)}
        return snapshots.write(_NAME, parameters, [np.frombuffer(message, np.uint8) for message in messages])

    def _restore(self, snapshot: bytes) -> None:
        name, parameters, arrays = snapshots.read(snapshot)
        if name != _NAME or parameters["inputs"] != len(self.plan.inputs):
            raise ValueError(
                "the state is of a stream with other statistics: a checkpoint belongs to one set of aggs"
            )
        batches = [batch for array in arrays for batch in read_message(array.tobytes())]
        walk = self.walk
        walk.dropped = parameters["dropped"]
        if parameters["held"]:
            held = batches.pop(0)
            walk.held = walk.computed = held.num_rows
            columns = [to_masked(array, kind) for array, (_, kind) in zip(held.columns, self.plan.inputs)]
            times = [array.to_numpy(zero_copy_only=False) for array in held.columns[len(columns) :]]
            columns += map(np.ma.MaskedArray, times)
            walk.columns = [[column] for _, column in zip(walk.columns, columns)]  # perhaps without times
        if parameters["last"]:
            walk.last = batches.pop(0).columns
        self.waiting = batches

    @property
    def empty(self) -> bool:
        """Whether the series has had no rows, so there is nothing to store."""
        return self.walk.last is None and not self.waiting

    def wakes_at(self, keep: int | None) -> int | None:
        """Return when something is to do without new rows, in microseconds of event time.

        That is when the first waiting row can be returned or, if none waits, when the series can be
        forgotten, `keep` microseconds after its last row.
        """
        if self.waiting:
            order = self.plan.order[0]
            least: int = min(pc.min(batch.column(order).view(pa.int64())).as_py() for batch in self.waiting)
            return least
        if keep is None or self.walk.last is None:
            return None
        last: int | None = self.walk.last[len(self.plan.keys)].view(pa.int64())[0].as_py()
        return keep - 1 if last is None else keep + last  # before 1970 if it has no time

    def take(self, batch: pa.RecordBatch, watermark: int | None) -> Iterator[pa.RecordBatch]:
        """Let new rows wait, and yield those that are dropped, with null results and their fate.

        Parameters
        ----------
        batch : RecordBatch
            New rows of the series.
        watermark : int or None
            Time in microseconds up to which rows are late, itself included as in Spark.
        """
        fate = np.full(batch.num_rows, RETURNED, np.int8)
        sign = self._compared_with_last(batch)
        fate[sign < 0] = LATE
        first = batch.column(self.plan.order[0])
        if watermark is not None:
            times = first.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
            fate[times <= watermark] = LATE
        fate[first.is_null().to_numpy(zero_copy_only=False)] = NULL_TIME
        if ((fate == RETURNED) & (sign == 0)).any():
            warnings.warn(
                "rows tie in order_by with rows of an earlier micro-batch and come after these, so results "
                "may differ from those of rollstat.spark.rolling: make order_by unique or use a watermark",
                stacklevel=2,
            )
        if not fate.any():  # the usual case, in which each call of Arrow counts
            self.waiting.append(batch)
            return
        for dropped in (LATE, NULL_TIME):
            if (fate == dropped).any():
                rows = batch.filter(pa.array(fate == dropped))
                for number, field in enumerate(self.plan.fields):
                    nulls = pa.nulls(len(rows), arrow_type(field.dataType))
                    rows = rows.append_column(f"new{number}", nulls)
                yield _with_fate(rows, dropped)
        batch = batch.filter(pa.array(fate == RETURNED))
        self.waiting += [batch] if batch.num_rows else []

    def emit(self, watermark: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the waiting rows in order, with the new columns and their fate.

        Parameters
        ----------
        watermark : int or None
            Time in microseconds up to which no row can come any more; later rows keep waiting.
        """
        if not self.waiting:
            return
        batch = _sorted(self.waiting, self.plan)
        self.waiting = []
        if watermark is not None:
            times = batch.column(self.plan.order[0]).view(pa.int64()).to_numpy(zero_copy_only=False)
            ready = int(np.searchsorted(times, watermark, side="right"))
            self.waiting = [batch.slice(ready)] if ready < batch.num_rows else []
            batch = batch.slice(0, ready)
        if batch.num_rows:
            for result in self.walk.run([batch]):
                yield _with_fate(result, RETURNED)

    def _compared_with_last(self, batch: pa.RecordBatch) -> NDArray[np.int8]:
        """Return -1 for rows before the last row that was returned, 0 for rows that tie with that, else 1."""
        last = self.walk.last
        if last is None:
            return np.ones(batch.num_rows, np.int8)
        sign = np.zeros(batch.num_rows, np.int8)
        repeat = pa.array(np.zeros(batch.num_rows, np.int64))
        for index, bound in zip(self.plan.order, last[len(self.plan.keys) :]):
            sign = np.where(sign == 0, compare(batch.column(index), bound.take(repeat)), sign)
        return sign


def _with_fate(batch: pa.RecordBatch, fate: int) -> pa.RecordBatch:
    """Return a batch with the fate of its rows."""
    return batch.append_column("fate", pa.array(np.full(len(batch), fate, np.int8)))


def _sorted(batches: list[pa.RecordBatch], plan: WalkPlan) -> pa.RecordBatch:
    """Return all rows in the order in which a batch job takes them."""
    if len(batches) == 1 and batches[0].num_rows == 1:
        return batches[0]
    batch = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    for index in reversed(plan.order):  # the sort is stable, and Arrow's is faster than that of keys
        batch = batch.take(pc.array_sort_indices(batch.column(index), null_placement="at_start"))
    if not changes([batch.column(index) for index in plan.order]).all():
        by = (sort_keys(batch.column(index)) for index in (*plan.order, *plan.ties))
        keys = list(zip(*by))
        batch = batch.take(pa.array(sorted(range(batch.num_rows), key=keys.__getitem__)))
    return batch


def write_message(batch: pa.RecordBatch) -> bytes:
    """Return rows with their schema as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def read_message(message: bytes) -> list[pa.RecordBatch]:
    """Return rows from bytes."""
    return list(filter(len, pa.ipc.open_stream(message)))


def width_in_microseconds(width: Any) -> int:
    """Return a width of time such as ``"10min"``, rounded up; 0 if it is not one."""
    nanoseconds = parse_width(width)
    return 0 if nanoseconds is None else -int(-nanoseconds // 1000)


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
        series = Series(self.plan, None)
        for batch in filter(len, batches):
            columns = [batch.column(index) for index in self.plan.keys]
            for start, end in pairwise(run_starts(columns)):
                rows = batch.slice(start, end - start)
                if series.walk.changes(rows)[0]:
                    yield self._row(series)
                    series = Series(self.plan, None)
                series.walk.skip(rows)
        if not series.empty:
            yield self._row(series)

    def _row(self, series: Series) -> pa.RecordBatch:
        assert series.walk.last is not None
        keys = series.walk.last[: len(self.plan.keys)]
        names = [*self.plan.names[: len(keys)], _MESSAGE]
        return pa.RecordBatch.from_arrays([*keys, pa.array([series.snapshot()], pa.binary())], names=names)


def _states(initial: DataFrame, plan: WalkPlan, packed: T.StructType) -> DataFrame:
    """Return the state of every series at the end of a batch frame."""
    rows, names = with_plain_names(initial)
    keys = [rows[names[index]] for index in plan.keys]
    order = [rows[names[index]] for index in (*plan.order, *plan.ties)]
    rows = rows.repartition(*keys).sortWithinPartitions(*keys, *order)
    return rows.mapInArrow(_FinalStates(plan), packed)


def _plain(value: Any) -> str:
    """Return a parameter as text that is the same in each process: without addresses of functions."""
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if type(value) in (list, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return re.sub(r" at 0x\w+", "", repr(value))


def _described(call: SparkCall, columns: Sequence[str], plan: WalkPlan) -> str:
    """Return a call as text; `columns` are the names of all inputs."""
    inputs = [columns[number] for number in call.inputs]
    parameters = [f"{name}={_plain(value)}" for name, value in sorted(call.parameters.items())]
    own = [f"{key}={value!r}" for key, value in call.window.options.items() if plan.options[key] != value]
    return " ".join([f"{call.statistic}({', '.join([*inputs, *parameters])})", *own])


def definition_of(plan: WalkPlan, schema: T.StructType, watermark: str | None, ttl: Any) -> str:
    """Return the definition of a stream as JSON.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    schema : StructType
        Of the stream.
    watermark, ttl : str or timedelta, optional
        As given by the caller.
    """

    def described(indexes: Any) -> str:
        picked = [schema.fields[index] for index in indexes]
        return f"({', '.join(f'{field.name} {field.dataType.simpleString()}' for field in picked)})"

    # Behind a watermark whole rows wait in the state.
    columns = None if watermark is None else described(range(len(schema.fields)))
    parts = {"inputs": described(index for index, _ in plan.inputs), "columns": columns, **plan.options}
    parts |= {"partition_by": described(plan.keys), "order_by": described(plan.order)}
    inputs = [schema.names[index] for index, _ in plan.inputs]
    definition = {
        "rollstat": rollstat.__version__,
        "windows": [_described_window(window) for window in plan.windows],
        # The text of each further part, and what is compared.
        "parts": {name: (str(value), value) for name, value in parts.items()}
        | {"watermark": (str(watermark), _size(watermark)), "ttl": (str(ttl), _size(ttl))}
        | {repr(", ".join(call.names)): (_described(call, inputs, plan),) * 2 for call in plan.calls},
    }
    return json.dumps(definition)


def _described_window(window: CallWindow) -> dict[str, Any]:
    """Return a window as text, and whether its size is a number of rows."""
    size = parse_width(window.given) or window.given if window.by_width else window.given
    return {"text": str(window.given), "rows": not window.by_width, "size": str(Fraction(size))}


def _size(width: Any) -> str | None:
    """Return a width, or text that is none, in a form in which equal widths are equal."""
    try:
        return None if width is None else str(parse_width(parse_window(width)))
    except ValueError:
        return str(width)


def check_restart(stored: str, given: str) -> None:
    """Raise ValueError if a state of the definition `stored` cannot serve the definition `given`."""
    old, new = json.loads(stored), json.loads(given)
    changes, before = [], old.get("windows") or [old["window"]]
    for after in new["windows"]:
        sizes = [Fraction(window["size"]) for window in before if window["rows"] == after["rows"]]
        if Fraction(after["size"]) > max(sizes, default=0):
            texts = ", ".join(window["text"] for window in before)
            changes.append(f"window was {texts} and is {after['text']}")
    for name, (text, value) in old["parts"].items():
        found, compared = new["parts"].get(name, ("no longer computed", None))
        if compared != value:
            changes.append(f"{name} was {text} and is {found}")
    if changes:
        raise ValueError(
            f"the checkpoint holds the state of another stream, written by rollstat {old['rollstat']}: "
            f"{'; '.join(changes)}. A restarted stream may add statistics over the same columns or take a "
            "smaller window; for other changes start it with a new checkpoint"
        )
