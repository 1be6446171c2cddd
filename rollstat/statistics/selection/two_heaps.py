"""Order statistics of any monotone windows, by two indexed heaps for each wanted rank.

The heaps of the first window of a block are built at once, from a partition by NumPy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection
from rollstat.kernels.selection import two_heaps
from rollstat.statistics.selection.ranking import NOTHING_MISSING

__all__ = ["block_rows", "partitioned", "select"]

_FEWEST_ROWS = 1 << 18
_NO_ROWS = np.empty(0, np.int64)


def block_rows(width: int) -> int:
    """Return the rows of a block: many times those before the first full window."""
    return max(_FEWEST_ROWS, 8 * width)


def partitioned(
    window: NDArray[Any], missing: NDArray[np.bool_] | None, target: int, ties: bool
) -> NDArray[Any]:
    """Return the indices of the observations of a window, the `target` smallest before all others."""
    observed = None if missing is None else np.flatnonzero(~missing)
    values = window if observed is None else window[observed]
    if ties:
        order = np.argsort(values, kind="stable")
    elif 0 < target < len(values):
        order = np.argpartition(values, target - 1)
    else:
        order = np.arange(len(values))
    return order if observed is None else observed[order]


def select(block: Block, request: Selection) -> None:
    """Write the order statistics of a block."""
    if block.rows == 0:
        return
    values, missing = block.values, block.missing
    first, end = int(block.start[0]), int(block.end[0])
    capacity, mask = max(1, block.longest), NOTHING_MISSING if missing is None else missing
    ties = request.position is not None
    for i, rank in enumerate(request.rank):
        state = two_heaps.allocate(capacity, values.dtype, ties)
        target = max(0, int(rank[0]) + 1)
        order = partitioned(values[first:end], None if missing is None else missing[first:end], target, ties)
        two_heaps.load(*state, values, first, end - first, order, target)
        lower = request.lower[i]
        upper: NDArray[Any] = lower[:0] if request.upper is None else request.upper[i]
        position = _NO_ROWS if request.position is None else request.position[i]
        two_heaps.select(*state, values, mask, block.start, block.end, rank, lower, upper, position)
