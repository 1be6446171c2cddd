"""What is summed over a window, and what the sums mean.

A summand is a NamedTuple of parameters; its class stands for functions over
:mod:`rollstat.kernels.simd.float64x8`::

    observation x, y --lift--> channels, e.g. (x - c), (x - c)**2 --sum--> window --finish--> outputs

`c` is the *shift*, a value of the window itself. Where the sums are plain there is none. Central sums
follow from shifted ones by ``sum (x - mean)**2 = Q - P**2 / m``; this loses at most a factor
``1 + (c - mean)**2 / variance`` of accuracy, never more than ``m + 1`` because `c` is in the window.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.imputils import impl_ret_borrowed

from rollstat._jit import kernel
from rollstat._lowering import chosen, known, lowered
from rollstat.kernels.simd.float64x8 import bundle, channels, spread
from rollstat.kernels.simd.float64x8_math import (
    divide,
    fill_nan,
    limit,
    negative_to_zero,
    quotient,
    square_root,
    subtract_product,
)

__all__ = [
    "Correlation",
    "Covariance",
    "Deviation",
    "Kurtosis",
    "Line",
    "Mean",
    "Skewness",
    "Sum",
    "Summand",
    "Variance",
    "channel_count",
    "finish",
    "form",
    "form_of",
    "is_shifted",
    "lift",
    "series_of",
]

_INFINITY = np.inf


@kernel(forceinline=True)
def _lift_sum(summand, x, y, shift_x, shift_y):
    return x


@kernel(forceinline=True)
def _finish_sum(summand, sums, shift_x, shift_y, count):
    return sums


class Sum(NamedTuple):
    """Sum of x."""


@kernel(forceinline=True)
def _over(lanes, divisor):
    """`lanes` over `divisor`; where that is the same in every row, its inverse leaves the loop."""
    return divide(lanes, divisor, spread(1.0) / divisor)


@kernel(forceinline=True)
def _finish_mean(summand, sums, shift_x, shift_y, count):
    return _over(sums, count)


class Mean(NamedTuple):
    """Sum of x over the number of observations."""


@kernel(forceinline=True)
def _lift_squares(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    return bundle((deviation, deviation * deviation))


@kernel(forceinline=True)
def _variance(sums, count, divisor):
    """Central sum of squares over `divisor`."""
    total, squares = channels(sums)
    # One division gives both inverses; where counts are the same in every row it leaves the loop.
    inverse = spread(1.0) / (count * divisor)
    mean = quotient(total, count, divisor * inverse)
    central = negative_to_zero(subtract_product(squares, total, mean))
    # An overflow of finite values leaves inf - inf; the variance itself is then beyond the largest float.
    # What is added to infinity here is 0 of either sign, or NaN.
    overflow = subtract_product(spread(_INFINITY), total, spread(0.0))
    return fill_nan(quotient(central, divisor, count * inverse), overflow)


@kernel(forceinline=True)
def _finish_variance(summand, sums, shift_x, shift_y, count):
    return _variance(sums, count, count - spread(summand.ddof))


class Variance(NamedTuple):
    """Central sum of squares over count - `ddof`."""

    ddof: float


@kernel(forceinline=True)
def _finish_deviation(summand, sums, shift_x, shift_y, count):
    one = spread(1.0)
    further = one + spread(summand.error) * (count - one)
    return square_root(_variance(sums, count, (count - spread(summand.ddof)) * further))


class Deviation(NamedTuple):
    """Root of the variance, which is over the number of observations once more if `error`."""

    ddof: float
    error: float


@kernel(forceinline=True)
def _lift_cubes(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    square = deviation * deviation
    return bundle((deviation, square, square * deviation))


@kernel(forceinline=True)
def _finish_skewness(summand, sums, shift_x, shift_y, count):
    first, second, third = channels(sums)
    one, two, three = spread(1.0), spread(2.0), spread(3.0)
    mean = _over(first, count)
    squares = negative_to_zero(second - mean * first)
    cubes = third - three * mean * second + two * (mean * mean) * first
    return count * square_root(count - one) / (count - two) * (cubes / (squares * square_root(squares)))


class Skewness(NamedTuple):
    """Skewness without bias; NaN where all values are equal."""


@kernel(forceinline=True)
def _lift_fourths(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    square = deviation * deviation
    return bundle((deviation, square, square * deviation, square * square))


@kernel(forceinline=True)
def _finish_kurtosis(summand, sums, shift_x, shift_y, count):
    first, second, third, fourth = channels(sums)
    one, two, three = spread(1.0), spread(2.0), spread(3.0)
    mean = _over(first, count)
    square = mean * mean
    squares = negative_to_zero(second - mean * first)
    spread_out = two * second - mean * first
    fourths = negative_to_zero(fourth - two * two * mean * third + three * square * spread_out)
    factor = (count - one) / ((count - two) * (count - three))
    return factor * (count * (count + one) * (fourths / (squares * squares)) - three * (count - one))


class Kurtosis(NamedTuple):
    """Excess kurtosis without bias; NaN where all values are equal."""


@kernel(forceinline=True)
def _lift_products(summand, x, y, shift_x, shift_y):
    deviation_x = x - shift_x
    deviation_y = y - shift_y
    return bundle((deviation_x, deviation_y, deviation_x * deviation_y))


@kernel(forceinline=True)
def _finish_covariance(summand, sums, shift_x, shift_y, count):
    total_x, total_y, products = channels(sums)
    return _over(products - _over(total_x * total_y, count), count - spread(summand.ddof))


class Covariance(NamedTuple):
    """Sum of (x - mean of x) * (y - mean of y) over count - `ddof`."""

    ddof: float


@kernel(forceinline=True)
def _lift_all_products(summand, x, y, shift_x, shift_y):
    deviation_x = x - shift_x
    deviation_y = y - shift_y
    squares = (deviation_x * deviation_x, deviation_y * deviation_y)
    return bundle((deviation_x, deviation_y, squares[0], deviation_x * deviation_y, squares[1]))


@kernel(forceinline=True)
def _finish_correlation(summand, sums, shift_x, shift_y, count):
    total_x, total_y, squares_x, products, squares_y = channels(sums)
    offset_x = _over(total_x, count)
    offset_y = _over(total_y, count)
    central_x = negative_to_zero(squares_x - offset_x * total_x)
    central_y = negative_to_zero(squares_y - offset_y * total_y)
    slope = (products - offset_x * total_y) / central_y
    if summand.slope == 1.0:
        return slope
    # The product of both sums of squares could overflow where their ratio does not.
    return limit(slope * square_root(central_y / central_x), spread(1.0))


class Correlation(NamedTuple):
    """Pearson's correlation of x and y, or the slope of x against y if `slope`."""

    slope: float


