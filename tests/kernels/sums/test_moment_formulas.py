"""Summands: the outputs equal the statistic by its definition."""

import numpy as np
import pytest

from rollstat.blocks import UNKNOWN, Block
from rollstat.kernels.sums.moment_formulas import traits
from rollstat.operators import (
    Correlation,
    Covariance,
    Kurtosis,
    LinearFit,
    Mean,
    Skewness,
    Slope,
    StandardDeviation,
    StandardError,
    Sum,
    Variance,
)
from rollstat.operators.moments import LinearFitByRow
from rollstat.statistics.sums.window_sums import evaluate, observations

# A list, for tuples of different classes may be equal.
DEFINITIONS = [
    (Sum(), lambda x, y: np.sum(x)),
    (Mean(), lambda x, y: np.mean(x)),
    (Variance(1), lambda x, y: np.var(x, ddof=1)),
    (StandardDeviation(0), lambda x, y: np.std(x)),
    (StandardError(1), lambda x, y: np.std(x, ddof=1) / np.sqrt(len(x))),
    (Skewness(), lambda x, y: skewness(x)),
    (Kurtosis(), lambda x, y: kurtosis(x)),
    (Covariance(1), lambda x, y: np.cov(x, y)[0, 1]),
    (Correlation(), lambda x, y: np.corrcoef(x, y)[0, 1]),
    (Slope(), lambda x, y: np.polyfit(y, x, 1)[0]),
    (LinearFitByRow(), lambda x, y: [np.polyfit(y, x, 1)[0], x.mean(), np.corrcoef(x, y)[0, 1] ** 2]),
    (LinearFit(), lambda x, y: [*np.polyfit(y, x, 1), np.corrcoef(x, y)[0, 1] ** 2]),
]


def skewness(x):
    n, d = len(x), x - x.mean()
    return n * np.sqrt(n - 1) / (n - 2) * np.sum(d**3) / np.sum(d**2) ** 1.5


def kurtosis(x):
    n, d = len(x), x - x.mean()
    ratio = n * (n + 1) * np.sum(d**4) / np.sum(d**2) ** 2
    return (n - 1) / ((n - 2) * (n - 3)) * (ratio - 3 * (n - 1))


@pytest.mark.parametrize(
    ("summand", "definition"), DEFINITIONS, ids=lambda v: None if callable(v) else str(v)
)
@pytest.mark.parametrize("width", [5, 19])
@pytest.mark.parametrize("fixed", [True, False])
def test_definitions(summand, definition, width, fixed, rng):
    x, y = rng.standard_normal((2, 60))
    start = np.arange(61 - width)
    block = (
        Block.regular(x, UNKNOWN, width, (y,)) if fixed else Block(x, UNKNOWN, start, start + width, 0, (y,))
    )
    out = np.empty((len(traits(summand).powers), block.rows))
    evaluate(block, summand, out, observations(block), observations(block, 1))
    expected = [definition(x[i : i + width], y[i : i + width]) for i in start]
    assert out.T.reshape(np.shape(expected)) == pytest.approx(np.array(expected), rel=1e-11, abs=1e-13)
