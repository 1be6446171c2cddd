"""Rolling order statistics: k-th smallest, its position, median and quantiles."""

import numbers
from collections.abc import Sequence
from math import prod
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.kernels.selection.quantiles import INTERPOLATIONS
from rollstat.options import CommonOptions, Window, choice
from rollstat.statistics import boxes
from rollstat.statistics.common import call, check_k, check_number, statistic
from rollstat.statistics.selection.computation import ALGORITHMS, OrderStatistic, OrderStatistics

_POSITIONS = {name: served for name, served in ALGORITHMS.items() if name != "small_window"}
_SELECTION: dict[str, Any] = {
    "family": "selection",
    "cost": "O(log m) amortised and worst case; O(log k) worst case with three_trees",
    "source": "Raykov (2023), An Optimal Algorithm for Sliding Window Order Statistics, ICDT 2023",
}
_KTH: dict[str, Any] = {**_SELECTION, "samples": ({"k": 1}, {"k": 2}, {"k": -1})}


def _several(name: str, value: Any) -> tuple[list[Any], bool]:
    """Return a list of values from a number or a sequence of numbers, and whether it was a single number."""
    if isinstance(value, (str, bytes)) or np.ndim(value) > 1:
        raise TypeError(f"{name} must be a number or a sequence of numbers; got {value!r}")
    if np.ndim(value) == 0:
        return [value], True
    values = list(value)
    if not values:
        raise ValueError(f"{name} must hold at least one value; got {value!r}")
    return values, False


def _check_k(k: Any, window: Window, options: CommonOptions) -> int:
    """Return k as an int; raise if it is not an integer in the range that the window allows."""
    rows = isinstance(window, numbers.Integral) and options.get("times") is None
    most = int(window) + (options.get("closed") == "both") if rows else None
    if isinstance(options.get("axis"), tuple) and isinstance(window, tuple):
        cells = [width for width in window if isinstance(width, numbers.Integral)]
        most = int(prod(cells)) if len(cells) == len(window) else None
    return check_k(k, most)


def _select(
    arr: ArrayLike,
    window: Window,
    requests: Sequence[OrderStatistic],
    name: str,
    one: bool,
    options: CommonOptions,
    positions: bool = False,
) -> Any:
    """Return the call of order statistics, stacked along a new first axis unless there is only `one`."""
    if isinstance(options.get("axis"), tuple):
        if positions:
            raise ValueError(f"axis must be one axis for {name}; got {options.get('axis')!r}")
        return boxes.box_order_statistics(arr, window, requests, one, dict(options))
    algorithms = _POSITIONS if positions else ALGORITHMS
    parameters: dict[str, Any] = {"requests": tuple(requests), "positions": positions}
    return call(OrderStatistics, [arr], window, options, name, algorithms, stack=not one, **parameters)


@statistic(algorithms=ALGORITHMS, **_KTH)
def rolling_kth(
    arr: ArrayLike, k: int | Sequence[int], window: Window, **options: Unpack[CommonOptions]
) -> NDArray[Any]:
    """k-th smallest observation of each window.

    Parameters
    ----------
    {series}
    k : int or sequence of int
        Which order statistic: 1 is the smallest observation, 2 the second smallest, -1 the largest. A
        sequence computes several in one pass and stacks them along a new first axis.
    {window}
    {options}

    Returns
    -------
    {in dtype}

    Raises
    ------
    ValueError, TypeError
        If `k` is not in ``1..m`` or ``-m..-1`` (``m + 1`` with ``closed="both"``, because windows then hold
        one row more), or if the array, the window or an option is invalid. Raised before anything is
        computed.

    Notes
    -----
    Missing values are ignored. The result is missing if the window has fewer than ``max(|k|, min_periods)``
    observations. Infinities are ordinary values, and -0.0 equals 0.0. Selection does no arithmetic, so
    results are exact. `axis` may be a tuple for boxes; see :func:`rolling_median`.

    Cost: O(log m) per element, amortised and in the worst case; O(log k) in the worst case with
    ``algorithm="three_trees"`` (optimal). Source: Raykov, *An Optimal Algorithm for Sliding
    Window Order Statistics*, ICDT 2023, sections 3 and A, doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_kth([4.0, 1.0, 3.0, 2.0, 5.0], 2, 3)
    array([nan, nan,  3.,  2.,  3.])
    >>> rollstat.rolling_kth([4, 1, 3, 2, 5], [1, -1], 3, mode="valid")
    array([[1, 1, 2],
           [4, 3, 5]])
    """
    values, one = _several("k", k)
    requests = [OrderStatistic(_check_k(value, window, options)) for value in values]
    return _select(arr, window, requests, "kth", one, options)


