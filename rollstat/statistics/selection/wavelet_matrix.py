"""Order statistics of windows in any order, by a wavelet matrix over the ranks of a block."""

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection
from rollstat.kernels.selection import wavelet_matrix as matrices
from rollstat.statistics.selection.ranking import ranks

_NO_ROWS = np.empty(0, np.int64)


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    rank, row = ranks(block.values, block.missing)
    if len(row) == 0:
        return
    rank = rank if block.missing is None else rank[~block.missing]
    matrix = matrices.create(len(row))
    matrices.build(rank, np.empty_like(rank), matrix)
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
