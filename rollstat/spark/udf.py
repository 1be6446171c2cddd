"""User-defined functions: from a column of arrays to a column of arrays, or from a group to one value.

Arrow stores the cells of a batch end to end. One call computes the whole batch, with each cell as a segment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf, pandas_udf
from pyspark.sql.pandas.types import from_arrow_type

from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import (
    OF_STRINGS,
    Aggregate,
    SparkCall,
    check_statistic,
    evaluate_call,
    plan_calls,
)
from rollstat.spark.arrow_columns import MaskedColumn, kind_of, to_arrow, to_masked
from rollstat.spark.start import known_warnings


@known_warnings()
def rolling_udf(
    stat: str,
    window: Any = None,
    *,
    like: T.StructField | T.DataType | None = None,
    kind: str = "arrow",
    ordered: bool = False,
    min_periods: int | None = None,
    center: bool = False,
    closed: str | None = None,
    nan_policy: str = "omit",
    inf: str = "value",
    algorithm: str = "auto",
    **parameters: Any,
) -> Any:
    """Make a Spark user-defined function from a statistic.

    Parameters
    ----------
    stat : str
        Name of the array function without ``rolling_``: ``"median"``, ``"kth"``, ...
    window : int, Forward or Expanding, optional
        A number of rows. The function takes a column of arrays, each an ordered series, and returns a
        column of arrays of the same lengths; each batch is one call of the kernel. Without a window
        the function aggregates a group into one value, for ``groupBy().agg(...)``.
    like : StructField or DataType, optional
        The input column, ``df.schema["values"]``, or its type, which determines the type of the results:
        longs stay longs and timestamps stay timestamps. Without it results are doubles, and the input must
        be numbers.
    kind : {"arrow", "pandas"}
        An ``arrow_udf`` or a ``pandas_udf``, used in the same way. Arrow is faster. pandas
        cannot hold a null alongside an integer, so ``"pandas"`` returns only floats.
    ordered : bool, default False
        Declares that you use an order-dependent statistic only over an ordered window.
    min_periods, center, closed, nan_policy, inf, algorithm
        As in the array functions. Nulls and NaN are missing values, and a missing result is null.
    **parameters
        Parameters of the statistic itself, such as ``k=2`` or ``q=0.9``.

    Returns
    -------
    callable
        Takes a column, or two for a statistic of two series. ``spark.udf.register`` registers it for SQL.

    Raises
    ------
    ValueError, TypeError
        For invalid arguments, before any job starts.

    Notes
    -----
    An aggregation calls Python once for each group, which costs about 0.2 ms per group. Prefer the statistics
    that Spark computes exactly and without Python: ``min``, ``max``, ``sum``, ``avg``, ``count``, ``stddev``,
    ``var_samp``, ``corr``, ``covar_samp``; ``median`` and ``percentile``, which are exact and interpolate
    linearly, unlike ``percentile_approx``; ``count_distinct`` for ``"nunique"``; and ``mode(column, True)``,
    which returns the smallest of several modes, like ``"mode"``. Spark's statistics do not ignore NaN;
    rollstat treats NaN as missing.

    ``.over(Window...)`` calls the function once for each row with all rows of its frame, so the time is
    quadratic in the length of the frame; :func:`rollstat.spark.rolling` gives the same results in one pass.

    Examples
    --------
    `frame` is a Spark data frame:

    >>> from rollstat.spark import rolling_udf
    >>> second_of_five = rolling_udf("kth", 5, k=2)
    >>> frame.select(second_of_five("values"))  # doctest: +SKIP
    >>> lowest = rolling_udf("kth", k=1, like=frame.schema["delay"])  # doctest: +SKIP
    >>> frame.groupBy("carrier").agg(lowest("delay"))  # doctest: +SKIP
    """
    if kind not in ("arrow", "pandas"):
        raise ValueError(f"kind must be 'arrow' or 'pandas'; got {kind!r}")
    statistic = check_statistic(stat, REGISTRY[stat].series if stat in REGISTRY else 1)
    if window is None and not ordered and statistic.ordered:
        raise ValueError(
            f"stat {statistic.name!r} depends on the order of rows, which an aggregation does not have: "
            "give a window for columns of arrays, or ordered=True for use over an ordered window only"
        )
    if window is not None and (isinstance(window, (str, tuple)) or hasattr(window, "get_window_bounds")):
        raise ValueError(f"window must be a number of rows, Forward or Expanding here; got {window!r}")
    options = {"min_periods": min_periods, "center": center, "closed": closed}
    options |= {"nan_policy": nan_policy, "inf": inf, "algorithm": algorithm}
    columns = ("x", "y")[: statistic.series]
    data_type = T.DoubleType()
    if like is not None:
        data_type = _input_type(like, window, strings=statistic.name in OF_STRINGS)
    schema = T.StructType([T.StructField(column, data_type) for column in columns])
    wanted = Aggregate(statistic.name, columns, parameters)
    calls, _ = plan_calls([wanted], schema, _whole(0) if window is None else window, options)
    types = calls[0].types
    if len(types) != 1:
        raise ValueError(f"stat {statistic.name!r} returns {len(types)} results here: request only one")
    result = T.DoubleType() if like is None else types[0]
    if kind == "pandas" and not isinstance(result, (T.DoubleType, T.FloatType)):
        raise ValueError(f"kind='pandas' cannot hold {result.simpleString()} with nulls: use kind='arrow'")
    return _make(_Job(replace(calls[0], types=(result,)), window, options), pandas=kind == "pandas")


def _input_type(like: Any, window: Any, *, strings: bool) -> T.DataType:
    """Return the type of the values of the input column."""
    data_type = like.dataType if isinstance(like, T.StructField) else like
    if not isinstance(data_type, T.DataType):
        raise TypeError(f"like must be a field of a schema or a type; got {like!r}")
    if window is not None and not isinstance(data_type, T.ArrayType):
        raise TypeError(f"like must be a column of arrays with a window; got {data_type.simpleString()}")
    values = data_type.elementType if window is not None else data_type
    return kind_of(values, "like", strings=strings).spark


def _whole(rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bounds of one window over all rows; of no window if there are no rows."""
    count = min(rows, 1)
    return np.zeros(count, np.int64), np.full(count, rows, np.int64)


