"""Rank of the newest value, number of distinct values, most frequent value, mean difference."""

import sys
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import MOST_KEPT, Block, Kept, Outcome, read_only, room_for
from rollstat.kernels.rank_space import gini
from rollstat.kernels.rank_space import sorted_windows as readers
from rollstat.kernels.rank_space.entropy import entropies
from rollstat.kernels.rank_space.mode import count_distinct, find_modes
from rollstat.kernels.rank_space.mode import create as create_tree
from rollstat.kernels.rank_space.rank import (
    DENSE,
    METHODS,
    allocate,
    compare_newest,
    count_newest,
    create,
    finish,
    rank_in_parts,
)
from rollstat.kernels.rank_space.trimmed_mean import create_sums
from rollstat.plan import IN_ANY_ORDER, NAMED, Choice, Output
from rollstat.registry import reject_algorithm
from rollstat.sorting import unsigned_keys
from rollstat.statistics.ranks.rank_space import (
    SORTED_WINDOW,
    RankComputation,
    ranked_blocks,
    read_sorted,
    small_blocks,
)
from rollstat.statistics.selection.ranking import measurable, rank_ranges
from rollstat.statistics.selection.wavelet_matrix import count_distinct as count_distinct_in_any_order
from rollstat.statistics.selection.wavelet_matrix import count_newest as count_newest_in_any_order
from rollstat.windows import OffsetWindows, Windows

# Integers within a span of so many need no ranks, however short the series is.
_FEW_CODES = 1 << 16
# Rows ranked at a time to rank the newest: changes of the counts of one group would wait for each other.
_ROWS_OF_RANKS = 1 << 14
_memory = Kept()

RANK_ALGORITHMS = {
    "comparisons": (
        f"a fixed number of rows up to {thresholds.COMPARED_RANK}, step 1, every method but 'dense'"
    ),
    "rank_set": "every window, dtype and method",
}


class RankOfNewest(RankComputation):
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
    filled_step = sys.maxsize

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        method: str,
        ascending: bool,
        pct: bool,
        algorithm: str,
    ) -> None:
        super().__init__(dtype, windows, algorithm)
        self.method = METHODS[method]
        self.ascending = ascending
        self.pct = pct
        if self.method != DENSE:
            self.reader = readers.RankOf(self.method, ascending, pct)
        self._floats = dtype.kind == "f"
        self.any_order = algorithm == "auto" and self.method != DENSE
        if algorithm == "comparisons" and not self._can_compare(windows):
            reject_algorithm(algorithm, RANK_ALGORITHMS, "call")

    def _can_compare(self, windows: Windows) -> bool:
        if not isinstance(windows, OffsetWindows) or windows.step != 1 or self.method == DENSE:
            return False
        return windows.left + windows.right <= thresholds.COMPARED_RANK

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        if block.any_order:
            return Choice("wavelet_matrix", IN_ANY_ORDER)
        if self.algorithm == "rank_set":
            return Choice("rank_set", NAMED)
        if self.method == DENSE:
            return Choice("rank_set", "method='dense' counts distinct values")
        if not block.width:
            return Choice("rank_set", "the width of the windows varies")
        if block.width > thresholds.COMPARED_RANK:
            return Choice("rank_set", f"windows of more than {thresholds.COMPARED_RANK} rows")
        if not (self._floats or complete):
            return Choice("rank_set", "a missing value has no NaN to compare with")
        missing = () if self._floats else (("rank_set", "a value is missing"),)
        return Choice("comparisons", f"windows of at most {thresholds.COMPARED_RANK} rows", missing)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the rank of every row; rows whose last value is missing are insufficient."""
        algorithm = self.choose(block, block.missing is None).name
        insufficient = None
        if block.missing is not None and block.width > 0:
            insufficient = block.missing[block.width - 1 :]
        elif block.missing is not None:
            insufficient = (block.end > block.start) & block.missing[np.maximum(block.end - 1, 0)]
        outcome = Outcome(undefined=insufficient, algorithm=algorithm)
        if algorithm == "rank_set" and self._ranked_by_value(block, results[0]):
            return outcome
        smaller, equal = np.empty(block.rows, np.int64), np.empty(block.rows, np.int64)
        if algorithm == "comparisons":
            compare_newest(_comparable(block), block.width, smaller, equal)
            total = block.count
        elif block.any_order:
            total = np.empty(block.rows, np.int64)
            count_newest_in_any_order(block, smaller, equal, total)
        else:
            total = np.empty(block.rows, np.int64)
            for rows, part in small_blocks(block, _ROWS_OF_RANKS):
                ranks, length = rank_ranges(part.values, part.missing), len(part.values)
                copies = np.zeros(length if self.method == DENSE else 0, np.int32)
                counts = smaller[rows], equal[rows], total[rows]
                count_newest(*ranks, part.start, part.end, copies, create(length + 1), *counts)
        finish(smaller, equal, total, self.method, self.ascending, self.pct, results[0])
        return outcome

    def _ranked_by_value(self, block: Block, result: NDArray[Any]) -> bool:
        """Write all ranks, if each window ends one row later than the one before; return whether it does."""
        fixed = block.width > 0
        if self.method == DENSE or not (fixed or (block.end[0] > 0 and (np.diff(block.end) == 1).all())):
            return False
        values, missing, nothing = block.values, read_only(block.mask), np.empty(0, np.int64)
        bounds = nothing if fixed else block.start
        total = nothing if fixed and block.missing is None else block.count
        key = room_for(min(max(_ROWS_OF_RANKS, 4 * block.longest), len(values))), block.width
        memory = _memory.get(key, partial(allocate, *key), key[0] <= MOST_KEPT)
        found = result if result.flags.c_contiguous and result.dtype == np.float64 else np.empty(block.rows)
        windows = missing, bounds, block.width, total, _ROWS_OF_RANKS, memory
        for convert in (measurable, unsigned_keys):
            keys = read_only(convert(values if fixed else values[: block.end[-1]]))
            if rank_in_parts(keys, *windows, self.method, self.ascending, self.pct, found) == block.rows:
                if found is not result:
                    result[...] = found
                return True
        return False


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


class Distinct(RankComputation):
    """Number of distinct observations."""

    outputs = (Output("integer", 0),)
    reader = readers.Distinct()

    def __init__(self, dtype: np.dtype[Any], windows: Windows, algorithm: str) -> None:
        super().__init__(dtype, windows, algorithm)
        self.any_order = algorithm == "auto"

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        return Choice("wavelet_matrix", IN_ANY_ORDER) if block.any_order else super().choose(block, complete)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the number of distinct values of every window."""
        if block.any_order:
            count = np.empty(block.rows, np.int64)
            count_distinct_in_any_order(block, count)
            results[0][...] = count
            return Outcome(algorithm="wavelet_matrix")
        codes = _codes(block)
        if codes is not None:
            count = np.empty(block.rows, np.int64)
            copies = np.zeros(int(codes.max()) + 1, np.int64)
            count_distinct(codes, block.start, block.end, copies, count)
            results[0][...] = count
            return Outcome(algorithm="rank_set")
        for rows, part, rank, ordered in ranked_blocks(block):
            count = np.empty(len(part.start), np.int64)
            count_distinct(rank, part.start, part.end, np.zeros(len(ordered), np.int64), count)
            results[0][rows] = count
        return Outcome(algorithm="rank_set")


