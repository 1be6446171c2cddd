"""Arrays of other libraries: their values and missing values, and results of their own kind.

::

    pandas.Series, polars.Series, pyarrow.Array, xarray.DataArray  -->  ndarray, masked if there are nulls
    the same kind  <--  nulls where a result is missing  <--  results  <--  function  <--'

The columns of a DataFrame are series. A DatetimeIndex gives the times of windows by duration.

These libraries are not imported: who passes an object of one has loaded it.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rollstat.columns import to_array, to_series
from rollstat.options import Options, is_duration

_Convert: TypeAlias = Callable[[NDArray[Any], Any, dict[int, Any]], Any]


class Adapter(NamedTuple):
    """The values of an array of another library, and what returns results as such arrays.

    `convert` takes a result, where it is missing (None for an array without `nulls`), and, if the rows have
    `labels`, those that the result holds along each dimension whose length differs.
    """

    values: Any
    convert: _Convert
    nulls: bool = True
    labels: bool = False


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
        raise TypeError(f"a polars Series must hold one value in each row; got one of {series.dtype}")
    if series.dtype.base_type() in (polars.Decimal, polars.Time):
        raise TypeError(
            "arr must hold numbers, bool, datetimes or durations; got a polars Series of "
            f"{series.dtype}: cast it, as with series.cast(polars."
            f"{'Float64' if series.dtype.is_numeric() else 'Duration'})"
        )
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

    return Adapter(array.values, convert, nulls=False, labels=True)


def _pandas(series: Any) -> Adapter:
    dtype: Any = getattr(series.dtype, "numpy_dtype", series.dtype)
    numeric = isinstance(dtype, np.dtype) and dtype.kind in "fiubmM"
    values = to_array(series) if numeric or hasattr(dtype, "tz") else np.asarray(series)
    nulls = isinstance(values, np.ma.MaskedArray)

    def convert(result: Any, missing: Any, rows: dict[int, Any]) -> Any:
        index = series.index
        for of_axis in rows.values():
            index = index[of_axis]
        index = index if len(index) == len(result) else None
        return to_series(np.ma.MaskedArray(result, missing) if nulls else result, series, index, series.name)

    return Adapter(values, convert, nulls, labels=True)


_KINDS = {
    ("pandas", "Series"): _pandas,
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
    if isinstance(axis, (tuple, list)):
        return tuple(_numbered(each, arr) for each in axis)
    return int(arr.get_axis_num(axis)) if isinstance(axis, str) and hasattr(arr, "get_axis_num") else axis


def _rows_of_axis(window: Any, length: int, options: dict[str, Any]) -> Any:
    """Return the rows of data that the results along one axis belong to; no row where none is named."""
    fields = Options._fields
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
    widths = window if isinstance(window, tuple) else (window,) * len(axis)
    center = options.get("center", False)
    centers = center if isinstance(center, (tuple, list)) else (center,) * len(axis)
    return {
        each: _rows_of_axis(width, arr.shape[each], {"center": centered, "mode": "valid"})
        for each, width, centered in zip(axis, widths, centers)
    }


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


def is_frame(arr: Any) -> bool:
    """Return whether `arr` is a DataFrame of pandas."""
    return "pandas" in sys.modules and isinstance(arr, sys.modules["pandas"].DataFrame)


def _times_of(function: Callable[..., Any], arguments: Any, options: dict[str, Any]) -> Any:
    """Return the times of a call: those given, a coordinate by its name, or the index that a window needs."""
    arr, times = arguments[0], options.get("times")
    if isinstance(times, str) and hasattr(arr, "coords"):
        if times not in arr.coords:
            known = ", ".join(map(repr, arr.coords))
            raise ValueError(f"times must be an array or name a coordinate, one of {known}; got {times!r}")
        return arr.coords[times].values
    index: Any = getattr(arr, "index", None)
    if times is not None or getattr(getattr(index, "dtype", None), "kind", "") not in ("m", "M"):
        return times
    given = inspect.signature(function).bind(*arguments, **options).arguments
    window = given.get("window")
    sizes = [*getattr(window, "__dict__", {}).values(), window, given.get("halflife")]
    if given.get("at") is None and not any(map(is_duration, sizes)):
        return None
    return index if getattr(index, "tz", None) is not None else index.to_numpy()


def adapted(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Adapter | None]:
    """Return the arguments and options of a function, with arrays of NumPy for those of other libraries.

    Also return the adapter of the first argument; None if results stay as they are:
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
    times = _times_of(function, (several[0], *rest), options)
    if times is not None:
        options["times"] = times
    values = tuple(map(_values, arr)) if several is arr else adapter.values
    return (values, *map(_values, rest)), options, adapter


