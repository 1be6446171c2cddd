"""Order statistics of windows whose rows come and go one by one: sorted arrays, two heaps, three trees.

Sorted arrays and heaps take any monotone windows. There is a pair of heaps for each wanted rank; those of the
first window of a block are built at once, from a partition by NumPy. Three trees take windows of a fixed
number of rows, and boundary windows. They hold as many nodes as the farthest wanted rank needs, counted from
the nearer end of the order. So one set of trees answers any number of ranks, including ranks that vary with
the number of observations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Selection, read_only
from rollstat.kernels.rank_space.sorted_windows import Kth, Position, sorted_windows
from rollstat.kernels.selection import three_trees as trees
from rollstat.kernels.selection import two_heaps as heaps

_NO_ROWS = np.empty(0, np.int64)


def block_rows(width: int) -> int:
    """Return the rows of a block: many times those before the first full window."""
    return max(1 << 18, 8 * width)


def sorted_window(block: Block, request: Selection) -> None:
    """Answer the request; see :class:`rollstat.blocks.Selection`."""
    values = read_only(block.values)
    window, marks = np.empty(block.longest + 1, values.dtype), np.zeros(2)

    def read(reader: Any, rank: NDArray[np.int64], *results: NDArray[Any]) -> None:
        given = read_only(np.ascontiguousarray(rank))
        sorted_windows(reader, values, block.mask, block.start, block.end, given, 1, window, marks, results)

    for i, rank in enumerate(request.rank):
        read(Kth(0), rank, request.lower[i], *(() if request.upper is None else (request.upper[i],)))
        if request.position is not None:
            read(Position(0), rank, request.position[i])


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


def two_heaps(block: Block, request: Selection) -> None:
    """Write the order statistics of a block."""
    if block.rows == 0:
        return
    values, missing = block.values, block.missing
    first, end = int(block.start[0]), int(block.end[0])
    capacity = max(1, block.longest)
    ties = request.position is not None
    for i, rank in enumerate(request.rank):
        state = heaps.allocate(capacity, values.dtype, ties)
        target = max(0, int(rank[0]) + 1)
        order = partitioned(values[first:end], None if missing is None else missing[first:end], target, ties)
        heaps.load(*state, values, first, end - first, order, target)
        lower = request.lower[i]
        upper: NDArray[Any] = lower[:0] if request.upper is None else request.upper[i]
        position = _NO_ROWS if request.position is None else request.position[i]
        heaps.select(*state, values, block.mask, block.start, block.end, rank, lower, upper, position)


def _capacity(block: Block, request: Selection) -> tuple[int, bool]:
    """Return the nodes that a tree must hold, and whether they are counted from the largest observation."""
    wanted = request.rank >= 0
    farther = int(request.upper is not None)
    forward = min(int(request.rank.max()) + 1 + farther, block.longest)
    backward = int(np.where(wanted, block.count - request.rank, 0).max())
    return min(forward, backward), backward < forward


def three_trees(block: Block, request: Selection) -> None:
    """Write the order statistics of a block of windows of one width, or of boundary windows.

    Boundary windows are cut short by the first or last row of the data::

        rows          . . 3 1 4 1 5 . .        width 3
        windows       [3] [3 1] [3 1 4] [1 4 1] [4 1 5] [1 5] [5]
    """
    if block.rows == 0 or int(request.rank.max(initial=-1)) < 0:
        return
    capacity, backward = _capacity(block, request)
    state = trees.allocate(capacity, block.longest, backward, block.values.dtype)
    upper: NDArray[Any] = request.lower[:0] if request.upper is None else request.upper
    position = np.empty((0, 0), np.int64) if request.position is None else request.position
    windows, found = (block.start, block.end), (request.lower, upper, position)
    if not trees.select(*state, block.values, block.mask, backward, *windows, request.rank, *found):
        raise ValueError("algorithm 'three_trees' supports only windows of a fixed number of rows")
