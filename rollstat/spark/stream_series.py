"""One series of a stream: the walk over its rows, put away between micro-batches."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rollstat import snapshots
from rollstat.spark.batch_walk import Plan, Walk
from rollstat.spark.row_order import compare

__all__ = ["Series", "read_message", "write_message"]

_NAME = "spark.rolling_stream"


def write_message(batch: pa.RecordBatch) -> bytes:
    """Rows as bytes, with their schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def read_message(message: bytes) -> list[pa.RecordBatch]:
    """Rows out of bytes."""
    with pa.ipc.open_stream(message) as reader:
        return [batch for batch in reader if batch.num_rows]


class Series:
    """The rows that windows still reach, and those that wait.

    Parameters
    ----------
    plan : Plan
        What to compute.
    snapshot : bytes, optional
        Where the series stood.
    """

    def __init__(self, plan: Plan, snapshot: bytes | None) -> None:
        self.plan = plan
        self.walk = Walk(plan)
        self.walk.least = self.walk.enough = 1
        self.waiting: list[pa.RecordBatch] = []
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> bytes:
        """The state as bytes."""
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
        parameters = {"lost": walk.lost, "held": walk.held, "inputs": len(walk.columns), "last": len(last)}
        return snapshots.write(_NAME, parameters, arrays)

    def _restore(self, snapshot: bytes) -> None:
        name, parameters, arrays = snapshots.read(snapshot)
        if name != _NAME or parameters["inputs"] != len(self.plan.inputs):
            raise ValueError(
                "the state is of a stream with other statistics: a checkpoint belongs to one set of aggs"
            )
        walk = self.walk
        walk.held = walk.computed = parameters["held"]
        walk.lost = parameters["lost"]
        count = parameters["inputs"]
        if walk.held:
            pairs = zip(arrays[: 2 * count : 2], arrays[1 : 2 * count : 2])
            walk.columns = [[np.ma.MaskedArray(data, mask)] for data, mask in pairs]
            walk.times = [arrays[2 * count]] if self.plan.time is not None else []
        messages = [batch for array in arrays[2 * count + 1 :] for batch in read_message(array.tobytes())]
        if parameters["last"]:
            walk.last = messages[0].columns
        self.waiting = messages[parameters["last"] :]

    def add(self, batch: pa.RecordBatch) -> None:
        """Let rows wait."""
        self.waiting.append(batch)

    def first_waiting(self) -> int | None:
        """Least first column of the order among the rows that wait, as a whole number."""
        if not self.waiting:
            return None
        times = [batch.column(self.plan.order[0]) for batch in self.waiting]
        if not pa.types.is_timestamp(times[0].type):
            return 0
        least = [pc.min(time.view(pa.int64())).as_py() for time in times]
        return min((value for value in least if value is not None), default=None)

    def skip(self, batch: pa.RecordBatch) -> None:
        """Walk over sorted rows without results."""
        self.walk.skip(batch)

    def give_out(self, mark: int | None) -> Iterator[pa.RecordBatch]:
        """Rows in order with the new columns and whether they are late; with a mark, those before it.

        Parameters
        ----------
        mark : int or None
            The watermark in microseconds: no row before it can come any more.
        """
        if not self.waiting:
            return
        batch = _sorted(self.waiting, self.plan)
        late = self._late(batch)
        self.waiting = []
        if mark is not None:
            time = batch.column(self.plan.order[0])
            times = time.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
            missing = time.is_null().to_numpy(zero_copy_only=False)
            waits = (times >= mark) & ~late & ~missing
            late |= missing
            if waits.any():
                self.waiting = [batch.filter(pa.array(waits))]
            batch, late = batch.filter(pa.array(~waits)), late[~waits]
        if late.any():
            yield self._without_results(batch.filter(pa.array(late)))
        ready = batch.filter(pa.array(~late))
        if ready.num_rows:
            for result in self.walk.run([ready]):
                flag = pa.array(np.zeros(result.num_rows, np.bool_))
                yield pa.RecordBatch.from_arrays(
                    [*result.columns, flag], names=[*result.schema.names, "late"]
                )

    def _late(self, batch: pa.RecordBatch) -> Any:
        """Which rows come before the last one that was given out."""
        late = np.zeros(batch.num_rows, np.bool_)
        last = self.walk.last
        if last is None:
            return late
        undecided = np.ones(batch.num_rows, np.bool_)
        for place, bound in zip(self.plan.order, last[len(self.plan.keys) :]):
            sign = compare(batch.column(place), pa.concat_arrays([bound] * batch.num_rows))
            late |= undecided & (sign < 0)
            undecided &= sign == 0
        return late

    def _without_results(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        empty = self.walk.no_results(batch.num_rows)
        flag = pa.array(np.ones(batch.num_rows, np.bool_))
        names = [*batch.schema.names, *(f"new{i}" for i in range(len(empty))), "late"]
        return pa.RecordBatch.from_arrays([*batch.columns, *empty, flag], names=names)


def _sorted(batches: list[pa.RecordBatch], plan: Plan) -> pa.RecordBatch:
    """All rows in order; rows that tie by their other columns, as far as Arrow has an order for these."""
    batch = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    rest = [place for place in range(batch.num_columns) if place not in {*plan.order, *plan.keys}]
    order = pa.array(np.arange(batch.num_rows))
    for place in reversed([*plan.order, *rest]):
        column = batch.column(place)
        try:
            stable = pc.array_sort_indices(column.take(order), order="ascending", null_placement="at_start")
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue  # a type without an order decides no tie
        order = order.take(stable)
    return batch.take(order)
