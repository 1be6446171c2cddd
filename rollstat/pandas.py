"""pandas accessors: every registered statistic as a method of a Series or a DataFrame.

Importing this module registers ``Series.rollstat`` and ``DataFrame.rollstat``::

    import rollstat.pandas

    series.rollstat.rolling(100).median()
    series.rollstat.median(100)

Results have the index and the name of the input. Nullable and Arrow-backed columns stay nullable and
Arrow-backed, with NA for missing results; datetimes keep their time zone.
"""

import inspect
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache, wraps
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

from rollstat.registry import REGISTRY, Statistic

__all__ = ["DataFrameAccessor", "Rolling", "SeriesAccessor"]

_signature = lru_cache(maxsize=None)(inspect.signature)

_REFUSED = {
    "win_type": "weight the rows by rollstat.rolling_weighted_mean instead",
    "method": "every column is a series of its own",
    "engine": "every statistic is compiled as it is",
    "engine_kwargs": "every statistic is compiled as it is",
    "numeric_only": "choose the columns first, as with select_dtypes('number')",
}


def _refuse(options: dict[str, Any], *names: str) -> None:
    """Raise TypeError for a parameter of pandas that does not apply here."""
    for name in names:
        if name in options:
            raise TypeError(f"{name} of pandas is not taken here: {_REFUSED[name]}; it was {options[name]!r}")


def _is_time_width(window: Any) -> bool:
    """Return whether a window is a width in time, which needs the times of the index."""
    return isinstance(window, (str, timedelta, np.timedelta64)) or hasattr(window, "nanos")


def _to_array(series: pd.Series) -> Any:
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
    na_value = numpy_dtype.type("NaT" if numpy_dtype.kind in "mM" else 0)
    return np.ma.MaskedArray(series.to_numpy(dtype=numpy_dtype, na_value=na_value), missing)


def _to_series(values: Any, like: pd.Series, index: pd.Index, name: Any) -> pd.Series:
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
    result = pd.Series(values, index=index, name=name)
    if isinstance(like.dtype, pd.DatetimeTZDtype) and result.dtype.kind == "M":
        return result.dt.tz_localize("UTC").dt.tz_convert(like.dtype.tz)
    return result


def _times(on: Any) -> Any:
    """Return the times of the rows as an array; zoned ones in UTC, in which they are in order."""
    index = pd.Index(on)
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if isinstance(index, pd.DatetimeIndex) and index.tz is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    return index.to_numpy()


def _result_index(index: pd.Index, rows: int, options: dict[str, Any]) -> pd.Index:
    """Return the index of the result, every `step`-th label; raise ValueError if the rows do not match."""
    stepped = index[:: options.get("step") or 1]
    if len(stepped) == rows:
        return stepped
    raise ValueError(
        f"a result of {rows} rows has no place on an index of {len(index)}: use the array functions for "
        "mode='valid' and for windows that do not belong to rows"
    )


