"""Networks over lanes against sorting every window."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollstat.kernels.selection.selection_network import (
    AT_RANK,
    LINEAR,
    MIDPOINT,
    LaneScratch,
    pick,
    place_sentinels,
    point_of_five,
    rank_in_all,
    run_network,
)
from rollstat.statistics.selection.networks import selection_network


def run(values, m, ranges, block, lanes, outputs, fractions, out):
    values.flags.writeable = False  # as the driver passes them
    network = selection_network(m, ranges, block)
    vector_lanes = 64 // values.itemsize
    stride = lanes + (network.reach // vector_lanes + 2) * vector_lanes
    scratch = LaneScratch(np.zeros(network.rows * stride, values.dtype), np.zeros(4 * lanes), lanes, stride)
    run_network(values, network, scratch, np.array(outputs), np.array(fractions, float), out)


def select(values, m, low, high, block, lanes):
    lower = np.zeros((high + 1 - low, len(values) - m + 1), values.dtype)
    outputs = [(i, AT_RANK) for i in range(len(lower))]
    run(values, m, ((low, high),), block, lanes, outputs, [0] * len(outputs), lower)
    return lower


@pytest.mark.parametrize(("m", "block"), [(1, 4), (2, 4), (3, 4), (5, 4), (12, 8), (25, 8), (40, 16)])
def test_against_sorted_windows(m, block):
    rng = np.random.default_rng(m)
    for rows in (1, 2, block, block + 1, 8 * block - 1, 8 * block, 8 * block + 1, 300):
        values = np.round(rng.standard_normal(rows + m - 1), 1)
        expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, m), axis=1).T
        for low, high in ((0, 0), (0, min(1, m - 1)), (m // 2, m // 2), (m - 1, m - 1)):
            for lanes in (8, 24):
                np.testing.assert_array_equal(
                    select(values, m, low, high, block, lanes), expected[low : high + 1]
                )


def test_infinities_and_small_numbers():
    pool = np.array([-np.inf, np.inf, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308])
    values = np.random.default_rng(0).choice(pool, 500)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, 9), axis=1).T
    np.testing.assert_array_equal(select(values, 9, 0, 8, 4, 16), expected)


def test_kinds_of_output():
    values = np.random.default_rng(1).standard_normal(400)
    ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, 10), axis=1).T
    out = np.zeros((4, 391))
    outputs = [(0, LINEAR), (2, MIDPOINT), (1, AT_RANK), (0, AT_RANK)]
    run(values, 10, ((2, 3), (4, 5)), 4, 16, outputs, [0.3, 0, 0, 0], out)
    np.testing.assert_array_equal(out[0], ranks[2] + (ranks[3] - ranks[2]) * 0.3)
    np.testing.assert_array_equal(out[1], (ranks[4] + ranks[5]) / 2)
    np.testing.assert_array_equal(out[2:], ranks[[3, 2]])


def test_midpoint_of_numbers_whose_sum_overflows():
    largest = np.finfo(float).max
    lower = np.zeros((1, 3))
    values = np.array([largest, largest, -largest, np.inf])
    with np.errstate(over="ignore", invalid="ignore"):  # without compilation NumPy would warn
        run(values, 2, ((0, 1),), 4, 8, [(0, MIDPOINT)], [0], lower)
    np.testing.assert_array_equal(lower, [[largest, 0.0, np.inf]])


def replace(values, missing, rank, share):
    keys, among = np.empty_like(values), np.empty_like(rank)
    low = np.empty(len(values), np.uint8)
    share = np.uint64(min(int(share * 2**64), 2**64 - 1))
    place_sentinels(values, missing, share, -np.inf, np.inf, keys, low)
    return keys, among, rank_in_all(rank, low, among)


@settings(max_examples=60, deadline=None)
@given(
    missing=st.lists(st.booleans(), min_size=12, max_size=60),
    width=st.integers(1, 12),
    denominator=st.integers(1, 9),
    part=st.floats(0, 1),
)
def test_sentinels_below_are_a_share_of_every_window(missing, width, denominator, part):
    missing = np.array(missing)
    values = np.arange(len(missing), dtype=float)
    numerator = int(part * denominator)
    rank = np.arange(len(missing) - width + 1) % 3 - 1
    keys, among, limits = replace(values, missing, rank, numerator / denominator)
    np.testing.assert_array_equal(keys[~missing], values[~missing])
    assert np.isinf(keys[missing]).all()
    for row in range(len(rank)):
        window = keys[row : row + width]
        below = np.count_nonzero(window == -np.inf)
        assert among[row] == (rank[row] + below if rank[row] >= 0 else -1)
        assert abs(below - np.isinf(window).sum() * numerator / denominator) < 1
    wanted = among[rank >= 0]
    assert limits == ((wanted.min(), wanted.max()) if len(wanted) else (width, -1))


@pytest.mark.parametrize("q", [0.0, 0.05, 0.25, 0.5, 0.9, 1.0])
def test_at_most_three_ranks_occur_for_a_quantile(q):
    rng = np.random.default_rng(1)
    missing = rng.random(2000) < 0.4
    width = 20
    count = np.lib.stride_tricks.sliding_window_view(~missing, width).sum(axis=1)
    rank = np.where(count > 0, np.floor(q * (count - 1)), -1).astype(np.int64)
    first, last = replace(np.zeros(2000), missing, rank, q)[2]
    assert last - first <= 2


def test_pick_takes_only_the_rows_of_its_ranks():
    found = np.arange(12.0).reshape(2, 6)
    rank = np.array([3, 4, 5, -1, 4, 2])
    lower, upper = np.full(6, -1.0), np.full(6, -1.0)
    pick(found, 3, 4, rank, lower, upper)
    np.testing.assert_array_equal(lower, [0, 7, -1, -1, 10, -1])
    np.testing.assert_array_equal(upper, [6, 7, -1, -1, 10, -1])
    pick(found, 3, 4, rank, lower, np.empty(0))
    np.testing.assert_array_equal(lower, [0, 7, -1, -1, 10, -1])


def cases_of_five():
    """Windows of every order of five values, and of two values, one after the other."""
    orders = list(itertools.permutations(range(5))) + list(itertools.product(range(2), repeat=5))
    return np.array(orders, float).ravel()


@pytest.mark.parametrize("rank", range(5))
def test_every_order_of_five_values_with_and_without_ties(rank):
    values = cases_of_five()
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, 5), axis=1)
    target = np.empty(len(expected))
    assert point_of_five(values, rank, 0.0, target)
    np.testing.assert_array_equal(target, expected[:, rank])
    if rank < 4:
        assert point_of_five(values, rank, 0.2, target)
        below, above = expected[:, rank], expected[:, rank + 1]
        np.testing.assert_array_equal(target, below + (above - below) * 0.2)


@pytest.mark.parametrize("rank", range(5))
@pytest.mark.parametrize("fraction", [0.0, 0.2])
def test_nan_is_seen_wherever_it_is(rank, fraction):
    n = 80_000
    for place in [*range(9), n // 2, 32767, 32768, 32772, *range(n - 9, n)]:
        values = np.zeros(n)
        values[place] = np.nan
        assert not point_of_five(values, min(rank, 3), fraction, np.empty(n - 4))
    assert point_of_five(np.full(n, np.inf), min(rank, 3), fraction, np.empty(n - 4))


def test_whole_numbers_hold_no_nan():
    target = np.empty(3, np.int32)
    assert point_of_five(np.array([3, 1, 4, 1, 5, 9, 2], np.int32), 2, 0.0, target)
    np.testing.assert_array_equal(target, [3, 4, 4])