@statistic(algorithms=_POSITIONS, ordered=True, **_KTH)
def rolling_argkth(
    arr: ArrayLike, k: int | Sequence[int], window: Window, **options: Unpack[CommonOptions]
) -> NDArray[np.int64]:
    """Position of the k-th smallest observation of each window.

    Parameters
    ----------
    {series}
    k : int or sequence of int
        Which order statistic: 1 is the smallest observation, 2 the second smallest, -1 the largest. A
        sequence computes several in one pass and stacks them along a new first axis.
    {window}
    {options}

    Returns
    -------
    ndarray of int64, shape (..., rows, ...)
        Positions along `axis`, counted from the first row of the data; -1 where missing. The older of equal
        values counts as the smaller.

    Raises
    ------
    ValueError, TypeError
        As in :func:`rolling_kth`.

    Notes
    -----
    Missing values are ignored. Positions are exact; use them to gather values from another series.

    Cost: O(log m) per element, amortised and in the worst case. Source: as in :func:`rolling_kth`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_argkth([4.0, 1.0, 3.0, 2.0, 5.0], 1, 3)
    array([-1, -1,  1,  1,  3])
    """
    values, one = _several("k", k)
    requests = [OrderStatistic(_check_k(value, window, options)) for value in values]
    return _select(arr, window, requests, "argkth", one, options, positions=True)


@statistic(algorithms=ALGORITHMS, pandas="median", **_SELECTION)
def rolling_median(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Median of each window.

    Parameters
    ----------
    {series}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats and datetimes in the dtype of `arr`, integers and bool as float64. The median of an even number
        of observations is ``(a + b) / 2``; for datetimes it is rounded down to their unit.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; infinities are ordinary values. The median of an odd number of observations is
    exact; ``(a + b) / 2`` is rounded once.

    If `axis` is a tuple of axes and `window` a tuple of as many numbers of rows, the window is a box in an
    image or a volume, with the `mode` of :func:`rolling_min`: the filters of :mod:`scipy.ndimage` correspond
    to ``center=True``. Computing a box takes as long as moving a row window with the same number of values by
    one column of the box.

    Cost: O(log m) per element, amortised and in the worst case. Source: Raykov, *An Optimal Algorithm for
    Sliding Window Order Statistics*, ICDT 2023, section 4 (selection by sorting blocks),
    doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_median([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    array([nan, nan,  3.,  2.,  3.])
    >>> rollstat.rolling_median([4.0, 1.0, 3.0, 2.0], 2, min_periods=1)
    array([4. , 2.5, 2. , 2.5])
    >>> rollstat.rolling_median([[5, 2, 7], [3, 4, 9]], (2, 2), axis=(0, 1), mode="valid")
    array([[3.5, 5.5]])
    """
    requests = [OrderStatistic(q=0.5, interpolation="midpoint")]
    return _select(arr, window, requests, "median", True, options)


@statistic(
    samples=(
        {"q": 0.05},
        {"q": 0.7, "interpolation": "nearest"},
        {"q": 0.5, "interpolation": "higher"},
        {"q": 0.3, "interpolation": "lower"},
        {"q": 0.9, "interpolation": "midpoint"},
    ),
    algorithms=ALGORITHMS,
    pandas="quantile",
    **_SELECTION,
)
def rolling_quantile(
    arr: ArrayLike,
    window: Window,
    q: float | Sequence[float],
    interpolation: str = "linear",
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """q-quantile of each window.

    Parameters
    ----------
    {series}
    {window}
    q : float or sequence of float
        Between 0 and 1. A sequence computes several in one pass and stacks them along a new first axis.
    interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}, default "linear"
        How to compute a quantile that lies between two observations, as in pandas.
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats and datetimes in the dtype of `arr`; datetimes are rounded down to their unit. Integers and
        bool keep their dtype where the quantile is an observation (``"lower"``, ``"higher"``, ``"nearest"``)
        and no result can be missing (``mode="valid"``, ``fill_value=``); otherwise they are float64.

    Raises
    ------
    ValueError, TypeError
        If `q` is not between 0 and 1, or if `interpolation`, the array, the window or an option is invalid.
        Raised before anything is computed.

    Notes
    -----
    With c observations the position is ``h = q * (c - 1)``, and linear interpolation gives
    ``a + (b - a) * (h - floor(h))``, rounded as in pandas: for q = 0.5 the last bit can differ from
    the median's ``(a + b) / 2``. Missing values are ignored; infinities are ordinary values. `axis` may be a
    tuple for boxes; see :func:`rolling_median`.

    Cost: O(log m) per element, amortised and in the worst case, for every q. Source: Raykov, *An Optimal
    Algorithm for Sliding Window Order Statistics*, ICDT 2023, section 4, doi:10.4230/LIPIcs.ICDT.2023.5.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_quantile([4.0, 1.0, 3.0, 2.0, 5.0], 3, 0.25)
    array([nan, nan, 2. , 1.5, 2.5])
    >>> rollstat.rolling_quantile([4, 1, 3, 2, 5], 3, [0, 1], "lower", mode="valid")
    array([[1, 1, 2],
           [4, 3, 5]])
    """
    choice("interpolation", interpolation, INTERPOLATIONS)
    values, one = _several("q", q)
    requests = [OrderStatistic(0, check_number("q", value, 0, 1), interpolation) for value in values]
    return _select(arr, window, requests, "quantile", one, options)
