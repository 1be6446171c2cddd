"""Algebraic operators: divisors, bits, affine maps, matrices, sums of exponentials."""

import math
from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.lowering import jitable
from rollstat.operators.scaled import ZERO, Scaled, add_scaled, join, multiply_scaled, split

__all__ = [
    "AffineMap",
    "BitAnd",
    "BitOr",
    "BitXor",
    "DecayedMean",
    "DecayedSum",
    "GreatestCommonDivisor",
    "LogSumExp",
    "MatrixProduct",
]


class GreatestCommonDivisor(NamedTuple):
    """Greatest common divisor of integers, never negative; 0 where all are 0."""

    kinds = "iu"
    identity = 0

    def lift(self, x: int) -> Any:
        # -(x + 1) fits int64 for every negative x.
        return np.uint64(-(x + 1)) + np.uint64(1) if x < 0 else np.uint64(x)

    def combine(self, older: Any, newer: Any) -> Any:
        a, b = np.uint64(older), np.uint64(newer)
        while b != np.uint64(0):
            a, b = b, a % b
        return a


class BitAnd(NamedTuple):
    """Bits set in every element."""

    kinds = "iu"
    identity = -1

    def combine(self, older: int, newer: int) -> int:
        return older & newer


class BitOr(NamedTuple):
    """Bits set in any element."""

    kinds = "iu"
    identity = 0

    def combine(self, older: int, newer: int) -> int:
        return older | newer


class BitXor(NamedTuple):
    """Bits set in an odd number of elements."""

    kinds = "iu"
    identity = 0

    def combine(self, older: int, newer: int) -> int:
        return older ^ newer


class LogSumExp(NamedTuple):
    """Logarithm of the sum of exponentials: state ``(largest, sum of exp(x - largest))``."""

    identity = (-np.inf, 1.0)
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: float) -> tuple[float, float]:
        return float(x), 1.0

    def combine(self, older: tuple[float, float], newer: tuple[float, float]) -> tuple[float, float]:
        if older[0] == newer[0]:
            return older[0], older[1] + newer[1]
        if older[0] > newer[0]:
            return older[0], older[1] + newer[1] * math.exp(newer[0] - older[0])
        return newer[0], newer[1] + older[1] * math.exp(older[0] - newer[0])

    def lower(self, state: tuple[float, float]) -> float:
        return state[0] + math.log(state[1])


_Map = tuple[float, float]


class AffineMap(NamedTuple):
    """Composition of the maps ``y -> a * y + b`` given by two columns; the oldest is applied first."""

    identity = (1.0, 0.0)

    def lift(self, a: float, b: float) -> _Map:
        return float(a), float(b)

    def combine(self, older: _Map, newer: _Map) -> _Map:
        return newer[0] * older[0], newer[0] * older[1] + newer[1]


_Decayed = tuple[float, float, int, int]


class DecayedSum(NamedTuple):
    """Sum in which each element weighs ``decay`` times the next newer one.

    State: the factor for older sums, the sum, and the exponents of both, see
    :mod:`rollstat.operators.scaled`. So no weight becomes 0, and old infinities stay.
    """

    decay: float
    identity = (1.0, ZERO[0], 0, ZERO[1])
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: float) -> _Decayed:
        factor, total = split(self.decay, 0), split(float(x), 0)
        return factor[0], total[0], factor[1], total[1]

    def combine(self, older: _Decayed, newer: _Decayed) -> _Decayed:
        factor, total = _decay((older[0], older[2]), (older[1], older[3]), newer)
        return factor[0], total[0], factor[1], total[1]

    def lower(self, state: _Decayed) -> float:
        return join(state[1], state[3])

    def unscaled(self, longest: int) -> tuple[Any, float, float]:
        exponent = _moderate_exponent(self.decay, longest)
        return PlainDecayedSum(self.decay), exponent, exponent


class PlainDecayedSum(NamedTuple):
    """As :class:`DecayedSum`, for moderate values and weights."""

    decay: float
    identity = (1.0, 0.0)

    def lift(self, x: float) -> _Map:
        return self.decay, float(x)

    combine = AffineMap.combine

    def lower(self, state: _Map) -> float:
        return state[1]


def _moderate_exponent(decay: float, longest: int) -> float:
    """Return the exponent of values down to which plain sums do not underflow; -1 for none."""
    return 250.0 if decay**longest >= 2.0**-500 else -1.0


@jitable
def _decay(older_factor: Scaled, older_total: Scaled, newer: _Decayed) -> tuple[Scaled, Scaled]:
    """Return the factor and the sum of two runs."""
    factor, total = (newer[0], newer[2]), (newer[1], newer[3])
    return multiply_scaled(older_factor, factor), add_scaled(multiply_scaled(older_total, factor), total)


_DecayedMean = tuple[float, float, float, int, int]


class DecayedMean(NamedTuple):
    """Mean in which each element weighs ``decay`` times the next newer one.

    State: as in :class:`DecayedSum`, with the sum of the weights before the exponents.
    """

    decay: float
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: float) -> _DecayedMean:
        factor, total = split(self.decay, 0), split(float(x), 0)
        return factor[0], total[0], 1.0, factor[1], total[1]

    def combine(self, older: _DecayedMean, newer: _DecayedMean) -> _DecayedMean:
        run = newer[0], newer[1], newer[3], newer[4]
        factor, total = _decay((older[0], older[3]), (older[1], older[4]), run)
        # The newest weight is 1, so weights below 2**-512 have no effect.
        weight = newer[2] + newer[0] * older[2] if newer[3] == 0 else newer[2]
        return factor[0], total[0], weight, factor[1], total[1]

    def lower(self, state: _DecayedMean) -> float:
        return join(state[1] / state[2], state[4])

    def unscaled(self, longest: int) -> tuple[Any, float, float]:
        exponent = _moderate_exponent(self.decay, longest)
        return PlainDecayedMean(self.decay), exponent, exponent


_PlainDecayedMean = tuple[float, float, float]


class PlainDecayedMean(NamedTuple):
    """As :class:`DecayedMean`, for moderate values and weights."""

    decay: float

    def lift(self, x: float) -> _PlainDecayedMean:
        return self.decay, float(x), 1.0

    def combine(self, older: _PlainDecayedMean, newer: _PlainDecayedMean) -> _PlainDecayedMean:
        factor, total, weight = newer
        return factor * older[0], factor * older[1] + total, factor * older[2] + weight

    def lower(self, state: _PlainDecayedMean) -> float:
        return state[1] / state[2]


class MatrixProduct(NamedTuple):
    """Product of square matrices in the order of the rows, in floating point."""

    element_ndim = 2

    def lift(self, x: Any) -> Any:
        size = len(x)
        matrix = np.empty((size, size))
        for i in range(size):
            for j in range(size):
                matrix[i, j] = x[i, j]
        return matrix

    def combine(self, older: Any, newer: Any) -> Any:
        size = len(older)
        product = np.empty((size, size))
        for i in range(size):
            for j in range(size):
                total = 0.0
                for k in range(size):
                    total += older[i, k] * newer[k, j]
                product[i, j] = total
        return product
