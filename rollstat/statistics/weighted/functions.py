"""Weighted sums and means, with positional weights; weighted medians and quantiles."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat._extras import if_installed
from rollstat.options import CommonOptions, Window, choice, whole_number
from rollstat.statistics.common import call, check_number, numbers, statistic
from rollstat.statistics.ranks.rank_space import RANK_SET
from rollstat.statistics.weighted.convolution import ALGORITHMS, RESULTS, Convolution
from rollstat.statistics.weighted.order_statistics import WeightedQuantile

_ORDER: dict[str, Any] = {
    "family": "ranks",
    "kinds": "fiub",
    "series": 2,
    "algorithms": RANK_SET,
    "cost": "O(log m) for each row that enters or leaves, in the worst case",
    "source": "Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms: a tree of sums over ranks",
}


def _weights(weights: Any, window: Any) -> NDArray[np.float64]:
    """Return the positional weights, or raise."""
    if isinstance(weights, str) or (isinstance(weights, tuple) and weights and isinstance(weights[0], str)):
        rows = whole_number("window", window, 1)
        if weights == "linear":
            return np.arange(1.0, rows + 1)
        windows = if_installed("scipy.signal.windows")
        if windows is None:
            raise ModuleNotFoundError(f"weights={weights!r} needs scipy", name="scipy")
        try:
            return np.asarray(windows.get_window(weights, rows, False), np.float64)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"weights must be numbers, 'linear' or a window of scipy.signal; got {weights!r}"
            ) from error
    found = np.atleast_1d(numbers("weights", weights)).astype(np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise ValueError(f"weights must be a series of finite numbers; got {weights!r}")
    return found


@statistic(
    family="sum",
    kinds="fiub",
    samples=({"weights": (1.0, 2.0, 4.0)}, {"weights": (0.5, 1.0), "result": "mean"}),
    exact=False,
    ordered=True,
    error_bound=("(m + 2) * u * sum(abs(w * arr))",),
    algorithms=ALGORITHMS,
    cost="O(m) vector operations; O(log m) with fft",
    source="definition; Stockham (1966), doi:10.1145/1464182.1464209, for transforms",
)
def rolling_convolve(
    arr: ArrayLike,
    weights: ArrayLike | str | tuple[Any, ...],
    window: Window = None,
    result: str = "sum",
    ddof: int = 1,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Weighted sum or mean of each window, with positional weights.

    Parameters
    ----------
    {numbers}
    weights : array_like of float, str or tuple
        The weight of each row of a window, the oldest first: the last one belongs to the newest row. Or the
        name of a window in :mod:`scipy.signal.windows`, or a tuple of name and parameters such as
        ``("gaussian", 2.0)``, or ``"linear"`` for weights of 1 to m; `window` is then the number of rows.
    window : int, str, timedelta, number, (start, end), Expanding, Forward or BaseIndexer, optional
        The window of each row; see :ref:`windows`. Default: as many rows as there are weights. In longer
        windows the oldest rows have no weight.
    result : {"sum", "mean", "var", "std"}, default "sum"
        The weighted sum; the weighted sum divided by the observations' total weight; the weighted
        variance about this mean, or its root.
    ddof : int, default 1
        Delta degrees of freedom: variances are multiplied by ``m / (m - ddof)`` for m weights, as in pandas.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If an array, the weights, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    ``numpy.convolve(arr, weights[::-1], "valid")`` for complete data. Missing values and rows beyond the ends
    of the series are ignored: a sum omits them, and a mean divides by the weights of the observations, like
    pandas' ``rolling(win_type=...)``. Where a centred window is cut short at the end of the data, the last
    weights are omitted. The error of a sum is at most ``{error bound}`` for m weights w, with u = 2**-53, and
    values that have left the window have no influence.

    Row windows with more than 200 weights use a fast Fourier transform if SciPy is installed and no value
    in a block of rows is more than 256 times as large as the mean magnitude. Its error is at most about
    ``log2(m) * u * norm(w) * norm(x)`` for the values x in about 8 m rows around the window. Pass
    ``algorithm="direct"`` to guarantee the first bound.

    Cost: O(m) vector operations per element, O(log m) operations with a transform. Source: the definition;
    Stockham (1966), doi:10.1145/1464182.1464209, for overlapping pieces.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_convolve([1.0, 2.0, 4.0, 8.0], [1.0, 3.0])
    array([nan,  7., 14., 28.])
    >>> rollstat.rolling_convolve([1.0, 2.0, 4.0, 8.0], "linear", 3, result="mean")
    array([       nan,        nan, 2.83333333, 5.66666667])
    """
    numbers("arr", arr)
    choice("result", result, RESULTS)
    values = _weights(weights, window)
    parameters: dict[str, Any] = {"weights": values, "result": result, "ddof": whole_number("ddof", ddof, 0)}
    window = len(values) if window is None else window
    return call(Convolution, [arr], window, options, "convolve", ALGORITHMS, **parameters)


