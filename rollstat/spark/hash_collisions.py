"""Rows of several keys that come mixed, because the keys have one hash: a walk for each.

::

    hash    | 3 3 3 | 5 5 5 5 5 5 5 | 8 8 | ...       what rows are sorted by first
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

from rollstat.spark.batch_walk import Plan, Walk
from rollstat.spark.row_order import equal

__all__ = ["InOrder", "MixedPlan", "MixedWalk"]


class MixedPlan:
    """What workers do with rows that are sorted by the hash of their key first.

    Parameters
    ----------
    plan : Plan
        As for rows in order.
    hashed : int
        The column with the hash.
    in_order : bool
        Whether results come in the order of the rows; for windows that do not look ahead.
    """

    def __init__(self, plan: Plan, hashed: int, *, in_order: bool = False) -> None:
        self.plan = plan
        self.hashed = hashed
        self.in_order = in_order

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over one partition."""
        first, rows = self.plan.begin(batches)
        kind = InOrder if self.in_order else MixedWalk
        return kind(self.plan, self.hashed, first).run(rows)


class MixedWalk:
    """The walks over one partition."""

    def __init__(self, plan: Plan, hashed: int, first: Walk | None = None) -> None:
        self.plan = plan
        self.hashed = hashed
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
        hashes = batch.column(self.hashed).to_numpy()
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

    def _share_out(self, piece: pa.RecordBatch, *, new: bool) -> Iterator[pa.RecordBatch]:
        """Push the rows of each key, all of one hash, to its walk; `new` if the hash has just begun."""
        for walk, rows in self._by_walk(piece, new=new):
            yield from walk.push(piece.take(pa.array(rows)))

    def _by_walk(self, piece: pa.RecordBatch, *, new: bool) -> Iterator[tuple[Walk, NDArray[np.int64]]]:
        """Walks of the keys of a piece, and the places of their rows in it."""
        walks = [] if new else [self.first, *self.others]
        places = np.arange(piece.num_rows)
        place = 0
        while len(places):
            rest = piece.take(pa.array(places))
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
                yield walk, places[own]
                places = places[~own]

    def _end_others(self) -> Iterator[pa.RecordBatch]:
        for walk in self.others:
            yield from walk.finish()
        self.others = []


class InOrder(MixedWalk):
    """The walks over one partition, with results in the order of the rows: none may wait for another's."""

    def _share_out(self, piece: pa.RecordBatch, *, new: bool) -> Iterator[pa.RecordBatch]:
        yield from self.first.flush()
        places, results = [], []
        for walk, rows in self._by_walk(piece, new=new):
            places.append(rows)
            results += [*walk.push(piece.take(pa.array(rows))), *walk.flush()]
        back = np.argsort(np.concatenate(places))
        yield from pa.Table.from_batches(results).take(pa.array(back)).combine_chunks().to_batches()
