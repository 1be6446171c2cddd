"""The accessors, and windows over a Series or DataFrame by functions."""

import inspect
from collections.abc import Callable
from typing import Any, Unpack

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

import rollstat
from rollstat.pandas.groups import GroupBy
from rollstat.pandas.methods import SELF, LazyMethod, bound_method
from rollstat.pandas.windows import (
    Expanding,
    Rolling,
    WindowOptions,
    checked_options,
    pandas_window,
    reject_options,
)
from rollstat.registry import REGISTRY

__all__ = ["DataFrameAccessor", "SeriesAccessor", "expanding", "rolling"]


def rolling(
    data: Any,
    window: Any,
    min_periods: int | None = None,
    center: bool = False,
    win_type: str | None = None,
    on: Any = None,
    closed: Any = None,
    step: int | None = None,
    method: str = "single",
    **options: Unpack[WindowOptions],
) -> Any:
    """Return windows over a Series or DataFrame whose statistics rollstat computes.

    Parameters
    ----------
    data : Series or DataFrame
        The data.
    window, min_periods, center, win_type, on, closed, step, method
        As in :meth:`pandas.Series.rolling`. With `win_type` the result is pandas' own. `window` can also
        be :class:`rollstat.Forward`, a pair of integer arrays ``(start, end)``, or a number with `times`.
    **options
        ``keep_dtype=True`` keeps float32, nullable and Arrow-backed columns, datetimes and strings where the
        method of pandas returns float64 or raises an error. ``nan_policy``, ``fill_value``, ``times``,
        ``threads`` and ``algorithm`` are those of the functions, such as :func:`rollstat.rolling_median`.

    Returns
    -------
    Rolling
        The windows, for calls such as ``rolling(data, 3).median()``.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> rollstat.pandas.rolling(pd.Series([4.0, 1.0, 3.0, 2.0]), 3).median().tolist()
    [nan, nan, 3.0, 2.0]
    """
    given = checked_options("rolling", options)
    if win_type is None and isinstance(window, rollstat.Expanding):
        return expanding(data, 1 if min_periods is None else min_periods, method, **options)
    parameters = {"min_periods": min_periods, "center": center, "on": on, "closed": closed, "step": step}
    parameters["method"] = method
    if win_type is not None:
        reject_options(win_type, given)
        weighted: Any = pd.api.typing.Window
        return weighted(data, window, win_type=win_type, **parameters)
    return Rolling(data, pandas_window(window, given), **parameters, _options=given)


def expanding(
    data: Any, min_periods: int = 1, method: str = "single", **options: Unpack[WindowOptions]
) -> Any:
    """Return windows from the first row on, over a Series or DataFrame, whose statistics rollstat computes.

    Parameters
    ----------
    data : Series or DataFrame
        The data.
    min_periods, method
        As in :meth:`pandas.Series.expanding`.
    **options
        As in :func:`rolling`.

    Returns
    -------
    Expanding
        The windows, for calls such as ``expanding(data).median()``.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> rollstat.pandas.expanding(pd.Series([4.0, 1.0, 3.0, 2.0])).median().tolist()
    [4.0, 2.5, 3.0, 2.5]
    """
    return Expanding(
        data, min_periods=min_periods, method=method, _options=checked_options("expanding", options)
    )


_WINDOW_OPTIONS = ("min_periods", "center", "on", "closed", "step", *WindowOptions.__annotations__)


_SHORTCUT_OPTIONS = """\
min_periods, center, on, closed, step
    As in :meth:`pandas.Series.rolling`.
keep_dtype, nan_policy, fill_value, times, threads, algorithm
    As in :func:`rollstat.pandas.rolling`."""


