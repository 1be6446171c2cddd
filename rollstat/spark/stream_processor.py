"""Structured streaming: rows come in micro-batches, each series keeps the rows that its windows reach.

::

    rows --pack--> one message a key and batch --group by key--> series with state --unpack--> rows

Whole rows travel through Spark's stateful operator as Arrow messages, so that every type comes back as
it was. The state of a series is a snapshot: the rows that windows of later rows still reach (only the
columns that statistics need), the last row that was given out, and with a watermark the rows that wait
for it. It does not depend on the kernels, so an upgrade of rollstat continues where the old one stopped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import StatefulProcessor

from rollstat.spark.batch_walk import Plan
from rollstat.spark.rolling_plan import check_frame, plainly_named, plan_rolling
from rollstat.spark.row_order import equal
from rollstat.spark.stream_series import Series, read_message, write_message
from rollstat.spark.warnings_filter import known_warnings
from rollstat.windows import Expanding

__all__ = ["rolling_stream"]

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_MESSAGE, _LATE = "rollstat_message", "rollstat_late"


def rolling_stream(
    df: DataFrame,
    *,
    keys: str | Sequence[str],
    order_by: str | Sequence[str],
    window: Any,
    aggs: Mapping[Any, Any],
    watermark: str | None = None,
    initial: DataFrame | None = None,
    metrics: str = "rollstat",
    min_periods: int | None = None,
    closed: str | None = None,
    nan_policy: str = "omit",
    algorithm: str = "auto",
) -> DataFrame:
    """Compute rolling statistics of every series of a stream.

    Parameters
    ----------
    df : DataFrame
        A streaming frame; every row comes back once, all columns unchanged, with the new ones after
        them.
    keys : str or sequence of str
        Columns whose values name the series that a row belongs to.
    order_by : str or sequence of str
        Columns that order the rows of a series: whole numbers, strings, dates or timestamps. Rows of
        one micro-batch that tie keep the order of their other columns.
    window : int, str, timedelta
        A number of rows, or a width of time on the first column of `order_by`.
    aggs : mapping
        As in :func:`rollstat.spark.rolling`.
    watermark : str, optional
        How late rows may come, such as ``"10 minutes"``; the first column of `order_by` must be a
        timestamp. Rows then wait until none can come before them, and are given out in order.
        Without it the rows of a micro-batch are given out at once.
    initial : DataFrame, optional
        A batch frame of the same columns whose rows came before the stream.
    metrics : str
        Name under which each progress report of the query counts ``rows`` given out and rows that
        were ``late``: those that come before one that is given out already, or that the watermark
        has passed. They are left out.
    min_periods, closed, nan_policy, algorithm
        As in the array functions. Windows do not look ahead on a stream.

    Returns
    -------
    DataFrame
        A streaming frame, for the output mode ``append``.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For bad arguments and missing requirements, before the stream starts.

    Notes
    -----
    Each row is given out exactly once, also after the query was stopped or killed, as far as the
    sink writes each micro-batch once. Results are those of :func:`rollstat.spark.rolling` over the rows
    given out so far. The state store must be RocksDB; :func:`rollstat.spark.session` sets it.

    Examples
    --------
    >>> from rollstat.spark import rolling_stream
    >>> result = rolling_stream(  # doctest: +SKIP
    ...     readings,
    ...     keys="sensor",
    ...     order_by="time",
    ...     window="1 hour",
    ...     aggs={"typical": ("median", "value")},
    ...     watermark="5 minutes",
    ... )
    """
    check_frame("df", df)
    if initial is not None:
        check_frame("initial", initial)
    if not df.isStreaming:
        raise ValueError("df must be a streaming frame; rollstat.spark.rolling serves batches")
    options = {"min_periods": min_periods, "center": False, "closed": closed}
    options |= {"nan_policy": nan_policy, "algorithm": algorithm}
    plan, fields = plan_rolling(
        df.schema, keys, order_by, window, aggs, descending=False, ties="columns", options=options
    )
    _check(df, plan, watermark, initial)
    plan = replace(plan, ahead=False)
    rows, places = plainly_named(df)
    names = [places[place] for place in plan.keys]
    if watermark is not None:
        rows = rows.withWatermark(places[plan.order[0]], watermark)
    by_key = T.StructType(
        [T.StructField(name, df.schema.fields[p].dataType) for name, p in zip(names, plan.keys)]
    )
    packed = T.StructType([*by_key, T.StructField(_MESSAGE, T.BinaryType())])
    processor = _Processor(plan, watermark is not None)
    with known_warnings():
        start = None if initial is None else _states(initial, plan, packed).groupBy(*names)
        messages = rows.mapInArrow(_Pack(plan.keys), packed)
        answers = messages.groupBy(*names).transformWithState(
            processor,
            T.StructType([T.StructField(_MESSAGE, T.BinaryType())]),
            outputMode="append",
            timeMode="eventTime" if watermark is not None else "none",
            initialState=start,
        )
        late = T.StructField(_LATE, T.BooleanType())
        result = answers.mapInArrow(_unpack, T.StructType([*df.schema.fields, *fields, late]))
    counted = result.observe(
        metrics, F.count_if(~F.col(_LATE)).alias("rows"), F.count_if(_LATE).alias("late")
    )
    return counted.where(~F.col(_LATE)).drop(_LATE)


def _check(df: DataFrame, plan: Plan, watermark: str | None, initial: DataFrame | None) -> None:
    """Refuse what a stream cannot do."""
    if not plan.keys:
        raise ValueError("keys must name at least one column: a stream's series are told apart by keys")
    if plan.ahead:
        raise ValueError("window must not look ahead of its row on a stream")
    if isinstance(plan.window, Expanding):
        raise ValueError("window must reach back so many rows or so wide on a stream; it was Expanding")
    for place in plan.order:
        field = df.schema.fields[place]
        if isinstance(field.dataType, (T.FloatType, T.DoubleType, T.StructType, T.ArrayType)):
            raise TypeError(
                f"order_by: {field.name!r} is {field.dataType.simpleString()}; a stream is ordered by whole "
                "numbers, strings, dates or timestamps"
            )
    first = df.schema.fields[plan.order[0]]
    if watermark is not None and not isinstance(first.dataType, T.TimestampType):
        raise TypeError(
            f"order_by: {first.name!r} is {first.dataType.simpleString()}; a watermark needs a timestamp"
        )
    nested = [df.schema.fields[place] for place in plan.keys]
    nested = [field for field in nested if isinstance(field.dataType, (T.StructType, T.ArrayType))]
    if watermark is not None and nested and pyspark.__version__.startswith("4.1."):
        raise RuntimeError(
            f"keys: {nested[0].name!r} is {nested[0].dataType.simpleString()}, for which pyspark 4.1 cannot "
            "wait behind a watermark: take its fields as keys, or a newer pyspark"
        )
    if initial is not None and (initial.isStreaming or initial.schema.names != df.schema.names):
        raise ValueError(f"initial must be a batch frame with the columns {', '.join(df.schema.names)}")
    if df.sparkSession.conf.get(_PROVIDER) != _ROCKS:
        raise RuntimeError(f"streams with state need RocksDB: spark.conf.set({_PROVIDER!r}, {_ROCKS!r})")
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise RuntimeError('streams with state need protobuf: run "python -m pip install protobuf"')


@dataclass(frozen=True)
class _Pack:
    """Puts the rows of each key of a batch into one message."""

    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield self._pack(batch)

    def _pack(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.take(pa.array(np.argsort(self._codes(batch), kind="stable")))
        columns = [batch.column(place) for place in self.keys]
        same = np.ones(batch.num_rows - 1, np.bool_)
        for column in columns:
            same &= equal(column.slice(0, len(column) - 1), column.slice(1))
        starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
        ends = np.append(starts[1:], batch.num_rows)
        messages = [write_message(batch.slice(a, b - a)) for a, b in zip(starts.tolist(), ends.tolist())]
        keys = [column.take(pa.array(starts)) for column in columns]
        names = [*(batch.schema.names[place] for place in self.keys), _MESSAGE]
        return pa.RecordBatch.from_arrays([*keys, pa.array(messages, pa.binary())], names=names)

    def _codes(self, batch: pa.RecordBatch) -> Any:
        """Numbers that bring equal keys together; that they miss some costs a message, nothing else."""
        code = np.zeros(batch.num_rows, np.int64)
        columns = [batch.column(place) for place in self.keys]
        while columns:
            column = columns.pop()
            if pa.types.is_struct(column.type):
                columns += column.flatten()
                continue
            try:
                encoded = column.dictionary_encode(null_encoding="encode")
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
                continue  # a type that cannot be encoded tells no rows apart
            size = len(encoded.dictionary) + 1
            _, code = np.unique(code, return_inverse=True)
            code = code * size + encoded.indices.to_numpy(zero_copy_only=False)
        return code


def _unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows out of messages."""
    for batch in batches:
        for message in batch.column(0):
            yield from read_message(message.as_py())