def _require_other(statistic: Statistic, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raise TypeError unless the second series of a statistic is given."""
    if not args and "other" not in options:
        raise TypeError(f"other must be given to {statistic.name}: a Series or an array of the same rows")


def _apply(
    statistic: Statistic, series: pd.Series, on: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return a statistic of a Series, with its index."""
    _refuse(options, "engine", "engine_kwargs", "numeric_only")
    inputs = [_to_array(series)]
    if statistic.series > 1:
        options = dict(options)
        _require_other(statistic, args, options)
        other, args = (options.pop("other"), args) if "other" in options else (args[0], args[1:])
        if isinstance(other, pd.Series) and not other.index.equals(series.index):
            other = other.reindex(series.index)
        inputs.append(_to_array(other) if isinstance(other, pd.Series) else other)
    bound = _signature(statistic.function).bind(*inputs, *args, **options)
    window = bound.arguments.get(_window_name(statistic))
    if _is_time_width(window) and "times" not in options:
        options = {**options, "times": _times(series.index if on is None else on)}
    values = statistic.function(*inputs, *args, **options)
    return _wrap(statistic, values, series, options, bound.arguments)


def _wrap(
    statistic: Statistic, values: Any, series: pd.Series, options: dict[str, Any], arguments: dict[str, Any]
) -> Any:
    """Return a Series for one result, a DataFrame for named outputs or several values of a parameter."""
    if isinstance(values, tuple):
        index = _result_index(series.index, values[0].shape[-1], options)
        columns = {
            name: _to_series(value, series, index, name) for name, value in zip(statistic.outputs, values)
        }
        return pd.DataFrame(columns)
    index = _result_index(series.index, values.shape[-1], options)
    if values.ndim == 1:
        return _to_series(values, series, index, series.name)
    several = next(v for name, v in arguments.items() if name in statistic.parameters and np.ndim(v) == 1)
    return pd.DataFrame({label: _to_series(v, series, index, label) for label, v in zip(several, values)})


def _window_name(statistic: Statistic) -> str:
    """Return the name of the parameter that takes the window."""
    return "m" if "m" in _signature(statistic.function).parameters else "window"


def _method(statistic: Statistic, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method with the docstring of the function that passes `statistic` to `call`."""

    @wraps(statistic.function)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        return call(self, statistic, *args, **options)

    method.__name__ = statistic.name
    method.__qualname__ = statistic.name
    return method


class Rolling:
    """A window over a Series or DataFrame, with one method for each statistic.

    ``series.rollstat.rolling(window, ...)`` returns it. It takes the parameters of
    :meth:`pandas.Series.rolling` and every other common option of the array functions.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([4.0, 1.0, 3.0, 2.0]).rollstat.rolling(3).kth(2).tolist()
    [nan, nan, 3.0, 2.0]
    """

    def __init__(self, data: Any, window: Any, on: Any = None, **options: Any) -> None:
        self._data = data
        self._window = window
        self._on = on
        self._options = options

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"Rolling({self._window!r}{options})"

    def _call(self, statistic: Statistic, *args: Any, **options: Any) -> Any:
        name = _window_name(statistic)
        if statistic.series > 1:
            _require_other(statistic, args, options)
        position = 1 if statistic.series > 1 and "other" not in options else 0
        if name == "window":
            args = (*args[:position], self._window, *args[position:])
            options = {**self._options, **options}
        else:
            options = {**self._options, **options, name: self._window}
        return _apply_to(self._data, statistic, self._on, args, options)


def _apply_to(
    data: Any, statistic: Statistic, on: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return a statistic of a Series, or of each column of a DataFrame except the one with the times."""
    by_column = isinstance(on, str) and isinstance(data, pd.DataFrame) and on in data
    if isinstance(on, str) and not by_column:
        raise ValueError(f"on must be the name of a column, or the time of each row; it was {on!r}")
    if isinstance(data, pd.Series):
        return _apply(statistic, data, on, args, options)
    times = data[on] if by_column else on
    step = options.get("step") or 1
    names, columns = [], []
    for name, column in data.items():  # several columns can have one name
        kept = by_column and name == on
        columns.append(column.iloc[::step] if kept else _apply(statistic, column, times, args, options))
        names.append(name)
    if not columns:
        return data.iloc[::step].copy()
    if any(isinstance(column, pd.DataFrame) for column in columns):
        several = [i for i, column in enumerate(columns) if isinstance(column, pd.DataFrame)]
        return pd.concat([columns[i] for i in several], axis=1, keys=[names[i] for i in several])
    result = pd.concat(columns, axis=1)
    result.columns = data.columns
    return result


class _Accessor:
    """``rolling`` and one method for each statistic."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def rolling(
        self,
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        on: Any = None,
        closed: Any = None,
        step: int | None = None,
        **options: Any,
    ) -> Rolling:
        """Return a window whose methods are the statistics.

        Parameters
        ----------
        window, min_periods, center, on, closed, step
            As in :meth:`pandas.Series.rolling`. A width in time refers to the times of the index, or of `on`:
            the name of a column, or the time of each row.
        **options
            Other common options of the array functions, such as ``nan_policy`` or ``algorithm``.

        Returns
        -------
        Rolling
            The window, for calls such as ``rolling(window).median()``.
        """
        _refuse(options, "win_type", "method")
        given = {"min_periods": min_periods, "center": center, "closed": closed, "step": step}
        return Rolling(self._data, window, on, **given, **options)

    def _call(self, statistic: Statistic, *args: Any, **options: Any) -> Any:
        return _apply_to(self._data, statistic, options.pop("on", None), args, options)


class _LazyMethod:
    """A method that replaces itself by that of the statistic when it is first read."""

    def __init__(self, cls: type[Rolling] | type[_Accessor], name: str) -> None:
        self._cls = cls
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        setattr(self._cls, self._name, _method(REGISTRY[self._name], self._cls._call))
        return getattr(owner if instance is None else instance, self._name)


for _name in REGISTRY:
    setattr(_Accessor, _name, _LazyMethod(_Accessor, _name))
    setattr(Rolling, _name, _LazyMethod(Rolling, _name))


@register_series_accessor("rollstat")
class SeriesAccessor(_Accessor):
    """``Series.rollstat``: every rolling statistic, and ``rolling(window)``.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([4.0, 1.0, 3.0, 2.0]).rollstat.kth(2, 3).tolist()
    [nan, nan, 3.0, 2.0]
    """


@register_dataframe_accessor("rollstat")
class DataFrameAccessor(_Accessor):
    """``DataFrame.rollstat``: every rolling statistic, and ``rolling(window)``, column by column.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.DataFrame({"a": [4.0, 1.0, 3.0]}).rollstat.median(2)["a"].tolist()
    [nan, 2.5, 2.0]
    """
