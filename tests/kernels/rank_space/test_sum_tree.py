"""The tree of sums: its invariant after every step, its error bound, and no trace of removed values."""

from fractions import Fraction

import numpy as np
import pytest

from rollstat.kernels.rank_space.sum_tree import assign, check, create


@pytest.mark.parametrize("ranks", [1, 8, 9, 600])
def test_sums_keep_the_bound_and_no_trace_of_removed_values(rng, ranks):
    sums, base = create(ranks)
    values = np.zeros(ranks)
    levels = int(np.ceil(np.log(max(ranks, 8)) / np.log(8) - 1e-9))
    for _ in range(300):
        rank = int(rng.integers(ranks))
        value = float(rng.choice([0.0, rng.standard_normal(), 1e300, np.inf, np.nan]))
        assign(sums, base, rank, value)
        assert check(sums, base)
        assign(sums, base, rank, 0.0)
        value = rng.standard_normal() * 10.0 ** rng.integers(-9, 9)
        assign(sums, base, rank, value)
        values[rank] = value
        assert check(sums, base)
        exact = sum(map(Fraction, values))
        bound = 3 * levels * 2.0**-53 * float(sum(map(Fraction, np.abs(values)))) * (1 + 1e-12)
        assert abs(Fraction(float(sums[0])) - exact) <= bound
    sums[0] += 1e9
    assert not check(sums, base)
