"""Rolling sums, means, counts, moments, products, logical tests, and first and last observations."""

from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.kernels.missing.counting import ALL, ANY, COUNT, NEWEST, OLDEST
from rollstat.options import CommonOptions, Window, check_flag, whole_number
from rollstat.statistics import boxes
from rollstat.statistics.aggregate.drivers import ALGORITHMS
from rollstat.statistics.common import (
    COMBINED,
    call,
    check_decay,
    check_target,
    combine,
    numbers,
    operators,
    statistic,
)
from rollstat.statistics.sums.deviations import Autocorrelation, MeanAbsoluteDeviation, ZScore
from rollstat.statistics.sums.ends import Ends
from rollstat.statistics.sums.window_sums import Sums

_SUM: dict[str, Any] = {
    "family": "sum",
    "kinds": "fiubm",
    "cost": "O(1) amortised, O(m) worst case",
    "algorithms": ALGORITHMS,
}
_SCAN = "van Herk (1992), Gil and Werman (1993); sums by two-sum after Knuth and Dekker"
_DECAY: dict[str, Any] = {**COMBINED, "exact": False, "ordered": True}
_DECAY["samples"] = {"decay": 0.5}, {"decay": 0.9}
_MOMENT: dict[str, Any] = {
    "family": "moments",
    "kinds": "fiub",
    "exact": False,
    "cost": "O(1) amortised, O(m) worst case",
    "source": (
        "Chan, Golub and LeVeque (1983), Algorithms for Computing the Sample Variance; van Herk (1992)"
    ),
}
_WITH_DDOF: dict[str, Any] = {**_MOMENT, "samples": ({"ddof": 1}, {"ddof": 0})}
_COMOMENT: dict[str, Any] = {
    **_MOMENT,
    "source": "Chan, Golub and LeVeque (1983), for products of two series; van Herk (1992)",
}
_SLOPE_BOUND = "100 * u * (k(arr) + k(x)) * sqrt(var(arr) / var(x))"


def _of_sums(
    arrays: list[ArrayLike],
    window: Window,
    summand: Any,
    required: int,
    options: CommonOptions,
    kind: str = "float",
    names: tuple[str, ...] = ("arr", "other"),
) -> Any:
    """Return the call of a statistic that follows from sums; it needs `required` observations."""
    for name, array in zip(names, arrays):
        numbers(name, array)
    return call(
        Sums, arrays, window, options, series_names=names, summand=summand, required=required, kind=kind
    )


def _with_ddof(kind: Any, arrays: list[ArrayLike], window: Window, ddof: int, options: CommonOptions) -> Any:
    """Return the call of a statistic of the class `kind` with the parameter `ddof`."""
    ddof = whole_number("ddof", ddof, 0)
    return _of_sums(arrays, window, kind(ddof), ddof + 1, options)


def _of_ends(
    arr: ArrayLike,
    window: Window,
    wanted: int,
    operator: Any,
    name: str,
    options: CommonOptions,
    required: int = 1,
    kind: str = "value",
) -> Any:
    """Return the call of a statistic of the ends of windows: by `operator` if an algorithm is named."""
    if options.get("algorithm", "auto") != "auto":
        return combine([arr], window, operator, name, options, required, kind)
    numbers("arr", arr)
    return call(Ends, [arr], window, options, statistic=wanted, required=required, kind=kind)