def _quantile(name: str, arr: ArrayLike, other: ArrayLike, window: Window, q: Any, options: Any) -> Any:
    """Return the call of weighted quantiles."""
    q = check_number("q", q, 0, 1)
    for title, array in (("arr", arr), ("other", other)):
        numbers(title, array)
    return call(WeightedQuantile, [arr, other], window, options, name, RANK_SET, q=q)


@statistic(samples=({"q": 0.25}, {"q": 0.8}, {"q": 0.0}), **_ORDER)
def rolling_weighted_quantile(
    arr: ArrayLike, other: ArrayLike, window: Window, q: float, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Weighted quantile of each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The weight of each row.
    {window}
    q : float
        Proportion of the weight, between 0 and 1.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `q`, an array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    The smallest observation whose cumulative weight is at least q times the total weight of the window, as in
    :func:`numpy.quantile` with ``method="inverted_cdf"`` and `weights`. A weight of 2 has the same effect as
    repeating the row, so the result equals SQL's ``PERCENTILE_DISC`` over repeated rows. With equal weights,
    the median is the lower of two middle observations. (Other definitions interpolate: they return values
    that were not observed, and repeating a row can have a different effect from a weight of 2.)

    A row where the value or the weight is missing is ignored. Rows of weight 0 are observations, but never
    the result. The result is missing if a weight in the window is negative, or all are 0, or their sum is
    infinite. Results are exact for weights whose sums float64 does not round, such as integers. Otherwise a
    cumulative weight may fall short of q times the total by ``2**-40`` of the total, more than rounding can
    cause. Nothing is subtracted from a sum, so rows that have left the window have no influence.

    Cost: O(log m) for each row that enters or leaves a window, in the worst case. Source: a tree over ranks
    that sums weights, Cormen, Leiserson, Rivest and Stein, *Introduction to Algorithms*, chapter 14.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_weighted_quantile([4.0, 1.0, 3.0, 2.0], [1, 1, 5, 1], 3, 0.5)
    array([nan, nan,  3.,  3.])
    """
    return _quantile("weighted_quantile", arr, other, window, q, options)


@statistic(**_ORDER)
def rolling_weighted_median(
    arr: ArrayLike, other: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Weighted lower median of each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The weight of each row.
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
    :func:`rolling_weighted_quantile` with q = 0.5: the smallest observation whose cumulative weight is at
    least half of the total. The same rules apply to missing values and weights.

    Cost and Source: as in :func:`rolling_weighted_quantile`.

    Examples
    --------
    >>> import rollstat
    >>> price, volume = [4.0, 1.0, 3.0, 2.0], [1, 1, 5, 1]
    >>> rollstat.rolling_weighted_median(price, volume, 3)
    array([nan, nan,  3.,  3.])
    """
    return _quantile("weighted_median", arr, other, window, 0.5, options)
