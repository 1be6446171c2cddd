"""Rolling products, and what asks whether and which."""

from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import first_last as window_ends
from rollstat.algorithms.aggregate import ALGORITHMS
from rollstat.functions.apply import COMBINE_COST, COMBINE_SOURCE, combine, ends, operators
from rollstat.functions.common import statistic
from rollstat.options import CommonOptions, Window

__all__ = [
    "rolling_all",
    "rolling_any",
    "rolling_first",
    "rolling_last",
    "rolling_logsumexp",
    "rolling_prod",
]


@statistic(
    family="aggregate",
    kinds="fiub",
    exact=False,
    cost=COMBINE_COST,
    source=COMBINE_SOURCE,
    algorithms=ALGORITHMS,
)
def rolling_prod(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Product of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray
        Floats in the dtype of `arr`. Products of integers are exact: as int64 or uint64 with
        ``mode="valid"`` or ``fill_value=``, else as float64. With ``min_periods=0`` an empty window
        gives 1.

    Raises
    ------
    OverflowError
        If an exact product does not fit its dtype. The error names the row, and `out` is untouched.
    {raises}

    Notes
    -----
    Missing values are no observations, and what has left the window has no influence, zero and inf
    included. The relative error of floats is at most ``(m - 1) u`` with u = 2**-53, as long as no product
    of a part of the window leaves the range of its dtype: that is inf or 0, and inf times 0 is NaN.

    Cost: O(1) multiplications an element amortised. Source: Tangwongsan, Hirzel and Schneider,
    *In-Order Sliding-Window Aggregation in Worst-Case Constant Time*, 2021, doi:10.1007/s00778-021-00668-3.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_prod([2, 0, 3, 4], 2, mode="valid")
    array([ 0,  0, 12])
    """
    return combine([arr], window, operators.Product(), "prod", options, required=0)[0]


@statistic(family="aggregate", kinds="fiub", cost=COMBINE_COST, source=COMBINE_SOURCE, algorithms=ALGORITHMS)
def rolling_any(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Whether any observation of each window is other than zero.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray
        As float64 with 1 for true; as bool with ``mode="valid"`` or ``fill_value=``.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are no observations. Cost: O(1) an element amortised. Source: as
    :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_any([0, 0, 1, 0], 2, mode="valid")
    array([False,  True,  True])
    """
    return ends(
        arr, window, window_ends.any_true, operators.AnyTrue(), "any", options, required=0, kind="truth"
    )


@statistic(family="aggregate", kinds="fiub", cost=COMBINE_COST, source=COMBINE_SOURCE, algorithms=ALGORITHMS)
def rolling_all(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Whether all observations of each window are other than zero.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray
        As float64 with 1 for true; as bool with ``mode="valid"`` or ``fill_value=``.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are no observations. Cost: O(1) an element amortised. Source: as
    :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_all([1, 2, 0, 1], 2, mode="valid")
    array([ True, False, False])
    """
    return ends(
        arr, window, window_ends.all_true, operators.AllTrue(), "all", options, required=0, kind="truth"
    )


@statistic(
    family="aggregate",
    kinds="fiub",
    cost=COMBINE_COST,
    source=COMBINE_SOURCE,
    algorithms=ALGORITHMS,
    pandas="first",
)
def rolling_first(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Oldest observation of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray
        In the dtype of `arr`, integers as float64 unless no result can be missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are no observations. Cost: O(1) an element amortised. Source: as
    :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_first([3, 1, 2], 2, mode="valid")
    array([3, 1])
    """
    return ends(arr, window, window_ends.oldest, operators.First(), "first", options)


@statistic(
    family="aggregate",
    kinds="fiub",
    cost=COMBINE_COST,
    source=COMBINE_SOURCE,
    algorithms=ALGORITHMS,
    pandas="last",
)
def rolling_last(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Newest observation of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray
        In the dtype of `arr`, integers as float64 unless no result can be missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are no observations. Cost: O(1) an element amortised. Source: as
    :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_last([3.0, float("nan"), 2.0], 2, min_periods=1)
    array([3., 3., 2.])
    """
    return ends(arr, window, window_ends.newest, operators.Last(), "last", options)


@statistic(
    family="aggregate",
    kinds="fiub",
    exact=False,
    cost=COMBINE_COST,
    source=COMBINE_SOURCE,
    algorithms=ALGORITHMS,
)
def rolling_logsumexp(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Logarithm of the sum of the exponentials of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray of float
        Float32 for float32, else float64. With ``min_periods=0`` an empty window gives -inf.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are no observations. The largest value of the window is taken out before exponentials
    are formed, so nothing overflows. The absolute error is at most about ``3 m u`` with u = 2**-53.

    Cost: O(1) combinations an element amortised. Source: as :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_logsumexp([1000.0, 1000.0], 2).round(3)
    array([     nan, 1000.693])
    """
    return combine([arr], window, operators.LogSumExp(), "logsumexp", options, required=0, kind="float")[0]
