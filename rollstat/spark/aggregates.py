"""The statistics that the caller names, checked before any job starts, and their calls over columns.

A function for each statistic names it for `rolling`: ``median("x")``, ``kth("x", k=2)``. These functions are
made from the registry. ``__init__.pyi`` declares them for type checkers.

Strings, and decimals of more than 64 bits, become integers in their order. Their first, last, mode and
distinct values, and for decimals all elements, follow from the integers.

Sums and means of decimals are exact, in the types and with the rounding of Spark's own `sum` and `avg`. A
decimal is an integer in units of its last digit, of up to 128 bits. Unless 64 bits hold every sum, it is cut
into limbs of 32 bits, of which the last has the sign. The sum of a limb fits in 64 bits, so it is exact.
Integers of Python take the sums of limbs together. A mean adds up to four decimal digits, as in Spark, and
rounds a half away from zero.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import types as T

from rollstat.calendar_units import in_zone, is_calendar
from rollstat.dtypes import flattened
from rollstat.durations import normal, parts
from rollstat.names import reject_unknown
from rollstat.options import is_whole, parse_width
from rollstat.registry import REGISTRY, Statistic
from rollstat.spark.arrow_columns import MAX_DIGITS, Kind, MaskedColumn, kind_of, result_type
from rollstat.statistics.joint_calls import joint_calls
from rollstat.windows import Around, Expanding, Forward, Windows

DECIMAL_SUMS = ("mean", "sum")
CALL_ERRORS = (ArithmeticError, MemoryError, TypeError, ValueError)  # what a statistic may raise
OF_BOUNDS = {"center": False, "closed": None, "equal_times": "past"}  # options of windows with bounds
_LIMB_BITS = 32
_NEW_DIGITS = 4  # that a mean has after those of the column
_NEW_SUM_DIGITS = 10


@dataclass(frozen=True, eq=False)
class CallWindow:
    """A window and the options of the calls over it; calls with the same ones share one object.

    Attributes
    ----------
    given
        Window in rollstat's language.
    options : mapping
        Common options of the array functions.
    zone : str or None
        The time zone whose clock counts for calendar units.
    aging : bool
        Whether rows age with time, so that calls take the times of all windows.
    """

    given: Any
    options: Mapping[str, Any]
    zone: str | None = None
    aging: bool = False

    @property
    def sizes(self) -> list[Any]:
        """The window, or the numbers of rows or the widths that it is made of."""
        return [*vars(self.given).values()] if isinstance(self.given, (Forward, Around)) else [self.given]

    @property
    def by_width(self) -> bool:
        """Whether the window is a width on the first order column."""
        if isinstance(self.given, (Expanding, tuple)):
            return False
        return not all(map(is_whole, self.sizes))

    @property
    def timed(self) -> bool:
        """Whether calls take times."""
        return self.by_width or self.aging

    @property
    def by_calendar(self) -> bool:
        """Whether the length of the window depends on the time: months, business days."""
        return any(map(is_calendar, self.sizes))

    @property
    def looks_ahead(self) -> bool:
        """Whether it includes rows after its own."""
        named = isinstance(self.given, (Forward, Around))
        return bool(self.options.get("center")) or named or self.options.get("equal_times") == "all"

    def with_times(self, times: Any, at: Any = None) -> dict[str, Any]:
        """Return the options with the times of rows if they matter, and perhaps the times of results."""
        given = dict(self.options)
        if self.zone is not None and self.by_calendar:
            times, at = _in_zone(times, self.zone), None if at is None else _in_zone(at, self.zone)
        if at is not None:
            # Datetimes, because with numbers as times a number of rows would be a width.
            times, at = (times, at) if self.timed else map(_as_datetimes, (times, at))
            return given | {"times": times, "at": at}
        return given | ({"times": times} if self.timed else {})


def _in_zone(times: NDArray[Any], zone: str) -> Any:
    """Return times, which are in UTC, as datetimes of pandas with a time zone."""
    try:
        return in_zone(times, zone)
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"spark.sql.session.timeZone must be a zone that Python knows; got {zone!r}: set another one, or "
            "cast the order column of windows of calendar units to timestamp_ntz"
        ) from error


def _as_datetimes(times: NDArray[Any]) -> NDArray[Any]:
    """Return datetimes in the order of any times."""
    if times.dtype.kind == "f":
        bits = (times.astype(np.float64) + 0.0).view(np.int64)  # without -0.0
        times = bits ^ ((bits >> 63) & np.iinfo(np.int64).max)
    return times if times.dtype.kind == "M" else times.astype(np.int64).view("M8[us]")


@dataclass(frozen=True)
class SparkCall:
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
    window : CallWindow
        Its windows.
    scale : int
        Digits after the point of its column, if that holds decimals.
    names : tuple of str
        Of the new columns.
    """

    statistic: str
    inputs: tuple[int, ...]
    parameters: Mapping[str, Any]
    types: tuple[T.DataType, ...]
    positions: bool
    window: CallWindow
    scale: int = 0
    names: tuple[str, ...] = ()

    @property
    def sums_decimals(self) -> bool:
        """Whether it is an exact sum or mean of decimals."""
        return self.statistic in DECIMAL_SUMS and isinstance(next(iter(self.types), None), T.DecimalType)


