"""Selection networks against sorting, on every input, and the number of their operations."""

import numpy as np
import pytest

from rollstat.kernels.selection.selection_network import EXCHANGE, MAXIMUM, MINIMUM
from rollstat.statistics.selection.networks import selection_network


def apply(network, m, cases):
    """Ranks found for one block of each case: array of shape (ranks, block, cases).

    `cases` holds the values of the block along its first axis, and anything beyond.
    """
    block = network.results.shape[1]
    lanes = network.reach + 1
    work = np.zeros((network.rows, lanes, cases.shape[1]), cases.dtype)
    for lane in range(lanes):
        part = cases[lane * block : (lane + 1) * block]
        work[: len(part), lane] = part
    for operation, beyond, lower, upper, first, shift_one, second, shift_two in network.instructions:
        count = beyond + 1
        one = work[first, shift_one : shift_one + count].copy()
        two = work[second, shift_two : shift_two + count].copy()
        assert len(one) == len(two) == count
        if operation != MAXIMUM:
            work[lower, :count] = np.minimum(one, two)
        if operation != MINIMUM:
            work[upper, :count] = np.maximum(one, two)
    rows, shifts = network.results[..., 0], network.results[..., 1]
    return work[rows, shifts]


def sorted_windows(cases, m, block):
    """Ranks of every window of a block, shape (m, block, cases)."""
    return np.stack([np.sort(cases[i : i + m], axis=0) for i in range(block)], axis=1)


def zeros_and_ones(length):
    """Every sequence of zeros and ones of a length, one a column."""
    return (np.arange(2**length)[None, :] >> np.arange(length)[:, None] & 1).astype(np.uint8)


@pytest.mark.parametrize("block", [1, 2, 4, 8])
def test_every_rank_on_every_input_by_the_zero_one_principle(block):
    for m in range(1, 15 - block):
        cases = zeros_and_ones(m + block - 1)
        expected = sorted_windows(cases, m, block)
        for low in range(m):
            for high in {low, min(low + 1, m - 1), m - 1}:
                found = apply(selection_network(m, ((low, high),), block), m, cases)
                np.testing.assert_array_equal(found, expected[low : high + 1])


@pytest.mark.parametrize(
    ("m", "block"),
    [(25, 8), (25, 16), (31, 16), (32, 16), (33, 32), (63, 16), (64, 64), (100, 32), (200, 64)],
)
def test_large_networks_on_random_values(m, block):
    cases = np.random.default_rng(m).integers(0, m, (m + block - 1, 40))
    expected = sorted_windows(cases, m, block)
    for ranges in (((0, 0),), ((m // 20, m // 20 + 1),), ((m // 2, m // 2),), ((m - 2, m - 1), (3, 6))):
        network = selection_network(m, ranges, block)
        ranks = [rank for low, high in ranges for rank in range(low, high + 1)]
        np.testing.assert_array_equal(apply(network, m, cases), expected[ranks])


def operations(m, low, high, block):
    """Minima and maxima a window."""
    instructions = selection_network(m, ((low, high),), block).instructions
    return (len(instructions) + np.count_nonzero(instructions[:, 0] == EXCHANGE)) / block


def test_operations_a_window():
    assert operations(5, 2, 2, 4) == 5
    assert operations(9, 4, 4, 4) == 10
    assert operations(25, 12, 12, 8) <= 22
    assert operations(25, 1, 2, 16) <= 15
    assert operations(63, 31, 31, 32) <= 32


def test_operations_grow_with_the_square_of_log_m():
    for bits in range(3, 9):
        m = 2**bits - 1
        assert operations(m, m // 2, m // 2, 2 ** (bits - 1)) <= 1.1 * bits**2


def test_extreme_ranks_cost_less_than_the_median():
    for m in (15, 31, 63):
        assert operations(m, 0, 1, 8) < operations(m, m // 2, m // 2 + 1, 8)


def test_common_work_is_shared_between_ranges():
    alone = [len(selection_network(31, (r,), 8).instructions) for r in ((7, 8), (22, 23))]
    both = len(selection_network(31, ((7, 8), (22, 23)), 8).instructions)
    assert both < 0.85 * sum(alone)
