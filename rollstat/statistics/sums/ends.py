"""Counts, the oldest and newest observation, and whether any or all observations are true.

Counts are 0 for windows without observations; the other results of these windows are undefined.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Outcome
from rollstat.compile.bound_calls import BoundKernel
from rollstat.kernels.missing.counting import (
    ANY,
    COUNT,
    NEWEST,
    OLDEST,
    count_series,
    ends_of_windows,
    has_nan,
)
from rollstat.kernels.missing.observations import copy_until_nan, fill
from rollstat.plan import SHORT, Bounds, Choice, Computation, OneCall, Output
from rollstat.statistics.sums.window_sums import block_rows
from rollstat.windows import Windows

_ENDS = Outcome(algorithm="window_ends")


class Ends(Computation):
    """A statistic of the ends of windows, or of counts.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the series.
    windows : Windows
        The windows of the call.
    statistic : int
        `COUNT`, `OLDEST`, `NEWEST`, `ANY` or `ALL`.
    required : int
        Fewest observations for which there is a result.
    kind : str
        Kind of the output.
    """

    rounds = True

    def __init__(
        self, dtype: np.dtype[Any], windows: Windows, statistic: int, required: int, kind: str
    ) -> None:
        self._statistic = statistic
        self.filled_step = thresholds.FILLED_STEP_OF_ENDS
        self._alone = dtype == np.float64
        self.outputs = [Output(kind, required)]

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return block_rows(width, alone and self._alone)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        return Choice("window_ends", "the ends of a window, or counts, tell the result")

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        kernel, (mark,) = BoundKernel(ends_of_windows), marks

        def run(
            columns: list[NDArray[np.float64]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]
        ) -> None:
            kernel(columns[0], bounds.start, bounds.end, self._statistic, least, mark, outputs[0])

        return OneCall(Choice("window_ends", SHORT), run, 5.0)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        return write_ends(block, self._statistic, results[0])


def write_ends(block: Block, statistic: int, out: NDArray[Any]) -> Outcome:
    """Write a statistic of each window."""
    if statistic == COUNT:
        return _counts(block, out)
    if statistic in (OLDEST, NEWEST):
        return _observation(block, statistic == NEWEST, out)
    zero = block.values == 0
    out[:] = _count_where(block, ~zero) > 0 if statistic == ANY else _count_where(block, zero) == 0
    return _ENDS


def _is_unsearched(block: Block, out: NDArray[Any]) -> bool:
    """Return whether to skip a separate search for NaN; the search would take half of the time."""
    return bool(block.width and not block.searched and not block.others and out.dtype == block.values.dtype)


def _counts(block: Block, out: NDArray[Any]) -> Outcome:
    if _is_unsearched(block, out) and out.dtype == np.float64:
        if has_nan(block.values):
            count_series((block.values,), block.width, out)
            return _ENDS
        out[:] = block.width
        return _ENDS._replace(complete=True)
    out[:] = block.width if block.width and block.missing is None else block.count
    return _ENDS


def _observation(block: Block, newest: bool, out: NDArray[Any]) -> Outcome:
    """Write the oldest or newest observation of each window."""
    values = block.values
    first = block.width - 1 if newest else 0
    if _is_unsearched(block, out):
        if not copy_until_nan(values[first : first + block.rows], out):
            fill(values, None, newest, out)
        elif not has_nan(values[:first] if newest else values[block.rows :]):
            return _ENDS._replace(complete=True)
        return _ENDS
    if block.missing is not None:
        values = np.empty_like(values)
        fill(block.values, block.missing, newest, values)
    if block.width:
        out[:] = values[first : first + block.rows]
    elif len(values):
        out[:] = values[(block.end - 1 if newest else block.start).clip(0, len(values) - 1)]
    return _ENDS


def _count_where(block: Block, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of observations of each window for which `rows` is true."""
    return block.count_without(~rows if block.missing is None else ~rows | block.missing)
