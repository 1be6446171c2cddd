"""Robust statistics of windows: spread, median absolute deviation, the Hampel filter."""

import math
import numbers
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.computations.mad import DEVIATION_ALGORITHMS, Deviation, Hampel
from rollstat.computations.order_statistics import ALGORITHMS, Quantile
from rollstat.computations.quantile_range import Spread
from rollstat.computations.trimmed_mean import TRIMMED_ALGORITHMS, TrimmedMean
from rollstat.engine import run
from rollstat.functions.common import statistic
from rollstat.kernels.selection.quantiles import INTERPOLATIONS
from rollstat.options import CommonOptions, Options, Window
from rollstat.plan import Recipe
from rollstat.registry import check_algorithm
from rollstat.thresholds import SORTED_WINDOW_OF_DEVIATIONS, SORTED_WINDOW_OF_TRIMMED_MEANS

__all__ = [
    "hampel_filter",
    "rolling_iqr",
    "rolling_mad",
    "rolling_trimmed_mean",
    "rolling_winsorized_mean",
]

NORMAL = 0.6744897501960817  # the upper quartile of the standard normal distribution
_TWO_SEQUENCES = (
    "Frederickson and Johnson (1982), The complexity of selection and ranking in X + Y and matrices with "
    "sorted columns, doi:10.1016/0022-0000(82)90048-4"
)
_TRIMMED_COST = f"O(log m) amortised; O(m) for windows of up to {SORTED_WINDOW_OF_TRIMMED_MEANS} rows"
_DEVIATION_COST = (
    f"O(log m) amortised and worst case; O(m) for windows of up to {SORTED_WINDOW_OF_DEVIATIONS} rows"
)


def check_number(name: str, value: Any, least: float, most: float) -> float:
    """Return a parameter that must be a number between two bounds."""
    span = f"a number of at least {least:g}" + (f" and at most {most:g}" if math.isfinite(most) else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {span}; it was {value!r}")
    if not least <= float(value) <= most:
        raise ValueError(f"{name} must be {span}; it was {value!r}")
    return float(value)


def check_scale(scale: Any) -> float:
    """Return what a deviation is divided by."""
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError(f"scale must be a positive number or 'normal'; it was {scale!r}")
        scale = NORMAL
    scale = check_number("scale", scale, 0, math.inf)
    if not 0 < scale < math.inf:
        raise ValueError(f"scale must be a positive number or 'normal'; it was {scale!r}")
    return float(scale)


def check_share(proportion: Any) -> float:
    """Return the share of the observations that is cut off at each end."""
    share = check_number("proportion", proportion, 0, 0.5)
    if share == 0.5:
        raise ValueError(
            f"proportion must be below 0.5, since half at each end leaves nothing; it was {proportion!r}"
        )
    return share


@statistic(
    family="selection",
    samples=(
        {},
        {"q_low": 0.1, "q_high": 0.8, "interpolation": "midpoint"},
        {"q_low": 0.3, "interpolation": "nearest"},
    ),
    algorithms=ALGORITHMS,
    cost="O(log m) amortised and worst case",
    source="Raykov (2023), An Optimal Algorithm for Sliding Window Order Statistics, ICDT 2023",
)
def rolling_iqr(
    arr: ArrayLike,
    window: Window,
    q_low: float = 0.25,
    q_high: float = 0.75,
    interpolation: str = "linear",
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Interquartile range of each window, or the distance of any two quantiles.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    q_low : float, default 0.25
        The lower quantile, between 0 and `q_high`.
    q_high : float, default 0.75
        The upper quantile, between `q_low` and 1.
    interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}, default "linear"
        As in :func:`rolling_quantile`.
    {options}

    Returns
    -------
    ndarray
        Floats in the dtype of `arr`, datetimes as timedelta64, integers and bool as float64; or, where
        both quantiles are observations and no result can be missing, as uint64.

    Raises
    ------
    ValueError, TypeError
        For a bad quantile, interpolation, array, window or option. Nothing is computed then.
    OverflowError
        If a distance between two datetimes does not fit in 64 bits.

    Notes
    -----
    The difference of what :func:`rolling_quantile` gives. 64-bit integers are subtracted before anything
    is rounded, so that the result is right to the last digits however large they are. Missing values are
    no observations; two infinities of one sign are no distance apart.

    Cost: O(log m) an element, amortised and worst case; both quantiles come from one selection. Source:
    Raykov, *An Optimal Algorithm for Sliding Window Order Statistics*, ICDT 2023, section 4.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_iqr([4.0, 1.0, 3.0, 2.0, 8.0], 3)
    array([nan, nan, 1.5, 1. , 3. ])
    """
    q_low, q_high = check_number("q_low", q_low, 0, 1), check_number("q_high", q_high, 0, 1)
    if q_low > q_high:
        raise ValueError(f"q_low must be at most q_high; they were {q_low!r} and {q_high!r}")
    if interpolation not in INTERPOLATIONS:
        raise ValueError(
            f"interpolation must be one of {', '.join(map(repr, INTERPOLATIONS))}; it was {interpolation!r}"
        )
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, ALGORITHMS, "iqr")
    low, high = Quantile(q_low, interpolation), Quantile(q_high, interpolation)
    return run(
        [arr],
        window,
        Recipe(Spread, (low, high, checked.algorithm)),
        checked,
    ).arrays[0]


@statistic(
    family="robust",
    samples=({}, {"scale": "normal"}, {"scale": 2.5}),
    algorithms=DEVIATION_ALGORITHMS,
    cost=_DEVIATION_COST,
    source=_TWO_SEQUENCES,
)
def rolling_mad(
    arr: ArrayLike, window: Window, scale: float | str = 1.0, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Median absolute deviation of each window, from its own median.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    scale : float or "normal", default 1.0
        What the deviation is divided by, as in :func:`scipy.stats.median_abs_deviation`. ``"normal"``,
        0.67449, makes it an estimate of the standard deviation of normal data.
    {options}

    Returns
    -------
    ndarray
        Floats in the dtype of `arr`, integers and bool as float64, datetimes as timedelta64, rounded down
        to their unit.

    Raises
    ------
    ValueError, TypeError
        For a bad scale, array, window or option. Nothing is computed then.
    OverflowError
        If a deviation of datetimes, divided by `scale`, does not fit in 64 bits.

    Notes
    -----
    Equal to the bit to ``np.median(abs(x - np.median(x)))`` of the observations x of a window, in float64:
    distances are rounded as there, and selected exactly. float32 is rounded once more at the end. Integers
    are exact up to one final rounding, beyond 2**53 too. Missing values are no observations. Infinities are
    ordinary values, but a median that is infinite has no deviation: the result is NaN.

    Cost: O(log m) an element, amortised and worst case: the distances are two sorted sequences, and where
    the nearest half of them does not just move by a few observations (as it does not in alternating
    signals) one descent of both finds it. Windows of up to 512 rows are kept as a sorted array, or sorted
    many at a time, which is O(m) but quicker. Source: Frederickson and Johnson, J. Comput. Syst. Sci. 24
    (1982), doi:10.1016/0022-0000(82)90048-4.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_mad([4.0, 1.0, 3.0, 2.0, 9.0], 3)
    array([nan, nan,  1.,  1.,  1.])
    """
    divisor = check_scale(scale)
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, DEVIATION_ALGORITHMS, "mad")
    return run([arr], window, Recipe(Deviation, (divisor, checked.algorithm)), checked).arrays[0]


