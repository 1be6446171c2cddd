"""Order statistics and ranks of windows in any order, by a wavelet matrix over the ranks of a block."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection
from rollstat.kernels.selection import wavelet_matrix as matrices
from rollstat.statistics.selection.ranking import ranks

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
    rank, row = ranks(block.values, block.missing)
    if len(row) == 0:
        return
    ordered = block.values[row]
    begins = np.append(np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])), len(row))
    newest = rank[np.maximum(block.end - 1, 0)]  # negative where missing
    first = np.repeat(begins[:-1], np.diff(begins))[newest]
    after = np.repeat(begins[1:], np.diff(begins))[newest]
    unknown = (newest < 0) | (block.start == block.end)
    matrix, windows = _matrix_of(rank, block.missing), block.observed
    matrices.count_less(matrix, *windows, np.where(unknown, -1, first), smaller)
    matrices.count_less(matrix, *windows, np.where(unknown, -1, after), equal)
    equal -= smaller


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
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
