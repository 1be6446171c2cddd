"""Variance, skewness, kurtosis, and covariance, correlation and least squares of two columns.

States hold sums of powers of deviations from their own mean. They are combined by the pairwise formulas of
Chan, Golub and LeVeque (doi:10.1080/00031305.1983.10483115) and Pébay (SAND2008-6212). An infinite element
has an undefined deviation, so every moment of a window that holds it is NaN.

The states of integers hold means less an integer, the oldest element. It is the last item of a state, and the
difference of two of them is rounded once. So results do not depend on how far integers are from zero.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.lowering import jitable
from rollstat.kernels.integers import difference

__all__ = [
    "Correlation",
    "Covariance",
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


class Variance(NamedTuple):
    """Variance: state ``(count, mean, sum of squared deviations)``."""

    ddof: int = 1

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerVariance(self.ddof) if dtype.kind in "iu" else self

    def lift(self, x: float) -> _CentralSquares:
        return 1.0, float(x), zero_deviation(x)

    def combine(self, older: _CentralSquares, newer: _CentralSquares) -> _CentralSquares:
        return _combine_squares(older, newer)

    def lower(self, state: _CentralSquares) -> float:
        return state[2] / (state[0] - self.ddof) if state[0] > self.ddof else np.nan


class StandardDeviation(NamedTuple):
    """Square root of the variance."""

    ddof: int = 1

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerStandardDeviation(self.ddof) if dtype.kind in "iu" else self

    lift = Variance.lift
    combine = Variance.combine

    def lower(self, state: _CentralSquares) -> float:
        return math.sqrt(state[2] / (state[0] - self.ddof)) if state[0] > self.ddof else np.nan


class StandardError(NamedTuple):
    """Standard deviation divided by the square root of the number of observations."""

    ddof: int = 1

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerStandardError(self.ddof) if dtype.kind in "iu" else self

    lift = Variance.lift
    combine = Variance.combine

    def lower(self, state: _CentralSquares) -> float:
        if not state[0] > self.ddof:
            return np.nan
        return math.sqrt(state[2] / (state[0] - self.ddof)) / math.sqrt(state[0])


_Moments = tuple[float, float, float, float, float]


@jitable
def _combine_moments(older: _Moments, newer: _Moments) -> _Moments:
    a, b = older[0], newer[0]
    n, _, squares = _combine_squares(older[:3], newer[:3])
    shift = newer[1] - older[1]
    step = shift / n
    third = older[3] + newer[3] + shift * step * step * a * b * (a - b)
    third += 3.0 * step * (a * newer[2] - b * older[2])
    fourth = older[4] + newer[4] + shift * step * step * step * a * b * (a * a - a * b + b * b)
    fourth += 6.0 * step * step * (a * a * newer[2] + b * b * older[2])
    fourth += 4.0 * step * (a * newer[3] - b * older[3])
    return n, older[1] + step * b, squares, third, fourth


class Skewness(NamedTuple):
    """Skewness, corrected for bias unless `bias` is true; NaN where all values are equal, as in pandas."""

    bias: bool = False

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerSkewness(self.bias) if dtype.kind in "iu" else self

    def lift(self, x: float) -> _Moments:
        zero = zero_deviation(x)
        return 1.0, float(x), zero, zero, zero

    def combine(self, older: _Moments, newer: _Moments) -> _Moments:
        return _combine_moments(older, newer)

    def lower(self, state: _Moments) -> float:
        n, _, squares, third, _ = state[:5]
        if squares == 0.0 or (n < 3.0 and not self.bias):
            return np.nan
        result = math.sqrt(n) * third / (squares * math.sqrt(squares))
        return result if self.bias else result * math.sqrt(n * (n - 1.0)) / (n - 2.0)


class Kurtosis(NamedTuple):
    """Excess kurtosis, corrected for bias unless `bias` is true; NaN where all values are equal."""

    bias: bool = False

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerKurtosis(self.bias) if dtype.kind in "iu" else self

    lift = Skewness.lift
    combine = Skewness.combine

    def lower(self, state: _Moments) -> float:
        n, _, squares, _, fourth = state[:5]
        if squares == 0.0 or (n < 4.0 and not self.bias):
            return np.nan
        result = n * fourth / (squares * squares)
        if self.bias:
            return result - 3.0
        return ((n + 1.0) * result - 3.0 * (n - 1.0)) * (n - 1.0) / ((n - 2.0) * (n - 3.0))


_IntegerSquares = tuple[float, float, float, int]
_IntegerMoments = tuple[float, float, float, float, float, int]


class IntegerVariance(NamedTuple):
    """Variance of integers: the state of :class:`Variance`, less an element, and the element."""

    ddof: int = 1

    def lift(self, x: int) -> _IntegerSquares:
        return 1.0, 0.0, 0.0, x

    def combine(self, older: _IntegerSquares, newer: _IntegerSquares) -> _IntegerSquares:
        n, mean, squares, own = newer
        n, mean, squares = _combine_squares(older[:3], (n, mean + difference(own, older[3]), squares))
        return n, mean, squares, older[3]

    lower = Variance.lower


class IntegerStandardDeviation(NamedTuple):
    """Standard deviation of integers, with the state of :class:`IntegerVariance`."""

    ddof: int = 1

    lift = IntegerVariance.lift
    combine = IntegerVariance.combine
    lower = StandardDeviation.lower


class IntegerStandardError(NamedTuple):
    """Standard error of the mean of integers, with the state of :class:`IntegerVariance`."""

    ddof: int = 1

    lift = IntegerVariance.lift
    combine = IntegerVariance.combine
    lower = StandardError.lower


class IntegerSkewness(NamedTuple):
    """Skewness of integers: the state of :class:`Skewness`, less an element, and the element."""

    bias: bool = False

    def lift(self, x: int) -> _IntegerMoments:
        return 1.0, 0.0, 0.0, 0.0, 0.0, x

    def combine(self, older: _IntegerMoments, newer: _IntegerMoments) -> _IntegerMoments:
        n, mean, squares, third, fourth, own = newer
        moved = n, mean + difference(own, older[5]), squares, third, fourth
        n, mean, squares, third, fourth = _combine_moments(older[:5], moved)
        return n, mean, squares, third, fourth, older[5]

    lower = Skewness.lower


class IntegerKurtosis(NamedTuple):
    """Excess kurtosis of integers, with the state of :class:`IntegerSkewness`."""

    bias: bool = False

    lift = IntegerSkewness.lift
    combine = IntegerSkewness.combine
    lower = Kurtosis.lower


_Comoments = tuple[float, float, float, float, float, float]


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

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerCovariance(self.ddof) if dtype.kind in "iu" else self

    def lift(self, x: float, y: float) -> _Comoments:
        zero_x, zero_y = zero_deviation(x), zero_deviation(y)
        return 1.0, float(x), float(y), zero_x, zero_y, zero_x + zero_y

    def combine(self, older: _Comoments, newer: _Comoments) -> _Comoments:
        return combine_comoments(older, newer)

    def lower(self, state: _Comoments) -> float:
        return state[5] / (state[0] - self.ddof) if state[0] > self.ddof else np.nan


class Correlation(NamedTuple):
    """Pearson's correlation of two columns."""

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerCorrelation() if dtype.kind in "iu" else self

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Comoments) -> float:
        scale = math.sqrt(state[3]) * math.sqrt(state[4])
        return state[5] / scale if state[0] > 1.0 and scale > 0.0 else np.nan


