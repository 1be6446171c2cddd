"""Columns as arrays, and results as columns.

There are two conversions. `float_values` is that of pandas: every number becomes float64. `to_array` and
`to_series` keep the kind of a column: float32, integers, nullable and Arrow-backed columns, and zoned
datetimes. `as_codes` replaces strings, objects and categories by codes.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.core.internals import SingleBlockManager  # type: ignore[import-not-found]  # not in the stubs

from rollstat.dtypes import warn_of_rounding

__all__ = [
    "NotNumbers",
    "as_codes",
    "float_series",
    "float_values",
    "from_codes",
    "observed",
    "to_array",
    "to_series",
]

_FLOAT64 = np.dtype(np.float64)


class NotNumbers(TypeError):
    """A column does not hold numbers."""


def float_values(column: Any) -> NDArray[np.float64]:
    """Return the values of a Series as float64, NaN where missing; raise NotNumbers if there are none.

    Integers that float64 may round cause a warning.
    """
    dtype = column.dtype
    if dtype is _FLOAT64:
        return column._values  # type: ignore[no-any-return]  # the type of a Series is not known
    if dtype.kind in "mM" or isinstance(dtype, pd.PeriodDtype):
        raise NotNumbers(f"values of {dtype} are not numbers")
    try:
        if isinstance(dtype, np.dtype):
            from rollstat.blocks import exact_floats  # here, because it loads kernels

            values = column.to_numpy()
            floats = exact_floats(values) if dtype.kind in "iu" and values.flags.c_contiguous else None
            if floats is not None:
                return floats
            warn_of_rounding(values)
            return values.astype(np.float64)  # type: ignore[no-any-return]  # as above
        if dtype.kind in "iu":
            numpy_dtype = dtype.subtype if isinstance(dtype, pd.SparseDtype) else dtype.numpy_dtype
            warn_of_rounding(column.array.to_numpy(numpy_dtype, na_value=0))
        return column.array.to_numpy(np.float64, na_value=np.nan)  # type: ignore[no-any-return]  # as above
    except (TypeError, ValueError) as error:
        raise NotNumbers(f"values of {dtype} are not numbers") from error


def observed(column: Any) -> NDArray[np.float64]:
    """Return 1 for each observation of a Series and 0 for each missing value."""
    if column.dtype is _FLOAT64:
        values = column.to_numpy()
        return (values == values).astype(np.float64)  # type: ignore[no-any-return]  # as above
    return column.notna().to_numpy().astype(np.float64)  # type: ignore[no-any-return]  # as above


def to_array(series: Any) -> Any:
    """Return the values as a NumPy array, masked if the dtype is nullable; zoned datetimes in UTC."""
    dtype = series.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    numpy_dtype: Any = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is None or numpy_dtype.kind not in "fiubmM":
        column = "the Series" if series.name is None else f"column {series.name!r}"
        raise TypeError(f"rollstat takes numbers, bool, datetimes or timedeltas; {column} had dtype {dtype}")
    if numpy_dtype is dtype:
        return series.to_numpy()
    missing = series.isna().to_numpy(dtype=np.bool_)
    if numpy_dtype.kind in "mM":  # the dates of Arrow are objects where one is missing
        times = np.full(len(series), "NaT", numpy_dtype)
        times[~missing] = series[~missing].to_numpy(dtype=numpy_dtype)
        return np.ma.MaskedArray(times, missing)
    return np.ma.MaskedArray(series.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0)), missing)


def to_series(values: Any, like: Any, index: pd.Index, name: Any) -> Any:
    """Return a result as a Series of the same kind as the input: NumPy, nullable or Arrow-backed."""
    if isinstance(values, np.ma.MaskedArray):
        data, missing = np.ma.getdata(values), np.ma.getmaskarray(values)
        if isinstance(like.dtype, pd.ArrowDtype):
            import pyarrow

            array = pyarrow.array(data, mask=missing)
            kept = data.dtype.kind in "mM" and data.dtype.kind == like.dtype.kind
            array = array.cast(like.dtype.pyarrow_dtype) if kept else array
            return pd.Series(array, index=index, name=name, dtype=pd.ArrowDtype(array.type))
        return pd.Series(pd.array(data), index=index, name=name).mask(missing)
    result = like._constructor(values, index=index, name=name)
    if isinstance(like.dtype, pd.DatetimeTZDtype) and result.dtype.kind == "M":
        return result.dt.tz_localize("UTC").dt.tz_convert(like.dtype.tz)
    return result


def float_series(values: NDArray[Any], like: Any, index: pd.Index) -> Any:
    """Return floats as a Series with the name of `like`.

    A plain Series is made from its parts, as pandas makes its own results: the constructor takes longer than
    a statistic of a hundred rows.
    """
    if type(like) is not pd.Series or len(values) != len(index):
        return like._constructor(values, index=index, name=like.name, copy=False)
    manager = SingleBlockManager.from_array(values, index)
    result: Any = like._constructor_from_mgr(manager, axes=manager.axes)
    result._name = like._name
    return result


def as_codes(series: Any, times: bool = False) -> tuple[NDArray[np.float64], Any] | None:
    """Return the codes of strings, objects or categories, NaN where missing, and the array of their values.

    With `times` those of datetimes and timedeltas too. None for a column of any other kind. Codes of strings
    and categories have the order of the values.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy()
        values: Any = pd.Categorical.from_codes(np.arange(len(dtype.categories)), dtype=dtype)
    elif dtype == np.dtype(object):
        codes, values = pd.factorize(series.to_numpy())
    elif times and dtype.kind in "mM":
        codes, values = pd.factorize(series.array)
    elif isinstance(dtype, pd.StringDtype) or (isinstance(dtype, pd.ArrowDtype) and dtype.kind in "OUS"):
        codes, values = pd.factorize(series.array, sort=True)
    else:
        return None
    return np.where(codes < 0, np.nan, codes.astype(np.float64)), values


def from_codes(codes: NDArray[np.float64], values: Any, index: pd.Index, name: Any) -> Any:
    """Return the values of codes as a Series; missing where a code is NaN."""
    positions = np.where(np.isnan(codes), -1.0, codes).astype(np.intp)
    taken = pd.api.extensions.take(values, positions, allow_fill=True)
    return pd.Series(taken, index=index, name=name, dtype=taken.dtype)