@dataclass(frozen=True)
class _Job:
    """One statistic over the columns of a batch."""

    call: SparkCall
    window: Any
    options: Mapping[str, Any]

    @property
    def result(self) -> T.DataType:
        """Type of one result."""
        return self.call.types[0]

    def __call__(self, columns: Sequence[Any]) -> Any:
        """Return the results of a batch: a column of arrays, or one value without a window."""
        return self.reduce(columns) if self.window is None else self.of_lists(columns)

    def reduce(self, arrays: Sequence[pa.Array]) -> Any:
        """Return one result over all rows, as a Python value."""
        rows = len(arrays[0])
        if not rows:
            return None
        columns = [self._masked(array) for array in arrays]
        least = self.options["min_periods"] or 1
        long_enough = rows >= max(least, abs(self.call.parameters.get("k", 1)))
        if self._in_any_order and long_enough and not any(column.mask.any() for column in columns):
            # A window of as many rows gives the same, and its plan serves all groups of this size.
            options = {**self.options, "mode": "valid", "min_periods": least}
            found = self._one([column.data for column in columns], rows, options)
            if found == found:  # NaN may stand for too few rows, which are null
                return found
        return self._one(columns, _whole(rows), self.options)

    def _one(self, columns: Sequence[Any], window: Any, options: Mapping[str, Any]) -> Any:
        """Return the result of one window, as a Python value."""
        (result,) = evaluate_call(self.call, columns, window, options)
        return self._typed(result)[0].as_py()

    @property
    def _in_any_order(self) -> bool:
        """Whether results do not depend on the order of rows, or on a row of their own, and are numbers."""
        statistic, plain = REGISTRY[self.call.statistic], self.options["closed"] is None
        return plain and not (statistic.ordered or self.options["center"] or self.call.sums_decimals)

    def _masked(self, array: pa.Array) -> MaskedColumn:
        """Return the values of a column; decimals as numbers unless results are decimals."""
        name = self.call.statistic
        if pa.types.is_decimal(array.type) and not isinstance(self.result, T.DecimalType):
            array = array.cast(pa.float64())
        what = f"the column that rolling_{name} takes"
        kind = kind_of(from_arrow_type(array.type), what, strings=name in OF_STRINGS)
        if kind.dtype.kind == "O" and name != "nunique" and not isinstance(self.result, T.StringType):
            raise TypeError(
                f"{what} must be a number to return {self.result.simpleString()}; got strings: "
                "give rolling_udf like=df.schema['column']"
            )
        return to_masked(array, replace(kind, infinite=self.options["inf"] != "missing"))

    def _typed(self, values: Any) -> pa.Array:
        """Return results in the declared type; double takes any number."""
        data = np.ma.getdata(values)
        if data.dtype.kind in "mM" and isinstance(self.result, (T.DoubleType, T.FloatType)):
            raise TypeError(
                f"the results of rolling_{self.call.statistic} are {data.dtype}, but it was declared to "
                f"return {self.result.simpleString()}: give rolling_udf like=df.schema['column']"
            )
        if isinstance(self.result, T.DoubleType) and data.dtype.kind in "iufb":
            values = np.ma.MaskedArray(data.astype(np.float64), np.ma.getmaskarray(values))
        return to_arrow(values, self.result)

    def of_lists(self, arrays: Sequence[pa.Array]) -> pa.Array:
        """Return an array of lists from arrays of lists."""
        for array in arrays:
            if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
                raise TypeError(
                    f"rolling_{self.call.statistic} with a window takes columns of arrays; got one "
                    f"of {array.type}: use rollstat.spark.rolling for columns of numbers"
                )
        missing = np.logical_or.reduce([np.asarray(array.is_null()) for array in arrays])
        # Where one array is null, so are the others.
        arrays = [
            array if array.null_count == missing.sum() else pc.if_else(pa.array(missing), None, array)
            for array in arrays
        ]
        lengths = [pc.list_value_length(array).fill_null(0) for array in arrays]
        if not all(other.equals(lengths[0]) for other in lengths):
            raise ValueError(f"the arrays of {self.call.statistic} must have equal lengths in every row")
        offsets = np.append(0, np.cumsum(lengths[0], dtype=np.int64))
        inputs = [self._masked(array.flatten()) for array in arrays]  # without values behind null cells
        options = {**self.options, "segments": offsets} if len(offsets) > 2 else self.options
        values = self._typed(evaluate_call(self.call, inputs, self.window, options)[0])
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=pa.array(missing))


def _from_pandas(series: pd.Series, data_type: pa.DataType) -> pa.Array:
    """Return a pandas Series as an Arrow array; of `data_type` if it holds only nulls."""
    array = pa.Array.from_pandas(series)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array.cast(data_type) if pa.types.is_null(array.type) else array


def _make(job: _Job, *, pandas: bool) -> Any:
    """Return a job as a function whose annotations tell Spark what it takes and returns."""

    def call(*columns: Any) -> Any:
        return job(columns)

    def call_pandas(*columns: Any) -> Any:
        data_type = pa.float64() if job.window is None else pa.list_(pa.float64())
        result = job([_from_pandas(column, data_type) for column in columns])
        return result if job.window is None else result.to_pandas()

    column, single = (pd.Series, float) if pandas else (pa.Array, Any)
    call = call_pandas if pandas else call
    call.__annotations__ = {"columns": column, "return": single if job.window is None else column}
    call.__name__ = f"rolling_{job.call.statistic}"
    make = pandas_udf if pandas else arrow_udf
    return make(call, returnType=job.result if job.window is None else T.ArrayType(job.result))
