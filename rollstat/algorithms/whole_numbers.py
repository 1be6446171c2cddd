"""Integers of 64 bits as numbers whose differences float64 arithmetic does not round.

::

    all within 2**53 of 0                    float64
    all within 2**53 of an anchor            float64, less the anchor
    others                                   int64, for operators that subtract one value of the window

Deviations, and what follows from them, do not depend on the anchor.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.dtypes import EXACT
from rollstat.kernels.sums.moment_formulas import (
    Correlation,
    Covariance,
    Deviation,
    Kurtosis,
    Line,
    Skewness,
    Summand,
    Variance,
)
from rollstat.operators import moments as built_in

__all__ = ["about_anchor", "operator_for"]

_WRAP = 1 << 64
moments: Any = built_in  # type checkers take class attributes of the operators for fields


def about_anchor(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], int]:
    """Return integers less an anchor, and the anchor.

    Parameters
    ----------
    values : ndarray of int64 or uint64
        The integers.
    missing : ndarray of bool, or None
        Where there is no observation. The result has any number there.

    Returns
    -------
    less : ndarray of float64 or int64
        Exact differences from the anchor; int64 where float64 would round some.
    anchor : int
        What was subtracted.
    """
    observed = values if missing is None else values[~missing]
    low, high = (int(observed.min()), int(observed.max())) if len(observed) else (0, 0)
    anchor = low + (high - low + 1) // 2  # half the range to both sides fits in int64
    less = (values.view(np.uint64) - np.uint64(anchor % _WRAP)).view(np.int64)
    return (less.astype(np.float64) if high - low <= 2 * EXACT else less), anchor


def operator_for(summand: Summand) -> Any:
    """Return the operator over integers whose results are those of a shifted summand."""
    if isinstance(summand, Variance):
        return moments.IntegerVariance(int(summand.ddof))
    if isinstance(summand, Deviation):
        kind: Any = moments.IntegerStandardError if summand.error else moments.IntegerStandardDeviation
        return kind(int(summand.ddof))
    if isinstance(summand, (Skewness, Kurtosis)):
        return moments.IntegerSkewness() if isinstance(summand, Skewness) else moments.IntegerKurtosis()
    if isinstance(summand, Covariance):
        return moments.IntegerCovariance(int(summand.ddof))
    if isinstance(summand, Correlation):
        return moments.IntegerSlope() if summand.slope else moments.IntegerCorrelation()
    assert isinstance(summand, Line)
    return moments.IntegerLine(summand.intercept)
