"""Windows of five against sorting."""

import itertools

import numpy as np
import pytest

from rollstat.kernels.window_of_five import linear_of_five, rank_of_five


@pytest.mark.parametrize("rank", range(5))
def test_every_order_of_five_values_with_and_without_ties(rank):
    cases = np.array(
        list(itertools.permutations(range(5))) + list(itertools.product(range(2), repeat=5)), float
    )
    views = list(np.ascontiguousarray(cases.T))
    expected = np.sort(cases, axis=1)
    target = np.empty(len(cases))
    rank_of_five(*views, rank, target)
    np.testing.assert_array_equal(target, expected[:, rank])
    if rank < 4:
        linear_of_five(*views, rank, 0.2, target)
        below, above = expected[:, rank], expected[:, rank + 1]
        np.testing.assert_array_equal(target, below + (above - below) * 0.2)
