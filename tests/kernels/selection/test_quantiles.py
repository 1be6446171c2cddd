"""Ranks and points of quantiles, beside NumPy and fractions."""

from fractions import Fraction

import numpy as np
import pytest

from rollstat.kernels.selection.quantiles import (
    INTERPOLATIONS,
    interpolate,
    interpolate_constant,
    interpolate_large,
    interpolate_whole,
    wanted_ranks,
    whole_spread,
)

QUANTILES = [0.0, 0.05, 0.25, 0.5, 0.75, 1.0]


def enclosing(rows, q):
    """The order statistics at a quantile and one more of each row, and the numbers of observations."""
    rank = [int(q * (len(row) - 1)) for row in rows]
    pairs = [(row[i], row[min(i + 1, len(row) - 1)]) for row, i in zip(map(sorted, rows), rank)]
    return *map(np.array, zip(*pairs)), np.array([len(row) for row in rows])


def test_ranks():
    count, rank = np.array([0, 1, 2, 5, 6]), np.empty(5, np.int64)
    for k, wanted in ((2, [-1, -1, 1, 1, 1]), (-2, [-1, -1, 0, 3, 4]), (0, [-1, -1, 0, 2, 2])):
        wanted_ranks(count, k, 0.5, 2, rank)
        np.testing.assert_array_equal(rank, wanted)


@pytest.mark.parametrize("name", INTERPOLATIONS)
@pytest.mark.parametrize("q", QUANTILES)
def test_points_are_those_of_numpy(name, q, rng):
    rows = [rng.integers(-20, 20, n) * 0.5 for n in (1, 2, 3, 4, 5, 8, 21)]
    result = np.empty(len(rows))
    interpolate(*enclosing(rows, q), q, INTERPOLATIONS[name], result)
    np.testing.assert_allclose(result, [np.quantile(row, q, method=name) for row in rows], rtol=1e-15)


@pytest.mark.parametrize("middle", [False, True])
def test_one_fraction_for_all_rows(middle, rng):
    lower = np.array([1.0, -np.inf, 2.0, 1e308, -1e308, np.inf])
    upper = np.array([4.0, 3.0, 2.0, 1.5e308, 1e308, np.inf])
    found = np.empty(6)
    interpolate_constant(lower, upper, 0.25, middle, found)
    share = 0.5 if middle else 0.25
    exact = [
        float(Fraction(a) + (Fraction(b) - Fraction(a)) * Fraction(share))
        for a, b in zip(lower[[0, 2, 3, 4]], upper[[0, 2, 3, 4]])
    ]
    np.testing.assert_allclose(found[[0, 2, 3, 4]], exact, rtol=1e-15)
    assert found[1] == -np.inf
    assert found[5] == np.inf


@pytest.mark.parametrize("name", ["linear", "midpoint"])
@pytest.mark.parametrize("q", [0.25, 0.5, 0.9])
def test_points_between_large_integers_are_rounded_once(name, q):
    ends = [(-(2**63), 2**63 - 1), (2**62 + 1, 2**62 + 2), (-5, -4), (3, 2**60 + 1)]
    lower, upper = (np.array(each, np.int64) for each in zip(*ends))
    count, result, whole = np.full(4, 2), np.empty(4), np.empty(4, np.int64)
    interpolate_large(lower.view("u8"), upper.view("u8"), True, count, q, INTERPOLATIONS[name], result)
    share = Fraction(0.5 if name == "midpoint" else q)
    for found, (a, b) in zip(result, ends):
        exact = a + (b - a) * share
        assert found == float(exact) or abs(Fraction(found) - exact) <= abs(exact) * Fraction(1, 2**53)
    interpolate_whole(lower, upper, count, q, INTERPOLATIONS[name], whole)
    assert all(a <= found <= b for found, (a, b) in zip(whole.tolist(), ends))
    if name == "midpoint":
        assert whole.tolist() == [(a + b) // 2 for a, b in ends]


def test_spreads_of_integers_do_not_overflow():
    lower = np.array([[-(2**63), 0], [2**63 - 1, 4]])
    upper = np.array([[-(2**63), 2], [2**63 - 1, 8]])
    result = np.empty(2)
    whole_spread(lower, upper, np.array([4, 2]), 0.25, 0.75, False, result)
    assert result.tolist() == [2.0**64, 4 + (4 * 0.75 - 2 * 0.25)]
