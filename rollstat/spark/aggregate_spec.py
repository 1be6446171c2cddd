"""Statistics requested by the caller, checked before any job starts."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import types as T

from rollstat.registry import REGISTRY, Statistic
from rollstat.spark.arrow_columns import Kind, kind_of, result_type

__all__ = ["Aggregate", "Call", "aggregate", "check_statistic", "evaluate", "parse_window", "plan_calls"]


@dataclass(frozen=True)
class Aggregate:
    """A statistic, the columns that it takes, and its own parameters."""

    statistic: str
    columns: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)


def aggregate(statistic: str, *columns: str, **parameters: Any) -> Aggregate:
    """Name a statistic of a column for :func:`rollstat.spark.rolling`.

    Parameters
    ----------
    statistic : str
        Name of the array function without ``rolling_``: ``"median"``, ``"kth"``, ...
    *columns : str
        The column, or two columns for a statistic of two series.
    **parameters
        Parameters of the statistic itself, such as ``k=2`` or ``q=0.9``. A sequence gives several new
        columns in one pass.

    Returns
    -------
    Aggregate

    Examples
    --------
    >>> from rollstat.spark import aggregate
    >>> aggregate("kth", "delay", k=2)
    Aggregate(statistic='kth', columns=('delay',), parameters={'k': 2})
    """
    return Aggregate(statistic, columns, parameters)


@dataclass(frozen=True)
class Call:
    """One call of a public function, and the new columns that it returns.

    Attributes
    ----------
    statistic : str
        Name in the registry, which workers look up for themselves.
    inputs : tuple of int
        Which input columns it takes.
    parameters : mapping
        Its own parameters.
    types : tuple of DataType
        Of its results, one for each new column.
    positions : bool
        Whether the results are rows of the series.
    """

    statistic: str
    inputs: tuple[int, ...]
    parameters: Mapping[str, Any]
    types: tuple[T.DataType, ...]
    positions: bool


_SPARK_UNITS = {"microsecond": "us", "millisecond": "ms", "second": "s", "minute": "min"}
_SPARK_UNITS |= {"hour": "h", "day": "D", "week": "W"}


def parse_window(window: Any) -> Any:
    """Translate a width in Spark's notation, such as ``"10 minutes"``; return other windows as they are."""
    if isinstance(window, str):
        match = re.fullmatch(r"\s*(?:interval\s+)?(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", window, re.IGNORECASE)
        if match and match[2].lower() in _SPARK_UNITS:
            return f"{match[1]}{_SPARK_UNITS[match[2].lower()]}"
    return window


def check_statistic(name: Any, columns: int) -> Statistic:
    """Return the registry entry of a name, which must take as many series as there are columns."""
    if not isinstance(name, str):
        raise TypeError(f"statistic must be a name such as 'median'; it was {name!r}")
    statistic = REGISTRY.get(name.removeprefix("rolling_"))
    if statistic is None:
        raise ValueError(f"statistic must be one of {', '.join(sorted(REGISTRY))}; it was {name!r}")
    if statistic.series != columns:
        raise ValueError(f"statistic {name!r} takes {statistic.series} column(s); it was given {columns}")
    return statistic


def evaluate(
    statistic: Statistic,
    inputs: Sequence[Any],
    window: Any,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
) -> list[NDArray[Any]]:
    """Call the public function and return one array for each of its results."""
    names = inspect.signature(statistic.function).parameters
    window_name = "m" if "m" in names else "window"
    given = dict(zip(names, inputs)) | {window_name: window} | dict(parameters)
    return _flattened(statistic.function(**given, **options))


def _flattened(result: Any) -> list[NDArray[Any]]:
    """Return the 1-D arrays of a result that may be a tuple of arrays of any dimension."""
    if isinstance(result, np.ndarray) and result.ndim == 1:
        return [result]
    return [row for part in result for row in _flattened(part)]


def _is_element(
    statistic: Statistic, window: Any, parameters: Mapping[str, Any], options: Mapping[str, Any]
) -> bool:
    """Return whether all results are elements of the input."""
    empty = np.ma.MaskedArray(np.empty(0, np.int8), np.empty(0, np.bool_))
    results = evaluate(statistic, [empty] * statistic.series, window, parameters, options)
    return all(result.dtype == np.int8 for result in results)


