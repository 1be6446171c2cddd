"""Distances from a sorted array against those of the tree over ranks."""

import numpy as np

from rollstat.kernels.rank_space.mad_sorted import find_distances_sorted
from tests.kernels.rank_space.test_mad_tree import find, series


def test_distances_equal_those_of_the_tree(rng):
    nothing = np.zeros(0, np.bool_)
    for values in series(rng, 200):
        for m in (1, 4, 17):
            start = np.arange(200 - m + 1)
            found = [np.zeros(len(start)) for _ in range(4)]
            find_distances_sorted(values, nothing, start, start + m, np.zeros(m + 1), *found)
            assert np.array_equal(found, find(values, start, start + m)[0])
        missing = rng.random(200) < 0.2
        start = np.sort(rng.integers(0, 200, 90))
        end = np.maximum(start, np.minimum(np.sort(rng.integers(0, 201, 90)), start + 40))
        end = np.maximum.accumulate(end)
        found = [np.zeros(90) for _ in range(4)]
        window = np.zeros(int((end - start).max()) + 1)
        find_distances_sorted(values, missing, start, end, window, *found)
        assert np.array_equal(found, find(values, start, end, missing)[0])
