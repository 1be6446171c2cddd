"""Times as integers, and the edge of a window, against exact arithmetic."""

import math
from fractions import Fraction

import numpy as np

from rollstat.kernels import row_times

EDGES = [0.0, 5e-324, 2.2e-308, 0.1, 1 / 3, 1.0, 1.5, 2.0**53, 1e300, 1.7976931348623157e308, math.inf]


def test_integers_of_floats_are_in_their_order(rng):
    floats = np.sort([*EDGES, *(-x for x in EDGES), *(10 * rng.standard_normal(500)).tolist()]).tolist()
    keys = [int(row_times.key_of(x)) for x in floats]
    assert keys == sorted(keys)
    assert [float(row_times.number_of(key)) for key in keys] == floats
    assert row_times.key_of(-0.0) == row_times.key_of(0.0) == 0


def test_the_limit_of_floats_is_rounded_down(rng):
    header = np.zeros(row_times.SLOTS, np.int64)
    header[row_times.KIND] = row_times.NUMBERS
    signed = [*EDGES, *(-x for x in EDGES), *(10 * rng.standard_normal(200)).tolist()]
    for width in (5e-324, 0.1, 1.0, 3.7, 1e17, 1e300):
        header[row_times.WIDTH] = np.float64(width).view(np.int64)
        for time in signed:
            limit = int(row_times.limit_of(header, row_times.key_of(time)))
            for other in (x for x in signed if x <= time):
                if math.isinf(time) or math.isinf(other):
                    leaves = other != time  # equal infinities are 0 apart, others infinitely far
                else:
                    leaves = Fraction(time) - Fraction(other) >= Fraction(width)
                assert (row_times.key_of(other) <= limit) == leaves, (time, other, width)


def test_the_limit_of_ticks_saturates():
    header = np.zeros(row_times.SLOTS, np.int64)
    header[row_times.KIND], header[row_times.WIDTH] = row_times.TICKS, 2**62
    for time, limit in (
        (0, -(2**62)),
        (-(2**62), -(2**63)),
        (-(2**62) - 1, -(2**63)),
        (2**63 - 1, 2**62 - 1),
    ):
        assert row_times.limit_of(header, time) == limit
