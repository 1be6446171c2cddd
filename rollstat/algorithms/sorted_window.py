"""Order statistics of any monotone windows, read off a sorted array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.ranking import NOTHING_MISSING
from rollstat.blocks import Block, Selection, read_only
from rollstat.kernels.rank_space.order_statistics_sorted import order_statistics_sorted

__all__ = ["block_rows", "select"]

_NONE: NDArray[Any] = np.empty((0, 0), np.int64)


def block_rows(width: int) -> int:
    """Return the rows of a block: several windows, whose first is inserted value by value."""
    return max(1 << 18, 8 * width)


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    window = np.empty(block.longest + 1, block.values.dtype)
    order_statistics_sorted(
        read_only(block.values),
        NOTHING_MISSING if block.missing is None else block.missing,
        block.start,
        block.end,
        read_only(request.rank),
        window,
        request.lower,
        _NONE.astype(window.dtype) if request.upper is None else request.upper,
        _NONE if request.position is None else request.position,
    )
