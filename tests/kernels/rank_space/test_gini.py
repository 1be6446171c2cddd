"""Mean differences against exact arithmetic, with the tree checked, on floats, integers and infinities."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import rollstat
from rollstat.blocks import Block
from rollstat.kernels.rank_space import gini
from rollstat.kernels.rank_space.sorted_windows import MeanDifference
from rollstat.statistics.ranks.rank_space import read_sorted
from rollstat.statistics.selection.ranking import tied_ranks


def means(values, start, end, missing=None):
    """Return the results of the tree, checked, after a comparison with those of the sorted array."""
    rank, ordered = tied_ranks(values, missing)
    first = int(np.isneginf(ordered).sum()) if ordered.dtype.kind == "f" else 0
    last = first + int(np.isfinite(ordered).sum()) - 1
    scratch = gini.create(len(ordered))
    result = np.full(len(start), -1.0)
    gini.mean_differences(rank, ordered, first, last, start, end, scratch, result)
    assert gini.check(ordered, first, last, scratch)
    small = np.full(len(start), -1.0)
    read_sorted(Block(values, missing, start, end), lambda part: part, MeanDifference(), 2, [small])
    small[result == -1] = -1
    np.testing.assert_allclose(small, result, rtol=1e-14)
    return result, scratch


def exact(values):
    """Return the mean difference as a fraction."""
    pairs = [abs(a - b) for a, b in itertools.combinations(map(Fraction, values.tolist()), 2)]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("m", [2, 3, 17, 60])
def test_relative_error_stays_within_the_bound(rng, m, offset):
    noise = rng.standard_normal(150)
    for values in (noise, noise * 10.0 ** rng.integers(-9, 9, 150), rng.integers(0, 4, 150) * 0.1):
        values = values + offset
        start = np.arange(150 - m + 1)
        result, _ = means(values, start, start + m)
        for i in start:
            wanted = exact(values[i : i + m])
            assert abs(Fraction(float(result[i])) - wanted) <= (6 * 8 + 8) * Fraction(1, 2**53) * wanted


def test_irregular_windows_and_missing_values(rng):
    values = rng.integers(0, 30, 300) * 0.25
    missing = rng.random(300) < 0.2
    start = np.sort(rng.integers(0, 300, 100))
    end = np.maximum(start, np.sort(rng.integers(0, 301, 100)))
    result, _ = means(values, start, end, missing)
    for i in range(100):
        seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
        assert result[i] == (pytest.approx(float(exact(seen)), rel=1e-14) if len(seen) > 1 else -1)


def test_integers_are_rounded_once_even_at_the_limits_of_the_dtype(rng):
    top = np.uint64(2**64 - 1)
    for values in (
        top - rng.integers(0, 1000, 100).astype(np.uint64),
        rng.integers(-(2**40), 2**40, 100).view(np.uint64) + np.uint64(2**63),
    ):
        start = np.arange(100 - 9)
        result, _ = means(values, start, start + 9)
        assert result.tolist() == [float(exact(values[i : i + 9])) for i in start]
    assert means(np.array([0, top], np.uint64), np.array([0]), np.array([2]))[0].tolist() == [2.0**64]


def test_no_trace_of_removed_values(rng):
    values = rng.standard_normal(200)
    spoilt = values.copy()
    spoilt[[5, 40, 41, 90]] = [1e300, np.inf, -np.inf, -1e300]
    start = np.arange(200 - 19)
    result, clean = means(spoilt, start, start + 20)[0], means(values, start, start + 20)[0]
    np.testing.assert_allclose(result[91:], clean[91:], rtol=1e-14)
    np.testing.assert_allclose(result[6:21], clean[6:21], rtol=1e-14)


def test_infinities_as_in_numpy():
    values = np.array([1.0, np.inf, 2.0, np.inf, 3.0, 4.0, -np.inf, np.inf])
    start = np.arange(7)
    assert means(values, start, start + 2)[0].tolist() == [np.inf] * 4 + [1.0] + [np.inf] * 2
    result, _ = means(values, np.array([0, 1]), np.array([4, 8]))
    assert np.isnan(result).all()
    infinite = np.array([-np.inf, np.inf, np.inf])
    result, _ = means(infinite, np.array([0, 1]), np.array([2, 3]))
    np.testing.assert_array_equal(result, [np.inf, np.nan])
    assert means(np.full(2, np.inf), np.array([0]), np.array([1]))[0].tolist() == [-1.0]


def test_one_removal_leaves_an_empty_state():
    values = np.array([3.0, 1.0, 2.0])
    _, scratch = means(values, np.array([0, 3]), np.array([3, 3]))
    assert all(not array.any() for array in scratch)


def test_check_finds_a_wrong_sum():
    values = np.array([3.0, 1.0, 2.0, 5.0])
    _, scratch = means(values, np.array([0]), np.array([4]))
    scratch.pairs[2] += 1
    assert not gini.check(np.sort(values), 0, 3, scratch)


@pytest.mark.parametrize("algorithm", ["sorted_window", "rank_set"])
def test_distances_that_overflow(algorithm, rng):
    values = rng.standard_normal(60)
    values[20:40] *= 2.0**1022
    values[50] = np.inf
    results = rollstat.rolling_gini(values, 6, algorithm=algorithm)
    stream = rollstat.RollingGini(6)
    pushed = [stream.push(x) for x in values.tolist()]
    for i in range(5, 60):
        if i >= 50 and i - 6 < 50:
            assert results[i] == pushed[i] == np.inf
            continue
        wanted = exact(values[i - 5 : i + 1])
        for result in (results[i], pushed[i]):
            if wanted > np.finfo(float).max:
                assert result == np.inf
            else:
                assert abs(Fraction(float(result)) / wanted - 1) < 100 / 2**53
