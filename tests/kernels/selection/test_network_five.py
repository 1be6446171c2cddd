"""Windows of five against sorting."""

import itertools

import numpy as np
import pytest

from rollstat.kernels.selection.network_five import point_of_five


def cases():
    """Windows of every order of five values, and of two values, one after the other."""
    orders = list(itertools.permutations(range(5))) + list(itertools.product(range(2), repeat=5))
    return np.array(orders, float).ravel()


@pytest.mark.parametrize("rank", range(5))
def test_every_order_of_five_values_with_and_without_ties(rank):
    values = cases()
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
