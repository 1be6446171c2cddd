"""Rolling covariance, correlation, regression slope and least-squares lines."""

from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import comoments
from rollstat.kernels.sums.moment_formulas import Correlation, Covariance, Line
from rollstat.options import CommonOptions, Window, whole_number
from rollstat.statistics.common import formula, statistic, with_ddof

__all__ = [
    "rolling_beta",
    "rolling_corr",
    "rolling_cov",
    "rolling_linear_fit",
]

_COMOMENT: dict[str, Any] = {
    "family": "moments",
    "kinds": "fiub",
    "exact": False,
    "cost": "O(1) amortised, O(m) worst case",
    "source": "Chan, Golub and LeVeque (1983), for products of two series; van Herk (1992)",
}
_SLOPE_BOUND = "100 * u * (k(arr) + k(x)) * sqrt(var(arr) / var(x))"


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

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_cov([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 3)
    array([nan, nan,  2.])
    """
    ddof = whole_number("ddof", ddof, 0)
    write, summand = with_ddof(comoments.covariances, ddof), Covariance(float(ddof))
    return formula([arr, other], window, write, ddof + 1, options, summand=summand)


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

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_corr([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 3)
    array([nan, nan,  1.])
    """
    return formula([arr, other], window, comoments.correlations, 1, options, summand=Correlation(0.0))


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
        The second series, the explanatory one.
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

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_beta([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], 3)
    array([nan, nan,  2.])
    """
    return formula([arr, other], window, comoments.betas, 2, options, summand=Correlation(1.0))


@statistic(
    outputs=("slope", "intercept", "determination"),
    error_bound=(
        _SLOPE_BOUND,
        f"{_SLOPE_BOUND} * mean(abs(x)) + 30 * u * (mean(abs(arr)) + abs(slope) * mean(abs(x)))"
        " + mean(abs(x)) / 2**1074",
        "200 * u * (k(arr) + k(x))",
    ),
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
        The line, and the proportion of the variance that it explains (R²), which is NaN where `arr` is
        constant. All three are NaN where `x` is constant. float32 for float32 input, otherwise float64.

    Raises
    ------
    {raises}

    Notes
    -----
    A row where `arr` or `x` is missing is ignored, but counts as a row of the window; at least two
    observations are needed. Values that have left the window have no influence. With u and k as in
    :func:`rolling_var`, the error of the slope is at most
    ``{error bound}``, that of the intercept is at most
    this times ``mean(abs(x))`` plus ``30 * u * (mean(abs(arr)) + abs(slope) * mean(abs(x)))`` plus
    ``mean(abs(x)) / 2**1074``, which matters only if the slope is subnormal, and that of R² is at most
    ``{error bound 2}``.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

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
    return formula(
        arrays,
        window,
        comoments.linear_fits,
        2,
        options,
        3,
        "interpolated",
        ("arr", "x"),
        summand=Line(float(x is not None)),
    )
