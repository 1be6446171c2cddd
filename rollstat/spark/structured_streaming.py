r"""Structured streaming: rows come in micro-batches, and each series keeps the rows that its windows reach.

::

    rows -- pack --> a message per shard and batch -- group by shard --> results, state -- unpack --> rows

Whole rows pass through Spark's stateful operator as Arrow messages, so every type comes back unchanged. A
shard holds many keys, because each call of Spark's operator, and each call of a statistic, costs more than a
row. Within a shard every series has entries of its own in a map, so a batch reads and writes only the series
of its new rows (`stream_series`). The state does not depend on the kernels, so a newer rollstat continues
where an older one stopped. Within a micro-batch::

    new rows -- by_fate --> late or without a time: dropped
                      \--> wait in the agenda of the shard until the watermark has passed --> results

The rows of a state serve any statistic over the same inputs and any smaller window. With a wider window
rows are missing, and with other columns the held rows mean something else. So each partition of the state
also holds the definition of the stream as text, which is compared with that of the restarted query before any
row is processed.
"""

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyspark
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorHandleState

import rollstat
from rollstat.calendar_units import at_most
from rollstat.options import DEFAULTS, parse_width, whole_number
from rollstat.spark.aggregates import CallWindow, SparkCall, parse_window
from rollstat.spark.batch_walk import WalkPlan
from rollstat.spark.buckets import without_bound
from rollstat.spark.request import (
    ColumnLike,
    ColumnReferences,
    Request,
    check_frame,
    filled,
    with_plain_names,
)
from rollstat.spark.route import HASH, every_row, hash_of, with_numbers
from rollstat.spark.start import ROCKS_DB, STATE_STORE, known_warnings
from rollstat.spark.stream_series import (
    HEADER,
    LATE,
    NULL_TIME,
    PART,
    RETURNED,
    Entries,
    Entry,
    SeriesRows,
    forget,
    joined,
    stored_type,
    without_results,
)
from rollstat.windows import Expanding

SHARDS = 1024  # of the keys; the state of a shard is opened once in a batch, not once for each key
_SHARD, _MESSAGE, _FATE = "rollstat_shard", "rollstat_message", "rollstat_fate"
_MANY_OPERATORS = "spark.sql.streaming.statefulOperator.allowMultiple"
_SETS_WATERMARK = re.compile(r"^[\s:+-]*EventTimeWatermark\b", re.MULTILINE)  # an operator of a printed plan


def _fields(**types: T.DataType) -> T.StructType:
    return T.StructType([T.StructField(name, kind) for name, kind in types.items()])


_KEY = _fields(key=T.StringType(), part=T.LongType())
_COUNTS = {name: T.LongType() for name in Entry._fields[1:]}
_ENTRY = _fields(rows=T.BinaryType(), **_COUNTS)
_STATES = T.StructType([T.StructField(_SHARD, T.IntegerType()), *_KEY, *_ENTRY])
_TASK, _TASK_ENTRY = (
    _fields(time=T.LongType(), id=T.StringType()),
    _fields(rows=T.BinaryType(), keys=T.StringType()),
)


