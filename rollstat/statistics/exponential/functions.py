"""Exponentially weighted means, sums, variances, covariances and correlations."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.kernels.exponential import moments
from rollstat.operators.exponential import EwmOne, EwmOneInTime, EwmTwo, EwmTwoInTime
from rollstat.options import CommonOptions, Options, Window, check_flag, is_whole
from rollstat.statistics.common import call, check_halflife, check_weights, numbers, plain_dtype, statistic
from rollstat.statistics.exponential.computation import exponential
from rollstat.windows import Around, Expanding, Forward

_EWM: dict[str, Any] = {
    "family": "exponential",
    "kinds": "fiub",
    "exact": False,
    "ordered": True,
    "samples": ({"alpha": 0.5}, {"alpha": 0.2, "ignore_na": True}, {"span": 4.0, "adjust": False}),
    "cost": "O(1) from the first row on; O(1) combinations amortised in other windows",
    "source": (
        "Hillis and Steele (1986), Data Parallel Algorithms; West (1979), Updating Mean and Variance "
        "Estimates"
    ),
}
_VAR_BOUND = (
    "64 * m * u * (abs(result) + max(abs(arr)) * sqrt(abs(result)) + m * u * max(abs(arr)) ** 2) + m * u**20 "
    "if max(abs(arr)) < 2**500 else inf"
)
_STD_BOUND = "64 * m * u * (result + max(abs(arr))) + m * u**9 if max(abs(arr)) < 2**500 else inf"
_COV_BOUND = (
    "64 * m * u * max(abs(arr)) * max(abs(other)) + m * u**20 * (1 + max(abs(arr)) + max(abs(other))) "
    "if max(abs(arr)) < 2**500 and max(abs(other)) < 2**500 else inf"
)
_CORR_BOUND = (
    "64 * m * u * (1 + max(abs(arr)) / s(arr)) * (1 + max(abs(other)) / s(other)) "
    "if m * u * max(abs(arr)) < s(arr) < 2**200 and m * u * max(abs(other)) < s(other) < 2**200 "
    "and 2**-200 < min(s(arr), s(other)) else inf"
)


def _factors(stamps: NDArray[Any], halflife: float, shape: tuple[int, ...], axis: int) -> NDArray[np.float64]:
    """Return the factor by which earlier rows age before each row."""
    factors, exponents = np.ones(len(stamps)), (stamps[:-1] - stamps[1:]) / halflife
    # Whole times are less than 2**64 apart.
    if (stamps.dtype.kind == "f" or halflife < 1.0) and not np.isfinite(exponents).all():
        raise ValueError(f"times must be finite with halflife; got halflife={halflife!r}")
    # Gaps between segments may be negative; nothing ages there.
    np.exp2(np.minimum(exponents, 0.0), out=factors[1:])
    if len(shape) == 1:
        return factors
    along = [1] * len(shape)
    along[axis] = len(stamps)
    return np.broadcast_to(factors.reshape(along), shape)


def _decay_in_time(decays: dict[str, Any], shape: tuple[int, ...], options: Options) -> tuple[Any, Any, bool]:
    """Return the times, what makes factors of them, and whether they are numbers."""
    length = shape[options.axis]
    stamps, unit, *_ = options.own_times(options.offsets(length), length)
    halflife = check_halflife(unit, **decays)
    return stamps, partial(_factors, halflife=halflife, shape=shape, axis=options.axis), unit is None


def _of_rows(window: Window, numeric: bool) -> bool:
    """Return whether a window is not a width on the axis of times."""
    sizes = vars(window).values() if isinstance(window, (Forward, Around)) else (window,)
    whole = not numeric and all(map(is_whole, sizes))
    return whole or isinstance(window, (Expanding, tuple)) or hasattr(window, "get_window_bounds")


def _ewm(
    kind: int,
    arrays: list[ArrayLike],
    window: Window,
    options: CommonOptions,
    decays: Sequence[Any],
    adjust: bool,
    ignore_na: bool,
    bias: bool = True,
) -> Any:
    """Return the call of the statistic `kind`."""
    named = dict(zip(("alpha", "com", "span", "halflife"), decays))
    checked: list[Any] = [numbers(name, array) for name, array in zip(("arr", "other"), arrays)]
    names, times, decay, derive = ("arr", "other")[: len(arrays)], options.get("times"), np.nan, None
    flags = {"adjust": adjust, "ignore_na": ignore_na, "bias": bias}
    flags = {name: check_flag(name, value) for name, value in flags.items()}
    if times is not None and named["halflife"] is not None:
        stamps, derive, numeric = _decay_in_time(named, checked[0].shape, Options.check(**options))
        arrays, names = [*arrays, derive(stamps)], (*names, "times")
        checked.append(arrays[-1])
        if options.get("at") is None and _of_rows(window, numeric):
            options["times"] = None
    elif times is not None and options.get("at") is None and isinstance(window, Expanding):
        raise ValueError("times needs halflife, the time in which weights halve, unless the window is finite")
    else:
        decay = check_weights(**named)
    kinds: Any = (EwmOne, EwmTwo) if decay == decay else (EwmOneInTime, EwmTwoInTime)
    parameters: dict[str, Any] = {
        "operator": kinds["other" in names](kind, decay, **flags),
        "dtypes": tuple(plain_dtype(array.dtype) for array in checked),
    }
    return call(exponential, arrays, window, options, series_names=names, derive=derive, **parameters)


_FIRST = Expanding()


@statistic(error_bound=("8 * m * u * sum(w * abs(arr)) / sum(w) + m * u**20",), **_EWM)
def ewm_mean(
    arr: ArrayLike,
    window: Window = _FIRST,
    alpha: float | None = None,
    com: float | None = None,
    span: float | None = None,
    halflife: Any = None,
    adjust: bool = True,
    ignore_na: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Exponentially weighted mean of all rows up to each one, or of a window.

    Parameters
    ----------
    {numbers}
    {ewm}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored, but they age earlier values unless `ignore_na` is true. Results
    equal pandas' ``ewm(...).mean()``, except for ``com=1`` without `adjust` and with missing values, where
    pandas decreases weights as it does with `times`. The error is at most ``{error bound}`` for weights w and
    m observations, with u = 2**-53; weights below 2**-1000 may count as 0. The mean of equal values is
    exactly that value.

    Cost: O(1) per element; in finite windows, O(1) combinations amortised. Source: the scan of Hillis and
    Steele (1986), doi:10.1145/7902.7903; windows as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.ewm_mean([1.0, float("nan"), 5.0], com=1, adjust=False).round(3)
    array([1.   , 1.   , 3.667])
    """
    return _ewm(moments.MEAN, [arr], window, options, (alpha, com, span, halflife), adjust, ignore_na)


