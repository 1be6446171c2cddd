"""What a worker does: walk over sorted batches and append the results to each.

::

    batches     |  key a  |a a b b b|  c c c c  |  c c c c c  | ...     sorted by key, then in order
    held rows          [ tail |     new rows      ]                      only the columns that windows need
                              ^ computed          ^ end

Rows wait until there are enough of them to be worth a call; a row whose window looks ahead waits until
that window is complete. After a call, all rows are forgotten but those that windows of later rows of
the last key still reach, so memory is that of a window and a batch, however long a series is.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rollstat.options import Options
from rollstat.registry import REGISTRY
from rollstat.spark.aggregate_spec import Call, evaluate
from rollstat.spark.arrow_columns import Kind, arrow_type, to_arrow, to_masked
from rollstat.spark.row_order import equal, first_descent
from rollstat.windows import Windows

__all__ = ["Plan", "Walk"]

_LEAST_ROWS = 4096  # fewer new rows than this are not worth a call
_FEW_BYTES = 1_000_000  # rows that wait in less than this wait for eight times as many
_MOST_ROWS = 65536  # rows of any width wait in memory, so never for more than this


@dataclass(frozen=True)
class Plan:
    """What the driver tells the workers, in places of columns.

    Attributes
    ----------
    keys, order : tuple of int
        Columns that name the series, and those that order its rows.
    descending : tuple of bool
        Of each column of the order.
    names : tuple of str
        Of the columns in `keys`, then of those in `order`, for messages.
    unique : bool
        Whether rows that tie in the order are an error.
    inputs : tuple of (int, Kind)
        Columns that statistics are computed of.
    time : (int, Kind) or None
        The column of times, for windows by width.
    calls : tuple of Call
        What to compute.
    window
        In rollstat's language.
    options : mapping
        Common options of the array functions.
    ahead : bool
        Whether windows reach beyond their row.
    width : int or None
        Number of columns that come back, where others follow them.
    parts : int or None
        Where long series are cut: the column with the number of the part, after which comes the one
        that marks rows of a halo, or holds the states before.
    before : mapping
        Rows of its series before the first one of a part, where that is not zero.
    """

    keys: tuple[int, ...]
    order: tuple[int, ...]
    descending: tuple[bool, ...]
    names: tuple[str, ...]
    unique: bool
    inputs: tuple[tuple[int, Kind], ...]
    time: tuple[int, Kind] | None
    calls: tuple[Call, ...]
    window: Any
    options: Mapping[str, Any]
    ahead: bool
    width: int | None = None
    parts: int | None = None
    before: Mapping[int, int] = field(default_factory=dict)

    @property
    def halo(self) -> int | None:
        """The column that marks rows of a halo, if some are."""
        return None if self.parts is None else self.parts + 1

    def moved(self, places: Mapping[int, int]) -> Self:
        """The same over a frame that has its columns in other places."""
        return replace(
            self,
            keys=tuple(places[place] for place in self.keys),
            order=tuple(places[place] for place in self.order),
            inputs=tuple((places[place], kind) for place, kind in self.inputs),
            time=None if self.time is None else (places[self.time[0]], self.time[1]),
            parts=None if self.parts is None else places.get(self.parts),
        )

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over one partition."""
        walk, rows = self.begin(batches)
        return walk.run(rows)

    def walk(self) -> "Walk":
        """A walk with nothing before it."""
        return Walk(self)

    def begin(self, batches: Iterable[pa.RecordBatch]) -> tuple["Walk", Iterable[pa.RecordBatch]]:
        """A walk over one partition, and its rows."""
        return self.walk(), batches