def _shortcut(name: str) -> Callable[..., Any]:
    """Return the method of the accessors that is short for a method of a window object."""
    defaults = {"center": False, "keep_dtype": False, "nan_policy": "omit", "algorithm": "auto"}
    given = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(option))
        for option in _WINDOW_OPTIONS
    ]

    def call(accessor: Any, bound: dict[str, Any]) -> Any:
        window = bound.pop(REGISTRY[name].window_name)
        windows = accessor.rolling(window, **{key: bound.pop(key) for key in _WINDOW_OPTIONS if key in bound})
        if name == "aggregate":  # the method of the window object takes names and functions of pandas too
            return windows._own_statistic(name, bound, bound.pop("numeric_only", False))
        return getattr(windows, name)(**bound)

    return bound_method(name, REGISTRY[name].arguments[1:], call, given, _SHORTCUT_OPTIONS)


# Parameters of pandas' groupby after `by` and `level`, in the order of pandas 3; pandas 2 begins with `axis`.
_GROUPING = ("as_index", "sort", "group_keys", "observed", "dropna")


def _of_data(function: Any) -> Any:
    """Return a function whose first argument is the data as a method of the accessors."""
    _, *parameters = inspect.signature(function).parameters.values()

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self._data, *args, **kwargs)

    method.__signature__ = inspect.Signature([SELF, *parameters])  # type: ignore[attr-defined]  # as in `bound_method`
    method.__name__ = method.__qualname__ = function.__name__
    text = inspect.getdoc(function) or ""
    method.__doc__ = text.replace("data : Series or DataFrame\n    The data.\n", "")
    return method


class _Accessor:
    """``rolling``, ``expanding``, and one method for each statistic."""

    def __init__(self, data: Any) -> None:
        self._data = data

    rolling = _of_data(rolling)
    expanding = _of_data(expanding)

    def groupby(self, by: Any = None, level: Any = None, *args: Any, **options: Any) -> GroupBy:
        """Return groups whose windows rollstat computes.

        Parameters
        ----------
        by, level, *args, **options
            As in :meth:`pandas.DataFrame.groupby`.

        Returns
        -------
        GroupBy
            The groups, for calls such as ``groupby("key").rolling(3).median()``.

        Examples
        --------
        >>> import pandas as pd, rollstat.pandas
        >>> frame = pd.DataFrame({"key": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})
        >>> frame.rollstat.groupby("key").rolling(2).sum()["x"].tolist()
        [nan, nan, 4.0]
        """
        if len(args) > len(_GROUPING):
            raise TypeError(f"groupby takes at most {2 + len(_GROUPING)} arguments by position")
        given = dict(zip(_GROUPING, args))
        if twice := given.keys() & options.keys():
            raise TypeError(f"groupby got multiple values for argument {min(twice)!r}")
        return GroupBy(self._data.groupby(by, level=level, **given, **options))

    def ewm(self, *args: Any, **options: Any) -> Any:
        """Return exponentially weighted windows, which pandas computes.

        Parameters
        ----------
        com, span, halflife, alpha, min_periods, adjust, ignore_na, times, method
            As in :meth:`pandas.Series.ewm`.

        Returns
        -------
        ExponentialMovingWindow
            That of pandas.
        """
        return self._data.ewm(*args, **options)


_Accessor.ewm.__signature__ = inspect.signature(pd.Series.ewm)  # type: ignore[attr-defined]  # as in `bound_method`
_Accessor.groupby.__qualname__ = "groupby"  # errors of arguments name the method alone
for _name in REGISTRY:
    setattr(_Accessor, _name, LazyMethod(_Accessor, _name, _shortcut))


@register_series_accessor("rollstat")
class SeriesAccessor(_Accessor):
    """``Series.rollstat``: windows as in pandas, and every rolling statistic.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([4.0, 1.0, 3.0, 2.0]).rollstat.kth(2, 3).tolist()
    [nan, nan, 3.0, 2.0]
    """


@register_dataframe_accessor("rollstat")
class DataFrameAccessor(_Accessor):
    """``DataFrame.rollstat``: windows as in pandas, and every rolling statistic, column by column.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.DataFrame({"a": [4.0, 1.0, 3.0]}).rollstat.median(2)["a"].tolist()
    [nan, 2.5, 2.0]
    """
