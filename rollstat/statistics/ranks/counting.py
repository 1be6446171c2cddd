"""Rolling rank of the newest value, number of distinct values and mode."""

from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from rollstat.kernels.rank_space.rank import METHODS
from rollstat.options import CommonOptions, Window, check_flag
from rollstat.statistics.common import call, statistic
from rollstat.statistics.ranks.computation import RANK_ALGORITHMS, Distinct, Mode, RankOfNewest

__all__ = ["rolling_mode", "rolling_nunique", "rolling_rank"]

_RANK_SET = {"rank_set": "every window and dtype"}
_REDUCTION = "Raykov (2023), An Optimal Algorithm for Sliding Window Order Statistics, ICDT 2023, section 4"


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
        Whether the smallest value has rank 1; otherwise the largest has.
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
    Results equal those of pandas' ``rolling.rank`` bit-for-bit where pandas has the method, except in the
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
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}")
    ascending, pct = check_flag("ascending", ascending), check_flag("pct", pct)
    parameters: dict[str, Any] = {"method": method, "ascending": ascending, "pct": pct}
    return call(RankOfNewest, [arr], window, options, "rank", RANK_ALGORITHMS, **parameters)


@statistic(
    family="ranks",
    algorithms=_RANK_SET,
    cost="O(1) amortised for each row that enters or leaves, after one sort of the data",
    source=_REDUCTION,
    pandas="nunique",
)
def rolling_nunique(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Number of distinct values of each window.

    Parameters
    ----------
    {series}
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
    element. Source: the reduction to sorted blocks of Raykov, *An Optimal Algorithm for Sliding Window Order
    Statistics*, ICDT 2023, section 4, doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_nunique([4.0, 1.0, 1.0, 1.0, 5.0], 3)
    array([nan, nan,  2.,  1.,  2.])
    """
    return call(Distinct, [arr], window, options, "nunique", _RANK_SET)


@statistic(
    family="ranks",
    algorithms=_RANK_SET,
    cost="O(log m) for each row that enters or leaves, in the worst case",
    source="segment tree of maximal counts over ranks",
)
def rolling_mode(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Most frequent value of each window, the smallest if there are several.

    Parameters
    ----------
    {series}
    {window}
    {options}

    Returns
    -------
    {in dtype}

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
    """
    return call(Mode, [arr], window, options, "mode", _RANK_SET)
