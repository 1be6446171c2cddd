"""Rolling minimum, maximum, their positions and their difference."""

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.dtypes import check_array, plain, union_mask
from rollstat.options import CommonOptions, Window, choice, whole_number
from rollstat.statistics import boxes
from rollstat.statistics.common import call, statistic
from rollstat.statistics.extrema.computation import ALGORITHMS, ExtremaOf

_EXTREMA: dict[str, Any] = {
    "family": "extrema",
    "algorithms": ALGORITHMS,
    "cost": "O(1) amortised, O(m) worst case; O(log m) vector operations where windows are short",
    "source": (
        "Lemire (2006), Streaming Maximum-Minimum Filter; van Herk (1992), Gil and Werman (1993) for bulk"
    ),
}
_POSITION: dict[str, Any] = {
    **_EXTREMA,
    "ordered": True,
    "samples": (
        {},
        {"ties": "last"},
        {"relative_to": "oldest"},
        {"ties": "last", "relative_to": "newest"},
    ),
}


def _extrema(
    arr: ArrayLike,
    window: Window,
    names: tuple[str, ...],
    name: str,
    options: CommonOptions,
    ties: str = "first",
    relative_to: str = "data",
) -> Any:
    """Return the call of the extrema `names`, over windows along one axis or over boxes."""
    rules = ties == "last", ties == "opposite"
    if isinstance(options.get("axis"), tuple):
        if "ptp" in names:
            raise ValueError(f"axis must be one axis for {name}; got {options.get('axis')!r}")
        if relative_to != "data":
            raise ValueError(f"relative_to must be 'data' for boxes; got {relative_to!r}")
        return boxes.box_extrema(arr, window, names, dict(options), *rules)
    parameters: dict[str, Any] = dict(zip(("last", "opposite"), rules))
    parameters |= {"names": names, "relative_to": relative_to}
    return call(ExtremaOf, [arr], window, options, name, ALGORITHMS, **parameters)


