"""The accessors, windows over a Series or DataFrame by functions, and methods made from the registry.

The accessors have a method for each statistic, and the window objects have a method for each statistic that
pandas lacks. A method is made when it is first used.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import FunctionType
from typing import Any, Unpack

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

from rollstat.names import no_attribute, reject_unknown
from rollstat.pandas.calls import STATISTICS
from rollstat.pandas.exponential import NAMES, ExponentialMovingWindow
from rollstat.pandas.groups import GroupBy
from rollstat.pandas.weighted import WeightedWindows
from rollstat.pandas.windows import (
    Expanding,
    Rolling,
    WindowOptions,
    Windows,
    by_name,
    checked_options,
    is_plainly_expanding,
    pandas_window,
    reject_options,
)
from rollstat.registry import REGISTRY, Statistic


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
    """Return pandas' rolling windows over a Series or DataFrame, computed by rollstat.

    Parameters
    ----------
    data : Series or DataFrame
        The data.
    window, min_periods, center, win_type, on, closed, step, method
        As in :meth:`pandas.Series.rolling`. `window` may also be any window of the functions, such as
        :class:`rollstat.Around`, ``"1 month"``, any `DateOffset`, a pair of integer arrays ``(start, end)``,
        an array with a size for each row, or a number with `times`.
    **options
        ``keep_dtype=True`` keeps float32, nullable and Arrow-backed columns, datetimes and strings where
        pandas' method returns float64 or raises an error. ``nan_policy``, ``inf``, ``fill_value``,
        ``times``, ``at``, ``equal_times``, ``threads`` and ``algorithm`` mean the same as in the functions,
        such as :func:`rollstat.rolling_median`. With ``at``, these times are the index of the result.

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
    given = checked_options("rolling", options) if options else {}
    if type(closed) is int:
        raise TypeError(
            f"closed, the sixth parameter in pandas 3, must not be a number such as axis; got {closed!r}; "
            "leave axis out, or transpose the frame for axis=1"
        )
    parameters = {"min_periods": min_periods, "center": center, "on": on, "closed": closed, "step": step}
    if win_type is None and is_plainly_expanding(window, parameters):
        return expanding(data, 1 if min_periods is None else min_periods, method, **options)
    parameters["method"] = method
    if win_type is not None:
        reject_options(win_type, given)
        return WeightedWindows(data, window, win_type=win_type, **parameters)
    windows = Rolling(data, pandas_window(window, given, step), **parameters)
    return windows._with_options(given) if given else windows


