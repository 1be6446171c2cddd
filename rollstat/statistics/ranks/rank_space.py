"""Windows in rank space: a block is cut into smaller ones, and each is sorted once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, read_only
from rollstat.kernels.rank_space.sorted_windows import sorted_windows
from rollstat.plan import NAMED, Choice
from rollstat.statistics.ranks import sorted_columns
from rollstat.statistics.selection.rank_bits import split_rows
from rollstat.statistics.selection.ranking import NOTHING_MISSING, tied_ranks
from rollstat.windows import Windows

__all__ = [
    "block_rows",
    "check_network",
    "choose",
    "missing_mask",
    "rank_set",
    "ranked_blocks",
    "read_sorted",
    "small_blocks",
]

_RANKED_ROWS = 8192


def block_rows(width: int) -> int:
    """Return the output rows of a block: several windows, so that few values are sorted twice."""
    return max(1 << 15, 3 * width)


def choose(algorithm: str, block: Block, widest: int, complete: bool) -> Choice:
    """Return the algorithm for a block: a sorted array for up to `widest` rows, else a set of ranks.

    ``"network"`` sorts many windows at once, which only small ones of one width allow, and only if the
    values are `complete`: none is missing.
    """
    if algorithm not in ("auto", "network"):
        return Choice(algorithm, NAMED)
    narrow = block.longest <= widest
    other = "sorted_window" if narrow else "rank_set"
    if complete and 0 < block.width <= thresholds.SORTED_BY_NETWORK:
        reason = (
            NAMED if algorithm == "network" else f"windows of at most {thresholds.SORTED_BY_NETWORK} rows"
        )
        return Choice("network", reason, ((other, "a value is missing"),))
    reason = f"windows of {'at most' if narrow else 'more than'} {widest} rows"
    return Choice(other, reason) if narrow else rank_set(block, reason)


def rank_set(block: Block, reason: str = "supports every window") -> Choice:
    """Return the choice of a set of ranks; the reason tells how values are sorted for it."""
    return Choice("rank_set", reason)


def check_network(algorithm: str, windows: Windows, algorithms: Mapping[str, str]) -> None:
    """Raise ValueError if `algorithm` is ``"network"`` and the network does not serve the windows."""
    if algorithm == "network" and not sorted_columns.serves(windows):
        supported = "; ".join(f"{name!r} ({what})" for name, what in algorithms.items())
        raise ValueError(f"algorithm {algorithm!r} does not support this window; supported: {supported}")


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


def read_sorted(
    block: Block, values: NDArray[Any], reader: NamedTuple, least: int, results: Sequence[NDArray[Any]]
) -> None:
    """Write what `reader` finds in a sorted array of each window of a block, 0 below `least` observations.

    `values` takes the place of those of the block; kernels are compiled for float64 and uint64.
    """
    series = read_only(values), missing_mask(block), block.start, block.end, np.empty(0, np.int64)
    window, marks = np.empty(block.longest + 1, values.dtype), np.zeros(len(results))
    sorted_windows(reader, *series, least, window, marks, tuple(results))


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
