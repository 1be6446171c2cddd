"""The operator of the least-squares line of values against their rows."""

from typing import NamedTuple

import numpy as np

from rollstat.operators.moments import combine_comoments

__all__ = ["LinearFitByRow"]

_State = tuple[float, float, float, float, float, float, float]


class LinearFitByRow(NamedTuple):
    """Least squares of values on their rows: slope, intercept, R squared, observations.

    A missing value is a state without observations, because the line starts at the first row of the window,
    missing or not. State: ``(first row, count, mean row, mean value, and the sums of squares and products)``.
    """

    with_row = True  # type: ignore[misc]  # of the class, not a field of the tuple
    counts_rows = True  # type: ignore[misc]  # of the class, not a field of the tuple
    last_is_count = True  # type: ignore[misc]  # of the class, not a field of the tuple

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
