"""The arguments of a job, checked against the columns of a frame, and the plan of the workers.

Columns are given by name, by a path into a struct, or as `Column` objects. All other modules work on
columns of a frame by name. Anything else is evaluated into an additional column after the columns of
the frame, which the result does not contain.
"""

import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, TypeAlias

import numpy as np
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.calendar_units import fixes_date, is_calendar
from rollstat.spark.aggregates import (
    Aggregate,
    CallWindow,
    as_aggregates,
    check_column,
    check_new_names,
    plan_calls,
)
from rollstat.spark.arrow_columns import Kind, kind_of
from rollstat.spark.batch_walk import WalkPlan

ColumnLike: TypeAlias = str | Column

_PATH = re.compile(r"[.`]")
_SORTED = re.compile(r" (?:ASC|DESC) NULLS (?:FIRST|LAST)$")
_UNORDERED = (T.MapType, T.VariantType)
# Types of values that take the place of null in columns that hold no numbers.
_FILLS: dict[type, tuple[type, ...]] = {T.StringType: (str,), T.BooleanType: (bool,), T.DateType: (date,)}
_FILLS |= {T.TimestampType: (datetime,), T.TimestampNTZType: (datetime,)}


@dataclass(frozen=True)
class Request:
    """What the caller wants to compute.

    Attributes
    ----------
    partition_by, order_by, window, aggs, descending, ties
        As for :func:`rollstat.spark.rolling`.
    options : mapping
        The common options of the array functions.
    zone : str or None
        The time zone of the session, if known.
    """

    partition_by: Any
    order_by: Any
    window: Any
    aggs: Any
    options: Mapping[str, Any]
    descending: Any = False
    ties: str = "columns"
    zone: str | None = None

    def by_name(self, columns: "ColumnReferences") -> "Request":
        """Return the same request with names of columns."""
        return replace(
            self,
            partition_by=columns.names(self.partition_by, "partition_by"),
            order_by=columns.names(self.order_by, "order_by"),
            aggs=columns.aggregates(self.aggs),
        )

    def plan(
        self,
        schema: T.StructType,
        width: int | None = None,
        *,
        case_sensitive: bool = False,
        labels: Sequence[str] | None = None,
    ) -> WalkPlan:
        """Check all arguments against the columns, and return the plan of the workers.

        The result contains the first `width` columns of `schema`, None stands for all; or, for windows at
        times of labels, the columns `labels`.
        """
        keys = _columns(schema, self.partition_by, "partition_by")
        order = _columns(schema, self.order_by, "order_by")
        if not order:
            raise ValueError("order_by must name at least one column: windows need an order of the rows")
        if both := set(keys) & set(order):
            raise ValueError(f"order_by must not name columns of partition_by; got {', '.join(sorted(both))}")
        down = _directions(self.descending, order)
        if self.ties not in ("columns", "error"):
            raise ValueError(f"ties must be 'columns' or 'error'; got {self.ties!r}")
        _check_types(schema, keys, order)
        windows = [own for a in as_aggregates(self.aggs) for own in a.call_windows(self.window, self.options)]
        time = _time_column(schema, order[0], windows, always=labels is not None)
        zone = self.zone if isinstance(schema[order[0]].dataType, T.TimestampType) else None
        for own in windows:
            _check_calendar(own, schema[order[0]], zone, descending=down[0])
        times = None if time is None else np.empty(0, time[1].times_dtype)
        at = None if labels is None else times
        calls, inputs = plan_calls(self.aggs, schema, self.window, self.options, times, at, zone)
        new = [name for call in calls for name in call.names]
        taken = schema.names[:width] if labels is None else labels
        check_new_names(new, taken, case_sensitive=case_sensitive)
        place, infinite = schema.names.index, self.options.get("inf") != "missing"
        return WalkPlan(
            keys=tuple(map(place, keys)),
            order=tuple(map(place, order)),
            descending=tuple(down),
            names=(*keys, *order),
            unique=self.ties == "error",
            ties=_tie_breakers(schema, {*keys, *order}, width) if self.ties == "columns" else (),
            inputs=tuple(
                (place(name), replace(kind_of(schema[name].dataType, name, strings=True), infinite=infinite))
                for name in inputs
            ),
            time=time,
            calls=tuple(calls),
            options=dict(self.options),
            numbers_rows=any(call.positions for call in calls),
        )


