"""The table function for SQL, `rollstat_rolling`.

::

    TABLE(readings) -- exchange by PARTITION BY, sort by ORDER BY --> batches --> walk --> rows with results

Spark calls `RollingTable.analyze` while it analyses the query. It checks all arguments and returns the
columns of the result; its plan goes to the workers. The class is a table function over Arrow batches.

Spark's worker finds the rows of a partition itself, row by row in Python, and takes every NaN for a partition
of its own. A walk does both better, so it replaces the functions of the worker that would do it.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import types as T
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult
from pyspark.util import PythonEvalType

from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import BUILDERS, Aggregate, builder, check_column
from rollstat.spark.batch_walk import WalkPlan
from rollstat.spark.expanding import carrying
from rollstat.spark.labels import on_labels
from rollstat.spark.request import Request
from rollstat.spark.start import known_warnings
from rollstat.windows import Expanding

_CALL = re.compile(r"(\w+)\s*\((.*?)\)\s*(?:as\s+(\(.*\)|`[^`]+`|\w+))?", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(r"""`[^`]*`|'[^']*'|"[^"]*"|.""", re.DOTALL)
_ARRAY = re.compile(r"array\s*\((.*)\)", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"(\w+)\s*=>\s*(.*)", re.DOTALL)
_EXAMPLE = "median(x) AS m, quantile(x, [0.25, 0.75]) AS (low, high)"
_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType)


@known_warnings()
def register(spark: SparkSession, prefix: str = "rollstat_") -> str:
    """Register the table function for SQL.

    Parameters
    ----------
    spark : SparkSession
        Where to register it, classic or Spark Connect.
    prefix : str
        Beginning of its name.

    Returns
    -------
    str
        The name, ``rollstat_rolling``.

    Notes
    -----
    The table function takes a table and the constants `window` and `aggs`, and returns all columns of the
    table, followed by the new ones::

        SELECT * FROM rollstat_rolling(
            TABLE(readings) PARTITION BY sensor ORDER BY time,
            window => '10 minutes',
            aggs => 'median(value) AS typical, quantile(value, [0.25, 0.75]) AS (low, high)')

    `window` is a number of rows, a duration as text or as an interval, or ``'expanding'``. Instead, `windows`
    may be an array, such as ``array('7 days', '100')``; every statistic then has columns for each window.
    `labels` names a boolean column that is true for labels. The result then holds only the labels, with the
    windows at their times, as with `at` of :func:`rollstat.spark.rolling`; order by the time and this column.
    A second table is not possible: Spark joins each of its rows with each row of the first one. `on` names
    the first column of ``ORDER BY``; it may be left out if the table has exactly one date or timestamp. Rows
    that are not in the order of that column are an error, so a missing ``ORDER BY`` cannot cause wrong
    results. Use ``descending => true`` with ``ORDER BY time DESC``. A table that is one series takes
    ``WITH SINGLE PARTITION`` instead of ``PARTITION BY``. Further constants are `min_periods`, `center`,
    `closed`, `nan_policy` and `inf`.

    The plan is one exchange and one sort, as for :func:`rollstat.spark.rolling`, but all columns go to the
    workers, long series are not split, and rows that tie in ``ORDER BY`` come in any order.

    Spark's own aggregates are exact. ``spark.udf.register`` registers aggregates made by
    :func:`rollstat.spark.rolling_udf`.

    Examples
    --------
    `spark` is a Spark session:

    >>> import rollstat.spark as rs
    >>> rs.register(spark)  # doctest: +SKIP
    'rollstat_rolling'
    """
    name = f"{prefix}rolling"
    spark.udtf.register(name, _table_function(spark, name))
    return name


def _table_function(spark: SparkSession, name: str) -> Any:
    """Return `RollingTable` as a table function of Spark.

    The decorator `arrow_udtf` rejects classes with `analyze`, but Spark itself analyses them.
    """
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        from pyspark.sql.connect.udtf import UserDefinedTableFunction as Function
    else:
        from pyspark.sql.udtf import UserDefinedTableFunction as Function
    return Function(RollingTable, None, name, PythonEvalType.SQL_ARROW_UDTF, deterministic=True)


@dataclass
class _Analyzed(AnalyzeResult):  # type: ignore[misc]  # pyspark has no types
    """The result of the analysis."""

    plan: WalkPlan | None = None


class RollingTable:
    """The table function over Arrow batches of one task."""

    def __init__(self, analyzed: _Analyzed) -> None:
        assert analyzed.plan is not None
        self._plan = analyzed.plan
        self._names = analyzed.schema.names
        self._partitioned = self._replace_splitting()
        self._walk = self._plan.walk(self._plan)

    @staticmethod
    def analyze(
        rows: AnalyzeArgument,
        window: AnalyzeArgument | None = None,
        aggs: AnalyzeArgument | None = None,
        on: AnalyzeArgument | None = None,
        **options: AnalyzeArgument,
    ) -> _Analyzed:
        """Check the arguments and return the columns of the result."""
        if not rows.isTable or not isinstance(rows.dataType, T.StructType):
            raise TypeError(f"the first argument must be TABLE(...); got {rows.dataType.simpleString()}")
        schema = rows.dataType
        given = {name: _constant(name, argument) for name, argument in options.items()}
        descending = bool(given.pop("descending", None))
        widths, label = given.pop("windows", None), given.pop("labels", None)
        for name in given:
            if name not in ("min_periods", "center", "closed", "nan_policy", "inf"):
                raise TypeError(
                    f"rollstat_rolling has no argument {name!r}; it takes window, windows, aggs, on, labels, "
                    "descending, min_periods, center, closed, nan_policy and inf"
                )
        if (window is None) == (widths is None):
            raise TypeError("either window or windows must be given")
        widths = [_constant("window", window)] if window is not None else list(widths)
        order = _order_column(schema, None if on is None else _constant("on", on))
        checked = {"center": False, **{name: value for name, value in given.items() if value is not None}}
        parsed = parse_aggregates(None if aggs is None else _constant("aggs", aggs))
        asked = [replace(w, columns=tuple(_resolve(name, schema) for name in w.columns)) for w in parsed]
        widths = [_window(width) for width in widths]
        if window is None:
            asked = [one.over(*widths) for one in asked]
        request = Request((), order, widths[0], asked, checked, descending)
        plan = request.plan(schema, labels=None if label is None else schema.names)
        plan, _ = carrying(plan if label is None else on_labels(plan, _label(label, schema), label))
        # The Arrow arrays of workers allow nulls everywhere.
        return _Analyzed(schema=T.StructType([*schema.toNullable(), *plan.fields]), plan=plan)

    def eval(self, rows: pa.RecordBatch, *constants: Any, **named: Any) -> Iterator[pa.RecordBatch]:
        """Take a batch, and yield the rows that are complete."""
        context = TaskContext.get()
        if not self._partitioned and rows.num_rows and context is not None and context.partitionId():
            raise ValueError(
                "the rows of the table are in several partitions: add PARTITION BY after TABLE(...), or "
                "WITH SINGLE PARTITION if the table is one series"
            )
        if rows.num_rows:
            try:
                yield from map(self._named, self._walk.push(rows))
            except RuntimeError as error:
                order = ", ".join(map(repr, self._plan.names[len(self._plan.keys) :]))
                raise ValueError(
                    f"{error}. ORDER BY must begin with {order}; "
                    "on => '...' names another column, and DESC needs descending => true"
                ) from error

    def terminate(self) -> Iterator[pa.RecordBatch]:
        """Yield the last rows."""
        yield from map(self._named, self._walk.flush(final=True))

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        new = len(self._plan.fields)
        if self._plan.label is not None:
            batch = batch.filter(batch.column(self._plan.label))
        columns = batch.columns[: len(self._names) - new]  # those after them are the keys
        return pa.RecordBatch.from_arrays([*columns, *batch.columns[-new:]], names=self._names)

    def _replace_splitting(self) -> bool:
        """Take all batches of a task instead of one partition at a time; return whether there are keys.

        The object of Spark's worker that splits batches makes this one, and has not run yet.
        """
        frame = sys._getframe(1)
        for _ in range(4):
            indexes = frame.f_locals.get("partition_child_indexes")
            splitter: Any = frame.f_locals.get("self")
            if indexes and splitter is not self and hasattr(splitter, "terminate"):
                # The keys are columns that Spark added.
                names = [f"partition_by_{number}" for number in range(len(indexes))]
                self._plan = replace(self._plan, keys=tuple(indexes), names=(*names, *self._plan.names))
                splitter.eval, splitter.terminate = self.eval, self.terminate
                return True
            if frame.f_back is None:
                break
            frame = frame.f_back
        return False


def _constant(name: str, argument: AnalyzeArgument) -> Any:
    if argument.isTable or not argument.isConstantExpression:
        kind = "a table" if argument.isTable else "an expression of the rows"
        raise TypeError(f"{name} must be a constant; got {kind}")
    return argument.value


def _window(width: Any) -> Any:
    """Return a window; text may also hold a number of rows, because arrays in SQL have one type."""
    text = width.strip().lower() if isinstance(width, str) else ""
    return Expanding() if text == "expanding" else int(text) if text.isdecimal() else width


def _label(given: Any, schema: T.StructType) -> int:
    """Return the column that marks labels."""
    name = _resolve(given, schema)
    check_column(schema, name, f"labels: column {name!r}")
    if not isinstance(schema[name].dataType, T.BooleanType):
        raise TypeError(
            f"labels must name a boolean column; {name!r} is {schema[name].dataType.simpleString()}"
        )
    return int(schema.names.index(name))


def _order_column(schema: T.StructType, given: Any) -> str:
    """Return the first column of ORDER BY, which Spark does not report."""
    if given is not None:
        return _resolve(given, schema)
    times = [field.name for field in schema if isinstance(field.dataType, _TIMES)]
    if len(times) != 1:
        found = ", ".join(times) or "none"
        raise ValueError(
            f"on must name the first column of ORDER BY, unless the table has exactly one date or timestamp; "
            f"it has {found}"
        )
    return str(times[0])


def _resolve(name: str, schema: T.StructType) -> str:
    """Return the column that a name means; case matters only if several columns differ by it."""
    same = [other for other in schema.names if other.lower() == name.lower()]
    return str(same[0]) if len(same) == 1 else name


def parse_aggregates(text: Any) -> list[Aggregate]:
    """Return the statistics that a text asks for.

    Parameters
    ----------
    text : str
        Calls separated by commas: a statistic with its columns, then its own parameters in order or as
        ``name => value``, and perhaps names for the new columns. Backticks quote names.

    Examples
    --------
    >>> parse_aggregates("kth(`the delay`, k => 2) AS second")[0].alias()
    Aggregate(statistic='kth', columns=('the delay',), parameters={'k': 2})
    """
    if not isinstance(text, str) or not text.strip():
        raise TypeError(f"aggs must be a string such as {_EXAMPLE!r}; got {text!r}")
    return [_parse_call(part) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    """Split at the commas that are outside of brackets and quotes."""
    depth, parts = 0, [""]
    for token in _TOKEN.findall(text):
        depth += (token in ("(", "[")) - (token in (")", "]"))
        if token == "," and not depth:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def _parse_call(text: str) -> Aggregate:
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(f"aggs must be calls such as {_EXAMPLE!r}; got {text!r}")
    name = match[1].lower().removeprefix("rolling_")
    if name not in BUILDERS:
        raise ValueError(f"statistic must be one of {', '.join(sorted(BUILDERS))}; got {match[1]!r}")
    given = _parts(match[2]) if match[2].strip() else []
    series = REGISTRY[BUILDERS[name]].series
    columns = [_unquoted(column) for column in given[:series]]
    positional, named = [], {}
    for parameter in given[series:]:
        if with_name := _NAMED.fullmatch(parameter):
            named[with_name[1]] = _literal(with_name[2], text)
        else:
            positional.append(_literal(parameter, text))
    made = builder(name)(*columns, *positional, **named)
    if match[3] is None:
        return made
    names = _parts(match[3][1:-1]) if match[3].startswith("(") else [match[3]]
    return made.alias(*(_unquoted(one) for one in names))


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == "`" else name


def _literal(text: str, call: str) -> Any:
    """Return the value of a number, a text, a truth value, or a list of them."""
    array = _ARRAY.fullmatch(text)
    plain = f"[{array[1]}]" if array else text
    plain = plain.capitalize() if plain.lower() in ("true", "false") else plain
    try:
        return ast.literal_eval(plain)
    except (SyntaxError, ValueError):
        raise ValueError(
            f"parameters must be numbers, strings or lists; {text!r} of {call!r} is not"
        ) from None
