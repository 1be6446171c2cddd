"""Rolling covariance, correlation, regression slope and straight lines."""

from functools import partial
from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import comoments
from rollstat.blocks import Block, Outcome
from rollstat.functions.apply import formula
from rollstat.functions.common import statistic
from rollstat.options import CommonOptions, Window, whole_number

__all__ = [
    "rolling_beta",
    "rolling_corr",
    "rolling_cov",
    "rolling_linear_fit",
]

_COST = "O(1) amortised, O(m) worst case"
_SOURCE = "Chan, Golub and LeVeque (1983), for products of two series; van Herk (1992)"


def _covariances(ddof: int, block: Block, result: NDArray[Any]) -> Outcome:
    return comoments.covariances(block, ddof, result)


@statistic(
    family="moments",
    kinds="fiub",
    exact=False,
    series=2,
    samples=({"ddof": 1}, {"ddof": 0}),
    cost=_COST,
    source=_SOURCE,
    pandas="cov",
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
    ddof : int, default 1
        What is taken off the number of observations in the divisor.
    {options}

    Returns
    -------
    ndarray of float
        Float32 for float32, else float64.

    Raises
    ------
    {raises}

    Notes
    -----
    A row where either series is missing is no observation. Both are taken relative to one of their values
    in the window, and what has left the window has no influence. The error is at most ``80 u`` of the
    product of both deviations, for series that lie within a few deviations of that value.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_cov([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 3)
    array([nan, nan,  2.])
    """
    ddof = whole_number("ddof", ddof, 0)
    return formula([arr, other], window, partial(_covariances, ddof), ddof + 1, options)[0]


@statistic(family="moments", kinds="fiub", exact=False, series=2, cost=_COST, source=_SOURCE, pandas="corr")
def rolling_corr(
    arr: ArrayLike, other: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Pearson's correlation of two series over each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The second series.
    {window}
    {options}

    Returns
    -------
    ndarray of float
        Float32 for float32, else float64.

    Raises
    ------
    {raises}

    Notes
    -----
    A row where either series is missing is no observation. Both are taken relative to one of their values
    in the window, and what has left the window has no influence. The error is at most ``80 u`` of the
    product of both deviations, for series that lie within a few deviations of that value. Results lie in
    [-1, 1]; where either series is constant they are NaN.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_corr([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 3)
    array([nan, nan,  1.])
    """
    return formula([arr, other], window, comoments.correlations, 1, options)[0]


@statistic(family="moments", kinds="fiub", exact=False, series=2, cost=_COST, source=_SOURCE)
def rolling_beta(
    arr: ArrayLike, other: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Slope of one series against another over each window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The second series.
    {window}
    {options}

    Returns
    -------
    ndarray of float
        Float32 for float32, else float64.

    Raises
    ------
    {raises}

    Notes
    -----
    A row where either series is missing is no observation. Both are taken relative to one of their values
    in the window, and what has left the window has no influence. The error is at most ``80 u`` of the
    product of both deviations, for series that lie within a few deviations of that value. Where the other
    series is constant the result is NaN.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_beta([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], 3)
    array([nan, nan,  2.])
    """
    return formula([arr, other], window, comoments.betas, 2, options)[0]


@statistic(
    family="moments",
    kinds="fiub",
    exact=False,
    outputs=("slope", "intercept", "determination"),
    cost=_COST,
    source=_SOURCE,
)
def rolling_linear_fit(
    arr: ArrayLike, window: Window, x: ArrayLike | None = None, **options: Unpack[CommonOptions]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Straight line of least squares through each window.

    Parameters
    ----------
    {numbers}
    {window}
    x : array_like of float, int or bool, of the shape of `arr`, optional
        What the line runs over; by default the rows of each window, of which the first is row 0.
    {options}

    Returns
    -------
    slope, intercept, determination : ndarray of float
        The line, and the share of the variance that it explains (R²), NaN for constant values. All three
        are NaN where `x` is constant.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are no observations, but take their row; two observations are needed. A row where `x` is
    missing is none either. What has left the window has no influence. The error of the slope is that of
    :func:`rolling_beta`.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

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
    slope, intercept, determination = formula(
        arrays, window, comoments.linear_fits, 2, options, outputs=3, names=("arr", "x")
    )
    return slope, intercept, determination
