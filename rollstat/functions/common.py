"""What all public functions share: registration, signature, and the text on common options."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rollstat.registry import Statistic, register

__all__ = ["statistic"]

Function = TypeVar("Function", bound=Callable[..., Any])

_WINDOW = """\
window : int, str, timedelta, number, (start, end), Expanding, Forward or BaseIndexer
    The last so many rows; or a width, with `times`; or explicit monotone bounds, integer arrays
    ``[start, end)``; see :ref:`windows`.
"""

_NUMBERS = """\
arr : array_like of float, int or bool, shape (..., n, ...)
    The series, along `axis`.
"""

_RAISES = """\
ValueError, TypeError
    For a bad array, window or option. Nothing is computed then.
"""

_OPTIONS = """\
min_periods : int, optional
    Least number of observations for a result; by default the window for a number of rows, else 1.
center : bool, default False
    Whether the window is centred on its row.
closed : {"right", "left", "both", "neither"}, optional
    Which ends of the window belong to it, as in pandas; ``"right"`` by default.
step : int, optional
    Give the result of every `step`-th row only.
times : array_like of datetime64, timedelta64, int or float, shape (n,), optional
    Time or position of each row, in order, for windows by width.
segments : array_like of int, optional
    For a 1-d series of several parts laid end to end: where each begins, and the length. No window
    reaches across.
axis : int, default -1
    Axis along which the window slides.
nan_policy : {"omit", "propagate", "raise"}, default "omit"
    A missing value (NaN, NaT) takes a row of the window but is no observation; or it makes every
    window with it missing; or it is an error.
mode : {"same", "valid"}, default "same"
    One result for each row; or only those of windows that lie wholly inside the data.
fill_value : scalar, optional
    What stands for a missing result. With it, or with ``mode="valid"``, integers keep their dtype. A
    result that is undefined, such as the correlation with a constant, stays NaN.
out : ndarray, optional
    Array that receives the result.
threads : int, optional
    Threads to use; the setting of :func:`rollstat.set_threads` by default. They change no bit.
algorithm : str, default "auto"
    Name of the algorithm, see :ref:`algorithms`; ``"auto"`` takes the quickest exact one.
"""

_COMMON = {
    "min_periods": None,
    "center": False,
    "closed": None,
    "step": None,
    "times": None,
    "segments": None,
    "axis": -1,
    "nan_policy": "omit",
    "mode": "same",
    "fill_value": None,
    "out": None,
    "threads": None,
    "algorithm": "auto",
}


def _document(text: str) -> str:
    """Fill in the shared text where a docstring says ``{window}``, ``{options}`` and so on."""
    text = inspect.cleandoc(text)
    shared = {"window": _WINDOW, "options": _OPTIONS, "numbers": _NUMBERS, "raises": _RAISES}
    for name, part in shared.items():
        text = text.replace(f"{{{name}}}\n", part)
    return text


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """Spell the common options out, where the code says ``**options``."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in _COMMON.items()
        if name not in signature.parameters
    ]
    return signature.replace(parameters=[*own, *common])


def statistic(
    *,
    family: str,
    name: str | None = None,
    samples: tuple[Mapping[str, Any], ...] = ({},),
    algorithms: Mapping[str, str] | None = None,
    kinds: str = "fiubMm",
    series: int = 1,
    outputs: tuple[str, ...] = ("value",),
    exact: bool = True,
    cost: str = "",
    source: str = "",
    min_periods: int | None = None,
    pandas: str = "",
) -> Callable[[Function], Function]:
    """Register a public function; its parameters and text, and its name unless given, come from it."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        taken = {"arr", "other", "x", "window", "m", "options"}
        parameters = tuple(name for name in signature.parameters if name not in taken)
        function.__doc__ = _document(function.__doc__ or "")
        function.__signature__ = _signature(function)  # type: ignore[attr-defined]  # functions have it, their type does not say so
        register(
            Statistic(
                name=name or function.__name__.removeprefix("rolling_"),
                function=function,
                family=family,
                parameters=parameters,
                samples=samples,
                algorithms=algorithms or {},
                kinds=kinds,
                series=series,
                outputs=outputs,
                exact=exact,
                cost=textwrap.dedent(cost),
                source=source,
                min_periods=min_periods,
                pandas=pandas,
            )
        )
        return function

    return decorate
