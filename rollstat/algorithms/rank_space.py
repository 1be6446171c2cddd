"""Windows in rank space: a block is cut into smaller ones, and each is sorted once."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms import sorted_columns
from rollstat.algorithms.rank_bits import split_rows
from rollstat.algorithms.ranking import NOTHING_MISSING, tied_ranks
from rollstat.blocks import Block
from rollstat.windows import Windows

__all__ = ["block_rows", "check_network", "choose", "missing_mask", "ranked_blocks", "small_blocks"]

_RANKED_ROWS = 8192


def block_rows(width: int) -> int:
    """Return the output rows of a block: several windows, so that few values are sorted twice."""
    return max(1 << 15, 3 * width)


def choose(algorithm: str, block: Block, widest: int) -> tuple[str, int]:
    """Return the name of the algorithm, and the most rows of a window.

    ``"auto"`` chooses ``"network"`` where windows are small and of one width and nothing is missing, a sorted
    array for windows of up to `widest` rows, and a tree over ranks for wider ones. ``"network"`` serves the
    rest in the same way.
    """
    longest = block.width or int((block.end - block.start).max())
    narrow = 0 < block.width <= thresholds.SORTED_BY_NETWORK and block.missing is None
    if algorithm in ("auto", "network") and narrow:
        algorithm = "network"
    elif algorithm in ("auto", "network"):
        algorithm = "sorted_window" if longest <= widest else "rank_set"
    return algorithm, longest


def check_network(algorithm: str, windows: Windows, algorithms: Mapping[str, str]) -> None:
    """Raise ValueError if `algorithm` is ``"network"`` and the network does not serve the windows."""
    if algorithm == "network" and not sorted_columns.serves(windows):
        served = "; ".join(f"{name!r} ({what})" for name, what in algorithms.items())
        raise ValueError(f"algorithm {algorithm!r} does not serve this window; the algorithms are {served}")


def missing_mask(block: Block) -> NDArray[np.bool_]:
    """Return the mask of missing values as kernels take it: empty where every value is an observation."""
    return NOTHING_MISSING if block.missing is None else block.missing


def small_blocks(block: Block, smallest: int = 1 << 16) -> Iterator[tuple[slice, Block]]:
    """Cut a block into blocks of a few windows, so that memory does not grow with the step or with gaps.

    Yields
    ------
    rows : slice
        Output rows of `block`.
    part : Block
        The same rows as a block by themselves.
    """
    start, end, missing = block.start, block.end, block.missing
    for first, last in split_rows(start, end, smallest):
        low, high = int(start[first]), int(end[last - 1])
        mask = None if missing is None else missing[low:high]
        part = Block(block.values[low:high], mask, start[first:last] - low, end[first:last] - low)
        yield slice(first, last), part


def ranked_blocks(block: Block) -> Iterator[tuple[slice, Block, NDArray[Any], NDArray[Any]]]:
    """Cut a block as :func:`small_blocks` does, and sort each of the blocks.

    Yields
    ------
    rows, part
        As :func:`small_blocks` yields them.
    rank : ndarray of int
        Tied rank of every row of `part`, negative where missing.
    ordered : ndarray
        The observations of `part` in order.
    """
    for rows, part in small_blocks(block, _RANKED_ROWS):
        yield rows, part, *tied_ranks(part.values, part.missing)
