"""The series of a stream: the rows that later windows need, and the results of new rows.

::

    state of a series     | part | part | part | tail |     in order; the header holds the tail and the counts
    rows of many series   | held a |new a| held b |new b| held c |new c| ...
    results                         ^^^^^          ^^^^^          ^^^^^      of one call for each statistic

A micro-batch brings a few rows to each of many series. So the rows of many series lie end to end, and one
call computes the new rows of all. A part has `PART` rows and is never changed, unless a late row belongs into
it: a batch writes new parts and the tail. It reads the parts that the windows of the last row reach. It reads
the older parts too if a window of a late row starts there, and if it may complete a part, to remove those
that no window can reach any more. The state depends on no kernel.

A row that comes after a later row of its series is put in its place, if the state holds a row before its
windows; otherwise it is late. So with a horizon of 2 the state holds the windows of all rows within the
windows of the last row.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rollstat.calendar_units import at_most
from rollstat.options import Options, parse_width, width_text
from rollstat.spark.aggregates import OF_BOUNDS, CallWindow, SparkCall, evaluate_call, evaluate_calls
from rollstat.spark.arrow_columns import (
    MaskedColumn,
    arrow_type,
    changes,
    compare,
    run_starts,
    sort_keys,
    to_arrow,
    to_masked,
)
from rollstat.spark.batch_walk import WalkPlan, describe, failure, read_times
from rollstat.windows import ExplicitWindows

PART = 2048  # rows
HEADER = -1  # in place of the number of a part
_ROWS = 2**18  # in one call, unless a series has more

RETURNED, LATE, NULL_TIME = range(3)  # fates of a row


class Entry(NamedTuple):
    """An entry of the state: a header, or a part, of which only the rows are used.

    Attributes
    ----------
    rows : bytes
        Rows of the state's columns, as an Arrow message without a schema.
    dropped : int
        Rows of the series before the first held one.
    first, parts : int
        Number of the first part, and how many there are.
    last : int
        Time of the last row in microseconds, if series are forgotten by their times.
    older : int
        How many of the parts, from the first one, no window of the last row or a later row reaches.
    """

    rows: bytes
    dropped: int = 0
    first: int = 0
    parts: int = 0
    last: int = 0
    older: int = 0


class Entries(dict[tuple[str, int], Any]):
    """A state in memory, with the methods of Spark's `MapState`."""

    getValue = dict.get
    updateValue = dict.__setitem__
    removeKey = dict.__delitem__


@dataclass
class _Series:
    """A series in the state, and its rows without those of its `unread` first parts."""

    key: str
    header: Entry
    rows: list[pa.RecordBatch]
    unread: int

    @property
    def held(self) -> int:
        return sum(batch.num_rows for batch in self.rows)


@dataclass
class _Merged:
    """Held and new rows of several series in order.

    Attributes
    ----------
    place : ndarray
        Which of the held rows and then the new rows comes next.
    number : ndarray
        Number of the series of each row.
    rows : RecordBatch
        The columns of the state.
    times : ndarray
        The times of the rows, if windows or ages depend on them.
    edges : ndarray
        Where each series starts, and the number of rows.
    offsets : ndarray
        The same, also where a series starts anew after a gap.
    bounds : mapping
        Where the windows of all rows start and end, and how many observations they need.
    reached : list of ndarray
        Where windows start that hold all that later ones reach: with a horizon of 2 of twice the width, and
        for calendar units of a width that none exceeds.
    """

    place: NDArray[np.int64]
    number: NDArray[np.int64]
    rows: pa.RecordBatch
    times: NDArray[Any]
    edges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    bounds: dict[CallWindow, tuple[NDArray[np.int64], NDArray[np.int64], int]]
    reached: list[NDArray[np.int64]]

    @property
    def first(self) -> NDArray[np.int64]:
        """The first row that any window of each row holds."""
        starts = [start for start, _, _ in self.bounds.values()]
        least: NDArray[np.int64] = np.minimum.reduce([*starts, np.arange(len(self.place))])
        return least


