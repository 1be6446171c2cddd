"""Weighted and decayed statistics and log-sum-exp: against their definitions, in more digits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from rollstat.algorithms import weighted
from rollstat.blocks import UNKNOWN, Block

UNIT = 2.0**-53


def windows(length, rng):
    start = np.sort(rng.integers(0, length, 60))
    return start, np.minimum(np.maximum.accumulate(start + rng.integers(0, 50, 60)), length)


def evaluate(function, values, start, end, *parameters, others=()):
    block = Block(values, UNKNOWN, start, end, 0, others)
    out = np.empty(block.rows)
    function(block, *parameters, out)
    return out


def exact_log_sum(values):
    with localcontext() as context:
        context.prec = 40
        total = sum((Decimal(x).exp() for x in values.tolist()), Decimal(0))
        return total.ln()


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0, 1000.0])
def test_log_sum_exp(scale, rng):
    values = scale * rng.standard_normal(300)
    values[rng.random(300) < 0.1] = np.nan
    start, end = windows(300, rng)
    out = evaluate(weighted.log_sums_of_exponentials, values, start, end)
    for i, j, result in zip(start, end, out):
        observed = values[i:j][~np.isnan(values[i:j])]
        if len(observed) == 0:
            assert result == -np.inf
        else:
            exact = exact_log_sum(observed)
            assert abs(Decimal(result) - exact) <= Decimal(UNIT) * (12 + 2 * abs(exact))


@pytest.mark.parametrize("step", [1e-3, -1e-3, 0.5])
def test_log_sum_exp_of_long_slopes(step):
    values = 100 + step * np.arange(3000.0)
    start = np.arange(0, 1500, 100)
    out = evaluate(weighted.log_sums_of_exponentials, values, start, start + 1500)
    for i, result in zip(start, out):
        exact = exact_log_sum(values[i : i + 1500])
        assert abs(Decimal(result) - exact) <= Decimal(UNIT) * (12 + 2 * abs(exact))


def test_log_sum_exp_of_infinities():
    values = np.array([1.0, -np.inf, -np.inf, np.inf, np.inf, 2.0, 3.0, -np.inf])
    start = np.arange(7)
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(values[:-1], values[1:])
    expected[3] = np.inf
    assert evaluate(weighted.log_sums_of_exponentials, values, start, start + 2) == pytest.approx(expected)


@pytest.mark.parametrize("fixed", [True, False])
def test_weighted_means(fixed, rng):
    values, weights = 1 + rng.random((2, 500))
    values[rng.random(500) < 0.1] = np.nan
    weights[rng.random(500) < 0.1] = np.nan
    width = 40
    if fixed:
        block = Block.regular(values, UNKNOWN, width, (weights,))
    else:
        start = np.arange(461)
        block = Block(values, UNKNOWN, start, start + width, 0, (weights,))
    out = np.empty(461)
    weighted.weighted_means(block, out)
    for i in range(0, 461, 20):
        x, w = values[i : i + width], weights[i : i + width]
        both = ~np.isnan(x) & ~np.isnan(w)
        pairs = [(Fraction(a), Fraction(b)) for a, b in zip(x[both].tolist(), w[both].tolist())]
        exact = sum(a * b for a, b in pairs) / sum(b for _, b in pairs)
        assert abs(Fraction(float(out[i])) - exact) <= 52 * UNIT * exact


def test_weight_zero_on_infinity_is_undefined_but_not_missing():
    values, weights = np.ones(60), np.ones(60)
    values[30], weights[30] = np.inf, 0.0
    block = Block.regular(values, UNKNOWN, 5, (weights,))
    out = np.empty(56)
    weighted.weighted_means(block, out)
    assert np.isnan(out[26:31]).all()
    assert (np.delete(out, np.r_[26:31]) == 1).all()


def decayed_exactly(values, weights):
    observed = ~np.isnan(values)
    terms = [Fraction(w) * Fraction(x) for w, x in zip(weights[observed].tolist(), values[observed].tolist())]
    return sum(terms, Fraction(0)), sum(map(Fraction, weights[observed].tolist()), Fraction(0))


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.9375, 1.0])
def test_decay_by_rows(decay, rng):
    values = rng.random(200)
    values[rng.random(200) < 0.1] = np.nan
    start, end = windows(200, rng)
    factors = np.array([decay])
    sums = evaluate(weighted.decayed_sums, values, start, end, factors)
    means = evaluate(weighted.decayed_means, values, start, end, factors)
    for i, j, total, mean in zip(start, end, sums, means):
        weights = decay ** np.arange(j - i - 1, -1, -1.0)
        exact, weight = decayed_exactly(values[i:j], weights)
        bound = (2 * min(j - i, 1 / (1 - decay) if decay < 1 else np.inf) + 8) * UNIT
        assert abs(Fraction(float(total)) - exact) <= Fraction(bound) * exact
        if weight:
            assert mean == pytest.approx(float(exact / weight), rel=2 * bound)
        else:
            assert np.isnan(mean)


def test_decay_by_times(rng):
    times = np.cumsum(rng.integers(0, 5, 200))
    values = rng.standard_normal(200)
    start, end = windows(200, rng)
    end = np.maximum(end, start + 1)
    end = np.minimum(np.maximum.accumulate(end), 200)
    factors = weighted.decay_factors(times, 3.0)
    out = evaluate(weighted.decayed_means, values, start, end, factors)
    for i, j, mean in zip(start, end, out):
        weights = 0.5 ** ((times[j - 1] - times[i:j]) / 3.0)
        assert mean == pytest.approx(np.average(values[i:j], weights=weights), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("huge", [1e16, 1e300, np.inf])
def test_nothing_stays_of_what_left(huge, rng):
    values = rng.standard_normal(200)
    spoilt = values.copy()
    spoilt[100] = huge
    start = np.arange(181)
    untouched = np.r_[0:81, 101:181]
    for function, parameters in (
        (weighted.log_sums_of_exponentials, ()),
        (weighted.decayed_sums, (np.array([0.9]),)),
        (weighted.decayed_means, (np.array([0.9]),)),
    ):
        plain = evaluate(function, values, start, start + 20, *parameters)
        after = evaluate(function, spoilt, start, start + 20, *parameters)
        assert after[untouched] == pytest.approx(plain[untouched], rel=1e-13, abs=1e-14)
