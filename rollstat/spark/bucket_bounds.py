"""One series too long for a task: cut into buckets that overlap by what windows reach.

::

    cells     |  0  |  1  |  2  |  3  |  4  |  5  |  6  |  7  |     between quantiles of the order column
    buckets   |======= 0 =======|==== 1 ====|======= 2 =======|
    with halo                |..|==== 1 ====|..|                    whole cells: no less than windows reach

Cells are intervals of the values of the first order column, so the cell of a row depends on the row
alone: a task that is run again cuts the same way. Few rows of halos travel with the code of the tasks
(`beside.py`); many are sent to each bucket that needs them in the one exchange that there is. They are
marked, and dropped after the walk. Halos of windows of rows are chosen by the exact counts of the cells,
those of windows by width by the values of the cuts.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rollstat.spark.arrow_columns import Kind, to_masked

__all__ = ["Bucket", "CountCells", "Reach", "cell_of", "choose_buckets", "walk_order"]


@dataclass(frozen=True)
class Reach:
    """How far windows reach back and ahead of their row.

    Attributes
    ----------
    back, ahead : int or float
        Rows, or units of the order column.
    by_width : bool
        Which of the two.
    """

    back: Any
    ahead: Any
    by_width: bool

    @property
    def in_rows(self) -> bool:
        """Whether halos are so many rows, for which the rows of cells have to be counted."""
        return not self.by_width and bool(self.back or self.ahead)


@dataclass(frozen=True)
class Bucket:
    """A stretch of a series that one task walks over.

    Attributes
    ----------
    start, end : int
        Its cells ``start, ..., end - 1``.
    first, last : int
        Those with the halo on both sides, ``first, ..., last - 1``.
    before : int
        Rows of the series before the first one, where the cells were counted; else 0.
    """

    start: int
    end: int
    first: int
    last: int
    before: int


def walk_order(cuts: pa.Array, kind: Kind, descending: bool) -> tuple[pa.Array, list[Any]]:
    """Cuts without repeats in the order of the walk, and the same as numbers that rise.

    Parameters
    ----------
    cuts : pyarrow.Array
        Quantiles of the order column.
    kind : Kind
        Of the order column.
    descending : bool
        Whether the walk goes from large to small.
    """
    numbers = _numbers(to_masked(cuts, kind))
    keep = np.flatnonzero(~np.ma.getmaskarray(numbers) & ~np.isnan(np.asarray(numbers.data, np.float64)))
    data = numbers.data[keep]
    if data.dtype.kind == "i":  # the least whole number has no negative
        keep, data = keep[data > np.iinfo(data.dtype).min], data[data > np.iinfo(data.dtype).min]
    data, first = np.unique(data, return_index=True)
    order = keep[first][::-1] if descending else keep[first]
    rising = [-value for value in data.tolist()][::-1] if descending else data.tolist()
    return cuts.take(pa.array(order)), rising


def _numbers(values: np.ma.MaskedArray[Any, Any]) -> np.ma.MaskedArray[Any, Any]:
    return values.view(np.int64) if values.dtype.kind in "mM" else values


def cell_of(column: pa.Array, kind: Kind, rising: Sequence[Any], descending: bool) -> NDArray[np.int64]:
    """Cell of each value; nulls stand first, or last in a descending order, and NaN is the largest."""
    values = _numbers(to_masked(column, kind))
    cuts = np.array(rising, values.dtype)
    if descending:
        # minus the least int64 cannot be had, so the cuts are turned instead of the values
        cell = len(cuts) - np.searchsorted(-cuts[::-1], values.data, side="left")
        return np.where(np.ma.getmaskarray(values), len(cuts), cell)
    cell = np.searchsorted(cuts, values.data, side="right")
    return np.where(np.ma.getmaskarray(values), 0, cell)


def choose_buckets(
    counts: Sequence[int] | None, rising: Sequence[Any], buckets: int, reach: Reach
) -> list[Bucket]:
    """Choose at most `buckets` stretches of about equal lengths, and what each needs around it.

    Parameters
    ----------
    counts : sequence of int or None
        Rows of each cell, one more than there are cuts; None to take the cells as equal, which halos of
        so many rows do not allow.
    rising : sequence
        The cuts as numbers that rise.
    buckets : int
        How many there shall be.
    reach : Reach
        Of the windows.
    """
    cells = len(rising) + 1
    total = list(range(cells + 1)) if counts is None else np.concatenate([[0], np.cumsum(counts)]).tolist()
    wanted = [bisect_left(total, math.ceil(total[-1] * i / buckets)) for i in range(1, buckets)]
    starts = sorted({0, cells, *(min(start, cells) for start in wanted)})
    chosen = []
    for start, end in pairwise(starts):
        if reach.by_width:
            first = bisect_right(rising, rising[start - 1] - reach.back) if start else 0
            # Values below the cut at `end` reach a row at it, or beyond it, only if windows look ahead.
            ahead = end < cells and reach.ahead > 0
            last = bisect_right(rising, rising[end - 1] + reach.ahead) + 1 if ahead else end
        else:
            first = max(bisect_right(total, total[start] - reach.back) - 1, 0)
            last = min(bisect_left(total, total[end] + reach.ahead), cells)
        before = 0 if counts is None else total[first]
        chosen.append(Bucket(start, end, min(first, start), max(last, end), before))
    return chosen


@dataclass(frozen=True)
class CountCells:
    """Counts the rows of each cell of each series, within a task.

    Takes batches of the series' number and the order column; gives series, cell and count.
    """

    kind: Kind
    rising: tuple[tuple[Any, ...], ...]
    descending: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count over one partition."""
        counts = [np.zeros(len(rising) + 1, np.int64) for rising in self.rising]
        for batch in batches:
            series = batch.column(0).to_numpy(zero_copy_only=False)
            for number, rising in enumerate(self.rising):
                column = batch.column(1)
                if len(self.rising) > 1:
                    column = column.filter(pa.array(series == number))
                cell = cell_of(column, self.kind, rising, self.descending)
                counts[number] += np.bincount(cell, minlength=len(rising) + 1)
        for number, count in enumerate(counts):
            cell = np.flatnonzero(count)
            yield pa.RecordBatch.from_arrays(
                [pa.array(np.full(len(cell), number, np.int32)), pa.array(cell), pa.array(count[cell])],
                names=["series", "cell", "rows"],
            )
