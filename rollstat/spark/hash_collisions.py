"""Rows sorted by the hash of their key: one walk per key where several keys share a hash.

::

    hash    | 3 3 3 | 5 5 5 5 5 5 5 | 8 8 | ...       the first sort column
    key     | a a a | b b c b c c b | d d | ...       b and c collide, so their rows are interleaved
    walk    |   0   | 0 0 1 0 1 1 0 |  0  | ...       walks other than the first end with their hash

Almost every hash belongs to one key, and then there is one walk as over any sorted rows. Invariants: the
rows of a key are consecutive among the rows of its walk, and every walk but the first holds only keys of
the current hash. So memory is a window and a batch for each key that shares a hash.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rollstat.spark.batch_walk import Plan, Walk
from rollstat.spark.expanding import CarriedWalk
from rollstat.spark.row_order import equal

__all__ = ["HashWalk", "WalkJob", "new_walk"]


def new_walk(plan: Plan) -> Walk:
    """Return a walk that starts at the first row of a series."""
    return CarriedWalk(plan) if plan.carries_states else Walk(plan)


@dataclass(frozen=True)
class WalkJob:
    """The function that Spark runs on each sorted partition.

    Attributes
    ----------
    plan : Plan
        What to compute.
    hash_column : int or None
        Column with the hash, if rows are sorted by it first.
    """

    plan: Plan
    hash_column: int | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the batches of one partition with the new columns, in order unless windows look ahead."""
        walk = new_walk(self.plan)
        if isinstance(walk, CarriedWalk):
            batches = walk.begin(batches)
        if self.hash_column is None:
            return walk.run(batches)
        return HashWalk(self.plan, self.hash_column, walk).run(batches)


class HashWalk:
    """The walks over one partition: the first, and one for each further key of the current hash."""

    def __init__(self, plan: Plan, hash_column: int, first: Walk | None = None) -> None:
        self.plan = plan
        self.hash_column = hash_column
        self.first = new_walk(plan) if first is None else first
        self.others: list[Walk] = []
        self.hash: int | None = None  # of the last row

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield all rows with the new columns, the rows of a key in order."""
        for batch in batches:
            if batch.num_rows:
                yield from self.push(batch)
        yield from self._end_others()
        yield from self.first.flush(final=True)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take a batch with rows, and yield the rows that are complete."""
        hashes = batch.column(self.hash_column).to_numpy()
        changes = self.first.changes(batch)
        same = np.empty(len(hashes), np.bool_)
        same[0] = hashes[0] == self.hash
        np.equal(hashes[1:], hashes[:-1], out=same[1:])
        collides = changes & same  # the key changes within a hash
        if self.others or collides.any():
            yield from self._push_runs(batch, same, collides)
        else:
            yield from self.first.push(batch, changes)
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
        if self.plan.looks_ahead:
            for walk, own in self._by_walk(rows, new=new):
                yield from walk.push(rows.take(pa.array(own)))
            return
        # Every walk must emit all that it has, so that the results can be put back in order.
        yield from self.first.flush(final=False)
        indexes, results = [], []
        for walk, own in self._by_walk(rows, new=new):
            indexes.append(own)
            results += [*walk.push(rows.take(pa.array(own))), *walk.flush(final=False)]
        back = np.argsort(np.concatenate(indexes))
        yield from pa.Table.from_batches(results).take(pa.array(back)).combine_chunks().to_batches()

    def _by_walk(self, rows: pa.RecordBatch, *, new: bool) -> Iterator[tuple[Walk, NDArray[np.int64]]]:
        """Yield the walk of each key among rows of one hash, with the indexes of its rows."""
        known = [] if new else [self.first, *self.others]
        left = np.arange(rows.num_rows)
        while len(left):
            rest = rows.take(pa.array(left))
            if known:
                walk = known.pop(0)
                assert walk.last is not None
                key = walk.last[: len(self.plan.keys)]
            else:
                key = [rest.column(index).slice(0, 1) for index in self.plan.keys]
                if new:
                    walk, new = self.first, False
                else:
                    walk = new_walk(self.plan)
                    self.others.append(walk)
            repeat = pa.array(np.zeros(rest.num_rows, np.int64))
            same = [
                equal(rest.column(index), value.take(repeat)) for index, value in zip(self.plan.keys, key)
            ]
            own = np.logical_and.reduce(same)
            if own.any():
                yield walk, left[own]
                left = left[~own]

    def _end_others(self) -> Iterator[pa.RecordBatch]:
        for walk in self.others:
            yield from walk.flush(final=True)
        self.others = []
