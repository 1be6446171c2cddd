"""Sums, products, counts and means.

Floating sums carry the rounding error of each addition (two-sum: Knuth, TAOCP 2, section 4.2.2), so the
error of a result is one rounding plus second-order terms, however a window is split. Integer sums and
products hold their exact value, or the fact that it overflows, however a window is split.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.lowering import count_leading_zeros, jitable
from rollstat.operators.scaled import Scaled, join, multiply_scaled, shift, split

__all__ = [
    "ComplexProduct",
    "ComplexSum",
    "Count",
    "IntegerProduct",
    "IntegerSum",
    "Mean",
    "NegativeSum",
    "PositiveSum",
    "Product",
    "Sum",
    "UnsignedProduct",
    "UnsignedSum",
    "WeightedMean",
]

_LOW_BITS = 0xFFFFFFFF


@jitable
def _add(total: float, rest: float, x: float, x_rest: float) -> tuple[float, float]:
    """Return the sum of two totals, each with the sum of its rounding errors."""
    result = total + x
    shadow = result - total
    return result, rest + x_rest + ((total - (result - shadow)) + (x - shadow))


@jitable
def _round(total: float, rest: float) -> float:
    # The rounding errors of a total that is infinite or NaN are NaN.
    return total + rest if math.isfinite(total) else total


@jitable
def _add_aligned(
    total: float, rest: float, exponent: int, x: float, x_rest: float, x_exponent: int
) -> tuple[float, float, int]:
    """As :func:`_add`, for totals with exponents. A sum keeps the larger one, even if terms cancel."""
    if exponent == x_exponent:
        total, rest = _add(total, rest, x, x_rest)
        return total, rest, exponent
    largest = max(exponent, x_exponent)
    a, b = shift(largest - exponent), shift(largest - x_exponent)
    total, rest = _add(total * a, rest * a, x * b, x_rest * b)
    return total, rest, largest


@jitable
def _integer_total(state: tuple[int, int]) -> tuple[int, int]:
    high, low = state
    return high + (low >> 32), low & _LOW_BITS


class Sum(NamedTuple):
    """Sum. Floats are rounded once, up to second order; integers are exact or an error is raised."""

    identity = (0.0, 0.0)

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return {"i": IntegerSum(), "u": UnsignedSum()}.get(dtype.kind, self)

    def lift(self, x: float) -> tuple[float, float]:
        return float(x), 0.0

    def combine(self, older: tuple[float, float], newer: tuple[float, float]) -> tuple[float, float]:
        return _add(older[0], older[1], newer[0], newer[1])

    def lower(self, state: tuple[float, float]) -> float:
        return _round(state[0], state[1])


class PositiveSum(NamedTuple):
    """Sum of the elements above 0, as :class:`Sum` of floats."""

    identity = (0.0, 0.0)
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: Any) -> tuple[float, float]:
        return float(x) if x > 0 else 0.0, 0.0

    combine = Sum.combine
    lower = Sum.lower


class NegativeSum(NamedTuple):
    """Sum of the elements below 0, as :class:`Sum` of floats."""

    identity = (0.0, 0.0)
    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: Any) -> tuple[float, float]:
        return float(x) if x < 0 else 0.0, 0.0

    combine = Sum.combine
    lower = Sum.lower


class ComplexSum(NamedTuple):
    """Sum of complex numbers, given as columns of real and imaginary parts; each part as :class:`Sum`."""

    identity = (0.0, 0.0, 0.0, 0.0)

    def lift(self, real: float, imaginary: float) -> tuple[float, float, float, float]:
        return float(real), 0.0, float(imaginary), 0.0

    def combine(
        self, older: tuple[float, float, float, float], newer: tuple[float, float, float, float]
    ) -> tuple[float, float, float, float]:
        real, real_rest = _add(older[0], older[1], newer[0], newer[1])
        imaginary, imaginary_rest = _add(older[2], older[3], newer[2], newer[3])
        return real, real_rest, imaginary, imaginary_rest

    def lower(self, state: tuple[float, float, float, float]) -> tuple[float, float]:
        return _round(state[0], state[1]), _round(state[2], state[3])


class IntegerSum(NamedTuple):
    """Exact sum of int64: state ``(high, low)`` for ``high * 2**32 + low``, for up to 2**31 elements."""

    identity = (0, 0)

    def lift(self, x: int) -> tuple[int, int]:
        return x >> 32, x & _LOW_BITS

    def combine(self, older: tuple[int, int], newer: tuple[int, int]) -> tuple[int, int]:
        return older[0] + newer[0], older[1] + newer[1]

    def overflowed(self, state: tuple[int, int]) -> bool:
        high, _ = _integer_total(state)
        return high < -(1 << 31) or high >= 1 << 31

    def lower(self, state: tuple[int, int]) -> int:
        high, low = _integer_total(state)
        return (high << 32) | low


class UnsignedSum(NamedTuple):
    """Exact sum of uint64, with the state of :class:`IntegerSum`."""

    identity = (0, 0)

    def lift(self, x: int) -> tuple[int, int]:
        word = np.uint64(x)
        return np.int64(word >> np.uint64(32)), np.int64(word & np.uint64(_LOW_BITS))

    combine = IntegerSum.combine

    def overflowed(self, state: tuple[int, int]) -> bool:
        high, _ = _integer_total(state)
        return high >= 1 << 32

    def lower(self, state: tuple[int, int]) -> Any:
        high, low = _integer_total(state)
        return (np.uint64(high) << np.uint64(32)) | np.uint64(low)


class Product(NamedTuple):
    """Product. Floats are rounded at each multiplication; integers are exact or an error is raised."""

    identity = (1.0, 0)

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return {"i": IntegerProduct(), "u": UnsignedProduct()}.get(dtype.kind, self)

    def lift(self, x: float) -> Scaled:
        return split(float(x), 0)

    def combine(self, older: Scaled, newer: Scaled) -> Scaled:
        return multiply_scaled(older, newer)

    def lower(self, state: Scaled) -> float:
        return join(state[0], state[1])

    def unscaled(self, longest: int) -> tuple[Any, float, float]:
        return PlainProduct(), 1000.0 / longest, 1000.0


class PlainProduct(NamedTuple):
    """As :class:`Product`, for floats whose products are moderate."""

    identity = 1.0

    def combine(self, older: float, newer: float) -> float:
        return older * newer


class ComplexProduct(NamedTuple):
    """Product of complex numbers, given as columns of real and imaginary parts."""

    identity = (1.0, 0.0)

    def lift(self, real: float, imaginary: float) -> tuple[float, float]:
        return float(real), float(imaginary)

    def combine(self, older: tuple[float, float], newer: tuple[float, float]) -> tuple[float, float]:
        return older[0] * newer[0] - older[1] * newer[1], older[0] * newer[1] + older[1] * newer[0]


@jitable
def _multiply(older: tuple[Any, int, bool], newer: tuple[Any, int, bool]) -> tuple[Any, int, bool]:
    """Return the product of two numbers given as (magnitude, sign, whether the magnitude reached 2**64).

    Integer factors other than 0 never make a magnitude smaller, and 0 clears it. So whether the product of a
    window fits does not depend on how the window is split.
    """
    a, b = np.uint64(older[0]), np.uint64(newer[0])
    sign = older[1] * newer[1]
    if sign == 0:
        return np.uint64(0), 0, False
    if older[2] or newer[2]:
        return np.uint64(1), sign, True
    spare = count_leading_zeros(a) + count_leading_zeros(b)
    if spare < 63 or (spare == 63 and b > np.uint64(0xFFFFFFFFFFFFFFFF) // a):
        return np.uint64(1), sign, True
    return a * b, sign, False


class IntegerProduct(NamedTuple):
    """Exact product of int64: state ``(magnitude, sign, overflowed)``."""

    identity = (1, 1, False)

    def lift(self, x: int) -> tuple[Any, int, bool]:
        # -(x + 1) fits int64 for every negative x.
        if x < 0:
            return np.uint64(-(x + 1)) + np.uint64(1), -1, False
        return np.uint64(x), 1 if x > 0 else 0, False

    def combine(self, older: tuple[Any, int, bool], newer: tuple[Any, int, bool]) -> tuple[Any, int, bool]:
        return _multiply(older, newer)

    def overflowed(self, state: tuple[Any, int, bool]) -> bool:
        limit = np.uint64(1 << 63) if state[1] < 0 else np.uint64((1 << 63) - 1)
        return state[2] or np.uint64(state[0]) > limit

    def lower(self, state: tuple[Any, int, bool]) -> int:
        if state[1] < 0:
            return -np.int64(np.uint64(state[0]) - np.uint64(1)) - np.int64(1)
        return np.int64(state[0])


class UnsignedProduct(NamedTuple):
    """Exact product of uint64, with the state of :class:`IntegerProduct`."""

    identity = (1, 1, False)

    def lift(self, x: int) -> tuple[Any, int, bool]:
        return np.uint64(x), 1 if x > 0 else 0, False

    combine = IntegerProduct.combine

    def overflowed(self, state: tuple[Any, int, bool]) -> bool:
        return state[2]

    def lower(self, state: tuple[Any, int, bool]) -> Any:
        return np.uint64(state[0])


class Count(NamedTuple):
    """Number of observations."""

    identity = 0

    def lift(self, x: Any) -> int:
        return 1

    def combine(self, older: int, newer: int) -> int:
        return older + newer


class Mean(NamedTuple):
    """Mean: a compensated sum over the count; for integers the sum is exact and the mean rounded once."""

    def for_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the operator for elements of `dtype`."""
        return {"i": IntegerMean(), "u": UnsignedMean()}.get(dtype.kind, self)

    def lift(self, x: float) -> tuple[float, float, int]:
        return float(x), 0.0, 1

    def combine(
        self, older: tuple[float, float, int], newer: tuple[float, float, int]
    ) -> tuple[float, float, int]:
        total, rest = _add(older[0], older[1], newer[0], newer[1])
        return total, rest, older[2] + newer[2]

    def lower(self, state: tuple[float, float, int]) -> float:
        return _round(state[0], state[1]) / state[2]


