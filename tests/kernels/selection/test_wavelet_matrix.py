"""Order statistics and ranks of windows in any order, against every window, and the bits of the matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollstat.blocks import Block
from rollstat.kernels.selection import wavelet_matrix as matrices
from rollstat.statistics.selection import wavelet_matrix
from tests.selections import check_selection, values_at_limits


def any_order(values, missing, start, end):
    return Block(values, missing, start, end, any_order=True)


def random_ranks(block, rng):
    return np.where(block.count > 0, (rng.random((2, block.rows)) * block.count).astype(int), -1)


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 300),
    rows=st.integers(1, 80),
    gaps=st.sampled_from([0.0, 0.2, 0.9, 1.0]),
    distinct=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_windows(length, rows, gaps, distinct, seed):
    rng = np.random.default_rng(seed)
    bounds = rng.integers(0, length + 1, (2, rows))
    values = rng.integers(0, distinct, length).astype(float)
    missing = rng.random(length) < gaps if gaps else None
    block = any_order(values, missing, bounds.min(axis=0), bounds.max(axis=0))
    rank = random_ranks(block, rng)
    rank[rng.random(rank.shape) < 0.1] = -1
    check_selection(wavelet_matrix.select, block, rank)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "u1"])
def test_dtypes_up_to_their_limits(dtype):
    rng = np.random.default_rng(3)
    values = values_at_limits(dtype, rng, 300)
    bounds = rng.integers(0, 301, (2, 100))
    for missing in (None, rng.random(300) < 0.3):
        block = any_order(values, missing, bounds.min(axis=0), bounds.max(axis=0))
        for upper in (True, False):
            for position in (True, False):
                check_selection(wavelet_matrix.select, block, random_ranks(block, rng), upper, position)


@pytest.mark.parametrize("distinct", [1, 4, 1000])
@pytest.mark.parametrize("length", [1, 64, 300])
def test_ranks_of_the_newest(distinct, length):
    rng = np.random.default_rng(length + distinct)
    values = rng.integers(0, distinct, length).astype(float)
    bounds = np.sort(rng.integers(0, length + 1, (2, 100)), axis=0)
    for missing in (None, rng.random(length) < 0.3, np.ones(length, np.bool_)):
        block = any_order(values, missing, *bounds)
        counts = np.full((3, block.rows), -1)
        wavelet_matrix.count_newest(block, *counts)
        for i, (start, end) in enumerate(bounds.T):
            seen = np.zeros(length, np.bool_) if missing is None else missing
            window = values[start:end][~seen[start:end]]
            ranked = end > start and not seen[end - 1]
            wanted = (
                [np.sum(window < values[end - 1]), np.sum(window == values[end - 1])] if ranked else [0, 0]
            )
            assert counts[:, i].tolist() == [*wanted, len(window)]


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 1000])
def test_each_level_sorts_the_rows_by_the_next_bit(rows):
    rank = np.random.default_rng(rows).permutation(rows).astype(np.int32)
    matrix = matrices.create(rows)
    levels = len(matrix.zeros)
    assert levels == max((rows - 1).bit_length(), 1)
    matrices.build(rank.copy(), np.empty_like(rank), matrix)
    ordered = rank
    for level in range(levels):
        bit = (ordered >> (levels - 1 - level)) & 1
        found = [int(word) >> i & 1 for word in matrix.bits[level] for i in range(64)]
        assert found[:rows] == bit.tolist()
        assert matrix.before[level].tolist() == [bit[: 64 * w].sum() for w in range(len(matrix.bits[level]))]
        assert matrix.zeros[level] == rows - bit.sum()
        ordered = np.concatenate([ordered[bit == 0], ordered[bit == 1]])
    assert ordered.tolist() == sorted(ordered.tolist(), key=lambda r: int(f"{r:0{levels}b}"[::-1], 2))