def expanding(
    data: Any, min_periods: int = 1, method: str = "single", **options: Unpack[WindowOptions]
) -> Any:
    """Return pandas' expanding windows over a Series or DataFrame, computed by rollstat.

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
    if method != "single" and str(method).isdigit():
        raise TypeError(
            f"method, the second parameter in pandas 3, must not be a number such as axis; got {method!r}; "
            "leave axis out, or transpose the frame for axis=1"
        )
    windows = Expanding(data, min_periods, method=method)
    return windows._with_options(checked_options("expanding", options)) if options else windows


_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : ", re.MULTILINE)
_NUMERIC_ONLY = inspect.Parameter(
    "numeric_only", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool
)
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _document(statistic: Statistic, kept: set[str], options: str) -> str:
    """Return the docstring of a method: the docstring of the function without the parameters it lacks."""
    text = inspect.getdoc(statistic.function) or ""
    head, _, rest = text.partition("Parameters\n----------\n")
    entries, _, _ = rest.partition("\n\n")
    starts = [match.start() for match in _ENTRY.finditer(entries)]
    parts = [entries[i:j].rstrip() for i, j in zip(starts, [*starts[1:], len(entries)])]
    own = [part for part in parts if kept >= set(part.partition(" : ")[0].split(", "))]
    own += [options] if options else []
    own.append("numeric_only : bool, default False\n    Skip DataFrame columns that are not numeric.")
    lines = [head.strip(), "", "Parameters", "----------", *own, "", "Returns", "-------"]
    lines += [
        "Series or DataFrame",
        "    With the index and the columns of the data. Several outputs, or several values of",
    ]
    lines += ["    a parameter, are columns.", "", "See Also", "--------"]
    lines += [f"rollstat.{statistic.function.__name__} : The array function, with its cost and source."]
    return "\n".join(lines)


def _bound_method(
    name: str,
    parameters: Sequence[inspect.Parameter],
    call: Callable[[Any, dict[str, Any]], Any],
    further: Sequence[inspect.Parameter] = (),
    document: str = "",
) -> Callable[..., Any]:
    """Return the method for a statistic that passes its object and the given arguments to `call`.

    The docstring of the function describes `parameters`, and `document` describes `further` ones.
    """
    signature = inspect.Signature([_SELF, *parameters, *further, _NUMERIC_ONLY])
    own = [parameter.name for parameter in parameters]

    def method(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:
            reject_unknown(f"{name}()", kwargs, own, signature.parameters)
            raise
        return call(bound.pop("self"), bound)

    method.__signature__ = signature  # type: ignore[attr-defined]  # functions have it, their type does not say so
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _document(REGISTRY[STATISTICS[name]], set(own), document)
    return method


def _window_method(name: str) -> Callable[..., Any]:
    """Return the method of the window objects for a statistic that pandas does not have."""
    statistic = REGISTRY[STATISTICS[name]]

    def call(windows: Any, bound: dict[str, Any]) -> Any:
        numeric_only = bound.pop("numeric_only", False)
        if statistic.pandas:  # older versions of pandas lack a few of these
            return windows._statistic(statistic.name, numeric_only, bound)
        return windows._own_statistic(statistic.name, bound, numeric_only)

    own = [p for p in statistic.arguments[1:] if p.name != "window"]
    return _bound_method(name, own, call)


def _method_of(cls: type, method: FunctionType) -> FunctionType:
    """Return a copy of an inherited method that errors call a method of `cls`, as they do in pandas."""
    copy = FunctionType(
        method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__
    )
    update_wrapper(copy, method)
    del copy.__wrapped__  # type: ignore[attr-defined]  # update_wrapper has set it
    copy.__kwdefaults__ = method.__kwdefaults__
    copy.__qualname__ = f"{cls.__name__}.{method.__name__}"
    return copy


class _LazyMethod:
    """A method that replaces itself by the one that `make` returns when it is first read."""

    def __init__(self, cls: type, name: str, make: Callable[[str], Callable[..., Any]]) -> None:
        self._cls = cls
        self._name = name
        self._make = make

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        setattr(self._cls, self._name, self._make(self._name))
        return getattr(owner if instance is None else instance, self._name)


_WINDOW_OPTIONS = ("min_periods", "center", "on", "closed", "step", *WindowOptions.__annotations__)


_SHORTCUT_OPTIONS = """\
min_periods, center, on, closed, step
    As in :meth:`pandas.Series.rolling`.
