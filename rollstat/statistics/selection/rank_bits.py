"""Selection in bulk: rank the values of several windows once, then slide over a bit set of the ranks."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import NOTHING_MISSING, Block, Kept, Point, Selection, read_only
from rollstat.kernels.selection import bulk_select
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.rank_set import create, slide_any
from rollstat.kernels.selection.series_order import direction
from rollstat.kernels.selection.value_band import Sample, allocate_sample
from rollstat.statistics.selection.ranking import ranks, unsigned_keys, write_values

__all__ = ["at_run_time", "block_rows", "select", "select_points", "split_rows"]

# Most rows whose ranking memory a thread keeps for the next block.
_MOST_ROWS_KEPT = 1 << 19


def block_rows(width: int) -> int:
    """Return the rows of a block of windows of `width` values: a multiple of the rows ranked at a time."""
    rows = _rows_at_a_time(width)
    return rows * max(1, round((1 << 18) / rows))


def at_run_time() -> tuple[tuple[str, str], ...]:
    """Return what runs for some values in place of ranking, and when."""
    return (("sortedness", "the values only rise or only fall"),)


def _slides_fixed(block: Block) -> bool:
    """Return whether to slide equal windows. One window, the last of expanding ones, is just sorted."""
    return block.width > 0 and block.rows > 1


def split_rows(start: NDArray[np.int64], end: NDArray[np.int64], fewest: int) -> Iterator[tuple[int, int]]:
    """Split rows so that the windows of each part cover at most max(`fewest`, four first windows) values.

    Every part but the last moves the end on by at least three quarters of what it covers, so that all
    but the last together cover at most 4/3 of the series, whatever the windows.

    Yields
    ------
    first, last : int
        Rows ``first, ..., last - 1`` are a part.
    """
    first = 0
    while first < len(start):
        size = max(fewest, 4 * int(end[first] - start[first]))
        last = max(first + 1, int(np.searchsorted(end, start[first] + size, side="right")))
        yield first, last
        first = last


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    if _slides_fixed(block) and request.position is None:
        _select_fixed(block, request)
        return
    for first, last in split_rows(block.start, block.end, thresholds.RANKED_VALUES):
        _select_any(block, request, first, last)


def select_points(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> bool:
    """Write one point of every window for each of `points`, if the values are floats, or sorted.

    See :func:`rollstat.statistics.selection.small_window.select_points`. Returns whether they are written.
    """
    values = read_only(block.values)
    rising = direction(values)
    if rising:
        for point, result in zip(points, results):
            _write_sorted(values, rising, block.width, point, result)
        return True
    if values.dtype.kind != "f" or not _slides_fixed(block):
        return False
    keys = next(_comparable(values))
    for point, result in zip(points, results):
        rows = _FixedRows(keys, block, point.rank, (result,), point=point)
        rows.finish(rows.by_ranks(0))
    return True


def _write_sorted(values: NDArray[Any], rising: int, width: int, point: Point, result: NDArray[Any]) -> None:
    """Write points of values in ascending order, or in descending order for negative `rising`."""
    rank = point.rank if rising > 0 else width - 1 - point.rank
    following = rank + rising if point.between else rank
    rows = len(result)
    _write_point(point, values[rank : rank + rows], values[following : following + rows], result)


def _write_point(point: Point, lower: NDArray[Any], upper: NDArray[Any], result: NDArray[Any]) -> None:
    """Write a point of every window from its order statistics; a point at one of them is `lower`."""
    if point.between:
        interpolate_constant(lower, upper, point.fraction, point.midpoint, result)
    else:
        result[...] = lower


def _select_any(block: Block, request: Selection, first: int, last: int) -> None:
    """Answer rows ``first, ..., last - 1``, whatever their windows and ranks."""
    low, high = int(block.start[first]), int(block.end[last - 1])
    values = block.values[low:high]
    missing = None if block.missing is None else block.missing[low:high]
    rank, row = ranks(values, missing)
    if len(row) == 0:
        return
    wanted = request.rank[:, first:last]
    lower = np.zeros(wanted.shape, np.int64)
    upper = np.zeros(wanted.shape if request.upper is not None else (0, 0), np.int64)
    slide_any(
        rank,
        block.start[first:last] - low,
        block.end[first:last] - low,
        wanted,
        create(len(row)),
        np.zeros((len(wanted), 2), np.int64),
        lower,
        upper,
    )
    ordered = values[row]
    request.lower[:, first:last] = ordered[lower]
    if request.upper is not None:
        request.upper[:, first:last] = ordered[upper]
    if request.position is not None:
        request.position[:, first:last] = row[lower] + low


def _rows_at_a_time(width: int) -> int:
    """Return the rows to rank at a time: enough that few values are ranked twice, few enough for the caches.

    If windows are much narrower than the rows ranked, set bits lie far apart.
    """
    values = max(thresholds.RANKED_ROWS, int(thresholds.RANKED_WINDOWS_AT_LEAST * width))
    return min(thresholds.RANKED_WINDOWS * width, values) - width + 1


def _select_fixed(block: Block, request: Selection) -> None:
    """Answer a request about windows of equal width."""
    done = [0] * len(request.rank)
    for keys in _comparable(block.values):
        for i, first in enumerate(done):
            if first < block.rows:
                done[i] = _rows_of(keys, block, request, i).by_ranks(first)
        if min(done) == block.rows:
            return
    for i, first in enumerate(done):
        _rows_of(keys, block, request, i).finish(first)


def _comparable(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the values in forms that kernels are compiled for: float64 where it holds them all, then keys."""
    if values.dtype.kind == "f" or values.itemsize <= 4:
        yield read_only(values.astype(np.float64, copy=False))
    yield read_only(unsigned_keys(values))