@statistic(
    family="robust",
    name="hampel",
    samples=({}, {"threshold": 1.0, "scale": 1.0}),
    algorithms=DEVIATION_ALGORITHMS,
    kinds="fiub",
    outputs=("cleaned", "outlier"),
    cost=_DEVIATION_COST,
    source=_TWO_SEQUENCES,
)
def hampel_filter(
    arr: ArrayLike,
    window: Window,
    threshold: float = 3.0,
    scale: float = 1 / NORMAL,
    **options: Unpack[CommonOptions],
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Replace outliers by the median of their window, and tell where they were.

    A value is an outlier if it is farther from the median of its window than `threshold` times `scale`
    times the median absolute deviation of the window.

    Parameters
    ----------
    arr : array_like of float, int or bool, shape (..., n, ...)
        The series, along `axis`.
    {window}
    threshold : float, default 3.0
        How many scaled deviations are still no outlier.
    scale : float, default 1.4826
        What the deviation is multiplied by; the default, 1 / 0.67449, makes it an estimate of the
        standard deviation of normal data.
    {options}

    Returns
    -------
    cleaned : ndarray
        Floats in the dtype of `arr`, integers and bool as float64. Missing where the window has fewer than
        `min_periods` observations (1 keeps the ends of the series) and where the value is missing itself.
    outlier : ndarray of bool
        Where a value was replaced. `out` takes a pair of arrays.

    Raises
    ------
    ValueError, TypeError
        For a bad threshold, scale, array, window or option, and for windows that do not belong to rows.
        Nothing is computed then.

    Notes
    -----
    With ``center=True`` the window surrounds its row, otherwise the row is its last; with
    ``closed="left"`` a value is judged by the earlier ones alone. Where more than half of a window is one
    value the deviation is 0, and every other value is an outlier. Missing values are no observations, and
    no outliers; an infinite value is an outlier unless the median is infinite too.

    Cost: as :func:`rolling_mad`. Source: Hampel, *The Influence Curve and Its Role in Robust Estimation*, J.
    Amer. Statist. Assoc. 69 (1974), doi:10.1080/01621459.1974.10482962.

    Examples
    --------
    >>> import rollstat
    >>> cleaned, outlier = rollstat.hampel_filter([1.0, 2.0, 1.5, 90.0, 2.5], 5, center=True, min_periods=1)
    >>> cleaned
    array([1.  , 2.  , 1.5 , 2.25, 2.5 ])
    >>> outlier
    array([False, False, False,  True, False])
    """
    threshold = check_number("threshold", threshold, 0, math.inf)
    scale = check_number("scale", scale, 0, math.inf)
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, DEVIATION_ALGORITHMS, "hampel")
    cleaned, outlier = run(
        [arr],
        window,
        Recipe(Hampel, (threshold * scale, checked.algorithm)),
        checked,
    ).arrays
    return cleaned, outlier


def _trimmed(
    name: str, arr: ArrayLike, window: Window, proportion: float, winsorize: bool, options: CommonOptions
) -> NDArray[Any]:
    share = check_share(proportion)
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, TRIMMED_ALGORITHMS, name)
    return run(
        [arr],
        window,
        Recipe(TrimmedMean, (share, winsorize, checked.algorithm)),
        checked,
    ).arrays[0]


@statistic(
    family="robust",
    samples=({}, {"proportion": 0.25}),
    algorithms=TRIMMED_ALGORITHMS,
    kinds="fiub",
    exact=False,
    cost=_TRIMMED_COST,
    source="pairwise sums (Higham 1993, doi:10.1137/0914050) kept in a tree over ranks",
)
def rolling_trimmed_mean(
    arr: ArrayLike, window: Window, proportion: float = 0.1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Mean of each window without its smallest and largest observations.

    Parameters
    ----------
    arr : array_like of float, int or bool, shape (..., n, ...)
        The series, along `axis`.
    {window}
    proportion : float, default 0.1
        Share of the observations to leave out at each end, from 0 to below 0.5: of c observations
        ``int(proportion * c)``, as in :func:`scipy.stats.trim_mean`.
    {options}

    Returns
    -------
    ndarray
        float32 for float32, else float64.

    Raises
    ------
    ValueError, TypeError
        For a bad proportion, array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations. What is cut off, an infinity for instance, is in no sum, and sums
    are never reduced by subtraction: nothing is left of a value that left the window. The error is at most
    ``(log2(m) + 20) * 2**-53`` times the mean of the absolute values that are kept. Sums are float64, for
    integers and float32 too.

    Cost: O(log m) an element, amortised; windows of up to 80 rows are kept as a sorted array, or sorted many
    at a time, which is O(m) but quicker. Source: pairwise summation, Higham, SIAM J. Sci. Comput. 14 (1993),
    doi:10.1137/0914050, in a tree over ranks.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_trimmed_mean([4.0, 1.0, 3.0, 2.0, 90.0], 4, 0.25)
    array([nan, nan, nan, 2.5, 2.5])
    """
    return _trimmed("trimmed_mean", arr, window, proportion, False, options)


@statistic(
    family="robust",
    samples=({}, {"proportion": 0.25}),
    algorithms=TRIMMED_ALGORITHMS,
    kinds="fiub",
    exact=False,
    cost=_TRIMMED_COST,
    source="pairwise sums (Higham 1993, doi:10.1137/0914050) kept in a tree over ranks",
)
def rolling_winsorized_mean(
    arr: ArrayLike, window: Window, proportion: float = 0.1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Mean of each window with its smallest and largest observations pulled in.

    Parameters
    ----------
    arr : array_like of float, int or bool, shape (..., n, ...)
        The series, along `axis`.
    {window}
    proportion : float, default 0.1
        Share of the observations at each end, from 0 to below 0.5, that are replaced by the nearest one
        that is kept: of c observations ``int(proportion * c)``, as in :func:`scipy.stats.mstats.winsorize`.
    {options}

    Returns
    -------
    ndarray
        float32 for float32, else float64.

    Raises
    ------
    ValueError, TypeError
        For a bad proportion, array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations. The error is at most ``(log2(m) + 24) * 2**-53`` times the mean of the
    absolute values; all else is as in :func:`rolling_trimmed_mean`.

    Cost and Source: those of :func:`rolling_trimmed_mean`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_winsorized_mean([4.0, 1.0, 3.0, 2.0, 90.0], 4, 0.25)
    array([nan, nan, nan, 2.5, 2.5])
    """
    return _trimmed("winsorized_mean", arr, window, proportion, True, options)
