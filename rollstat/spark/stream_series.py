r"""One series of a stream: the rows that windows reach, and the rows that wait for the watermark.

::

    new rows -- take --> late or without a time: dropped
                   \--> waiting rows -- emit, once the watermark has passed --> walk --> rows with results

A snapshot of a series is what the state store keeps between micro-batches: rows of the inputs, as many as the
window of the run that wrote them reaches. They serve any statistic over the same inputs and any smaller
window. With a wider window rows are missing, and with other columns the held rows mean something else. So the
state also has the definition of the stream, as text, and a restart with another one is rejected.
"""

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as T

import rollstat
from rollstat import snapshots
from rollstat.options import parse_width
from rollstat.spark.aggregates import parse_window
from rollstat.spark.arrow_columns import changes, compare, sort_keys, to_arrow, to_masked
from rollstat.spark.batch_walk import Walk, WalkPlan

RETURNED, LATE, NULL_TIME = range(3)  # fates of a row
_NAME = "spark.rolling_stream"  # of snapshots


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
            held = [_batch([*arrays, *(pa.array(times.data) for times in columns[len(arrays) :])])]
        last = [] if walk.last is None else [_batch(walk.last)]
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
            walk.columns = [[column] for column in (*columns, *map(np.ma.MaskedArray, times))]
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
        return None if keep is None or self.walk.last is None else self._last_time() + keep

    def _last_time(self) -> int:
        """Return the time of the last row returned, in microseconds; before 1970 if it has none."""
        assert self.walk.last is not None
        time: int | None = self.walk.last[len(self.plan.keys)].view(pa.int64())[0].as_py()
        return -1 if time is None else time

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
        for dropped in (LATE, NULL_TIME):
            if (fate == dropped).any():
                rows = batch.filter(pa.array(fate == dropped))
                columns = [*rows.columns, *self.walk.no_results(rows.num_rows)]
                yield _with_fate(columns, batch, dropped)
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
                yield _with_fate(result.columns, batch, RETURNED)

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


def _with_fate(columns: Sequence[pa.Array], given: pa.RecordBatch, fate: int) -> pa.RecordBatch:
    """Return the columns of `given`, the new columns and the fate of the rows as a batch."""
    new = len(columns) - given.num_columns
    names = [*given.schema.names, *(f"new{i}" for i in range(new)), "fate"]
    fates = pa.array(np.full(len(columns[0]), fate, np.int8))
    return pa.RecordBatch.from_arrays([*columns, fates], names=names)


def _sorted(batches: list[pa.RecordBatch], plan: WalkPlan) -> pa.RecordBatch:
    """Return all rows in the order in which a batch job takes them."""
    batch = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    for index in reversed(plan.order):  # the sort is stable, and Arrow's is faster than that of keys
        batch = batch.take(pc.array_sort_indices(batch.column(index), null_placement="at_start"))
    if not changes([batch.column(index) for index in plan.order]).all():
        by = (sort_keys(batch.column(index)) for index in (*plan.order, *plan.ties))
        keys = list(zip(*by))
        batch = batch.take(pa.array(sorted(range(batch.num_rows), key=keys.__getitem__)))
    return batch


def _batch(columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """Return columns as a batch, named by their numbers."""
    return pa.RecordBatch.from_arrays(list(columns), names=list(map(str, range(len(columns)))))


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


def width_in_microseconds(width: Any) -> int:
    """Return a width of time such as ``"10min"``, rounded up; 0 if it is not one."""
    nanoseconds = parse_width(width)
    return 0 if nanoseconds is None else -int(-nanoseconds // 1000)


def _plain(value: Any) -> str:
    """Return a parameter as text that is the same in each process: without addresses of functions."""
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return (
        f"[{', '.join(map(_plain, value))}]"
        if type(value) in (list, tuple)
        else re.sub(r" at 0x\w+", "", repr(value))
    )


def _statistics(plan: WalkPlan, schema: T.StructType, fields: Sequence[T.StructField]) -> dict[str, str]:
    """Return the statistic of each new column."""
    new, found = iter(fields), {}
    for call in plan.calls:
        columns = [schema.names[plan.inputs[number][0]] for number in call.inputs]
        parameters = [f"{name}={_plain(value)}" for name, value in sorted(call.parameters.items())]
        name = ", ".join(next(new).name for _ in call.types)
        found[name] = f"{call.statistic}({', '.join([*columns, *parameters])})"
    return found


def definition_of(
    plan: WalkPlan, schema: T.StructType, fields: Sequence[T.StructField], watermark: str | None, ttl: Any
) -> str:
    """Return the definition of a stream as JSON.

    Parameters
    ----------
    plan : WalkPlan
        What to compute.
    schema : StructType
        Of the stream.
    fields : sequence of StructField
        The new columns.
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
    rows = plan.time is None
    size = plan.window if rows else parse_width(plan.window) or plan.window
    definition = {
        "rollstat": rollstat.__version__,
        "statistics": _statistics(plan, schema, fields),
        "window": {"text": str(plan.window), "rows": rows, "size": str(Fraction(size))},
        # The text of each further part, and what is compared.
        "parts": {name: (str(value), value) for name, value in parts.items()}
        | {"watermark": (str(watermark), _size(watermark)), "ttl": (str(ttl), _size(ttl))},
    }
    return json.dumps(definition)


def _size(width: Any) -> str | None:
    """Return a width, or text that is none, in a form in which equal widths are equal."""
    try:
        return None if width is None else str(parse_width(parse_window(width)))
    except ValueError:
        return str(width)


def check_restart(stored: str, given: str) -> None:
    """Raise ValueError if a state of the definition `stored` cannot serve the definition `given`."""
    old, new = json.loads(stored), json.loads(given)
    pairs = [(name, old["parts"].get(name, (None, None)), part) for name, part in new["parts"].items()]
    changes = [f"{name} was {was[0]} and is {now[0]}" for name, was, now in pairs if was[1] != now[1]]
    before, after = old["window"], new["window"]
    if before["rows"] != after["rows"] or Fraction(after["size"]) > Fraction(before["size"]):
        changes.insert(0, f"window was {before['text']} and is {after['text']}")
    for name, statistic in old["statistics"].items():
        found = new["statistics"].get(name)
        if found != statistic:
            result = "is no longer computed" if found is None else f"is {found}"
            changes.append(f"{name!r} was {statistic} and {result}")
    if changes:
        raise ValueError(
            f"the checkpoint holds the state of another stream, written by rollstat {old['rollstat']}: "
            f"{'; '.join(changes)}. A restarted stream may add statistics over the same columns or take a "
            "smaller window; for other changes start it with a new checkpoint"
        )
