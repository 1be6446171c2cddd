"""Selection in bulk: rank the values of several windows once, then slide over a bit set of the ranks."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import (
    MOST_KEPT,
    NOTHING_MISSING,
    Block,
    Kept,
    Point,
    Selection,
    exact_floats,
    read_only,
    room_for,
)
from rollstat.kernels.selection import bulk_select
from rollstat.kernels.selection.rank_set import create, slide_any
from rollstat.sorting import unsigned_keys
from rollstat.statistics.selection.ranking import ranks, write_values

_NOTHING = np.empty((0, 0), np.int64)


def block_rows(width: int) -> int:
    """Return the rows of a block of windows of `width` values: a multiple of the rows ranked at a time."""
    rows = _rows_at_a_time(width)
    return rows * max(1, round((1 << 18) / rows))


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
    """Answer the request; see :class:`rollstat.blocks.Selection`."""
    if _slides_fixed(block) and request.position is None:
        for i, rank in enumerate(request.rank):
            _select_fixed(block, rank, request.lower[i], None if request.upper is None else request.upper[i])
        return
    for first, last in split_rows(block.start, block.end, thresholds.RANKED_VALUES):
        _select_any(block, request, first, last)


def select_points(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> bool:
    """Write one point of every window for each of `points`; see :func:`.small_window.select_points`.

    Returns whether they are written: float64 must hold the values, and one scale must suit them.
    """
    keys = exact_floats(read_only(block.values)) if _slides_fixed(block) else None
    if keys is None:
        return False
    for point, result in zip(points, results):
        same = result.dtype == keys.dtype and result.flags.c_contiguous
        found = result if same else np.empty(block.rows)
        if _by_ranks(keys, block, 0, point, None, found, found[:0]) < block.rows:
            return False
        if found is not result:
            result[...] = found
    return True


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
    upper = np.zeros(wanted.shape, np.int64) if request.upper is not None else _NOTHING
    windows = block.start[first:last] - low, block.end[first:last] - low
    cursors = np.zeros((len(wanted), 2), np.int64)
    slide_any(rank, *windows, wanted, create(len(row)), cursors, lower, upper)
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


def _comparable(block: Block) -> Iterator[NDArray[Any]]:
    """Yield the values in forms that kernels are compiled for: float64 where it holds them all, then keys.

    Missing values are NaN if they are floats.
    """
    values = block.values
    if values.dtype.kind == "f" or values.itemsize <= 4:
        floats = values.astype(np.float64, copy=False)
        if block.masked and block.missing is not None:
            floats = np.where(block.missing, np.nan, floats)
        yield read_only(floats)
    yield read_only(unsigned_keys(values))


def _new_memory(rows: int, dtype: np.dtype[Any], sampled: bool) -> tuple[Any, bulk_select.Sample | None]:
    """Return memory to rank up to `rows` rows, and for samples of them, or None."""
    return bulk_select.allocate(rows, dtype), bulk_select.allocate_sample(rows, dtype) if sampled else None


# Clearing new memory would cost the system more than using it.
_memory = Kept()


def _by_ranks(
    keys: NDArray[Any],
    block: Block,
    first: int,
    point: Point,
    targets: NDArray[np.int64] | None,
    lower: NDArray[Any],
    upper: NDArray[Any],
) -> int:
    """Select by ranks of `keys` from row `first` on; return the row up to which rows are done.

    Without `targets`, the point of each window is written to `lower`.
    """
    width = block.width
    rows = _rows_at_a_time(width)
    size = room_for(rows + width)
    rows = min(rows, block.rows - first)
    key = size, keys.dtype, width >= thresholds.SAMPLED
    scratch, sample = _memory.get(key, partial(_new_memory, *key), size <= MOST_KEPT)
    with np.errstate(over="ignore"):  # kernels compute modulo 2**64; plain Python would warn
        done = bulk_select.select_fixed(
            keys[first:],
            block.mask[first:] if keys.dtype.kind == "u" else NOTHING_MISSING,  # NaN
            width,
            point.rank,
            None if targets is None else targets[first:],
            rows,
            point.fraction,
            point.midpoint,
            lower[first:],
            upper[first:],
            scratch,
            sample,
        )
    return first + int(done)


def _select_fixed(
    block: Block, targets: NDArray[np.int64], lower: NDArray[Any], upper: NDArray[Any] | None
) -> None:
    """Write the order statistics of equal windows, and the next ones."""
    found = [lower] if upper is None else [lower, upper]
    first = 0
    for keys in _comparable(block):
        first = _targets_by_ranks(keys, block, first, targets, found)
        if first == block.rows:
            return
    request = Selection(targets[None], lower[None], None if upper is None else upper[None])
    for begin, end in split_rows(block.start[first:], block.end[first:], thresholds.RANKED_VALUES):
        _select_any(block, request, first + begin, first + end)


def _targets_by_ranks(
    keys: NDArray[Any], block: Block, first: int, targets: NDArray[np.int64], results: list[NDArray[Any]]
) -> int:
    """Do what :func:`_by_ranks` does, and convert what is found to the dtype of the results."""
    if all(result.dtype == keys.dtype and result.flags.c_contiguous for result in results):
        found = results
    else:  # rows where nothing is wanted must convert without a warning
        harmless = keys[0] if keys[0] == keys[0] else keys.dtype.type(0)
        found = [np.full(block.rows, harmless) for _ in results]
    upper = found[1] if len(found) > 1 else found[0][:0]
    done = _by_ranks(keys, block, first, Point(0), targets, found[0], upper)
    if found is not results:
        for result, values in zip(results, found):
            write_values(values[first:done], result[first:done])
    return done
