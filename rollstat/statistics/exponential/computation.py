"""Exponentially weighted statistics, by recursion or by an operator."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome, exact_floats, read_only
from rollstat.compile.bound_calls import BoundKernel
from rollstat.dtypes import warn_of_rounding
from rollstat.kernels.exponential import means, moments
from rollstat.kernels.missing.counting import has_nan
from rollstat.plan import SHORT, Bounds, Choice, Computation, OneCall, Output
from rollstat.statistics.aggregate.computation import Combination
from rollstat.windows import Windows

_NO_FACTORS = read_only(np.empty(0))
_REASON = "windows that begin with the first row need only what came before"


def exponential(
    dtype: np.dtype[Any], windows: Windows, operator: Any, dtypes: Sequence[np.dtype[Any]]
) -> Computation:
    """Return the computation for these windows."""
    if windows.kind == "expanding":
        return Recursion(operator)
    return Decayed(dtype, windows, operator, dtypes, kind="float")


def _with_nan(block: Block) -> list[NDArray[np.float64]]:
    """Return the series of a block as floats, NaN where missing."""
    series = []
    for values in (block.values, *block.others):
        warn_of_rounding(values)
        floats = exact_floats(values)
        series.append(values.astype(np.float64) if floats is None else floats)
    if block.searched and block.missing is not None:
        series[0] = np.where(block.missing, np.nan, series[0])
    return [read_only(values) for values in series]


class Decayed(Combination):
    """An operator that missing values age."""

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        x, *others = _with_nan(block)
        rows = Block(x, None, block.start, block.end, block.width, tuple(others), any_order=block.any_order)
        return super().compute(rows, min_periods, results)


@lru_cache(maxsize=64)
def _constants(decay: float) -> NDArray[np.float64]:
    """Return what eight rows need."""
    return read_only(moments.vector_constants(decay))


@lru_cache(maxsize=16)
def _with_tables(decay: float, adjust: bool, ignore_na: bool) -> NDArray[np.float64]:
    """Return what eight rows need of which some may be missing."""
    return read_only(moments.constants_with_tables(decay, adjust, ignore_na))


class Recursion(Computation):
    """A statistic of all rows so far, updated from the previous row.

    Parameters
    ----------
    operator : EwmOne or EwmTwo
        Its fields say what to compute.
    """

    one_block = True
    rounds = True

    def __init__(self, operator: Any) -> None:
        self._rule = operator
        self._timed = operator.decay != operator.decay
        self.outputs = [Output("float", 1)]
        self._mean = operator.statistic in (moments.MEAN, moments.SUM)
        least = means.LEAST_DECAY if self._mean else moments.LEAST_DECAY
        # Rows are computed by themselves without constants. Tables are made once a value is missing.
        self._constants = _constants(operator.decay) if operator.decay >= least else _NO_FACTORS
        names = ("means_by_row", "means_by_vector") if self._mean else ("moments",)
        self._kernels = [BoundKernel(getattr(means if self._mean else moments, name)) for name in names]

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block."""
        return width

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        return Choice("recursion", _REASON)

    def _write(
        self, series: Sequence[NDArray[np.float64]], offsets: NDArray[np.int64], least: int, out: NDArray[Any]
    ) -> None:
        """Write the result of each row of the segments."""
        rule, (x, *others) = self._rule, series
        factors = others.pop() if self._timed else _NO_FACTORS
        flags = rule.adjust, rule.ignore_na
        if not self._mean:
            y = others[0] if others else None
            given = x, y, factors, offsets
            how = rule.decay, *flags, rule.bias, rule.statistic, least, out
            if self._kernels[0](*given, self._constants, *how):
                self._constants = _with_tables(rule.decay, *flags)
                self._kernels[0](*given, self._constants, *how)
            return
        summed, outcome = rule.statistic == moments.SUM, means.OUT_OF_RANGE
        if len(self._constants):
            rest = 1.0 - rule.decay, *flags, summed, least, out
            outcome = self._kernels[1](x, offsets, self._constants, *rest)
            if outcome == means.LACKS_TABLES:
                self._constants = _with_tables(rule.decay, *flags)
                outcome = self._kernels[1](x, offsets, self._constants, *rest)
        if outcome != means.DONE:
            self._kernels[0](x, factors, offsets, rule.decay, *flags, summed, least, out)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        last: list[Any] = [(None, None)]  # one entry, so that threads with other bounds cannot mix two

        def run(
            columns: list[NDArray[np.float64]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]
        ) -> bool:
            if self._timed and has_nan(columns[-1]):  # the mask of the values
                return False
            known, segments = last[0]
            if known is not bounds:
                segments = _segments(bounds.start, bounds.end, len(columns[0]))
                last[0] = bounds, segments
            offsets, rows = segments
            written = outputs[0] if rows is None else np.empty(len(columns[0]))
            self._write(columns, offsets, least, written)
            if rows is not None:
                outputs[0][:] = written[rows]
            return True

        return OneCall(Choice("recursion", SHORT), run, 3.0) if marks[0] != marks[0] else None

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        rows: Any = None if results[0].dtype == np.float64 else slice(None)
        series, offsets = _with_nan(block), np.array([0, len(block.values)])
        if block.reach is None:
            offsets, chosen = _segments(block.start, block.end, len(block.values))
            rows = rows if chosen is None else chosen
        elif block.reach > 1:
            rows = slice(block.reach - 1, None)
        written = results[0] if rows is None else np.empty(len(block.values))
        self._write(series, read_only(offsets), min_periods, written)
        if rows is not None:
            with np.errstate(over="ignore"):  # values that float32 cannot hold become infinite
                results[0][:] = written[rows]
        return Outcome(marked=block.nan_below is not None, algorithm="recursion")


def _segments(start: NDArray[np.int64], end: NDArray[np.int64], length: int) -> tuple[Any, Any]:
    """Return where segments begin, and the row of each result; None if each row has one."""
    offsets = start[np.flatnonzero(np.diff(start, prepend=-1))]
    rows = None if np.array_equal(end, np.arange(1, length + 1)) else end - 1
    return read_only(np.append(offsets, length)), rows
