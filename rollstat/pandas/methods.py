"""Methods of the window objects and the accessors that are made and not written out.

Methods that only pass on the parameters of pandas are made from :data:`FORWARDS`, methods for the statistics
that pandas does not have from the registry when they are first used.
"""

import inspect
import re
from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any

from rollstat.registry import REGISTRY, Statistic

__all__ = [
    "FORWARDS",
    "NUMERIC_ONLY",
    "LazyMethod",
    "document",
    "forward",
    "is_count",
    "method_of",
    "own_parameters",
    "shortcut_document",
    "window_method",
    "window_name",
]

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : ", re.MULTILINE)
NUMERIC_ONLY = inspect.Parameter(
    "numeric_only", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool
)
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


@cache
def window_name(name: str) -> str:
    """Return the name of the parameter of a statistic's function that takes the window."""
    return "m" if "m" in inspect.signature(REGISTRY[name].function).parameters else "window"


def own_parameters(statistic: Statistic, with_window: bool) -> list[inspect.Parameter]:
    """Return the parameters of a statistic's function but its first array and the common options."""
    parameters = list(inspect.signature(statistic.function).parameters.values())[1:]
    own = [parameter for parameter in parameters if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    return [p for p in own if with_window or p.name != window_name(statistic.name)]


def _document(statistic: Statistic, kept: set[str], options: str) -> str:
    """Return the docstring of a method: that of the function without the parameters that it lacks."""
    text = inspect.getdoc(statistic.function) or ""
    head, _, rest = text.partition("Parameters\n----------\n")
    entries, _, _ = rest.partition("\n\n")
    starts = [match.start() for match in _ENTRY.finditer(entries)]
    parts = [entries[i:j].rstrip() for i, j in zip(starts, [*starts[1:], len(entries)])]
    own = [part for part in parts if kept >= set(part.partition(" : ")[0].split(", "))]
    lines = [head.strip(), "", "Parameters", "----------", *own, options, "", "Returns", "-------"]
    lines += [
        "Series or DataFrame",
        "    With the index and the columns of the data; one column for each output or",
    ]
    lines += ["    value of a parameter if there are several.", "", "See Also", "--------"]
    lines += [
        f"rollstat.{statistic.function.__name__} : The same for arrays, with missing values, cost and source."
    ]
    return "\n".join(lines)


_METHOD_OPTIONS = """\
numeric_only : bool, default False
    Leave out columns of a DataFrame that do not hold numbers."""


def window_method(name: str) -> Callable[..., Any]:
    """Return the method of the window objects for a statistic that pandas does not have."""
    statistic = REGISTRY[name]
    parameters = own_parameters(statistic, with_window=False)
    signature = inspect.Signature([_SELF, *parameters, NUMERIC_ONLY])

    def method(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        window = bound.pop("self")
        return window._own_statistic(name, bound, bound.pop("numeric_only", False))

    method.__signature__ = signature  # type: ignore[attr-defined]  # functions have it, their type does not say so
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _document(statistic, {parameter.name for parameter in parameters}, _METHOD_OPTIONS)
    return method


_PARAMETERS = {
    "q": "float or list of float\n    Which quantile, from 0 to 1. Several are the columns of the result.",
    "interpolation": (
        '{"linear", "lower", "higher", "nearest", "midpoint"}\n'
        "    How to compute a quantile that lies between two observations."
    ),
    "method": (
        '{"average", "min", "max", "dense", "first"}\n    Rank of equal values; pandas has the first three.'
    ),
    "ascending": "bool, default True\n    Whether the smallest value has the first rank.",
    "pct": "bool, default False\n    Whether to divide the ranks by the number of observations.",
    "other": "Series or DataFrame, optional\n    The other columns. Default: those of the data.",
    "pairwise": "bool, optional\n    Whether to combine all columns, not only those of one name.",
    "ddof": "int, default 1\n    The divisor is the number of observations minus `ddof`.",
    "numeric_only": "bool, default False\n    Leave out columns of a DataFrame that do not hold numbers.",
    "engine": 'str, optional\n    With ``"numba"`` pandas computes.',
    "engine_kwargs": "dict, optional\n    Options of the engine of pandas.",
    "args": "tuple\n    Ignored, as in pandas, for calls such as ``np.max(windows)``.",
    "kwargs": "dict\n    Ignored, as in pandas.",
}


def document(method: Callable[..., Any]) -> None:
    """Add the parameters and the result to the docstring of a method that pandas has too."""
    names = [name for name in inspect.signature(method).parameters if name != "self"]
    lines = [inspect.getdoc(method) or "", "", "Parameters", "----------"]
    lines += [f"{name} : {_PARAMETERS[name]}" for name in names]
    lines += ["", "Returns", "-------", "Series or DataFrame", "    As pandas returns it."]
    method.__doc__ = "\n".join(lines)


def is_count(ddof: Any) -> bool:
    """Return whether rollstat's functions take `ddof`."""
    return type(ddof) is int and ddof >= 0


def _plain(name: str) -> Any:
    def method(self: Any, numeric_only: bool = False) -> Any:
        return self._statistic(name, numeric_only, {})

    return method


def _with_engine(name: str) -> Any:
    def method(
        self: Any,
        numeric_only: bool = False,
        engine: str | None = None,
        engine_kwargs: dict[str, bool] | None = None,
    ) -> Any:
        return self._statistic(name, numeric_only, {}, True, engine, engine_kwargs)

    return method


def _with_ddof(name: str) -> Any:
    def method(self: Any, ddof: int = 1, numeric_only: bool = False) -> Any:
        return self._statistic(name, numeric_only, {"ddof": ddof}, is_count(ddof))

    return method


def _with_ddof_and_engine(name: str) -> Any:
    def method(
        self: Any,
        ddof: int = 1,
        numeric_only: bool = False,
        engine: str | None = None,
        engine_kwargs: dict[str, bool] | None = None,
    ) -> Any:
        return self._statistic(name, numeric_only, {"ddof": ddof}, is_count(ddof), engine, engine_kwargs)

    return method


FORWARDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "sum": (_with_engine, "sum"),
    "mean": (_with_engine, "mean"),
    "median": (_with_engine, "median"),
    "min": (_with_engine, "minimum"),
    "max": (_with_engine, "maximum"),
    "var": (_with_ddof_and_engine, "variance"),
    "std": (_with_ddof_and_engine, "standard deviation"),
    "sem": (_with_ddof, "standard error of the mean"),
    "skew": (_plain, "skewness"),
    "kurt": (_plain, "excess kurtosis"),
    "first": (_plain, "first observation"),
    "last": (_plain, "last observation"),
    "nunique": (_plain, "number of distinct values"),
}
"""Statistics whose methods only pass on the parameters of pandas: which parameters, and what is returned."""


def forward(name: str, with_parameters: Callable[[str], Any], what: str) -> FunctionType:
    """Return a method of the window objects that passes on its parameters, see :data:`FORWARDS`."""
    method: FunctionType = with_parameters(name)
    method.__name__ = name
    method.__doc__ = f"Return the {what} of each window, as pandas does."
    return method


def method_of(cls: type, method: FunctionType) -> FunctionType:
    """Return a copy of an inherited method that errors call a method of `cls`, as they do in pandas."""
    copy = FunctionType(
        method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__
    )
    update_wrapper(copy, method)
    del copy.__wrapped__  # type: ignore[attr-defined]  # update_wrapper has set it
    copy.__kwdefaults__ = method.__kwdefaults__
    copy.__qualname__ = f"{cls.__name__}.{method.__name__}"
    return copy


_SHORTCUT_OPTIONS = """\
min_periods, center, on, closed, step
    As in :meth:`pandas.Series.rolling`.
keep_dtype, nan_policy, fill_value, times, threads, algorithm
    As in :func:`rollstat.pandas.rolling`.
numeric_only : bool, default False
    Leave out columns of a DataFrame that do not hold numbers."""


def shortcut_document(statistic: Statistic, parameters: set[str]) -> str:
    """Return the docstring of the method of the accessors."""
    return _document(statistic, parameters, _SHORTCUT_OPTIONS)


class LazyMethod:
    """A method that replaces itself by the one that `make` returns when it is first read."""

    def __init__(self, cls: type, name: str, make: Callable[[str], Callable[..., Any]]) -> None:
        self._cls = cls
        self._name = name
        self._make = make

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        setattr(self._cls, self._name, self._make(self._name))
        return getattr(owner if instance is None else instance, self._name)
