"""Vector minimum and maximum of lanes against NumPy's, in place and not."""

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import VECTOR_BYTES
from rollstat.kernels.loops import exchange, lower_of, upper_of


@kernel
def apply(operation, work, count, lower, upper, first, second):
    """Run one of the three operations compiled."""
    if operation == 0:
        exchange(work, count, lower, upper, first, second)
    elif operation == 1:
        lower_of(work, count, lower, first, second)
    else:
        upper_of(work, count, upper, first, second)


def random_values(dtype, size):
    rng = np.random.default_rng(size)
    if dtype.kind == "f":
        return rng.choice(np.array([-np.inf, -1.5, -0.0, 0.0, 5e-324, 2.0, np.inf]), size).astype(dtype)
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, size, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_every_dtype(dtype):
    dtype = np.dtype(dtype)
    lanes = VECTOR_BYTES // dtype.itemsize
    for operation in range(3):
        work = random_values(dtype, 13 * lanes)
        expected = work.copy()
        one, two = work[1 : 1 + 3 * lanes].copy(), work[4 * lanes : 7 * lanes].copy()
        if operation != 2:
            expected[7 * lanes : 10 * lanes] = np.minimum(one, two)
        if operation != 1:
            expected[10 * lanes : 13 * lanes] = np.maximum(one, two)
        apply(operation, work, 3 * lanes, 7 * lanes, 10 * lanes, 1, 4 * lanes)
        np.testing.assert_array_equal(work, expected)


@pytest.mark.parametrize("shift", [0, 1, 5, 8, 11])
def test_targets_may_be_operands_at_the_same_or_smaller_lanes(shift):
    count = 24
    for lower, upper in ((0, 48), (48, 0)):
        work = random_values(np.dtype("f8"), 96)
        one, two = work[shift : shift + count].copy(), work[48 : 48 + count].copy()
        expected = work.copy()
        expected[lower : lower + count] = np.minimum(one, two)
        expected[upper : upper + count] = np.maximum(one, two)
        apply(0, work, count, lower, upper, shift, 48)
        np.testing.assert_array_equal(work, expected)


def test_overlapping_rows():
    work = random_values(np.dtype("f8"), 64)
    lower, upper = np.minimum(work[:24], work[3:27]), np.maximum(work[:24], work[3:27])
    apply(0, work, 24, 0, 32, 0, 3)
    np.testing.assert_array_equal(work[:24], lower)
    np.testing.assert_array_equal(work[32:56], upper)
