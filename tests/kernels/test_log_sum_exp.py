"""Log-sum-exp: against decimal arithmetic of 40 digits."""

from decimal import Decimal, localcontext

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


@pytest.mark.parametrize("huge", [1e16, 1e300, np.inf])
def test_nothing_stays_of_what_left(huge, rng):
    values = rng.standard_normal(200)
    spoilt = values.copy()
    spoilt[100] = huge
    start = np.arange(181)
    untouched = np.r_[0:81, 101:181]
    plain = evaluate(weighted.log_sums_of_exponentials, values, start, start + 20)
    after = evaluate(weighted.log_sums_of_exponentials, spoilt, start, start + 20)
    assert after[untouched] == pytest.approx(plain[untouched], rel=1e-13, abs=1e-14)