class ColumnReferences:
    """The names of columns, as Spark resolves them, and the columns that must be added to a frame.

    Parameters
    ----------
    df : DataFrame
        The frame of the caller.

    Attributes
    ----------
    case_sensitive : bool
        Whether Spark tells names apart by case.
    added : dict
        The additional columns by name.
    """

    def __init__(self, df: DataFrame) -> None:
        self._df = df
        self._names: list[str] = df.columns
        self.case_sensitive = df.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
        self.added: dict[str, Column] = {}

    def frame(self, df: DataFrame | None = None) -> DataFrame:
        """Return the frame, or another one with the same columns, with the additional columns."""
        df = self._df if df is None else df
        if not self.added:
            return df
        return df.select("*", *(column.alias(name) for name, column in self.added.items()))

    def names(self, given: Any, argument: str) -> Any:
        """Return one or several references as names; other values stay as they are."""
        if isinstance(given, (str, Column)):
            return [self.name(given, argument)]
        if isinstance(given, Sequence):
            return [self.name(one, argument) for one in given]
        return given

    def aggregates(self, aggs: Any) -> list[Aggregate]:
        """Return the requested statistics with names of columns."""
        return [
            replace(
                wanted, columns=tuple(self.name(column, f"aggs[{wanted.key!r}]") for column in wanted.columns)
            )
            for wanted in as_aggregates(aggs)
        ]

    def name(self, given: Any, argument: str) -> Any:
        """Return the name of a column; names that do not exist stay as they are."""
        if isinstance(given, Column):
            return self._name_of_column(given, argument)
        if not isinstance(given, str):
            return given
        if self.case_sensitive:
            same = [name for name in self._names if name == given]
        else:
            same = [name for name in self._names if name.lower() == given.lower()]
        if len(same) > 1:
            raise ValueError(f"{argument}: column {given!r} appears more than once: {', '.join(self._names)}")
        if same:
            return same[0]
        return self._name_of_path(given) if _PATH.search(given) else given

    def _name_of_path(self, path: str) -> str:
        """Return the name of a field of a struct, such as ``"meta.a"``."""
        if path not in self.added:
            try:
                found = len(self._df.select(path).schema)
            except AnalysisException:
                return path
            if found == 1:
                self.added[path] = F.col(path)
        return path

    def _name_of_column(self, column: Column, argument: str) -> str:
        """Return the name of a column object, and add the column unless the frame has it."""
        text = str(column).removeprefix("Column<'").removesuffix("'>")
        if _SORTED.search(text):
            raise ValueError(
                f"{argument} must be a column without a direction; got {text!r}: "
                "the argument descending gives directions"
            )
        try:
            count = len(self._df.select(column).schema)
        except AnalysisException as error:
            raise ValueError(f"{argument}: {text!r} is not a column of df: {error}") from error
        if count != 1:
            raise ValueError(f"{argument}: {text!r} matches {count} columns")
        others = self._df.drop(column).columns  # drops only a column of the frame itself
        if len(others) == len(self._names) - 1:
            pairs = zip(self._names, [*others, None])
            return next(name for name, other in pairs if name != other)
        name = text
        while name in {*self._names, *self.added}:
            if name in self.added and self._are_same(self.added[name], column):
                return name
            name += "'"
        self.added[name] = column
        return name

    def _are_same(self, first: Column, second: Column) -> bool:
        """Return whether two columns have the same values."""
        return first is second or bool(self._df.select(first).sameSemantics(self._df.select(second)))


def check_frame(name: str, df: Any) -> None:
    """Raise TypeError unless `df` is a Spark data frame; a pandas frame gets a hint."""
    if not isinstance(df, DataFrame):
        kind = f"{type(df).__module__}.{type(df).__qualname__}"
        raise TypeError(
            f"{name} must be a pyspark.sql.DataFrame; got {kind}: spark.createDataFrame converts a "
            "pandas frame, and to_spark() one of pandas-on-Spark"
        )


def filled(column: Column, of: T.DataType, fill_value: Any) -> Column:
    """Return a new column with a value in place of null, or raise if its type does not hold the value."""
    if fill_value is None:
        return column
    number = isinstance(fill_value, numbers.Real) and not isinstance(fill_value, bool)
    if isinstance(of, T.IntegralType):
        fits = number and fill_value % 1 == 0
    else:
        fits = number if isinstance(of, T.NumericType) else type(fill_value) in _FILLS.get(type(of), ())
    if not fits:
        raise ValueError(f"fill_value must be a value of {of.simpleString()}; got {fill_value!r}")
    return F.coalesce(column, F.lit(fill_value).cast(of))


def with_plain_names(df: DataFrame) -> tuple[DataFrame, list[str]]:
    """Return the frame and its column names, with new names if some are repeated or hold dots."""
    names = df.columns
    plain = all(name.isidentifier() and not name.lower().startswith("rollstat_") for name in names)
    if plain and len({name.lower() for name in names}) == len(names):
        return df, names
    numbered = [f"column{index}" for index in range(len(names))]
    return df.toDF(*numbered), numbered


