"""Rolling products, logical tests, first and last observations, and log-sum-exp."""

from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import first_last as window_ends
from rollstat.options import CommonOptions, Window
from rollstat.statistics.common import COMBINED, combine, ends, operators, statistic

__all__ = [
    "rolling_all",
    "rolling_any",
    "rolling_first",
    "rolling_last",
    "rolling_logsumexp",
    "rolling_prod",
]


@statistic(exact=False, error_bound=("m * u * abs(result)",), **COMBINED)
def rolling_prod(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Product of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`. Products of integers and bool are exact; they are int64 or uint64 with
        ``mode="valid"`` or ``fill_value=``, otherwise float64. With ``min_periods=0`` the product of an empty
        window is 1.

    Raises
    ------
    OverflowError
        If an exact product does not fit its dtype. The message names the row; `out` is not changed.
    {raises}

    Notes
    -----
    Missing values are ignored, and values that left the window never affect later results, not even 0 and
    inf. The error of floats is at most ``{error bound}`` for m observations, with u = 2**-53. Products of
    parts of the window neither overflow nor underflow.

    Cost: O(1) multiplications per element amortised. Source: Tangwongsan, Hirzel and Schneider,
    *In-Order Sliding-Window Aggregation in Worst-Case Constant Time*, 2021, doi:10.1007/s00778-021-00668-3.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_prod([2, 0, 3, 4], 2, mode="valid")
    array([ 0,  0, 12])
    """
    return combine([arr], window, operators.Product(), "prod", options, required=0)


@statistic(**COMBINED)
def rolling_any(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Whether any observation of each window is nonzero.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        bool with ``fill_value=``, or with ``mode="valid"`` if no result can be missing, as of integers;
        otherwise float64: 1 for true, 0 for false, NaN where missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. Results are exact.

    Cost: O(1) per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_any([0, 0, 1, 0], 2, mode="valid")
    array([False,  True,  True])
    """
    return ends(
        arr, window, window_ends.any_true, operators.AnyTrue(), "any", options, required=0, kind="truth"
    )


@statistic(**COMBINED)
def rolling_all(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Whether all observations of each window are nonzero.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        bool with ``fill_value=``, or with ``mode="valid"`` if no result can be missing, as of integers;
        otherwise float64: 1 for true, 0 for false, NaN where missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. Results are exact.

    Cost: O(1) per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_all([1, 2, 0, 1], 2, mode="valid")
    array([ True, False, False])
    """
    return ends(
        arr, window, window_ends.all_true, operators.AllTrue(), "all", options, required=0, kind="truth"
    )


@statistic(pandas="first", **COMBINED)
def rolling_first(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Oldest observation of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`. Integers and bool keep their dtype with ``fill_value=``, or with
        ``mode="valid"`` if no result can be missing; otherwise they are float64, with NaN for a missing
        result.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. Results are exact. With ``keep_dtype=True`` the method of the pandas accessor
    also takes datetimes and strings.

    Cost: O(1) per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_first([3, 1, 2], 2, mode="valid")
    array([3, 1])
    """
    return ends(arr, window, window_ends.oldest, operators.First(), "first", options)


@statistic(pandas="last", **COMBINED)
def rolling_last(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Newest observation of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`. Integers and bool keep their dtype with ``fill_value=``, or with
        ``mode="valid"`` if no result can be missing; otherwise they are float64, with NaN for a missing
        result.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. Results are exact. With ``keep_dtype=True`` the method of the pandas accessor
    also takes datetimes and strings.

    Cost: O(1) per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_last([3.0, float("nan"), 2.0], 2, min_periods=1)
    array([3., 3., 2.])
    """
    return ends(arr, window, window_ends.newest, operators.Last(), "last", options)


@statistic(exact=False, error_bound=("(3 * m + 8 + 2 * abs(result)) * u",), **COMBINED)
def rolling_logsumexp(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Logarithm of the sum of the exponentials of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray of float, shape (..., rows, ...)
        float32 for float32 input, otherwise float64. With ``min_periods=0`` the result of an empty window is
        -inf.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. The largest value of the window is subtracted before exponentials are
    computed, so nothing overflows. The error is at most ``{error bound}`` for m observations, with
    u = 2**-53.

    Cost: O(1) combinations per element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_logsumexp([1000.0, 1000.0], 2).round(3)
    array([     nan, 1000.693])
    """
    return combine([arr], window, operators.LogSumExp(), "logsumexp", options, required=0, kind="float")