class _Processor(StatefulProcessor):  # type: ignore[misc]  # pyspark leaves its base untyped
    """Keeps the state of each series."""

    def __init__(self, plan: Plan, waits: bool) -> None:
        self.plan = plan
        self.waits = waits

    def init(self, handle: Any) -> None:
        """Open the state."""
        self.handle = handle
        self.state = handle.getValueState("series", T.StructType([T.StructField("snapshot", T.BinaryType())]))

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Take the rows of one key in one micro-batch."""
        series = self._series()
        before = series.first_waiting()
        for row in rows:
            for batch in read_message(bytes(row[_MESSAGE])):
                series.add(batch)
        yield from self._give_out(series, timerValues, before)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        """Give out what the watermark has passed."""
        series = self._series()
        yield from self._give_out(series, timerValues, None)

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:
        """Start from the end of a batch."""
        self.state.update((bytes(initialState[_MESSAGE]),))

    def close(self) -> None:
        """Nothing to close."""

    def _series(self) -> Series:
        held = self.state.get()
        return Series(self.plan, None if held is None else bytes(held[0]))

    def _give_out(self, series: Series, timer: Any, before: int | None) -> Iterator[Row]:
        mark = timer.getCurrentWatermarkInMs() * 1000 if self.waits else None
        for batch in series.give_out(mark):
            yield Row(**{_MESSAGE: write_message(batch)})
        self.state.update((series.snapshot(),))
        first = series.first_waiting()
        if first is not None and first != before:
            self.handle.registerTimer(first // 1000 + 1)


@dataclass(frozen=True)
class _Tails:
    """Turns the sorted rows of a batch frame into the state that a stream goes on from."""

    plan: Plan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        series, key = Series(self.plan, None), None
        for batch in batches:
            columns = [batch.column(place) for place in self.plan.keys]
            same = np.ones(max(batch.num_rows - 1, 0), np.bool_)
            for column in columns:
                same &= equal(column.slice(0, max(len(column) - 1, 0)), column.slice(1))
            starts = [0, *(np.flatnonzero(~same) + 1).tolist(), batch.num_rows]
            for start, end in pairwise(starts):
                here = [column.slice(start, 1) for column in columns]
                if key is None or not all(equal(a, b).all() for a, b in zip(key, here)):
                    if key is not None:
                        yield self._row(key, series)
                    series, key = Series(self.plan, None), here
                if end > start:
                    series.skip(batch.slice(start, end - start))
        if key is not None:
            yield self._row(key, series)

    def _row(self, key: Any, series: Series) -> pa.RecordBatch:
        names = [*self.plan.names[: len(self.plan.keys)], _MESSAGE]
        return pa.RecordBatch.from_arrays([*key, pa.array([series.snapshot()], pa.binary())], names=names)


def _states(initial: DataFrame, plan: Plan, packed: T.StructType) -> DataFrame:
    """State of every series at the end of a batch frame."""
    rows, places = plainly_named(initial)
    keys = [rows[places[place]] for place in plan.keys]
    order = [rows[places[place]] for place in plan.order]
    rest = [rows[name] for place, name in enumerate(places) if place not in {*plan.keys, *plan.order}]
    return rows.repartition(*keys).sortWithinPartitions(*keys, *order, *rest).mapInArrow(_Tails(plan), packed)