@known_warnings()
def rolling_stream(  # 17 parameters: one for each public option
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
    step: int | None = None,
    fill_value: Any = None,
    algorithm: str = "auto",
) -> DataFrame:
    """Compute rolling statistics of every series of a stream.

    Parameters
    ----------
    df : DataFrame
        A streaming frame. The result holds every row once with all its columns, followed by the new
        columns.
    partition_by : str, Column, or sequence of them
        At least one key column, given as in :func:`rollstat.spark.rolling`.
    order_by : str, Column, or sequence of them
        Columns that order the rows of a series: integers, strings, dates or timestamps. The other columns
        break ties within a micro-batch, as in :func:`rollstat.spark.rolling`; with a watermark, also across
        micro-batches. Without a watermark, a row that ties with a row
        of an earlier micro-batch comes after that row, and the worker logs a warning. Rows
        with a null in the first column are dropped and counted.
    window : int, str, timedelta
        A number of rows, or a duration on the first column of `order_by`, in rollstat's or Spark's
        notation; or months, quarters or years, such as ``"1 month"``, in the session's time zone for
        timestamps that have one. Omit it if each statistic has its own windows.
    aggs : list or mapping
        As in :func:`rollstat.spark.rolling`.
    watermark : str, optional
        How late rows may arrive, such as ``"10 minutes"``; the first column of `order_by` must be a
        timestamp. Rows then wait until no earlier row can arrive, and the result is in order. The first
        column of `order_by` keeps this watermark in the result if it is a column of `df` itself. Without a
        watermark, the result has the rows of a micro-batch immediately. Spark allows only one watermark:
        omit it if `df` already has one, for example as the result of a windowed aggregate or of another call
        with a watermark; such frames are in order.
    ttl : str or timedelta, optional
        Forget a series after this time without a row, such as ``"7 days"``; its next row starts a new series.
        The time is event time with a watermark, otherwise processing time. With a watermark and
        a time window, the state forgets a series even without `ttl` as soon as its rows have left the window,
        unless a statistic returns positions.
    initial : DataFrame, optional
        A batch frame with the same columns and types; its rows come before the stream. If the
        window is a duration, the first column of `order_by` must have no nulls; otherwise rows with nulls
        come first.
    metrics : str
        Name under which each progress report of the query counts the ``rows`` returned and the rows dropped:
        ``late`` rows lie before the window of the last returned row, or are not after the
        watermark; ``null_time`` rows have a null in the first column of `order_by`. Each call in a query
        needs its own name.
    min_periods, closed, nan_policy, inf, algorithm
        As in the array functions.
    step : int, optional
        As in :func:`rollstat.spark.rolling`; needs `watermark`. Progress reports count all rows.
    fill_value : scalar, optional
        As in :func:`rollstat.spark.rolling`.
    center : bool
        Must be False: the newest row of a stream has no later rows.

    Returns
    -------
    DataFrame
        A streaming frame, for the output mode ``append``.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For invalid arguments and missing requirements, before the stream starts. A query restarted from a
        checkpoint with a different definition fails before it processes a row, with a message that names what
        changed. The new definition may add statistics over the same columns, or take a smaller window.

    Notes
    -----
    Each row is returned exactly once, even if the query is stopped or killed, provided that the sink writes
    each micro-batch once. Results equal the results of :func:`rollstat.spark.rolling` over the rows
    returned so far, unless rows of several micro-batches tie in `order_by` and there is no watermark. Without
    a watermark, a row that comes after later rows of its series is inserted if it lies in the windows that
    end at the last row; rows already returned do not change. The state store must be RocksDB;
    :func:`rollstat.spark.session` sets it.

    With `ttl` but without a watermark, Spark also runs batches without rows to look for expired state, so a
    query with the trigger ``availableNow`` ends only if ``spark.sql.streaming.noDataMicroBatches.enabled`` is
    false.

    Examples
    --------
    `readings` is a streaming data frame:

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
    if step is not None:
        every = whole_number("step", step, 1)
        if watermark is None:
            raise ValueError(
                "step needs watermark= on a stream: without one, a late row changes the numbers of rows that "
                f"have been returned; got step={step}"
            )
        df, aggs = with_numbers(df, aggs)
        initial = None if initial is None else with_numbers(initial, aggs)[0]
    options = {"min_periods": min_periods, "center": False, "closed": closed}
    options |= {"nan_policy": nan_policy, "inf": inf, "algorithm": algorithm}
    references = ColumnReferences(df)
    zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
    request = Request(partition_by, order_by, window, aggs, options, zone=zone).by_name(references)
    df = references.frame()
    plan = request.plan(df.schema, case_sensitive=references.case_sensitive)
    _check(df, plan, watermark)
    made = {}
    if fill_value is not None:
        fields = plan.fields if step is None else plan.fields[:-1]
        made = {each.name: filled(F.col(f"`{each.name}`"), each.dataType, fill_value) for each in fields}
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
    processor = _Processor(plan, definition, delay=_delay(watermark), keep=keep)
    answers = _answers(rows, columns, processor, initial)
    result = _returned(answers, [*given, *plan.fields], metrics).drop(*references.added)
    result = result if step is None else every_row(result, every)
    return result.withColumns(made) if made else result


def _returned(answers: DataFrame, fields: Sequence[T.StructField], metrics: str) -> DataFrame:
    """Return the rows that the answers return, and count the fates of all rows for progress reports."""
    rows = answers.mapInArrow(_unpack, T.StructType([*fields]).add(_FATE, T.ByteType()))
    fates = {"rows": RETURNED, "late": LATE, "null_time": NULL_TIME}
    counts = [F.count_if(F.col(_FATE) == number).alias(name) for name, number in fates.items()]
    return rows.observe(metrics, *counts).where(F.col(_FATE) == RETURNED).drop(_FATE)


def _answers(
    rows: DataFrame, columns: Sequence[str], processor: "_Processor", initial: DataFrame | None
) -> DataFrame:
    """Return what the processor answers to the rows, packed into messages by shards of their keys."""
    names = [columns[index] for index in processor.plan.keys]
    message = T.StructType().add(_MESSAGE, T.BinaryType())
    packed = T.StructType([T.StructField(_SHARD, T.IntegerType()), *message])
    hashed = rows.withColumn(HASH, hash_of([rows[name] for name in names]))
    start = None if initial is None else _states(initial, processor).groupBy(_SHARD)
    return (
        hashed.mapInArrow(Pack(), packed)
        .groupBy(_SHARD)
        .transformWithState(
            processor, message, outputMode="append", timeMode=processor.time_mode, initialState=start
        )
    )


def _check_frames(df: DataFrame, initial: DataFrame | None, center: bool) -> None:
    """Raise an error for frames of the wrong kind, and for centred windows."""
    check_frame("df", df)
    if initial is not None:
        check_frame("initial", initial)
    if not df.isStreaming:
        raise ValueError("df must be a streaming frame; got a batch frame: use rollstat.spark.rolling")
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
                f"initial must have the column types of df; {df.schema.names[index]!r} is {given} "
                f"instead of {wanted}"
            )


def _kept_for(plan: WalkPlan, watermark: str | None, ttl: Any) -> int | None:
    """Return how many microseconds a series without new rows is kept; None if forever."""
    widths = [window.given for window in plan.windows if window.by_width]
    widest = max(widths, key=lambda width: width_in_microseconds(at_most(width)), default=None)
    needed = 0 if widest is None else width_in_microseconds(at_most(widest))
    if ttl is None:
        bounded = watermark is not None and len(widths) == len(plan.windows) and not plan.numbers_rows
        return needed if bounded else None
    try:
        kept = width_in_microseconds(parse_window(ttl))
    except ValueError:
        kept = 0
    if kept < 1000:
        raise ValueError(f"ttl must be a duration of at least a millisecond, such as '7 days'; got {ttl!r}")
    if watermark is not None and kept < needed:
        raise ValueError(f"ttl must be at least as long as the window, {widest!r}; got {ttl!r}")
    return kept


def _delay(watermark: str | None) -> int | None:
    """Return a watermark in microseconds, 0 for one that only Spark understands; None for none."""
    try:
        return None if watermark is None else width_in_microseconds(parse_window(watermark))
    except ValueError:
        return 0


def _has_watermark(df: DataFrame) -> bool:
    """Return whether an operator of the plan sets a watermark, and Spark's setting forbids a second one."""
    if df.sparkSession.conf.get(_MANY_OPERATORS, "true") != "true":
        return False
    with redirect_stdout(io.StringIO()) as text:
        df.explain(extended=True)
    return _SETS_WATERMARK.search(text.getvalue()) is not None


