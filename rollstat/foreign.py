"""Arrays of other libraries: their values and missing values, and results of their own kind.

::

    polars.Series, pyarrow.Array, xarray.DataArray  -->  ndarray, masked if there are nulls  -->  function
    the same kind  <--  nulls where a result is missing  <-------------------------------------- results

These libraries are not imported: who passes an object of one has loaded it.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["call_like"]

Convert = Callable[[Any], Any]


def _with_nulls(values: Any, null: Any) -> Any:
    """Return floats with NaN where there are nulls; other dtypes with a mask, so that results keep them."""
    if values.dtype.kind == "f":
        return np.where(null, values.dtype.type(np.nan), values) if null.any() else values
    return np.ma.MaskedArray(values, null) if values.dtype.kind in "iub" or null.any() else values


def _missing(result: Any) -> Any:
    """Return where a result is missing."""
    if isinstance(result, np.ma.MaskedArray):
        return np.ma.getmaskarray(result)
    if result.dtype.kind in "mM":
        return np.isnat(result)
    return result != result


def _polars(series: Any) -> tuple[Any, Convert]:
    polars = sys.modules["polars"]
    null = series.is_null().to_numpy()
    if null.any():
        first = series.drop_nulls().head(1)
        filled = (
            series.fill_null(first[0]) if len(first) else polars.Series(series.name, np.zeros(len(series)))
        )
        values = _with_nulls(filled.to_numpy(), null)
    else:
        values = series.to_numpy()

    def convert(result: Any) -> Any:
        found = polars.Series(series.name, np.ma.getdata(result))
        if result.dtype.kind in "mM" and found.dtype.base_type() == series.dtype.base_type():
            zone = getattr(series.dtype, "time_zone", None)
            if zone is not None:
                found = found.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        missing = polars.Series(_missing(result))
        chosen = polars.when(~missing).then(found).alias(series.name)
        return found.to_frame().select(chosen).to_series()

    return _with_nulls(values, null), convert


def _arrow(array: Any) -> tuple[Any, Convert]:
    arrow = sys.modules["pyarrow"]
    chunked = isinstance(array, arrow.ChunkedArray)
    whole = arrow.concat_arrays(array.chunks) if chunked and array.num_chunks else array
    null = whole.is_null().to_numpy(zero_copy_only=False)
    if null.all():
        values = np.full(len(array), np.nan)
    else:
        filled = whole.fill_null(whole.drop_null()[0]) if null.any() else whole
        values = filled.to_numpy(zero_copy_only=False)

    def convert(result: Any) -> Any:
        found = arrow.array(np.ma.getdata(result), mask=_missing(result))
        if arrow.types.is_timestamp(found.type) and arrow.types.is_timestamp(array.type):
            found = found.cast(array.type)
        return arrow.chunked_array([found]) if chunked else found

    return _with_nulls(values, null), convert


def _xarray(array: Any, options: dict[str, Any]) -> tuple[Any, Convert]:
    axis = options.get("axis", -1)
    if isinstance(axis, str):
        options["axis"] = axis = int(array.get_axis_num(axis))

    def convert(result: Any) -> Any:
        data = result.filled(np.nan) if isinstance(result, np.ma.MaskedArray) else result
        if data.shape == array.shape:
            return array.copy(data=data)
        moved = [array.dims[a] for a in (axis if isinstance(axis, tuple) else (axis,))]
        kept = {name: each for name, each in array.coords.items() if not set(moved) & set(each.dims)}
        return type(array)(data, kept, array.dims, array.name, array.attrs)

    return array.values, convert


_KINDS = {
    ("polars", "Series"): _polars,
    ("pyarrow", "Array"): _arrow,
    ("pyarrow", "ChunkedArray"): _arrow,
}


def _adapter(arr: Any, options: dict[str, Any]) -> tuple[Any, Convert] | None:
    """Return the values of an array of another library and what converts results; None for other objects."""
    for cls in type(arr).__mro__:
        library = cls.__module__.partition(".")[0]
        if (library, cls.__name__) in _KINDS:
            return _KINDS[library, cls.__name__](arr)
        if (library, cls.__name__) == ("xarray", "DataArray"):
            return _xarray(arr, options)
    return None


def call_like(function: Callable[..., Any], arr: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return ``function(arr, *rest, **options)`` as objects of the kind of `arr`.

    Several results are a tuple of such objects. Other kinds of `arr` are passed on as they are, and so is
    every `arr` where `out` receives the results.
    """
    options = dict(options)
    adapter = None if options.get("out") is not None else _adapter(arr, options)
    if adapter is None:
        return function(arr, *rest, **options)
    values, convert = adapter
    result = function(values, *rest, **options)
    if isinstance(result, tuple):
        return (
            type(result)(*map(convert, result)) if hasattr(result, "_fields") else tuple(map(convert, result))
        )
    if result.ndim > np.ndim(values):
        return tuple(map(convert, result))
    return convert(result)
