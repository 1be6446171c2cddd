"""Dtypes of input, computation and result, and the missing value of each.

::

    input ---> plain array ---> computed dtype ---> result dtype
    >f8, bool, M8[s]   f8, u1, i8     what the kernel writes     the input's, or float64 with NaN
"""

import inspect
import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

EXACT = 2**53
"""float64 holds all integers up to here."""


class PrecisionWarning(UserWarning):
    """A result is less precise than it should be.

    Either integers beyond 2**53 became float64, in a result or before a computation, and some of them were
    rounded; or sums left the range of float64 in an operator, because operators do not scale sums.
    """


_OBJECTS = ": convert the objects to numbers, times of day to timedelta64"


def check_array(name: str, arr: ArrayLike) -> NDArray[Any]:
    """Return `arr` as an array of a dtype that has an order, or raise; float16 becomes float64."""
    array = np.asarray(np.ma.getdata(arr) if isinstance(arr, np.ma.MaskedArray) else arr)
    if array.dtype.kind == "O":
        array = _without_none(array)
    if array.dtype.kind not in "fiubmM" or array.dtype.itemsize > 8:
        raise TypeError(
            f"{name} must hold float16, float32, float64, integers, bool, datetime64 or timedelta64; "
            f"got {array.dtype}{_OBJECTS if array.dtype.kind == 'O' else ''}"
        )
    if array.dtype.kind == "f" and array.dtype.itemsize == 2:
        array = array.astype(np.float64)
    if array.ndim == 0:
        raise ValueError(f"{name} must have at least one dimension; got the scalar {arr!r}")
    return array


def _without_none(array: NDArray[Any]) -> NDArray[Any]:
    """Return objects as numbers or datetimes with NaN or NaT in place of None, if that is what they are."""
    missing = np.array([item is None for item in array.ravel().tolist()], np.bool_).reshape(array.shape)
    present = np.array(array[~missing].tolist())
    if not missing.any() or present.dtype.kind not in "fiubmM":
        return array
    dtype = present.dtype if present.dtype.kind in "fmM" else np.dtype(np.float64)
    found = np.full(array.shape, np.nan if dtype.kind == "f" else "NaT", dtype)
    found[~missing] = present
    return found


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of native byte order in C order, bool as uint8, datetimes as int64; copy if needed."""
    if not (array.flags.c_contiguous and array.dtype.isnative):
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    kind = array.dtype.kind
    return array.view(np.uint8) if kind == "b" else array.view(np.int64) if kind in "mM" else array


def compute_dtype(kind: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which a computation writes an output of this kind, for input of native `dtype`."""
    if kind in ("position", "offset"):
        return np.dtype(np.int64)
    if kind == "flag":
        return np.dtype(np.bool_)
    if kind == "truth":
        return np.dtype(np.uint8)
    if dtype.kind == "f":
        # float32 cannot hold all whole numbers beyond 2**24.
        return np.dtype(np.float64) if kind == "integer" else dtype
    if kind == "float":
        return np.dtype(np.float64)
    if kind == "difference":
        return np.dtype(np.int64 if dtype.kind in "mM" else np.uint64)
    if kind == "integer":
        return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    if dtype.kind in "mM":
        return np.dtype(np.int64)
    if kind == "interpolated":
        return np.dtype(np.float64)
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def result_dtype(kind: str, dtype: np.dtype[Any], exact: bool) -> np.dtype[Any]:
    """Return the dtype of a result; with `exact`, where none can be missing, integers stay integers."""
    computed = compute_dtype(kind, dtype)
    if kind in ("position", "offset", "flag") or computed.kind == "f":
        return computed
    if dtype.kind in "mM" and kind == "difference":
        return np.dtype(dtype.str.replace("M8", "m8"))  # with the multiple of its unit
    if dtype.kind in "mM" and kind in ("value", "interpolated"):
        return dtype
    if exact:
        is_bool = kind == "truth" or (dtype.kind == "b" and kind == "value")
        return np.dtype(np.bool_) if is_bool else computed
    return np.dtype(np.float64)


