"""Selection in bulk: rank a stretch of several windows once, then follow the windows over a bit set."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.ranking import ranks
from rollstat.blocks import Block, Selection
from rollstat.kernels.rank_bits import slide_any

__all__ = ["block_rows", "select", "stretches"]

_SMALLEST_STRETCH = 4096


def block_rows(width: int) -> int:
    """Rows a block that suit windows of `width` values: several windows, lest values be sorted twice."""
    return max(1 << 15, 3 * width)


def stretches(start: NDArray[np.int64], end: NDArray[np.int64], smallest: int) -> Iterator[tuple[int, int]]:
    """Cut rows so that the windows of each part cover at most max(`smallest`, four first windows).

    Every part but the last moves the end on by at least three quarters of what it covers, so that all
    but the last together cover at most 4/3 of the series, whatever the windows.

    Yields
    ------
    first, last : int
        Rows ``first, ..., last - 1`` are a part.
    """
    first = 0
    while first < len(start):
        size = max(smallest, 4 * int(end[first] - start[first]))
        last = max(first + 1, int(np.searchsorted(end, start[first] + size, side="right")))
        yield first, last
        first = last


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    for first, last in stretches(block.start, block.end, _SMALLEST_STRETCH):
        _select_any(block, request, first, last)


def _select_any(block: Block, request: Selection, first: int, last: int) -> None:
    """Rows ``first, ..., last - 1``, whatever their windows and ranks."""
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
        request.upper is not None,
        *_bit_set(len(row)),
        np.zeros(len(wanted), np.int64),
        np.zeros(len(wanted), np.int64),
        lower,
        upper,
    )
    ordered = values[row]
    request.lower[:, first:last] = ordered[lower]
    if request.upper is not None:
        request.upper[:, first:last] = ordered[upper]
    if request.position is not None:
        request.position[:, first:last] = row[lower] + low


def _bit_set(ranks: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Empty set of ranks on whole entries of its coarsest level."""
    entries = (ranks >> 18) + 1
    return (
        np.zeros(min(entries << 12, (((ranks >> 12) + 1) << 6)), np.uint64),
        np.zeros(entries << 6, np.int64),
        np.zeros(entries, np.int64),
    )
