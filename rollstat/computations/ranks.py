"""Rank of the newest value, number of distinct values, most frequent value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms import rank_space
from rollstat.algorithms.rank_space import ranked_blocks
from rollstat.blocks import Block, read_only
from rollstat.engine import Output
from rollstat.kernels.rank_space import bitset_tree
from rollstat.kernels.rank_space.mode import create as create_tree
from rollstat.kernels.rank_space.mode import find_modes
from rollstat.kernels.rank_space.nunique import count_distinct
from rollstat.kernels.rank_space.rank import (
    AVERAGE,
    DENSE,
    FIRST,
    MAX,
    MIN,
    compare_newest,
    count_newest,
    finish,
)
from rollstat.windows import FixedWindows, Windows

__all__ = ["METHODS", "RANK_ALGORITHMS", "Distinct", "Mode", "RankOfNewest"]

METHODS = {"average": AVERAGE, "min": MIN, "max": MAX, "first": FIRST, "dense": DENSE}

RANK_ALGORITHMS = {
    "comparisons": (
        f"a fixed number of rows up to {thresholds.COMPARED_RANK}, step 1, every method but 'dense'"
    ),
    "rank_set": "every window, dtype and method",
}


class _InRankSpace:
    """A computation that sorts its blocks."""

    def block_rows(self, width: int) -> int:
        """Output rows of a block that suit windows of `width` rows."""
        return rank_space.block_rows(width)


class RankOfNewest(_InRankSpace):
    """Rank of the last row's value among the observations of its window.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    ascending, pct : bool
        As in pandas.
    algorithm : str
        ``"auto"`` or a key of `RANK_ALGORITHMS`.
    windows : Windows
        The windows of the run.
    """

    outputs = (Output("float"),)

    def __init__(self, method: str, ascending: bool, pct: bool, algorithm: str, windows: Windows) -> None:
        self.method = METHODS[method]
        self.ascending = ascending
        self.pct = pct
        self.algorithm = algorithm
        if algorithm == "comparisons" and not self._can_compare(windows):
            served = "; ".join(f"{name!r} ({what})" for name, what in RANK_ALGORITHMS.items())
            raise ValueError(f"algorithm {algorithm!r} does not serve this call; the algorithms are {served}")

    def _can_compare(self, windows: Windows) -> bool:
        if not isinstance(windows, FixedWindows) or windows.step != 1 or self.method == DENSE:
            return False
        return windows.left + windows.right <= thresholds.COMPARED_RANK

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the rank of every row; rows whose last value is missing are lacking."""
        smaller, equal = np.empty(block.rows, np.int64), np.empty(block.rows, np.int64)
        narrow = 0 < block.width <= thresholds.COMPARED_RANK and self.method != DENSE
        numbers = block.values.dtype.kind == "f" or block.missing is None
        if narrow and numbers and self.algorithm != "rank_set":
            compare_newest(_comparable(block), block.width, smaller, equal)
            total = block.count
        else:
            total = np.empty(block.rows, np.int64)
            self._count(block, smaller, equal, total)
        if block.missing is not None and block.width > 0:
            block.lacking = block.missing[block.width - 1 :]
        elif block.missing is not None:
            block.lacking = (block.end > block.start) & block.missing[np.maximum(block.end - 1, 0)]
        finish(smaller, equal, total, self.method, self.ascending, self.pct, results[0])

    def _count(self, block: Block, smaller: NDArray[Any], equal: NDArray[Any], total: NDArray[Any]) -> None:
        for rows, part, rank, ordered in ranked_blocks(block):
            ranks = len(ordered)
            count_newest(
                rank,
                part.start,
                part.end,
                self.method == DENSE,
                np.zeros(ranks, np.int64),
                *bitset_tree.create(ranks),
                smaller[rows],
                equal[rows],
                total[rows],
            )


def _comparable(block: Block) -> NDArray[Any]:
    """Values in one of three dtypes, missing ones NaN."""
    values = block.values
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=block.missing is not None)
        if block.missing is not None:
            values[block.missing] = np.nan
    elif values.dtype != np.uint64:
        values = values.astype(np.int64, copy=False)
    return read_only(values)


class Distinct(_InRankSpace):
    """Number of distinct observations."""

    outputs = (Output("integer", 0),)

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the number of distinct values of every window."""
        for rows, part, rank, ordered in ranked_blocks(block):
            count = np.empty(len(part.start), np.int64)
            count_distinct(rank, part.start, part.end, np.zeros(len(ordered), np.int64), count)
            results[0][rows] = count


class Mode(_InRankSpace):
    """The most frequent observation, the smallest of several."""

    outputs = (Output("value"),)

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the mode of every window."""
        for rows, part, rank, ordered in ranked_blocks(block):
            if len(ordered) == 0:
                continue
            best = np.empty(len(part.start), np.int64)
            find_modes(rank, part.start, part.end, create_tree(len(ordered)), best)
            results[0][rows] = ordered[best]
