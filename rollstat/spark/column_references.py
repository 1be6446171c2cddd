"""Columns that the caller names: by name, by a path into a struct, or as `Column` objects.

All other modules work on columns of a frame by name. What is not such a column is evaluated into an
additional column after those of the frame, which the result does not contain.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollstat.spark.aggregates import Aggregate, as_aggregates

__all__ = ["ColumnLike", "ColumnReferences"]

ColumnLike: TypeAlias = str | Column

_PATH = re.compile(r"[.`]")
_SORTED = re.compile(r" (?:ASC|DESC) NULLS (?:FIRST|LAST)$")


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
    """

    def __init__(self, df: DataFrame) -> None:
        self._df = df
        self._names: list[str] = df.columns
        self.case_sensitive = df.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
        self._added: dict[str, Column] = {}

    @property
    def added(self) -> list[str]:
        """Names of the additional columns."""
        return list(self._added)

    def frame(self, df: DataFrame | None = None) -> DataFrame:
        """Return the frame, or another one with the same columns, with the additional columns."""
        df = self._df if df is None else df
        if not self._added:
            return df
        return df.select("*", *(column.alias(name) for name, column in self._added.items()))

    def names(self, given: Any, argument: str) -> Any:
        """Return one or several references as names; what is no reference stays as it is."""
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
        if path not in self._added:
            try:
                found = len(self._df.select(path).schema)
            except AnalysisException:
                return path
            if found == 1:
                self._added[path] = F.col(path)
        return path

    def _name_of_column(self, column: Column, argument: str) -> str:
        """Return the name of a column object, and add the column unless the frame has it."""
        text = str(column).removeprefix("Column<'").removesuffix("'>")
        if _SORTED.search(text):
            raise ValueError(
                f"{argument} must be a column without a direction; it was {text!r}: "
                "the argument descending gives directions"
            )
        try:
            count = len(self._df.select(column).schema)
        except AnalysisException as error:
            raise ValueError(f"{argument}: {text!r} is not a column of df: {error}") from error
        if count != 1:
            raise ValueError(f"{argument}: {text!r} is {count} columns")
        others = self._df.drop(column).columns  # drops only a column of the frame itself
        if len(others) == len(self._names) - 1:
            pairs = zip(self._names, [*others, None])
            return next(name for name, other in pairs if name != other)
        name = text
        while name in {*self._names, *self._added}:
            if name in self._added and self._are_same(self._added[name], column):
                return name
            name += "'"
        self._added[name] = column
        return name

    def _are_same(self, first: Column, second: Column) -> bool:
        """Return whether two columns have the same values."""
        return first is second or bool(self._df.select(first).sameSemantics(self._df.select(second)))
