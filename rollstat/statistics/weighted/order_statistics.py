"""Quantiles of observations with weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome, read_only
from rollstat.kernels.rank_space.trimmed_mean import create_sums
from rollstat.kernels.rank_space.weighted_tree import weighted_quantiles
from rollstat.plan import Output
from rollstat.statistics.ranks.rank_space import RankComputation, ranked_blocks
from rollstat.windows import Windows


class WeightedQuantile(RankComputation):
    """The smallest observation at which the cumulated weight reaches a proportion of all weight.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the first series.
    windows : Windows
        The windows of the call.
    q : float
        The proportion.
    algorithm : str
        ``"auto"`` or a key of `RANK_SET`.
    """

    def __init__(self, dtype: np.dtype[Any], windows: Windows, q: float, algorithm: str) -> None:
        super().__init__(dtype, windows, algorithm)
        self._q = q
        # Integers become floats, because weights of 0 can leave any window without a result.
        self.outputs = (Output("value" if dtype.kind == "f" else "interpolated"),)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the quantile of every window."""
        weights = block.others[0].astype(np.float64, copy=False)
        undefined = np.zeros(block.rows, np.bool_)
        for rows, part, rank, ordered in ranked_blocks(block):
            found = np.empty(part.rows, np.int64)
            first = int(block.start[rows.start])
            of_part = read_only(weights[first : first + len(part.values)])
            moved = np.zeros((2, len(ordered)), np.int64)
            weighted_quantiles(
                rank, of_part, part.start, part.end, moved, *create_sums(len(ordered)), self._q, found
            )
            undefined[rows] = found < 0
            if len(ordered):
                results[0][rows] = ordered[np.maximum(found, 0)]
        return Outcome(undefined=undefined, algorithm="rank_set")
