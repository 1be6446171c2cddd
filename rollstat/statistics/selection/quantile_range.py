"""Distance of two quantiles."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome, Selection
from rollstat.dtypes import compute_dtype
from rollstat.kernels.rank_space.sorted_windows import SpreadOf
from rollstat.kernels.selection.quantiles import INTERPOLATIONS, whole_spread
from rollstat.plan import OneCall, Output
from rollstat.statistics.extrema.computation import write_distance
from rollstat.statistics.one_call import sorted_in_one_call
from rollstat.statistics.selection.computation import OrderStatistics, Quantile
from rollstat.windows import Windows

__all__ = ["Spread"]


class Spread(OrderStatistics):
    """Difference of two quantiles of every window, from one selection.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    low, high : Quantile
        The two, of one interpolation.
    algorithm : str
        ``"auto"`` or a name of :data:`rollstat.statistics.selection.computation.ALGORITHMS`.
    """

    def __init__(
        self, dtype: np.dtype[Any], windows: Windows, low: Quantile, high: Quantile, algorithm: str
    ) -> None:
        super().__init__(dtype, windows, [low, high], algorithm)
        kind = low.kind()
        self.can_fail = dtype.kind in "mM"
        self._wide = dtype.kind in "iu" and dtype.itemsize == 8 and kind == "interpolated"
        self._inner = compute_dtype(kind, dtype)
        whole = self.can_fail or (dtype.kind in "iub" and kind == "value")
        self.outputs = [Output("difference" if whole else "interpolated")]

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call, see :class:`Computation`."""
        low, high = self.requests
        assert isinstance(low, Quantile)
        assert isinstance(high, Quantile)
        if self.dtype == np.float32:  # whose quantiles are rounded before they are subtracted
            return None
        reader = SpreadOf(low.q, high.q, INTERPOLATIONS[low.interpolation], self._wide)
        return sorted_in_one_call(reader, least, marks, distances=True)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the distance of every row with at least `min_periods` observations."""
        low, high = np.zeros(block.rows, self._inner), np.zeros(block.rows, self._inner)
        outcome = super().compute(block, min_periods, [low, high])
        write_distance(block, min_periods, low, high, results[0])
        return outcome

    def _write_points(self, driver: Any, block: Block, results: list[NDArray[Any]]) -> bool:
        return not self._wide and super()._write_points(driver, block, results)

    def _combine(self, block: Block, selection: Selection, results: list[NDArray[Any]]) -> None:
        """Subtract 64-bit integers before they are rounded: 0 and the distance replace the two quantiles."""
        if not self._wide:
            super()._combine(block, selection, results)
            return
        low, high = self.requests
        assert isinstance(low, Quantile)
        assert isinstance(high, Quantile)
        upper = selection.lower if selection.upper is None else selection.upper
        results[0][...] = 0
        middle = low.interpolation == "midpoint"
        whole_spread(selection.lower, upper, block.count, low.q, high.q, middle, results[1])
