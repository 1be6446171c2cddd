"""Frames of pandas, polars and Arrow: their columns as arrays, the order of their rows, results as columns.

::

    keys of rows and labels --> ids --> order of (id, time, further columns) --> segments of equal ids
    values in that order --> functions --> results in the order of the rows of the frame --> columns

narwhals tells the kinds of frames apart. Columns become arrays, and results become columns, as they do for
the accessor of pandas and for the functions over arrays of polars and Arrow.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.columns import to_array, to_series
from rollstat.compile.simd.vectors import aligned_empty
from rollstat.foreign import Adapter, adapter_of
from rollstat.kernels.placing import LINE, read_lines, write_lines
from rollstat.options import numpy_times
from rollstat.pandas.calls import as_codes, factorized, from_codes
from rollstat.sorting import order as order_of

# Statistics for which codes can stand for values.
CODED = ("nunique", "mode", "first", "last", "count")
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.And: operator.and_,
    ast.Or: operator.or_,
    ast.Not: operator.invert,
    ast.USub: operator.neg,
}


class Column(NamedTuple):
    """A column as an array.

    Attributes
    ----------
    values : ndarray
        As the functions take it; masked if the column is nullable.
    convert : callable
        Takes a result, where it is missing (None for pandas), and a name; returns a column of the same kind.
    """

    values: Any
    convert: Callable[[Any, Any, str], Any]


def frame_of(name: str, frame: Any) -> Any:
    """Return a frame of pandas, polars or Arrow as one of narwhals, or raise."""
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"{name} must be a pandas, polars or Spark DataFrame or an Arrow table; got {type(frame)}"
        ) from None


def _adapter_of(native: Any) -> Adapter | None:
    """Return the adapter of a column of polars or Arrow; None for one of pandas."""
    return None if hasattr(native, "iloc") else adapter_of(native)


def code_of(dtype: Any, statistic: str) -> str:
    """Return the statistic if it takes codes in place of values of a dtype of narwhals, else nothing."""
    times = dtype.is_temporal() and statistic not in ("first", "last", "count")
    plain = dtype.is_numeric() or dtype == nw.Boolean or times
    return "" if plain or statistic not in CODED else statistic


def column_of(series: Any, coded: str, rows: Any) -> Column:
    """Return a column, `coded` for a statistic or not, whose results become columns of the frame `rows`."""
    native = series.to_native()
    adapter = _adapter_of(native)
    observed = np.where(series.is_null().to_numpy(), np.nan, 1.0) if coded == "count" else None
    if adapter is not None:
        convert = partial(_converted, adapter.convert)
        if coded in ("", "count"):
            return Column(adapter.values if observed is None else observed, convert)
        return _coded(series, coded, adapter.values, convert)
    index: Any = rows.to_native().index
    if coded in ("", "count", "nunique"):
        codes = as_codes(native, coded) if coded == "nunique" else None
        values = codes[0] if codes is not None else to_array(native) if observed is None else observed
        if codes is not None and not np.isnan(values).any():
            values = values.astype(np.int64)  # which need no ranks
        return Column(values, lambda found, _, name: to_series(found, native, index, name))
    by_code: Any = as_codes(native, coded)
    return Column(
        by_code[0], lambda found, _, name: from_codes(found, by_code[1], index, native).rename(name)
    )


def _converted(convert: Callable[..., Any], found: Any, missing: Any, _: str) -> Any:
    return convert(np.ma.getdata(found), missing, {})


def _coded(series: Any, coded: str, values: Any, plain: Any) -> Column:
    """Return codes of a column of polars or Arrow; results that are values are taken from its rows."""
    missing = np.ma.getmaskarray(values)
    present = np.ma.getdata(values)[~missing]
    codes, first = np.zeros(len(values), np.int64), np.arange(len(values))
    if coded in ("first", "last"):
        codes[:] = first
    else:
        codes[~missing] = factorized(present, ordered=True)
        first = np.flatnonzero(~missing)[np.unique(codes[~missing], return_index=True)[1]]
    if coded == "nunique":
        return Column(np.ma.MaskedArray(codes, missing), plain)

    def convert(found: Any, absent: Any, name: str) -> Any:
        if not len(found):
            return series.head(0).to_native()  # also of a dtype that narwhals does not know
        null = nw.new_series(name, [None] * len(found), series.dtype, backend=series.implementation)
        if not len(first):
            return null.to_native()
        taken = series[first[np.where(absent, 0, np.ma.getdata(found)).astype(np.int64)]]
        there = nw.new_series(name, ~np.asarray(absent), backend=series.implementation)
        return taken.zip_with(there, null).to_native()

    return Column(np.ma.MaskedArray(codes, missing), convert)


def series_of(native: Any, name: str) -> Any:
    """Return a column of a frame under a name."""
    return nw.from_native(native, series_only=True).alias(name)


def codes_of(series: Any, *, ordered: bool = True) -> NDArray[Any]:
    """Return integers, in the order of the values of a column if asked for: missing first, NaN last."""
    native = series.to_native()
    adapter = _adapter_of(native)
    if adapter is None and not (isinstance(native.dtype, np.dtype) and native.dtype.kind in "fiubmM"):
        return factorized(native, ordered=ordered)
    values = native.to_numpy() if adapter is None else adapter.values
    mask = np.ma.getmaskarray(values)
    if values.dtype.kind in "iubmM" and not mask.any():
        return np.ma.getdata(values)
    codes = factorized(np.ma.getdata(values), ordered=ordered)
    codes[codes < 0] = len(codes)
    codes[mask] = -1
    return codes


def times_of(name: str, frame: Any) -> NDArray[Any]:
    """Return a column of times or positions as an array; raise if one is missing."""
    times, _ = numpy_times(name, native_times(frame[name]))
    missing = np.isnan(times) if times.dtype.kind in "fmM" else np.zeros(0, np.bool_)
    if missing.any():
        raise ValueError(f"{name} must not be missing; row {int(missing.argmax())} is {times[missing][0]}")
    return np.asarray(times)


def native_times(series: Any) -> Any:
    """Return a column of times or positions as `numpy_times` takes it."""
    adapter = _adapter_of(series.to_native())
    return series.to_native() if adapter is None else adapter.values


def held_of(series: Any) -> NDArray[Any]:
    """Return a column as streams hold it: objects where it has no numbers, floats where some are missing."""
    if code_of(series.dtype, "nunique"):
        return np.array([*series.to_list(), None], object)[:-1]
    values = column_of(series, "", series.to_frame()).values
    mask, values = np.ma.getmaskarray(values), np.ma.getdata(values)
    return where(values, ~mask) if mask.any() else values


def in_microseconds(*times: NDArray[Any]) -> list[NDArray[Any]]:
    """Return positions as datetimes in the same order."""
    codes = factorized(np.concatenate(times), ordered=True).astype("M8[us]")
    return np.split(codes, [len(times[0])])


def ids_of(given: Sequence[Any], keys: Sequence[str]) -> list[NDArray[Any]]:
    """Return an integer for each row of the frames, equal where all keys are."""

    def pair(ids: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
        ids, codes = factorized(ids), factorized(codes)
        found: NDArray[Any] = ids * (codes.max(initial=0) + 1) + codes
        return found

    columns = []
    for name in keys:
        dtypes = [frame[name].dtype for frame in given]
        if dtypes[0] != dtypes[-1]:
            raise TypeError(f"{name!r} must be of one dtype in frame and at; got {dtypes[0]} and {dtypes[1]}")
        whole = given[0] if len(given) == 1 else nw.concat([frame.select(name) for frame in given])
        columns.append(codes_of(whole[name], ordered=False))
    ids: NDArray[Any] = reduce(pair, columns) if columns else np.zeros(sum(map(len, given)), np.int64)
    return np.split(ids, [len(given[0])])[: len(given)]


def order_by(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64] | None:
    """Return the stable order of rows by columns, the first one before others; None if rows are in order."""
    order = None
    for values in reversed(columns):
        values = take(values, order)
        if not (values[1:] >= values[:-1]).all():
            found = order_of(np.ascontiguousarray(values))
            order = found if order is None else order[found]
    return order


def take(values: Any, order: NDArray[np.int64] | None) -> Any:
    """Return values in an order."""
    return values if order is None else values[order]


def where(values: Any, condition: NDArray[np.bool_]) -> Any:
    """Return values that are missing where a condition does not hold."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.MaskedArray(values.data, np.ma.getmaskarray(values) | ~condition)
    if values.dtype.kind in "mM":
        return np.where(condition, values, np.array("NaT", values.dtype))
    return np.where(condition, values if values.dtype.kind == "f" else values.astype(np.float64), np.nan)


