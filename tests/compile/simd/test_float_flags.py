"""Flags of overflow and underflow, cleared and read within one kernel."""

import numpy as np
import pytest
from numba import config

from rollstat.compile.jit import kernel
from rollstat.compile.simd.float_flags import clear_flags, range_left


@kernel
def _multiply(values, factor, out):
    clear_flags()
    for i in range(len(values)):
        out[i] = values[i] * factor
    return range_left()


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="Python cannot read the flags")
@pytest.mark.parametrize(
    ("value", "factor", "left"),
    [
        (1.1, 1.1, False),
        (1e300, 1e300, True),
        (1e-300, 1e-300, True),
        (1e-320, 3.0, False),  # exact, though subnormal
        (np.inf, 2.0, False),
        (np.nan, 2.0, False),
        (0.0, 5.0, False),
    ],
)
def test_a_number_leaves_the_range(value, factor, left):
    for _ in range(2):
        assert _multiply(np.array([1.0, value]), factor, np.empty(2)) == left
        _multiply(np.array([1e300]), 1e300, np.empty(1))  # the flag does not stay


def test_python_cannot_exclude_it():
    assert clear_flags() is None
    assert range_left()
