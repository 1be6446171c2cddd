"""Rolling minimum, maximum, their positions and their distance."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms import extrema as algorithms
from rollstat.computations.extrema import ALGORITHMS, ExtremaOf
from rollstat.dtypes import check_array, plain, union_mask
from rollstat.engine import run
from rollstat.functions.boxes import box_extrema
from rollstat.functions.common import statistic
from rollstat.options import CommonOptions, Options, Window, choice, whole_number
from rollstat.plan import Recipe
from rollstat.registry import check_algorithm

__all__ = [
    "lower_upper_envelope",
    "rolling_argmax",
    "rolling_argmin",
    "rolling_max",
    "rolling_min",
    "rolling_minmax",
    "rolling_ptp",
]

_COST = "O(1) amortised, O(m) worst case; O(log m) vector operations where windows are short"
_SOURCE = "Lemire (2006), Streaming Maximum-Minimum Filter; van Herk (1992), Gil and Werman (1993) for bulk"


def _extrema(
    arr: ArrayLike,
    window: Window,
    names: tuple[str, ...],
    name: str,
    options: CommonOptions,
    last: bool = False,
    relative_to: str = "data",
) -> list[NDArray[Any]]:
    if isinstance(options.get("axis"), tuple):
        if not set(names) <= {"min", "max"}:
            raise ValueError(f"axis must be one axis for {name}; it was {options.get('axis')!r}")
        return box_extrema(arr, window, names, dict(options))
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, ALGORITHMS, name)
    recipe = Recipe(ExtremaOf, (names, checked.algorithm, last, relative_to))
    return run([arr], window, recipe, checked).arrays


@statistic(family="extrema", algorithms=ALGORITHMS, cost=_COST, source=_SOURCE, pandas="min")
def rolling_min(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Minimum of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    {options}

    Returns
    -------
    ndarray
        Floats and datetimes in the dtype of `arr`. Integers and bool too with ``mode="valid"`` or
        ``fill_value=``, else as float64 with NaN for a missing result.

    Raises
    ------
    ValueError, TypeError
        For a bad array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations; infinities are ordinary values. Results are exact.

    With a tuple of axes as `axis` and a tuple of as many numbers of rows as `window`, the window is a box
    in an image or a volume. `mode` may then also be ``"reflect"``, ``"nearest"``, ``"mirror"``, ``"wrap"``
    or ``"constant"`` (with `fill_value`), for what stands beyond the edges as in :mod:`scipy.ndimage`,
    whose filters are centred: ``center=True``.

    Cost: O(1) an element amortised, in vector operations; a single element can cost the window.
    Source: Lemire, *Streaming Maximum-Minimum Filter Using No More than Three Comparisons per Element*,
    Nordic Journal of Computing 13(4), 2006 (``"wedge"``); van Herk (1992) and Gil and Werman (1993),
    doi:10.1109/34.211471 (``"block_scan"``).

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_min([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    array([nan, nan,  1.,  1.,  2.])
    >>> rollstat.rolling_min([[5, 2, 7], [3, 4, 9]], (2, 2), axis=(0, 1), mode="valid")
    array([[2, 2]])
    """
    return _extrema(arr, window, ("min",), "min", options)[0]