class Slope(NamedTuple):
    """Slope of the first column against the second, by least squares."""

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerSlope() if dtype.kind in "iu" else self

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Comoments) -> float:
        return state[5] / state[4] if state[4] > 0.0 else np.nan


class LinearFit(NamedTuple):
    """Least-squares line of the second column over the first: slope, intercept, R squared."""

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return IntegerLinearFit() if dtype.kind in "iu" else self

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Comoments) -> tuple[float, float, float]:
        _, x, y, xx, yy, xy = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan
        slope = xy / xx
        return slope, y - slope * x, (slope * xy / yy if yy > 0.0 else np.nan)


_IntegerComoments = tuple[float, float, float, float, float, float, int, int]


class IntegerCovariance(NamedTuple):
    """Covariance of integers: the state of :class:`Covariance`, less a pair of elements, and the pair."""

    ddof: int = 1

    def lift(self, x: int, y: int) -> _IntegerComoments:
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, x, y

    def combine(self, older: _IntegerComoments, newer: _IntegerComoments) -> _IntegerComoments:
        n, x, y, xx, yy, xy, own_x, own_y = newer
        x, y = x + difference(own_x, older[6]), y + difference(own_y, older[7])
        n, x, y, xx, yy, xy = combine_comoments(older[:6], (n, x, y, xx, yy, xy))
        return n, x, y, xx, yy, xy, older[6], older[7]

    lower = Covariance.lower


class IntegerCorrelation(NamedTuple):
    """Pearson's correlation of integers, with the state of :class:`IntegerCovariance`."""

    lift = IntegerCovariance.lift
    combine = IntegerCovariance.combine
    lower = Correlation.lower


class IntegerSlope(NamedTuple):
    """Slope of integers, with the state of :class:`IntegerCovariance`."""

    lift = IntegerCovariance.lift
    combine = IntegerCovariance.combine
    lower = Slope.lower


class IntegerLinearFit(NamedTuple):
    """Least-squares line of integers, with the state of :class:`IntegerCovariance`."""

    lift = IntegerCovariance.lift
    combine = IntegerCovariance.combine

    def lower(self, state: _IntegerComoments) -> tuple[float, float, float]:
        _, x, y, xx, yy, xy, own_x, own_y = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan
        slope = xy / xx
        height = (y - slope * x) + (float(own_y) - slope * float(own_x))
        return slope, height, (slope * xy / yy if yy > 0.0 else np.nan)


class IntegerLine(NamedTuple):
    """Least-squares line of the first column over the second, with the state of :class:`IntegerCovariance`.

    Results are slope, height and R squared; the height is the mean of the first column, or the value of the
    line at 0 if `intercept` is 1.
    """

    intercept: float = 1.0

    lift = IntegerCovariance.lift
    combine = IntegerCovariance.combine

    def lower(self, state: _IntegerComoments) -> tuple[float, float, float]:
        _, x, y, xx, yy, xy, own_x, own_y = state
        height = float(own_x) + x
        if not yy > 0.0:
            return np.nan, height, np.nan
        slope = xy / yy
        if self.intercept == 1.0:
            height = (x - slope * y) + (float(own_x) - slope * float(own_y))
        return slope, height, (slope * xy / xx if xx > 0.0 else np.nan)
