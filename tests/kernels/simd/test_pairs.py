"""Operations on pairs against the same operations on each element."""

import numpy as np
import pytest

from rollstat._jit import kernel
from rollstat.kernels.simd import pairs
from rollstat.kernels.simd.comparator import Greatest, Least, Newest, Oldest
from rollstat.kernels.simd.pairs import Arg, Both
from rollstat.kernels.simd.vectors import lanes_of


@kernel
def best_of_two(order, values, out, memory):
    """Write the best of each value and the one before; return the best of the first two elements."""
    lanes = lanes_of(pairs.first_of(out))
    before = pairs.broadcast(pairs.worst_of(order, values))
    copied, rest = pairs.split(order, memory, len(values))
    for i in range(0, len(values) - lanes + 1, lanes):
        newest = pairs.for_each(order, pairs.load(values, i))
        pairs.store(pairs.prefer(order, newest, pairs.shift_in_previous(before, newest, 1)), out, i)
        before = newest
    pairs.copy(pairs.rows_from(out, 1), pairs.rows(copied, 0, 5))
    pairs.set_at(pairs.at(out, 2), copied, 6)
    return pairs.contains(before, pairs.worst_of(order, values)), len(rest), pairs.extrema_of(order)


def test_both_extrema_are_those_of_single_orders(rng):
    values = rng.standard_normal(33)
    low, high, first, second = np.zeros((4, 33))
    memory, alone, other = np.zeros(80), np.zeros(80), np.zeros(80)
    for last, found in ((0.5, False), (np.inf, True), (-np.inf, True)):
        values[31] = last
        both = best_of_two(Both(), values, (low, high), memory)
        assert both == (found, 80 - 66, 2)
        assert best_of_two(Least(), values, first, alone) == (last == np.inf, 80 - 33, 1)
        assert best_of_two(Greatest(), values, second, other) == (last == -np.inf, 80 - 33, 1)
        np.testing.assert_array_equal(low, first)
        np.testing.assert_array_equal(high, second)
        np.testing.assert_array_equal(memory, np.r_[alone[:33], other[:33], np.zeros(14)])
        np.testing.assert_array_equal(low[1:32], np.minimum(values[1:32], values[:31]))


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
