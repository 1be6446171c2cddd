"""Interquartile range, MAD, Hampel filter, Gini mean difference, trimmed means, rank, nunique and mode."""

import math
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.kernels.rank_space.rank import METHODS
from rollstat.kernels.selection.quantiles import INTERPOLATIONS
from rollstat.options import CommonOptions, Window, check_flag, choice
from rollstat.statistics.common import (
    call,
    check_base,
    check_number,
    check_scale,
    check_share,
    statistic,
)
from rollstat.statistics.ranks.computation import (
    RANK_ALGORITHMS,
    Distinct,
    Entropy,
    MeanDifference,
    Mode,
    RankOfNewest,
)
from rollstat.statistics.ranks.labels import as_codes, labels_of
from rollstat.statistics.ranks.mad import Deviation, Hampel
from rollstat.statistics.ranks.rank_space import NETWORK, RANK_SET, SORTED_WINDOW
from rollstat.statistics.ranks.trimmed_mean import TrimmedMean
from rollstat.statistics.selection.computation import ALGORITHMS, OrderStatistic, Spread
from rollstat.thresholds import (
    SORTED_WINDOW_OF_DEVIATIONS,
    SORTED_WINDOW_OF_MEAN_DIFFERENCES,
    SORTED_WINDOW_OF_TRIMMED_MEANS,
)

_REDUCTION = "Raykov (2023), An Optimal Algorithm for Sliding Window Order Statistics, ICDT 2023, section 4"
_DEVIATION: dict[str, Any] = {
    "family": "robust",
    "algorithms": NETWORK,
    "cost": (
        f"O(log m) amortised and worst case; O(m) for windows of up to {SORTED_WINDOW_OF_DEVIATIONS} rows"
    ),
    "source": (
        "Frederickson and Johnson (1982), The complexity of selection and ranking in X + Y and matrices with "
        "sorted columns, doi:10.1016/0022-0000(82)90048-4"
    ),
}
_TRIMMED: dict[str, Any] = {
    "family": "robust",
    "algorithms": NETWORK,
    "kinds": "fiub",
    "exact": False,
    "samples": ({}, {"proportion": 0.25}),
    "cost": f"O(log m) amortised; O(m) for windows of up to {SORTED_WINDOW_OF_TRIMMED_MEANS} rows",
    "source": "pairwise sums (Higham 1993, doi:10.1137/0914050) kept in a tree over ranks",
}


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
    """Interquartile range of each window, or the difference of any two quantiles.

    Parameters
    ----------
    {series}
    {window}
    q_low : float, default 0.25
        The lower quantile, between 0 and `q_high`.
    q_high : float, default 0.75
        The upper quantile, between `q_low` and 1.
    interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}, default "linear"
        How to compute a quantile that lies between two observations, as in :func:`rolling_quantile`.
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`. Datetimes as timedelta64, after rounding each quantile down to its unit.
        Integers and bool as uint64 where both quantiles are observations (``"lower"``, ``"higher"``,
        ``"nearest"``) and no result can be missing (``mode="valid"``, ``fill_value=``), otherwise as float64.

    Raises
    ------
    ValueError, TypeError
        If a quantile, `interpolation`, the array, the window or an option is invalid. Raised before anything
        is computed.
    OverflowError
        If a difference of datetimes does not fit in 64 bits.

    Notes
    -----
    The difference of two results of :func:`rolling_quantile`. 64-bit integers are subtracted before anything
    is rounded, so results for large integers are rounded at most three times. Missing values are ignored; the
    difference of two equal infinities is 0.

    Cost: O(log m) per element, amortised and in the worst case; one selection finds both quantiles. Source:
    Raykov, *An Optimal Algorithm for Sliding Window Order Statistics*, ICDT 2023, section 4,
    doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_iqr([4.0, 1.0, 3.0, 2.0, 8.0], 3)
    array([nan, nan, 1.5, 1. , 3. ])
    """
    q_low, q_high = check_number("q_low", q_low, 0, 1), check_number("q_high", q_high, 0, 1)
    if q_low > q_high:
        raise ValueError(f"q_low must be at most q_high; got {q_low!r} and {q_high!r}")
    choice("interpolation", interpolation, INTERPOLATIONS)
    requests = tuple(OrderStatistic(q=q, interpolation=interpolation) for q in (q_low, q_high))
    return call(Spread, [arr], window, options, "iqr", ALGORITHMS, requests=requests)


