"""What is summed over a window, and the statistics that follow from the sums.

::

    observation x, y --lift--> terms, e.g. (x - c), (x - c)**2 --sum--> window --finish--> outputs

A summand is an operator of :mod:`rollstat.operators`. The name of its class selects the functions `lift` and
`finish` here. They take vectors of :mod:`rollstat.compile.simd.vectors`, with one channel per sum; `lift`
takes scalars too. Skewness and kurtosis are corrected for bias, whatever the parameters of their operators,
and lines take the values as x.

`c` is the *shift*, a value of the window itself; plain sums have none. Central sums follow from shifted ones
by ``sum (x - mean)**2 = Q - P**2 / m``. This loses at most a factor ``1 + (c - mean)**2 / variance`` of
accuracy. The factor is never more than ``m + 1``, because `c` is in the window.

State: none. Cost: a few instructions per vector, without branches.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import class_of, constant, dispatching, lowered, tuple_of
from rollstat.compile.simd.float64x8_math import (
    clip,
    divide,
    divide_finite,
    nan_where_below,
    negative_to_zero,
    square_root,
    subtract_product,
)
from rollstat.compile.simd.vectors import broadcast, channels_of, replace_nan, stack_channels

_LEAST = float(np.nextafter(0.0, 1.0))


@kernel(forceinline=True)
def _lift_sum(summand, x, y, shift_x, shift_y):
    return stack_channels((x,))


@kernel(forceinline=True)
def _finish_sum(summand, sums, shift_x, shift_y, count, first):
    return sums


@kernel(forceinline=True)
def _divide(lanes, divisor):
    """Return ``lanes / divisor``; the compiler moves the inverse of a constant divisor out of the loop."""
    return divide(lanes, divisor, broadcast(1.0) / divisor)


@kernel(forceinline=True)
def _finish_mean(summand, sums, shift_x, shift_y, count, first):
    return _divide(sums, count)


@kernel(forceinline=True)
def _lift_weighted(summand, x, y, shift_x, shift_y):
    return stack_channels((x * y, y))


@kernel(forceinline=True)
def _finish_weighted(summand, sums, shift_x, shift_y, count, first):
    total, weight = channels_of(sums)
    return nan_where_below(total / weight, weight, broadcast(_LEAST))  # no weight is negative


@kernel(forceinline=True)
def _lift_shortfall(summand, x, y, shift_x, shift_y):
    shortfall = negative_to_zero(broadcast(0.0) - x)  # below 0: a target has been subtracted
    return stack_channels((shortfall * shortfall,))


@kernel(forceinline=True)
def _finish_shortfall(summand, sums, shift_x, shift_y, count, first):
    return square_root(_divide(sums, count))


@kernel(forceinline=True)
def _lift_deviation(summand, x, y, shift_x, shift_y):
    return stack_channels((x - shift_x,))


@kernel(forceinline=True)
def _finish_offset(summand, sums, shift_x, shift_y, count, first):
    """Return the mean less the shift, and the shift."""
    (total,) = channels_of(sums)
    return stack_channels((_divide(total, count), shift_x))


@kernel(forceinline=True)
def _lift_squares(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    return stack_channels((deviation, deviation * deviation))


@kernel(forceinline=True)
def _variance(sums, count, divisor):
    """Return the central sum of squares divided by `divisor`."""
    total, squares = channels_of(sums)
    # One division gives both inverses; the compiler moves it out of the loop where the counts are constant.
    inverse = broadcast(1.0) / (count * divisor)
    mean = divide_finite(total, count, divisor * inverse)
    central = negative_to_zero(subtract_product(squares, total, mean))
    # An overflow of finite values gives inf - inf, where the variance is infinite. The product subtracted
    # from infinity is 0 for finite sums and NaN for others. So NaN stays, and the overflow becomes inf.
    overflow = subtract_product(broadcast(np.inf), total, broadcast(0.0))
    return replace_nan(divide_finite(central, divisor, count * inverse), overflow)


@kernel(forceinline=True)
def _finish_variance(summand, sums, shift_x, shift_y, count, first):
    return _variance(sums, count, count - broadcast(float(summand.ddof)))


@kernel(forceinline=True)
def _finish_deviation(summand, sums, shift_x, shift_y, count, first):
    return square_root(_variance(sums, count, count - broadcast(float(summand.ddof))))


@kernel(forceinline=True)
def _finish_error(summand, sums, shift_x, shift_y, count, first):
    return square_root(_variance(sums, count, (count - broadcast(float(summand.ddof))) * count))


@kernel(forceinline=True)
def _lift_cubes(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    square = deviation * deviation
    return stack_channels((deviation, square, square * deviation))


@kernel(forceinline=True)
def _finish_skewness(summand, sums, shift_x, shift_y, count, first):
    first, second, third = channels_of(sums)
    one, two, three = broadcast(1.0), broadcast(2.0), broadcast(3.0)
    mean = _divide(first, count)
    squares = negative_to_zero(second - mean * first)
    cubes = third - three * mean * second + two * (mean * mean) * first
    return count * square_root(count - one) / (count - two) * (cubes / (squares * square_root(squares)))


@kernel(forceinline=True)
def _lift_fourths(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    square = deviation * deviation
    return stack_channels((deviation, square, square * deviation, square * square))


@kernel(forceinline=True)
def _finish_kurtosis(summand, sums, shift_x, shift_y, count, first):
    first, second, third, fourth = channels_of(sums)
    one, two, three = broadcast(1.0), broadcast(2.0), broadcast(3.0)
    mean = _divide(first, count)
    square = mean * mean
    squares = negative_to_zero(second - mean * first)
    lower_terms = two * second - mean * first
    fourths = negative_to_zero(fourth - two * two * mean * third + three * square * lower_terms)
    factor = (count - one) / ((count - two) * (count - three))
    return factor * (count * (count + one) * (fourths / (squares * squares)) - three * (count - one))


@kernel(forceinline=True)
def _lift_product(summand, x, y, shift_x, shift_y):
    deviation_x = x - shift_x
    deviation_y = y - shift_y
    return stack_channels((deviation_x, deviation_y, deviation_x * deviation_y))


@kernel(forceinline=True)
def _nan_unless_finite(lanes, total_x, total_y):
    """Return `lanes`, and NaN where a total is infinite: deviations from an infinite mean are undefined."""
    return lanes + ((total_x - total_x) + (total_y - total_y))


@kernel(forceinline=True)
def _finish_covariance(summand, sums, shift_x, shift_y, count, first):
    total_x, total_y, products = channels_of(sums)
    shared = products - _divide(total_x * total_y, count)
    return _divide(_nan_unless_finite(shared, total_x, total_y), count - broadcast(float(summand.ddof)))


@kernel(forceinline=True)
def _lift_all_products(summand, x, y, shift_x, shift_y):
    deviation_x = x - shift_x
    deviation_y = y - shift_y
    squares = (deviation_x * deviation_x, deviation_y * deviation_y)
    return stack_channels((deviation_x, deviation_y, squares[0], deviation_x * deviation_y, squares[1]))


@kernel(forceinline=True)
def _central_products(sums, count):
    """Return the means less the shifts, and the central sums of xx, xy and yy."""
    total_x, total_y, squares_x, products, squares_y = channels_of(sums)
    offset_x = _divide(total_x, count)
    offset_y = _divide(total_y, count)
    central_x = negative_to_zero(squares_x - offset_x * total_x)
    central_y = negative_to_zero(squares_y - offset_y * total_y)
    shared = _nan_unless_finite(products - offset_x * total_y, total_x, total_y)
    return offset_x, offset_y, central_x, shared, central_y


@kernel(forceinline=True)
def _finish_slope(summand, sums, shift_x, shift_y, count, first):
    _, _, _, shared, central_y = _central_products(sums, count)
    return shared / central_y


@kernel(forceinline=True)
def _finish_correlation(summand, sums, shift_x, shift_y, count, first):
    _, _, central_x, shared, central_y = _central_products(sums, count)
    # The product of both sums of squares could overflow; their ratio does not.
    return clip((shared / central_y) * square_root(central_y / central_x), broadcast(1.0))


@kernel(forceinline=True)
def _finish_line_by_row(summand, sums, shift_x, shift_y, count, first):
    """Return slope, height at the mean of y, and R² of the least-squares line of x over y."""
    offset_x, _, central_x, shared, central_y = _central_products(sums, count)
    slope = shared / central_y
    explained = clip(negative_to_zero(slope * (shared / central_x)), broadcast(1.0))
    return stack_channels((slope, shift_x + offset_x, explained))


@kernel(forceinline=True)
def _lift_line(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    return stack_channels((deviation, deviation * (y - shift_y), deviation * deviation))


@kernel(forceinline=True)
def _lift_slope(summand, x, y, shift_x, shift_y):
    deviation = x - shift_x
    return stack_channels((deviation, deviation * (y - shift_y)))


@kernel(forceinline=True)
def _line_of_rows(total_x, products, shift_y, count, first):
    """Return half the distance of first and last row, and the central products and slope of x over rows."""
    half = (count - broadcast(1.0)) * broadcast(0.5)
    shared = products - (first - shift_y + half) * total_x + (total_x - total_x)  # NaN if it is infinite
    return half, shared, _divide(shared, count * (count * count - broadcast(1.0)) / broadcast(12.0))


@kernel(forceinline=True)
def _finish_slope_of_rows(summand, sums, shift_x, shift_y, count, first):
    """As :func:`_finish_slope`, where y is the row and no row is missing: its sums follow from the count."""
    total_x, products = channels_of(sums)
    return _line_of_rows(total_x, products, shift_y, count, first)[2]


@kernel(forceinline=True)
def _finish_line_of_rows(summand, sums, shift_x, shift_y, count, first):
    """As :func:`_finish_line`, for rows as :func:`_finish_slope_of_rows`."""
    total_x, products, squares_x = channels_of(sums)
    offset_x = _divide(total_x, count)
    central_x = negative_to_zero(squares_x - offset_x * total_x)
    half, shared, slope = _line_of_rows(total_x, products, shift_y, count, first)
    explained = clip(negative_to_zero(slope * (shared / central_x)), broadcast(1.0))
    return stack_channels((slope, shift_x + offset_x - slope * half, explained))


@kernel(forceinline=True)
def _finish_line(summand, sums, shift_x, shift_y, count, first):
    """As :func:`_finish_line_by_row`, with the height at y = 0."""
    offset_x, offset_y, central_x, shared, central_y = _central_products(sums, count)
    slope = shared / central_y
    explained = clip(negative_to_zero(slope * (shared / central_x)), broadcast(1.0))
    height = shift_x + offset_x - slope * (shift_y + offset_y)
    return stack_channels((slope, height, explained))


class Traits(NamedTuple):
    """What the kernels need to know about a statistic.

    Attributes
    ----------
    channels : int
        The number of sums.
    degree : int
        The greatest power of values that is summed.
    shifted : bool
        Whether values are summed after a shift is subtracted.
    paired : bool
        Whether there are two series. A row is then an observation if both have a value.
    lift, finish : callable
        The kernels behind the functions of these names.
    powers : tuple of tuple of int
        The powers of the units of x and y in the unit of each output.
    in_pairs : bool
        Whether short windows of complete series are summed in pairs of rows, without a shift.
    counted : bool
        Whether `finish` needs the number of observations.
    """

    channels: int
    degree: int
    shifted: bool
    paired: bool
    lift: Callable[..., Any]
    finish: Callable[..., Any]
    powers: tuple[tuple[int, int], ...]
    in_pairs: bool = False
    counted: bool = True


_UNITS_OF_LINE = (1, -1), (1, 0), (0, 0)
_TRAITS = {
    "Sum": Traits(1, 1, False, False, _lift_sum, _finish_sum, ((1, 0),), counted=False),
    "Mean": Traits(1, 1, False, False, _lift_sum, _finish_mean, ((1, 0),)),
    "PlainWeightedMean": Traits(2, 2, False, True, _lift_weighted, _finish_weighted, ((1, 0),)),
    "PlainDownsideDeviation": Traits(1, 2, False, False, _lift_shortfall, _finish_shortfall, ((1, 0),)),
    "MeanOffset": Traits(1, 1, True, False, _lift_deviation, _finish_offset, ((1, 0), (1, 0))),
    "Variance": Traits(2, 2, True, False, _lift_squares, _finish_variance, ((2, 0),)),
    "StandardDeviation": Traits(2, 2, True, False, _lift_squares, _finish_deviation, ((1, 0),)),
    "StandardError": Traits(2, 2, True, False, _lift_squares, _finish_error, ((1, 0),)),
    "Skewness": Traits(3, 3, True, False, _lift_cubes, _finish_skewness, ((0, 0),)),
    "Kurtosis": Traits(4, 4, True, False, _lift_fourths, _finish_kurtosis, ((0, 0),)),
    "Covariance": Traits(3, 2, True, True, _lift_product, _finish_covariance, ((1, 1),)),
    "Correlation": Traits(5, 2, True, True, _lift_all_products, _finish_correlation, ((0, 0),)),
    "Slope": Traits(5, 2, True, True, _lift_all_products, _finish_slope, ((1, -1),)),
    "SlopeOfRows": Traits(2, 2, True, True, _lift_slope, _finish_slope_of_rows, ((1, -1),), True),
    "LinearFit": Traits(5, 2, True, True, _lift_all_products, _finish_line, _UNITS_OF_LINE),
    "LinearFitByRow": Traits(5, 2, True, True, _lift_all_products, _finish_line_by_row, _UNITS_OF_LINE),
    "LinearFitOfRows": Traits(3, 2, True, True, _lift_line, _finish_line_of_rows, _UNITS_OF_LINE),
}


def traits(summand):
    """Return the traits of a summand, or of Numba's type of one; not for kernels."""
    return _TRAITS[class_of(summand).__name__]


def degree_of(operator):
    """Return the greatest power of values that an operator sums; 0 if it is no summand; not for kernels."""
    name = type(operator).__name__
    return _TRAITS[name].degree if name in _TRAITS else 0


def channel_count(summand):
    """Return the number of channels, a constant of the compiled code."""
    return traits(summand).channels


@lowered(channel_count)
def _channel_count(summand):
    return constant(types.intp(summand), traits(summand).channels)


def series_of(summand, x, y):
    """Return the tuple of the series that are summed: `x` alone or both."""
    return (x, y) if traits(summand).paired else (x,)


@lowered(series_of)
def _series_of(summand, x, y):
    series = 2 if traits(summand).paired else 1
    kind = types.BaseTuple.from_types((x, y)[:series])

    def generate(context, builder, signature, arguments):
        return tuple_of(context, builder, kind, arguments[1 : 1 + series])

    return kind(summand, x, y), generate


@dispatching
def lift(summand, x, y, shift_x, shift_y):
    """Return the terms that observations add to the sums."""
    return traits(summand).lift


@dispatching
def finish(summand, sums, shift_x, shift_y, count, first):
    """Return the outputs of eight windows from their sums, their numbers of observations and first rows."""
    return traits(summand).finish
