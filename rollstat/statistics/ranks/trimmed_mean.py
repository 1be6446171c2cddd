"""Trimmed and winsorized means."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Outcome
from rollstat.dtypes import is_large
from rollstat.kernels.rank_space import sorted_windows as readers
from rollstat.kernels.rank_space.trimmed_mean import create, sums_of_columns, trimmed_means
from rollstat.plan import Choice, OneCall, Output
from rollstat.statistics.ranks.rank_space import (
    NETWORK,
    RankComputation,
    ranked_blocks,
    read_columns,
    read_sorted,
    sorted_columns,
)
from rollstat.statistics.sorted_windows import sorted_in_one_call
from rollstat.windows import Windows

# Exponent of the sum of as many values as a window can have.
_SPARE = 64
# Sums of this many bits are exact in float64, and so is a mean times its divisor once rounded to an integer.
_EXACT_BITS = 50
_LARGE = "rank_set", "integers beyond 2**53"


class TrimmedMean(RankComputation):
    """Mean without the outermost observations, or with them replaced by the outermost that is kept.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    proportion : float
        Share of the observations at each end, rounded down to a whole number.
    winsorize : bool
        Whether they are replaced instead of left out.
    algorithm : str
        ``"auto"`` or a key of `NETWORK`.
    """

    rounds = True
    outputs = (Output("interpolated"),)
    algorithms = NETWORK
    widest = thresholds.SORTED_WINDOW_OF_TRIMMED_MEANS
    numbers_only = True

    def __init__(
        self, dtype: np.dtype[Any], windows: Windows, proportion: float, winsorize: bool, algorithm: str
    ) -> None:
        super().__init__(dtype, windows, algorithm)
        self.proportion = float(proportion)
        self.winsorize = winsorize

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        choice, dtype = super().choose(block, complete), block.values.dtype
        if dtype.kind not in "iu" or dtype.itemsize < 8 or choice.name == "rank_set":
            return choice
        return choice._replace(at_run_time=(*choice.at_run_time, _LARGE))

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        in_pairs = self.choose(Block.regular(np.empty(longest), None, longest)).name == "network"
        reader = readers.TrimmedMean(self.proportion, self.winsorize, longest if in_pairs else 0)
        return sorted_in_one_call(reader, least, marks, distances=True)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the mean of every window."""
        if is_large(block.values):
            self._follow_parts(block, results[0])
            return Outcome(algorithm="rank_set")
        result, algorithm = np.empty(block.rows), self.choose(block, block.missing is None).name
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            self._write(block, algorithm, result)
            overflow = ~np.isfinite(result)
            if block.values.dtype == np.float64 and overflow.any():
                again = np.empty(block.rows)
                self._write(block.over([np.ldexp(block.values, -_SPARE)]), algorithm, again)
                result[overflow] = np.ldexp(again[overflow], _SPARE)
            results[0][...] = result
        return Outcome(algorithm=algorithm)

    def _write(self, block: Block, algorithm: str, result: NDArray[Any]) -> None:
        if algorithm == "network" and block.missing is None:
            self._sort_all(_floats(block.values), block.width, result)
        elif algorithm == "network":
            reader = readers.TrimmedMean(self.proportion, self.winsorize, block.width)
            read_columns(block, _floats, reader, [result])
        elif algorithm == "rank_set":
            for rows, part, rank, ordered in ranked_blocks(block):
                self._means(part, rank, ordered, result[rows])
        else:
            reader = readers.TrimmedMean(self.proportion, self.winsorize, 0)
            read_sorted(block, _floats, reader, 1, [result])

    def _sort_all(self, values: NDArray[Any], width: int, result: NDArray[Any]) -> None:
        """Write the means from all windows of `width` values sorted at once."""
        cut = int(self.proportion * width)
        for rows, found in sorted_columns(values, width, cut, width - 1 - cut):
            total = result[rows]
            sums_of_columns(found, total)
            if self.winsorize and cut:
                total += cut * found[0] + cut * found[-1]
        result /= width if self.winsorize else width - 2 * cut

    def _follow_parts(self, block: Block, result: NDArray[Any]) -> None:
        """Write the means of integers of 64 bits, each rounded once.

        The integers are cut into parts of so few bits that float64 holds their sums. These are put together
        as Python's integers, whose quotients are rounded correctly.
        """
        bits = max(_EXACT_BITS - block.longest.bit_length(), 1)
        for rows, part, rank, ordered in ranked_blocks(block):
            cut = (self.proportion * part.count).astype(np.int64)
            divisor = np.maximum(part.count if self.winsorize else part.count - 2 * cut, 1)
            total = np.zeros(part.rows, object)
            for shift in range(0, 64, bits):
                digits = ordered >> ordered.dtype.type(shift)
                if shift + bits < 64:  # the last part has the sign
                    digits &= ordered.dtype.type((1 << bits) - 1)
                means = np.zeros(part.rows)
                self._means(part, rank, digits, means)
                total += np.rint(means * divisor).astype(np.int64).astype(object) << shift
            result[rows] = total / divisor.astype(object)

    def _means(self, part: Block, rank: NDArray[Any], ordered: NDArray[Any], result: NDArray[Any]) -> None:
        """Write the mean of every window, where `ordered` has the number to add up for each rank."""
        trimmed_means(
            rank,
            ordered.astype(np.float64, copy=False),
            part.start,
            part.end,
            create(len(ordered)),
            self.proportion,
            self.winsorize,
            result,
        )


def _floats(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64, copy=False)