def put(result: Any, order: NDArray[np.int64] | None) -> Any:
    """Return a result, computed in an order, in the order of the rows."""
    if order is None:
        return result
    if isinstance(result, np.ma.MaskedArray):
        mask = put(np.ma.getmaskarray(result), order)
        return np.ma.MaskedArray(put(np.ma.getdata(result), order), mask)
    rows = np.empty(len(result), result.dtype)
    rows[order] = result
    return rows


def put_several(results: Sequence[Any], order: NDArray[np.int64] | None) -> list[Any]:
    """Return what :func:`put` returns for each of at most `LINE` results, which may be overwritten."""
    words = [result.view(np.int64) for result in results if _is_of_words(result)]
    if order is None or len(order) < thresholds.PLACED_AT_ONCE or len(words) < 2:
        return [put(result, order) for result in results]
    lines = np.asarray(aligned_empty(LINE * len(order), np.int64)).reshape(-1, LINE)
    arrays = tuple((words * LINE)[:LINE])
    write_lines(arrays, order, lines)
    read_lines(lines, arrays)
    return [result if _is_of_words(result) else put(result, order) for result in results]


def _is_of_words(result: Any) -> bool:
    """Return whether a result can be changed as an array of 64-bit words."""
    words = type(result) is np.ndarray and result.dtype.kind in "fiumM" and result.dtype.itemsize == 8
    return bool(words and result.flags.c_contiguous and result.flags.writeable)


