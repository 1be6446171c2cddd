"""Algebraic operators: divisors, bits, affine maps, matrices, sums of exponentials."""

import math
from typing import Any, NamedTuple

import numpy as np

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


class DecayedSum(NamedTuple):
    """Sum in which each element weighs ``decay`` times the next newer one."""

    decay: float
    identity = (1.0, 0.0)
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: float) -> _Map:
        return self.decay, float(x)

    def combine(self, older: _Map, newer: _Map) -> _Map:
        # The weight of an old infinity underflows to 0, and 0 * inf would be NaN: infinities stay.
        faded = older[1] if math.isinf(older[1]) else newer[0] * older[1]
        return newer[0] * older[0], newer[1] + faded

    def lower(self, state: _Map) -> float:
        return state[1]


class DecayedMean(NamedTuple):
    """Mean in which each element weighs ``decay`` times the next newer one."""

    decay: float
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: float) -> tuple[float, float, float]:
        return self.decay, float(x), 1.0

    def combine(
        self, older: tuple[float, float, float], newer: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        factor, total, weight = newer
        # As in DecayedSum.
        faded = older[1] if math.isinf(older[1]) else factor * older[1]
        return factor * older[0], faded + total, factor * older[2] + weight

    def lower(self, state: tuple[float, float, float]) -> float:
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