def _columns(schema: T.StructType, names: str | Sequence[str], argument: str) -> list[str]:
    """Return column names given as one name or several, each checked."""
    given = [names] if isinstance(names, str) else names
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{argument} must be a column name or a sequence of them; got {names!r}")
    for name in given:
        check_column(schema, name, f"{argument}: column {name!r}")
    if len(set(given)) != len(given):
        raise ValueError(f"{argument} must name each column once; got {names!r}")
    return list(given)


def _directions(descending: bool | Sequence[bool], order: Sequence[str]) -> list[bool]:
    """Return the direction of each order column."""
    given = [descending] * len(order) if isinstance(descending, bool) else descending
    if not isinstance(given, Sequence) or not all(isinstance(value, bool) for value in given):
        raise TypeError(f"descending must be True, False or a sequence of them; got {descending!r}")
    if len(given) != len(order):
        raise ValueError(f"descending must have one entry for each of {list(order)}; got {len(given)}")
    return list(given)


def _nested(data_type: T.DataType) -> Iterator[T.DataType]:
    """Yield a type and all types within it."""
    yield data_type
    parts = [field.dataType for field in getattr(data_type, "fields", ())]
    parts += [getattr(data_type, n) for n in ("elementType", "keyType", "valueType") if hasattr(data_type, n)]
    for part in parts:
        yield from _nested(part)


def _contains(data_type: T.DataType, kinds: tuple[type[T.DataType], ...]) -> bool:
    return any(isinstance(part, kinds) for part in _nested(data_type))


def _check_types(schema: T.StructType, keys: Sequence[str], order: Sequence[str]) -> None:
    """Raise TypeError for keys that workers cannot compare, and for columns that Arrow cannot hold."""
    for argument, names in (("partition_by", keys), ("order_by", order)):
        for name in names:
            data_type = schema[name].dataType
            if _contains(data_type, _UNORDERED):
                raise TypeError(f"{argument}: {name!r} is {data_type.simpleString()}, which has no order")
    for name in keys:
        strings = [part for part in _nested(schema[name].dataType) if isinstance(part, T.StringType)]
        if not all(part.isUTF8BinaryCollation() for part in strings):
            raise TypeError(
                f"partition_by: {name!r} is {schema[name].dataType.simpleString()}; only strings of the "
                f"collation UTF8_BINARY are supported: add a column collation_key({name}) instead"
            )
    for field in schema:
        if _contains(field.dataType, (T.CalendarIntervalType, T.YearMonthIntervalType)):
            raise TypeError(
                f"column {field.name!r} is {field.dataType.simpleString()}, which Spark cannot pass to "
                "Python workers: drop it or cast it to a number"
            )


def _tie_breakers(schema: T.StructType, used: set[str], width: int | None) -> tuple[int, ...]:
    """Return the columns that order rows which tie in `order_by`."""
    free = [(index, field) for index, field in enumerate(schema.fields[:width]) if field.name not in used]
    return tuple(index for index, field in free if not _contains(field.dataType, _UNORDERED))


def _check_calendar(window: CallWindow, order: T.StructField, zone: str | None, *, descending: bool) -> None:
    """Raise unless calendar units have a clock, and later windows reach back at most to a known row."""
    sizes = [size for size in window.sizes if is_calendar(size)]
    for size in sizes:
        if fixes_date(size):
            raise ValueError(f"window must not be a fixed year or month on Spark; got {size!r}")
    if sizes and descending:
        raise ValueError(f"descending must be False for calendar units; got True for {order.name!r}")
    if sizes and zone is None and isinstance(order.dataType, T.TimestampType):
        raise ValueError(
            f"order_by: {order.name!r} is timestamp, and the session's time zone is not known here: "
            "cast it to timestamp_ntz for a window of calendar units"
        )


def _time_column(
    schema: T.StructType, name: str, windows: Sequence[CallWindow], *, always: bool
) -> tuple[int, Kind] | None:
    """Return the column of times if windows are widths, or rows age with time, or `always`."""
    for window in windows:
        given = window.given
        if window.options.get("equal_times") == "all" and not window.by_width:
            raise ValueError(f"equal_times='all' needs a time window; got {given!r}")
        if isinstance(given, tuple) or hasattr(given, "get_window_bounds"):
            raise ValueError(
                "window must be a number of rows, a duration, Forward, Around or Expanding on Spark; "
                f"got {given!r}"
            )
    if not always and not any(window.timed for window in windows):
        return None
    kind = kind_of(schema[name].dataType, f"order_by: {name!r}")
    if kind.scaled:
        raise TypeError(f"order_by: {name!r} is {kind.spark.simpleString()}: cast it for time windows")
    return schema.names.index(name), kind
