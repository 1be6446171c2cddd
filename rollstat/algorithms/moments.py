"""Statistics of one series that follow from sums of powers.

Every function writes one row of `out` for each window of `block`; rows with too few observations may
get anything. Values are summed in float64 whatever their dtype. With ``u = 2**-53`` and `m` the
observations of a window, no result is off by more than (relative to its own size)

===========================  =========================================================
sum, mean                    ``24 u * sum(abs(x)) / abs(sum(x))``
variance                     ``80 u * k``, where ``k = 1 + (c - mean)**2 / variance``
deviation, standard error    half of that
skewness, kurtosis           ``O(u * k**1.5)`` and ``O(u * k**2)``
===========================  =========================================================

to first order in u. `c` is one value of the window, so that `k` is a small number on all but contrived
data, and at most ``m + 1`` on any. Nothing outside a window has any influence.
"""

from typing import Any

from numpy.typing import NDArray

from rollstat.algorithms.window_sums import block_rows, deliver, evaluate, observations, working_row
from rollstat.blocks import Block, Outcome
from rollstat.kernels.sums.moment_formulas import Deviation, Kurtosis, Mean, Skewness, Sum, Summand, Variance

__all__ = [
    "block_rows",
    "deviations",
    "kurtoses",
    "means",
    "skewnesses",
    "standard_errors",
    "sums",
    "variances",
]


def _write(block: Block, summand: Summand, out: NDArray[Any]) -> Outcome:
    """Evaluate a summand of one output."""
    result = working_row(out)
    outcome = evaluate(block, summand, result[None], observations(block))
    deliver(result, out)
    return outcome


def sums(block: Block, out: NDArray[Any]) -> Outcome:
    """Sum; 0 where nothing is observed."""
    return _write(block, Sum(), out)


def means(block: Block, out: NDArray[Any]) -> Outcome:
    """Arithmetic mean."""
    return _write(block, Mean(), out)


def variances(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Sum of squares about the mean, over the number of observations less `ddof`; never negative."""
    return _write(block, Variance(float(ddof)), out)


def deviations(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Standard deviation, the root of the variance."""
    return _write(block, Deviation(float(ddof), 0.0), out)


def standard_errors(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Standard error of the mean, the deviation over the root of the number of observations."""
    return _write(block, Deviation(float(ddof), 1.0), out)


def skewnesses(block: Block, out: NDArray[Any]) -> Outcome:
    """Skewness without bias (Fisher-Pearson, adjusted); NaN where all observations are equal."""
    return _write(block, Skewness(), out)


def kurtoses(block: Block, out: NDArray[Any]) -> Outcome:
    """Excess kurtosis without bias; NaN where all observations are equal."""
    return _write(block, Kurtosis(), out)
