"""Variance, skewness, kurtosis, and covariance, correlation and least squares of two columns.

States hold sums of powers of deviations from their own mean. They are combined by the pairwise formulas of
Chan, Golub and LeVeque (doi:10.1080/00031305.1983.10483115) and Pébay (SAND2008-6212). An infinite element
has an undefined deviation, so every moment of a window that holds it is NaN.

Means are held less the oldest element. This element is the last item of a state, and the difference of two
such elements is rounded once. So no result depends on how far the elements, floats or integers, are from
zero.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.lowering import jitable
from rollstat.kernels.numbers import difference

__all__ = [
    "Correlation",
    "Covariance",
    "DownsideDeviation",
    "Kurtosis",
    "LinearFit",
    "Skewness",
    "Slope",
    "StandardDeviation",
    "StandardError",
    "Variance",
]

_CentralSquares = tuple[float, float, float]


@jitable
def zero_deviation(x: float) -> float:
    """Return the deviation of one value from its own mean: 0, or NaN if it is infinite."""
    return float(x) - float(x)


@jitable
def _combine_squares(older: _CentralSquares, newer: _CentralSquares) -> _CentralSquares:
    a, b = older[0], newer[0]
    n = a + b
    shift = newer[1] - older[1]
    return n, older[1] + shift * (b / n), older[2] + newer[2] + shift * shift * (a * b / n)


@jitable
def _divide(total: float, count: float, ddof: int) -> float:
    return total / (count - ddof) if count > ddof else np.nan


_Squares = tuple[float, float, float, Any]


class Variance(NamedTuple):
    """Variance: state ``(count, mean, sum of squared deviations, oldest element)``."""

    ddof: int = 1

    def lift(self, x: Any) -> _Squares:
        return 1.0, 0.0, zero_deviation(x), x

    def combine(self, older: _Squares, newer: _Squares) -> _Squares:
        n, mean, squares, own = newer
        n, mean, squares = _combine_squares(older[:3], (n, mean + difference(own, older[3]), squares))
        return n, mean, squares, older[3]

    def lower(self, state: _Squares) -> float:
        return _divide(state[2], state[0], self.ddof)


class MeanOffset(NamedTuple):
    """Mean less the oldest element, and that element: state ``(count, difference, oldest element)``."""

    def lift(self, x: Any) -> tuple[float, float, Any]:
        return 1.0, 0.0, x

    def combine(self, older: tuple[float, float, Any], newer: tuple[float, float, Any]) -> Any:
        n = older[0] + newer[0]
        return n, older[1] + (newer[1] + difference(newer[2], older[2]) - older[1]) * (newer[0] / n), older[2]

    def lower(self, state: tuple[float, float, Any]) -> tuple[float, Any]:
        return state[1], state[2]


class StandardDeviation(NamedTuple):
    """Square root of the variance."""

    ddof: int = 1

    lift = Variance.lift
    combine = Variance.combine

    def lower(self, state: _Squares) -> float:
        return math.sqrt(_divide(state[2], state[0], self.ddof))


class StandardError(NamedTuple):
    """Standard deviation divided by the square root of the number of observations."""

    ddof: int = 1

    lift = Variance.lift
    combine = Variance.combine

    def lower(self, state: _Squares) -> float:
        return math.sqrt(_divide(state[2], state[0], self.ddof)) / math.sqrt(state[0])


class DownsideDeviation(NamedTuple):
    """Root of the mean square of the distances below `target`: state ``(count, result)``."""

    target: float = 0.0
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: Any) -> tuple[float, float]:
        return 1.0, max(self.target - float(x), 0.0)

    def combine(self, older: tuple[float, float], newer: tuple[float, float]) -> tuple[float, float]:
        n = older[0] + newer[0]
        # Roots of weights, so that no square leaves the range of floats.
        return n, math.hypot(older[1] * math.sqrt(older[0] / n), newer[1] * math.sqrt(newer[0] / n))

    def lower(self, state: tuple[float, float]) -> float:
        return state[1]


class PlainDownsideDeviation(NamedTuple):
    """Root mean square of negative values: what vector kernels sum for :class:`DownsideDeviation`."""


_Moments = tuple[float, float, float, float, float, Any]


class Skewness(NamedTuple):
    """Skewness, corrected for bias unless `bias` is true; NaN where all values are equal, as in pandas."""

    bias: bool = False

    def lift(self, x: Any) -> _Moments:
        zero = zero_deviation(x)
        return 1.0, 0.0, zero, zero, zero, x

    def combine(self, older: _Moments, newer: _Moments) -> _Moments:
        a, b, mean = older[0], newer[0], newer[1] + difference(newer[5], older[5])
        n, _, squares = _combine_squares(older[:3], (b, mean, newer[2]))
        shift = mean - older[1]
        step = shift / n
        third = older[3] + newer[3] + shift * step * step * a * b * (a - b)
        third += 3.0 * step * (a * newer[2] - b * older[2])
        fourth = older[4] + newer[4] + shift * step * step * step * a * b * (a * a - a * b + b * b)
        fourth += 6.0 * step * step * (a * a * newer[2] + b * b * older[2])
        fourth += 4.0 * step * (a * newer[3] - b * older[3])
        return n, older[1] + step * b, squares, third, fourth, older[5]

    def lower(self, state: _Moments) -> float:
        n, _, squares, third, _, _ = state
        if squares == 0.0 or (n < 3.0 and not self.bias):
            return np.nan
        result = math.sqrt(n) * third / (squares * math.sqrt(squares))
        return result if self.bias else result * math.sqrt(n * (n - 1.0)) / (n - 2.0)


class Kurtosis(NamedTuple):
    """Excess kurtosis, corrected for bias unless `bias` is true; NaN where all values are equal."""

    bias: bool = False

    lift = Skewness.lift
    combine = Skewness.combine

    def lower(self, state: _Moments) -> float:
        n, _, squares, _, fourth, _ = state
        if squares == 0.0 or (n < 4.0 and not self.bias):
            return np.nan
        result = n * fourth / (squares * squares)
        if self.bias:
            return result - 3.0
        return ((n + 1.0) * result - 3.0 * (n - 1.0)) * (n - 1.0) / ((n - 2.0) * (n - 3.0))


_Comoments = tuple[float, float, float, float, float, float]
_Pairs = tuple[float, float, float, float, float, float, Any, Any]


@jitable
def combine_comoments(older: _Comoments, newer: _Comoments) -> _Comoments:
    """Combine states (count, mean of x, mean of y, central sums of xx, yy and xy)."""
    n = older[0] + newer[0]
    weight = older[0] * newer[0] / n
    x, y = newer[1] - older[1], newer[2] - older[2]
    part = newer[0] / n
    return (
        n,
        older[1] + x * part,
        older[2] + y * part,
        older[3] + newer[3] + x * x * weight,
        older[4] + newer[4] + y * y * weight,
        older[5] + newer[5] + x * y * weight,
    )


class Covariance(NamedTuple):
    """Covariance of two columns."""

    ddof: int = 1

    def lift(self, x: Any, y: Any) -> _Pairs:
        zero_x, zero_y = zero_deviation(x), zero_deviation(y)
        return 1.0, 0.0, 0.0, zero_x, zero_y, zero_x + zero_y, x, y

    def combine(self, older: _Pairs, newer: _Pairs) -> _Pairs:
        n, x, y, xx, yy, xy, own_x, own_y = newer
        x, y = x + difference(own_x, older[6]), y + difference(own_y, older[7])
        n, x, y, xx, yy, xy = combine_comoments(older[:6], (n, x, y, xx, yy, xy))
        return n, x, y, xx, yy, xy, older[6], older[7]

    def lower(self, state: _Pairs) -> float:
        return _divide(state[5], state[0], self.ddof)


class Correlation(NamedTuple):
    """Pearson's correlation of two columns."""

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Pairs) -> float:
        scale = math.sqrt(state[3]) * math.sqrt(state[4])
        return state[5] / scale if state[0] > 1.0 and scale > 0.0 else np.nan


