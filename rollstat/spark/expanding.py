"""Expanding windows: states of bounded size replace the earlier rows, in a worker and from bucket to bucket.

::

    rows of a series    | 5 2 9 4 7 1 8 3 |  6 0 7 ...          a batch or a bucket ends
    kth, k = 2          |  2 1            |  with their rows    the k smallest; no other can become the result
    sum                 |  39             |                     one state of the operator

The states of two neighbouring ranges of rows combine into one. A median or a quantile may later be any
earlier observation, so it has no such state. Within a worker, only the first and the last series among the
held rows need a state::

    held rows       |  a a a  |  b b b  |  c c c  |  d d d ...      d continues in the next batch
    computed by     | state   |  one call for both | state          end of a, start of d

Where a long series is split, tasks make the state of each bucket (`BucketStates`), and the driver combines
them in order (`start_states`). Each bucket then starts from the state of all buckets before it.
"""

import pickle
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rollstat.operators.interface import NOTHING
from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import (
    CALL_ERRORS,
    DECIMAL_SUMS,
    SparkCall,
    decimal_results,
    evaluate,
    evaluate_call,
    integers,
)
from rollstat.spark.arrow_columns import MaskedColumn, missing_rows
from rollstat.spark.batch_walk import Walk, WalkPlan, failure
from rollstat.spark.buckets import MAX_BUCKETS
from rollstat.streaming import STREAMS
from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.operator_states import NumberWindow
from rollstat.streaming.table import OperatorRow
from rollstat.streaming.window_spec import WindowSpec
from rollstat.windows import Expanding

# The states before all buckets go to each worker as a part of the plan.
MAX_STATE_BYTES = 2**27 // MAX_BUCKETS
STATE_SCHEMA = "bucket long, state binary"


def _is_operator(statistic: str) -> bool:
    cls = STREAMS.get(statistic)
    return statistic == "aggregate" or (cls is not None and isinstance(cls._row, OperatorRow))


def _operator(statistic: str, parameters: Mapping[str, Any]) -> Any:
    if statistic == "aggregate":
        return parameters["operator"]
    return STREAMS[statistic]._row.make(parameters)


def _is_extremum(statistic: str) -> bool:
    return REGISTRY[statistic].family == "extrema"


def why_no_state(statistic: str, options: Mapping[str, Any]) -> str | None:
    """Return why a statistic has no state of bounded size; None if it has one."""
    if options.get("algorithm", "auto") != "auto":
        return f"with algorithm={options['algorithm']!r} it asks for all rows at once"
    if options.get("closed") in ("left", "neither"):
        return f"with closed={options['closed']!r} the row itself would be in the state"
    if statistic in ("kth", "argkth") or _is_extremum(statistic) or _is_operator(statistic):
        return None
    return "any earlier row may become the result, so its state has no bound"


