"""Arrays of other libraries: their values and missing values, and results of their own kind.

::

    polars.Series, pyarrow.Array, xarray.DataArray  -->  ndarray, masked if there are nulls  -->  function
    the same kind  <--  nulls where a result is missing  <-------------------------------------- results

These libraries are not imported: who passes an object of one has loaded it.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rollstat.options import Options

_Convert: TypeAlias = Callable[[NDArray[Any], NDArray[np.bool_], dict[int, Any]], Any]


class Adapter(NamedTuple):
    """The values of an array of another library, and what returns results as such arrays.

    `convert` takes a result, where it is missing, and the rows of the array that it holds along each
    dimension whose length differs.
    """

    values: Any
    convert: _Convert


def _with_nulls(present: Any, null: Any) -> Any:
    """Return all values, masked where there are nulls; not masked if no value or result can be missing.

    With a mask, results keep the dtype, and an undefined result is NaN, not masked.
    """
    values = present
    if null.any():
        values = np.zeros(len(null), present.dtype)
        values[~null] = present
    return np.ma.MaskedArray(values, null) if values.dtype.kind in "fiub" or null.any() else values


def _with_unit(result: Any) -> Any:
    """Return durations of days in milliseconds, because these libraries have no durations of days."""
    return result.astype("m8[ms]") if result.dtype == np.dtype("m8[D]") else result


def _polars(series: Any) -> Adapter:
    polars = sys.modules["polars"]
    null = series.is_null().to_numpy()
    present = np.empty(0) if series.dtype == polars.Null else series.drop_nulls().to_numpy()

    def convert(result: Any, missing: Any, rows: dict[int, Any]) -> Any:
        found = polars.Series(series.name, result.tolist() if result.dtype == object else _with_unit(result))
        if result.dtype.kind in "mM" and found.dtype.base_type() == series.dtype.base_type():
            zone = getattr(series.dtype, "time_zone", None)
            if zone is not None:
                found = found.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        chosen = polars.when(~polars.Series(missing)).then(found).alias(series.name)
        return found.to_frame().select(chosen).to_series()

    if present.ndim > 1:
        raise TypeError(f"a polars Series must hold one value in each row; its dtype was {series.dtype}")
    return Adapter(_with_nulls(present, null), convert)


def _arrow(array: Any) -> Adapter:
    arrow = sys.modules["pyarrow"]
    whole = array
    if isinstance(array, arrow.ChunkedArray):
        whole = arrow.concat_arrays(array.chunks) if array.num_chunks else arrow.array([], array.type)
    null = whole.is_null().to_numpy(zero_copy_only=False)
    present = whole.drop_null().to_numpy(zero_copy_only=False)
    if arrow.types.is_null(array.type):
        present = np.empty(0)

    def convert(result: Any, missing: Any, rows: dict[int, Any]) -> Any:
        found = arrow.array(_with_unit(result), mask=missing)
        if arrow.types.is_timestamp(found.type) and arrow.types.is_timestamp(array.type):
            found = found.cast(array.type)
        return arrow.chunked_array([found]) if whole is not array else found

    return Adapter(_with_nulls(present, null), convert)


def _xarray(array: Any) -> Adapter:
    def convert(result: Any, missing: Any, rows: dict[int, Any]) -> Any:
        if not rows:
            return array.copy(data=result)
        chosen = {array.dims[axis]: of_axis for axis, of_axis in rows.items()}
        placed = array.isel(chosen)
        if placed.shape == result.shape:
            return placed.copy(data=result)
        kept = {name: each for name, each in array.coords.items() if not chosen.keys() & set(each.dims)}
        return type(array)(result, kept, array.dims, array.name, array.attrs)

    return Adapter(array.values, convert)


_KINDS = {
    ("polars", "Series"): _polars,
    ("pyarrow", "Array"): _arrow,
    ("pyarrow", "ChunkedArray"): _arrow,
    ("xarray", "DataArray"): _xarray,
}


def adapter_of(arr: Any) -> Adapter | None:
    """Return the adapter of an array of another library; None for other objects."""
    for cls in type(arr).__mro__:
        make = _KINDS.get((cls.__module__.partition(".")[0], cls.__name__))
        if make is not None:
            return make(arr)
    return None


def _numbered(axis: Any, arr: Any) -> Any:
    """Return `axis` with numbers in place of the names of dimensions of `arr`."""
    if isinstance(axis, tuple):
        return tuple(_numbered(each, arr) for each in axis)
    return int(arr.get_axis_num(axis)) if isinstance(axis, str) and hasattr(arr, "get_axis_num") else axis


def _rows_of_axis(window: Any, length: int, options: dict[str, Any]) -> Any:
    """Return the rows of data that the results along one axis belong to; no row where none is named."""
    fields = Options.__dataclass_fields__
    checked = Options.check(**{name: value for name, value in options.items() if name in fields})
    windows = checked.windows(window, checked.offsets(length))
    try:
        rows = windows.position(0, windows.rows)
    except ValueError:  # bounds, fewer or more than there are rows
        return slice(0)
    return rows[windows.whole] if checked.mode == "valid" else rows


def _rows(
    function: Callable[..., Any], arr: Any, rest: tuple[Any, ...], options: dict[str, Any]
) -> dict[int, Any]:
    """Return the rows of data that the results belong to, along each axis on which windows slide."""
    given = inspect.signature(function).bind(arr, *rest, **options).arguments
    window, axis = given["window"], options.get("axis", -1)
    if not isinstance(axis, tuple):
        return {axis: _rows_of_axis(window, arr.shape[axis], options)}
    rows = {}
    for each, width in zip(axis, window):
        after = (width - 1) // 2 if options.get("center", False) else 0
        before = width - 1 - after
        rows[each] = slice(before, max(arr.shape[each] - after, before))
    return rows


def missing_results(name: str, results: Sequence[Any], filled: bool) -> list[Any]:
    """Return where each result of a function is missing; nowhere if a value was chosen for these."""
    missing: list[Any] = []
    for result in results:
        data, mask = np.ma.getdata(result), np.zeros(result.shape, np.bool_)
        if data.dtype.kind in "mM":
            mask = np.isnat(data)
        elif data.dtype == object:
            mask = np.array([x is None for x in data.ravel()]).reshape(data.shape)
        elif name.startswith("rolling_arg") and not filled:
            mask = data < 0
        elif name == "rolling_hampel" and data.dtype.kind == "b":  # no outlier where there is no value
            mask = missing[0]
        missing.append(mask if filled else mask | np.ma.getmaskarray(result))
    return missing


def adapted(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], _Convert | None]:
    """Return the arguments and options of a function, with arrays of NumPy for those of other libraries.

    Also return what converts results to the kind of the first argument; None if results stay as they are:
    the argument is no array of another library, or `out` receives the results.
    """
    if not arguments:
        return arguments, options, None
    (arr, *rest), options = arguments, dict(options)
    if "axis" in options:
        options["axis"] = _numbered(options["axis"], arr)
    several = arr if type(arr) is tuple else (arr,)
    adapter = adapter_of(several[0]) if several and options.get("out") is None else None
    if adapter is None:
        return (arr, *rest), options, None
    if "other" in options:
        options["other"] = _values(_aligned(options["other"], arr))
    elif rest and "other" in inspect.signature(function).parameters:
        rest[0] = _aligned(rest[0], arr)
    values = tuple(map(_values, arr)) if several is arr else adapter.values
    return (values, *map(_values, rest)), options, adapter.convert


def call_like(
    function: Callable[..., Any], run: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return what a function returns, as objects of the kind of its first argument.

    `run` is the function over arrays of NumPy. Several results are a tuple of such objects. Other kinds of
    arguments are passed on as they are, and so is every kind where `out` receives the results.
    """
    arr = arguments[0]
    given, options, convert = adapted(function, arguments, options)
    result = run(*given, **options)
    if convert is None:
        return result
    values = given[0][0] if type(given[0]) is tuple else given[0]
    several = isinstance(result, tuple) or result.ndim > np.ndim(values)
    results = tuple(result) if several else (result,)
    moved = results[0].shape != values.shape or options.get("at") is not None
    rows = _rows(function, values, given[1:], options) if moved and hasattr(arr, "dims") else {}
    missing = missing_results(function.__name__, results, options.get("fill_value") is not None)

    def converted_one(each: Any, where: Any) -> Any:
        if each.ndim > values.ndim:
            return tuple(map(converted_one, each, where))
        return convert(np.ma.getdata(each), where, rows)

    converted = list(map(converted_one, results, missing))
    if not several:
        return converted[0]
    return type(result)(*converted) if hasattr(result, "_fields") else tuple(converted)


def _aligned(other: Any, arr: Any) -> Any:
    """Return a second DataArray with the dimensions of the first; other kinds as they are."""
    if not (hasattr(other, "broadcast_like") and hasattr(arr, "broadcast_like")):
        return other
    if not set(other.dims) <= set(arr.dims):
        raise ValueError(f"other must have dimensions of arr, {arr.dims}; it had {other.dims}")
    sys.modules["xarray"].align(arr, other, join="exact")  # raises if coordinates differ
    return other.broadcast_like(arr).transpose(*arr.dims)


def _values(series: Any) -> Any:
    """Return the values of a further series of another library; other arguments as they are."""
    adapter = adapter_of(series)
    return series if adapter is None else adapter.values
