"""Weighted quantiles of monotone windows, beside cumulated fractions."""

from fractions import Fraction

import numpy as np
import pytest

from rollstat.kernels.rank_space.trimmed_mean import create_sums
from rollstat.kernels.rank_space.weighted_tree import SLACK, weighted_quantiles


def expected(values, rank, weights, q):
    """Return the value at which the cumulated weight first reaches the quantile; None where there is none."""
    rows = sorted((rank[i], i) for i in range(len(values)) if rank[i] >= 0)
    shares = [Fraction(weights[i]) for _, i in rows]
    if not rows or min(shares) < 0 or not sum(shares):
        return None
    reached, target = Fraction(0), (Fraction(q) - Fraction(SLACK)) * sum(shares)
    found = None
    for (_, i), share in zip(rows, shares):
        if share:
            reached, found = reached + share, values[i]
            if reached >= target:
                return found
    return found


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
def test_quantiles_are_those_of_cumulated_weights(q, rng):
    values = rng.integers(0, 9, 150)
    ordered = np.sort(values)
    rank = np.searchsorted(ordered, values)
    rank[rng.random(150) < 0.1] = -1
    weights = rng.integers(0, 5, 150) * 0.25
    weights[rng.random(150) < 0.02] = -1.0
    end = np.sort(rng.integers(0, 151, 90))
    start = np.minimum(np.sort(rng.integers(0, 151, 90)), end)
    result = np.empty(90, np.int64)
    weighted_quantiles(rank, weights, start, end, np.zeros((2, 150), np.int64), *create_sums(150), q, result)
    for found, first, last in zip(result, start, end):
        part = slice(first, last)
        wanted = expected(values[part], rank[part], weights[part], q)
        assert (None if found < 0 else ordered[found]) == wanted


def test_a_huge_weight_that_has_left_has_no_effect():
    rank, weights, result = np.array([2, 0, 1]), np.array([1e300, 1.0, 1.0]), np.empty(2, np.int64)
    start, end = np.array([0, 1]), np.array([2, 3])
    weighted_quantiles(rank, weights, start, end, np.zeros((2, 3), np.int64), *create_sums(3), 0.5, result)
    assert result.tolist() == [2, 0]