class SeriesRows:
    """Takes new rows of any series.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    horizon : int
        1 if no row comes after a later row of its series, otherwise 2.
    keep : int, optional
        Microseconds after which the next row starts a new series.
    part : int
        Rows of a part.
    results : bool
        Whether to compute results.
    """

    def __init__(
        self, plan: WalkPlan, *, horizon: int, keep: int | None = None, part: int = PART, results: bool = True
    ) -> None:
        self.plan, self.horizon, self.keep, self.part, self.results = plan, horizon, keep, part, results
        self.columns = sorted({*plan.order, *(index for index, _ in plan.inputs)})  # of the state
        self.new_keys: list[str] = []  # that the state did not hold

    def run(self, rows: pa.RecordBatch, state: Any) -> Iterator[pa.RecordBatch]:
        """Yield new rows, none without a time, with the new columns and their fate.

        Parameters
        ----------
        rows : RecordBatch
            Whole rows of any series, in any order.
        state : Entries or MapState
            The state, by the text of the key and the number of the part; it is changed.
        """
        if self.plan.time is not None:
            read_times(self.plan, rows)
        keys, number = self.numbered(rows)
        rows = self._sorted(rows, number)
        schema = self._stored(rows.slice(0, 0)).schema
        edges = [0, *np.cumsum(np.bincount(number)).tolist()]
        given: list[_Series] = []
        first = size = 0
        for i, key in enumerate(keys):
            given.append(self._read(key, state, schema, edges[i + 1] - edges[i]))
            size += given[-1].held + edges[i + 1] - edges[i]
            if size >= _ROWS or i + 1 == len(keys):
                part = rows.slice(edges[first], edges[i + 1] - edges[first])
                yield from self._step(given, part, np.diff(edges[first : i + 2]), state)
                given, first, size = [], i + 1, 0

    def numbered(self, rows: pa.RecordBatch) -> tuple[list[str], NDArray[np.int64]]:
        """Return the keys as text, and for each row the number of its key."""
        columns = [rows.column(index) for index in self.plan.keys]
        starts = run_starts(columns)
        firsts = pa.array(starts[:-1])
        found: dict[str, int] = {}
        runs = [
            found.setdefault(repr(key), len(found))
            for key in zip(*(sort_keys(column.take(firsts)) for column in columns))
        ]
        return list(found), np.repeat(np.array(runs, np.int64), np.diff(starts))

    def _sorted(self, rows: pa.RecordBatch, number: NDArray[np.int64]) -> pa.RecordBatch:
        """Return the rows by their keys, in the order in which a batch job takes them."""
        place = _in_order([rows.column(index) for index in self.plan.order], number)
        rows, number = rows.take(pa.array(place)), number[place]
        order = [pa.array(number), *(rows.column(index) for index in self.plan.order)]
        if rows.num_rows > 1 and not changes(order).all():
            by = [number.tolist()]
            by += [sort_keys(rows.column(index)) for index in (*self.plan.order, *self.plan.ties)]
            keys = list(zip(*by))
            rows = rows.take(pa.array(sorted(range(rows.num_rows), key=keys.__getitem__)))
        return rows

    def _stored(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the state, whose types no setting of Spark changes."""
        columns = [rows.column(index) for index in self.columns]
        columns = [column.cast(stored_type(column.type)) for column in columns]
        return pa.RecordBatch.from_arrays(columns, names=list(map(str, self.columns)))

    def _read(self, key: str, state: Any, schema: pa.Schema, new: int) -> _Series:
        """Return a series from the state, with older parts only if `new` rows may complete a part."""
        stored = state.getValue((key, HEADER))
        if stored is None:
            self.new_keys.append(key)
            return _Series(key, Entry(b""), [], 0)
        header = Entry(*stored)
        tail = pa.ipc.read_record_batch(pa.py_buffer(header.rows), schema)
        series = _Series(key, header, [tail], header.parts)
        self._read_parts(series, state, header.older if tail.num_rows + new < self.part else 0)
        return series

    def _read_parts(self, series: _Series, state: Any, first: int) -> None:
        """Read the unread parts of a series from the part `first` on."""
        numbers = range(series.header.first + first, series.header.first + series.unread)
        messages = [state.getValue((series.key, number))[0] for number in numbers]
        schema = series.rows[0].schema
        read = [pa.ipc.read_record_batch(pa.py_buffer(message), schema) for message in messages]
        series.rows, series.unread = read + series.rows, first

    def _step(
        self, given: list[_Series], rows: pa.RecordBatch, new: NDArray[np.int64], state: Any
    ) -> Iterator[pa.RecordBatch]:
        """Compute the new rows of some series, sorted, and change their state."""
        old, fresh = [batch for series in given for batch in series.rows], self._stored(rows)
        both = joined([*old, fresh])
        held = np.array([series.held for series in given])
        number = np.concatenate([np.repeat(np.arange(len(given)), count) for count in (held, new)])
        sign = self._compared_with_last(both, held, number)
        late = sign < 0
        order = [both.column(self.columns.index(index)) for index in self.plan.order] if late.any() else []
        place = _in_order(order, number)
        first_new = int(held.sum())
        unread = self.part * np.array([series.unread for series in given])
        dropped = np.array([series.header.dropped for series in given]) + unread
        while True:
            merged = self._merged(both, place, number)
            cut = (dropped[merged.number] > 0) & (merged.first <= merged.edges[merged.number])
            more = np.unique(merged.number[cut & (place >= first_new) & (unread[merged.number] > 0)])
            if len(more):
                for i in more.tolist():
                    self._read_parts(given[i], state, 0)
                yield from self._step(given, rows, new, state)
                return
            lost = late[place] & cut
            if not lost.any():
                break
            place = place[~lost]
        chosen = np.flatnonzero(place >= first_new)
        taken = place[chosen] - first_new
        if len(taken) < rows.num_rows:
            lost_rows = rows.take(pa.array(np.setdiff1d(np.arange(rows.num_rows), taken)))
            yield without_results(self.plan, lost_rows, LATE)
        if len(taken):
            if self.results:
                found = rows.take(pa.array(taken))
                for name, column in self._results(merged, chosen, dropped, found):
                    found = found.append_column(name, column)
                yield with_fate(found, RETURNED)
            self._write(given, merged, chosen, dropped, state)

    def _compared_with_last(
        self, both: pa.RecordBatch, held: NDArray[np.int64], number: NDArray[np.int64]
    ) -> NDArray[np.int8]:
        """Return for each row -1 if it is new and before the last held row of its series, else 0 or 1."""
        first = int(held.sum())
        sign = np.ones(len(number), np.int8)
        own = first + np.flatnonzero(held[number[first:]] > 0)
        rows, last = pa.array(own), pa.array(np.cumsum(held)[number[own]] - 1)
        found = np.zeros(len(own), np.int8)
        for index in self.plan.order:
            column = both.column(self.columns.index(index))
            found = np.where(found == 0, compare(column.take(rows), column.take(last)), found)
        if self.horizon > 1 and self.results and (found == 0).any():
            warnings.warn(
                "rows tie in order_by with rows of an earlier micro-batch and come after these, so results "
                "may differ from those of rollstat.spark.rolling: make order_by unique or use a watermark",
                stacklevel=2,
            )
        sign[own] = found
        return sign

    def _merged(self, both: pa.RecordBatch, place: NDArray[np.int64], number: NDArray[np.int64]) -> _Merged:
        """Return the rows `place` with their windows."""
        rows, number = both.take(pa.array(place)), number[place]
        edges = np.searchsorted(number, np.arange(int(number[-1]) + 2))
        offsets = np.unique(edges)
        if self.keep is not None:
            gap = (number[1:] == number[:-1]) & (np.diff(self._times(rows)) > self.keep)
            offsets = np.union1d(offsets, np.flatnonzero(gap) + 1)
        times: NDArray[Any] = np.empty(0)
        if self.plan.time is not None:
            index, kind = self.plan.time
            values = to_masked(rows.column(self.columns.index(index)), kind).data
            times = values.astype("M8[us]", copy=False) if values.dtype.kind == "M" else values
        segments: dict[str, Any] = {"segments": offsets} if len(offsets) > 2 else {}

        def bounds(window: CallWindow, given: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
            plain = replace(window, aging=False)  # ages do not matter to bounds
            options = Options.check(**plain.with_times(times), **segments)
            windows = options.windows(given, offsets)
            return *windows.bounds(0, len(place)), options.min_periods_for(windows)

        own = {window: bounds(window, window.given) for window in self.plan.windows}
        widths = [
            each for each in self.plan.windows if each.by_width and (self.horizon > 1 or each.by_calendar)
        ]
        reached = [bounds(window, _multiple(self.horizon, window.given))[0] for window in widths]
        return _Merged(place, number, rows, times, edges, offsets, own, reached)

    def _times(self, rows: pa.RecordBatch) -> NDArray[np.int64]:
        column = rows.column(self.columns.index(self.plan.order[0]))
        return np.asarray(column.cast(pa.int64()).fill_null(0))

    def _results(
        self, merged: _Merged, chosen: NDArray[np.int64], dropped: NDArray[np.int64], rows: pa.RecordBatch
    ) -> Iterator[tuple[str, pa.Array]]:
        """Yield name and values of the new columns of the rows `chosen`."""
        every: list[NDArray[Any]] = []
        columns = [
            to_masked(merged.rows.column(self.columns.index(index)), kind) for index, kind in self.plan.inputs
        ]
        made = {}
        for window, (start, end, needs) in merged.bounds.items():
            options = {**window.options, "min_periods": needs}
            if window.aging:
                options |= {"times": merged.times, "segments": merged.offsets}
            bounds = start[chosen], end[chosen]
            made[window] = ExplicitWindows(*bounds, len(merged.place), position=chosen), options

        def given(call: SparkCall) -> tuple[list[MaskedColumn], ExplicitWindows, dict[str, Any]]:
            return [columns[i] for i in call.inputs], *made[call.window]

        for call, results in zip(self.plan.calls, evaluate_calls(self.plan.calls, given)):
            if isinstance(results, Exception):
                raise self._failure(call, *given(call), results, rows) from results
            every += [_positions(r, merged, dropped) if call.positions else r for r in results]
        for i, (result, field) in enumerate(zip(every, self.plan.fields, strict=True)):
            yield f"new{i}", to_arrow(result, field.dataType)

    def _failure(
        self,
        call: SparkCall,
        columns: list[MaskedColumn],
        windows: ExplicitWindows,
        options: dict[str, Any],
        error: Exception,
        rows: pa.RecordBatch,
    ) -> Exception:
        """Return an error that names the first of the `rows` at which a call fails."""

        def attempt(last: int) -> None:
            evaluate_call(call, columns, windows.explicit(0, last), {**options, **OF_BOUNDS})

        return failure(call, 0, windows.rows, attempt, error, lambda row: describe(self.plan, rows, row))

    def _write(
        self,
        given: list[_Series],
        merged: _Merged,
        chosen: NDArray[np.int64],
        dropped: NDArray[np.int64],
        state: Any,
    ) -> None:
        """Store the rows that later rows need, of series with new rows."""
        first = merged.first
        last = merged.edges[1:] - 1
        kept = first[last]
        kept = first[kept] if self.horizon > 1 else kept
        # With a horizon of 2 one row more shows that the windows are whole.
        kept = np.minimum.reduce([kept, *(start[last] for start in merged.reached)]) - (self.horizon > 1)
        anew = merged.offsets[np.searchsorted(merged.offsets, last, "right") - 1]
        kept = np.maximum(kept, anew)
        times = [0] * len(given) if self.keep is None else self._times(merged.rows)[last].tolist()
        new = np.full(len(given), -1)
        new[merged.number[chosen[::-1]]] = chosen[::-1]
        columns = (merged.edges, last, kept, anew, new, dropped, first[last])
        rows = zip(given, *(column.tolist() for column in columns), times)
        for series, begin, end, keep, start, first_new, before, reached, time in rows:
            if first_new < 0:
                continue
            old = series.header
            origin = begin - series.unread * self.part  # of the first part
            keep = origin if series.unread and start == begin else keep
            valid = 0 if start > begin else min(old.parts, (first_new - origin) // self.part)
            gone = min((keep - origin) // self.part, valid)  # parts that windows have left
            held = origin + gone * self.part if gone < valid else keep  # the first held row
            tail = origin + valid * self.part if gone < valid else keep
            number = old.first + valid
            while end + 1 - tail >= self.part:
                part = _message(merged.rows.slice(tail, self.part))
                state.updateValue((series.key, number), tuple(Entry(part)))
                tail, number = tail + self.part, number + 1
            for away in (*range(old.first, old.first + gone), *range(number, old.first + old.parts)):
                state.removeKey((series.key, away))
            before = held - begin + before if start == begin else held - start
            parts = old.first + gone, number - old.first - gone
            older = max(reached - 1 - held, 0) // self.part  # the row before shows that windows are whole
            entry = Entry(_message(merged.rows.slice(tail, end + 1 - tail)), before, *parts, time, older)
            state.updateValue((series.key, HEADER), tuple(entry))


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of several batches in one; strings that take too many bytes for that are an error."""
    columns = [pa.concat_arrays(column) for column in zip(*(batch.columns for batch in batches))]
    return pa.RecordBatch.from_arrays(columns, names=batches[0].schema.names)


def forget(key: str, state: Any, limit: int) -> int | None:
    """Remove a series whose last row is not after `limit`, or return the time of that row."""
    stored = state.getValue((key, HEADER))
    header = Entry(b"", last=limit) if stored is None else Entry(*stored)
    if header.last > limit:
        return header.last
    for number in range(header.first, header.first + header.parts):
        state.removeKey((key, number))
    if stored is not None:
        state.removeKey((key, HEADER))
    return None


def _in_order(order: Sequence[pa.Array], number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of rows by their series, in each by the order columns; both sorts are stable."""
    place = np.arange(len(number))
    for column in reversed(order):  # Arrow's sort is faster than that of keys
        place = place[pc.array_sort_indices(column.take(pa.array(place)), null_placement="at_start")]
    return place[np.argsort(number[place], kind="stable")]


def _multiple(number: int, width: Any) -> Any:
    """Return a multiple of a width, or of one that no such calendar units exceed."""
    nanoseconds = parse_width(at_most(width))
    return number * width if nanoseconds is None else width_text(number * nanoseconds)


def _positions(result: NDArray[Any], merged: _Merged, dropped: NDArray[np.int64]) -> NDArray[Any]:
    """Return positions counted from the start of each series instead of the first row of all."""
    data = np.ma.getdata(result)
    rows = np.maximum(data, 0)
    start = merged.offsets[np.searchsorted(merged.offsets, rows, side="right") - 1]
    number = merged.number[rows]
    moved = rows - start + np.where(start == merged.edges[number], dropped[number], 0)
    return np.ma.MaskedArray(moved, np.ma.getmaskarray(result) | (data < 0))


def stored_type(kind: pa.DataType) -> pa.DataType:
    """Return the type in which the state holds a column; zone and settings of a session do not change it."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct(list(map(_stored_field, kind)))
    if pa.types.is_map(kind):
        return pa.map_(_stored_field(kind.key_field), _stored_field(kind.item_field))
    return pa.list_(_stored_field(kind.value_field)) if pa.types.is_list(kind) else kind


def _stored_field(field: pa.Field) -> pa.Field:
    return field.with_type(stored_type(field.type))


def _message(rows: pa.RecordBatch) -> bytes:
    return bytes(rows.serialize())


def with_fate(rows: pa.RecordBatch, fate: int) -> pa.RecordBatch:
    """Return rows with their fate."""
    return rows.append_column("fate", pa.array(np.full(rows.num_rows, fate, np.int8)))


def without_results(plan: WalkPlan, rows: pa.RecordBatch, fate: int) -> pa.RecordBatch:
    """Return rows that are dropped, with null results and their fate."""
    for number, field in enumerate(plan.fields):
        rows = rows.append_column(f"new{number}", pa.nulls(rows.num_rows, arrow_type(field.dataType)))
    return with_fate(rows, fate)
