"""Methods of the window objects and the accessors, made from the registry.

A method for a statistic that pandas does not have is made when it is first used.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import FunctionType
from typing import Any

from rollstat.registry import REGISTRY, Statistic

__all__ = ["SELF", "LazyMethod", "bound_method", "is_count", "method_of", "window_method"]

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : ", re.MULTILINE)
_NUMERIC_ONLY = inspect.Parameter(
    "numeric_only", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool
)
SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _document(statistic: Statistic, kept: set[str], options: str) -> str:
    """Return the docstring of a method: that of the function without the parameters that it lacks."""
    text = inspect.getdoc(statistic.function) or ""
    head, _, rest = text.partition("Parameters\n----------\n")
    entries, _, _ = rest.partition("\n\n")
    starts = [match.start() for match in _ENTRY.finditer(entries)]
    parts = [entries[i:j].rstrip() for i, j in zip(starts, [*starts[1:], len(entries)])]
    own = [part for part in parts if kept >= set(part.partition(" : ")[0].split(", "))]
    own += [options] if options else []
    own.append(
        "numeric_only : bool, default False\n    Leave out columns of a DataFrame that do not hold numbers."
    )
    lines = [head.strip(), "", "Parameters", "----------", *own, "", "Returns", "-------"]
    lines += [
        "Series or DataFrame",
        "    With the index and the columns of the data; one column for each output or",
    ]
    lines += ["    value of a parameter if there are several.", "", "See Also", "--------"]
    lines += [
        f"rollstat.{statistic.function.__name__} : The same for arrays, with missing values, cost and source."
    ]
    return "\n".join(lines)


def bound_method(
    name: str,
    parameters: Sequence[inspect.Parameter],
    call: Callable[[Any, dict[str, Any]], Any],
    further: Sequence[inspect.Parameter] = (),
    document: str = "",
) -> Callable[..., Any]:
    """Return the method for a statistic that passes its object and the given arguments to `call`.

    The docstring of the function describes `parameters`, and `document` describes `further` ones.
    """
    signature = inspect.Signature([SELF, *parameters, *further, _NUMERIC_ONLY])

    def method(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        return call(bound.pop("self"), bound)

    method.__signature__ = signature  # type: ignore[attr-defined]  # functions have it, their type does not say so
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _document(REGISTRY[name], {parameter.name for parameter in parameters}, document)
    return method


def window_method(name: str) -> Callable[..., Any]:
    """Return the method of the window objects for a statistic that pandas does not have."""
    statistic = REGISTRY[name]

    def call(windows: Any, bound: dict[str, Any]) -> Any:
        numeric_only = bound.pop("numeric_only", False)
        if statistic.pandas:  # older versions of pandas lack a few of these
            return windows._statistic(name, numeric_only, bound)
        return windows._own_statistic(name, bound, numeric_only)

    own = [p for p in statistic.arguments[1:] if p.name != statistic.window_name]
    return bound_method(name, own, call)


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


class LazyMethod:
    """A method that replaces itself by the one that `make` returns when it is first read."""

    def __init__(self, cls: type, name: str, make: Callable[[str], Callable[..., Any]]) -> None:
        self._cls = cls
        self._name = name
        self._make = make

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        setattr(self._cls, self._name, self._make(self._name))
        return getattr(owner if instance is None else instance, self._name)