def counts_rows(statistic: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether the state depends on the row numbers in the series."""
    if not _is_operator(statistic):
        return False
    operator = _operator(statistic, parameters)
    return bool(getattr(operator, "with_row", False)) and not getattr(operator, "ignores_row", False)


class CarriedState:
    """What one call must know about the earlier rows.

    Parameters
    ----------
    call : SparkCall
        The call.
    options : mapping
        The common options.

    Attributes
    ----------
    rows : int
        Rows of the series so far.
    count : int
        Observations among them.
    first_row : int
        Row number in the series of the first row, if the state counts rows.
    kept : list of ndarray
        The rest of the state.
    """

    kept: list[NDArray[Any]]

    def __init__(self, call: SparkCall, options: Mapping[str, Any]) -> None:
        self.call, self.statistic = call, REGISTRY[call.statistic]
        self.nan_policy = options.get("nan_policy", "omit")
        given = (options.get("min_periods"), self.statistic.min_periods, 1)
        self.min_periods: int = next(least for least in given if least is not None)
        self.rows = self.count = self.first_row = 0

    def advance(self, columns: Sequence[MaskedColumn]) -> list[MaskedColumn]:
        """Add rows and return the results of each."""
        missing = missing_rows(columns)
        if self.nan_policy == "raise" and missing.any():
            raise ValueError("the columns must have no missing value with nan_policy='raise'")
        results = self._results(columns, missing, self.count + np.cumsum(~missing))
        masked = np.zeros(len(missing), np.bool_)
        if self.nan_policy == "propagate":
            masked = np.logical_or.accumulate(missing) | (self.count < self.rows)
        self._count(len(missing), int((~missing).sum()))
        return [np.ma.MaskedArray(result.data, np.ma.getmaskarray(result) | masked) for result in results]

    def skip(self, columns: Sequence[MaskedColumn]) -> None:
        """Add rows without computing results."""
        missing = missing_rows(columns)
        self._add(columns, missing)
        self._count(len(missing), int((~missing).sum()))

    def combine(self, later: Self) -> None:
        """Add the rows of the state `later`, which follow the rows of this one."""
        self._combine(later)
        self._count(later.rows, later.count)

    def _count(self, rows: int, count: int) -> None:
        self.rows += rows
        self.count += count

    def copy(self) -> Self:
        """Return an equal, independent state."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The whole state."""
        return [np.array([self.rows, self.count], np.int64), *self._folded()]

    @property
    def max_bytes(self) -> int:
        """The most bytes that the state can take."""
        return sum(array.nbytes for array in self.arrays)

    def load(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Replace the state by what `arrays` returned."""
        (self.rows, self.count), *kept = arrays[0].tolist(), *arrays[1:]
        self.kept = kept

    def _folded(self) -> list[NDArray[Any]]:
        """Return what to store beside the numbers of rows."""
        return self.kept

    # The subclasses define these.
    _results: Any
    _add: Any
    _combine: Any


class _SelectionState(CarriedState):
    """The observations that can still become a result, oldest first, and their rows."""

    def __init__(self, call: SparkCall, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        ranks = [int(rank) for rank in np.atleast_1d(call.parameters.get("k", 1)).tolist()]
        self.low = max([rank for rank in ranks if rank > 0], default=0)
        self.high = max([-rank for rank in ranks if rank < 0], default=0)
        self.kept = [np.empty(0, dtype), np.empty(0, np.int64)]

    def _results(
        self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        (column,), (values, positions) = columns, self.kept
        kept, new = len(values), len(column)
        both = np.ma.concatenate([np.ma.MaskedArray(values, np.zeros(kept, np.bool_)), column])
        parameters = dict(self.call.parameters)
        relative_to = parameters.pop("relative_to", "data")
        options = {"min_periods": 1, "nan_policy": self.nan_policy}
        results = [r[kept:] for r in evaluate(self.statistic, [both], Expanding(), parameters, options)]
        rows = np.arange(self.rows, self.rows + new)
        positions = np.concatenate([positions, rows])
        self._add(columns, missing)
        insufficient = count < max(self.min_periods, 1)
        finished = []
        for result in results:
            data, mask = np.ma.getdata(result), np.ma.getmaskarray(result) | insufficient
            if self.statistic.name.startswith("arg"):
                mask |= data < 0
                data = positions[np.maximum(data, 0)]
                data = rows - data if relative_to == "newest" else data
            finished.append(np.ma.MaskedArray(data, mask))
        return finished

    def _add(self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_]) -> None:
        new = np.flatnonzero(~missing)
        self._append(columns[0].data[new], self.rows + new)

    def _combine(self, later: "_SelectionState") -> None:
        values, positions = later.kept
        self._append(values, self.rows + positions)

    def _append(self, values: NDArray[Any], positions: NDArray[np.int64]) -> None:
        """Append observations, and keep only those that can become a result of later rows."""
        values = np.concatenate([self.kept[0], values])
        positions = np.concatenate([self.kept[1], positions])
        keys = values.view(f"i{values.itemsize}") if values.dtype.kind in "Mm" else values
        keep = np.zeros(len(values), np.bool_)
        if _is_extremum(self.statistic.name) and len(values):
            # The first or the last of equal values is the result, depending on the statistic.
            for extreme in (keys.min(), keys.max()):
                keep[np.flatnonzero(keys == extreme)[[0, -1]]] = True
        elif len(values):
            # Of equal values the older ranks lower.
            keep |= _smallest(keys, self.low)
            keep |= ~_smallest(keys, len(keys) - self.high)
        self.kept = [values[keep], positions[keep]]

    @property
    def max_bytes(self) -> int:
        """The most bytes that the state can take."""
        kept = 4 if _is_extremum(self.statistic.name) else self.low + self.high
        return super().max_bytes + kept * sum(array.itemsize for array in self.kept)


class _OperatorState(CarriedState):
    """The state of an operator."""

    def __init__(self, call: SparkCall, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        self._dtype = dtype
        self._with = OperatorAdapter(_operator(call.statistic, call.parameters), dtype)
        self._window = NumberWindow(self._with, WindowSpec("expanding"), "daba")
        self._required = _required(call, dtype)

    def _extend(self, columns: Sequence[MaskedColumn]) -> tuple[list[NDArray[Any]], NDArray[np.bool_]]:
        given = [column.astype(self._dtype, copy=False) for column in columns[: self._with.columns]]
        row = self.first_row + self.rows
        times = [column.data.astype("M8[ns]").view(np.int64) for column in columns[self._with.columns :]]
        values, missing = self._with.encode_columns(self._with.arrays(given), row, *times)
        stamps = np.arange(row, row + len(missing))
        written = self._window.extend(stamps, values, missing)
        return written.arrays, written.failed

    def _results(
        self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        outs, failed = self._extend(columns)
        insufficient = count < max(self.min_periods, self._required)
        if not self.min_periods and self._with.identity is not NOTHING:
            outs[0][count == 0] = self._with.identity
            insufficient &= count > 0
        if (failed & ~insufficient).any():
            raise OverflowError("an exact result does not fit in 64 bits")
        if self._with.counts_rows:
            outs = outs[:-1]  # the last one counts observations
        return [np.ma.MaskedArray(out, insufficient) for out in outs]

    def _add(self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_]) -> None:
        self._extend(columns)

    def _combine(self, later: "_OperatorState") -> None:
        self._window.join(later._window)

    def copy(self) -> Self:
        """Return an equal, independent state."""
        other = super().copy()
        other._window = self._window.copy()
        return other

    def _folded(self) -> list[NDArray[Any]]:
        window = self._window.copy()
        window.fold()
        return window.state

    def load(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Replace the state by what `arrays` returned."""
        super().load(arrays)
        header, cells, stamps = self.kept
        # Stored records are not marked as aligned. Without a copy astype would keep them so, and kernels
        # would be compiled again for them.
        self._window.state = [header, np.ascontiguousarray(cells).astype(self._window.cells.dtype), stamps]


class _DecimalState(CarriedState):
    """The sum of decimals, as one integer of Python."""

    def __init__(self, call: SparkCall, options: Mapping[str, Any]) -> None:
        super().__init__(call, options)
        self.kept = [np.zeros(1, object)]

    def _results(
        self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        sums = self.kept[0] + np.cumsum(integers(columns[0]))
        self._add(columns, missing)
        counts = count if self.call.statistic == "mean" else None
        insufficient = count < self.min_periods
        return [decimal_results(sums, counts, insufficient, self.call.scale, self.call.types[0])]

    def _add(self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_]) -> None:
        self.kept = [self.kept[0] + sum(integers(columns[0]))]

    def _combine(self, later: "_DecimalState") -> None:
        self.kept = [self.kept[0] + later.kept[0]]


def _smallest(keys: NDArray[Any], k: int) -> NDArray[np.bool_]:
    """Return which values are the k smallest; ties go to the first."""
    if not 0 < k < len(keys):
        return np.full(len(keys), k > 0)
    kth = np.partition(keys, k - 1)[k - 1]
    keep: NDArray[np.bool_] = keys < kth
    keep[np.flatnonzero(keys == kth)[: k - int(keep.sum())]] = True
    return keep


def _required(call: SparkCall, dtype: np.dtype[Any]) -> int:
    """Return the fewest observations that give a result, by calling the function on a few values."""
    statistic = REGISTRY[call.statistic]
    rows = 8 + int(call.parameters.get("ddof", 0))
    column = np.ma.MaskedArray(np.arange(1, rows + 1).astype(dtype), np.zeros(rows, np.bool_))
    inputs = [column] * statistic.series
    options = replace(call.window, options={"min_periods": 1}).with_times(np.arange(rows).astype("M8[ns]"))
    result = evaluate(statistic, inputs, Expanding(), call.parameters, options)[0]
    return 1 + int(np.ma.getmaskarray(result).argmin())


def initial_state(
    call: SparkCall, dtypes: Sequence[np.dtype[Any]], options: Mapping[str, Any]
) -> CarriedState:
    """Return the state of a call before the first row.

    Parameters
    ----------
    call : SparkCall
        Of a statistic that has a state.
    dtypes : sequence of dtype
        Of its columns, as workers have them.
    options : mapping
        The common options.
    """
    if call.sums_decimals:
        return _DecimalState(call, options)
    if not _is_operator(call.statistic):
        return _SelectionState(call, options, dtypes[0])
    dtype = dtypes[0] if len(dtypes) == 1 else np.dtype(np.float64)
    return _OperatorState(call, options, dtype)


def carrying(plan: WalkPlan) -> tuple[WalkPlan, str | None]:
    """Return the plan, with carried states if all statistics have one, and why series cannot be split."""
    expanding = [isinstance(window.given, Expanding) for window in plan.windows]
    if not any(expanding):
        return plan, None
    for call in plan.calls:
        reason = why_no_state(call.statistic, call.window.options)
        if not all(expanding) or plan.label is not None:
            reason = "beside other windows, and at labels, its rows are held"
        kind = plan.inputs[call.inputs[0]][1]
        if kind.coded and not (kind.scaled and call.statistic in DECIMAL_SUMS):
            reason = f"{kind.spark.simpleString()} has no state of bounded size"
        if reason is not None:
            return plan, f"{call.statistic!r}: {reason}"
    numbers_rows = any(counts_rows(call.statistic, call.parameters) for call in plan.calls)
    carried = replace(plan, walk=CarriedWalk, numbers_rows=numbers_rows)
    most = sum(state.max_bytes for state in initial_states(carried))
    if most > MAX_STATE_BYTES:
        names = ", ".join(repr(call.statistic) for call in plan.calls)
        return carried, f"{names}: states take up to {most:,} bytes; at most {MAX_STATE_BYTES:,} can be sent"
    return carried, None


def initial_states(plan: WalkPlan) -> list[CarriedState]:
    """Return the states of all calls before the first row."""
    # Columns reach the kernels with integers widened.
    dtypes = [np.dtype(np.int64) if kind.dtype.kind == "i" else kind.dtype for _, kind in plan.inputs]
    return [
        initial_state(call, [dtypes[number] for number in call.inputs], call.window.options)
        for call in plan.calls
    ]


def _loaded(plan: WalkPlan, stored: bytes) -> list[CarriedState]:
    """Return the states of all calls from what `_stored` returned."""
    states = initial_states(plan)
    for state, arrays in zip(states, pickle.loads(stored), strict=True):
        state.load(arrays)
    return states


def _stored(states: list[CarriedState]) -> bytes:
    """Return the states of all calls as bytes, which Spark passes between tasks of one job."""
    return pickle.dumps([state.arrays for state in states])


class CarriedWalk(Walk):
    """The walk over one partition; states stand for all rows before the held ones."""

    def __init__(self, plan: WalkPlan) -> None:
        super().__init__(plan)
        self.states = initial_states(plan)

    def skip(self, batch: pa.RecordBatch) -> None:
        """Take a batch of one series without computing results."""
        columns = self.read(batch, self.changes(batch))
        for call, state in zip(self.plan.calls, self.states):
            state.skip(_taken(call, columns))

    def _hold(self, batch: pa.RecordBatch) -> None:
        """Hold a batch; the first one starts from the state before its bucket."""
        if self.last is None and self.plan.bucket is not None:
            before = self.plan.start_states.get(batch.column(self.plan.bucket)[0].as_py())
            self.states = self.states if before is None else _loaded(self.plan, before)
        super()._hold(batch)

    def _step(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Compute all held rows and drop them."""
        self._join()
        if self.starts[1:2] == [0]:  # the first held row is the first of its series
            self.states = initial_states(self.plan)
        self._add_results(chain(*map(self._results, range(len(self.plan.calls)))))
        self.columns, self.whole = [[] for _ in self.columns], []
        self.starts, self.held, self.dropped = [0], 0, 0
        return self._emit()

    def _results(self, number: int) -> list[MaskedColumn]:
        """Return the results of one call: from states for the first and last series, else from one call."""
        begin, end = int(self.offsets[1]), int(self.offsets[-2])
        parts = [self._continue(number, 0, begin)]
        if end > begin:
            parts.append(self._whole_series(number, self.offsets[1:-1]))
        if end:
            parts.append(self._start(number, end, self.held))
        return _concatenated(parts)

    def _start(self, number: int, first: int, last: int) -> list[MaskedColumn]:
        """Return the results of rows with which a series starts."""
        self.states[number] = initial_states(self.plan)[number]
        return self._continue(number, first, last)

    def _continue(self, number: int, first: int, last: int) -> list[MaskedColumn]:
        """Return the results of rows that continue the series of the state; name a row that fails."""
        call, before = self.plan.calls[number], self.states[number]

        def attempt(end: int) -> list[MaskedColumn]:
            state = self.states[number] = before.copy()
            return state.advance([column[first:end] for column in _taken(call, self.whole)])

        try:
            return attempt(last)
        except CALL_ERRORS as error:
            raise failure(call, first, last, attempt, error, self._describe_held) from error

    def _whole_series(self, number: int, offsets: NDArray[np.int64]) -> list[MaskedColumn]:
        """Return the results of series that begin and end among the held rows."""
        call, first, last = self.plan.calls[number], int(offsets[0]), int(offsets[-1])
        given, segments = [self.whole[index][first:last] for index in call.inputs], offsets - first
        options = call.window.with_times(self.whole[-1].data[first:last])
        options |= {"segments": segments} if len(segments) > 2 else {}
        try:
            results = evaluate_call(call, given, call.window.given, options)
        except CALL_ERRORS:
            # Compute the series one by one, so that the error names a row.
            return _concatenated([self._start(number, a, b) for a, b in pairwise(offsets.tolist())])
        return [np.ma.asarray(self._positions(r, first) if call.positions else r) for r in results]


def _taken(call: SparkCall, columns: Sequence[MaskedColumn]) -> list[MaskedColumn]:
    """Return the columns that a call takes, and the times, which are the last one, if its rows age."""
    return [*(columns[index] for index in call.inputs), *columns[-1:][: call.window.aging]]


def _concatenated(parts: list[list[MaskedColumn]]) -> list[MaskedColumn]:
    """Return each result of consecutive parts as one column."""
    return [np.ma.concatenate(list(columns)) for columns in zip(*parts)]


@dataclass(frozen=True)
class BucketStates:
    """Makes the states of one bucket: returns its number and these."""

    plan: WalkPlan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the row for one partition."""
        walk, bucket = CarriedWalk(self.plan), None
        for batch in filter(len, batches):
            if bucket is None:
                assert self.plan.bucket is not None
                bucket = batch.column(self.plan.bucket)[0].as_py()
                for state in walk.states:
                    state.first_row = self.plan.rows_before.get(bucket, 0)
            walk.skip(batch)
        if bucket is not None:
            yield pa.RecordBatch.from_pylist([{"bucket": bucket, "state": _stored(walk.states)}])


def start_states(plan: WalkPlan, own: Mapping[int, bytes], ends: Sequence[int]) -> dict[int, bytes]:
    """Return the states before each bucket that has others before it.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    own : mapping
        The states of each bucket that has rows.
    ends : sequence of int
        The bucket after the last one of each series, in order.
    """
    total: list[CarriedState] = []
    end, found = 0, {}
    for bucket in sorted(own):
        states = _loaded(plan, own[bucket])
        if bucket >= end:  # the first bucket of a series starts from nothing
            end = ends[bisect_right(ends, bucket)]
            total = states
            continue
        found[bucket] = _stored(total)
        for state, later in zip(total, states):
            state.combine(later)
    return found
