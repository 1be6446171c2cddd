"""Rank of the newest value, number of distinct values, most frequent value, mean difference."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms import rank_space
from rollstat.algorithms.rank_space import missing_mask, ranked_blocks, small_blocks
from rollstat.blocks import Block, read_only
from rollstat.engine import Output
from rollstat.kernels.rank_space import bitset_tree, gini
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

__all__ = [
    "MEAN_DIFFERENCE_ALGORITHMS",
    "METHODS",
    "RANK_ALGORITHMS",
    "Distinct",
    "MeanDifference",
    "Mode",
    "RankOfNewest",
]

METHODS = {"average": AVERAGE, "min": MIN, "max": MAX, "first": FIRST, "dense": DENSE}

MEAN_DIFFERENCE_ALGORITHMS = {
    "sorted_window": "every window and dtype, in O(m)",
    "rank_set": "every window and dtype",
}

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


class MeanDifference(_InRankSpace):
    """Mean distance of all pairs of observations.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    algorithm : str
        ``"auto"`` or a key of `MEAN_DIFFERENCE_ALGORITHMS`.
    """

    outputs = (Output("float", 2),)

    def __init__(self, dtype: np.dtype[Any], algorithm: str) -> None:
        if dtype.kind not in "fiub":
            raise TypeError(f"arr must hold floats, integers or bool; its dtype was {dtype}")
        self.algorithm = algorithm

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the mean difference of every window."""
        longest = block.width or int((block.end - block.start).max())
        small = longest <= thresholds.SORTED_WINDOW_OF_MEAN_DIFFERENCES
        mean = np.zeros(block.rows)
        if self.algorithm == "sorted_window" or (self.algorithm == "auto" and small):
            for rows, part in small_blocks(block):
                values = _measurable(part.values)
                window, mask = np.empty(longest + 1, values.dtype), missing_mask(part)
                gini.mean_differences_sorted(values, mask, part.start, part.end, window, mean[rows])
        else:
            for rows, part, rank, ordered in ranked_blocks(block):
                first, last = 0, len(ordered) - 1
                if ordered.dtype.kind == "f":
                    first = int(np.searchsorted(ordered, -np.inf, side="right"))
                    last = int(np.searchsorted(ordered, np.inf)) - 1
                values, scratch = _measurable(ordered), gini.create(len(ordered))
                gini.mean_differences(rank, values, first, last, part.start, part.end, scratch, mean[rows])
        with np.errstate(over="ignore"):
            results[0][...] = mean


def _measurable(values: NDArray[Any]) -> NDArray[Any]:
    """Return values whose differences do not overflow: float64, or uint64 with the order of the integers."""
    if values.dtype.kind == "f":
        return read_only(values.astype(np.float64, copy=False))
    if values.dtype != np.uint64:
        values = values.astype(np.int64).view(np.uint64) ^ np.uint64(1 << 63)
    return read_only(values)
