"""The named classes of streams, made from :mod:`rollstat.streaming.table`.

::

    row of the table, registered function ---> parameters, docstring, window ---> class RollingMedian, ...
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.names import reject_unknown
from rollstat.options import choice
from rollstat.registry import REGISTRY
from rollstat.streaming.base import RollingStream
from rollstat.streaming.calendar_window import CalendarWindow
from rollstat.streaming.general import OperatorStream
from rollstat.streaming.lagged_window import LAGGED, LaggedWindow
from rollstat.streaming.operator_window import NamedOperatorWindow
from rollstat.streaming.statistic_window import StatisticWindow
from rollstat.streaming.table import NO_STREAM, TABLE, OperatorRow, StreamRow
from rollstat.streaming.window_spec import WindowSpec

_MODULE = "rollstat.streaming"
_WINDOW = """window : int, float, str, timedelta, DateOffset, Expanding or None
    A number of rows; a duration or calendar units for the window ``(t - window, t]``, where :meth:`push`
    takes the time of each element; ``Expanding()``, all rows; or None, all rows that :meth:`pop` has not
    removed."""
_MIN_PERIODS = """min_periods : int, optional
    Minimum number of observations for a result. Default: {default}."""
_LATENESS = """lateness : float, str or timedelta, optional
    For a time window: how much older than the newest element an inserted element (:meth:`insert`) may be."""
_CLOSED = """closed : {"right", "both", "left", "neither"}, default "right"
    Which ends the window includes. With ``"left"`` and ``"neither"``, results exclude the newest row (in time
    windows, all rows with its time), and a push takes a few microseconds."""
_NAN_POLICY = """nan_policy : {"omit", "propagate", "raise"}, default "omit"
    What to do with missing elements: ignore them; return a missing result while the window holds one; or
    raise ValueError. Pushes are fastest with ``"omit"``."""
_INF = """inf : {"value", "missing"}, default "value"
    Whether infinite floats are ordinary values or missing values."""
_DTYPES = {"f": "floats", "i": "integers", "b": "bool", "M": "datetimes", "m": "timedeltas"}


def _all(
    *,
    min_periods: int | None = None,
    dtype: DTypeLike = np.float64,
    lateness: Any = None,
    closed: str = "right",
    nan_policy: str = "omit",
    inf: str = "value",
    algorithm: str = "auto",
) -> None:
    """Declare the parameters that all classes share."""


def _signature(row: StreamRow) -> inspect.Signature:
    """Return the signature of a class."""
    types = {"k": "int | Sequence[int]", "q": "float | Sequence[float]"}
    positional = [p.replace(annotation=types.get(p.name, p.annotation)) for p in row.positional]
    keywords = list(inspect.signature(_all).parameters.values())
    return inspect.Signature(positional + keywords[: None if row.algorithms else -1])


def _described(row: StreamRow, name: str) -> str:
    """Return the documentation of a parameter, from the table or from the function over arrays."""
    if name in row.described:
        kind, text = row.described[name]
        return f"{name} : {kind}\n    {text}"
    function = REGISTRY[row.statistic].function
    found = re.search(rf"^{name} : .*(?:\n    .*)*", inspect.getdoc(function) or "", re.MULTILINE)
    return found[0] if found else f"{name}\n    As in :func:`{function.__name__}`."


def _docstring(row: StreamRow) -> str:
    """Return the docstring of a class."""
    entries = [_WINDOW if p.name == "window" else _described(row, p.name) for p in row.positional]
    registered = REGISTRY[row.statistic]
    default = "the window size for row windows, otherwise 1"
    if isinstance(row, OperatorRow) and registered.min_periods is not None:
        default = str(registered.min_periods)
    entries.append(_MIN_PERIODS.format(default=default))
    kinds = ", ".join(text for kind, text in _DTYPES.items() if kind in row.kinds)
    entries.append(f"dtype : dtype, default float64\n    The dtype of the elements: {kinds}.")
    entries += [_LATENESS, _CLOSED, _NAN_POLICY, _INF]
    cost = row.cost
    if row.algorithms:
        default, *_ = row.algorithms
        names = ", ".join(f'"{name}"' for name in ("auto", *row.algorithms))
        entries.append(
            f'algorithm : {{{names}}}, default "auto"\n    ``"auto"`` means ``"{default}"``; see the notes.'
        )
        cost = ";\n".join(f"{cost} (``{name}``)" for name, cost in row.algorithms.items())
    pushed = "x, y" if registered.series > 1 else "x"
    expression = f"[stream.push({pushed}) for {pushed} in ({row.pushed})]"
    summary = (inspect.getdoc(registered.function) or "").partition("\n")[0].rstrip(".")
    sections = [
        f"{summary}, one element at a time.",
        *([row.notes] if row.notes else []),
        "Parameters\n----------\n" + "\n".join(entries),
        f"See Also\n--------\n{registered.function.__name__} : The array function.",
        "Notes\n-----\n"
        f"Cost of a push: {cost}.\n\n"
        "A missing element (None, NaN or NaT) takes a row but is not an observation. With fewer\n"
        f"observations than `min_periods` :meth:`push` and :attr:`value` return {_missing(row)}.",
        "Examples\n--------\n"
        ">>> import rollstat\n"
        f">>> stream = rollstat.{row.name}({row.arguments})\n"
        f">>> {row.pushed if 'stream' in row.pushed else expression}\n"
        f"{row.answered}",
    ]
    return "\n\n".join(sections) + "\n"


def _missing(row: StreamRow) -> str:
    """Describe the missing result of a class."""
    if row.statistic.startswith("arg"):
        return "-1; rows count\nfrom the first row pushed"
    if isinstance(row, OperatorRow):
        return "NaN, or None for\ninteger results"
    return "NaN, NaT for\ndatetimes, and None for integer results"


def _make_window(row: StreamRow, given: dict[str, Any]) -> Any:
    """Return the window of a class for the arguments that it was given."""
    window, min_periods, dtype = (given.pop(name) for name in ("window", "min_periods", "dtype"))
    window = WindowSpec.parse(window, given.pop("lateness"))
    if min_periods is None and isinstance(row, OperatorRow):
        min_periods = REGISTRY[row.statistic].min_periods
    closed = choice("closed", given.pop("closed"), ("right", "both", *LAGGED))
    if closed == "both":
        min_periods = window.check_min_periods(min_periods)
        window = window.with_both_ends()
    elif closed in LAGGED:
        min_periods = window.check_min_periods(min_periods)
        window = window.without_last_end(closed)
        if window.fixed and min_periods > window.fixed:
            raise ValueError(
                f"min_periods must be at most {window.fixed} with closed={closed!r}; got {min_periods}"
            )
    options = {name: given.pop(name) for name in ("inf", "nan_policy")}
    options |= {"dtype": dtype, "algorithm": given.pop("algorithm", "auto")}
    made: Any
    parameters = row.check(**given)
    options["min_periods"] = min_periods
    if isinstance(row, OperatorRow):
        made = NamedOperatorWindow(row.statistic, row.make(parameters, window), window.held, **options)
    else:
        made = StatisticWindow(row, window.held, parameters=parameters, **options)
    if window.by_calendar:
        return CalendarWindow(made, window, closed)
    return LaggedWindow(made, closed) if closed in LAGGED else made


def _class(row: StreamRow) -> Any:
    """Make the class of a row."""
    signature = _signature(row)
    of_operator = isinstance(row, OperatorRow)
    positional = [parameter.name for parameter in row.positional]

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:
        try:
            given = signature.bind(*arguments, **options)
        except TypeError:
            reject_unknown(f"{row.name}()", options, positional, signature.parameters)
            raise
        given.apply_defaults()
        self._set_window(_make_window(row, given.arguments))

    def _window_from_state(cls: Any, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Any:
        if "calendar" in parameters:
            return CalendarWindow.from_state(cls._window_from_state, parameters, arrays)
        if "closed" in parameters:
            return LaggedWindow.from_state(cls._window_from_state, parameters, arrays)
        if isinstance(row, OperatorRow):
            operator = row.restored(*parameters["operator"])
            return NamedOperatorWindow.from_state(parameters, arrays, row.statistic, operator)
        return StatisticWindow.from_state(row, parameters, arrays)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    complete = [own, *signature.parameters.values()]
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # of a function
        complete, return_annotation=None
    )
    __init__.__qualname__ = f"{row.name}.__init__"
    namespace = {
        "__doc__": _docstring(row),
        "__module__": _MODULE,
        "__qualname__": row.name,
        "__init__": __init__,
        "_window_from_state": classmethod(_window_from_state),
        "_row": row,
        "_costs": row.algorithms or {"only algorithm": row.cost},
        "statistic": row.statistic,
    }
    if of_operator and REGISTRY[row.statistic].series == 1:
        namespace["push"] = namespace["_push"] = RollingStream._push
    return type(row.name, (OperatorStream if of_operator else RollingStream,), namespace)


class Streams(Mapping[str, Any]):
    """The class of each registered statistic, made when it is first looked up."""

    def __init__(self) -> None:
        self._rows = {row.statistic: row for row in TABLE}
        self._made: dict[str, Any] = {}
        self._lock = Lock()

    def __getitem__(self, statistic: str) -> Any:
        with self._lock:  # two threads must get the same class
            if statistic not in self._made:
                self._made[statistic] = _class(self._rows[statistic])
            return self._made[statistic]

    def __contains__(self, statistic: object) -> bool:
        return statistic in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


STREAMS = Streams()
REASONS: dict[str, str | Mapping[str, str]] = {
    **NO_STREAM,
    **{row.statistic: row.rejected for row in TABLE if row.rejected},
}
"""Why a statistic has no class, or lacks a parameter."""
