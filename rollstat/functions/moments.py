"""Rolling variance, deviation, standard error, skewness and kurtosis."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import moments
from rollstat.blocks import Block, Outcome
from rollstat.functions.apply import formula
from rollstat.functions.common import statistic
from rollstat.options import CommonOptions, Window, whole_number

__all__ = [
    "rolling_kurt",
    "rolling_sem",
    "rolling_skew",
    "rolling_std",
    "rolling_var",
]

_COST = "O(1) amortised, O(m) worst case"
_SOURCE = "Chan, Golub and LeVeque (1983), Algorithms for Computing the Sample Variance; van Herk (1992)"


@lru_cache(maxsize=64)
def _with_ddof(write: Callable[[Block, int, NDArray[Any]], Outcome], ddof: int) -> Callable[..., Outcome]:
    """`write` for one `ddof`, the same object for the same parameters."""

    def write_block(block: Block, result: NDArray[Any]) -> Outcome:
        return write(block, ddof, result)

    return write_block


@statistic(
    family="moments",
    kinds="fiub",
    exact=False,
    samples=({"ddof": 1}, {"ddof": 0}),
    cost=_COST,
    source=_SOURCE,
    pandas="var",
)
def rolling_var(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Variance of each window.

    Parameters
    ----------
    {numbers}
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
    Missing values are no observations; the result is missing with `ddof` of them or fewer. Values are
    taken relative to one value of the window, so that a common offset, however large, costs no digits;
    what has left the window has no influence. Constant windows give exactly 0. The relative error is at
    most ``80 u k`` with u = 2**-53 and ``k = 1 + (c - mean)**2 / variance`` for that value c.

    Cost: O(1) an element amortised. Source: block scans after van Herk (1992) and Gil and
    Werman (1993) with a shift inside the window, after Chan, Golub and LeVeque (1983),
    doi:10.1080/00031305.1983.10483115.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_var([1e9 + 1.0, 1e9 + 2.0, 1e9 + 4.0], 3)
    array([       nan,        nan, 2.33333333])
    """
    ddof = whole_number("ddof", ddof, 0)
    return formula([arr], window, _with_ddof(moments.variances, ddof), ddof + 1, options)[0]


@statistic(
    family="moments",
    kinds="fiub",
    exact=False,
    samples=({"ddof": 1}, {"ddof": 0}),
    cost=_COST,
    source=_SOURCE,
    pandas="std",
)
def rolling_std(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Standard deviation of each window.

    Parameters
    ----------
    {numbers}
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
    Missing values are no observations; the result is missing with `ddof` of them or fewer. Values are
    taken relative to one value of the window, so that a common offset, however large, costs no digits;
    what has left the window has no influence. Constant windows give exactly 0. The relative error is at
    most ``40 u k`` with u = 2**-53 and ``k = 1 + (c - mean)**2 / variance`` for that value c.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_std([1.0, 2.0, 3.0], 3)
    array([nan, nan,  1.])
    """
    ddof = whole_number("ddof", ddof, 0)
    return formula([arr], window, _with_ddof(moments.deviations, ddof), ddof + 1, options)[0]


@statistic(
    family="moments",
    kinds="fiub",
    exact=False,
    samples=({"ddof": 1}, {"ddof": 0}),
    cost=_COST,
    source=_SOURCE,
    pandas="sem",
)
def rolling_sem(
    arr: ArrayLike, window: Window, ddof: int = 1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Standard error of the mean of each window.

    Parameters
    ----------
    {numbers}
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
    Missing values are no observations; the result is missing with `ddof` of them or fewer. Values are
    taken relative to one value of the window, so that a common offset, however large, costs no digits;
    what has left the window has no influence. Constant windows give exactly 0. The relative error is at
    most ``40 u k`` with u = 2**-53 and ``k = 1 + (c - mean)**2 / variance`` for that value c.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_sem([1.0, 2.0, 3.0, 6.0], 4)
    array([       nan,        nan,        nan, 1.08012345])
    """
    ddof = whole_number("ddof", ddof, 0)
    return formula([arr], window, _with_ddof(moments.standard_errors, ddof), ddof + 1, options)[0]


@statistic(family="moments", kinds="fiub", exact=False, cost=_COST, source=_SOURCE, pandas="skew")
def rolling_skew(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Skewness of each window, without bias.

    Parameters
    ----------
    {numbers}
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
    Missing values are no observations; three of them are needed. Constant windows give NaN, as in pandas.
    Values are taken relative to one value of the window, and what has left the window has no influence.
    The error is of the order ``u k**1.5`` with k as in :func:`rolling_var`.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`; the adjusted Fisher-Pearson coefficient.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_skew([1.0, 2.0, 6.0], 3).round(4)
    array([   nan,    nan, 1.4579])
    """
    return formula([arr], window, moments.skewnesses, 3, options)[0]


@statistic(family="moments", kinds="fiub", exact=False, cost=_COST, source=_SOURCE, pandas="kurt")
def rolling_kurt(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Excess kurtosis of each window, without bias.

    Parameters
    ----------
    {numbers}
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
    Missing values are no observations; four of them are needed. Constant windows give NaN, as in pandas.
    Values are taken relative to one value of the window, and what has left the window has no influence.
    The error is of the order ``u k**2`` with k as in :func:`rolling_var`.

    Cost: O(1) an element amortised. Source: as
    :func:`rolling_var`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kurt([1.0, 2.0, 3.0, 9.0], 4).round(4)
    array([   nan,    nan,    nan, 3.0144])
    """
    return formula([arr], window, moments.kurtoses, 4, options)[0]
