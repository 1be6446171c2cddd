"""Entropies of monotone windows, beside SciPy."""

from collections import Counter

import numpy as np
from scipy import stats

from rollstat.kernels.rank_space.entropy import entropies
from rollstat.kernels.rank_space.trimmed_mean import create_sums


def test_entropies_are_those_of_the_counts(rng):
    values = rng.integers(0, 6, 200)
    rank = np.searchsorted(np.sort(values), values)
    rank[rng.random(200) < 0.2] = -1
    end = np.sort(rng.integers(0, 201, 80))
    start = np.minimum(np.sort(rng.integers(0, 201, 80)), end)
    result = np.full(80, -1.0)
    entropies(rank, start, end, np.zeros(200, np.int64), *create_sums(200), result)
    for found, first, last in zip(result, start, end):
        counts = list(Counter(r for r in rank[first:last].tolist() if r >= 0).values())
        if counts:
            np.testing.assert_allclose(found, stats.entropy(counts), rtol=1e-13, atol=1e-15)
        else:
            assert found == -1
