"""Order statistics of windows of a fixed number of rows, by three trees.

The trees hold as many nodes as the farthest wanted rank needs, counted from the nearer end of the order. So
one set of trees answers any number of ranks, including ranks that vary with the number of observations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection
from rollstat.kernels.selection import three_trees

__all__ = ["block_rows", "select"]

_FEWEST_ROWS = 1 << 16


def block_rows(width: int) -> int:
    """Return the rows of a block: many times those before the first full window."""
    return max(_FEWEST_ROWS, 8 * width)


def _capacity(block: Block, request: Selection) -> tuple[int, bool]:
    """Return the nodes that a tree must hold, and whether they are counted from the largest observation."""
    wanted = request.rank >= 0
    farther = int(request.upper is not None)
    forward = min(int(request.rank.max()) + 1 + farther, block.width)
    if request.constant is not None and block.missing is None:
        backward = block.width - min(request.constant)
    else:
        backward = int(np.where(wanted, block.count - request.rank, 0).max())
    return min(forward, backward), backward < forward


def select(block: Block, request: Selection) -> None:
    """Write the order statistics of a block whose windows all have one width."""
    if block.width < 1:
        raise ValueError(
            "algorithm 'three_trees' supports only windows of a fixed number of rows, with step 1"
        )
    if block.rows == 0 or int(request.rank.max(initial=-1)) < 0:
        return
    capacity, backward = _capacity(block, request)
    state = three_trees.allocate(capacity, block.width, backward, block.values.dtype)
    missing = np.empty(0, np.bool_) if block.missing is None else block.missing
    upper: NDArray[Any] = request.lower[:0] if request.upper is None else request.upper
    position = np.empty((0, 0), np.int64) if request.position is None else request.position
    three_trees.select(*state, block.values, missing, backward, request.rank, request.lower, upper, position)
