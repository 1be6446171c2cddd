"""Series of pandas as arrays, and results as Series of the same kind; pandas is loaded by who passes one."""

import sys
from typing import Any

import numpy as np

_DIGITS, _MOST_DIGITS = 18, 38  # of decimals that fit in 64 bits, and of any


def to_array(series: Any) -> Any:
    """Return the values as a NumPy array, masked if the dtype is nullable; zoned datetimes in UTC."""
    pandas, dtype = sys.modules["pandas"], series.dtype
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    if _is_time_of_day(dtype):
        whole = _integers(series.array.__arrow_array__().cast(f"int{dtype.pyarrow_dtype.bit_width}"))
        return whole.astype(np.int64).view(f"M8[{dtype.pyarrow_dtype.unit}]")
    numpy_dtype: Any = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is None or numpy_dtype.kind not in "fiubmM":
        column = "the Series" if series.name is None else f"column {series.name!r}"
        raise TypeError(
            f"rollstat takes numbers, bool, datetimes or timedeltas; {column} has dtype {dtype}, "
            "so convert it with astype"
        )
    if numpy_dtype is dtype:
        return series.to_numpy()
    missing = series.isna().to_numpy(dtype=np.bool_)
    if numpy_dtype.kind in "mM":  # the dates of Arrow are objects where one is missing
        times = np.full(len(series), "NaT", numpy_dtype)
        times[~missing] = series[~missing].to_numpy(dtype=numpy_dtype)
        return np.ma.MaskedArray(times, missing)
    return np.ma.MaskedArray(series.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0)), missing)


def _is_time_of_day(dtype: Any) -> bool:
    """Return whether a pandas dtype is Arrow's dtype for times of day."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    return kind is not None and sys.modules["pyarrow"].types.is_time(kind)


def _integers(array: Any) -> Any:
    """Return integers of Arrow as a masked array."""
    return np.ma.MaskedArray(np.asarray(array.fill_null(0)), np.asarray(array.is_null(), np.bool_))


def from_decimals(series: Any, digits: int = 0) -> Any:
    """Return decimals as integers in units of their last digit and of so many further ones, masked.

    None for a series of another dtype.
    """
    kind, arrow = getattr(series.dtype, "pyarrow_dtype", None), sys.modules.get("pyarrow")
    if kind is None or arrow is None or not arrow.types.is_decimal128(kind):
        return None
    if kind.precision + digits > _DIGITS:
        raise TypeError(
            f"decimals must have at most {_DIGITS - digits} digits here; column {series.name!r} has dtype "
            f"{series.dtype}: cast it to fewer digits, or to double[pyarrow]"
        )
    array = series.array.__arrow_array__().combine_chunks()
    return _integers(array.view(arrow.decimal128(_MOST_DIGITS, 0)).cast("int64")) * 10**digits


def to_decimals(values: Any, like: Any, index: Any, name: Any, precision: int, scale: int) -> Any:
    """Return masked integers as a Series of decimals, in units of the last digit."""
    arrow = sys.modules["pyarrow"]
    array = arrow.array(np.ma.getdata(values).astype(np.int64), mask=np.ma.getmaskarray(values))
    array = array.cast(arrow.decimal128(_MOST_DIGITS, 0)).view(arrow.decimal128(_MOST_DIGITS, scale))
    array = array.cast(arrow.decimal128(precision, scale))
    return like._constructor(
        array, index=index, name=name, dtype=sys.modules["pandas"].ArrowDtype(array.type)
    )


def to_series(values: Any, like: Any, index: Any, name: Any) -> Any:
    """Return a result as a Series of the same kind as the input: NumPy, nullable or Arrow-backed."""
    pandas = sys.modules["pandas"]
    if isinstance(values, np.ma.MaskedArray):
        data, missing = np.ma.getdata(values), np.ma.getmaskarray(values)
        if isinstance(like.dtype, pandas.ArrowDtype):
            array = sys.modules["pyarrow"].array(data, mask=missing)
            of_day = data.dtype.kind == "M" and _is_time_of_day(like.dtype)
            if of_day:
                array = array.cast("int64").cast(f"int{like.dtype.pyarrow_dtype.bit_width}")
            kept = of_day or (data.dtype.kind in "mM" and data.dtype.kind == like.dtype.kind)
            array = array.cast(like.dtype.pyarrow_dtype) if kept else array
            return like._constructor(array, index=index, name=name, dtype=pandas.ArrowDtype(array.type))
        return like._constructor(pandas.array(data), index=index, name=name).mask(missing)
    result = like._constructor(values, index=index, name=name, copy=False)
    if isinstance(like.dtype, pandas.DatetimeTZDtype) and result.dtype.kind == "M":
        return result.dt.tz_localize("UTC").dt.tz_convert(like.dtype.tz)
    return result