def condition_of(text: str, frame: Any) -> NDArray[np.bool_]:
    """Return where a boolean column or a condition on columns of a frame is true."""
    expression = expression_of(text, frame.columns, nw.col)
    found = frame.select(condition=expression)["condition"]
    if found.dtype != nw.Boolean:
        raise TypeError(f"where must be true or false; {text!r} has dtype {found.dtype}")
    return np.asarray(found.fill_null(False).to_numpy(), np.bool_)


def item(row: Mapping[str, Any], name: str) -> Any:
    """Return the value of a column of a row, or raise."""
    if name not in row:
        raise ValueError(f"row has no column {name!r}; it has {', '.join(map(str, row))}")
    return row[name]


def holds(text: str, row: Mapping[str, Any]) -> bool:
    """Return whether a boolean column or a condition is true of a row; None in a condition is NaN."""

    def column(name: str) -> NDArray[Any]:
        value = item(row, name)
        return np.array([np.nan if value is None else value])

    if row.get(text, 0) is None:
        return False
    found = np.asarray(expression_of(text, list(row), column))
    if found.dtype != np.bool_:
        raise TypeError(f"where must be true or false; {text!r} has dtype {found.dtype}")
    return bool(found[0])


def expression_of(text: str, names: Sequence[str], column: Callable[[str], Any]) -> Any:
    """Return a boolean column or a condition as an expression; `column` returns a column as an expression."""
    if text in names:
        return column(text)
    try:
        return _expression(ast.parse(text, mode="eval").body, column)
    except SyntaxError:
        raise ValueError(f'where must be a column or a condition such as "x > 0"; got {text!r}') from None


def _expression(node: ast.AST, column: Callable[[str], Any]) -> Any:
    """Return a condition in the notation of Python as an expression over columns."""
    make = partial(_expression, column=column)
    match node:
        case ast.Name(name):
            return column(name)
        case ast.Constant(value):
            return value
        case ast.BoolOp(op, values):
            return reduce(_OPERATORS[type(op)], map(make, values))
        case ast.UnaryOp(op, operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](make(operand))
        case ast.Compare(left, [ast.In()], [ast.Tuple(several) | ast.List(several)]):
            return reduce(operator.or_, (make(left) == make(each) for each in several))
        case ast.Compare(left, ops, others) if all(type(op) in _OPERATORS for op in ops):
            terms = zip(ops, [left, *others], others)
            return reduce(operator.and_, (_OPERATORS[type(op)](make(a), make(b)) for op, a, b in terms))
    raise ValueError(
        f"where takes comparisons of columns, 'in', 'and', 'or' and 'not'; got {ast.unparse(node)!r}"
    )