@statistic(exact=False, error_bound=("24 * u * sum(abs(arr))",), source=_SCAN, pandas="sum", **_SUM)
def rolling_sum(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Sum of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`. Integers and bool are summed exactly; the sums are int64 or uint64 with
        ``mode="valid"`` or ``fill_value=``, otherwise float64. Sums of timedeltas are also exact. With
        ``min_periods=0`` the sum of an empty window is 0.

    Raises
    ------
    OverflowError
        If an exact sum does not fit its dtype. The message names the row; `out` is not changed.
    {raises}

    Notes
    -----
    Missing values are ignored. Nothing is ever subtracted, so values that have left the window have no
    influence, even 1e16, inf or NaN. Tuples as `axis` and `window` give sums of boxes, with the options of
    :func:`rolling_min`. The error of a floating sum is at most ``{error bound}`` with
    u = 2**-53, for any window, or ``2 * log2(c) * u * sum(abs(arr))`` for large boxes of c elements; sums of
    values of one sign are accurate to a few units in the last place.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: block scans after van Herk (1992) and
    Gil and Werman (1993), doi:10.1109/34.211471, with compensated additions.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_sum([1e16, 1.0, 1.0, 1.0], 2)
    array([   nan, 1.e+16, 2.e+00, 2.e+00])
    """
    if isinstance(options.get("axis"), tuple):
        numbers("arr", arr)
        return boxes.box_moment(arr, window, "sum", dict(options))
    kind = numbers("arr", arr, durations=True).dtype.kind
    if kind == "m":
        return combine([arr], window, operators.IntegerSum(), "sum", options, 0, "value", durations=True)
    if kind in "iub" or options.get("algorithm", "auto") != "auto":
        return combine([arr], window, operators.Sum(), "sum", options, required=0)
    return _of_sums([arr], window, operators.Sum(), 0, options)


@statistic(exact=False, error_bound=("25 * u * mean(abs(arr))",), source=_SCAN, pandas="mean", **_SUM)
def rolling_mean(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Mean of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    {options}

    Returns
    -------
    ndarray of float or timedelta64, shape (..., rows, ...)
        float32 for float32 input, timedeltas rounded down to their unit, otherwise float64. NaN or NaT where
        missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored, and values that have left the window have no influence. Tuples as `axis` and
    `window` give means of boxes; see :func:`rolling_min`. The error of floats is at most ``{error bound}``
    with u = 2**-53: as for :func:`rolling_sum`, plus one division.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_sum`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_mean([1.0, 2.0, 6.0], 2)
    array([nan, 1.5, 4. ])
    """
    if isinstance(options.get("axis"), tuple):
        numbers("arr", arr)
        return boxes.box_moment(arr, window, "mean", dict(options))
    if numbers("arr", arr, durations=True).dtype.kind == "m":
        return combine(
            [arr], window, operators.sums.WholeMean(), "mean", options, kind="value", durations=True
        )
    if options.get("algorithm", "auto") != "auto":
        return combine([arr], window, operators.Mean(), "mean", options, kind="interpolated")
    return _of_sums([arr], window, operators.Mean(), 1, options, "interpolated")


@statistic(min_periods=0, source="definition", **_SUM | {"kinds": "fiub"})
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
    Missing values are not counted. Counts are exact. `min_periods` defaults to 0 here, so every row has
    a count; the pandas accessor's ``count`` has pandas' default.

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
    return _of_ends(arr, window, COUNT, count, "count", options, required=0, kind="integer")


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
        Ratio of an observation's weight to the weight of the next newer one, above 0 and at most 1; the
        newest observation has weight 1. ``exp(-1 / n)`` gives a time constant of n observations,
        ``0.5 ** (1 / n)`` a half-life of n observations.
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

    Cost: O(1) combinations of affine maps per element amortised. Source: as in :func:`rolling_aggregate`.

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
        Ratio of an observation's weight to the weight of the next newer one, above 0 and at most 1: pandas'
        ``1 - alpha``.
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

    Cost: O(1) combinations per element amortised. Source: as in :func:`rolling_aggregate`.

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
        "48 * u * sum(abs(arr * other)) / abs(sum(other)) "
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
    influence. The error is at most ``{error bound}`` for m observations, with u = 2**-53: sums are
    compensated if a weight is negative. If weights of both signs cancel to less than ``m * u`` of their
    size, the result may be any number, inf or NaN. Nothing overflows or underflows unless the result does.

    Cost: O(1) per element amortised. Source: as in :func:`rolling_sum`, or as in :func:`rolling_aggregate` if
    a weight is negative.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_weighted_mean([1.0, 4.0], [1.0, 2.0], 2)
    array([nan,  3.])
    """
    operator = operators.WeightedMean()
    return combine([arr, other], window, operator, "weighted_mean", options, kind="float")


@statistic(pandas="var", error_bound=("80 * u * k(arr) * result",), **_WITH_DDOF)
def rolling_var(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Variance of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {ddof}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; the result is missing if the window has at most `ddof` observations.
    Deviations are taken from one value c of the window, so a common offset does not reduce accuracy. Values
    that have left the window have no influence. Constant windows give exactly 0. The error is at most
    ``{error bound}``, where u = 2**-53 and ``k(arr) = 1 + (c - mean)**2 / variance``.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: block scans after van Herk (1992) and
    Gil and Werman (1993) with a shift inside the window, after Chan, Golub and LeVeque (1983),
    doi:10.1080/00031305.1983.10483115.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_var([1e9 + 1.0, 1e9 + 2.0, 1e9 + 4.0], 3)
    array([       nan,        nan, 2.33333333])
    """
    return _with_ddof(operators.Variance, [arr], window, ddof, options)


@statistic(pandas="std", error_bound=("40 * u * k(arr) * result",), **_WITH_DDOF)
def rolling_std(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Standard deviation of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {ddof}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    The square root of :func:`rolling_var`, with the same rules for missing values and constant windows.
    Tuples as `axis` and `window` give deviations of boxes; see :func:`rolling_min`. The error
    is at most ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_std([1.0, 2.0, 3.0], 3)
    array([nan, nan,  1.])
    """
    if isinstance(options.get("axis"), tuple):
        numbers("arr", arr)
        return boxes.box_moment(arr, window, "std", dict(options), whole_number("ddof", ddof, 0))
    return _with_ddof(operators.StandardDeviation, [arr], window, ddof, options)


@statistic(pandas="sem", error_bound=("40 * u * k(arr) * result",), **_WITH_DDOF)
def rolling_sem(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Standard error of the mean of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {ddof}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    :func:`rolling_std` divided by the square root of the number of observations, with the rules of
    :func:`rolling_var` for missing values and constant windows. The error is at most
    ``{error bound}``, with the same u and k.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_sem([1.0, 2.0, 3.0, 6.0], 4)
    array([       nan,        nan,        nan, 1.08012345])
    """
    return _with_ddof(operators.StandardError, [arr], window, ddof, options)


@statistic(pandas="skew", error_bound=("200 * u * k(arr) ** 1.5 * (1 + abs(result))",), **_MOMENT)
def rolling_skew(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Unbiased skewness of each window.

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
    Missing values are ignored; at least three observations are needed. Constant windows give NaN, as in
    pandas. Deviations are taken from one value of the window, and values that have left the window have no
    influence. The error is at most ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`; the adjusted
    Fisher-Pearson coefficient.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_skew([1.0, 2.0, 6.0], 3).round(4)
    array([   nan,    nan, 1.4579])
    """
    return _of_sums([arr], window, operators.Skewness(), 3, options)


@statistic(pandas="kurt", error_bound=("2000 * u * k(arr) ** 2 * (1 + abs(result))",), **_MOMENT)
def rolling_kurt(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Unbiased excess kurtosis of each window.

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
    Missing values are ignored; at least four observations are needed. Constant windows give NaN, as in
    pandas. Deviations are taken from one value of the window, and values that have left the window have no
    influence. The error is at most ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kurt([1.0, 2.0, 3.0, 9.0], 4).round(4)
    array([   nan,    nan,    nan, 3.0144])
    """
    return _of_sums([arr], window, operators.Kurtosis(), 4, options)


@statistic(
    series=2,
    samples=({"ddof": 1}, {"ddof": 0}),
    pandas="cov",
    error_bound=("80 * u * sqrt(k(arr) * k(other) * var(arr) * var(other))",),
    **_COMOMENT,
)
def rolling_cov(
    arr: ArrayLike, other: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Covariance of two series over each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The second series.
    {window}
    {ddof}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    A row where either series is missing is ignored; the result is missing if the window has at most `ddof`
    observations. Deviations of each series are taken from one of its values in the window, and values that
    have left the window have no influence. The error is at most
    ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_cov([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 3)
    array([nan, nan,  2.])
    """
    return _with_ddof(operators.Covariance, [arr, other], window, ddof, options)


@statistic(series=2, pandas="corr", error_bound=("100 * u * (k(arr) + k(other))",), **_COMOMENT)
def rolling_corr(
    arr: ArrayLike, other: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Pearson correlation of two series over each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The second series.
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
    Results lie in [-1, 1]. They are NaN where either series is constant. A row where either series is missing
    is ignored. Values that have left the window have no influence. The error is at most
    ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_corr([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 3)
    array([nan, nan,  1.])
    """
    return _of_sums([arr, other], window, operators.Correlation(), 1, options)


@statistic(
    series=2,
    error_bound=("100 * u * (k(arr) + k(other)) * sqrt(var(arr) / var(other))",),
    **_COMOMENT,
)
def rolling_beta(
    arr: ArrayLike, other: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Regression slope of one series on another over each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The explanatory series.
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
    The slope is the covariance of the two series divided by the variance of `other`. It is NaN where `other`
    is constant. A row where either series is missing is ignored; at least two observations are needed. Values
    that have left the window have no influence. The error is at most
    ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_beta([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], 3)
    array([nan, nan,  2.])
    """
    return _of_sums([arr, other], window, operators.Slope(), 2, options)


@statistic(error_bound=(_SLOPE_BOUND,), ordered=True, **_COMOMENT)
def rolling_slope(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Slope of the least-squares line through each window, per row.

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
    The slope of :func:`rolling_linear_fit`, in less time. A missing value is ignored, but counts as a row; at
    least two observations are needed. Values that have left the window have no influence. For the slope over
    another series see :func:`rolling_beta`. With u and k as in :func:`rolling_var` and the rows x of the
    window, counted from 0, the error is at most
    ``{error bound}``.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_slope([1.0, 3.0, 5.0, 5.0], 3)
    array([nan, nan,  2.,  1.])
    """
    return _of_sums([arr], window, operators.Slope(), 2, options)


@statistic(
    outputs=("slope", "intercept", "determination"),
    error_bound=(
        _SLOPE_BOUND,
        f"{_SLOPE_BOUND} * mean(abs(x)) + 30 * u * (mean(abs(arr)) + abs(slope) * mean(abs(x)))"
        " + mean(abs(x)) / 2**1074",
        "200 * u * (k(arr) + k(x))",
    ),
    ordered=True,
    **_COMOMENT,
)
def rolling_linear_fit(
    arr: ArrayLike, window: Window, x: ArrayLike | None = None, **options: Unpack[CommonOptions]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Least-squares line through each window.

    Parameters
    ----------
    {numbers}
    {window}
    x : array_like of float, int or bool, of the shape of `arr`, optional
        The explanatory series. Default: the rows of each window, counted from 0.
    {options}

    Returns
    -------
    slope, intercept, determination : ndarray of float, shape (..., rows, ...)
        The line, and the proportion of the variance that it explains (R²). R² is NaN where `arr` is
        constant, and all three are NaN where `x` is constant. float32 for float32 input, otherwise float64.

    Raises
    ------
    {raises}

    Notes
    -----
    A row where `arr` or `x` is missing is ignored, but counts as a row of the window; at least two
    observations are needed. Values that have left the window have no influence. With u and k as in
    :func:`rolling_var`, the error of the slope is at most
    ``{error bound}``. The error of the intercept is at most
    this bound times ``mean(abs(x))`` plus ``30 * u * (mean(abs(arr)) + abs(slope) * mean(abs(x)))`` plus
    ``mean(abs(x)) / 2**1074`` (the last term matters only if the slope is subnormal). The error of R² is at
    most ``{error bound 2}``.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> slope, intercept, determination = rollstat.rolling_linear_fit([1.0, 3.0, 5.0], 3)
    >>> slope, intercept, determination
    (array([nan, nan,  2.]), array([nan, nan,  1.]), array([nan, nan,  1.]))
    >>> rollstat.rolling_linear_fit([1.0, 3.0, 5.0], 3, x=[0.0, 10.0, 20.0])[0]
    array([nan, nan, 0.2])
    """
    arrays = [arr] if x is None else [arr, x]
    summand = operators.moments.LinearFitByRow() if x is None else operators.LinearFit()
    return _of_sums(arrays, window, summand, 2, options, "interpolated", ("arr", "x"))


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
    Missing values are ignored, and values that have left the window have no influence, not even 0 and inf.
    The error of floats is at most ``{error bound}`` for m observations, with u = 2**-53. Partial products
    neither overflow nor underflow.

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
        bool with ``fill_value=``, or with ``mode="valid"`` if no result can be missing, as for integers;
        otherwise float64: 1 for true, 0 for false, NaN where missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. Results are exact.

    Cost: O(1) per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_any([0, 0, 1, 0], 2, mode="valid")
    array([False,  True,  True])
    """
    return _of_ends(arr, window, ANY, operators.AnyTrue(), "any", options, required=0, kind="truth")


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
        bool with ``fill_value=``, or with ``mode="valid"`` if no result can be missing, as for integers;
        otherwise float64: 1 for true, 0 for false, NaN where missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored. Results are exact.

    Cost: O(1) per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_all([1, 2, 0, 1], 2, mode="valid")
    array([ True, False, False])
    """
    return _of_ends(arr, window, ALL, operators.AllTrue(), "all", options, required=0, kind="truth")


@statistic(pandas="first", ordered=True, **COMBINED)
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

    Cost: O(1) per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_first([3, 1, 2], 2, mode="valid")
    array([3, 1])
    """
    return _of_ends(arr, window, OLDEST, operators.First(), "first", options)


@statistic(pandas="last", ordered=True, **COMBINED)
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

    Cost: O(1) per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_last([3.0, float("nan"), 2.0], 2, min_periods=1)
    array([3., 3., 2.])
    """
    return _of_ends(arr, window, NEWEST, operators.Last(), "last", options)


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

    Cost: O(1) combinations per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_logsumexp([1000.0, 1000.0], 2).round(3)
    array([     nan, 1000.693])
    """
    return combine([arr], window, operators.LogSumExp(), "logsumexp", options, required=0, kind="float")


@statistic(exact=False, error_bound=("3 * u * abs(result)",), **COMBINED)
def rolling_positive_sum(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Sum of the positive observations of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray of float, shape (..., rows, ...)
        float32 for float32 input, otherwise float64. 0 for windows without positive observations.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; all other values count as observations. Sums are compensated, and values that
    have left the window have no influence. The error is at most ``{error bound}`` with u = 2**-53, to first
    order.

    Cost: O(1) per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_positive_sum([1.0, -2.0, 3.0, -4.0], 3)
    array([nan, nan,  4.,  3.])
    """
    operator = operators.PositiveSum()
    return combine([arr], window, operator, "positive_sum", options, required=0, kind="float")


@statistic(exact=False, error_bound=("3 * u * abs(result)",), **COMBINED)
def rolling_negative_sum(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Sum of the negative observations of each window.

    Parameters
    ----------
    {numbers}
    {window}
    {options}

    Returns
    -------
    ndarray of float, shape (..., rows, ...)
        float32 for float32 input, otherwise float64. 0 for windows without negative observations.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; all other values count as observations. Sums are compensated, and values that
    have left the window have no influence. The error is at most ``{error bound}`` with u = 2**-53, to first
    order.

    Cost: O(1) per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_negative_sum([1.0, -2.0, 3.0, -4.0], 3)
    array([nan, nan, -2., -6.])
    """
    operator = operators.NegativeSum()
    return combine([arr], window, operator, "negative_sum", options, required=0, kind="float")


@statistic(
    exact=False,
    samples=({}, {"target": 0.25}),
    error_bound=("(6 * m + 3) * u * result",),
    **COMBINED,
)
def rolling_downside_deviation(
    arr: ArrayLike, window: Window, target: float = 0.0, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Root mean square of the shortfalls of each window below a target.

    Parameters
    ----------
    {numbers}
    {window}
    target : float, default 0.0
        Observations above it count as shortfalls of 0.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `target`, the array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    ``sqrt(mean(minimum(x - target, 0) ** 2))`` of the observations x of a window: the denominator of the
    Sortino ratio. Missing values are ignored, and values that have left the window have no influence. Squares
    neither overflow nor underflow. The error is at most ``{error bound}`` for m observations, with
    u = 2**-53.

    Cost: O(1) per element amortised. Source: as in :func:`rolling_sum`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_downside_deviation([3.0, -3.0, 4.0, -4.0], 2).round(3)
    array([  nan, 2.121, 2.121, 2.828])
    """
    operator = operators.DownsideDeviation(check_target(target))
    return combine([arr], window, operator, "downside_deviation", options, kind="float")


@statistic(
    exact=False,
    ordered=True,
    samples=({}, {"relative": False}),
    error_bound=("4 * u * result",),
    **COMBINED,
)
def rolling_drawdown(
    arr: ArrayLike, window: Window, relative: bool = True, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Largest loss from a running peak within each window.

    Parameters
    ----------
    {numbers}
    {window}
    relative : bool, default True
        Whether a loss is a proportion of the preceding peak, instead of a difference from it.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `relative`, the array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    The largest ``(peak - x) / peak``, or ``peak - x``, over the observations x of a window, where the peak is
    the largest observation of the window up to x. It is never negative: 0.25 is a loss of a quarter.
    Relative losses are NaN in windows with a negative observation. A loss from an infinite peak is 1 if it is
    relative, otherwise infinite. Missing values are ignored. The error is at most
    ``{error bound}`` with u = 2**-53.

    Cost: O(1) combinations per element amortised. Source: as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_drawdown([4.0, 8.0, 6.0, 9.0, 3.0], 3)
    array([       nan,        nan, 0.25      , 0.25      , 0.66666667])
    """
    operator = operators.Drawdown(check_flag("relative", relative))
    return combine([arr], window, operator, "drawdown", options, kind="float")


@statistic(
    samples=({}, {"ddof": 0}),
    ordered=True,
    error_bound=("(6 * m * sqrt(k(arr)) + 45 * k(arr) * abs(result)) * u",),
    **_MOMENT,
)
def rolling_zscore(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Distance of each value from the mean of its window, in standard deviations of the window.

    Parameters
    ----------
    {numbers}
    {window}
    {ddof}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If an array, the window or an option is invalid, or if explicit bounds do not have one window for each
        row. Raised before anything is computed.

    Notes
    -----
    ``(x - mean) / std`` for the value x of the row itself. With ``closed="left"`` the window of a row ends
    before the row, so it holds only earlier values. If x is missing, the result is missing.
    Constant windows give NaN if x equals the constant, otherwise an infinity. Missing values are ignored, and
    values that have left the window have no influence. Deviations are taken from values of the window, so a
    common offset does not reduce accuracy. The error is at most
    ``{error bound}`` for m observations, with u and k as in
    :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_zscore([1.0, 2.0, 3.0, 9.0], 3).round(3)
    array([  nan,   nan, 1.   , 1.145])
    >>> rollstat.rolling_zscore([1.0, 2.0, 3.0, 9.0], 3, closed="left")
    array([nan, nan, nan,  7.])
    """
    numbers("arr", arr)
    return call(ZScore, [arr], window, options, ddof=whole_number("ddof", ddof, 0))


@statistic(
    family="moments",
    kinds="fiub",
    exact=False,
    error_bound=("(6 * m + 9) * u * (max(arr) - min(arr))",),
    cost="O(m) vector operations",
    source="definition",
)
def rolling_mean_abs_dev(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Mean absolute deviation of each window from its mean.

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
    ``mean(abs(x - mean(x)))`` of the observations x of a window, as in the commodity channel index.
    :func:`rolling_mad` is the median of the distances from the median. Missing values are ignored, and values
    that have left the window have no influence. An infinite observation gives NaN. The oldest observation is
    subtracted first, so a common offset does not reduce accuracy. The error is at most
    ``{error bound}`` for m observations, with u = 2**-53.

    Cost: O(m) vector operations per element, because no cheaper formula is as accurate.
    Source: the definition.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_mean_abs_dev([1.0, 2.0, 6.0, 1.0], 3)
    array([nan, nan,  2.,  2.])
    """
    numbers("arr", arr)
    return call(MeanAbsoluteDeviation, [arr], window, options)


@statistic(
    samples=({}, {"lag": 2}),
    ordered=True,
    error_bound=("200 * u * k(arr)",),
    **_MOMENT,
)
def rolling_autocorr(
    arr: ArrayLike, window: Window, lag: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Correlation of each window with itself, shifted by some rows.

    Parameters
    ----------
    {numbers}
    {window}
    lag : int, default 1
        Distance in rows between the two values of a pair, at least 1.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `lag`, the array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    Pearson's correlation of the pairs ``x[i], x[i - lag]`` with both rows in the window, like
    :meth:`pandas.Series.autocorr` of the window: each side has its own mean and deviation. Pairs with a
    missing value are ignored. The result is NaN with fewer than two pairs, and where one side is
    constant; `min_periods` counts observations, not pairs. Values that have left the window have no
    influence. The error is at most ``{error bound}``, with u and k as in :func:`rolling_var`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_autocorr([1.0, 2.0, 4.0, 3.0, 5.0], 4).round(3)
    array([   nan,    nan,    nan,  0.327, -0.5  ])
    """
    numbers("arr", arr)
    return call(Autocorrelation, [arr], window, options, lag=whole_number("lag", lag, 1))
