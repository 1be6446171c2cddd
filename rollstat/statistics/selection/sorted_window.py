"""Order statistics of any monotone windows, read off a sorted array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection, read_only
from rollstat.kernels.rank_space.sorted_windows import Kth, Position, sorted_windows
from rollstat.statistics.selection.ranking import NOTHING_MISSING

__all__ = ["block_rows", "select"]


def block_rows(width: int) -> int:
    """Return the rows of a block: several windows, whose first is inserted value by value."""
    return max(1 << 18, 8 * width)


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    values, missing = read_only(block.values), NOTHING_MISSING if block.missing is None else block.missing
    window, marks = np.empty(block.longest + 1, values.dtype), np.zeros(2)

    def read(reader: Any, rank: NDArray[np.int64], *results: NDArray[Any]) -> None:
        given = read_only(np.ascontiguousarray(rank))
        sorted_windows(reader, values, missing, block.start, block.end, given, 1, window, marks, results)

    for i, rank in enumerate(request.rank):
        read(Kth(0), rank, request.lower[i], *(() if request.upper is None else (request.upper[i],)))
        if request.position is not None:
            read(Position(0), rank, request.position[i])