@dataclass(frozen=True)
class Aggregate:
    """A statistic with its columns, its parameters, and optionally its own windows and options."""

    statistic: str
    columns: tuple[Any, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[Any, ...] = field(default=(), repr=False)
    windows: tuple[Any, ...] = field(default=(), repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def alias(self, *names: str) -> "Aggregate":
        """Return the same statistic with names for its new columns.

        Parameters
        ----------
        *names : str
            One name, or one for each result. With several windows, either one for each result of each
            window, or the start of each name, to which an underscore and the window are added.

        Returns
        -------
        Aggregate

        Examples
        --------
        >>> import rollstat.spark as rs
        >>> rs.quantile("delay", [0.25, 0.75]).alias("low", "high").names
        ('low', 'high')
        """
        return replace(self, names=names)

    def over(
        self,
        *windows: Any,
        min_periods: int | None = None,
        center: bool | None = None,
        closed: str | None = None,
        equal_times: str | None = None,
    ) -> "Aggregate":
        """Return the same statistic over its own windows.

        Parameters
        ----------
        *windows : int, str, timedelta, float, DateOffset, Forward, Around or Expanding
            Windows as in :func:`rollstat.spark.rolling`; each adds new columns, in the order given. None
            stands for the windows of the call.
        min_periods, center, closed, equal_times
            Options for these windows in place of the call's options.

        Returns
        -------
        Aggregate

        Examples
        --------
        >>> import rollstat.spark as rs
        >>> rs.max("delay").over("7 days", 100, closed="left").windows
        ('7 days', 100)
        """
        given = {"min_periods": min_periods, "center": center, "closed": closed, "equal_times": equal_times}
        options = {name: value for name, value in given.items() if value is not None}
        return replace(self, windows=windows, options=options)

    def call_windows(self, window: Any, options: Mapping[str, Any], zone: Any = None) -> list[CallWindow]:
        """Return the windows; the windows and options of the call where the statistic has none of its own."""
        given = [parse_window(one) for one in self.windows or (window,)]
        if any(one is None for one in given):
            raise TypeError(
                "window must be given unless every statistic names its own, as in "
                f"rollstat.spark.median('x').over('7 days', 100); {self.key!r} names none"
            )
        aging = parse_width(self.parameters.get("halflife"), "halflife") is not None
        return [CallWindow(one, {**options, **self.options}, zone, aging) for one in given]

    @property
    def key(self) -> Any:
        """The name or names, as a key of `aggs`; the statistic if it has none."""
        if not self.names:
            return self.statistic
        return self.names[0] if len(self.names) == 1 else self.names


def aggregate(statistic: str, *columns: Any, **parameters: Any) -> Aggregate:
    """Name a statistic of a column for :func:`rollstat.spark.rolling`.

    Parameters
    ----------
    statistic : str
        Name of the array function without ``rolling_``: ``"median"``, ``"kth"``, ...
    *columns : str or Column
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


BUILDERS = REGISTRY.methods


@cache
def builder(name: str) -> Callable[..., Aggregate]:
    """Return the function of a statistic: it takes columns, then the parameters of the statistic."""
    return REGISTRY[BUILDERS[name]].builder(name, "rollstat.spark", Aggregate, Aggregate)


_OF_ORDER = ("count", "nunique", "rank")  # statistics that are the same for codes in the order of the values
OF_STRINGS = ("first", "last", "mode", "nunique")  # statistics that take strings
_NUMBER = r"\d+(?:\.\d+)?"


def parse_window(window: Any) -> Any:
    """Translate a width in Spark's notation into rollstat's; return other windows as they are.

    Examples
    --------
    >>> parse_window("1 hour 30 minutes"), parse_window("interval '10' minute")
    ('1h30min', '10min')
    >>> parse_window("1 year 6 months")
    '1y6mo'
    >>> parse_window("INTERVAL '1 02:30' DAY TO MINUTE")
    '1D02h30min'
    """
    if not isinstance(window, str):
        return window
    text = re.sub(r"^interval\b\s*", "", window.strip(), flags=re.IGNORECASE)
    typed = re.fullmatch(r"'(.*)'\s*([a-z]+?)(?:\s+to\s+([a-z]+))?", text, re.IGNORECASE)
    if typed and typed[3]:
        ends = rf"\b{typed[2]}\b.*\b{typed[3]}\b".lower()
        units = re.search(ends, "day hour minute second")
        names = units[0].split() if units and re.fullmatch(r"[\d .:]+", typed[1]) else []
        found = re.findall(_NUMBER, typed[1])
        matches = found and len(found) == len(names)
        return normal("".join(map("".join, zip(found, names)))) if matches else window
    plain = f"{typed[1]} {typed[2]}" if typed else text.strip("'")
    return window if parts(plain) is None else normal(plain)


def check_statistic(name: Any, columns: int) -> Statistic:
    """Return the registry entry of a name, which must take as many series as there are columns."""
    if not isinstance(name, str):
        raise TypeError(f"statistic must be a name such as 'median'; got {name!r}")
    statistic = REGISTRY.get(name.removeprefix("rolling_"))
    if statistic is None:
        raise ValueError(f"statistic must be one of {', '.join(sorted(REGISTRY))}; got {name!r}")
    if columns < statistic.series or (columns > statistic.series and not statistic.several):
        least = "at least " if statistic.several else ""
        raise ValueError(f"statistic {name!r} takes {least}{statistic.series} column(s); got {columns}")
    return statistic


def _check_parameters(statistic: Statistic, parameters: Mapping[str, Any]) -> None:
    """Check the statistic's own parameters."""
    own = {parameter.name: parameter.default is parameter.empty for parameter in statistic.own}
    reject_unknown(f"statistic {statistic.name!r}", parameters, list(own))
    for name, needed in own.items():
        if needed and name not in parameters:
            raise TypeError(f"statistic {statistic.name!r} needs its parameter {name!r}")


def result_types(
    statistic: Statistic,
    kinds: Sequence[Kind],
    parameters: Mapping[str, Any],
    window: Any,
    options: Mapping[str, Any],
) -> tuple[T.DataType, ...]:
    """Return the types of the results, from a call without rows, which also checks all arguments."""
    _check_parameters(statistic, parameters)

    def dtypes_of(dtypes: Sequence[Any]) -> list[np.dtype[Any]]:
        inputs = [np.ma.MaskedArray(np.empty(0, dtype), np.empty(0, np.bool_)) for dtype in dtypes]
        return [result.dtype for result in evaluate(statistic, inputs, window, parameters, options)]

    positions = statistic.name.startswith("arg")
    of_order = positions or statistic.name in _OF_ORDER
    dtypes = dtypes_of([np.int64 if kind.scaled or kind.coded else kind.dtype for kind in kinds])
    for kind in kinds:
        if kind.scaled and statistic.name in DECIMAL_SUMS:
            return (decimal_result_type(statistic.name, kind),)
        # Results that are elements keep any dtype of integers.
        if kind.scaled and not of_order and set(dtypes_of([np.int8] * len(kinds))) != {np.dtype(np.int8)}:
            raise TypeError(
                f"statistic {statistic.name!r} does not return elements of the column, which is "
                f"{kind.spark.simpleString()}: cast the column to double first"
            )
    if kinds[0].coded and not of_order:
        return (kinds[0].spark,) * len(dtypes)
    kind = Kind(T.LongType(), np.dtype(np.int64)) if of_order else kinds[0]
    return tuple(T.LongType() if positions else result_type(dtype, kind) for dtype in dtypes)


def as_aggregates(aggs: Any) -> list[Aggregate]:
    """Return the requested statistics, from a mapping of new names or from a sequence."""
    if isinstance(aggs, Mapping) and aggs:
        return [_translated(_as_aggregate(new, given)) for new, given in aggs.items()]
    if isinstance(aggs, Sequence) and aggs and all(isinstance(given, Aggregate) for given in aggs):
        return [*map(_translated, aggs)]
    raise TypeError(
        "aggs must map new column names to statistics of columns, or be a list such as "
        f"[rollstat.spark.median('x')]; got {aggs!r}"
    )


def _translated(given: Aggregate) -> Aggregate:
    """Return the same statistic with its halflife in rollstat's notation."""
    own = given.parameters
    changed = {"halflife": parse_window(own["halflife"])} if "halflife" in own else {}
    return replace(given, parameters={**own, **changed})


def _as_aggregate(new: Any, given: Any) -> Aggregate:
    """Return an entry of `aggs` as an Aggregate; `new` is its key."""
    names = new if isinstance(new, tuple) else (new,)
    if isinstance(given, Aggregate):
        return replace(given, names=names)
    if isinstance(given, (tuple, list)) and len(given) >= 2:
        *rest, last = given
        parameters = last if isinstance(last, Mapping) else {}
        statistic, *columns = rest if isinstance(last, Mapping) else [*rest, last]
        if statistic not in REGISTRY and len(columns) == 1 and columns[0] in REGISTRY:
            statistic, columns = columns[0], [statistic]  # the order of pandas
        if isinstance(statistic, str) and all(isinstance(column, (str, Column)) for column in columns):
            return Aggregate(statistic, tuple(columns), parameters, names)
    raise TypeError(
        f"aggs[{new!r}] must be (statistic, column) or (statistic, column, parameters), or made by "
        f"rollstat.spark.aggregate; got {given!r}"
    )


def plan_calls(
    aggs: Any,
    schema: T.StructType,
    window: Any,
    options: Mapping[str, Any],
    times: Any = None,
    at: Any = None,
    zone: str | None = None,
) -> tuple[list[SparkCall], list[str]]:
    """Check the requested statistics against the columns, and return the calls that compute them.

    Parameters
    ----------
    aggs, schema, window, options
        What to compute of which columns; `window` and `options` are for statistics without their own.
    times : ndarray, optional
        No times, of the dtype of the order column, for windows by width.
    at : ndarray, optional
        The same for results at times of their own.
    zone : str, optional
        The time zone of the order column.

    Returns
    -------
    calls : list of SparkCall
        Calls to make.
    inputs : list of str
        Names of their input columns, by number, which does not depend on the order of the statistics.
    """
    checked = [(wanted, *_checked(wanted, schema)) for wanted in as_aggregates(aggs)]
    inputs = sorted({column for wanted, *_ in checked for column in wanted.columns})
    calls: list[SparkCall] = []
    shared: dict[str, CallWindow] = {}
    for wanted, statistic, kinds in checked:
        own_windows = wanted.call_windows(window, options, zone)
        windows = [shared.setdefault(repr(own), own) for own in own_windows]
        types = [
            result_types(statistic, kinds, wanted.parameters, own.given, own.with_times(times, at))
            for own in windows
        ]
        place = tuple(map(inputs.index, wanted.columns))
        relative_to = wanted.parameters.get("relative_to", "data")
        positions = statistic.name.startswith("arg") and relative_to == "data"
        scale = kinds[0].spark.scale if kinds[0].scaled else 0
        parameters = dict(wanted.parameters)
        names = _new_names(wanted, statistic, windows, len(types[0]))
        calls += [
            SparkCall(statistic.name, place, parameters, of, positions, own, scale, tuple(new))
            for own, of, new in zip(windows, types, names)
        ]
    return calls, inputs


def _new_names(
    wanted: Aggregate, statistic: Statistic, windows: Sequence[CallWindow], results: int
) -> list[Sequence[str]]:
    """Return the names of the results for each window."""
    count = len(windows) * results
    given = wanted.names or statistic.result_names(wanted.columns, wanted.parameters, results)
    if len(given) not in (results, count) or not all(isinstance(name, str) for name in given):
        raise ValueError(
            f"aggs must give {'a name' if results == 1 else f'a tuple of {results} names'} "
            f"for {statistic.name!r} with {dict(wanted.parameters)}; got {wanted.key!r}"
        )
    if len(given) == count and (wanted.names or not wanted.windows):
        return [given[first : first + results] for first in range(0, count, results)]
    endings = [re.sub(r"\W+", "_", str(own.given)).strip("_") for own in windows]
    return [[f"{name}_{ending}" for name in given] for ending in endings]


def _checked(wanted: Aggregate, schema: T.StructType) -> tuple[Statistic, list[Kind]]:
    """Return the registry entry of a requested statistic and the kinds of its columns."""
    statistic = check_statistic(wanted.statistic, len(wanted.columns))
    kinds = []
    for column in wanted.columns:
        what = f"column {column!r} of aggs[{wanted.key!r}]"
        check_column(schema, column, what)
        kinds.append(kind_of(schema[column].dataType, what, strings=statistic.name in OF_STRINGS))
    return statistic, kinds


def check_new_names(names: Sequence[str], old: Sequence[str], *, case_sensitive: bool) -> None:
    """Raise ValueError if a new column has the name of another one."""
    taken = set(old) if case_sensitive else {name.lower() for name in old}
    for name in names:
        plain = name if case_sensitive else name.lower()
        if plain in taken:
            raise ValueError(f"aggs must give new names, each once; {name!r} is taken")
        taken.add(plain)


def check_column(schema: T.StructType, name: str, what: str) -> None:
    """Raise ValueError unless exactly one column has a name."""
    if schema.names.count(name) != 1:
        found = "appears more than once" if name in schema.names else "is not among"
        raise ValueError(f"{what} {found}: {', '.join(schema.names)}")


def evaluate(
    statistic: Statistic,
    inputs: Sequence[Any],
    window: Any,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
) -> list[NDArray[Any]]:
    """Call the public function and return one array for each of its results."""
    given = statistic.given(inputs) | {"window": window, **parameters}
    return flattened(statistic.function(**given, **options))


def evaluate_calls(
    calls: Sequence[SparkCall],
    given: Callable[[SparkCall], tuple[Sequence[MaskedColumn], Windows, Mapping[str, Any]]],
) -> list[list[NDArray[Any]] | Exception]:
    """Return the results of each call, or the error of a call that shares its work.

    Parameters
    ----------
    calls : sequence of SparkCall
        The calls.
    given : callable
        Returns the columns that a call takes, the windows and the options of all calls with its window.
    """
    asked = [((call.window, call.inputs), _resolved(call, *given(call))) for call in calls]
    found: dict[int, Any] = {}
    for joint in joint_calls(asked):
        try:
            results = iter(joint.run())
            for number in joint.numbers:
                found[number] = list(islice(results, len(calls[number].types)))
        except CALL_ERRORS as error:
            found.update(dict.fromkeys(joint.numbers, error))
    return [found[number] for number in range(len(calls))]


def _resolved(
    call: SparkCall, columns: Sequence[MaskedColumn], windows: Windows, options: Mapping[str, Any]
) -> Any:
    """Return a call that has not run."""
    options = {**options, **OF_BOUNDS}
    if call.sums_decimals or columns[0].dtype.kind == "O":
        return _Coded(partial(evaluate_call, call, columns, windows, options))
    statistic = REGISTRY[call.statistic]
    return statistic.resolve(**statistic.given(columns), window=windows, **call.parameters, **options)


class _Coded(NamedTuple):
    """A call in which other values stand for the values of the columns."""

    run: Callable[[], list[NDArray[Any]]]


def evaluate_call(
    call: SparkCall, columns: Sequence[MaskedColumn], window: Any, options: Mapping[str, Any]
) -> list[NDArray[Any]]:
    """Return one array for each result of a call, from the columns that it takes."""
    if call.sums_decimals:
        return [rolling_decimals(call.statistic, columns[0], window, options, call.scale, call.types[0])]
    statistic = REGISTRY[call.statistic]
    if columns[0].dtype.kind != "O":
        return evaluate(statistic, columns, window, call.parameters, options)
    codes, values = _encoded(columns[0])
    results = evaluate(statistic, [codes], window, call.parameters, options)
    if not isinstance(call.types[0], (T.StringType, T.DecimalType)):
        return results
    values = np.array([*values, None], object)  # the last one where a result is missing
    masks = map(np.ma.getmaskarray, results)
    return [np.ma.MaskedArray(values[np.where(mask, -1, r)], mask) for r, mask in zip(results, masks)]


def _encoded(column: MaskedColumn) -> tuple[MaskedColumn, NDArray[Any]]:
    """Return the place of each object among the sorted distinct ones, and these; strings by bytes."""
    import pandas  # here, because most workers do without

    mask = np.ma.getmaskarray(column)
    given = np.ma.getdata(column).copy()
    given[mask] = None
    codes, values = pandas.factorize(given, sort=True)
    return np.ma.MaskedArray(codes.astype(np.int64, copy=False), mask), values


def decimal_result_type(statistic: str, kind: Kind) -> T.DataType:
    """Return the type that Spark gives to the sum or the mean of a column."""
    precision, scale = kind.spark.precision, kind.spark.scale
    if statistic == "sum":
        return T.DecimalType(min(precision + _NEW_SUM_DIGITS, MAX_DIGITS), scale)
    return T.DecimalType(min(precision + _NEW_DIGITS, MAX_DIGITS), min(scale + _NEW_DIGITS, MAX_DIGITS))


def integers(column: MaskedColumn) -> NDArray[Any]:
    """Return the values as integers of Python, which have no limit; 0 where missing."""
    return np.asarray(np.frompyfunc(int, 1, 1)(column.filled(0)), object)


def rolling_decimals(
    statistic: str, column: MaskedColumn, window: Any, options: Mapping[str, Any], scale: int, of: T.DataType
) -> MaskedColumn:
    """Return the sum or the mean of each window, as integers of Python if 64 bits are too few.

    Parameters
    ----------
    statistic, column, window, options
        What to compute.
    scale : int
        Digits after the point of the column.
    of : DecimalType
        Type of the result.
    """
    found = _rolling_sums(column, window, options)
    count = None
    if statistic == "mean":
        counting = {**options, "min_periods": 0, "nan_policy": "omit", "algorithm": "auto"}
        marks = np.ma.MaskedArray(np.zeros(len(column), np.int64), np.ma.getmaskarray(column))
        count = np.ma.getdata(REGISTRY["count"].function(marks, window, **counting))
    return decimal_results(np.ma.getdata(found), count, np.ma.getmaskarray(found), scale, of)


def _rolling_sums(column: MaskedColumn, window: Any, options: Mapping[str, Any]) -> MaskedColumn:
    """Return exact sums of integers of any size: of all digits at once if 64 bits can hold every sum."""
    rolling_sum, large = REGISTRY["sum"].function, column.dtype.kind == "O"
    if not large:
        try:
            found: MaskedColumn = rolling_sum(column, window, **options)
        except OverflowError:
            pass
        else:
            return found
    rest: Any = integers(column) if large else column.data
    parts = []
    for _ in range(3 if large else 1):
        parts.append(rest & (2**_LIMB_BITS - 1))
        rest = rest >> _LIMB_BITS
    mask = np.ma.getmaskarray(column)
    given = [np.ma.MaskedArray(part.astype(np.int64), mask) for part in (*parts, rest)]
    sums = [rolling_sum(part, window, **options) for part in given]
    total = sum(np.ma.getdata(part).astype(object) << i * _LIMB_BITS for i, part in enumerate(sums))
    return np.ma.MaskedArray(total, np.ma.getmaskarray(sums[0]))


def decimal_results(
    sums: Any, count: NDArray[Any] | None, mask: NDArray[np.bool_], scale: int, of: T.DataType
) -> MaskedColumn:
    """Return sums of decimals in units of the last digit of `of`, or means of `count` decimals.

    Raise OverflowError if a result that is not masked has too many digits.
    """
    if count is not None:
        mask = mask | (count == 0)
        count, factor = np.maximum(count, 1), 2 * 10 ** (of.scale - scale)
        if sums.dtype.kind == "O" or (len(sums) and max(sums.max(), -int(sums.min())) >= 2**62 // factor):
            sums, count = sums.astype(object), count.astype(object)
        size = (factor * abs(sums) + count) // (2 * count)
        sums = np.where(sums < 0, -size, size)
    if (sums.dtype.kind == "O" or of.precision < 19) and (abs(sums)[~mask] >= 10**of.precision).any():
        raise OverflowError(f"a result has more digits than {of.simpleString()}")
    return np.ma.MaskedArray(sums, mask)
