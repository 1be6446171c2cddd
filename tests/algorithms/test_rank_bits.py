"""The driver under the selection contract, against sorting every window."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollstat.algorithms import rank_bits
from rollstat.blocks import Block, Selection


def fixed_block(values, width, missing=None):
    start = np.arange(len(values) - width + 1)
    return Block(values, missing, start, start + width, width)


def select(block, rank, constant=None):
    rank = np.atleast_2d(rank)
    pair = np.zeros((2, *rank.shape), block.values.dtype)
    request = Selection(rank, constant, *pair, np.zeros(rank.shape, np.int64))
    rank_bits.select(block, request)
    for positions in (True, False):
        for upper in (True, False):
            again = Selection(
                rank,
                constant,
                np.zeros_like(request.lower),
                np.zeros_like(request.lower) if upper else None,
                np.zeros_like(rank) if positions else None,
            )
            rank_bits.select(block, again)
            wanted = rank >= 0
            np.testing.assert_array_equal(again.lower[wanted], request.lower[wanted])
            if positions:
                np.testing.assert_array_equal(again.position[wanted], request.position[wanted])
    return request


def compare(block, request, rows=None):
    """Compare the given rows with their sorted windows."""
    for i in range(block.rows) if rows is None else rows:
        window = np.arange(block.start[i], block.end[i])
        if block.missing is not None:
            window = window[~block.missing[window]]
        window = window[np.argsort(block.values[window], kind="stable")]
        for r, rank in enumerate(request.rank[:, i]):
            if rank >= 0:
                assert request.position[r, i] == window[rank]
                assert request.lower[r, i] == block.values[window[rank]]
                if rank + 1 < len(window):
                    assert request.upper[r, i] == block.values[window[rank + 1]]


def random_ranks(block, requests, rng):
    return np.where(block.count > 0, (rng.random((requests, block.rows)) * block.count).astype(int), -1)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "u1"])
def test_dtypes_up_to_their_limits(dtype):
    rng = np.random.default_rng(3)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        pool = np.array([-np.inf, np.inf, -0.0, 0.0, 1.5, 1e-40, -3.0]).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        pool = np.array([limits.min, limits.min + 1, limits.max - 1, limits.max, 7], dtype)
    values = rng.choice(pool, 500)
    for missing in (None, rng.random(500) < 0.3):
        block = fixed_block(values, 70, missing)
        compare(block, select(block, random_ranks(block, 2, rng)))


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 300),
    rows=st.integers(1, 80),
    gaps=st.sampled_from([0.0, 0.2, 0.9, 1.0]),
    distinct=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_monotone_windows(length, rows, gaps, distinct, seed):
    rng = np.random.default_rng(seed)
    bounds = np.sort(rng.integers(0, length + 1, (2, rows)), axis=1)
    values = rng.integers(0, distinct, length).astype(float)
    missing = rng.random(length) < gaps if gaps else None
    block = Block(values, missing, bounds.min(axis=0), bounds.max(axis=0))
    rank = random_ranks(block, 3, rng)
    rank[rng.random(rank.shape) < 0.1] = -1
    compare(block, select(block, rank))


def test_expanding_windows_over_several_stretches():
    rng = np.random.default_rng(4)
    values = rng.standard_normal(30_000)
    end = np.arange(1, 30_001)
    block = Block(values, None, np.zeros_like(end), end)
    assert len(list(rank_bits.stretches(block.start, block.end))) > 1
    request = select(block, (end - 1) // 2)
    compare(block, request, range(0, 30_000, 1999))


@settings(max_examples=50, deadline=None)
@given(rows=st.integers(1, 60), largest=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_stretches_cover_all_rows_and_few_values_twice(rows, largest, seed):
    rng = np.random.default_rng(seed)
    start = np.cumsum(rng.integers(0, 9, rows))
    end = np.maximum.accumulate(start + rng.integers(0, largest, rows))
    parts = list(rank_bits.stretches(start, end, 10))
    assert [first for first, _ in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == rows
    covered = sum(int(end[last - 1] - start[first]) for first, last in parts[:-1])
    assert 3 * covered <= 4 * int(end[-1] - end[0])


def test_read_only_values_are_left_alone():
    values = np.random.default_rng(7).standard_normal(200)
    values.flags.writeable = False
    block = fixed_block(values, 60)
    before = values.copy()
    compare(block, select(block, np.full(block.rows, 2), (2,)))
    np.testing.assert_array_equal(values, before)


def test_nothing_but_missing_values():
    block = fixed_block(np.full(50, np.nan), 10, np.ones(50, np.bool_))
    select(block, np.full(block.rows, -1))
