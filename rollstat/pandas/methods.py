"""Methods of the window objects and the accessors, made from the registry.

A method for a statistic that pandas does not have is made when it is first used.
"""

import inspect
import re
from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any

from rollstat.registry import REGISTRY, Statistic

__all__ = [
    "NUMERIC_ONLY",
    "LazyMethod",
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
        if statistic.pandas:  # older versions of pandas lack a few of these
            return window._statistic(name, bound.pop("numeric_only", False), bound)
        return window._own_statistic(name, bound, bound.pop("numeric_only", False))

    method.__signature__ = signature  # type: ignore[attr-defined]  # functions have it, their type does not say so
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _document(statistic, {parameter.name for parameter in parameters}, _METHOD_OPTIONS)
    return method


def is_count(ddof: Any) -> bool:
    """Return whether rollstat's functions take `ddof`."""
    return type(ddof) is int and ddof >= 0


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
