"""Order statistics, ranks, distinct values of windows in any order, by a wavelet matrix over ranks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection
from rollstat.kernels.selection import wavelet_matrix as matrices
from rollstat.statistics.selection.ranking import rank_ranges, ranks

_NO_ROWS = np.empty(0, np.int64)


def _matrix_of(rank: NDArray[Any], missing: NDArray[np.bool_] | None) -> matrices.WaveletMatrix:
    """Return the matrix of the ranks of observations."""
    rank = rank.copy() if missing is None else rank[~missing]
    matrix = matrices.create(len(rank))
    matrices.build(rank, np.empty_like(rank), matrix)
    return matrix


def count_newest(
    block: Block, smaller: NDArray[np.int64], equal: NDArray[np.int64], total: NDArray[np.int64]
) -> None:
    """Write what :func:`rollstat.kernels.rank_space.rank.count_newest` writes, not for distinct values."""
    smaller[...], equal[...], total[...] = 0, 0, block.count
    if not block.count.any():
        return
    newest = np.maximum(block.end - 1, 0)
    rank, first, last = rank_ranges(block.values, block.missing)
    unknown = (rank[newest] < 0) | (block.start == block.end)
    matrix, windows = _matrix_of(rank, block.missing), block.observed
    for lowest, below in ((first[newest], smaller), (last[newest] + 1, equal)):
        matrices.count_less(matrix, *windows, np.where(unknown, -1, lowest).astype(np.int64), below)
    equal -= smaller


def count_distinct(block: Block, count: NDArray[np.int64]) -> None:
    """Write the number of distinct observations of each window: those that no equal one precedes in it.

    Observations are ranked by the place of the equal one before: first those that have none.
    """
    count[...] = 0
    _, row = ranks(block.values, block.missing)
    if len(row) == 0:
        return
    ordered = block.values[row]
    place = row if block.missing is None else (np.cumsum(~block.missing) - 1)[row]
    repeated = ordered[1:] == ordered[:-1]
    earlier, later = place[:-1][repeated], place[1:][repeated]
    followed, new = np.zeros(len(row) + 1, np.int64), np.ones(len(row), np.bool_)
    followed[earlier + 1], new[later] = 1, False
    np.cumsum(followed, out=followed)
    rank, windows = np.cumsum(new) - 1, block.observed
    rank[later] = len(row) - len(later) + followed[earlier]
    limit = len(row) - len(later) + followed[windows[0]]
    matrices.count_less(_matrix_of(rank, None), *windows, limit, count)


def select(block: Block, request: Selection) -> None:
    """Answer the request; see :class:`rollstat.blocks.Selection`."""
    rank, row = ranks(block.values, block.missing)
    if len(row) == 0:
        return
    matrix = _matrix_of(rank, block.missing)
    ordered, windows = block.values[row], block.observed
    for i, wanted in enumerate(request.rank):
        lower = np.zeros(block.rows, np.int64)
        upper: NDArray[np.int64] = _NO_ROWS if request.upper is None else np.zeros_like(lower)
        matrices.select(matrix, *windows, wanted, lower, upper)
        request.lower[i] = ordered[lower]
        if request.upper is not None:
            request.upper[i] = ordered[upper]
        if request.position is not None:
            request.position[i] = row[lower]