def _new_memory(rows: int, dtype: np.dtype[Any], sampled: bool) -> tuple[Any, Sample | None]:
    """Return memory to rank up to `rows` rows, and for samples of them, or None."""
    return bulk_select.allocate(rows, dtype), allocate_sample(rows, dtype) if sampled else None


# Clearing new memory would cost the system more than using it.
_memory = Kept()


class _FixedRows:
    """One order statistic, or one point, of all windows of a block of equal windows.

    Parameters
    ----------
    keys : ndarray
        What is compared in place of the values: float64 or uint64.
    block : Block
        The windows.
    rank : int
        The rank, if it is the same in every row.
    results : tuple of ndarray, each of shape (rows,)
        Receive the order statistic and, if there are two, the next one; or the point.
    targets : ndarray of int64, shape (rows,), optional
        The rank in every row otherwise.
    point : Point, optional
        The point, if one is wanted; the values are floats then and none is missing.
    """

    def __init__(
        self,
        keys: NDArray[Any],
        block: Block,
        rank: int,
        results: tuple[NDArray[Any], ...],
        targets: NDArray[np.int64] | None = None,
        point: Point | None = None,
    ) -> None:
        self.keys = keys
        self.block = block
        self.rank = rank
        self.results = results
        self.targets = targets
        self.point = point
        self.needs_upper = len(results) > 1 if point is None else point.between
        same = all(result.dtype == keys.dtype and result.flags.c_contiguous for result in results)
        self.found = results if same else tuple(np.empty(len(result), keys.dtype) for result in results)
        if targets is not None and not same:
            for found in self.found:
                found.fill(keys[0])  # rows where nothing is wanted must convert without a warning

    def by_ranks(self, first: int) -> int:
        """Select by ranks from row `first` on; return the row up to which rows are done."""
        width, point, found = self.block.width, self.point, self.found
        rows = _rows_at_a_time(width)
        size = 1 << (rows + width - 1).bit_length()  # of which there are few
        rows = min(rows, self.block.rows - first)
        key = size, self.keys.dtype, width >= thresholds.SAMPLED
        scratch, sample = _memory.get(key, partial(_new_memory, *key), size <= _MOST_ROWS_KEPT)
        missing = self.block.missing
        upper = None
        if point is None:
            upper = found[1][first:] if self.needs_upper else found[0][:0]
        with np.errstate(over="ignore"):  # kernels compute modulo 2**64; plain Python would warn
            done = bulk_select.select_fixed(
                self.keys[first:],
                NOTHING_MISSING if missing is None else missing[first:],
                width,
                self.rank,
                None if self.targets is None else self.targets[first:],
                rows,
                None if point is None else point.fraction,
                point is not None and point.midpoint,
                found[0][first:],
                upper,
                scratch,
                sample,
            )
        return self._write(first, first + int(done))

    def finish(self, first: int) -> None:
        """Select from row `first` on, where `by_ranks` stopped, then continue with `by_ranks`."""
        while first < self.block.rows:
            first = self._by_any(first)
            if first < self.block.rows:
                first = self.by_ranks(first)

    def _by_any(self, first: int) -> int:
        """Select where no scale suits the values; return the row up to which rows are done."""
        block = self.block
        last = min(first + _rows_at_a_time(block.width), block.rows)
        if self.point is None:
            lower, upper = self.results[0], self.results[-1]
        else:
            lower, upper = np.empty((2, block.rows), block.values.dtype)
        rank = np.full(block.rows, self.rank) if self.targets is None else self.targets
        request = Selection(rank[None, :], None, lower[None, :], upper[None, :] if self.needs_upper else None)
        _select_any(block, request, first, last)
        if self.point is not None:
            self._blend(lower[first:last], upper[first:last], first, last)
            self._write(first, last)
        return last

    def _blend(self, lower: NDArray[Any], upper: NDArray[Any], first: int, last: int) -> None:
        """Find the points of some rows from their order statistics."""
        assert self.point is not None
        _write_point(self.point, lower, upper, self.found[0][first:last])

    def _write(self, first: int, last: int) -> int:
        """Convert what was found to the dtype of the results."""
        if self.found is not self.results:
            for result, found in zip(self.results, self.found):
                write_values(found[first:last], result[first:last])
        return last


def _rows_of(keys: NDArray[Any], block: Block, request: Selection, i: int) -> _FixedRows:
    """Return one of the order statistics of a request, to be selected by `keys`."""
    rank = 0 if request.constant is None else request.constant[i]
    results: tuple[NDArray[Any], ...] = (request.lower[i],)
    if request.upper is not None and rank + 1 < block.width:
        results = (request.lower[i], request.upper[i])
    return _FixedRows(keys, block, rank, results, request.rank[i] if request.constant is None else None)
