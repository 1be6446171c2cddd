"""Decayed sums: against their definition in exact fractions."""

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
        (weighted.decayed_sums, (np.array([0.9]),)),
        (weighted.decayed_means, (np.array([0.9]),)),
    ):
        plain = evaluate(function, values, start, start + 20, *parameters)
        after = evaluate(function, spoilt, start, start + 20, *parameters)
        assert after[untouched] == pytest.approx(plain[untouched], rel=1e-13, abs=1e-14)
