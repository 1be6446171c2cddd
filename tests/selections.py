"""Check selection drivers against sorted windows, see :class:`rollstat.blocks.Selection`."""

import numpy as np

from rollstat.blocks import Block, Selection


def fixed_block(values, width, missing=None):
    """Return the block of all full windows of `width` rows."""
    start = np.arange(len(values) - width + 1)
    return Block(values, missing, start, start + width, width)


def values_at_limits(dtype, rng, n):
    """Return values near the limits of a dtype, with many ties; for floats infinities and both zeros."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        pool = np.array([-np.inf, np.inf, -0.0, 0.0, 1.5, 1e-40, -3.0]).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        pool = np.array([limits.min, limits.min + 1, limits.max - 1, limits.max, 7], dtype)
    return rng.choice(pool, n)


def quantile_rank(block, q):
    """Return the ranks of the observations at or below the quantile, -1 for empty windows."""
    return np.where(block.count > 0, np.floor(q * (block.count - 1)), -1).astype(np.int64)


def kth_rank(block, k):
    """Return the ranks of the k-th smallest or -k-th largest, -1 where the window has fewer observations."""
    rank = np.full(block.rows, k - 1) if k > 0 else block.count + k
    return np.where(block.count >= abs(k), rank, -1)


def check_selection(select, block, rank, upper=True, position=True):
    """Run `select` on the ranks and compare with the sorted observations of every window."""
    rank = np.atleast_2d(rank)
    request = Selection(
        rank,
        np.zeros(rank.shape, block.values.dtype),
        np.zeros(rank.shape, block.values.dtype) if upper else None,
        np.zeros(rank.shape, np.int64) if position else None,
    )
    before = block.values.copy()
    select(block, request)
    assert np.array_equal(before, block.values, equal_nan=before.dtype.kind == "f")
    for i in range(block.rows):
        rows = np.arange(block.start[i], block.end[i])
        if block.missing is not None:
            rows = rows[~block.missing[rows]]
        rows = rows[np.argsort(block.values[rows], kind="stable")]
        for r in range(len(rank)):
            if rank[r, i] < 0:
                continue
            assert request.lower[r, i] == block.values[rows[rank[r, i]]], (i, r)
            if position:
                assert request.position[r, i] == rows[rank[r, i]], (i, r)
            if upper and rank[r, i] + 1 < len(rows):
                assert request.upper[r, i] == block.values[rows[rank[r, i] + 1]], (i, r)