@statistic(samples=({}, {"scale": "normal"}, {"scale": 2.5}), **_DEVIATION)
def rolling_mad(
    arr: ArrayLike, window: Window, scale: float | str = 1.0, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Median absolute deviation of each window from its median.

    Parameters
    ----------
    {series}
    {window}
    scale : float or "normal", default 1.0
        Multiplies the deviation. ``"normal"``, 1.4826, makes the result an estimate of the standard deviation
        of normal data. :func:`scipy.stats.median_abs_deviation` divides by its `scale` instead.
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`, integers and bool as float64, datetimes as timedelta64, rounded down to
        their unit after the multiplication.

    Raises
    ------
    ValueError, TypeError
        If `scale`, the array, the window or an option is invalid. Raised before anything is computed.
    OverflowError
        If a deviation of datetimes, times `scale`, does not fit in 64 bits.

    Notes
    -----
    Bit-for-bit equal to ``np.median(abs(x - np.median(x)))`` of the observations x of a window in float64:
    distances are rounded in the same way and selected exactly. float32 is rounded once more at the end.
    Results for integers are rounded once, at the end, even beyond 2**53. Missing values are ignored.
    Infinities are ordinary values, but the result is NaN where the median is infinite.

    Cost: O(log m) per element, amortised and in the worst case. The distances form two sorted sequences. From
    window to window, the boundary of the nearest half usually moves by a few observations; if it moves
    farther, as in alternating signals, one descent of both sequences finds it. Windows of up to 20 rows are
    kept as a sorted array, and up to 24 are sorted many at a time: O(m), but faster. Source: Frederickson and
    Johnson, *The Complexity of Selection and Ranking in X + Y and Matrices with Sorted Columns*, J. Comput.
    Syst. Sci. 24, 1982, doi:10.1016/0022-0000(82)90048-4.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_mad([4.0, 1.0, 3.0, 2.0, 9.0], 3)
    array([nan, nan,  1.,  1.,  1.])
    """
    return call(Deviation, [arr], window, options, "mad", NETWORK, scale=check_scale(scale))


@statistic(
    samples=({}, {"threshold": 1.0, "scale": 1.0}, {"exclude_self": True}),
    kinds="fiub",
    outputs=("cleaned", "outlier"),
    ordered=True,
    **_DEVIATION,
)
def rolling_hampel(
    arr: ArrayLike,
    window: Window,
    threshold: float = 3.0,
    scale: float | str = "normal",
    exclude_self: bool = False,
    **options: Unpack[CommonOptions],
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Replace outliers with the median of their window, and mark them.

    A value is an outlier if its distance from the median of its window exceeds `threshold` times `scale`
    times the median absolute deviation of the window.

    Parameters
    ----------
    {numbers}
    {window}
    threshold : float, default 3.0
        Outliers lie farther from the median than this number of scaled deviations.
    scale : float or "normal", default "normal"
        Multiplies the deviation. ``"normal"``, 1.4826, makes the deviation an estimate of the standard
        deviation of normal data.
    exclude_self : bool, default False
        Whether to compare a value only with the other values in its window. Without others, the result is
        missing.
    {options}

    Returns
    -------
    cleaned : ndarray of float, shape (..., rows, ...)
        Floats in the dtype of `arr`, integers and bool as float64. NaN where the window has fewer than
        `min_periods` observations (``min_periods=1`` keeps the ends of the series), and where the value
        itself is missing.
    outlier : ndarray of bool, shape (..., rows, ...)
        True where a value was replaced. `out` takes a pair of arrays.

    Raises
    ------
    ValueError, TypeError
        If `threshold`, `scale`, the array, the window or an option is invalid, or if explicit bounds do not
        have one window for each row. Raised before anything is computed.

    Notes
    -----
    With ``center=True`` the window surrounds its row, otherwise it ends with the row; with ``closed="left"``
    it holds only earlier values. If more than half of the observations of a window are equal, the
    deviation is 0 and every other value is an outlier. Missing values are ignored and are not outliers. An
    infinite value is an outlier unless the median is infinite too. Medians and deviations have the accuracy
    of :func:`rolling_median` and :func:`rolling_mad`.

    Cost: as for :func:`rolling_mad`; O(m) with `exclude_self`. Source: Hampel, *The Influence Curve and Its
    Role in Robust Estimation*, J. Amer. Statist. Assoc. 69 (1974), doi:10.1080/01621459.1974.10482962.

    Examples
    --------
    >>> import rollstat
    >>> cleaned, outlier = rollstat.rolling_hampel([1.0, 2.0, 1.5, 90.0, 2.5], 5, center=True, min_periods=1)
    >>> cleaned
    array([1.  , 2.  , 1.5 , 2.25, 2.5 ])
    >>> outlier
    array([False, False, False,  True, False])
    """
    threshold = check_number("threshold", threshold, 0, math.inf)
    parameters: dict[str, Any] = {"factor": threshold * check_scale(scale)}
    parameters["exclude_self"] = check_flag("exclude_self", exclude_self)
    return call(Hampel, [arr], window, options, "hampel", NETWORK, **parameters)


hampel_filter = rolling_hampel


@statistic(
    family="robust",
    algorithms=SORTED_WINDOW,
    kinds="fiub",
    exact=False,
    error_bound=("(6 * log2(max(m, 2048)) + 26) * u * result",),
    cost=(
        "O(log m) amortised and worst case; "
        f"O(m) for windows of up to {SORTED_WINDOW_OF_MEAN_DIFFERENCES} rows"
    ),
    source="Chan, Golub and LeVeque (1979), Updating Formulae, merged in a tree over ranks",
)
def rolling_gini(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Gini mean difference of each window: the mean distance between all pairs of observations.

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
    The mean of ``abs(x[i] - x[j])`` over all pairs ``i < j`` of the observations x of a window, in the units
    of `arr`. Half of it, divided by the mean, is the Gini coefficient. Missing values are ignored; at least
    two observations are needed. Constant windows give exactly 0. One infinite observation gives inf; two
    equal infinities give NaN.

    Nothing is subtracted from a sum and no terms cancel, so a common offset does not reduce accuracy, and
    values that have left the window have no influence. The error is at most ``{error bound}`` for m
    observations, with u = 2**-53, or ``(m / 4 + 8) * u * result`` with ``algorithm="sorted_window"``. Sums
    over pairs of integers are exact up to 2**53, so where the range of a window is at most ``2**55 / m**2``
    only the final division rounds.

    Cost: O(log m) per element, amortised and in the worst case; windows of up to 128 rows are kept as a
    sorted array: O(m), but faster. Source: the merge of Chan, Golub and LeVeque, *Updating Formulae
    and a Pairwise Algorithm for Computing Sample Variances*, 1979, doi:10.1007/978-3-642-51461-6_3, for pairs
    instead of squares, in a tree over ranks.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_gini([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    array([       nan,        nan, 2.        , 1.33333333, 2.        ])
    """
    return call(MeanDifference, [arr], window, options, "gini", SORTED_WINDOW)


def _trimmed(
    name: str, arr: ArrayLike, window: Window, proportion: float, winsorize: bool, options: CommonOptions
) -> Any:
    """Return the call of trimmed or winsorized means."""
    parameters: dict[str, Any] = {"proportion": check_share(proportion), "winsorize": winsorize}
    return call(TrimmedMean, [arr], window, options, name, NETWORK, **parameters)


@statistic(error_bound=("(log2(m) + 20) * u * mean(abs(kept))",), **_TRIMMED)
def rolling_trimmed_mean(
    arr: ArrayLike, window: Window, proportion: float = 0.1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Mean of each window without its smallest and largest observations.

    Parameters
    ----------
    {numbers}
    {window}
    proportion : float, default 0.1
        Proportion of the observations to leave out at each end, from 0 to below 0.5: ``int(proportion * c)``
        of c observations, as in :func:`scipy.stats.trim_mean`.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `proportion`, the array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    Missing values are ignored. No sum contains a value that is cut off, such as an infinity, and nothing is
    ever subtracted from a sum, so values that have left the window have no influence. The error is at most
    ``{error bound}`` for m observations, with u = 2**-53. Integers and float32 are
    added in float64 too. If a block of the series has integers beyond 2**53, they are added
    exactly, with ``rank_set``, and each mean is rounded once.

    Cost: O(log m) per element, amortised; windows of up to 80 rows are kept as a sorted array, or sorted many
    at a time: O(m), but faster. Source: pairwise summation, Higham, *The Accuracy of Floating Point
    Summation*, SIAM J. Sci. Comput. 14, 1993, doi:10.1137/0914050, in a tree over ranks.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_trimmed_mean([4.0, 1.0, 3.0, 2.0, 90.0], 4, 0.25)
    array([nan, nan, nan, 2.5, 2.5])
    """
    return _trimmed("trimmed_mean", arr, window, proportion, False, options)


@statistic(error_bound=("(log2(m) + 24) * u * mean(abs(kept))",), **_TRIMMED)
def rolling_winsorized_mean(
    arr: ArrayLike, window: Window, proportion: float = 0.1, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Mean of each window after replacing its smallest and largest observations with the nearest kept values.

    Parameters
    ----------
    {numbers}
    {window}
    proportion : float, default 0.1
        Proportion of the observations to replace at each end, from 0 to below 0.5: ``int(proportion * c)`` of
        c observations, as in :func:`scipy.stats.mstats.winsorize`.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `proportion`, the array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    Missing values are ignored. The error is at most ``{error bound}`` for the m values after
    replacement (`kept`), with u = 2**-53; everything else is as in :func:`rolling_trimmed_mean`.

    Cost and Source: as in :func:`rolling_trimmed_mean`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_winsorized_mean([4.0, 1.0, 3.0, 2.0, 90.0], 4, 0.25)
    array([nan, nan, nan, 2.5, 2.5])
    """
    return _trimmed("winsorized_mean", arr, window, proportion, True, options)


@statistic(
    family="ranks",
    samples=(
        {},
        {"method": "min", "pct": True},
        {"method": "max", "ascending": False},
        {"method": "dense"},
        {"method": "first", "ascending": False},
        {"method": "dense", "ascending": False, "pct": True},
    ),
    algorithms=RANK_ALGORITHMS,
    cost="O(log m) amortised and worst case; O(m) of vector code with comparisons",
    source=_REDUCTION,
    pandas="rank",
    ordered=True,
)
def rolling_rank(
    arr: ArrayLike,
    window: Window,
    method: str = "average",
    ascending: bool = True,
    pct: bool = False,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Rank of the newest value among the observations of its window.

    Parameters
    ----------
    {series}
    {window}
    method : {"average", "min", "max", "dense", "first"}, default "average"
        Rank of equal values: the mean, the lowest or the highest of their ranks; their rank among distinct
        values; or the rank in the order of rows, in which the newest of equal values is the last.
    ascending : bool, default True
        Whether the smallest value has rank 1; otherwise the largest value has rank 1.
    pct : bool, default False
        Whether to divide by the number of observations (with ``"dense"``, of distinct values).
    {options}

    Returns
    -------
    ndarray of float, shape (..., rows, ...)
        float32 for float32 input, otherwise float64. NaN where missing, and where the last row of the window
        is itself missing.

    Raises
    ------
    ValueError, TypeError
        If `method`, `ascending`, `pct`, the array, the window or an option is invalid. Raised before anything
        is computed.

    Notes
    -----
    Results equal pandas' ``rolling.rank`` bit-for-bit where pandas has the method, except in the
    last rows of centred windows, where pandas repeats an earlier rank. Missing values are ignored, infinities
    are ordinary values and -0.0 equals 0.0. Values are compared exactly; ranks and fractions are rounded
    once.

    Cost: O(log m) per element, amortised and in the worst case, in a set of ranks after one sort of the data;
    in narrow windows every observation is compared with the newest, for many windows at a time. Source:
    Raykov, *An Optimal Algorithm for Sliding Window Order Statistics*, ICDT 2023, section 4,
    doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_rank([4.0, 1.0, 3.0, 3.0, 5.0], 3)
    array([nan, nan, 2. , 2.5, 3. ])
    >>> rollstat.rolling_rank([4, 1, 3, 3, 5], 3, "min", ascending=False, mode="valid")
    array([2., 1., 1.])
    """
    choice("method", method, METHODS)
    ascending, pct = check_flag("ascending", ascending), check_flag("pct", pct)
    parameters: dict[str, Any] = {"method": method, "ascending": ascending, "pct": pct}
    return call(RankOfNewest, [arr], window, options, "rank", RANK_ALGORITHMS, **parameters)


@statistic(
    family="ranks",
    algorithms=RANK_SET,
    cost="O(1) amortised for each row that enters or leaves, after one sort of the data",
    source=_REDUCTION,
    pandas="nunique",
)
def rolling_nunique(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Number of distinct values in each window.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64, timedelta64 or str, shape (..., n, ...)
        The series, along `axis`. Among strings, None is missing.
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
    Missing values are not counted; -0.0 equals 0.0. Counts are exact.

    Cost: O(1) for each row that enters or leaves a window, after one sort of the data in O(log m) per
    element; O(log n) for windows in any order. Source: the reduction to sorted blocks of Raykov, *An Optimal
    Algorithm for Sliding Window Order Statistics*, ICDT 2023, section 4, doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_nunique([4.0, 1.0, 1.0, 1.0, 5.0], 3)
    array([nan, nan,  2.,  1.,  2.])
    """
    coded = as_codes(arr)
    return call(Distinct, [arr if coded is None else coded[0]], window, options, "nunique", RANK_SET)


@statistic(
    family="ranks",
    algorithms=RANK_SET,
    cost="O(log m) for each row that enters or leaves, in the worst case",
    source="segment tree of maximal counts over ranks",
)
def rolling_mode(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Most frequent value in each window (the smallest if there are several).

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64, timedelta64 or str, shape (..., n, ...)
        The series, along `axis`. Among strings, None is missing.
    {window}
    {options}

    Returns
    -------
    {in dtype}
        Strings as objects, with None for a missing result.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; -0.0 equals 0.0. The mode is an observation, so it is exact.

    Cost: O(log m) for each row that enters or leaves a window, in the worst case. Source: a segment tree of
    maximal counts over ranks; see Krizanc, Morin and Smid, *Range Mode and Range Median Queries on Lists and
    Trees*, Nordic Journal of Computing 12, 2005.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_mode([4.0, 1.0, 1.0, 5.0, 5.0], 3)
    array([nan, nan,  1.,  1.,  5.])
    >>> rollstat.rolling_mode([3, 3, 2, 2], 4, mode="valid")
    array([2])
    >>> rollstat.rolling_mode(["b", "a", "a", "b"], 3)
    array([None, None, 'a', 'a'], dtype=object)
    """
    coded = as_codes(arr)
    if coded is None:
        return call(Mode, [arr], window, options, "mode", RANK_SET)
    if options.get("out") is not None:
        raise ValueError("out must be None for strings, whose modes are objects")
    codes, labels = coded
    finish = partial(labels_of, labels=labels, fill_value=options.pop("fill_value", None))
    return call(Mode, [codes], window, options, "mode", RANK_SET, finish=finish)


@statistic(
    family="ranks",
    samples=({}, {"base": 2.0}),
    algorithms=RANK_SET,
    exact=False,
    error_bound=("(log2(max(m, 16384)) + 12) * u * log(m) / log(base)",),
    cost="O(log m) for each row that enters or leaves, in the worst case",
    source="Shannon (1948), A Mathematical Theory of Communication; sums in a tree over ranks",
)
def rolling_entropy(
    arr: ArrayLike, window: Window, base: float = math.e, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """Shannon entropy of the value frequencies in each window.

    Parameters
    ----------
    {series}
    {window}
    base : float, default e
        Base of the logarithm, above 1: 2 gives bits, e gives nats.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If `base`, the array, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    ``-sum(p * log(p))`` over the distinct values of a window, where p is the proportion of the observations
    that equal a value, as in :func:`scipy.stats.entropy` of the counts. Missing values are ignored;
    -0.0 equals 0.0. Windows with one distinct value have entropy 0. Round or bin continuous values first:
    if all values are different, the entropy is the logarithm of their number.

    No term is subtracted from a sum, so values that have left the window have no influence. The error is at
    most ``{error bound}`` for m observations, with u = 2**-53.

    Cost: O(log m) for each row that enters or leaves a window, in the worst case. Source: Shannon, *A
    Mathematical Theory of Communication*, Bell System Technical Journal 27, 1948,
    doi:10.1002/j.1538-7305.1948.tb01338.x; sums as in :func:`rolling_trimmed_mean`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_entropy([4.0, 1.0, 1.0, 1.0, 5.0, 6.0], 4, base=2).round(3)
    array([  nan,   nan,   nan, 0.811, 0.811, 1.5  ])
    """
    return call(Entropy, [arr], window, options, "entropy", RANK_SET, unit=math.log(check_base(base)))
