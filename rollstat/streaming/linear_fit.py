"""The operator of the least-squares line of values against their rows."""

from typing import Any, NamedTuple

import numpy as np

from rollstat.kernels.integers import difference
from rollstat.operators.moments import combine_comoments, zero_deviation

__all__ = ["LinearFitByRow"]

_State = tuple[float, float, float, float, float, float, float]


class LinearFitByRow(NamedTuple):
    """Least squares of values on their rows: slope, intercept, R squared, observations.

    A missing value is a state without observations, because the line starts at the first row of the window,
    missing or not; its row is inverted, ``~row``. State: ``(first row, count, mean row, mean value, and the
    sums of squares and products)``.
    """

    with_row = True  # type: ignore[misc]  # of the class, not a field of the tuple
    counts_rows = True  # type: ignore[misc]  # of the class, not a field of the tuple
    last_is_count = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        integer: Any = IntegerLinearFitByRow
        return integer() if dtype.kind in "iu" else self

    def lift(self, y: float, row: int) -> _State:
        if row < 0 or y != y:  # snapshots of earlier releases have NaN
            return float(max(row, ~row)), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        zero = zero_deviation(y)
        return float(row), 1.0, float(row), float(y), 0.0, zero, zero

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


_IntegerState = tuple[float, float, float, float, float, float, float, int]


class IntegerLinearFitByRow(NamedTuple):
    """Least squares of integers on their rows, as :class:`LinearFitByRow`.

    State: that of :class:`LinearFitByRow`, less the oldest observation, and this observation.
    """

    with_row = True  # type: ignore[misc]  # of the class, not a field of the tuple
    counts_rows = True  # type: ignore[misc]  # of the class, not a field of the tuple
    last_is_count = True  # type: ignore[misc]  # of the class, not a field of the tuple
    rounds_results = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, y: int, row: int) -> _IntegerState:
        if row < 0:
            return float(~row), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, y
        return float(row), 1.0, float(row), 0.0, 0.0, 0.0, 0.0, y

    def combine(self, older: _IntegerState, newer: _IntegerState) -> _IntegerState:
        first, n, x, y, xx, yy, xy, own = older
        if newer[1] == 0.0:
            return first, n, x, y, xx, yy, xy, own
        _, n, x, y, xx, yy, xy, own = newer
        if older[1] == 0.0:
            return first, n, x, y, xx, yy, xy, own
        y += difference(own, older[7])
        n, x, y, xx, yy, xy = combine_comoments(older[1:7], (n, x, y, xx, yy, xy))
        return first, n, x, y, xx, yy, xy, older[7]

    def lower(self, state: _IntegerState) -> tuple[float, float, float, float]:
        first, n, x, y, xx, yy, xy, own = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan, n
        slope = xy / xx
        height = float(own) + (y - slope * (x - first))
        return slope, height, (slope * xy / yy if yy > 0.0 else np.nan), n
