"""Products and weighted sums of any size, against fractions, over arrays and in streams."""

from fractions import Fraction

import numpy as np
import pytest

import rollstat
from rollstat.blocks import read_only
from rollstat.kernels.numbers import magnitudes
from rollstat.operators import Product, scaled
from rollstat.statistics.aggregate.drivers import without_exponents
from rollstat.statistics.sums.float_range import combine_within_range

EXTREME = np.array([1e200, -1e200, 1e-200, 3e-200, 5e-324, 1e308, -1e308, 2.0, 0.1, -1e-300, 1e300, 0.0])


def product(values):
    return np.prod([Fraction(float(x)) for x in values])


def decayed_sum(values, decay=Fraction(0.5)):
    return sum(Fraction(float(x)) * decay**i for i, x in enumerate(values[::-1]))


def decayed_mean(values):
    return decayed_sum(values) / decayed_sum(np.ones(len(values)))


STATISTICS = {
    "prod": ({}, product),
    "decayed_sum": ({"decay": 0.5}, decayed_sum),
    "decayed_mean": ({"decay": 0.5}, decayed_mean),
}
STREAMS = {
    "prod": rollstat.RollingProd,
    "decayed_sum": rollstat.RollingDecayedSum,
    "decayed_mean": rollstat.RollingDecayedMean,
}
LARGEST, SMALLEST = Fraction(np.finfo(float).max), Fraction(5e-324)


def near(result, exact, error):
    """Within the error, or the smallest number; inf beyond the largest one."""
    if abs(exact) > LARGEST:
        assert result == (np.inf if exact > 0 else -np.inf)
    else:
        assert abs(Fraction(float(result)) - exact) <= error + SMALLEST


@pytest.mark.parametrize("name", STATISTICS)
def test_extreme_values(name, rng):
    parameters, exact = STATISTICS[name]
    values = rng.choice(EXTREME, 200)
    wanted = [exact(values[max(i - 5, 0) : i + 1]) for i in range(len(values))]
    sizes = [exact(abs(values[max(i - 5, 0) : i + 1])) for i in range(len(values))]
    function = getattr(rollstat, f"rolling_{name}")
    results = function(values, 6, **parameters, min_periods=1)
    for result, right, size in zip(results, wanted, sizes):
        near(result, right, 24 * size / 2**53)
    stream = STREAMS[name](6, **parameters, min_periods=1)
    np.testing.assert_array_equal([stream.push(x) for x in values.tolist()][8:10], results[8:10])
    for result, right, size in zip(stream.extend(values)[6:], wanted[6:], sizes[6:]):
        near(result, right, 24 * size / 2**53)


def test_extreme_weights(rng):
    values, weights = rng.choice(EXTREME, 200), abs(rng.choice(EXTREME[:-1], 200))
    results = rollstat.rolling_weighted_mean(values, weights, 6)
    stream = rollstat.RollingWeightedMean(6)
    pushed = [stream.push(*pair) for pair in zip(values.tolist(), weights.tolist())]
    for i in range(5, 200):
        x, w = (list(map(Fraction, part[i - 5 : i + 1].tolist())) for part in (values, weights))
        total = sum(w)
        exact, size = (sum(a * b for a, b in zip(v, w)) / total for v in (x, map(abs, x)))
        for result in (results[i], pushed[i]):
            near(result, exact, 8 * size / 2**53)


@pytest.mark.parametrize("algorithm", ["greedy", "two_stacks", "daba", "operator_scan"])
def test_products_within_range_whose_parts_are_not(algorithm):
    values = [1e200, 1e200, 1e-200, 1e-200]
    assert rollstat.rolling_prod(values, 4, algorithm=algorithm)[-1] == pytest.approx(1, rel=1e-15)
    assert rollstat.rolling_weighted_mean([1e-200, 3e-200], [1e-200] * 2, 2)[-1] == 2e-200
    mean = rollstat.rolling_decayed_mean([1e308] * 20, 20, 0.9, algorithm=algorithm)[-1]
    assert mean == pytest.approx(1e308, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "outlier"), [("prod", 1e-300), ("decayed_sum", 1e300), ("decayed_mean", 1e300)]
)
def test_a_window_does_not_depend_on_other_windows(name, outlier, rng):
    """Blocks of moderate values are combined without exponents, which gives equal bits."""
    values = rng.standard_normal(500)
    values = np.exp(values / 10) if name == "prod" else values
    other = values.copy()
    other[250] = outlier
    function, parameters = getattr(rollstat, f"rolling_{name}"), STATISTICS[name][0]
    for algorithm in ("operator_scan", "greedy"):
        plain = function(values, 30, **parameters, algorithm=algorithm)
        extreme = function(other, 30, **parameters, algorithm=algorithm)
        assert plain[:250].tobytes() == extreme[:250].tobytes()
        assert plain[280:].tobytes() == extreme[280:].tobytes()


def test_splitting_and_joining_are_exact(rng):
    for x in [*EXTREME.tolist(), *(2.0 ** rng.integers(-1074, 1024, 50)).tolist()]:
        part, exponent = scaled.split(x, 0)
        assert part == 0 or 2.0**-256 <= abs(part) < 2.0**256
        assert scaled.join(part, exponent) == x
    assert scaled.join(3.0 * 2.0**-51, -1024) == 2 * 5e-324  # 1.5 units, rounded once
    assert scaled.join(1.0, 1024) == np.inf
    assert scaled.add_scaled(scaled.ZERO, scaled.split(1e-300, 0)) == scaled.split(1e-300, 0)


def test_exponents_of_products_bound_every_window(rng):
    for longest in (1, 3, 70, 200):
        values = rng.choice([0.0, -0.0, 1e-3, -7.0, 0.75, 1.0, 2.0**40], 300)
        _, _, down, up, finite = magnitudes(read_only(values).view(np.uint64), longest)
        logarithms = np.log2(np.where(values == 0, 1, abs(values)))
        for i in range(300):
            totals = np.cumsum(logarithms[i : i + longest])
            assert -down <= totals.min()
            assert totals.max() <= up
        assert finite
    assert not magnitudes(read_only(np.array([1.0, -np.inf])).view(np.uint64), 1)[4]
    assert not magnitudes(read_only(np.array([np.nan])).view(np.uint64), 1)[4]


def test_noise_with_zeros_is_multiplied_without_exponents(rng):
    values = rng.standard_normal(5000)
    values[::50] = 0.0
    limits = without_exponents(Product, Product(), 100)[2]
    assert combine_within_range(values, limits, 100)
    assert combine_within_range(np.full(9, 2.0**300), without_exponents(Product, Product(), 3)[2], 3)
    assert not combine_within_range(np.full(9, 2.0**300), limits, 100)
    assert not combine_within_range(np.array([5e-324]), limits, 1)
