"""Operations on pairs against the same operations on each element."""

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.kernels.simd import pairs
from rollstat.kernels.simd.comparator import Least, Newest, Oldest
from rollstat.kernels.simd.pairs import Arg


@kernel
def better_pairs(order, newer, older, out):
    pairs.store(pairs.prefer(order, pairs.load(newer, 0), pairs.load(older, 0)), out, 0)


@pytest.mark.parametrize("ties", [Oldest(), Newest()])
def test_positions_follow_the_values(ties):
    older = np.array([1.0, 2, 3, 4, 5, 6, 7, 8]), np.arange(8)
    newer = np.array([2.0, 2, 2, 2, 9, 6, 7, -8]), np.arange(10, 18)
    out = np.zeros(8), np.zeros(8, np.int64)
    better_pairs(Arg(Least(), ties), newer, older, out)
    np.testing.assert_array_equal(out[0], np.minimum(older[0], newer[0]))
    tied = older[0] == newer[0]
    takes_newer = (newer[0] < older[0]) | (tied & isinstance(ties, Newest))
    np.testing.assert_array_equal(out[1], np.where(takes_newer, newer[1], older[1]))
