"""Variance, skewness, kurtosis, and what two columns have in common.

States are joined by the pairwise formulas of Chan, Golub and LeVeque (doi:10.1080/00031305.1983.10483115)
and Pébay (SAND2008-6212): deviations from the mean of each part, nothing that left the window.
"""

import math
from typing import NamedTuple

import numpy as np

from rollstat._lowering import jitable

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
    "join_pairs",
]

_Spread = tuple[float, float, float]


@jitable
def _join_spread(older: _Spread, newer: _Spread) -> _Spread:
    a, b = older[0], newer[0]
    n = a + b
    shift = newer[1] - older[1]
    return n, older[1] + shift * (b / n), older[2] + newer[2] + shift * shift * (a * b / n)


class Variance(NamedTuple):
    """Variance: state ``(count, mean, sum of squared deviations)``."""

    ddof: int = 1

    def lift(self, x: float) -> _Spread:
        return 1.0, float(x), 0.0

    def combine(self, older: _Spread, newer: _Spread) -> _Spread:
        return _join_spread(older, newer)

    def lower(self, state: _Spread) -> float:
        return state[2] / (state[0] - self.ddof) if state[0] > self.ddof else np.nan


class StandardDeviation(NamedTuple):
    """Square root of the variance."""

    ddof: int = 1

    lift = Variance.lift
    combine = Variance.combine

    def lower(self, state: _Spread) -> float:
        return math.sqrt(state[2] / (state[0] - self.ddof)) if state[0] > self.ddof else np.nan


class StandardError(NamedTuple):
    """Standard deviation over the root of the number of observations."""

    ddof: int = 1

    lift = Variance.lift
    combine = Variance.combine

    def lower(self, state: _Spread) -> float:
        if not state[0] > self.ddof:
            return np.nan
        return math.sqrt(state[2] / (state[0] - self.ddof)) / math.sqrt(state[0])


_Moments = tuple[float, float, float, float, float]


@jitable
def _join_moments(older: _Moments, newer: _Moments) -> _Moments:
    a, b = older[0], newer[0]
    n, _, spread = _join_spread(older[:3], newer[:3])
    shift = newer[1] - older[1]
    step = shift / n
    third = older[3] + newer[3] + shift * step * step * a * b * (a - b)
    third += 3.0 * step * (a * newer[2] - b * older[2])
    fourth = older[4] + newer[4] + shift * step * step * step * a * b * (a * a - a * b + b * b)
    fourth += 6.0 * step * step * (a * a * newer[2] + b * b * older[2])
    fourth += 4.0 * step * (a * newer[3] - b * older[3])
    return n, older[1] + step * b, spread, third, fourth


class Skewness(NamedTuple):
    """Skewness, corrected for bias unless `bias`; NaN where all values are equal, as in pandas."""

    bias: bool = False

    def lift(self, x: float) -> _Moments:
        return 1.0, float(x), 0.0, 0.0, 0.0

    def combine(self, older: _Moments, newer: _Moments) -> _Moments:
        return _join_moments(older, newer)

    def lower(self, state: _Moments) -> float:
        n, _, spread, third, _ = state
        if spread == 0.0 or (n < 3.0 and not self.bias):
            return np.nan
        result = math.sqrt(n) * third / (spread * math.sqrt(spread))
        return result if self.bias else result * math.sqrt(n * (n - 1.0)) / (n - 2.0)


class Kurtosis(NamedTuple):
    """Excess kurtosis, corrected for bias unless `bias`; NaN where all values are equal."""

    bias: bool = False

    lift = Skewness.lift
    combine = Skewness.combine

    def lower(self, state: _Moments) -> float:
        n, _, spread, _, fourth = state
        if spread == 0.0 or (n < 4.0 and not self.bias):
            return np.nan
        result = n * fourth / (spread * spread)
        if self.bias:
            return result - 3.0
        return ((n + 1.0) * result - 3.0 * (n - 1.0)) * (n - 1.0) / ((n - 2.0) * (n - 3.0))


_Comoments = tuple[float, float, float, float, float, float]


@jitable
def join_pairs(older: _Comoments, newer: _Comoments) -> _Comoments:
    """Join states (count, mean x, mean y, sums of the deviations' squares and products xx, yy, xy)."""
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

    def lift(self, x: float, y: float) -> _Comoments:
        return 1.0, float(x), float(y), 0.0, 0.0, 0.0

    def combine(self, older: _Comoments, newer: _Comoments) -> _Comoments:
        return join_pairs(older, newer)

    def lower(self, state: _Comoments) -> float:
        return state[5] / (state[0] - self.ddof) if state[0] > self.ddof else np.nan


class Correlation(NamedTuple):
    """Pearson's correlation of two columns."""

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Comoments) -> float:
        spread = math.sqrt(state[3]) * math.sqrt(state[4])
        return state[5] / spread if state[0] > 1.0 and spread > 0.0 else np.nan


class Slope(NamedTuple):
    """Slope of the first column against the second, by least squares."""

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Comoments) -> float:
        return state[5] / state[4] if state[4] > 0.0 else np.nan


class LinearFit(NamedTuple):
    """Least squares of the second column on the first: slope, intercept, R squared."""

    lift = Covariance.lift
    combine = Covariance.combine

    def lower(self, state: _Comoments) -> tuple[float, float, float]:
        _, x, y, xx, yy, xy = state
        if not xx > 0.0:
            return np.nan, np.nan, np.nan
        slope = xy / xx
        return slope, y - slope * x, (slope * xy / yy if yy > 0.0 else np.nan)
