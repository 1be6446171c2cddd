"""Rank of the newest value, number of distinct values, most frequent value, mean difference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Outcome, read_only
from rollstat.kernels.rank_space import gini
from rollstat.kernels.rank_space.mode import count_distinct, find_modes
from rollstat.kernels.rank_space.mode import create as create_tree
from rollstat.kernels.rank_space.rank import (
    DENSE,
    METHODS,
    compare_newest,
    count_newest,
    finish,
)
from rollstat.kernels.rank_space.sorted_windows import Distinct as Distincts
from rollstat.kernels.rank_space.sorted_windows import MeanDifference as MeanDifferences
from rollstat.kernels.rank_space.sorted_windows import Mode as Modes
from rollstat.kernels.rank_space.sorted_windows import RankOf
from rollstat.kernels.selection.rank_set import create as create_set
from rollstat.plan import NAMED, Choice, Computation, OneCall, Output
from rollstat.registry import reject_algorithm
from rollstat.statistics.one_call import sorted_in_one_call
from rollstat.statistics.ranks import rank_space
from rollstat.statistics.ranks.rank_space import rank_set, ranked_blocks, read_sorted, small_blocks
from rollstat.statistics.selection.ranking import measurable
from rollstat.windows import OffsetWindows, Windows

__all__ = [
    "MEAN_DIFFERENCE_ALGORITHMS",
    "RANK_ALGORITHMS",
    "Distinct",
    "MeanDifference",
    "Mode",
    "RankOfNewest",
]

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


class _InRankSpace(Computation):
    """A computation over the ranks of the values of each segment of a block."""

    def __init__(self, dtype: np.dtype[Any], windows: Windows, algorithm: str = "auto") -> None:
        pass

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return rank_space.block_rows(width)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        return rank_set(block)


class RankOfNewest(_InRankSpace):
    """Rank of the last row's value among the observations of its window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    method : str
        A key of `METHODS`.
    ascending, pct : bool
        As in pandas.
    algorithm : str
        ``"auto"`` or a key of `RANK_ALGORITHMS`.
    """

    outputs = (Output("float"),)

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        method: str,
        ascending: bool,
        pct: bool,
        algorithm: str,
    ) -> None:
        self.method = METHODS[method]
        self.ascending = ascending
        self.pct = pct
        self.algorithm = algorithm
        self._floats = dtype.kind == "f"
        if algorithm == "comparisons" and not self._can_compare(windows):
            reject_algorithm(algorithm, RANK_ALGORITHMS, "call")

    def _can_compare(self, windows: Windows) -> bool:
        if not isinstance(windows, OffsetWindows) or windows.step != 1 or self.method == DENSE:
            return False
        return windows.left + windows.right <= thresholds.COMPARED_RANK

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        if self.algorithm == "rank_set":
            return Choice("rank_set", NAMED)
        if self.method == DENSE:
            return rank_set(block, "method='dense' counts distinct values")
        if not block.width:
            return rank_set(block, "the width of the windows varies")
        if block.width > thresholds.COMPARED_RANK:
            return rank_set(block, f"windows of more than {thresholds.COMPARED_RANK} rows")
        if self._floats:
            return Choice("comparisons", f"windows of at most {thresholds.COMPARED_RANK} rows")
        if not complete:
            return rank_set(block, "a missing value has no NaN to compare with")
        missing = (("rank_set", "a value is missing"),)
        return Choice("comparisons", f"windows of at most {thresholds.COMPARED_RANK} rows", missing)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call, see :class:`Computation`."""
        if self.method == DENSE:
            return None
        return sorted_in_one_call(RankOf(self.method, self.ascending, self.pct), least, marks)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the rank of every row; rows whose last value is missing are insufficient."""
        smaller, equal = np.empty(block.rows, np.int64), np.empty(block.rows, np.int64)
        algorithm = self.choose(block, block.missing is None).name
        if algorithm == "comparisons":
            compare_newest(_comparable(block), block.width, smaller, equal)
            total = block.count
        else:
            total = np.empty(block.rows, np.int64)
            self._count(block, smaller, equal, total)
        insufficient = None
        if block.missing is not None and block.width > 0:
            insufficient = block.missing[block.width - 1 :]
        elif block.missing is not None:
            insufficient = (block.end > block.start) & block.missing[np.maximum(block.end - 1, 0)]
        finish(smaller, equal, total, self.method, self.ascending, self.pct, results[0])
        return Outcome(insufficient=insufficient, algorithm=algorithm)

    def _count(self, block: Block, smaller: NDArray[Any], equal: NDArray[Any], total: NDArray[Any]) -> None:
        for rows, part, rank, ordered in ranked_blocks(block):
            ranks = len(ordered)
            count_newest(
                rank,
                part.start,
                part.end,
                self.method == DENSE,
                np.zeros(ranks, np.int64),
                create_set(ranks),
                smaller[rows],
                equal[rows],
                total[rows],
            )


def _comparable(block: Block) -> NDArray[Any]:
    """Return the values as float64, int64 or uint64, for which kernels are compiled; missing ones are NaN."""
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

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call, see :class:`Computation`."""
        return sorted_in_one_call(Distincts(), least, marks)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the number of distinct values of every window."""
        for rows, part, rank, ordered in ranked_blocks(block):
            count = np.empty(len(part.start), np.int64)
            count_distinct(rank, part.start, part.end, np.zeros(len(ordered), np.int64), count)
            results[0][rows] = count
        return Outcome(algorithm="rank_set")


class Mode(_InRankSpace):
    """The most frequent observation, the smallest of several."""

    outputs = (Output("value"),)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call, see :class:`Computation`."""
        return sorted_in_one_call(Modes(), least, marks)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the mode of every window."""
        for rows, part, rank, ordered in ranked_blocks(block):
            if len(ordered) == 0:
                continue
            best = np.empty(len(part.start), np.int64)
            find_modes(rank, part.start, part.end, create_tree(len(ordered)), best)
            results[0][rows] = ordered[best]
        return Outcome(algorithm="rank_set")


class MeanDifference(_InRankSpace):
    """Mean distance of all pairs of observations.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    algorithm : str
        ``"auto"`` or a key of `MEAN_DIFFERENCE_ALGORITHMS`.
    """

    rounds = True
    outputs = (Output("float", 2),)

    def __init__(self, dtype: np.dtype[Any], windows: Windows, algorithm: str) -> None:
        if dtype.kind not in "fiub":
            raise TypeError(f"arr must hold floats, integers or bool; its dtype was {dtype}")
        self.algorithm = algorithm

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        if self.algorithm != "auto":
            return Choice(self.algorithm, NAMED)
        widest = thresholds.SORTED_WINDOW_OF_MEAN_DIFFERENCES
        if block.longest <= widest:
            return Choice("sorted_window", f"windows of at most {widest} rows")
        return rank_set(block, f"windows of more than {widest} rows")

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call, see :class:`Computation`."""
        return sorted_in_one_call(MeanDifferences(), least, marks, distances=True)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the mean difference of every window."""
        algorithm = self.choose(block).name
        mean = np.zeros(block.rows)
        if algorithm == "sorted_window":
            for rows, part in small_blocks(block):
                read_sorted(part, measurable(part.values), MeanDifferences(), 2, [mean[rows]])
        else:
            for rows, part, rank, ordered in ranked_blocks(block):
                first, last = 0, len(ordered) - 1
                if ordered.dtype.kind == "f":
                    first = int(np.searchsorted(ordered, -np.inf, side="right"))
                    last = int(np.searchsorted(ordered, np.inf)) - 1
                values = measurable(ordered)
                windows = part.start, part.end, gini.create(len(ordered))
                gini.mean_differences(rank, values, first, last, *windows, mean[rows])
                if ordered.dtype.kind == "f" and np.isinf(mean[rows]).any():
                    # Distances or their sums may have overflowed.
                    again, windows = np.zeros(part.rows), (*windows[:2], gini.create(len(ordered)))
                    scaled = read_only(values * gini.SCALE)
                    gini.mean_differences(rank, scaled, first, last, *windows, again)
                    with np.errstate(over="ignore"):
                        mean[rows] = np.where(np.isinf(mean[rows]), again / gini.SCALE, mean[rows])
        with np.errstate(over="ignore"):
            results[0][...] = mean
        return Outcome(algorithm=algorithm)