@statistic(
    error_bound=("8 * m * u * sum(w * abs(arr)) + m * u**20",), **(_EWM | {"samples": _EWM["samples"][:2]})
)
def ewm_sum(
    arr: ArrayLike,
    window: Window = _FIRST,
    alpha: float | None = None,
    com: float | None = None,
    span: float | None = None,
    halflife: Any = None,
    ignore_na: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Exponentially weighted sum of all rows up to each one, or of a window.

    Parameters
    ----------
    {numbers}
    {ewm}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored, but they age earlier values unless `ignore_na` is true. Results
    equal pandas' ``ewm(...).sum()``. The newest row of the window, missing or not, has the weight 1. The
    error is at most ``{error bound}`` for weights w and m observations, with u = 2**-53.

    Cost: O(1) per element; in finite windows, O(1) combinations amortised. Source: as in
    :func:`ewm_mean`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.ewm_sum([1.0, 2.0, 4.0], alpha=0.5)
    array([1.  , 2.5 , 5.25])
    """
    return _ewm(moments.SUM, [arr], window, options, (alpha, com, span, halflife), True, ignore_na)


@statistic(error_bound=(_VAR_BOUND,), **_EWM)
def ewm_var(
    arr: ArrayLike,
    window: Window = _FIRST,
    alpha: float | None = None,
    com: float | None = None,
    span: float | None = None,
    halflife: Any = None,
    adjust: bool = True,
    ignore_na: bool = False,
    bias: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Exponentially weighted variance of all rows up to each one, or of a window.

    Parameters
    ----------
    {numbers}
    {ewm}
    bias : bool, default False
        Whether to leave out the correction for the number of observations and their weights.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored, but they age earlier values unless `ignore_na` is true. Results
    equal pandas' ``ewm(...).var()``. Without `bias` the divisor is ``1 - sum(w**2)`` for weights w that
    add up to 1; a single observation gives NaN, and equal values give exactly 0. Squares of deviations must
    lie within the range of float64. The error is at most, for m observations, with u = 2**-53:
    ``{error bound}``.

    Cost: O(1) per element; in finite windows, O(1) combinations amortised. Source: Chan, Golub and LeVeque
    (1983), doi:10.1080/00031305.1983.10483115, with weights; windows as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.ewm_var([1.0, 2.0, 4.0], alpha=0.5)
    array([nan, 0.5, 2.5])
    """
    decays = alpha, com, span, halflife
    return _ewm(moments.VARIANCE, [arr], window, options, decays, adjust, ignore_na, bias)


@statistic(error_bound=(_STD_BOUND,), **_EWM)
def ewm_std(
    arr: ArrayLike,
    window: Window = _FIRST,
    alpha: float | None = None,
    com: float | None = None,
    span: float | None = None,
    halflife: Any = None,
    adjust: bool = True,
    ignore_na: bool = False,
    bias: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Exponentially weighted standard deviation of all rows up to each one, or of a window.

    Parameters
    ----------
    {numbers}
    {ewm}
    bias : bool, default False
        Whether to leave out the correction for the number of observations and their weights.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored, but they age earlier values unless `ignore_na` is true. Results
    equal pandas' ``ewm(...).std()``. Without `bias` the divisor is ``1 - sum(w**2)`` for weights w that
    add up to 1; a single observation gives NaN, and equal values give exactly 0. Squares of deviations must
    lie within the range of float64. The error is at most, for m observations, with u = 2**-53:
    ``{error bound}``.

    Cost: O(1) per element; in finite windows, O(1) combinations amortised. Source: Chan, Golub and LeVeque
    (1983), doi:10.1080/00031305.1983.10483115, with weights; windows as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> import numpy as np
    >>> times = np.array(["2026-01-01", "2026-01-02", "2026-01-06"], "M8[D]")
    >>> rollstat.ewm_std([1.0, 2.0, 4.0], halflife="2D", times=times).round(3)
    array([  nan, 0.707, 1.673])
    """
    decays = alpha, com, span, halflife
    return _ewm(moments.DEVIATION, [arr], window, options, decays, adjust, ignore_na, bias)


@statistic(error_bound=(_COV_BOUND,), **(_EWM | {"series": 2}))
def ewm_cov(
    arr: ArrayLike,
    other: ArrayLike,
    window: Window = _FIRST,
    alpha: float | None = None,
    com: float | None = None,
    span: float | None = None,
    halflife: Any = None,
    adjust: bool = True,
    ignore_na: bool = False,
    bias: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Exponentially weighted covariance of two series, of all rows up to each one or of a window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The other series. A row where either series is missing is not an observation.
    {ewm}
    bias : bool, default False
        Whether to leave out the correction for the number of observations and their weights.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Rows with a missing value are ignored, but they age earlier rows unless `ignore_na` is true. Results
    equal pandas' ``ewm(...).cov()``. Without `bias` the divisor is ``1 - sum(w**2)`` for weights w that
    add up to 1; a single observation gives NaN, and equal values give exactly 0. Squares of deviations must
    lie within the range of float64. The error is at most, for m observations, with u = 2**-53:
    ``{error bound}``.

    Cost: O(1) per element; in finite windows, O(1) combinations amortised. Source: Chan, Golub and LeVeque
    (1983), doi:10.1080/00031305.1983.10483115, with weights; windows as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.ewm_cov([1.0, 2.0, 4.0], [2.0, 4.0, 8.0], alpha=0.5)
    array([nan,  1.,  5.])
    """
    decays = alpha, com, span, halflife
    return _ewm(moments.COVARIANCE, [arr, other], window, options, decays, adjust, ignore_na, bias)


@statistic(error_bound=(_CORR_BOUND,), **(_EWM | {"series": 2}))
def ewm_corr(
    arr: ArrayLike,
    other: ArrayLike,
    window: Window = _FIRST,
    alpha: float | None = None,
    com: float | None = None,
    span: float | None = None,
    halflife: Any = None,
    adjust: bool = True,
    ignore_na: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Exponentially weighted correlation of two series, of all rows up to each one or of a window.

    Parameters
    ----------
    {numbers}
    other : array_like of float, int or bool, of the shape of `arr`
        The other series. A row where either series is missing is not an observation.
    {ewm}
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    {raises}

    Notes
    -----
    Rows with a missing value are ignored, but they age earlier rows unless `ignore_na` is true. Results equal
    pandas' ``ewm(...).corr()``. They are NaN if a series has no variance. Products of two variances must
    lie within the range of float64. The error is at most, for m observations, with u = 2**-53 and s the
    weighted deviation: ``{error bound}``.

    Cost: O(1) per element; in finite windows, O(1) combinations amortised. Source: Chan, Golub and LeVeque
    (1983), doi:10.1080/00031305.1983.10483115, with weights; windows as in :func:`rolling_aggregate`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.ewm_corr([1.0, 2.0, 4.0], [2.0, 4.0, 8.0], alpha=0.5).round(6)
    array([nan,  1.,  1.])
    """
    decays = alpha, com, span, halflife
    return _ewm(moments.CORRELATION, [arr, other], window, options, decays, adjust, ignore_na)
