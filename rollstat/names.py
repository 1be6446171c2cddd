"""Names of parameters that a call does not know, and the one that was meant."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# What parameters are called in other libraries, or were called here.
_SYNONYMS = {
    "aggregate": "combine",
    "op": "operator",
    "func": "function",
    "m": "window",
    "span": "window",
    "size": "window",
    "width": "window",
    "window_size": "window",
    "min_count": "min_periods",
    "min_samples": "min_periods",
    "min_nobs": "min_periods",
    "n_jobs": "threads",
    "workers": "threads",
    "num_threads": "threads",
    "cval": "fill_value",
    "dim": "axis",
    "on": "times",
    "output": "out",
    "method": "algorithm",
    # Statistics.
    "average": "mean",
    "distinct": "nunique",
    "percentile": "quantile",
}


def nearest(name: str, own: Sequence[str], common: Iterable[str] = ()) -> str | None:
    """Return the parameter that `name` is most like: one of the statistic's `own` before a `common` one."""
    from difflib import get_close_matches  # only errors need this

    meant, common = _SYNONYMS.get(name), list(common)
    if meant in own or meant in common:
        return meant
    for names in (own, common):
        found = get_close_matches(name, names, 1) or [each for each in names if each.startswith(name)]
        if found:
            return found[0]
    return None


def no_attribute(owner: str, name: str, known: Sequence[str]) -> AttributeError:
    """Return the error for an attribute that `owner` lacks; it names the statistic that was meant."""
    meant = None if name.startswith("_") else nearest(name, known)
    hint = f"; did you mean {meant}?" if meant else ""
    return AttributeError(f"{owner} has no attribute {name!r}{hint}", name=name)


def reject_unknown(caller: str, given: Iterable[str], own: Sequence[str], common: Iterable[str] = ()) -> None:
    """Raise TypeError if a name among `given` is none of the parameters of `caller`."""
    common = list(common)
    for name in given:
        if name not in own and name not in common:
            meant = nearest(name, own, common)
            hint = (
                f"did you mean {meant}?"
                if meant
                else f"the parameters are {', '.join([*own, *common]) or 'none'}"
            )
            raise TypeError(f"{caller} got an unexpected keyword argument {name!r}; {hint}") from None


def suggesting(function: Function) -> Function:
    """Return a function whose errors about an unknown keyword name the parameter that was meant."""
    names = list(signature(function).parameters)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            reject_unknown(f"{function.__qualname__.removesuffix('.__init__')}()", kwargs, names)
            raise

    return call  # type: ignore[return-value]  # of the same signature