def lossless(fill_value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a `fill_value` in `dtype`, or raise: only floats may be rounded, and within their range."""
    if hasattr(fill_value, "to_numpy"):
        fill_value = fill_value.to_numpy()
    array = np.asarray(fill_value)
    if array.ndim != 0:
        raise ValueError(f"fill_value must be a scalar; got shape {array.shape}")
    if np.ma.is_masked(fill_value):
        raise TypeError(f"fill_value must not be masked; got {fill_value!r}")
    if dtype.kind in "mM" and isinstance(fill_value, (datetime, timedelta)) and array.dtype.kind == "O":
        array = array.astype(f"{dtype.kind}8[us]")
    times = dtype.kind in "mM"
    if array.dtype.kind not in (dtype.kind if times else "iubf"):
        raise TypeError(f"fill_value must fit {dtype}; got {fill_value!r}")
    try:
        with np.errstate(all="ignore"):
            converted = array.astype(dtype)
    except OverflowError as error:  # of times, since NumPy 2.5; earlier versions wrap
        text = f"fill_value must be exactly representable in {dtype}; got {fill_value!r}"
        raise ValueError(text) from error
    if dtype.kind == "f":
        same = bool(np.isfinite(converted)) or not np.isfinite(array)
    elif times:
        same = bool(converted.astype(array.dtype) == array) or bool(np.isnat(array))
    else:
        same = converted.item() == array.item()
    if not same:
        raise ValueError(f"fill_value must be exactly representable in {dtype}; got {fill_value!r}")
    return converted[()]


def missing_value(kind: str, dtype: np.dtype[Any], fill_value: Any) -> Any:
    """Return the value of a missing result: `fill_value`, or the dtype's own missing value."""
    if fill_value is not None and kind != "flag":
        return lossless(fill_value, dtype)
    if kind in ("position", "offset"):
        return -1
    if dtype.kind in "mM":
        return np.array("NaT", dtype)[()]
    return np.nan if dtype.kind == "f" else dtype.type(0)


def same_memory(view: NDArray[Any], computed: np.dtype[Any]) -> NDArray[Any]:
    """Return the array for a computation to write to: `view` if its dtype allows, else new memory.

    New memory holds zeros, because rows without a result are not written, and a conversion reads them.
    """
    if view.dtype == computed:
        return view
    if (view.dtype.kind in "mM" and computed == np.int64) or (
        view.dtype == np.bool_ and computed == np.uint8
    ):
        return view.view(computed)
    return np.zeros(len(view), computed)


def _level_of_caller() -> int:
    """Return the `stacklevel` that makes a warning name the line that called the package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "rollstat":
        frame, level = frame.f_back, level + 1
    return level


def greatest_magnitude(values: NDArray[Any]) -> int:
    """Return the greatest absolute value of integers of 64 bits, 0 for other values."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return 0
    return max(int(values.max()), -int(values.min()))


def is_large(values: NDArray[Any]) -> bool:
    """Return whether there are integers that float64 may round."""
    return greatest_magnitude(values) > EXACT


def warn_of_precision(text: str) -> None:
    """Warn with PrecisionWarning, at the line that called the package."""
    warn_at_caller(text, PrecisionWarning)


def warn_at_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the package."""
    warnings.warn(text, category, stacklevel=_level_of_caller())


def warn_of_rounded(points: Any) -> None:
    """Warn if points between integers, or means of them, are so large that float64 rounds integers."""
    with np.errstate(invalid="ignore"):
        if (np.abs(points) >= EXACT).any():
            warn_of_precision("results beyond 2**53 are rounded to float64; subtract a common integer first")


def warn_of_rounding(values: NDArray[Any]) -> None:
    """Warn if a computation in float64 rounds its input."""
    if is_large(values):
        warn_of_precision("integers beyond 2**53 are rounded to float64; subtract a common integer first")


def reject_missing(arrays: Sequence[NDArray[Any]], mask: NDArray[np.bool_] | None) -> None:
    """Raise if any value is missing, naming the first."""
    found = mask if mask is not None else np.zeros((), np.bool_)
    for array in arrays:
        if array.dtype.kind in "fmM":
            found = found | np.isnan(array)
    if found.any():
        where = tuple(int(i) for i in np.argwhere(found)[0])
        raise ValueError(f"arr must have no missing value with nan_policy='raise'; one is at {where}")


def union_mask(arrays: Sequence[ArrayLike], checked: list[NDArray[Any]]) -> NDArray[np.bool_] | None:
    """Return where any array is masked or has a missing value; None if no array is masked."""
    masks = [np.ma.getmaskarray(array) for array in arrays if isinstance(array, np.ma.MaskedArray)]
    if not masks:
        return None
    mask: NDArray[np.bool_] = np.logical_or.reduce(masks)
    for array in checked:
        if array.dtype.kind in "fmM":
            mask |= np.isnan(array)
    return mask


def without_infinities(array: Any) -> Any:
    """Return an array with NaN for its infinite elements; other arrays than of floats as they are."""
    values = array if isinstance(array, np.ndarray) else np.asarray(array)
    if values.dtype.kind != "f" or not np.isinf(np.ma.getdata(values)).any():
        return array
    values = values.copy()
    data = np.ma.getdata(values)
    data[np.isinf(data)] = np.nan
    return values


def flattened(result: Any) -> list[NDArray[Any]]:
    """Return the 1-D arrays of a result that may be a tuple of arrays of any dimension."""
    if isinstance(result, np.ndarray) and result.ndim == 1:
        return [result]
    return [row for part in result for row in flattened(part)]
