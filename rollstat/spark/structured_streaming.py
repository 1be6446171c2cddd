"""Structured streaming: rows come in micro-batches, and each series keeps the rows that its windows reach.

::

    rows -- pack --> one message per key and batch -- group by key --> series with state -- unpack --> rows

Whole rows pass through Spark's stateful operator as Arrow messages, so every type comes back unchanged. The
state of a series is a snapshot: the rows that windows of later rows reach (only the columns that statistics
need), the last row returned and, with a watermark, the rows that wait for it. It does not depend on the
kernels, so a newer rollstat continues where an older one stopped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
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

from rollstat import snapshots
from rollstat.spark.batch_walk import Plan, Walk
from rollstat.spark.rolling_plan import check_frame, plan_rolling, with_plain_names
from rollstat.spark.row_order import compare, equal
from rollstat.spark.session import ROCKS_DB, STATE_STORE, known_warnings
from rollstat.windows import Expanding

__all__ = ["Pack", "Series", "read_message", "rolling_stream", "write_message"]

_MESSAGE, _LATE = "rollstat_message", "rollstat_late"
_NAME = "spark.rolling_stream"  # of snapshots


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
        A streaming frame. The result holds every row once with all its columns, followed by the new
        columns.
    keys : str or sequence of str
        Columns whose values name the series of a row.
    order_by : str or sequence of str
        Columns that order the rows of a series: integers, strings, dates or timestamps. The other columns
        order rows of one micro-batch that tie.
    window : int, str, timedelta
        A number of rows, or a width of time on the first column of `order_by`.
    aggs : mapping
        As in :func:`rollstat.spark.rolling`.
    watermark : str, optional
        How late rows may come, such as ``"10 minutes"``; the first column of `order_by` must be a
        timestamp. Rows then wait until no earlier row can come, and are returned in order. Without it the
        rows of a micro-batch are returned immediately.
    initial : DataFrame, optional
        A batch frame with the same columns whose rows come before the stream.
    metrics : str
        Name under which each progress report of the query counts ``rows`` returned and rows that were
        ``late``: before a row that was already returned, or before the watermark. Late rows are dropped.
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
    Each row is returned exactly once, also after the query is stopped or killed, if the sink writes each
    micro-batch once. Results equal those of :func:`rollstat.spark.rolling` over the rows returned so far.
    The state store must be RocksDB; :func:`rollstat.spark.session` sets it.

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
    rows, columns = with_plain_names(df)
    names = [columns[index] for index in plan.keys]
    if watermark is not None:
        rows = rows.withWatermark(columns[plan.order[0]], watermark)
    by_key = T.StructType(
        [T.StructField(name, df.schema.fields[i].dataType) for name, i in zip(names, plan.keys)]
    )
    packed = T.StructType([*by_key, T.StructField(_MESSAGE, T.BinaryType())])
    processor = _Processor(plan, watermark is not None)
    with known_warnings():
        start = None if initial is None else _states(initial, plan, packed).groupBy(*names)
        messages = rows.mapInArrow(Pack(plan.keys), packed)
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
    """Raise an error for what a stream cannot do."""
    if not plan.keys:
        raise ValueError("keys must name at least one column: a stream tells its series apart by keys")
    if plan.looks_ahead:
        raise ValueError("window must not look ahead of its row on a stream")
    if isinstance(plan.window, Expanding):
        raise ValueError("window must be a number of rows or a width on a stream; it was Expanding")
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
    nested = [df.schema.fields[index] for index in plan.keys]
    nested = [field for field in nested if isinstance(field.dataType, (T.StructType, T.ArrayType))]
    if watermark is not None and nested and pyspark.__version__.startswith("4.1."):
        raise RuntimeError(
            f"keys: {nested[0].name!r} is {nested[0].dataType.simpleString()}, for which pyspark 4.1 cannot "
            "wait for a watermark: use its fields as keys, or a newer pyspark"
        )
    if initial is not None and (initial.isStreaming or initial.schema.names != df.schema.names):
        raise ValueError(f"initial must be a batch frame with the columns {', '.join(df.schema.names)}")
    if df.sparkSession.conf.get(STATE_STORE) != ROCKS_DB:
        raise RuntimeError(f"streams with state need RocksDB: spark.conf.set({STATE_STORE!r}, {ROCKS_DB!r})")
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise RuntimeError('streams with state need protobuf: run "python -m pip install protobuf"')


class Series:
    """One series of a stream: the rows that windows reach, and the rows that wait for the watermark.

    Parameters
    ----------
    plan : Plan
        What to compute.
    snapshot : bytes, optional
        State to continue from.
    """

    def __init__(self, plan: Plan, snapshot: bytes | None) -> None:
        self.plan = plan
        self.walk = Walk(plan)
        self.walk.min_rows = self.walk.wait_rows = 1
        self.waiting: list[pa.RecordBatch] = []
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> bytes:
        """Return the state as bytes."""
        walk = self.walk
        arrays = []
        for held in walk.columns:
            column = np.ma.concatenate(held) if held else np.ma.MaskedArray([], [])
            arrays += [np.ma.getdata(column), np.ma.getmaskarray(column)]
        arrays += [np.concatenate(walk.times) if walk.times else np.empty(0)]
        last = []
        if walk.last is not None:
            last = [pa.RecordBatch.from_arrays(walk.last, names=list(map(str, range(len(walk.last)))))]
        messages = [write_message(batch) for batch in (*last, *self.waiting)]
        arrays += [np.frombuffer(message, np.uint8) for message in messages]
        # These names are a part of the format: checkpoints of earlier versions hold them.
        parameters = {"lost": walk.dropped, "held": walk.held, "inputs": len(walk.columns), "last": len(last)}
        return snapshots.write(_NAME, parameters, arrays)

    def _restore(self, snapshot: bytes) -> None:
        name, parameters, arrays = snapshots.read(snapshot)
        if name != _NAME or parameters["inputs"] != len(self.plan.inputs):
            raise ValueError(
                "the state is of a stream with other statistics: a checkpoint belongs to one set of aggs"
            )
        walk = self.walk
        walk.held = walk.computed = parameters["held"]
        walk.dropped = parameters["lost"]
        count = parameters["inputs"]
        if walk.held:
            pairs = zip(arrays[: 2 * count : 2], arrays[1 : 2 * count : 2])
            walk.columns = [[np.ma.MaskedArray(data, mask)] for data, mask in pairs]
            walk.times = [arrays[2 * count]] if self.plan.time is not None else []
        messages = [batch for array in arrays[2 * count + 1 :] for batch in read_message(array.tobytes())]
        if parameters["last"]:
            walk.last = messages[0].columns
        self.waiting = messages[parameters["last"] :]

    def first_waiting(self) -> int | None:
        """Return the earliest time among the waiting rows, as an integer; None if no row has one."""
        if not self.waiting:
            return None
        times = [batch.column(self.plan.order[0]) for batch in self.waiting]
        if not pa.types.is_timestamp(times[0].type):
            return 0
        least = [pc.min(time.view(pa.int64())).as_py() for time in times]
        return min((value for value in least if value is not None), default=None)

    def emit(self, watermark: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the waiting rows in order, with the new columns and a flag for late rows.

        Parameters
        ----------
        watermark : int or None
            Time in microseconds before which no row can come any more; rows from there on keep waiting.
        """
        if not self.waiting:
            return
        batch = _sorted(self.waiting, self.plan)
        late = self._late(batch)
        self.waiting = []
        if watermark is not None:
            time = batch.column(self.plan.order[0])
            times = time.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
            missing = time.is_null().to_numpy(zero_copy_only=False)
            waits = (times >= watermark) & ~late & ~missing
            late |= missing
            if waits.any():
                self.waiting = [batch.filter(pa.array(waits))]
            batch, late = batch.filter(pa.array(~waits)), late[~waits]
        if late.any():
            rows = batch.filter(pa.array(late))
            yield _flagged([*rows.columns, *self.walk.no_results(rows.num_rows)], batch, late=True)
        ready = batch.filter(pa.array(~late))
        if ready.num_rows:
            for result in self.walk.run([ready]):
                yield _flagged(result.columns, batch, late=False)

    def _late(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Return which rows come before the last row that was returned."""
        late = np.zeros(batch.num_rows, np.bool_)
        last = self.walk.last
        if last is None:
            return late
        undecided = np.ones(batch.num_rows, np.bool_)
        for index, bound in zip(self.plan.order, last[len(self.plan.keys) :]):
            sign = compare(batch.column(index), pa.concat_arrays([bound] * batch.num_rows))
            late |= undecided & (sign < 0)
            undecided &= sign == 0
        return late


def _flagged(columns: Sequence[pa.Array], given: pa.RecordBatch, *, late: bool) -> pa.RecordBatch:
    """Return the columns of `given`, the new columns and the flag as a batch."""
    new = len(columns) - given.num_columns
    names = [*given.schema.names, *(f"new{i}" for i in range(new)), "late"]
    flag = pa.array(np.full(len(columns[0]), late))
    return pa.RecordBatch.from_arrays([*columns, flag], names=names)


def _sorted(batches: list[pa.RecordBatch], plan: Plan) -> pa.RecordBatch:
    """Return all rows in order; other columns decide ties if Arrow can sort them."""
    batch = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    rest = [index for index in range(batch.num_columns) if index not in {*plan.order, *plan.keys}]
    order = pa.array(np.arange(batch.num_rows))
    for index in reversed([*plan.order, *rest]):
        column = batch.column(index)
        try:
            stable = pc.array_sort_indices(column.take(order), order="ascending", null_placement="at_start")
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue  # a type without an order decides no tie
        order = order.take(stable)
    return batch.take(order)


def write_message(batch: pa.RecordBatch) -> bytes:
    """Return rows with their schema as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def read_message(message: bytes) -> list[pa.RecordBatch]:
    """Return rows from bytes."""
    with pa.ipc.open_stream(message) as reader:
        return [batch for batch in reader if batch.num_rows]


@dataclass(frozen=True)
class Pack:
    """Packs the rows of each key of a batch into one message."""

    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield self._pack(batch)

    def _pack(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.take(pa.array(np.argsort(self._codes(batch), kind="stable")))
        starts = _key_starts(batch, self.keys)
        messages = [write_message(batch.slice(a, b - a)) for a, b in pairwise(starts)]
        keys = [batch.column(index).take(pa.array(starts[:-1])) for index in self.keys]
        names = [*(batch.schema.names[index] for index in self.keys), _MESSAGE]
        return pa.RecordBatch.from_arrays([*keys, pa.array(messages, pa.binary())], names=names)

    def _codes(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """Return codes that bring equal keys together; a key that is split costs only another message."""
        code = np.zeros(batch.num_rows, np.int64)
        columns = [batch.column(index) for index in self.keys]
        while columns:
            column = columns.pop()
            if pa.types.is_struct(column.type):
                columns += column.flatten()
                continue
            try:
                encoded = column.dictionary_encode(null_encoding="encode")
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
                continue  # this type cannot be encoded
            size = len(encoded.dictionary) + 1
            _, code = np.unique(code, return_inverse=True)
            code = code * size + encoded.indices.to_numpy(zero_copy_only=False)
        return code


def _key_starts(batch: pa.RecordBatch, keys: Sequence[int]) -> list[int]:
    """Return the rows at which runs of one key start, then the number of rows."""
    rows = batch.num_rows
    same = np.ones(max(rows - 1, 0), np.bool_)
    for index in keys:
        same &= equal(batch.column(index).slice(0, len(same)), batch.column(index).slice(1))
    return [0, *(np.flatnonzero(~same) + 1).tolist(), rows]


def _unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of messages."""
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
            series.waiting += read_message(bytes(row[_MESSAGE]))
        yield from self._emit(series, timerValues, before)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        """Return the rows that the watermark has passed."""
        yield from self._emit(self._series(), timerValues, None)

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:
        """Start from the end of a batch frame."""
        self.state.update((bytes(initialState[_MESSAGE]),))

    def close(self) -> None:
        """Do nothing; Spark requires the method."""

    def _series(self) -> Series:
        held = self.state.get()
        return Series(self.plan, None if held is None else bytes(held[0]))

    def _emit(self, series: Series, timer: Any, before: int | None) -> Iterator[Row]:
        watermark = timer.getCurrentWatermarkInMs() * 1000 if self.waits else None
        for batch in series.emit(watermark):
            yield Row(**{_MESSAGE: write_message(batch)})
        self.state.update((series.snapshot(),))
        first = series.first_waiting()
        if first is not None and first != before:
            self.handle.registerTimer(first // 1000 + 1)


@dataclass(frozen=True)
class _FinalStates:
    """Turns the sorted rows of a batch frame into the states from which a stream continues."""

    plan: Plan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        series, key = Series(self.plan, None), None
        for batch in batches:
            if not batch.num_rows:
                continue
            columns = [batch.column(index) for index in self.plan.keys]
            starts = _key_starts(batch, self.plan.keys)
            for start, end in pairwise(starts):
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


def _states(initial: DataFrame, plan: Plan, packed: T.StructType) -> DataFrame:
    """Return the state of every series at the end of a batch frame."""
    rows, names = with_plain_names(initial)
    keys = [rows[names[index]] for index in plan.keys]
    order = [rows[names[index]] for index in plan.order]
    rest = [rows[name] for index, name in enumerate(names) if index not in {*plan.keys, *plan.order}]
    rows = rows.repartition(*keys).sortWithinPartitions(*keys, *order, *rest)
    return rows.mapInArrow(_FinalStates(plan), packed)
