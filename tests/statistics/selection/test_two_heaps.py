"""The two-heaps driver under the selection contract."""

import numpy as np
import pytest

from rollstat.blocks import Block
from rollstat.statistics.selection.two_heaps import block_rows, select
from tests.selections import check_selection, fixed_block, kth_rank, quantile_rank


def ranks(block):
    """Several requests, from both ends and from the middle."""
    return np.stack([quantile_rank(block, 0.5), kth_rank(block, 2), kth_rank(block, -2), kth_rank(block, 1)])


@pytest.mark.parametrize("width", [1, 2, 3, 8, 21, 60])
@pytest.mark.parametrize("missing_share", [None, 0.0, 0.3, 1.0])
def test_fixed_windows(rng, width, missing_share):
    values = rng.integers(0, 8, 150).astype(float)
    missing = None if missing_share is None else rng.random(150) < missing_share
    block = fixed_block(values, width, missing)
    rank = ranks(block)
    constant = tuple(rank[:, 0].tolist()) if missing is None and rank.min() >= 0 else None
    for position in (True, False):
        check_selection(select, block, rank, constant, position=position)
        check_selection(select, block, np.where(rng.random(rank.shape) < 0.3, -1, rank), position=position)
        check_selection(select, block, rank[:1], constant and constant[:1], upper=False, position=position)


@pytest.mark.parametrize("missing_share", [None, 0.3])
@pytest.mark.parametrize("seed", range(12))
def test_windows_of_any_shape(missing_share, seed):
    rng = np.random.default_rng(seed)
    n, rows = 120, 90
    values = rng.integers(0, 40, n).astype(float)
    missing = None if missing_share is None else rng.random(n) < missing_share
    start = np.sort(rng.integers(0, n, rows))
    if seed % 3 == 0:
        start = np.maximum(start - start[0] - 40, 0)
    end = np.maximum.accumulate(np.minimum(n, start + rng.integers(0, 25, rows)))
    block = Block(values, missing, start, end)
    check_selection(select, block, ranks(block))
    check_selection(select, block, ranks(block), position=False)


def test_expanding_windows_and_gaps(rng):
    values = rng.standard_normal(80)
    end = np.arange(1, 81)
    block = Block(values, None, np.zeros(80, np.int64), end)
    check_selection(select, block, ranks(block))
    start = np.arange(0, 78, 7)
    block = Block(values, None, start, start + np.arange(len(start)) % 3)
    check_selection(select, block, ranks(block))


@pytest.mark.parametrize("shape", ["sorted", "reversed", "constant", "walk"])
def test_large_windows(rng, shape):
    rows = np.arange(3000.0)
    values = {
        "sorted": rows,
        "reversed": -rows,
        "constant": np.zeros(3000),
        "walk": rng.standard_normal(3000).cumsum(),
    }[shape]
    block = fixed_block(values, 700)
    for rank in (349, 0, 699, 30):
        check_selection(select, block, np.full((1, block.rows), rank), (rank,))


def test_blocks_outweigh_the_rows_before_the_first_window():
    assert all(block_rows(width) >= 8 * width for width in (1, 1000, 10**6))
