"""A stream of straight lines of least squares through the rows of a window."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rollstat.operators.moments import combine_comoments
from rollstat.streaming.operator_stream import Named

__all__ = ["RollingLinearFit"]

_State = tuple[float, float, float, float, float, float, float]


class _Line(NamedTuple):
    """Least squares of values on their rows: slope, intercept, R squared, observations.

    A missing value is a state of no observations, because the window's first row is where the line begins:
    state ``(first row, count, mean row, mean value, and the sums of squares and products)``.
    """

    with_row = True  # type: ignore[misc]  # of the class, no field of the tuple
    counts_rows = True  # type: ignore[misc]  # of the class, no field of the tuple

    def lift(self, y: float, row: int) -> _State:
        if y != y:
            return float(row), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return float(row), 1.0, float(row), float(y), 0.0, 0.0, 0.0

    def combine(self, older: _State, newer: _State) -> _State:
        first, n, x, y, xx, yy, xy = older
        if newer[1] == 0.0:
            return first, n, x, y, xx, yy, xy
        if n == 0.0:
            return first, newer[1], newer[2], newer[3], newer[4], newer[5], newer[6]
        n, x, y, xx, yy, xy = combine_comoments(older[1:], newer[1:])
        return first, n, x, y, xx, yy, xy

    def lower(self, state: _State) -> tuple[float, float, float, float]:
        first, n, x, y, xx, yy, xy = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan, n
        slope = xy / xx
        return slope, y - slope * (x - first), (slope * xy / yy if yy > 0.0 else np.nan), n


class RollingLinearFit(Named):
    """Straight line of least squares through each window: slope, intercept and R squared.

    The first row of the window is row 0, as in :func:`rolling_linear_fit`.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingLinearFit(3, min_periods=2)
    >>> [stream.push(x) for x in (1.0, 3.0, 5.0, 7.0)][1:]
    [(2.0, 1.0, 1.0), (2.0, 1.0, 1.0), (2.0, 3.0, 1.0)]
    """

    statistic = "linear_fit"
    made = _Line

    def _result(self, size: int, found: Any) -> Any:
        results = super()._result(size, found)
        enough = results[-1] >= max(self._least, 1)
        return tuple(self._with.finish(result) if enough else np.nan for result in results[:-1])

    def _finished(self, written: Any) -> list[Any]:
        # The operator counts observations itself; the queue counts rows.
        *results, count = written.arrays
        few = written.insufficient | (count < max(self._least, 1))
        return super()._finished(replace(written, arrays=results, insufficient=few))