class Walk:
    """The walk over one partition."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.columns: list[list[np.ma.MaskedArray[Any, Any]]] = [[] for _ in plan.inputs]
        self.times: list[NDArray[Any]] = []
        self.starts = [0]  # held rows at which a series begins; the first may have lost rows before it
        self.lost = 0  # rows that the first held series has lost
        self.held = 0
        self.computed = 0
        self.least = self.enough = _LEAST_ROWS
        self.waiting: deque[pa.RecordBatch] = deque()
        self.bytes = 0  # of what waits
        self.ready: list[list[pa.Array]] = [[] for call in plan.calls for _ in call.types]
        self.last: list[pa.Array] | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield every batch with the new columns."""
        for batch in batches:
            if batch.num_rows:
                yield from self.push(batch)
        yield from self.finish()

    def push(
        self, batch: pa.RecordBatch, changes: NDArray[np.bool_] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Take a batch, whose changes of key may be known, and yield those that are complete."""
        self._take(batch, self.changes(batch) if changes is None else changes)
        new = self.held - self.computed
        if new >= self.enough and (self.bytes >= _FEW_BYTES or new >= 8 * self.least):
            yield from self._step(final=False)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Yield what is still there, after the last row."""
        if self.waiting:
            yield from self._step(final=True)

    def flush(self) -> Iterator[pa.RecordBatch]:
        """Yield all that is there, of windows that do not look ahead; later rows may follow."""
        if self.waiting:
            yield from self._step(final=False)

    def skip(self, batch: pa.RecordBatch) -> None:
        """Walk over a batch of one series without results."""
        self._take(batch, self.changes(batch))
        self.waiting.clear()
        self.bytes = 0
        columns, times, offsets = self._joined()
        self._forget(columns, times, self._windows(offsets, times), int(offsets[-2]), self.held)

    def no_results(self, rows: int) -> list[pa.Array]:
        """New columns that are null throughout."""
        types = [data_type for call in self.plan.calls for data_type in call.types]
        return [pa.nulls(rows, arrow_type(data_type)) for data_type in types]

    def _joined(self) -> tuple[list[np.ma.MaskedArray[Any, Any]], NDArray[Any] | None, NDArray[np.int64]]:
        """Held columns, times, and where series begin and end."""
        columns = [np.ma.concatenate(held) if len(held) > 1 else held[0] for held in self.columns]
        times = np.concatenate(self.times) if self.times else None
        return columns, times, np.unique(np.array([*self.starts, self.held], np.int64))

    def _take(self, batch: pa.RecordBatch, changes: NDArray[np.bool_]) -> None:
        """Hold what is needed of a batch, after a look at its order."""
        columns = self.read(batch, changes)
        if self.plan.parts is not None and not self.held:
            self.lost = self.plan.before.get(batch.column(self.plan.parts)[0].as_py(), 0)
        self.waiting.append(batch)
        self.bytes += batch.nbytes
        self.starts += (np.flatnonzero(changes) + self.held).tolist()
        for held, column in zip(self.columns, columns):
            held.append(column)
        if self.plan.time is not None:
            self.times.append(self._read_times(batch, *self.plan.time))
        self.held += batch.num_rows

    def read(
        self, batch: pa.RecordBatch, changes: NDArray[np.bool_] | None = None
    ) -> list[np.ma.MaskedArray[Any, Any]]:
        """Columns of a batch that statistics need, after a look at its order."""
        self._check_order(batch, self.changes(batch) if changes is None else changes)
        places = (*self.plan.keys, *self.plan.order)
        self.last = [batch.column(place).slice(batch.num_rows - 1, 1) for place in places]
        return [to_masked(batch.column(place), kind) for place, kind in self.plan.inputs]

    def _pairs(
        self, batch: pa.RecordBatch, columns: slice
    ) -> Iterator[tuple[list[pa.Array], list[pa.Array], int]]:
        """Some of the keys and the order, of the rows before some rows and of these; the first of these."""
        rows = batch.num_rows
        parts = [batch.column(place) for place in (*self.plan.keys, *self.plan.order)[columns]]
        if self.last is not None:
            yield self.last[columns], [part.slice(0, 1) for part in parts], 0
        yield [part.slice(0, rows - 1) for part in parts], [part.slice(1) for part in parts], 1

    def changes(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Rows whose key is not that of the row before."""
        changes = np.zeros(batch.num_rows, np.bool_)
        for before, after, first in self._pairs(batch, slice(len(self.plan.keys))):
            for a, b in zip(before, after):
                changes[first : first + len(a)] |= ~equal(a, b)
        return changes

    def _check_order(self, batch: pa.RecordBatch, changes: NDArray[np.bool_]) -> None:
        """Look at the order of the rows of each key, and where it is asked for, that none tie."""
        plan = self.plan
        for before, after, first in self._pairs(batch, slice(len(plan.keys), None)):
            new = changes[first : first + len(before[0])]
            bad, tie = first_descent(before, after, list(plan.descending), new)
            if bad >= 0:
                raise RuntimeError(
                    f"rows reached the worker out of order at {self._describe(batch, first + bad)}"
                )
            if plan.unique and tie >= 0:
                raise ValueError(
                    f"two rows tie in the order at {self._describe(batch, first + tie)}: "
                    "add a column to order_by that tells them apart, or take ties='columns'"
                )

    def _read_times(self, batch: pa.RecordBatch, place: int, kind: Kind) -> NDArray[Any]:
        """Times that never decrease, in microseconds or as they are; a missing one is an error."""
        column = to_masked(batch.column(place), kind)
        values, missing = np.ma.getdata(column), np.ma.getmaskarray(column)
        if values.dtype.kind == "f":
            missing = missing | np.isnan(values)
        if missing.any():
            where = self._describe(batch, int(missing.argmax()))
            raise ValueError(f"the order column of a window by width is missing at {where}")
        if values.dtype.kind == "M":
            values = values.astype("M8[us]", copy=False)
            return (-values.view(np.int64)).view("M8[us]") if self.plan.descending[0] else values
        return -values if self.plan.descending[0] else values

    def _describe(self, batch: pa.RecordBatch, row: int) -> str:
        """Key and order of a row, for messages."""
        places = (*self.plan.keys, *self.plan.order)
        parts = zip(self.plan.names, places)
        return ", ".join(f"{name}={batch.column(place)[row].as_py()!r}" for name, place in parts)

    def _describe_held(self, row: int) -> str:
        """Key and order of a held row that waits to be given out."""
        row -= self.held - sum(batch.num_rows for batch in self.waiting)
        for batch in self.waiting:
            if 0 <= row < batch.num_rows:
                return self._describe(batch, row)
            row -= batch.num_rows
        return "a row before this batch"

    def _step(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Compute what can be computed, give out the batches that are complete, forget what is over."""
        columns, times, offsets = self._joined()
        windows = self._windows(offsets, times)
        done = self.held if final or not self.plan.ahead else self._complete(windows, int(offsets[-2]))
        if done > self.computed:
            self._compute(columns, windows, self._options(offsets, times), offsets, done)
        self._forget(columns, times, windows, int(offsets[-2]), done)
        return self._give_out()

    def _options(self, offsets: NDArray[np.int64], times: NDArray[Any] | None) -> dict[str, Any]:
        given = dict(self.plan.options)
        if len(offsets) > 2:
            given["segments"] = offsets
        if times is not None:
            given["times"] = times
        return given

    def _windows(self, offsets: NDArray[np.int64], times: NDArray[Any] | None) -> Windows:
        return Options.check(**self._options(offsets, times)).windows(self.plan.window, offsets)

    def _complete(self, windows: Windows, begin: int) -> int:
        """First held row whose window may reach rows that have not come yet; `begin` starts its series."""
        first = max(begin, self.computed)
        _, end = windows.bounds(first, self.held)
        return first + int(np.searchsorted(end, self.held))

    def _compute(
        self,
        columns: list[np.ma.MaskedArray[Any, Any]],
        windows: Windows,
        options: dict[str, Any],
        offsets: NDArray[np.int64],
        done: int,
    ) -> None:
        """Results of the held rows from the first that has none up to `done`."""
        wanted = slice(self.computed, done)
        place = 0
        for call in self.plan.calls:
            try:
                results = [result[wanted] for result in self._call(call, columns, self.plan.window, options)]
            except (ArithmeticError, MemoryError, TypeError, ValueError) as error:
                results = self._again(call, columns, windows, done, error)
            for result, data_type in zip(results, call.types):
                kept = self._positions(result, offsets) if call.positions else result
                self.ready[place].append(to_arrow(kept, data_type))
                place += 1

    def _call(
        self, call: Call, columns: list[np.ma.MaskedArray[Any, Any]], window: Any, options: dict[str, Any]
    ) -> list[NDArray[Any]]:
        inputs = [columns[number] for number in call.inputs]
        return evaluate(REGISTRY[call.statistic], inputs, window, call.parameters, options)

    def _positions(self, result: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
        """Rows counted from the start of each series instead of among the held ones."""
        data = np.ma.getdata(result)
        segment = np.searchsorted(offsets, np.maximum(data, 0), side="right") - 1
        moved = data - offsets[segment] + np.where(segment == 0, self.lost, 0)
        return np.ma.MaskedArray(moved, np.ma.getmaskarray(result) | (data < 0))

    def _again(
        self,
        call: Call,
        columns: list[np.ma.MaskedArray[Any, Any]],
        windows: Windows,
        done: int,
        error: Exception,
    ) -> list[NDArray[Any]]:
        """Results of exactly the wanted rows after a call failed; the first that fails is named.

        What is held cuts windows off, of rows that have their results and of rows whose windows are not
        complete; sums of such a part may overflow where no window's does.
        """
        least = self.plan.options.get("min_periods")
        options = dict(self.plan.options) | {"center": False, "closed": None}
        options["min_periods"] = windows.min_periods if least is None else least
        low, high = self.computed, done

        def results(last: int) -> list[NDArray[Any]]:
            start, end = windows.bounds(self.computed, last)
            return self._call(call, [column[: end[-1]] for column in columns], (start, end), options)

        def fails(last: int) -> bool:
            try:
                results(last)
            except (ArithmeticError, TypeError, ValueError):
                return True
            return False

        if isinstance(error, MemoryError):
            high = low + 1
        elif isinstance(error, OverflowError) and not fails(done):
            return results(done)
        raise self._failure(call, low, high, fails, error) from error

    def _failure(
        self, call: Call, low: int, high: int, fails: Callable[[int], bool], error: Exception
    ) -> Exception:
        """Error that names the first row of ``low, ..., high - 1`` that fails."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(middle) else (middle, high)
        kinds = (OverflowError, MemoryError, TypeError, ValueError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), RuntimeError)
        return kind(f"{call.statistic} failed at {self._describe_held(high - 1)}: {error}")

    def _forget(
        self,
        columns: list[np.ma.MaskedArray[Any, Any]],
        times: NDArray[Any] | None,
        windows: Windows,
        begin: int,
        done: int,
    ) -> None:
        """Keep only what windows of later rows of the last series, which starts at `begin`, reach."""
        keep = int(windows.bounds(done - 1, done)[0][0]) if done > begin else begin
        self.columns = [[column[keep:].copy()] for column in columns]
        self.times = [] if times is None else [times[keep:].copy()]
        self.lost = keep - begin + (self.lost if begin == 0 else 0)
        self.starts = [0]
        self.held -= keep
        self.computed = done - keep
        self.enough = max(self.least, min(self.computed // 2, _MOST_ROWS))

    def _give_out(self) -> Iterator[pa.RecordBatch]:
        """Batches whose rows all have their results."""
        combined = [pa.concat_arrays(arrays) for arrays in self.ready if arrays]
        if not combined:
            return
        first, available = 0, len(combined[0])
        while self.waiting and first + self.waiting[0].num_rows <= available:
            batch = self.waiting.popleft()
            self.bytes -= batch.nbytes
            new = [array.slice(first, batch.num_rows) for array in combined]
            first += batch.num_rows
            result = self._append(batch, new)
            if result.num_rows:
                yield result
        self.ready = [[array.slice(first)] for array in combined]

    def _append(self, batch: pa.RecordBatch, new: list[pa.Array]) -> pa.RecordBatch:
        """Batch with the new columns, without the rows of a halo."""
        names = [*batch.schema.names[: self.plan.width], *(f"new{i}" for i in range(len(new)))]
        result = pa.RecordBatch.from_arrays([*batch.columns[: self.plan.width], *new], names=names)
        if self.plan.halo is None:
            return result
        own = pc.invert(batch.column(self.plan.halo))
        return result if pc.all(own).as_py() else result.filter(own)
