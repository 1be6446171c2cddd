"""Sentinels for missing values: exact counts, and ranks that hardly vary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollstat.kernels.selection.network_missing import pick, place_sentinels, rank_in_all


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