class IntegerMean(NamedTuple):
    """Mean of int64: the exact sum, as in :class:`IntegerSum`, over the count."""

    rounds_results = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: int) -> tuple[int, int, int]:
        return x >> 32, x & _LOW_BITS, 1

    def combine(self, older: tuple[int, int, int], newer: tuple[int, int, int]) -> tuple[int, int, int]:
        return older[0] + newer[0], older[1] + newer[1], older[2] + newer[2]

    def lower(self, state: tuple[int, int, int]) -> float:
        high, low, count = state
        high, low = _integer_total((high, low))
        sign = 1.0
        if high < 0:
            sign = -1.0
            high, low = _integer_total((-high, -low))
        whole, low = high // count, low + ((high % count) << 32)  # the count is below 2**31
        return sign * (float(whole) * 2.0**32 + (float(low // count) + float(low % count) / float(count)))


class WholeMean(NamedTuple):
    """Mean of int64, rounded down, with the state of :class:`IntegerMean`."""

    lift = IntegerMean.lift
    combine = IntegerMean.combine

    def lower(self, state: tuple[int, int, int]) -> int:
        high, low, count = state
        high, low = _integer_total((high, low))
        return ((high // count) << 32) + (low + ((high % count) << 32)) // count


class UnsignedMean(NamedTuple):
    """Mean of uint64, with the state of :class:`IntegerMean`."""

    rounds_results = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: int) -> tuple[int, int, int]:
        word = np.uint64(x)
        return np.int64(word >> np.uint64(32)), np.int64(word & np.uint64(_LOW_BITS)), 1

    combine = IntegerMean.combine
    lower = IntegerMean.lower


_Weighted = tuple[float, float, float, float, int, int]


class WeightedMean(NamedTuple):
    """Mean of the first column, weighted by the second.

    State: the sum of products and the sum of weights, each with its rounding errors, and their exponents, see
    :mod:`rollstat.operators.scaled`.
    """

    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple

    def lift(self, x: float, weight: float) -> _Weighted:
        value, of_weight = split(float(x), 0), split(float(weight), 0)  # integers would overflow
        product = multiply_scaled(value, of_weight)
        return product[0], 0.0, of_weight[0], 0.0, product[1], of_weight[1]

    def combine(self, older: _Weighted, newer: _Weighted) -> _Weighted:
        total, rest, exponent = _add_aligned(older[0], older[1], older[4], newer[0], newer[1], newer[4])
        weight, weight_rest, of_weight = _add_aligned(
            older[2], older[3], older[5], newer[2], newer[3], newer[5]
        )
        return total, rest, weight, weight_rest, exponent, of_weight

    def lower(self, state: _Weighted) -> float:
        weight = _round(state[2], state[3])
        return join(_round(state[0], state[1]) / weight, state[4] - state[5]) if weight != 0.0 else np.nan

    def unscaled(self, longest: int) -> tuple[Any, float, float]:
        return PlainWeightedMean(), 125.0, 125.0


_PlainWeighted = tuple[float, float, float, float]


class PlainWeightedMean(NamedTuple):
    """As :class:`WeightedMean`, for moderate values and weights."""

    def lift(self, x: float, weight: float) -> _PlainWeighted:
        return float(x) * float(weight), 0.0, float(weight), 0.0

    def combine(self, older: _PlainWeighted, newer: _PlainWeighted) -> _PlainWeighted:
        total, rest = _add(older[0], older[1], newer[0], newer[1])
        weight, weight_rest = _add(older[2], older[3], newer[2], newer[3])
        return total, rest, weight, weight_rest

    def lower(self, state: _PlainWeighted) -> float:
        weight = _round(state[2], state[3])
        return _round(state[0], state[1]) / weight if weight != 0.0 else np.nan