keep_dtype, nan_policy, inf, fill_value, times, at, equal_times, threads, algorithm
    As in :func:`rollstat.pandas.rolling`."""


def _shortcut(name: str) -> Callable[..., Any]:
    """Return the method of the accessors that is a shortcut for a method of a window object."""
    defaults = {
        "center": False,
        "keep_dtype": False,
        "nan_policy": "omit",
        "inf": "value",
        "equal_times": "past",
        "algorithm": "auto",
    }
    given = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(option))
        for option in _WINDOW_OPTIONS
    ]

    def call(accessor: Any, bound: dict[str, Any]) -> Any:
        window = bound.pop("window")
        windows = accessor.rolling(window, **{key: bound.pop(key) for key in _WINDOW_OPTIONS if key in bound})
        if name == "apply":  # the window objects have the method of pandas
            return windows._own_statistic(name, bound, bound.pop("numeric_only", False))
        return getattr(windows, name)(**bound)

    every = REGISTRY[STATISTICS[name]].arguments
    parameters = every[name != "regression" :]  # which takes all its columns by name
    return _bound_method(name, parameters, call, given, _SHORTCUT_OPTIONS)


# Parameters of pandas' groupby in the order of pandas 3; pandas 2 has `axis` before `level`.
_GROUPING = ("by", "level", "as_index", "sort", "group_keys", "observed", "dropna")


def _of_data(function: Any) -> Any:
    """Return a function whose first argument is the data as a method of the accessors."""
    _, *parameters = inspect.signature(function).parameters.values()

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self._data, *args, **kwargs)

    method.__signature__ = inspect.Signature([_SELF, *parameters])  # type: ignore[attr-defined]  # as in `_bound_method`
    method.__name__ = method.__qualname__ = function.__name__
    text = inspect.getdoc(function) or ""
    method.__doc__ = text.replace("data : Series or DataFrame\n    The data.\n", "")
    return method


class _Accessor:
    """``rolling``, ``expanding``, and one method for each statistic."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        owner = type(self).__name__
        if name in getattr(vars(self).get("_data"), "columns", ()):
            text = f"{owner} has no columns: write frame[{name!r}].rollstat"
            raise AttributeError(text, name=name)
        raise no_attribute(owner, name, list(STATISTICS))

    def idxmin(self, window: Any, *, numeric_only: bool = False, **options: Any) -> Any:
        """Return the label of the row with the first minimum of each window.

        Parameters
        ----------
        window
            The window.
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.
        **options
            As in :func:`rollstat.pandas.rolling`.

        Returns
        -------
        Series or DataFrame
            Labels of the index, missing where there are too few observations; ``argmin`` returns positions.

        Examples
        --------
        >>> import pandas as pd, rollstat.pandas
        >>> pd.Series([4.0, 1.0, 3.0], ["a", "b", "c"]).rollstat.idxmin(2).tolist()
        [nan, 'b', 'b']
        """
        return self.rolling(window, **options).idxmin(numeric_only)

    def idxmax(self, window: Any, *, numeric_only: bool = False, **options: Any) -> Any:
        """Return the label of the row with the first maximum of each window, like :meth:`idxmin`."""
        return self.rolling(window, **options).idxmax(numeric_only)

    rolling = _of_data(rolling)
    expanding = _of_data(expanding)

    def groupby(self, by: Any = None, level: Any = None, *args: Any, **options: Any) -> GroupBy:
        """Return a pandas groupby whose windows rollstat computes.

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
        given = by_name("groupby", _GROUPING, (by, level, *args), options)
        return GroupBy(self._data.groupby(**given))

    def ewm(self, *args: Any, inf: str = "value", **options: Any) -> Any:
        """Return pandas' exponentially weighted windows, computed by rollstat.

        Parameters
        ----------
        com, span, halflife, alpha, min_periods, adjust, ignore_na, times, method
            As in :meth:`pandas.Series.ewm`.
        inf : {"value", "missing"}, default "value"
            Whether infinities are ordinary values, or missing values as in pandas.

        Returns
        -------
        ExponentialMovingWindow
            The windows, for calls such as ``ewm(span=20).mean()``.
        """
        given = by_name("ewm", NAMES, args, options) if args else options
        windows = ExponentialMovingWindow(self._data, **given)
        return windows if inf == "value" else windows._with_options({"inf": inf})


_EWM_OF_PANDAS = inspect.signature(pd.Series.ewm)
_Accessor.ewm.__signature__ = _EWM_OF_PANDAS.replace(  # type: ignore[attr-defined]  # as in `_bound_method`
    parameters=[
        *(parameter for name, parameter in _EWM_OF_PANDAS.parameters.items() if name != "axis"),
        inspect.Parameter("inf", inspect.Parameter.KEYWORD_ONLY, default="value", annotation=str),
    ]
)
_Accessor.groupby.__qualname__ = "groupby"  # errors of arguments name the method alone
for _name in STATISTICS:
    setattr(_Accessor, _name, _LazyMethod(_Accessor, _name, _shortcut))
    if _name in vars(Windows):
        for _cls in (Rolling, Expanding):
            setattr(_cls, _name, _method_of(_cls, getattr(_cls, _name)))
    elif not hasattr(pd.api.typing.Rolling, _name):
        setattr(Windows, _name, _LazyMethod(Windows, _name, _window_method))


@register_series_accessor("rollstat")
class SeriesAccessor(_Accessor):
    """``Series.rollstat``: pandas' windows, and every rolling statistic.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([4.0, 1.0, 3.0, 2.0]).rollstat.kth(2, 3).tolist()
    [nan, nan, 3.0, 2.0]
    """


@register_dataframe_accessor("rollstat")
class DataFrameAccessor(_Accessor):
    """``DataFrame.rollstat``: pandas' windows, and every rolling statistic, column by column.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.DataFrame({"a": [4.0, 1.0, 3.0]}).rollstat.median(2)["a"].tolist()
    [nan, 2.5, 2.0]
    """
