"""Rolling variance, standard deviation, standard error, skewness and kurtosis."""

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import moments
from rollstat.blocks import Block, Outcome
from rollstat.kernels.sums.moment_formulas import Deviation, Kurtosis, Skewness, Summand, Variance
from rollstat.options import CommonOptions, Window, whole_number
from rollstat.statistics.common import formula, statistic, with_ddof

__all__ = [
    "rolling_kurt",
    "rolling_sem",
    "rolling_skew",
    "rolling_std",
    "rolling_var",
]

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


def _from_variance(
    write: Callable[[Block, int, NDArray[Any]], Outcome],
    summand: Callable[[float], Summand],
    arr: ArrayLike,
    window: Window,
    ddof: int,
    options: CommonOptions,
) -> NDArray[Any]:
    ddof = whole_number("ddof", ddof, 0)
    of_ddof = summand(float(ddof))
    return formula([arr], window, with_ddof(write, ddof), ddof + 1, options, summand=of_ddof)


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
    Deviations are taken from one value c of the window, so even a large common offset costs no digits. Values
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
    return _from_variance(moments.variances, Variance, arr, window, ddof, options)


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
    The square root of :func:`rolling_var`, with its rules for missing values and constant windows. The error
    is at most ``{error bound}``, with u and k as defined there.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_std([1.0, 2.0, 3.0], 3)
    array([nan, nan,  1.])
    """
    return _from_variance(moments.deviations, partial(Deviation, error=0.0), arr, window, ddof, options)


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
    ``{error bound}``, with u and k as defined there.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_sem([1.0, 2.0, 3.0, 6.0], 4)
    array([       nan,        nan,        nan, 1.08012345])
    """
    return _from_variance(moments.standard_errors, partial(Deviation, error=1.0), arr, window, ddof, options)


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

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`; the adjusted
    Fisher-Pearson coefficient.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_skew([1.0, 2.0, 6.0], 3).round(4)
    array([   nan,    nan, 1.4579])
    """
    return formula([arr], window, moments.skewnesses, 3, options, summand=Skewness())


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

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kurt([1.0, 2.0, 3.0, 9.0], 4).round(4)
    array([   nan,    nan,    nan, 3.0144])
    """
    return formula([arr], window, moments.kurtoses, 4, options, summand=Kurtosis())
