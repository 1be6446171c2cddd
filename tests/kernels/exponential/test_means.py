"""Recursions of eight rows at once beside those of single rows, and rows beside fractions."""

from fractions import Fraction

import numpy as np
import pytest

from rollstat.kernels.exponential import means, moments

NONE = np.empty(0)


def data(rng, n):
    values = rng.standard_normal(n).cumsum()
    values[rng.random(n) < rng.choice([0.0, 0.02, 0.3])] = np.nan
    return values


@pytest.mark.parametrize("ignore_na", [True, False])
@pytest.mark.parametrize(("adjust", "summed"), [(True, True), (True, False), (False, False)])
def test_means_of_eight_rows_and_of_one(adjust, ignore_na, summed, rng):
    for n in (1, 7, 8, 9, 16, 250):
        for decay in (means.LEAST_DECAY, 0.01, 0.5, 0.999):
            values, offsets = data(rng, n), np.array([0, n // 3, n // 3, n])
            by_row, by_vector = np.empty(n), np.empty(n)
            flags, least = (adjust, ignore_na, summed), int(rng.integers(1, 4))
            means.means_by_row(values, NONE, offsets, decay, *flags, least, by_row)
            given = 1 - decay, *flags, least, by_vector
            plain = means.means_by_vector(values, offsets, moments.vector_constants(decay), *given)
            assert plain == means.DONE or (plain == means.LACKS_TABLES and np.isnan(values).any())
            lanes = moments.constants_with_tables(decay, adjust, ignore_na)
            assert means.means_by_vector(values, offsets, lanes, *given) == means.DONE
            np.testing.assert_allclose(by_vector, by_row, rtol=1e-12, atol=1e-12)


def test_sums_beyond_the_range_are_reported(rng):
    values, out = np.full(40, 1.7e308), np.empty(40)
    lanes, offsets = moments.vector_constants(0.9), np.array([0, 40])
    given = lanes, 0.1, True, False
    assert means.means_by_vector(values, offsets, *given, True, 1, out) == means.OUT_OF_RANGE
    values[3] = np.inf
    assert means.means_by_vector(values, offsets, *given, False, 1, out) == means.OUT_OF_RANGE


@pytest.mark.parametrize(
    "kind", [moments.VARIANCE, moments.DEVIATION, moments.COVARIANCE, moments.CORRELATION]
)
@pytest.mark.parametrize("ignore_na", [True, False])
@pytest.mark.parametrize("adjust", [True, False])
def test_moments_of_eight_rows_and_of_one(kind, adjust, ignore_na, rng):
    for n in (1, 7, 8, 9, 16, 250):
        for decay in (moments.LEAST_DECAY, 0.8, 0.999):
            xs, offsets = data(rng, n), np.array([0, n // 3, n // 3, n])
            ys = data(rng, n) if kind in (moments.COVARIANCE, moments.CORRELATION) else None
            results = []
            for lanes in (NONE, moments.constants_with_tables(decay, adjust, ignore_na)):
                results.append(np.empty(n))
                given = xs, ys, NONE, offsets, lanes, decay, adjust, ignore_na, False, kind, 2, results[-1]
                moments.moments(*given)
            np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-11)


def with_gaps(rng, lengths):
    """Forty rows, most with an observation, before each gap; and after the last one."""
    parts = [np.where(rng.random(40) < 0.1, np.nan, rng.standard_normal(40)) for _ in range(len(lengths) + 1)]
    gaps = [np.full(length, np.nan) for length in lengths]
    return np.concatenate([row for pair in zip(parts, gaps) for row in pair] + parts[-1:])


# Earlier rows have a weight of about 2.0**-100 after the first of these, and none after the others.
LENGTHS = (*range(85, 125), 1_000, 1_080, 2_000)


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("decay", [0.5, means.LEAST_DECAY])
def test_means_after_gaps_that_leave_little_weight(adjust, decay, rng):
    values = with_gaps(rng, LENGTHS)
    by_row, by_vector, offsets = np.empty(len(values)), np.empty(len(values)), np.array([0, len(values)])
    means.means_by_row(values, NONE, offsets, decay, adjust, False, False, 1, by_row)
    lanes = moments.constants_with_tables(decay, adjust, False)
    means.means_by_vector(values, offsets, lanes, 1 - decay, adjust, False, False, 1, by_vector)
    np.testing.assert_allclose(by_vector, by_row, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("kind", [moments.DEVIATION, moments.CORRELATION])
def test_moments_after_gaps_that_leave_little_weight(kind, adjust, rng):
    xs = with_gaps(rng, LENGTHS)
    ys = rng.standard_normal(len(xs)) if kind == moments.CORRELATION else None
    results = []
    for lanes in (NONE, moments.constants_with_tables(0.5, adjust, False)):
        results.append(np.empty(len(xs)))
        given = xs, ys, NONE, np.array([0, len(xs)]), lanes, 0.5, adjust, False, False, kind, 2
        moments.moments(*given, results[-1])
    np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-11)


def test_weights_of_eight_rows():
    decay, exact = 0.75, Fraction(3, 4)
    powers, weight, squares, inverse, pairs = moments.vector_constants(decay).reshape(5, 8)
    for lane in range(8):
        weights = [exact**age for age in range(lane + 1)]
        assert powers[lane] == exact ** (lane + 1)
        assert squares[lane] == pytest.approx(float(exact ** (2 * lane + 2)), rel=1e-15)
        assert weight[lane] == pytest.approx(float(sum(weights)), rel=1e-15)
        assert inverse[lane] == pytest.approx(float(1 / sum(weights)), rel=1e-15)
        assert pairs[lane] == pytest.approx(float(sum(weights) ** 2 - sum(w * w for w in weights)), rel=1e-15)
