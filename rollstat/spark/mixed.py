"""Rows of several keys that come mixed, because the keys have one hash: a walk for each.

::

    hash    | 3 3 3 | 5 5 5 5 5 5 5 | 8 8 | ...       the upper half of the first column of the sort
    key     | a a a | b b c b c c b | d d | ...
    walk    |   0   | 0 0 1 0 1 1 0 |  0  | ...       the others end with their hash

Nearly every hash is that of one key: then there is one walk, as over any sorted rows. Invariant: the rows of
a key are consecutive among the rows of its walk, and walks but the first hold keys of the present hash only,
so memory is a window and a batch for each key that shares the hash.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rollstat.spark.keys import equal
from rollstat.spark.prefix import ORDER_BITS
from rollstat.spark.walk import Plan, Walk

__all__ = ["MixedPlan", "MixedWalk"]


class MixedPlan:
    """What workers do with rows that are sorted by a prefix first.

    Parameters
    ----------
    plan : Plan
        As for rows in order.
    prefix : int
        The column with the prefix.
    """

    def __init__(self, plan: Plan, prefix: int) -> None:
        self.plan = plan
        self.prefix = prefix

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over one partition."""
        first, rows = self.plan.begin(batches)
        return MixedWalk(self.plan, self.prefix, first).run(rows)


class MixedWalk:
    """The walks over one partition."""

    def __init__(self, plan: Plan, prefix: int, first: Walk | None = None) -> None:
        self.plan = plan
        self.prefix = prefix
        self.first = plan.walk() if first is None else first
        self.others: list[Walk] = []
        self.hash: int | None = None  # of the last row

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield all rows with the new columns, those of a key in order."""
        for batch in batches:
            if batch.num_rows:
                yield from self.push(batch)
        yield from self._end_others()
        yield from self.first.finish()

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take a batch with rows, and yield those that are complete."""
        hashes = batch.column(self.prefix).to_numpy() >> ORDER_BITS
        changes = self.first.changes(batch)
        same = np.empty(len(hashes), np.bool_)
        same[0] = hashes[0] == self.hash
        np.equal(hashes[1:], hashes[:-1], out=same[1:])
        mixed = changes & same
        if self.others or mixed.any():
            yield from self._take_apart(batch, same, mixed)
        else:
            yield from self.first.push(batch, changes)
        self.hash = int(hashes[-1])

    def _take_apart(
        self, batch: pa.RecordBatch, same: NDArray[np.bool_], mixed: NDArray[np.bool_]
    ) -> Iterator[pa.RecordBatch]:
        """Push stretches of rows in which every hash is that of one key, and the rows of others apart."""
        starts = np.unique(np.append(np.flatnonzero(~same), 0))
        apart = np.logical_or.reduceat(mixed, starts)
        apart[0] |= bool(self.others) and bool(same[0])
        alone = np.append(True, apart[1:] | apart[:-1])  # a hash that is apart is a stretch of its own
        edges = [*starts[alone].tolist(), batch.num_rows]
        for begin, end, several in zip(edges, edges[1:], apart[alone]):
            piece = batch.slice(begin, end - begin)
            if not same[begin]:
                yield from self._end_others()
            if several:
                yield from self._share_out(piece, new=not same[begin])
            else:
                yield from self.first.push(piece)

    def _share_out(self, rest: pa.RecordBatch, *, new: bool) -> Iterator[pa.RecordBatch]:
        """Push the rows of each key, all of one hash, to its walk; `new` if the hash has just begun."""
        walks = [] if new else [self.first, *self.others]
        place = 0
        while rest.num_rows:
            if place == len(walks):
                walk = self.first if new and not place else self.plan.walk()
                key = [rest.column(i).slice(0, 1) for i in self.plan.keys]
                walks.append(walk)
                if walk is not self.first:
                    self.others.append(walk)
            else:
                walk = walks[place]
                assert walk.last is not None
                key = walk.last[: len(self.plan.keys)]
            place += 1
            every = pa.array(np.zeros(rest.num_rows, np.int64))
            pairs = [(rest.column(i), value.take(every)) for i, value in zip(self.plan.keys, key)]
            own = np.logical_and.reduce([equal(column, value) for column, value in pairs])
            if own.any():
                yield from walk.push(rest.filter(pa.array(own)))
                rest = rest.filter(pa.array(~own))

    def _end_others(self) -> Iterator[pa.RecordBatch]:
        for walk in self.others:
            yield from walk.finish()
        self.others = []
