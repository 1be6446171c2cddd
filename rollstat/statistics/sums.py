"""Rolling sums, means and counts."""

from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import first_last as window_ends
from rollstat.algorithms import moments
from rollstat.algorithms.aggregate import ALGORITHMS
from rollstat.kernels.sums.moment_formulas import Mean, Sum
from rollstat.options import CommonOptions, Window
from rollstat.statistics.common import (
    COMBINED,
    check_decay,
    combine,
    ends,
    formula,
    numbers,
    operators,
    statistic,
)

__all__ = [
    "rolling_count",
    "rolling_decayed_mean",
    "rolling_decayed_sum",
    "rolling_mean",
    "rolling_sum",
    "rolling_weighted_mean",
]

_SUM: dict[str, Any] = {
    "family": "sum",
    "kinds": "fiub",
    "cost": "O(1) amortised, O(m) worst case",
    "algorithms": ALGORITHMS,
}
_SCAN = "van Herk (1992), Gil and Werman (1993); sums by two-sum after Knuth and Dekker"
_DECAY: dict[str, Any] = {**COMBINED, "exact": False, "samples": ({"decay": 0.5}, {"decay": 0.9})}


@statistic(exact=False, error_bound=("24 * u * sum(abs(arr))",), source=_SCAN, pandas="sum", **_SUM)
def rolling_sum(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Sum of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`. Integers and bool are summed exactly; the sums are int64 or uint64 with
        ``mode="valid"`` or ``fill_value=``, otherwise float64. With ``min_periods=0`` the sum of an empty
        window is 0.

    Raises
    ------
    OverflowError
        If an exact sum does not fit its dtype. The message names the row; `out` is not changed.
    {raises}

    Notes
    -----
    Missing values are ignored. Nothing is ever subtracted, so values that have left the window have no
    influence, even 1e16, inf or NaN. The error of a floating sum is at most ``{error bound}`` with
    u = 2**-53, for any window; sums of values of one sign are accurate to a few units in the last place.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: block scans after van Herk (1992) and
    Gil and Werman (1993), doi:10.1109/34.211471, with compensated additions.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_sum([1e16, 1.0, 1.0, 1.0], 2)
    array([   nan, 1.e+16, 2.e+00, 2.e+00])
    """
    integral = numbers("arr", arr).dtype.kind in "iub"
    if integral or options.get("algorithm", "auto") != "auto":
        return combine([arr], window, operators.Sum(), "sum", options, required=0)
    return formula([arr], window, moments.sums, 0, options, summand=Sum())


@statistic(exact=False, error_bound=("25 * u * mean(abs(arr))",), source=_SCAN, pandas="mean", **_SUM)
def rolling_mean(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Mean of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored, and values that have left the window have no influence. The error of
    floats is at most ``{error bound}`` with u = 2**-53: that of :func:`rolling_sum` plus one division.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_sum`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_mean([1.0, 2.0, 6.0], 2)
    array([nan, 1.5, 4. ])
    """
    if options.get("algorithm", "auto") != "auto":
        return combine([arr], window, operators.Mean(), "mean", options, kind="interpolated")
    return formula([arr], window, moments.means, 1, options, kind="interpolated", summand=Mean())


@statistic(min_periods=0, source="definition", **_SUM)
def rolling_count(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Number of observations in each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        float64 for floats. For other dtypes int64 (uint64 for unsigned integers) with ``mode="valid"`` or
        ``fill_value=``, otherwise float64, with NaN for a missing result.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are not counted. Counts are exact. Here the default of `min_periods` is 0, so every row has
    a count; the method ``count`` of the pandas accessor has the default of pandas.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: the definition.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_count([1.0, float("nan"), 6.0], 2)
    array([1., 1., 1.])
    """
    if options.get("min_periods") is None:
        options["min_periods"] = 0
    count = operators.Count()
    return ends(arr, window, window_ends.counts, count, "count", options, required=0, kind="integer")


@statistic(error_bound=("2 * m * u * sum(w * abs(arr))",), **_DECAY)
def rolling_decayed_sum(
    arr: ArrayLike, window: Window, decay: float, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Exponentially weighted sum of each window.

    Parameters
    ----------
    {numbers}
    {window}
    decay : float
        Ratio of the weights of an observation and the next newer one, above 0 and at most 1; the newest
        observation has weight 1. ``exp(-1 / n)`` gives a time constant of n observations,
        ``0.5 ** (1 / n)`` a half-life.
    {options}

    Returns
    -------
    ndarray of float, shape (..., rows, ...)
        float32 for float32 input, otherwise float64. With ``min_periods=0`` the sum of an empty window is 0.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored and do not age the others, as with ``ignore_na=True`` in pandas. Values that
    have left the window have no influence. The error is at most ``{error bound}`` for weights w and m
    observations, with u = 2**-53. Nothing overflows or underflows unless the result does.

    Cost: O(1) combinations of affine maps per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_decayed_sum([1.0, 2.0, 4.0], 2, 0.5)
    array([nan, 2.5, 5. ])
    """
    operator = operators.DecayedSum(check_decay(decay))
    return combine([arr], window, operator, "decayed_sum", options, required=0, kind="float")


@statistic(error_bound=("4 * m * u * sum(w * abs(arr)) / sum(w)",), **_DECAY)
def rolling_decayed_mean(
    arr: ArrayLike, window: Window, decay: float, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Exponentially weighted mean over each window.

    Parameters
    ----------
    {numbers}
    {window}
    decay : float
        Ratio of the weights of an observation and the next newer one, above 0 and at most 1. It is
        ``1 - alpha`` of pandas' ``ewm``, which has no window.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored and do not age the others, as with ``ignore_na=True`` in pandas. Values that
    have left the window have no influence. The error is at most ``{error bound}`` for weights w and m
    observations, with u = 2**-53. Nothing overflows or underflows unless the result does.

    Cost: O(1) combinations per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_decayed_mean([1.0, 4.0], 2, 0.5)
    array([nan,  3.])
    """
    operator = operators.DecayedMean(check_decay(decay))
    return combine([arr], window, operator, "decayed_mean", options, kind="float")


@statistic(
    series=2,
    exact=False,
    error_bound=(
        "8 * u * sum(abs(arr * other)) / abs(sum(other)) "
        "if m * u * sum(abs(other)) < abs(sum(other)) else inf",
    ),
    **COMBINED,
)
def rolling_weighted_mean(
    arr: ArrayLike, other: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Mean of each window, weighted by another series.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The weight of each row.
    {window}
    {options}

    Returns
    -------
    ndarray of float, shape (..., rows, ...)
        float32 for float32 input, otherwise float64. NaN where missing, and where the weights of a window
        add up to 0.

    Raises
    ------
    {raises}

    Notes
    -----
    A row where the value or the weight is missing is ignored. Rows that have left the window have no
    influence. Sums are compensated: the error is at most
    ``{error bound}`` for m observations, with u = 2**-53. So weights of both signs must not cancel to less
    than ``m * u`` of their size: otherwise the result may be any number, inf or NaN. Nothing overflows or
    underflows unless the result does.

    Cost: O(1) combinations per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_weighted_mean([1.0, 4.0], [1.0, 2.0], 2)
    array([nan,  3.])
    """
    operator = operators.WeightedMean()
    return combine([arr, other], window, operator, "weighted_mean", options, kind="float")