def _check(df: DataFrame, plan: WalkPlan, watermark: str | None) -> None:
    """Raise an error for what a stream does not support."""
    if not plan.keys:
        raise ValueError("partition_by must name at least one column of keys; got none")
    if plan.looks_ahead:
        raise ValueError("window must not look ahead of its row on a stream")
    if (offset := without_bound(plan)) is not None:
        raise ValueError(
            "window must be rows, a duration, or months, quarters or years as text such as '1 month' on a "
            f"stream, which keeps the rows that later windows reach; got {offset}"
        )
    if any(isinstance(window.given, Expanding) for window in plan.windows):
        raise ValueError(
            "window must be a number of rows or a duration on a stream; got Expanding. For "
            "exponential weights, pass a window of 50 half-lives: older rows hardly ever change a digit"
        )
    for index in plan.order:
        field = df.schema.fields[index]
        if isinstance(field.dataType, (T.FloatType, T.DoubleType, T.StructType, T.ArrayType)):
            raise TypeError(
                f"order_by: {field.name!r} is {field.dataType.simpleString()}; streams are ordered by "
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
            f"waits forever; got {watermark!r}. Windowed aggregates and rolling_stream with a watermark "
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
    """Packs the rows of each shard of a batch, which ends with the hash of the keys, into one message."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in filter(len, batches):
            hashes = batch.column(batch.num_columns - 1).to_numpy()
            shards = hashes % SHARDS
            order = np.lexsort((hashes, shards))  # the rows of a key are together
            batch = batch.take(pa.array(order)).select(range(batch.num_columns - 1))
            batch = batch.cast(pa.schema([f.with_type(stored_type(f.type)) for f in batch.schema]))
            shards = shards[order]
            starts = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)]
            messages = [write_message(batch.slice(a, b - a)) for a, b in pairwise(starts)]
            columns = [pa.array(shards[starts[:-1]]), pa.array(messages, pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=[_SHARD, _MESSAGE])


def _unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of messages."""
    for batch in batches:
        for message in batch.column(0):
            yield from read_message(message.as_py())


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


@dataclass
class Agenda:
    """What a shard with a watermark has to do at later times: return waiting rows, and forget series.

    Attributes
    ----------
    plan : WalkPlan
        What to compute.
    series : SeriesRows
        Computes rows.
    state, agenda : Entries or MapState
        The states of the series; and what to do, by the first time and a unique text: rows that wait as a
        message, or keys as JSON.
    timer : callable
        Asks for a call once the watermark reaches a number of milliseconds.
    span : int
        Microseconds; rows that wait in one message differ less.
    """

    plan: WalkPlan
    series: SeriesRows
    state: Any
    agenda: Any
    timer: Callable[[int], None]
    span: int

    def wait(self, rows: pa.RecordBatch) -> None:
        """Let rows wait until no earlier row can come."""
        times = self._times(rows)
        part = times // self.span
        order = np.argsort(part, kind="stable")
        starts = [0, *(np.flatnonzero(np.diff(part[order])) + 1).tolist(), len(order)]
        for a, b in pairwise(starts):
            message = write_message(rows.take(pa.array(order[a:b])))
            self.plan_at(int(times[order[a:b]].min()), message, None)

    def plan_at(self, time: int, message: bytes | None, keys: str | None) -> None:
        """Add an entry, and ask for a call at its time."""
        self.agenda.updateValue((time, uuid4().hex), (message, keys))
        self.timer(-(-time // 1000))

    def due(self, watermark: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows up to the watermark with results, and forget series."""
        due = sorted(key for key in map(tuple, self.agenda.keys()) if key[0] <= watermark)
        entries = [self.agenda.getValue(key) for key in due]
        for key in due:
            self.agenda.removeKey(key)
        waiting = [batch for message, _ in entries if message for batch in read_message(bytes(message))]
        if waiting:
            rows = joined(waiting)
            ready = self._times(rows) <= watermark
            if not ready.all():
                self.wait(rows.filter(pa.array(~ready)))
            yield from self.series.run(rows.filter(pa.array(ready)), self.state)
        self._forget([key for _, text in entries if text for key in json.loads(text)], watermark)

    def _forget(self, keys: list[str], watermark: int) -> None:
        """Forget the series that have had no row for a long time; check the others and new ones later."""
        keep = self.series.keep
        if keep is None:
            return
        found = {key: forget(key, self.state, watermark - keep) for key in [*keys, *self.series.new_keys]}
        self.series.new_keys.clear()
        left = {key: last for key, last in found.items() if last is not None}
        if left:
            self.plan_at(max(left.values()) + keep, None, json.dumps(list(left)))

    def _times(self, rows: pa.RecordBatch) -> NDArray[np.int64]:
        return np.asarray(rows.column(self.plan.order[0]).cast(pa.int64()))


class _Processor(StatefulProcessor):  # type: ignore[misc]  # pyspark leaves its base untyped
    """Keeps the state of the series of each shard.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    definition : str
        From :func:`definition_of`.
    delay : int or None
        Microseconds that rows wait for a watermark.
    keep : int or None
        Microseconds after which a series without new rows is forgotten.
    """

    def __init__(self, plan: WalkPlan, definition: str, *, delay: int | None, keep: int | None) -> None:
        self.plan = plan
        self.definition = definition
        self.delay = delay
        self.keep = keep
        # With a time to live, Spark would forget old parts of a series that has new rows.
        self.settings = (
            {"horizon": 2, "part": PART if keep is None else 2**62}
            if delay is None
            else {"horizon": 1, "keep": keep}
        )

    @property
    def waits(self) -> bool:
        """Whether rows wait for a watermark."""
        return self.delay is not None

    @property
    def time_mode(self) -> str:
        """Spark's name of the clock that timers and the age of state follow."""
        if self.waits:
            return "eventTime"
        return "none" if self.keep is None else "processingTime"

    def init(self, handle: Any) -> None:
        """Open the state, and check that it belongs to this stream."""
        expires = None if self.waits or self.keep is None else self.keep // 1000
        self.state = handle.getMapState("series", _KEY, _ENTRY, expires)
        self.series = SeriesRows(self.plan, **self.settings)
        if self.delay is not None:
            agenda, span = handle.getMapState("agenda", _TASK, _TASK_ENTRY), max(self.delay // 8, 1000)
            self.agenda = Agenda(self.plan, self.series, self.state, agenda, handle.registerTimer, span)
        stored = handle.getValueState("definition", T.StructType([T.StructField("json", T.StringType())]))
        # Spark's driver calls this too, to learn the types of the state; there is no state there.
        client = handle._statefulProcessorApiClient
        if client.handle_state is not StatefulProcessorHandleState.CREATED:
            return
        # Each partition has one definition. It is stored under a shard because all state is: that of null.
        client.set_implicit_key((None,))
        held = stored.get()
        if held is not None:
            check_restart(held[0], self.definition)
        if held is None or held[0] != self.definition:
            stored.update((self.definition,))
        client.remove_implicit_key()

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Take the rows of one shard in one micro-batch."""
        given = joined([batch for row in rows for batch in read_message(bytes(row[_MESSAGE]))])
        watermark = timerValues.getCurrentWatermarkInMs() * 1000 if self.waits else None
        for fate, batch in by_fate(self.plan, given, watermark):
            if fate != RETURNED:
                yield _as_row(without_results(self.plan, batch, fate))
            elif self.waits:
                self.agenda.wait(batch)
            else:
                self.series.new_keys.clear()
                yield from map(_as_row, self.series.run(batch, self.state))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        """Return the rows that the watermark has passed, and forget series."""
        yield from map(_as_row, self.agenda.due(timerValues.getCurrentWatermarkInMs() * 1000))

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:
        """Take an entry of the state at the end of a batch frame."""
        place = initialState["key"], initialState["part"]
        entry = Entry(bytes(initialState["rows"]), *(initialState[name] for name in Entry._fields[1:]))
        self.state.updateValue(place, tuple(entry))
        if self.waits and self.keep is not None and place[1] == HEADER:
            self.agenda.plan_at(entry.last + self.keep, None, json.dumps([place[0]]))

    def close(self) -> None:
        """Do nothing; Spark requires the method."""


def by_fate(
    plan: WalkPlan, rows: pa.RecordBatch, watermark: int | None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the fates that rows have before the other rows of their series are known, and the rows of each.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    rows : RecordBatch
        New rows.
    watermark : int or None
        Time in microseconds up to which rows are late, itself included as in Spark.
    """
    first = rows.column(plan.order[0])
    fate = np.full(rows.num_rows, RETURNED, np.int8)
    if watermark is not None:
        fate[np.asarray(first.cast(pa.int64()).fill_null(0)) <= watermark] = LATE
    fate[np.asarray(first.is_null())] = NULL_TIME
    for own in np.unique(fate).tolist():
        yield own, rows.filter(pa.array(fate == own))


def _as_row(batch: pa.RecordBatch) -> Row:
    return Row(**{_MESSAGE: write_message(batch)})


@dataclass(frozen=True)
class _FinalStates:
    """Turns the rows of a batch frame, sorted by key and in order, into the states that a stream starts from.

    The last column is the hash of the keys.
    """

    plan: WalkPlan
    settings: Mapping[str, Any]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        series, shards = SeriesRows(self.plan, **self.settings, results=False), dict[str, int]()
        state = Entries()
        for batch in filter(len, batches):
            keys, number = series.numbered(batch)
            hashes = batch.column(batch.num_columns - 1).to_numpy()
            shards |= dict(zip(keys, (hashes[np.unique(number, return_index=True)[1]] % SHARDS).tolist()))
            for _ in series.run(batch, state):
                pass
            if complete := [place for place in state if place[0] != keys[-1]]:
                yield _entries({place: state.pop(place) for place in complete}, shards)
            shards = {keys[-1]: shards[keys[-1]]}
        if state:
            yield _entries(state, shards)


def _entries(state: Mapping[tuple[str, int], Any], shards: Mapping[str, int]) -> pa.RecordBatch:
    """Return entries of the state as rows."""
    rows = [(shards[key], key, part, *entry) for (key, part), entry in state.items()]
    kinds = [pa.int32(), pa.string(), pa.int64(), pa.binary(), *(pa.int64() for _ in _COUNTS)]
    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows), kinds)]
    return pa.RecordBatch.from_arrays(columns, names=_STATES.names)


def _states(initial: DataFrame, processor: "_Processor") -> DataFrame:
    """Return the entries of the state of every series at the end of a batch frame."""
    plan = processor.plan
    rows, names = with_plain_names(initial)
    keys = [rows[names[index]] for index in plan.keys]
    order = [rows[names[index]] for index in (*plan.order, *plan.ties)]
    rows = rows.withColumn(HASH, hash_of(keys)).repartition(*keys).sortWithinPartitions(*keys, *order)
    return rows.mapInArrow(_FinalStates(plan, processor.settings), _STATES)


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
    common = {**DEFAULTS, **plan.options}
    own = [f"{key}={value!r}" for key, value in call.window.options.items() if common[key] != value]
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
    size = parse_width(at_most(window.given)) or window.given if window.by_width else window.given
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
