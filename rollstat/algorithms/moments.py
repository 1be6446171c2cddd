"""Statistics of one series that follow from sums of powers.

Every function writes one row of `out` for each window of `block`; insufficient rows are undefined. Values
are summed in float64, whatever their dtype. With ``u = 2**-53`` and a window of `m` observations, the
relative error of a result is at most

===========================  =========================================================
sum, mean                    ``24 u * sum(abs(x)) / abs(sum(x))``
variance                     ``80 u * k``, where ``k = 1 + (c - mean)**2 / variance``
deviation, standard error    half of that
skewness, kurtosis           ``O(u * k**1.5)`` and ``O(u * k**2)``
===========================  =========================================================

to first order in u. `c` is one value of the window, so `k` is at most ``m + 1``, and small on almost all
data. Values outside a window have no influence.
"""

from typing import Any

from numpy.typing import NDArray

import rollstat.operators as operators
from rollstat.algorithms.aggregate import aggregate, prepare
from rollstat.algorithms.window_sums import (
    block_rows,
    deliver,
    differences,
    evaluate,
    observations,
    working_row,
)
from rollstat.blocks import Block, Outcome
from rollstat.dtypes import is_large
from rollstat.kernels.sums.moment_formulas import (
    Deviation,
    Kurtosis,
    Mean,
    Skewness,
    Sum,
    Summand,
    Variance,
    traits,
)

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
    """Write the only output of `summand`."""
    result = working_row(out)
    values = differences(block)[0] if traits(summand).shifted else observations(block)
    outcome = evaluate(block, summand, result[None], values)
    deliver(result, out)
    return outcome


def sums(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the sum, 0 for windows without observations."""
    return _write(block, Sum(), out)


def means(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the arithmetic mean; that of large integers is rounded once."""
    if is_large(block.values):
        aggregate(block, *prepare(operators.Mean(), [block.values.dtype]), [out])
        return Outcome(algorithm="operator_scan")
    return _write(block, Mean(), out)


def variances(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Write the variance, the central sum of squares divided by count - `ddof`; it is never negative."""
    return _write(block, Variance(float(ddof)), out)


def deviations(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Write the standard deviation, the square root of the variance."""
    return _write(block, Deviation(float(ddof), 0.0), out)


def standard_errors(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Write the standard error of the mean, the deviation divided by the square root of the count."""
    return _write(block, Deviation(float(ddof), 1.0), out)


def skewnesses(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the unbiased skewness (adjusted Fisher-Pearson); NaN where all observations are equal."""
    return _write(block, Skewness(), out)


def kurtoses(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the unbiased excess kurtosis; NaN where all observations are equal."""
    return _write(block, Kurtosis(), out)
