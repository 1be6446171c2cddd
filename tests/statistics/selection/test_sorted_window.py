"""Order statistics from a sorted array against sorted windows, for all dtypes and kinds of windows."""

import numpy as np
import pytest

from rollstat.blocks import Block
from rollstat.statistics.selection import sorted_window
from tests.selections import check_selection, fixed_block, kth_rank, quantile_rank, values_at_limits


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
@pytest.mark.parametrize("width", [1, 2, 9, 60])
@pytest.mark.parametrize("gaps", [None, 0.4])
def test_fixed_windows(dtype, width, gaps, rng):
    values = values_at_limits(dtype, rng, 300)
    block = fixed_block(values, width, None if gaps is None else rng.random(300) < gaps)
    rank = np.stack([quantile_rank(block, 0.5), kth_rank(block, 2), kth_rank(block, -1)])
    check_selection(sorted_window.select, block, rank)
    check_selection(sorted_window.select, block, rank[:1], upper=False, position=False)


def test_windows_that_grow_shrink_and_jump(rng):
    start = np.sort(rng.integers(0, 300, 200))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 50, 200), 300))
    block = Block(values_at_limits("f8", rng, 300), rng.random(300) < 0.2, start, end)
    check_selection(sorted_window.select, block, quantile_rank(block, 0.7))