def call_like(
    function: Callable[..., Any], run: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return what a function returns, as objects of the kind of its first argument.

    Several results are a tuple of such objects. Other kinds of arguments are passed on to `run` as they are,
    and so is every kind where `out` receives the results.
    """
    if is_frame(arguments[0]) and options.get("axis", 0) == 0 and options.get("out") is None:
        return _of_columns(function, arguments, options)
    given, options, adapter = adapted(function, arguments, options)
    if adapter is None:
        return run(*given, **options)
    result = function(*given, **options)
    values = given[0][0] if type(given[0]) is tuple else given[0]
    several = isinstance(result, tuple) or result.ndim > np.ndim(values)
    results = tuple(result) if several else (result,)
    at = options.get("at")
    moved = results[0].shape != values.shape or at is not None
    rows = _rows(function, values, given[1:], options) if moved and adapter.labels else {}
    missing: Sequence[Any] = [[None] * len(results)] * len(results)
    if adapter.nulls:
        missing = missing_results(function.__name__, results, options.get("fill_value") is not None)

    def converted_one(each: Any, where: Any) -> Any:
        if each.ndim > values.ndim:
            return tuple(map(converted_one, each, where))
        found = adapter.convert(np.ma.getdata(each), where, rows)
        return found.set_axis(at) if at is not None and hasattr(found, "set_axis") else found

    converted = list(map(converted_one, results, missing))
    if not several:
        return converted[0]
    return type(result)(*converted) if hasattr(result, "_fields") else tuple(converted)


def _of_columns(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a function returns for each column of a DataFrame, as DataFrames."""
    frame, *rest = arguments
    options = {name: value for name, value in options.items() if name != "axis"}
    found = [function(frame.iloc[:, i], *rest, **options) for i in range(frame.shape[1])]
    if not found:
        return frame.copy()

    def joined(series: Sequence[Any]) -> Any:
        if isinstance(series[0], tuple):
            parts = list(map(joined, zip(*series)))
            return type(series[0])(*parts) if hasattr(series[0], "_fields") else tuple(parts)
        made = frame._constructor(dict(enumerate(series)))
        return made.set_axis(frame.columns, axis=1)

    return joined(found)


def _aligned(other: Any, arr: Any) -> Any:
    """Return a second DataArray with the dimensions of the first; other kinds as they are.

    Raise unless a second Series has the index of the first.
    """
    if hasattr(other, "index") and hasattr(arr, "index") and hasattr(other, "reindex"):
        if not other.index.equals(arr.index):
            raise ValueError("other must have the index of arr: use other.reindex(arr.index)")
        return other
    if not (hasattr(other, "broadcast_like") and hasattr(arr, "broadcast_like")):
        return other
    if not set(other.dims) <= set(arr.dims):
        raise ValueError(f"other must have dimensions of arr, {arr.dims}; got {other.dims}")
    sys.modules["xarray"].align(arr, other, join="exact")  # raises if coordinates differ
    return other.broadcast_like(arr).transpose(*arr.dims)


def _values(series: Any) -> Any:
    """Return the values of a further series of another library; other arguments as they are."""
    adapter = adapter_of(series)
    return series if adapter is None else adapter.values