@statistic(pandas="min", **_EXTREMA)
def rolling_min(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Minimum of each window.

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
    Missing values are ignored; infinities are ordinary values. Results are exact.

    If `axis` is a tuple of axes and `window` a tuple of as many numbers of rows, the window is a box in an
    image or a volume. `mode` can then also be ``"reflect"``, ``"nearest"``, ``"mirror"``, ``"wrap"`` or
    ``"constant"`` to extend the array beyond its edges as in :mod:`scipy.ndimage`. That module's filters
    correspond to ``center=True``. With ``"constant"``, all elements beyond the edges count as observations
    with the value `fill_value` (default 0); if `fill_value` is NaN or NaT, boxes end at the edges. If
    `fill_value` is given, it replaces missing results. Masked elements and NaT are missing. The options of a
    window along one axis (`closed`, `step`, `times`, `segments`, `algorithm`) do not apply.

    Cost: O(1) per element amortised, O(m) in the worst case; O(log m) vector operations in short windows.
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
    return _extrema(arr, window, ("min",), "min", options)


@statistic(pandas="max", **_EXTREMA)
def rolling_max(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Maximum of each window.

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
    Missing values are ignored; infinities are ordinary values. Results are exact. Tuples as `axis` and
    `window` give maxima of boxes; see :func:`rolling_min`.

    Cost and Source: as in :func:`rolling_min`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_max([4, 1, 3, 2, 5], 3, mode="valid")
    array([4, 3, 5])
    """
    return _extrema(arr, window, ("max",), "max", options)


@statistic(outputs=("minimum", "maximum"), **_EXTREMA)
def rolling_minmax(
    arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum of each window, in one call.

    Parameters
    ----------
    {series}
    {window}
    {options}

    Returns
    -------
    minimum, maximum : ndarray, shape (..., rows, ...)
        Floats and datetimes in the dtype of `arr`. Integers and bool keep their dtype with ``mode="valid"``
        or ``fill_value=``; otherwise they are float64, with NaN for a missing result. `out` takes a pair of
        arrays.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; infinities are ordinary values. Results are exact. Tuples as `axis` and
    `window` give the extrema of boxes; see :func:`rolling_min`. With ``algorithm="wedge"`` both extrema
    together take at most three comparisons per element, two on monotone data; one thread then computes each
    line.

    Cost and Source: as in :func:`rolling_min`.

    Examples
    --------
    >>> import rollstat
    >>> low, high = rollstat.rolling_minmax([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    >>> low
    array([nan, nan,  1.,  1.,  2.])
    >>> high
    array([nan, nan,  4.,  3.,  5.])
    """
    return _extrema(arr, window, ("min", "max"), "minmax", options)


def _position(
    arr: ArrayLike, window: Window, name: str, ties: str, relative_to: str, options: CommonOptions
) -> NDArray[np.int64]:
    """Return the positions of the extremum `name`."""
    choice("ties", ties, ("first", "last"))
    choice("relative_to", relative_to, ("data", "oldest", "newest"))
    return _extrema(arr, window, (name,), name, options, ties, relative_to)


@statistic(**_POSITION)
def rolling_argmin(
    arr: ArrayLike,
    window: Window,
    ties: str = "first",
    relative_to: str = "data",
    **options: Unpack[CommonOptions],
) -> NDArray[np.int64]:
    """Position of the minimum of each window.

    Parameters
    ----------
    {series}
    {window}
    ties : {"first", "last"}, default "first"
        Which of several equal minima to choose: the oldest or the newest.
    relative_to : {"data", "oldest", "newest"}, default "data"
        Where positions count from: the first row of the data; the oldest row of the window, forward; or its
        newest row, backward (as in bottleneck).
    {options}

    Returns
    -------
    ndarray of int64, shape (..., rows, ...)
        Positions along `axis`; -1, or `fill_value`, where missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; infinities are ordinary values.

    If `axis` is a tuple of axes and `window` a tuple of as many numbers of rows, the window is a box, and a
    position is the index of an element in the flattened axes: ``np.unravel_index(position, shape)`` returns
    its index along each axis, where ``shape = [arr.shape[i] for i in axis]``. The first of equal values
    has the smallest index. The same options apply as in :func:`rolling_min`, but `mode` must be
    ``"same"`` or ``"valid"``, and positions count from the first element of the data.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_min`; Lemire's
    wedge stores positions.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_argmin([4.0, 1.0, 3.0, 1.0, 5.0], 3)
    array([-1, -1,  1,  1,  3])
    >>> rollstat.rolling_argmin([4.0, 1.0, 3.0, 1.0, 5.0], 3, ties="last", relative_to="newest")
    array([-1, -1,  1,  0,  1])
    >>> image = np.array([[5, 2, 7], [3, 4, 1]])
    >>> places = rollstat.rolling_argmin(image, (2, 2), axis=(0, 1), mode="valid")
    >>> places
    array([[1, 5]])
    >>> np.unravel_index(places, image.shape)
    (array([[0, 1]]), array([[1, 2]]))
    """
    return _position(arr, window, "argmin", ties, relative_to, options)


@statistic(**_POSITION)
def rolling_argmax(
    arr: ArrayLike,
    window: Window,
    ties: str = "first",
    relative_to: str = "data",
    **options: Unpack[CommonOptions],
) -> NDArray[np.int64]:
    """Position of the maximum of each window.

    Parameters
    ----------
    {series}
    {window}
    ties : {"first", "last"}, default "first"
        Which of several equal maxima to choose: the oldest or the newest.
    relative_to : {"data", "oldest", "newest"}, default "data"
        Where positions count from: the first row of the data; the oldest row of the window, forward; or its
        newest row, backward (as in bottleneck).
    {options}

    Returns
    -------
    ndarray of int64, shape (..., rows, ...)
        Positions along `axis`; -1, or `fill_value`, where missing.

    Raises
    ------
    {raises}

    Notes
    -----
    Missing values are ignored; infinities are ordinary values. Tuples as `axis` and `window` give positions
    in boxes; see :func:`rolling_argmin`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_argmin`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_argmax([4.0, 1.0, 3.0, 1.0, 5.0], 3, relative_to="oldest")
    array([-1, -1,  0,  1,  2])
    """
    return _position(arr, window, "argmax", ties, relative_to, options)


@statistic(
    outputs=("argmin", "argmax"),
    ordered=True,
    **_EXTREMA,
    samples=({}, {"ties": "last", "relative_to": "oldest"}, {"ties": "opposite", "relative_to": "newest"}),
)
def rolling_argminmax(
    arr: ArrayLike,
    window: Window,
    ties: str = "first",
    relative_to: str = "data",
    **options: Unpack[CommonOptions],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the minimum and the maximum of each window, in one call.

    Parameters
    ----------
    {series}
    {window}
    ties : {"first", "last", "opposite"}, default "first"
        Which of several equal extrema to choose: the oldest, the newest, or the oldest minimum and the newest
        maximum.
    relative_to : {"data", "oldest", "newest"}, default "data"
        Where positions count from: the first row of the data; the oldest row of the window, forward; or its
        newest row, backward (as in bottleneck).
    {options}

    Returns
    -------
    argmin, argmax : ndarray of int64, shape (..., rows, ...)
        Positions along `axis`; -1, or `fill_value`, where missing. `out` takes a pair of arrays.

    Raises
    ------
    {raises}

    Notes
    -----
    These are the results of :func:`rolling_argmin` and :func:`rolling_argmax`. With ``ties="opposite"`` the
    older of equal values counts as the smaller, as in :func:`rolling_argkth`. Then both positions come from
    one wedge: with ``algorithm="wedge"`` they take at most three comparisons per element together, and one
    thread computes each line.

    Missing values are ignored; infinities are ordinary values. Tuples as `axis` and `window` give positions
    in boxes; see :func:`rolling_argmin`.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_argmin`.

    Examples
    --------
    >>> import rollstat
    >>> low, high = rollstat.rolling_argminmax([4.0, 1.0, 3.0, 1.0, 4.0], 4, min_periods=1)
    >>> low
    array([0, 1, 1, 1, 1])
    >>> high
    array([0, 0, 0, 0, 4])
    >>> rollstat.rolling_argminmax([1, 3, 3, 1, 2], 3)[1], rollstat.rolling_argmax([1, 3, 3, 1, 2], 3)
    (array([-1, -1,  1,  1,  2]), array([-1, -1,  1,  1,  2]))
    """
    choice("ties", ties, ("first", "last", "opposite"))
    choice("relative_to", relative_to, ("data", "oldest", "newest"))
    return _extrema(arr, window, ("argmin", "argmax"), "argminmax", options, ties, relative_to)


@statistic(**_EXTREMA)
def rolling_ptp(arr: ArrayLike, window: Window, **options: Unpack[CommonOptions]) -> NDArray[Any]:
    """Difference of the maximum and the minimum of each window.

    Parameters
    ----------
    {series}
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...)
        Floats in the dtype of `arr`, and timedeltas for datetimes. Integers and bool give uint64 with
        ``mode="valid"`` or ``fill_value=``, otherwise float64.

    Raises
    ------
    OverflowError
        If a difference of datetimes does not fit in 64 bits.
    {raises}

    Notes
    -----
    Missing values are ignored; the difference of two equal infinities is 0. Floats are rounded once: the
    relative error is at most 2**-53, or 2**-24 for float32.

    Cost: O(1) per element amortised, O(m) in the worst case. Source: as in :func:`rolling_min`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_ptp([4.0, 1.0, 3.0, 2.0, 5.0], 3)
    array([nan, nan,  3.,  2.,  3.])
    """
    return _extrema(arr, window, ("ptp",), "ptp", options)


def lower_upper_envelope(arr: ArrayLike, radius: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper envelope of a series, as in the LB_Keogh bound of dynamic time warping.

    Parameters
    ----------
    arr : array_like of float or int, shape (n,)
        The series.
    radius : int
        Number of rows that the envelope covers on each side of a row, at least 0; fewer at the ends.

    Returns
    -------
    lower, upper : ndarray, shape (n,), dtype of `arr`
        Minimum and maximum of the rows ``i - radius, ..., i + radius``. Missing values (NaN, masked elements)
        are ignored; the result is NaN where all are missing.

    Raises
    ------
    ValueError, TypeError
        If the array is not 1-D or holds masked integers, or if the radius is invalid.

    Notes
    -----
    Results are exact.

    Cost: O(1) per element amortised. Source: Lemire, *Streaming Maximum-Minimum Filter Using No More than
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
        raise ValueError(f"arr must be a 1-d series of numbers; got {array.ndim}-d, of {array.dtype}")
    values = plain(array)
    mask = union_mask([arr], [array])
    if mask is not None and mask.any():
        if array.dtype.kind != "f":
            raise ValueError(f"arr must have no masked entries; got a masked array of {array.dtype}")
        values = np.where(mask, values.dtype.type(np.nan), values)
    radius = min(whole_number("radius", radius, 0, math.inf), len(values))
    whole: Any = {} if array.dtype.kind == "f" else {"fill_value": 0}  # of integers no result is missing
    low, high = rolling_minmax(values, 2 * radius + 1, center=True, min_periods=1, **whole)
    return low, high