class Slope(NamedTuple):
    """Slope of the first column against the second, by least squares."""

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Pairs) -> float:
        return state[5] / state[4] if state[4] > 0.0 else np.nan


class LinearFit(NamedTuple):
    """Least-squares line of the second column over the first: slope, intercept, R squared."""

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Pairs) -> tuple[float, float, float]:
        _, x, y, xx, yy, xy, own_x, own_y = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan
        slope = xy / xx
        height = (y - slope * x) + (float(own_y) - slope * float(own_x))
        return slope, height, (slope * xy / yy if yy > 0.0 else np.nan)


class LinearFitByRow(NamedTuple):
    """Least squares of values on their rows: slope, intercept, R squared, observations.

    A missing value is a state without observations, because the line starts at the first row of the window,
    missing or not; its row is inverted, ``~row``. State: ``(first row, count, mean row, mean value, sums of
    squares and products, oldest observation)``.
    """

    with_row = True  # type: ignore[misc]  # of the class, not a field of the tuple
    counts_rows = True  # type: ignore[misc]  # of the class, not a field of the tuple
    last_is_count = True  # type: ignore[misc]  # of the class, not a field of the tuple
    rounds_results = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, y: Any, row: int) -> _Pairs:
        if row < 0:
            return float(~row), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, y
        zero = zero_deviation(y)
        return float(row), 1.0, float(row), 0.0, 0.0, zero, zero, y

    def combine(self, older: _Pairs, newer: _Pairs) -> _Pairs:
        first, n, x, y, xx, yy, xy, own = older
        if newer[1] == 0.0:
            return first, n, x, y, xx, yy, xy, own
        _, n, x, y, xx, yy, xy, own = newer
        if older[1] == 0.0:
            return first, n, x, y, xx, yy, xy, own
        y += difference(own, older[7])
        n, x, y, xx, yy, xy = combine_comoments(older[1:7], (n, x, y, xx, yy, xy))
        return first, n, x, y, xx, yy, xy, older[7]

    def lower(self, state: _Pairs) -> tuple[float, float, float, float]:
        first, n, x, y, xx, yy, xy, own = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan, n
        slope = xy / xx
        height = float(own) + (y - slope * (x - first))
        return slope, height, (slope * xy / yy if yy > 0.0 else np.nan), n


class SlopeByRow(LinearFitByRow):
    """Slope of the least-squares line of values on their rows, and observations."""

    def lower(self, state: _Pairs) -> tuple[float, float]:  # type: ignore[override]  # without height and R squared
        return (state[6] / state[4] if state[4] > 0.0 else np.nan), state[1]


class SlopeOfRows(SlopeByRow):
    """The same where no row is missing."""


class LinearFitOfRows(LinearFitByRow):
    """The same where no row is missing: sums of rows then follow from their number."""