def _codes(block: Block) -> NDArray[np.int32] | None:
    """Return integers that can stand for ranks, -1 where missing; None for values that span too many."""
    values = block.values
    if values.dtype.kind not in "iu" or not len(values):
        return None
    low = int(values.min())
    if int(values.max()) - low >= max(len(values), _FEW_CODES):
        return None
    wide = values if values.itemsize == 8 else values.astype(np.int64)
    codes = (wide - wide.dtype.type(low)).astype(np.int32)
    if block.missing is not None:
        codes[block.missing] = -1
    return codes


class Mode(RankComputation):
    """The most frequent observation, the smallest of several."""

    outputs = (Output("value"),)
    reader = readers.Mode()

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the mode of every window."""
        for rows, part, rank, ordered in ranked_blocks(block):
            if len(ordered) == 0:
                continue
            best = np.empty(len(part.start), np.int64)
            find_modes(rank, part.start, part.end, create_tree(len(ordered)), best)
            results[0][rows] = ordered[best]
        return Outcome(algorithm="rank_set")


class Entropy(RankComputation):
    """Entropy of the frequencies of the observations.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    unit : float
        Natural entropies are divided by it.
    algorithm : str
        ``"auto"`` or a key of `RANK_SET`.
    """

    rounds = True
    outputs = (Output("float"),)

    def __init__(self, dtype: np.dtype[Any], windows: Windows, unit: float, algorithm: str) -> None:
        super().__init__(dtype, windows, algorithm)
        self._unit = unit

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the entropy of every window."""
        entropy = np.zeros(block.rows)
        for rows, part, rank, ordered in ranked_blocks(block):
            copies = np.zeros(len(ordered), np.int64)
            entropies(rank, part.start, part.end, copies, *create_sums(len(ordered)), entropy[rows])
        results[0][...] = entropy / self._unit
        return Outcome(algorithm="rank_set")


class MeanDifference(RankComputation):
    """Mean distance of all pairs of observations."""

    rounds = True
    outputs = (Output("float", 2),)
    algorithms = SORTED_WINDOW
    widest = thresholds.SORTED_WINDOW_OF_MEAN_DIFFERENCES
    numbers_only = True
    reader = readers.MeanDifference()
    distances = True

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the mean difference of every window."""
        algorithm = self.choose(block).name
        mean = np.zeros(block.rows)
        if algorithm == "sorted_window":
            read_sorted(block, measurable, self.reader, 2, [mean])
        else:
            for rows, part, rank, ordered in ranked_blocks(block):
                _write_mean_differences(part, rank, ordered, mean[rows])
        with np.errstate(over="ignore"):
            results[0][...] = mean
        return Outcome(algorithm=algorithm)


def _write_mean_differences(
    block: Block, rank: NDArray[Any], ordered: NDArray[Any], mean: NDArray[np.float64]
) -> None:
    """Write the mean difference of every window of a block, whose values are ranked."""
    finite = 0, len(ordered) - 1
    if ordered.dtype.kind == "f":
        finite = int(np.searchsorted(ordered, -np.inf, "right")), int(np.searchsorted(ordered, np.inf)) - 1

    def write(values: NDArray[Any], result: NDArray[np.float64]) -> None:
        state = gini.create(len(values))
        gini.mean_differences(rank, values, *finite, block.start, block.end, state, result)

    values = measurable(ordered)
    write(values, mean)
    if ordered.dtype.kind == "f" and np.isinf(mean).any():  # distances or their sums may have overflowed
        again = np.zeros(block.rows)
        write(read_only(values * gini.SCALE), again)
        with np.errstate(over="ignore"):
            mean[...] = np.where(np.isinf(mean), again / gini.SCALE, mean)