def _check_parameters(statistic: Statistic, parameters: Mapping[str, Any]) -> None:
    """Check the statistic's own parameters; window and options are shared by all statistics of a call."""
    asked = list(inspect.signature(statistic.function).parameters.values())[statistic.series :]
    own = {
        parameter.name: parameter.default is parameter.empty
        for parameter in asked
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name not in ("m", "window")
    }
    for name in parameters:
        if name not in own:
            raise TypeError(
                f"statistic {statistic.name!r} has no parameter {name!r} of its own here; "
                f"it may be {', '.join(own) or 'none'}"
            )
    for name, needed in own.items():
        if needed and name not in parameters:
            raise TypeError(f"statistic {statistic.name!r} needs its parameter {name!r}")


def result_types(
    statistic: Statistic,
    kinds: Sequence[Kind],
    window: Any,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[T.DataType, ...]:
    """Return the types of the results, from a call without rows, which also checks all arguments."""
    _check_parameters(statistic, parameters)
    positions = statistic.name.startswith("arg")
    for kind in kinds:
        if kind.scaled and not positions and not _is_element(statistic, window, parameters, options):
            raise TypeError(
                f"statistic {statistic.name!r} of {kind.spark.simpleString()} is not an element of the "
                "column: cast it to double first"
            )
    inputs = [np.ma.MaskedArray(np.empty(0, kind.dtype), np.empty(0, np.bool_)) for kind in kinds]
    results = evaluate(statistic, inputs, window, parameters, options)
    return tuple(T.LongType() if positions else result_type(result.dtype, kinds[0]) for result in results)


def _as_aggregate(new: Any, given: Any) -> Aggregate:
    """Return an entry of `aggs` as an Aggregate; `new` is its key."""
    if isinstance(given, Aggregate):
        return given
    if isinstance(given, (tuple, list)) and len(given) >= 2:
        *names, last = given
        parameters = last if isinstance(last, Mapping) else {}
        names = names if isinstance(last, Mapping) else [*names, last]
        if all(isinstance(name, str) for name in names):
            return Aggregate(names[0], tuple(names[1:]), parameters)
    raise TypeError(
        f"aggs[{new!r}] must be (statistic, column) or (statistic, column, parameters), or made by "
        f"rollstat.spark.aggregate; it was {given!r}"
    )


def plan_calls(
    aggs: Mapping[Any, Any], schema: T.StructType, window: Any, options: Mapping[str, Any]
) -> tuple[list[Call], list[str], list[T.StructField]]:
    """Check the requested statistics against the columns, and return the calls that compute them.

    Returns
    -------
    calls : list of Call
        Calls to make.
    inputs : list of str
        Names of their input columns, by number.
    fields : list of StructField
        The new columns in order.
    """
    if not isinstance(aggs, Mapping) or not aggs:
        raise TypeError(f"aggs must map new column names to statistics of columns; it was {aggs!r}")
    inputs: dict[str, int] = {}
    calls, fields = [], []
    for new, given in aggs.items():
        wanted = _as_aggregate(new, given)
        statistic = check_statistic(wanted.statistic, len(wanted.columns))
        kinds = [_column_kind(schema, column, new) for column in wanted.columns]
        types = result_types(statistic, kinds, window, wanted.parameters, options)
        names = list(new) if isinstance(new, tuple) else [new]
        if len(names) != len(types) or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"aggs key must be {'a name' if len(types) == 1 else f'a tuple of {len(types)} names'} "
                f"for {statistic.name!r} with {dict(wanted.parameters)}; it was {new!r}"
            )
        numbers = tuple(inputs.setdefault(column, len(inputs)) for column in wanted.columns)
        relative_to = wanted.parameters.get("relative_to", "data")
        positions = statistic.name.startswith("arg") and relative_to == "data"
        calls.append(Call(statistic.name, numbers, dict(wanted.parameters), types, positions))
        fields += [T.StructField(name, data_type, True) for name, data_type in zip(names, types)]
    _check_new_names([f.name for f in fields], schema)
    return calls, list(inputs), fields


def _check_new_names(names: list[str], schema: T.StructType) -> None:
    """Raise ValueError if a new column has the name of another one; Spark ignores case."""
    taken = {name.lower() for name in schema.names}
    for name in names:
        if name.lower() in taken:
            raise ValueError(f"aggs must give new names, each once; {name!r} is taken")
        taken.add(name.lower())


def _column_kind(schema: T.StructType, column: str, new: Any) -> Kind:
    """Return the kind of the one column with a name."""
    if schema.names.count(column) != 1:
        found = "is there more than once" if column in schema.names else "is not among"
        raise ValueError(f"column {column!r} of aggs[{new!r}] {found}: {', '.join(schema.names)}")
    return kind_of(schema[column].dataType, f"column {column!r} of aggs[{new!r}]")
