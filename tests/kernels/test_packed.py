"""Packed states do what their three arrays do."""

import pickle

import numpy as np
import pytest

from rollstat.kernels import three_trees, two_heaps
from rollstat.kernels.packed import pack, views


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_two_heaps(rng, dtype):
    values = (10 * rng.standard_normal(200)).astype(dtype)
    missing = np.zeros(200, np.bool_)
    if values.dtype.kind == "f":
        missing = rng.random(200) < 0.2
        values[missing] = np.nan
    state = two_heaps.create(15, dtype, width=15)
    packed = pack(*state)
    for i, (value, lost) in enumerate(zip(values, missing)):
        expected = two_heaps.push(*state, value, lost)
        assert np.array_equal(two_heaps.push_packed(packed, value), expected, equal_nan=True)
        header, keys, links = views(packed)
        assert np.array_equal(header, state[0])
        assert two_heaps.check(header, keys, links)
        if i == 100:
            packed = pickle.loads(pickle.dumps(packed))


@pytest.mark.parametrize("m", [1, 8, 15])
def test_three_trees(rng, m):
    values = rng.standard_normal(120)
    values[rng.random(120) < 0.2] = np.nan
    header, links, kept = three_trees.create(1, m, np.float64)
    packed = pack(header, kept, links.ravel())
    for value in values:
        expected = three_trees.push(header, links, kept, value, np.isnan(value))
        assert np.array_equal(three_trees.push_packed(packed, value), expected, equal_nan=True)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="values must have 4 or 8 bytes"):
        pack(np.zeros(2, np.int64), np.zeros(3, np.int8), np.zeros(4, np.int32))
    with pytest.raises(ValueError, match="links 4, but are float64, int64"):
        pack(np.zeros(2, np.int64), np.zeros(3), np.zeros(4, np.int64))
