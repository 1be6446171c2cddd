"""The pandas-on-Spark accessor: every statistic over `pyspark.pandas` frames and series.

Importing this module registers ``rollstat``::

    import rollstat.spark.pandas

    psdf.rollstat.rolling(100).median()

Results are exact, and a long frame is split into buckets instead of moving to one partition.
"""

from functools import partial
from typing import Any

import pandas
import pyspark
from pyspark.sql import functions as F

from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import BUILDERS, Aggregate, builder
from rollstat.spark.route import rolling
from rollstat.spark.start import known_warnings

try:
    with known_warnings():
        import pyspark.pandas as ps
        from pyspark.pandas.extensions import register_dataframe_accessor, register_series_accessor
except ImportError as error:
    raise ImportError(
        f"pyspark.pandas of pyspark {pyspark.__version__} cannot be imported with pandas "
        f"{pandas.__version__}; most versions of pyspark need pandas < 3 for it ({error})"
    ) from error

_ROW = "rollstat_row"


class Rolling:
    """A window over a frame or series of pandas-on-Spark, with one method for each statistic.

    Methods take the parameters of the statistic, such as ``quantile(0.9)``, and return a frame or series with
    the same index. A statistic with several results returns a column for each, named as by
    :func:`rollstat.spark.rolling`.
    """

    def __init__(self, data: Any, window: Any, on: str | None, options: dict[str, Any]) -> None:
        self._data = data
        self._window = window
        self._on = on
        self._options = options

    def __getattr__(self, name: str) -> Any:
        if name not in BUILDERS or REGISTRY[BUILDERS[name]].series > 1:
            raise AttributeError(f"a window of pandas-on-Spark has no statistic {name!r}")
        return partial(self._compute, name)

    def __dir__(self) -> list[str]:
        return [name for name in BUILDERS if REGISTRY[BUILDERS[name]].series == 1]

    def _compute(self, name: str, *args: Any, **parameters: Any) -> Any:
        if isinstance(self._data, ps.Series):
            label = self._data.name
            result = self._of_frame(self._data.to_frame("value"), name, args, parameters)
            return result["value"].rename(label) if list(result.columns) == ["value"] else result
        return self._of_frame(self._data, name, args, parameters)

    def _of_frame(self, frame: Any, name: str, args: tuple[Any, ...], parameters: dict[str, Any]) -> Any:
        columns = list(frame.columns)
        if not all(isinstance(column, str) for column in columns):
            raise TypeError(f"column names must be strings; got {columns!r}")
        index = [f"rollstat_index{level}" for level in range(frame.index.nlevels)]
        rows = frame.to_spark(index_col=index).withColumn(_ROW, F.monotonically_increasing_id())
        order = [_ROW]
        if not isinstance(self._window, int):
            order = [self._on or index[0], _ROW]
        aggs: list[Aggregate] = [
            builder(name)(column, *args, **parameters) for column in columns if column != self._on
        ]
        result = rolling(rows, order_by=order, window=self._window, aggs=aggs, **self._options)
        made = result.columns[len(rows.columns) :]
        names = [wanted.columns[0] for wanted in aggs] if len(made) == len(aggs) else made
        new = [F.col(f"`{old}`").alias(name) for old, name in zip(made, names)]
        found = result.select(*index, *new).pandas_api(index_col=index)
        found.index.names = frame.index.names
        return found


@register_dataframe_accessor("rollstat")
@register_series_accessor("rollstat")
class Accessor:
    """``rollstat`` of a frame or series: a window over the series, or over each column of the frame."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def rolling(
        self,
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        on: str | None = None,
        closed: str | None = None,
        **options: Any,
    ) -> Rolling:
        """Return a window whose methods are the statistics.

        Parameters
        ----------
        window : int, str, timedelta, Forward, Around or Expanding
            A number of rows in the order of the frame, or a duration over the index or the column `on`; this
            column then orders the rows.
        min_periods, center, closed
            As in :meth:`pandas.DataFrame.rolling`.
        on : str, optional
            Column with the times of a time window.
        **options
            `split`, `nan_policy`, `inf` and `algorithm` of :func:`rollstat.spark.rolling`.

        Returns
        -------
        Rolling

        Notes
        -----
        Spark reads a split frame up to three times, and it must have the same rows in the same order each
        time: cache a frame whose order is not fixed, such as the result of a join.
        """
        given = {"min_periods": min_periods, "center": center, "closed": closed, **options}
        return Rolling(self._data, window, on, given)
