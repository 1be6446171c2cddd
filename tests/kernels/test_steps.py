"""Packed states do what their three arrays do."""

import pickle

import numpy as np
import pytest

from rollstat.kernels.selection import three_trees, two_heaps
from rollstat.kernels.steps import KthByHeaps, KthByTrees, pack, views
from tests.kernels.selection.invariants import linked_heaps


def with_gaps(rng, n):
    values = 10 * rng.standard_normal(n)
    values[rng.random(n) < 0.2] = np.nan
    return values


def test_two_heaps(rng):
    state = two_heaps.create(15, np.float64, width=15)
    packed = pack(*state)
    for i, value in enumerate(with_gaps(rng, 200)):
        expected = two_heaps.push(*state, value, np.isnan(value))
        assert np.array_equal(KthByHeaps.push(packed, value), expected, equal_nan=True)
        header, keys, links = views(packed)
        assert np.array_equal(header, state[0])
        assert linked_heaps(header, keys, links)
        if i == 100:
            packed = pickle.loads(pickle.dumps(packed))


@pytest.mark.parametrize("m", [1, 8, 15])
def test_three_trees(rng, m):
    header, links, kept = three_trees.create(1, m, np.float64)
    packed = pack(header, kept, links.ravel())
    for value in with_gaps(rng, 120):
        expected = three_trees.push(header, links, kept, value, np.isnan(value))
        assert np.array_equal(KthByTrees.push(packed, value), expected, equal_nan=True)
