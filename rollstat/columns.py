"""Series of pandas as arrays, and results as Series of the same kind; pandas is loaded by who passes one."""

import sys
from typing import Any

import numpy as np


def to_array(series: Any) -> Any:
    """Return the values as a NumPy array, masked if the dtype is nullable; zoned datetimes in UTC."""
    pandas, dtype = sys.modules["pandas"], series.dtype
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    numpy_dtype: Any = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is None or numpy_dtype.kind not in "fiubmM":
        column = "the Series" if series.name is None else f"column {series.name!r}"
        raise TypeError(
            f"rollstat takes numbers, bool, datetimes or timedeltas; {column} had dtype {dtype}, "
            "which astype can convert"
        )
    if numpy_dtype is dtype:
        return series.to_numpy()
    missing = series.isna().to_numpy(dtype=np.bool_)
    if numpy_dtype.kind in "mM":  # the dates of Arrow are objects where one is missing
        times = np.full(len(series), "NaT", numpy_dtype)
        times[~missing] = series[~missing].to_numpy(dtype=numpy_dtype)
        return np.ma.MaskedArray(times, missing)
    return np.ma.MaskedArray(series.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0)), missing)


def to_series(values: Any, like: Any, index: Any, name: Any) -> Any:
    """Return a result as a Series of the same kind as the input: NumPy, nullable or Arrow-backed."""
    pandas = sys.modules["pandas"]
    if isinstance(values, np.ma.MaskedArray):
        data, missing = np.ma.getdata(values), np.ma.getmaskarray(values)
        if isinstance(like.dtype, pandas.ArrowDtype):
            array = sys.modules["pyarrow"].array(data, mask=missing)
            kept = data.dtype.kind in "mM" and data.dtype.kind == like.dtype.kind
            array = array.cast(like.dtype.pyarrow_dtype) if kept else array
            return like._constructor(array, index=index, name=name, dtype=pandas.ArrowDtype(array.type))
        return like._constructor(pandas.array(data), index=index, name=name).mask(missing)
    result = like._constructor(values, index=index, name=name, copy=False)
    if isinstance(like.dtype, pandas.DatetimeTZDtype) and result.dtype.kind == "M":
        return result.dt.tz_localize("UTC").dt.tz_convert(like.dtype.tz)
    return result