@kernel(forceinline=True)
def _finish_line(summand, sums, shift_x, shift_y, count):
    total_x, total_y, squares_x, products, squares_y = channels(sums)
    offset_x = _over(total_x, count)
    offset_y = _over(total_y, count)
    central_x = negative_to_zero(squares_x - offset_x * total_x)
    central_y = negative_to_zero(squares_y - offset_y * total_y)
    shared = products - offset_x * total_y
    slope = shared / central_y
    explained = limit(negative_to_zero(slope * (shared / central_x)), spread(1.0))
    height = shift_x + offset_x
    if summand.intercept == 1.0:
        height = height - slope * (shift_y + offset_y)
    return bundle((slope, height, explained))


class Line(NamedTuple):
    """Line of x over y by least squares: slope, mean of x (or what it is at y = 0 if `intercept`), and R²."""

    intercept: float


Summand = Sum | Mean | Variance | Deviation | Skewness | Kurtosis | Covariance | Correlation | Line


class Form(NamedTuple):
    """What all summands of a class have in common.

    Attributes
    ----------
    channels, outputs : int
        How many sums there are, and how many results follow from them.
    shifted : bool
        Whether the sums are about a shift.
    paired : bool
        Whether there are two series, and a row is an observation where both are.
    summed : int
        How many sums :mod:`rollstat.kernels.sums.variable_windows` makes, which knows them by their number;
        the channels are the first of them.
    lifted, finished : callable
        Kernels over lanes behind the functions of these names.
    """

    channels: int
    outputs: int
    shifted: bool
    paired: bool
    summed: int
    lifted: Callable[..., Any]
    finished: Callable[..., Any]


_FORMS = {
    Sum: Form(1, 1, False, False, 1, _lift_sum, _finish_sum),
    Mean: Form(1, 1, False, False, 1, _lift_sum, _finish_mean),
    Variance: Form(2, 1, True, False, 2, _lift_squares, _finish_variance),
    Deviation: Form(2, 1, True, False, 2, _lift_squares, _finish_deviation),
    Skewness: Form(3, 1, True, False, 4, _lift_cubes, _finish_skewness),
    Kurtosis: Form(4, 1, True, False, 4, _lift_fourths, _finish_kurtosis),
    Covariance: Form(3, 1, True, True, 3, _lift_products, _finish_covariance),
    Correlation: Form(5, 1, True, True, 5, _lift_all_products, _finish_correlation),
    Line: Form(5, 3, True, True, 5, _lift_all_products, _finish_line),
}


def form(summand: Summand) -> Form:
    """Form of a summand, outside kernels."""
    return _FORMS[type(summand)]


def channel_count(summand):
    """Number of channels, known to the compiler."""
    return form(summand).channels


def is_shifted(summand):
    """Whether the sums are about a shift, known to the compiler."""
    return form(summand).shifted


def series_of(summand, x, y):
    """The series that are summed, known to the compiler: `x` alone or both."""
    return (x, y) if form(summand).paired else (x,)


def lift(summand, x, y, shift_x, shift_y):
    """What eight observations add to the channels."""
    return form(summand).lifted(summand, x, y, shift_x, shift_y)


def finish(summand, sums, shift_x, shift_y, count):
    """Outputs of eight windows from their sums and their numbers of observations."""
    return form(summand).finished(summand, sums, shift_x, shift_y, count)


def form_of(summand):
    """Form of a summand, from its Numba type."""
    return _FORMS[summand.instance_class]


@lowered(channel_count)
def _channel_count(summand):
    return known(types.intp(summand), form_of(summand).channels)


@lowered(is_shifted)
def _is_shifted(summand):
    return known(types.boolean(summand), form_of(summand).shifted)


@lowered(series_of)
def _series_of(summand, x, y):
    series = 2 if form_of(summand).paired else 1
    kind = types.BaseTuple.from_types((x, y)[:series])

    def generate(context, builder, signature, arguments):
        both = context.make_tuple(builder, kind, arguments[1 : 1 + series])
        return impl_ret_borrowed(context, builder, kind, both)

    return kind(summand, x, y), generate


@chosen(lift)
def _lift(summand, x, y, shift_x, shift_y):
    return form_of(summand).lifted


@chosen(finish)
def _finish(summand, sums, shift_x, shift_y, count):
    return form_of(summand).finished
