"""Every built-in operator with samples and a plain definition, and what tests of operators share."""

import math
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from scipy import stats

from rollstat import operators as ops
from rollstat.kernels.aggregate.operator_calls import lift_argument
from rollstat.registry import REGISTRY
from rollstat.streaming.table import TABLE, OperatorRow
from tests.fuzz.exact_results import RESULTS

needs_compiled_code = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="Python has other rules")
FLOATS = [3.5, -1.25, 0.0, 2.0, 2.0, -7.75, 0.5, 1e3]
INTEGERS = [12, -18, 0, 7, 7, -1, 30, 2]
UNSIGNED = [12, 18, 0, 7, 7, 1, 30, 2**40]
PAIRS = [(1.0, 2.0), (0.5, -1.0), (3.0, 3.0), (-2.0, 0.25), (1.5, 1.5)]


def compose(maps):
    """Slope and offset of the maps applied one after the other."""
    return reduce(lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), maps)


def parts(number):
    return number.real, number.imag


def exact(statistic, **parameters):
    """Return the definition of a statistic that rounds, from its exact results; NaN where it has none."""
    _, results_of = RESULTS[statistic]

    def meaning(values):
        columns = zip(*values) if isinstance(values[0], tuple) else [values]
        results = results_of(*([Fraction(x) for x in column] for column in columns), **parameters)
        found = tuple(math.nan if result is None else float(result) for result in results)
        return found if len(found) > 1 else found[0]

    return meaning


def streamed():
    """Yield an entry for each sample of the statistics that round and are streams of a public operator."""
    for row in TABLE:
        if row.statistic in RESULTS and isinstance(row, OperatorRow) and hasattr(ops, row.operator.__name__):
            statistic = REGISTRY[row.statistic]
            for sample in statistic.samples:
                samples = PAIRS if statistic.series > 1 else FLOATS
                yield row.operator(**sample), samples, exact(row.statistic, **sample)


# Operators (which are tuples, so equal ones may be of different classes), samples, and what the operator
# means for a list of at least one sample. Operators of streams that round have theirs from exact results.
BUILTIN = [
    *streamed(),
    (ops.IntegerSum(), INTEGERS, sum),
    (ops.UnsignedSum(), UNSIGNED, sum),
    (ops.IntegerProduct(), INTEGERS, math.prod),
    (ops.UnsignedProduct(), UNSIGNED, math.prod),
    (ops.Count(), FLOATS, len),
    (ops.Skewness(True), FLOATS, lambda v: stats.skew(v) if np.ptp(v) else np.nan),
    (ops.Kurtosis(True), FLOATS, lambda v: stats.kurtosis(v) if np.ptp(v) else np.nan),
    (ops.LinearFit(), PAIRS, lambda v: exact("linear_fit")([(y, x) for x, y in v])),
    (ops.Minimum(), FLOATS, min),
    (ops.Maximum(), FLOATS, max),
    (ops.First(), FLOATS, lambda v: v[0]),
    (ops.Last(), FLOATS, lambda v: v[-1]),
    (ops.AnyTrue(), FLOATS, lambda v: any(x != 0 for x in v)),
    (ops.AllTrue(), FLOATS, lambda v: all(x != 0 for x in v)),
    (ops.GreatestCommonDivisor(), INTEGERS, lambda v: math.gcd(*v)),
    (ops.BitAnd(), INTEGERS, lambda v: reduce(lambda a, b: a & b, v)),
    (ops.BitOr(), INTEGERS, lambda v: reduce(lambda a, b: a | b, v)),
    (ops.BitXor(), INTEGERS, lambda v: reduce(lambda a, b: a ^ b, v)),
    (ops.AffineMap(), PAIRS, compose),
]
BUILTIN += [
    (ops.ComplexSum(), PAIRS, lambda v: (math.fsum(x for x, _ in v), math.fsum(y for _, y in v))),
    (ops.ComplexProduct(), PAIRS, lambda v: parts(math.prod(complex(*pair) for pair in v))),
]
# Operators whose last column is the row, which the sample gives here by its place.
WITH_ROW = [(ops.ArgMinimum(), np.argmin), (ops.ArgMaximum(), np.argmax)]


def columns(operator, samples):
    """Samples as what kernels take: an array, or a tuple of columns."""
    if isinstance(samples[0], tuple):
        return tuple(np.array(column, float) for column in zip(*samples))
    kind = type(operator).__name__
    if kind.startswith("Unsigned"):
        return np.array(samples, np.uint64)
    return np.array(samples, np.int64 if all(isinstance(x, int) for x in samples) else np.float64)


def same(result, wanted):
    """Equal to the bit for whole numbers and flags, to a few roundings for floats."""
    if isinstance(wanted, tuple):
        return all(same(a, b) for a, b in zip(result, wanted, strict=True))
    if isinstance(wanted, (float, np.floating)):
        return bool(np.isclose(float(result), float(wanted), rtol=1e-12, atol=1e-12, equal_nan=True))
    return Fraction(int(result)) == Fraction(int(wanted))


def name(value):
    return repr(value) if hasattr(value, "_fields") else ""


def fold(operator, arguments):
    """Result of elements combined one after the other, in plain Python."""
    states = [lift_argument(operator, argument) for argument in arguments]
    state = states[0]
    for newer in states[1:]:
        state = operator.combine(state, newer)
    if hasattr(operator, "overflowed") and operator.overflowed(state):
        return OverflowError
    return operator.lower(state) if hasattr(operator, "lower") else state


class Half(NamedTuple):
    """Not associative."""

    def combine(self, older, newer):
        return (older + newer) / 2
