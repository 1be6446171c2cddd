"""The pass of a worker over sorted batches: it appends the results to every row.

::

    batches     |  key a  |a a b b b|  c c c c  |  c c c c c  | ...     sorted by key, then in order
    held rows          [ tail |     new rows      ]                      only the columns that windows need
                              ^ computed          ^ held

New rows are collected until a call is worth its overhead. A row whose window looks ahead waits until its
window is complete. After each call the walk drops every row except those that windows of later rows of the
last series reach, so memory is bounded by a window and a batch, however long a series is.

Where rows are sorted by the hash of their key, keys that share a hash have walks of their own::

    hash    | 3 3 3 | 5 5 5 5 5 5 5 | 8 8 | ...       the first sort column
    key     | a a a | b b c b c c b | d d | ...       b and c collide, so their rows are interleaved
    walk    |   0   | 0 0 1 0 1 1 0 |  0  | ...       walks other than the first end with their hash

Almost every hash belongs to one key, and then there is one walk as over any sorted rows. Invariants: the
rows of a key are consecutive among the rows of its walk, and every walk but the first holds only keys of
the current hash. So memory is a window and a batch for each key that shares a hash.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import types as T

from rollstat.calendar_units import SLACK
from rollstat.options import Options
from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import (
    OF_BOUNDS,
    CallWindow,
    SparkCall,
    evaluate_call,
    evaluate_calls,
)
from rollstat.spark.arrow_columns import (
    Kind,
    MaskedColumn,
    changes,
    first_descent,
    missing_rows,
    sort_keys,
    to_arrow,
    to_masked,
)
from rollstat.windows import Windows

_MIN_ROWS = 4096  # fewer new rows do not pay for a call
_FEW_BYTES = 1_000_000  # while pending rows take less, wait for eight times as many
_MAX_ROWS = 65536  # never wait for more rows than this, whatever their width


@dataclass(frozen=True)
class WalkPlan:
    """What the workers compute. Columns are given by index.

    Attributes
    ----------
    keys, order : tuple of int
        Columns that name the series, and columns that order its rows.
    descending : tuple of bool
        Direction of each order column.
    names : tuple of str
        Names of the columns in `keys`, then of those in `order`, for messages.
    unique : bool
        Whether rows that tie in the order are an error.
    ties : tuple of int
        Columns that order rows which tie in the order; none if ties are an error.
    inputs : tuple of (int, Kind)
        Columns that the statistics take.
    time : (int, Kind) or None
        Column of times, for windows by width.
    calls : tuple of SparkCall
        Calls to make.
    options : mapping
        Common options of calls without options of their own.
    numbers_rows : bool
        Whether results depend on the number of a row in its series.
    label : int or None
        Column that tells labels, at whose times the windows are, from rows.
    bucket : int or None
        Column with the number of the bucket, if long series are split.
    rows_before, lengths : mapping
        Number of rows of the series before the first row of a bucket, and number of rows of a bucket with its
        halo, where rows were counted.
    start_states : mapping
        States of the rows before a bucket, as bytes, if states are carried and other buckets come before it.
    walk : type
        The class of the pass over a partition; other classes than `Walk` hold states in place of rows.
    """

    keys: tuple[int, ...]
    order: tuple[int, ...]
    descending: tuple[bool, ...]
    names: tuple[str, ...]
    unique: bool
    ties: tuple[int, ...]
    inputs: tuple[tuple[int, Kind], ...]
    time: tuple[int, Kind] | None
    calls: tuple[SparkCall, ...]
    options: Mapping[str, Any]
    numbers_rows: bool
    label: int | None = None
    bucket: int | None = None
    rows_before: Mapping[int, int] = field(default_factory=dict)
    lengths: Mapping[int, int] = field(default_factory=dict)
    start_states: Mapping[int, bytes] = field(default_factory=dict)
    walk: "type[Walk]" = field(default_factory=lambda: Walk)

    @property
    def fields(self) -> list[T.StructField]:
        """The new columns."""
        return [T.StructField(*pair) for call in self.calls for pair in zip(call.names, call.types)]

    @property
    def windows(self) -> list[CallWindow]:
        """The windows of the calls, each once."""
        return list(dict.fromkeys(call.window for call in self.calls))

    @property
    def looks_ahead(self) -> bool:
        """Whether windows include rows after their own."""
        return any(window.looks_ahead for window in self.windows)

    @property
    def carries_states(self) -> bool:
        """Whether states replace the rows before a batch or a bucket."""
        return self.walk is not Walk and self.label is None

    def narrowed(self, further: Iterable[int] = ()) -> tuple[list[int], "WalkPlan"]:
        """Return the columns that a walk needs and `further` ones, and the plan for a frame of only these."""
        inputs = (index for index, _ in self.inputs)
        indexes = sorted({*self.keys, *self.order, *inputs, *further})
        indexes += [] if self.bucket is None else [self.bucket]
        new = {index: number for number, index in enumerate(indexes)}
        return indexes, replace(
            self,
            ties=tuple(new[index] for index in self.ties if index in new),
            keys=tuple(new[index] for index in self.keys),
            order=tuple(new[index] for index in self.order),
            inputs=tuple((new[index], kind) for index, kind in self.inputs),
            time=None if self.time is None else (new[self.time[0]], self.time[1]),
            label=None if self.label is None else new[self.label],
            bucket=None if self.bucket is None else new[self.bucket],
        )

    @property
    def deciding_ties(self) -> tuple[int, ...]:
        """The columns among `ties` that can decide a result at a label; windows hold all rows of a time."""
        of_order = any(REGISTRY[call.statistic].ordered or not call.window.by_width for call in self.calls)
        return self.ties if of_order else tuple(index for index, _ in self.inputs if index in self.ties)


class _Made(NamedTuple):
    """Windows that calls share.

    Attributes
    ----------
    first : int
        The first held row that they reach.
    windows : Windows
        Over the rows from there on.
    options : mapping
        Of the calls.
    asked : slice
        Which results the calls are asked for.
    """

    first: int
    windows: Windows
    options: Mapping[str, Any]
    asked: slice


class Walk:
    """The pass over one partition."""

    def __init__(self, plan: WalkPlan) -> None:
        self.plan = plan
        # The columns that windows need, in pieces; the last one holds times if windows have a width.
        self.columns: list[list[MaskedColumn]] = [
            [] for _ in range(len(plan.inputs) + (plan.time is not None))
        ]
        self.starts = [0]  # held rows at which a series begins; the first series may have dropped rows
        self.whole: list[MaskedColumn] = []  # the columns and the bounds of the series, for a call
        self.offsets: NDArray[np.int64] = np.zeros(2, np.int64)
        self.dropped = 0  # rows of the first held series that are no longer held
        self.held = 0
        self.computed = 0
        self.min_rows = self.wait_rows = _MIN_ROWS
        self.pending: deque[pa.RecordBatch] = deque()
        self.bytes = 0  # of the pending batches
        self.ready: list[list[pa.Array]] = [[] for _ in plan.fields]
        self.last: list[pa.Array] | None = None  # key and order of the last row

    @property
    def new(self) -> int:
        """The rows without results."""
        return self.held - self.computed

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield every batch with the new columns."""
        for batch in filter(len, batches):
            yield from self.push(batch)
        yield from self.flush(final=True)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take a batch and yield the batches that are complete."""
        self._hold(batch)
        new = self.new
        if new >= self.wait_rows and (self.bytes >= _FEW_BYTES or new >= 8 * self.min_rows):
            yield from self._step(final=False)

    def flush(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Yield all pending batches; unless `final`, windows must not look ahead and more rows may come."""
        if self.pending:
            yield from self._step(final=final)

    def _join(self) -> None:
        """Join the pieces of each held column, and find the offsets of the series."""
        self.whole = [np.ma.concatenate(held) if len(held) > 1 else held[0] for held in self.columns]
        self.offsets = np.unique(np.array([*self.starts, self.held], np.int64))

    def _hold(self, batch: pa.RecordBatch) -> None:
        """Check the order of a batch and keep the columns that windows need."""
        changes = self.changes(batch)
        columns = self.read(batch, changes)
        if self.plan.bucket is not None and not self.held:
            self.dropped = self.plan.rows_before.get(batch.column(self.plan.bucket)[0].as_py(), 0)
        self.pending.append(batch)
        self.bytes += batch.nbytes
        self._keep(batch, changes, columns)

    def _keep(self, batch: pa.RecordBatch, changes: NDArray[np.bool_], columns: list[MaskedColumn]) -> None:
        """Keep the columns of a batch."""
        self.starts += (np.flatnonzero(changes) + self.held).tolist()
        for held, column in zip(self.columns, columns):
            held.append(column)
        self.held += batch.num_rows

    def read(self, batch: pa.RecordBatch, changes: NDArray[np.bool_]) -> list[MaskedColumn]:
        """Check the order of a batch and return the columns that windows need."""
        self._check_order(batch, changes)
        indexes = (*self.plan.keys, *self.plan.order)
        self.last = [batch.column(index).slice(batch.num_rows - 1, 1) for index in indexes]
        columns = [to_masked(batch.column(index), kind) for index, kind in self.plan.inputs]
        return columns if self.plan.time is None else [*columns, read_times(self.plan, batch)]

    def _from_last(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], list[pa.Array], int]:
        """Return keys and order of the last row, if there is one, and of a batch, and where that begins."""
        columns = [batch.column(index) for index in (*self.plan.keys, *self.plan.order)]
        if self.last is not None:
            columns = [pa.concat_arrays(pair) for pair in zip(self.last, columns)]
        keys = len(self.plan.keys)
        return columns[:keys], columns[keys:], 0 if self.last is None else 1

    def changes(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Return which rows have another key than the row before."""
        keys, _, begin = self._from_last(batch)
        if not keys:
            return np.zeros(batch.num_rows, np.bool_)
        return np.append(np.zeros(1 - begin, np.bool_), changes(keys))

    def _check_order(self, batch: pa.RecordBatch, changes: NDArray[np.bool_]) -> None:
        """Check the order of the rows of each key and, if ties are an error, that no two rows tie."""
        _, order, begin = self._from_last(batch)
        bad, tie = first_descent(order, self.plan.descending, changes[1 - begin :])
        if bad >= 0:
            raise RuntimeError(
                f"rows reached the worker out of order at {describe(self.plan, batch, bad - begin)}"
            )
        if self.plan.unique and tie >= 0:
            raise ValueError(
                f"two rows tie in the order at {describe(self.plan, batch, tie - begin)}: "
                "add a column to order_by that distinguishes them, or use ties='columns'"
            )

    def _describe_held(self, row: int) -> str:
        """Return key and order of a held row of the pending batches."""
        row -= self.held - sum(batch.num_rows for batch in self.pending)
        for batch in self.pending:
            if 0 <= row < batch.num_rows:
                return describe(self.plan, batch, row)
            row -= batch.num_rows
        return "a row before this batch"

    def _step(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Compute the rows whose windows are complete, drop old rows, and return the finished batches."""
        self._join()
        windows = self._windows()
        done = self.held if final or not self.plan.looks_ahead else self._complete(windows.values())
        if done > self.computed:
            self._compute(windows, done)
        self._drop(self._first_kept(windows, done), done)
        return self._emit()

    def _options(self, window: CallWindow, first: int) -> dict[str, Any]:
        """Return the options of calls over the held rows from `first` on."""
        offsets = np.unique(np.maximum(self.offsets - first, 0))
        given = window.with_times(self.whole[-1].data[first:])
        return given | ({"segments": offsets} if len(offsets) > 2 else {})

    def _windows(self) -> dict[CallWindow, Windows]:
        """Return the windows of each kind over all held rows."""
        return {window: self._windows_from(window, 0) for window in self.plan.windows}

    def _windows_from(self, window: CallWindow, first: int) -> Windows:
        """Return windows over the held rows from `first` on."""
        plain = replace(window, aging=False)  # ages do not matter to bounds
        options = Options.check(**self._options(plain, first))
        return options.windows(window.given, options.offsets(self.held - first))

    def _complete(self, windows: Iterable[Windows]) -> int:
        """Return the first held row whose windows may need later rows."""
        first = max(int(self.offsets[-2]), self.computed)
        ends = (own.bounds(first, self.held)[1] for own in windows)
        # Calendar units keep the time of day, so that ends may decrease.
        return first + min(int(np.searchsorted(np.maximum.accumulate(end), self.held)) for end in ends)

    def _compute(self, windows: Mapping[CallWindow, Windows], done: int) -> None:
        """Compute the held rows from the first without results up to `done`."""
        made = {key: self._made(key, own, done) for key, own in windows.items()}

        def given(call: SparkCall) -> tuple[list[MaskedColumn], Windows, Mapping[str, Any]]:
            own = made[call.window]
            return [self.whole[number][own.first :] for number in call.inputs], own.windows, own.options

        every: list[NDArray[Any]] = []
        for call, results in zip(self.plan.calls, evaluate_calls(self.plan.calls, given)):
            first, _, _, asked = made[call.window]
            if isinstance(results, Exception):
                results, first = self._retry(call, windows[call.window], done, results), 0
            else:
                results = [result[asked] for result in results]
            every += [self._positions(r, first) if call.positions else r for r in results]
        self._add_results(every)

    def _made(self, window: CallWindow, own: Windows, done: int) -> "_Made":
        """Return the windows of the rows up to `done`, which calls share, over the rows that they reach."""
        if own.few_cut:
            first = min(own.bound(self.computed)[0], self.computed)
            shared, asked = self._windows_from(window, first), slice(self.computed - first, done - first)
        else:
            every, asked = own.explicit(self.computed, done), slice(None)
            first = min(every.first, self.computed if self.plan.label is None else self.held)
            shared = every.from_row(first)
        options = self._options(window, first) if window.aging else window.options
        return _Made(first, shared, options, asked)

    def _add_results(self, results: Iterable[NDArray[Any]]) -> None:
        """Append to each new column."""
        for ready, result, new in zip(self.ready, results, self.plan.fields, strict=True):
            ready.append(to_arrow(result, new.dataType))

    def _positions(self, result: NDArray[Any], first: int) -> NDArray[Any]:
        """Return positions counted from the start of each series instead of the held row `first`."""
        data = np.ma.getdata(result)
        rows = np.maximum(data, 0) + first
        segment = np.searchsorted(self.offsets, rows, side="right") - 1
        moved = rows - self.offsets[segment] + np.where(segment == 0, self.dropped, 0)
        return np.ma.MaskedArray(moved, np.ma.getmaskarray(result) | (data < 0))

    def _retry(self, call: SparkCall, windows: Windows, done: int, error: Exception) -> list[NDArray[Any]]:
        """Compute only the wanted rows after a call failed, or name the first row that fails.

        The held rows cut windows short: those of rows that have their results, and those of rows whose
        windows are incomplete. Such a partial sum may overflow where no whole window does.
        """
        options = dict(call.window.options) | OF_BOUNDS
        if options.get("min_periods") is None:
            options["min_periods"] = windows.min_periods

        def results(last: int) -> list[NDArray[Any]]:
            start, end = windows.bounds(self.computed, last)
            given = [self.whole[number][: int(end.max())] for number in call.inputs]
            times = {"times": self.whole[-1].data[: int(end.max())]} if call.window.aging else {}
            return evaluate_call(call, given, (start, end), options | times)

        if not isinstance(error, MemoryError) and not _fails(results, done):
            return results(done)
        raise failure(call, self.computed, done, results, error, self._describe_held) from error

    def _first_kept(self, windows: Mapping[CallWindow, Windows], done: int) -> int:
        """Return the first held row that later windows of the last series reach."""
        begin = int(self.offsets[-2])
        if done <= begin:
            return begin
        times = self.whole[-1].data[begin:]
        starts = (reached_later(key, times, own.bound(done - 1)[0] - begin) for key, own in windows.items())
        return begin + min(starts)

    def _drop(self, keep: int, done: int) -> None:
        """Drop the held rows before `keep`; those before `done` have results."""
        begin = int(self.offsets[-2])
        self.columns, self.whole = [[column[keep:].copy()] for column in self.whole], []
        self.dropped = keep - begin + (self.dropped if len(self.offsets) == 2 else 0)
        self.starts = [0]
        self.held -= keep
        self.computed = max(done - keep, 0)
        self.wait_rows = max(self.min_rows, min(self.held // 2, _MAX_ROWS))

    def _emit(self) -> Iterator[pa.RecordBatch]:
        """Yield the pending batches whose rows all have results."""
        combined = [
            pa.concat_arrays(arrays) if len(arrays) > 1 else arrays[0] for arrays in self.ready if arrays
        ]
        if not combined:
            return
        first, available = 0, len(combined[0])
        while self.pending and first + self.pending[0].num_rows <= available:
            batch = self.pending.popleft()
            self.bytes -= batch.nbytes
            names = [*batch.schema.names, *(f"new{i}" for i in range(len(combined)))]
            new = (array.slice(first, batch.num_rows) for array in combined)
            yield pa.RecordBatch.from_arrays([*batch.columns, *new], names=names)
            first += batch.num_rows
        self.ready = [[array.slice(first)] if first < available else [] for array in combined]


def read_times(plan: WalkPlan, batch: pa.RecordBatch) -> MaskedColumn:
    """Return times that never decrease, datetimes in microseconds; a missing time is an error."""
    assert plan.time is not None
    index, kind = plan.time
    column = to_masked(batch.column(index), kind)
    values, missing = column.data, missing_rows([column])
    if missing.any():
        where = describe(plan, batch, int(missing.argmax()))
        raise ValueError(f"the order column, which gives times, is missing at {where}")
    if values.dtype.kind == "M":
        values = values.astype("M8[us]", copy=False)
        values = (-values.view(np.int64)).view("M8[us]") if plan.descending[0] else values
    elif plan.descending[0]:
        values = -values
    return np.ma.MaskedArray(values)


def describe(plan: WalkPlan, batch: pa.RecordBatch, row: int) -> str:
    """Return key and order of a row, for messages."""
    named = zip(plan.names, (*plan.keys, *plan.order))
    return ", ".join(f"{name}={batch.column(index)[row].as_py()!r}" for name, index in named)


def failure(
    call: SparkCall,
    low: int,
    high: int,
    attempt: Callable[[int], Any],
    error: Exception,
    described: Callable[[int], str],
) -> Exception:
    """Return an error that names the first row of ``low..high - 1`` at which `attempt` fails."""
    if isinstance(error, MemoryError):
        high = low + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fails(attempt, middle) else (middle, high)
    kinds = (OverflowError, MemoryError, TypeError, ValueError)
    kind = next((kind for kind in kinds if isinstance(error, kind)), RuntimeError)
    return kind(f"{call.statistic} failed at {described(high - 1)}: {error}")


def reached_later(window: CallWindow, times: NDArray[Any], start: int) -> int:
    """Return the first of the rows of a series that later windows reach, from the start of one window.

    A window of calendar units may start before that of an earlier row, at most `SLACK` days.
    """
    if not window.by_calendar or not start:
        return start
    return int(np.searchsorted(times[:start], times[start - 1] - np.timedelta64(SLACK, "D")))


def _fails(attempt: Callable[[int], Any], last: int) -> bool:
    """Return whether a computation up to a row fails."""
    try:
        attempt(last)
    except (ArithmeticError, TypeError, ValueError):
        return True
    return False


@dataclass(frozen=True)
class WalkJob:
    """The function that Spark runs on each sorted partition.

    Attributes
    ----------
    plan : WalkPlan
        What to compute.
    hash_column : int or None
        Column with the hash, if rows are sorted by it first.
    """

    plan: WalkPlan
    hash_column: int | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the batches of one partition with the new columns, in order unless windows look ahead."""
        if self.plan.lengths:
            batches = self._counted(batches)
        if self.hash_column is None:
            return self.plan.walk(self.plan).run(batches)
        return HashWalk(self.plan, self.hash_column).run(batches)

    def _counted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches, and compare the length of a bucket with what was counted before."""
        rows, expected = 0, None
        for batch in filter(len, batches):
            if not rows:
                expected = self.plan.lengths.get(batch.column(self.plan.bucket)[0].as_py())
            rows += batch.num_rows
            yield batch
        if expected not in (None, rows):
            raise ValueError(
                "the frame must have the same rows each time Spark reads it, because a long series is split; "
                f"got {rows} rows in a bucket where {expected} were counted before: persist the frame, "
                "write it to files, or use split=1"
            )


class HashWalk:
    """The walks over one partition: the first, and one for each further key of the current hash."""

    def __init__(self, plan: WalkPlan, hash_column: int) -> None:
        self.plan = plan
        self.hash_column = hash_column
        self.first = plan.walk(plan)
        self.others: list[Walk] = []
        self.hash: int | None = None  # of the last row

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield all rows with the new columns, the rows of a key in order."""
        for batch in filter(len, batches):
            yield from self.push(batch)
        yield from self._end_others()
        yield from self.first.flush(final=True)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take a batch with rows, and yield the rows that are complete."""
        hashes = batch.column(self.hash_column).to_numpy()
        same = np.append(hashes[0] == self.hash, hashes[1:] == hashes[:-1])
        collides = self.first.changes(batch) & same  # the key changes within a hash
        if self.others or collides.any():
            yield from self._push_runs(batch, same, collides)
        else:
            yield from self.first.push(batch)
        self.hash = int(hashes[-1])

    def _push_runs(
        self, batch: pa.RecordBatch, same: NDArray[np.bool_], collides: NDArray[np.bool_]
    ) -> Iterator[pa.RecordBatch]:
        """Push runs without collisions to the first walk, and split the rows of a shared hash by key."""
        starts = np.unique(np.append(np.flatnonzero(~same), 0))
        shared = np.logical_or.reduceat(collides, starts)
        shared[0] |= bool(self.others) and bool(same[0])
        cut = np.append(True, shared[1:] | shared[:-1])  # a shared hash is a run of its own
        edges = [*starts[cut].tolist(), batch.num_rows]
        for begin, end, several in zip(edges, edges[1:], shared[cut]):
            rows = batch.slice(begin, end - begin)
            if not same[begin]:
                yield from self._end_others()
            if several:
                yield from self._push_by_key(rows, new=not same[begin])
            else:
                yield from self.first.push(rows)

    def _push_by_key(self, rows: pa.RecordBatch, *, new: bool) -> Iterator[pa.RecordBatch]:
        """Push rows of one hash to the walks of their keys; `new` if the hash starts here."""
        known = [] if new else [self.first, *self.others]
        keys = len(self.plan.keys)
        walks = {key: walk for walk in known for key in zip(*map(sort_keys, (walk.last or [])[:keys]))}
        own: dict[Any, list[int]] = {}
        for row, key in enumerate(zip(*(sort_keys(rows.column(index)) for index in self.plan.keys))):
            own.setdefault(key, []).append(row)
        # Unless windows look ahead, every walk emits all that it has, and the results are put back in order.
        in_order = not self.plan.looks_ahead
        results: list[pa.RecordBatch] = []
        if in_order:
            yield from self.first.flush(final=False)
        for key, indexes in own.items():
            if key not in walks:
                walks[key] = self.plan.walk(self.plan) if walks else self.first
                self.others += [walks[key]] if len(walks) > 1 else []
            results += walks[key].push(rows.take(pa.array(indexes)))
            results += walks[key].flush(final=False) if in_order else []
        if in_order:
            back = np.argsort(np.concatenate([*own.values()]))
            results = pa.Table.from_batches(results).take(pa.array(back)).combine_chunks().to_batches()
        yield from results

    def _end_others(self) -> Iterator[pa.RecordBatch]:
        for walk in self.others:
            yield from walk.flush(final=True)
        self.others = []


@dataclass(frozen=True)
class ResultsJob:
    """The function that workers run on the needed columns; it returns the results in the order of the rows.

    Attributes
    ----------
    job : WalkJob
        The walk.
    """

    job: WalkJob

    def __call__(self, columns: Iterable[Any]) -> Iterator[pa.Array]:
        """Return the results of one partition."""
        names = [f"rollstat_new{i}" for i in range(len(self.job.plan.fields))]
        # Spark passes a single column without a tuple.
        given = (batch_of(part if isinstance(part, tuple) else [part]) for part in columns)
        for batch in self.job(given):
            yield pa.StructArray.from_arrays(batch.columns[-len(names) :], names=names)


def batch_of(columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """Return columns as a batch, named by their numbers."""
    return pa.RecordBatch.from_arrays(list(columns), names=list(map(str, range(len(columns)))))
