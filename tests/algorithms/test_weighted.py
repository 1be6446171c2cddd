"""Weighted means: against their definition in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from rollstat.algorithms import weighted
from rollstat.blocks import UNKNOWN, Block

UNIT = 2.0**-53


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
