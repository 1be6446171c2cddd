"""Oracles against exact results, and against known ones where floating-point arithmetic misleads formulas."""

import math

import numpy as np
import pytest

from rollstat.registry import REGISTRY
from tests import oracles
from tests.fuzz.exact_results import RESULTS
from tests.test_contract import CASES, agree, arrays_for, bounds_of, expected

TOP = 2**53


def both(name, arrays, window, right, **parameters):
    """Compare a statistic with its oracle in every row, and with the known result in the last."""
    arrays = [np.asarray(array) for array in arrays]
    result = REGISTRY[name].function(*arrays, window=window, min_periods=1, **parameters)
    wanted = expected(REGISTRY[name], arrays, bounds_of(len(arrays[0]), window - 1, 1), parameters, 1)
    agree(REGISTRY[name], result, wanted)
    last = [column[-1] for column in wanted]
    assert last[0] == pytest.approx(right[0], rel=1e-14) if right[0] is not None else last[0] is None
    assert last[1:] == list(right[1:])


@pytest.mark.parametrize(
    ("statistic", "sample"),
    [case for case in CASES if case.values[0].name in set(RESULTS) - {"slope", "linear_fit"}],
)
def test_oracles_equal_exact_results(statistic, sample, rng, monkeypatch):
    arrays = arrays_for(statistic, rng, 60, np.dtype(np.float64))
    definition = expected(statistic, arrays, bounds_of(60, 6, 1), sample, 1)
    monkeypatch.setitem(oracles.ORACLES, statistic.name, oracles.oracle_of_exact_results(statistic.name))
    exact = expected(statistic, arrays, bounds_of(60, 6, 1), sample, 1)
    agree(statistic, tuple(np.array(column, float) for column in exact), definition)


@pytest.mark.parametrize("values", [[], [1.0, math.inf]])
def test_exact_moments_of_nothing_and_of_infinite_values_are_missing(values):
    row = len(values)
    view = oracles.View(values, [*range(row)], [], row, 0, row, None, None, np.dtype(np.float64))
    assert oracles.oracle_of_exact_results("var")(view, ddof=0) is None


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("middle", [TOP, 2**60, 2**62])
def test_hampel_distinguishes_integers_that_are_equal_as_floats(dtype, middle):
    # Three of four deviations are 0, 1 and 2: 3 is an outlier for a threshold of one, 2 is none for two.
    values = np.array([middle, middle + 1, middle + 2, middle - 1, middle + 3], dtype)
    both("hampel", [values], 5, (float(middle + 1), True), threshold=1.0, scale=1.0)
    both("hampel", [values], 5, (float(middle + 3), False), threshold=2.0, scale=1.0)


@pytest.mark.parametrize("level", [1000.0, -1000.0, 1e300, -1e300])
def test_logsumexp_of_values_whose_exponential_overflows(level):
    both("logsumexp", [[level, level]], 2, (level + math.log(2),))


def test_logsumexp_of_infinities():
    both("logsumexp", [[1.0, -np.inf]], 2, (1.0,))
    both("logsumexp", [[1.0, np.inf]], 2, (np.inf,))
    both("logsumexp", [[-np.inf, -np.inf]], 2, (-np.inf,))


def test_weights_that_cancel():
    both("weighted_mean", [[1.0, 2.0], [0.5, -0.5]], 2, (None,))
    both("weighted_mean", [[1.0, 2.0, 1.0], [1e16, 1.0, -1e16]], 3, (2.0,))
    both("weighted_mean", [[1.0, 1.0, 1.0, 1.0], [0.1, 0.2, -0.1, -0.2]], 4, (None,))