@statistic(family="extrema", algorithms=ALGORITHMS, cost=_COST, source=_SOURCE, pandas="max")
def rolling_max(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Maximum of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    {options}

    Returns
    -------
    ndarray
        As :func:`rolling_min`.

    Raises
    ------
    ValueError, TypeError
        For a bad array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations; infinities are ordinary values. Results are exact.

    Cost: O(1) an element amortised. Source: as :func:`rolling_min`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_max([4, 1, 3, 2, 5], 3, mode="valid")
    array([4, 3, 5])
    """
    return _extrema(arr, window, ("max",), "max", options)[0]


@statistic(
    family="extrema", algorithms=ALGORITHMS, cost=_COST, source=_SOURCE, outputs=("minimum", "maximum")
)
def rolling_minmax(
    arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum of each window, in one pass.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    {options}

    Returns
    -------
    minimum, maximum : ndarray
        Each as :func:`rolling_min`. `out` takes a pair of arrays.

    Raises
    ------
    ValueError, TypeError
        For a bad array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations; infinities are ordinary values. Results are exact. With
    ``algorithm="wedge"`` both take at most three comparisons an element together, two on monotone data.

    Cost: O(1) an element amortised. Source: as :func:`rolling_min`.

    Examples
    --------
    >>> import rollstat
    >>> low, high = rollstat.rolling_minmax([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    >>> low
    array([nan, nan,  1.,  1.,  2.])
    >>> high
    array([nan, nan,  4.,  3.,  5.])
    """
    low, high = _extrema(arr, window, ("min", "max"), "minmax", options)
    return low, high


def _position(
    arr: ArrayLike, window: Window, name: str, ties: str, relative_to: str, options: CommonOptions
) -> NDArray[np.int64]:
    choice("ties", ties, ("first", "last"))
    choice("relative_to", relative_to, ("data", "oldest", "newest"))
    return _extrema(arr, window, (name,), name, options, ties == "last", relative_to)[0]


_POSITION_SAMPLES: tuple[dict[str, str], ...] = (
    {},
    {"ties": "last"},
    {"relative_to": "oldest"},
    {"ties": "last", "relative_to": "newest"},
)


@statistic(family="extrema", samples=_POSITION_SAMPLES, algorithms=ALGORITHMS, cost=_COST, source=_SOURCE)
def rolling_argmin(
    arr: ArrayLike,
    window: Window,
    ties: str = "first",
    relative_to: str = "data",
    **options: Unpack[CommonOptions],
) -> NDArray[np.int64]:
    """Row of the minimum of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    ties : {"first", "last"}, default "first"
        Which of several equal minima is meant: the oldest or the newest.
    relative_to : {"data", "oldest", "newest"}, default "data"
        Positions count from the first row of the data; from the oldest row of the window, forward; or
        from its newest row, backward (as bottleneck does).
    {options}

    Returns
    -------
    ndarray of int64
        Positions along `axis`; -1 where missing.

    Raises
    ------
    ValueError, TypeError
        For a bad array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations; infinities are ordinary values.

    Cost: O(1) an element amortised. Source: as :func:`rolling_min`; Lemire's wedge keeps positions, so
    it gives them for nothing.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_argmin([4.0, 1.0, 3.0, 1.0, 5.0], 3)
    array([-1, -1,  1,  1,  3])
    >>> rollstat.rolling_argmin([4.0, 1.0, 3.0, 1.0, 5.0], 3, ties="last", relative_to="newest")
    array([-1, -1,  1,  0,  1])
    """
    return _position(arr, window, "argmin", ties, relative_to, options)


@statistic(family="extrema", samples=_POSITION_SAMPLES, algorithms=ALGORITHMS, cost=_COST, source=_SOURCE)
def rolling_argmax(
    arr: ArrayLike,
    window: Window,
    ties: str = "first",
    relative_to: str = "data",
    **options: Unpack[CommonOptions],
) -> NDArray[np.int64]:
    """Row of the maximum of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    ties : {"first", "last"}, default "first"
        Which of several equal maxima is meant: the oldest or the newest.
    relative_to : {"data", "oldest", "newest"}, default "data"
        As in :func:`rolling_argmin`.
    {options}

    Returns
    -------
    ndarray of int64
        Positions along `axis`; -1 where missing.

    Raises
    ------
    ValueError, TypeError
        For a bad array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations; infinities are ordinary values.

    Cost: O(1) an element amortised. Source: as :func:`rolling_argmin`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_argmax([4.0, 1.0, 3.0, 1.0, 5.0], 3, relative_to="oldest")
    array([-1, -1,  0,  1,  2])
    """
    return _position(arr, window, "argmax", ties, relative_to, options)


@statistic(family="extrema", algorithms=ALGORITHMS, cost=_COST, source=_SOURCE)
def rolling_ptp(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Distance from the minimum to the maximum of each window.

    Parameters
    ----------
    arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
        The series, along `axis`.
    {window}
    {options}

    Returns
    -------
    ndarray
        Floats in the dtype of `arr`; timedeltas for datetimes; integers as uint64, which holds every
        distance, with ``mode="valid"`` or ``fill_value=``, else as float64.

    Raises
    ------
    OverflowError
        If the distance of two datetimes does not fit in 64 bits.
    ValueError, TypeError
        For a bad array, window or option. Nothing is computed then.

    Notes
    -----
    Missing values are no observations; the distance of two equal infinities is 0. Floats are rounded
    once.

    Cost: O(1) an element amortised. Source: as :func:`rolling_min`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_ptp([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    array([nan, nan,  3.,  2.,  3.])
    """
    return _extrema(arr, window, ("ptp",), "ptp", options)[0]


def lower_upper_envelope(arr: ArrayLike, radius: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper envelope of a series, as the bound LB_Keogh of time warping needs it.

    Parameters
    ----------
    arr : array_like of float or int, shape (n,)
        The series.
    radius : int
        Rows that the envelope looks to both sides, at least 0; at the ends it looks as far as there are
        rows.

    Returns
    -------
    lower, upper : ndarray, shape (n,), dtype of `arr`
        Minimum and maximum of the rows ``i - radius, ..., i + radius``. NaN, or a masked entry, is no
        observation; where there is none, the result is NaN.

    Raises
    ------
    ValueError, TypeError
        For an array of other than one dimension, masked integers, or a bad radius.

    Notes
    -----
    Cost: O(1) an element amortised. Source: Lemire, *Streaming Maximum-Minimum Filter Using No More than
    Three Comparisons per Element*, 2006, section 1; Keogh and Ratanamahatana (2005),
    doi:10.1007/s10115-004-0154-9.

    Examples
    --------
    >>> import rollstat
    >>> lower, upper = rollstat.lower_upper_envelope([1.0, 5.0, 2.0, 4.0], 1)
    >>> lower
    array([1., 1., 2., 2.])
    >>> upper
    array([5., 5., 5., 4.])
    """
    array = check_array("arr", arr)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise ValueError(f"arr must be a 1-d series of numbers; it was {array.ndim}-d, of {array.dtype}")
    values = plain(array)
    mask = union_mask([arr], [array])
    if mask is not None and mask.any():
        if array.dtype.kind != "f":
            raise ValueError(f"arr must have no masked entries; it was masked {array.dtype}")
        values = np.where(mask, values.dtype.type(np.nan), values)
    radius = min(whole_number("radius", radius, 0), len(values))
    low, high = np.empty_like(values), np.empty_like(values)
    nan = algorithms.lower_upper_envelope(values, radius, low, high)
    if nan:
        empty = low > high  # without an observation each is the value that never wins
        low[empty] = high[empty] = np.nan
    return low, high
