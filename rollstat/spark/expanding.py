"""Expanding windows: states replace the rows before, within a worker and from bucket to bucket.

Within a worker, only the first and the last series among the held rows need a state::

    held rows       |  a a a  |  b b b  |  c c c  |  d d d ...      d continues in the next batch
    computed by     | state   |  one call for both | state          end of a, start of d

Where a long series is split, `BucketStates` makes the state of each bucket, one small task with `StartStates`
combines them in order, and each bucket starts from the state of all buckets before it::

    needed columns -> exchange by bucket, sort, BucketStates -> (bucket, state) -> one task, StartStates --+
    whole rows ----------------------------------------------------------------------- union <-------------+
                                           exchange by bucket, sort: the state is the first row of a bucket

Nothing passes through the driver, and nothing runs before the result is read.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat import snapshots
from rollstat.spark.arrow_columns import MaskedColumn
from rollstat.spark.batch_walk import CALL_ERRORS, Plan, Walk
from rollstat.spark.buckets import BUCKET, HALO, Split
from rollstat.spark.carried_states import CarriedState, counts_rows, initial_state, why_no_state
from rollstat.spark.evaluation import DECIMAL_SUMS
from rollstat.spark.sort_prefix import order_code, order_columns
from rollstat.spark.start import known_warnings
from rollstat.windows import Expanding

__all__ = ["MAX_STATE_BYTES", "STATE", "BucketStates", "CarriedWalk", "StartStates"]
__all__ += ["carrying", "initial_states", "with_states"]

# A state travels as one cell of a binary column. Arrow holds less than 2 GiB in such a column, Java doubles
# its buffer to grow it, and both sides keep copies during the transfer.
MAX_STATE_BYTES = 2**29
STATE = "rollstat_state"
_NAME = "spark.expanding"
_SCHEMA = "bucket int, state binary"
# Up to rounding, the state of these statistics does not depend on the order of the rows.
_ORDER_FREE = {"all", "any", "beta", "corr", "count", "cov", "kth", "kurt", "logsumexp", "max", "mean", "min"}
_ORDER_FREE |= {"minmax", "prod", "ptp", "sem", "skew", "std", "sum", "var", "weighted_mean"}


def carrying(plan: Plan) -> tuple[Plan, str | None]:
    """Return the plan, with carried states if all statistics have one, and why series cannot be split."""
    if not isinstance(plan.window, Expanding):
        return plan, None
    for call in plan.calls:
        reason = why_no_state(call.statistic, plan.options)
        kind = plan.inputs[call.inputs[0]][1]
        if kind.coded and not (kind.scaled and call.statistic in DECIMAL_SUMS):
            reason = f"{kind.spark.simpleString()} has no state of bounded size"
        if reason is not None:
            return plan, f"{call.statistic!r}: {reason}"
    numbers_rows = any(counts_rows(call.statistic, call.parameters) for call in plan.calls)
    carried = replace(plan, carries_states=True, numbers_rows=numbers_rows)
    most = sum(state.max_bytes for state in initial_states(carried))
    if most > MAX_STATE_BYTES:
        names = ", ".join(repr(call.statistic) for call in plan.calls)
        return carried, f"{names}: states take up to {most:,} bytes; at most {MAX_STATE_BYTES:,} can be sent"
    return carried, None


def initial_states(plan: Plan) -> list[CarriedState]:
    """Return the states of all calls before the first row."""
    # Columns reach the kernels with integers widened.
    dtypes = [np.dtype(np.int64) if kind.dtype.kind == "i" else kind.dtype for _, kind in plan.inputs]
    return [
        initial_state(call, [dtypes[number] for number in call.inputs], plan.options) for call in plan.calls
    ]


def _read(plan: Plan, message: bytes) -> list[CarriedState]:
    """Return the states of all calls from bytes."""
    _, parameters, arrays = snapshots.read(message)
    states, rest = initial_states(plan), iter(arrays)
    for state, number in zip(states, parameters["arrays"], strict=True):
        state.load([next(rest) for _ in range(number)])
    return states


def _state_row(bucket: int, states: list[CarriedState]) -> pa.RecordBatch:
    """Return one row with the number of a bucket and the states as bytes."""
    arrays = [state.arrays for state in states]
    message = snapshots.write(_NAME, {"arrays": list(map(len, arrays))}, list(chain(*arrays)))
    cells = [pa.array([bucket], pa.int32()), pa.array([message], pa.binary())]
    return pa.RecordBatch.from_arrays(cells, names=["bucket", "state"])


class CarriedWalk(Walk):
    """The walk over one partition; states stand for all rows before the held ones."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.states = initial_states(plan)

    def begin(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches, and start from the state in the first row if there is one."""
        rows = (batch for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is not None and self.plan.bucket is not None:
            state = first.column(self.plan.bucket + 1)[0]
            if state.is_valid:
                self.states = _read(self.plan, state.as_py())
                first = first.slice(1)
        yield from () if first is None else (first,)
        yield from rows

    def _step(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Compute all held rows and drop them."""
        columns, _, offsets = self._joined()
        if self.starts[1:2] == [0]:  # the first held row is the first of its series
            self.states = initial_states(self.plan)
        results = [self._results(number, columns, offsets) for number in range(len(self.plan.calls))]
        self._add_results(chain(*results))
        self.columns = [[] for _ in self.columns]
        self.starts, self.held, self.dropped = [0], 0, 0
        return self._emit()

    def _results(
        self, number: int, columns: list[MaskedColumn], offsets: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        """Return the results of one call: from states for the first and last series, else from one call."""
        begin, end = int(offsets[1]), int(offsets[-2])
        parts = [self._continue(number, columns, 0, begin)]
        if end > begin:
            parts.append(self._whole_series(number, columns, offsets[1:-1]))
        if end:
            self.states[number] = initial_states(self.plan)[number]
            parts.append(self._continue(number, columns, end, int(offsets[-1])))
        return _concatenated(parts)

    def _continue(
        self, number: int, columns: list[MaskedColumn], first: int, last: int
    ) -> list[MaskedColumn]:
        """Return the results of rows that continue the series of the state; name a row that fails."""
        call, state = self.plan.calls[number], self.states[number]
        given = [columns[index] for index in call.inputs]
        before = state.copy()

        def attempt(end: int) -> list[MaskedColumn]:
            return before.copy().advance([column[first:end] for column in given])

        try:
            return state.advance([column[first:last] for column in given])
        except CALL_ERRORS as error:
            raise self._failure(call, first, last, attempt, error) from error

    def _whole_series(
        self, number: int, columns: list[MaskedColumn], offsets: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        """Return the results of series that begin and end among the held rows."""
        call = self.plan.calls[number]
        first = int(offsets[0])
        given = [column[first : int(offsets[-1])] for column in columns]
        options = self._options(offsets - first, None)
        try:
            results = self._call(call, given, self.plan.window, options)
        except CALL_ERRORS:
            # Compute the series one by one, so that the error names a row.
            parts = []
            for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
                self.states[number] = initial_states(self.plan)[number]
                parts.append(self._continue(number, columns, a, b))
            return _concatenated(parts)
        return [np.ma.asarray(self._positions(r, offsets - first) if call.positions else r) for r in results]


def _concatenated(parts: list[list[MaskedColumn]]) -> list[MaskedColumn]:
    """Return each result of consecutive parts as one column."""
    return [np.ma.concatenate(list(columns)) for columns in zip(*parts)]


@dataclass(frozen=True)
class BucketStates:
    """Makes the states of one bucket: returns its number and these."""

    plan: Plan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the row for one partition."""
        states, bucket, walk = initial_states(self.plan), None, Walk(self.plan)
        for batch in batches:
            if not batch.num_rows:
                continue
            if bucket is None:
                assert self.plan.bucket is not None
                bucket = batch.column(self.plan.bucket)[0].as_py()
                for state in states:
                    state.first_row = self.plan.rows_before.get(bucket, 0)
            columns = walk.read(batch)
            for call, state in zip(self.plan.calls, states):
                state.skip([columns[index] for index in call.inputs])
        if bucket is not None:
            yield _state_row(bucket, states)


@dataclass(frozen=True)
class StartStates:
    """Combines the states of buckets, which come in order: returns each bucket with the state before it.

    Attributes
    ----------
    ends : tuple of int
        The bucket after the last one of each series.
    """

    plan: Plan
    ends: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the rows for all buckets."""
        total: list[CarriedState] = []
        end = 0
        for batch in batches:
            for bucket, message in zip(batch.column(0).to_pylist(), batch.column(1)):
                states = _read(self.plan, message.as_py())
                if bucket >= end:  # the first bucket of a series starts from nothing
                    end = self.ends[bisect_right(self.ends, bucket)]
                    total = states
                    continue
                yield _state_row(bucket, total)
                for state, later in zip(total, states):
                    state.combine(later)


def with_states(split: Split, plan: Plan, schema: T.StructType) -> DataFrame:
    """Return the rows of all buckets, and a row with the state for each bucket that has others before it.

    Parameters
    ----------
    split : Split
        The rows.
    plan : Plan
        What to compute.
    schema : StructType
        Of the columns of the caller.

    Returns
    -------
    DataFrame
        With the column `STATE` after that of the bucket.
    """
    rows = split.rows.drop(HALO)
    states = _bucket_states(rows, split, plan, schema)
    with known_warnings():
        states = states.repartition(1).sortWithinPartitions("bucket")
        states = states.mapInArrow(StartStates(plan, split.series_ends), _SCHEMA)
    nulls = [F.lit(None).cast(field.dataType).alias(name) for name, field in zip(rows.columns, schema)]
    start = states.select(*nulls, F.col("bucket").alias(BUCKET), F.col("state").alias(STATE))
    return rows.withColumn(STATE, F.lit(None).cast("binary")).unionAll(start)


def _bucket_states(rows: DataFrame, split: Split, plan: Plan, schema: T.StructType) -> DataFrame:
    """Return the states of each bucket, computed from only the columns that this takes."""
    inputs = [index for index, _ in plan.inputs]
    order_free = all(call.statistic in _ORDER_FREE for call in plan.calls)
    # If order does not matter, rows that tie in the needed columns are interchangeable.
    ties = [] if plan.unique else inputs if order_free else plan.ties
    needed = sorted({*plan.order, *inputs, *ties})
    rows = rows.where(F.col(BUCKET) >= split.first_bucket)
    rows = rows.select(*(rows.columns[index] for index in needed), BUCKET)
    new = {index: number for number, index in enumerate(needed)}
    job = replace(
        replace(plan, keys=()).reindexed(new),
        names=plan.names[len(plan.keys) :],
        unique=False,
        bucket=len(needed),
        rows_before=split.rows_before,
    )
    rows = rows.repartitionById(split.buckets, BUCKET)
    columns = [rows[name] for name in rows.columns]
    by = order_columns([columns[index] for index in job.order], plan.descending)
    by += [columns[new[index]].asc() for index in ties if index not in plan.order]
    code = order_code(columns[job.order[0]], schema[plan.order[0]].dataType, plan.descending[0])
    if code is not None:
        by.insert(0, code)
    with known_warnings():
        return rows.sortWithinPartitions(*by).mapInArrow(BucketStates(job), _SCHEMA)
