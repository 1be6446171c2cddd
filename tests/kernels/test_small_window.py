"""Sentinels for missing values: exact counts, and ranks that hardly vary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollstat.kernels.small_window import pick, replace_missing


def replace(values, missing, width, share):
    keys = np.empty_like(values)
    below = np.empty(len(values) - width + 1, np.int64)
    replace_missing(values, missing, width, share, -np.inf, np.inf, keys, below)
    return keys, below


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
    keys, below = replace(values, missing, width, (numerator, denominator))
    np.testing.assert_array_equal(keys[~missing], values[~missing])
    assert np.isinf(keys[missing]).all()
    for row in range(len(below)):
        window = keys[row : row + width]
        assert below[row] == np.count_nonzero(window == -np.inf)
        assert abs(below[row] - np.isinf(window).sum() * numerator / denominator) < 1


@pytest.mark.parametrize("q", [0.0, 0.05, 0.25, 0.5, 0.9, 1.0])
def test_at_most_three_ranks_occur_for_a_quantile(q):
    rng = np.random.default_rng(1)
    missing = rng.random(2000) < 0.4
    width = 20
    share = round(q * 100), 100
    _, below = replace(np.zeros(2000), missing, width, share)
    count = np.lib.stride_tricks.sliding_window_view(~missing, width).sum(axis=1)
    ranks = below + np.floor(q * (count - 1)).astype(int)
    assert len(np.unique(ranks[count > 0])) <= 3


def test_pick_takes_only_the_rows_of_its_ranks():
    found = np.arange(12.0).reshape(2, 6)
    rank = np.array([3, 4, 5, -1, 4, 2])
    target = np.full(6, -1.0)
    pick(found, 3, 4, rank, target)
    np.testing.assert_array_equal(target, [0, 7, -1, -1, 10, -1])
