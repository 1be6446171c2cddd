"""The route on which rows stay in Spark: only needed columns go to the workers, and only results come back.

::

    rows, sorted ---------- a queue in Spark ----------------> rows with results
          |                                                       ^
          +--> keys, order, inputs, hash --> walk --> results ----+     one per row, in the order of the rows

Returning rows is half of the cost of passing them to a worker, and windows need few columns of wide rows.

Spark sees a column computed by a function of the row. It may evaluate such a function anywhere: after a
filter, over fewer rows, or without a sort that seems unnecessary. So the function is declared
nondeterministic. Spark loses that mark when it separates the function from the columns made of it, so those
columns also depend on the number of the partition, and Spark moves no filter across that. It does move a
limit, which is harmless: a limit takes the first rows of a partition, and no window looks ahead.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf

from rollstat.spark.batch_walk import Plan
from rollstat.spark.hash_collisions import WalkJob
from rollstat.spark.start import known_warnings

__all__ = ["ResultsJob", "with_results"]

_RESULTS = "rollstat_results"


@dataclass(frozen=True)
class ResultsJob:
    """The function that workers run on the needed columns; it returns the results in the order of the rows.

    Attributes
    ----------
    job : WalkJob
        The walk.
    given : int
        Number of the needed columns.
    """

    job: WalkJob
    given: int

    def __call__(self, columns: Iterable[Any]) -> Iterator[pa.Array]:
        """Return the results of one partition."""
        for batch in self.job(map(self._batch, columns)):
            new = batch.select(range(self.given, batch.num_columns))
            yield new.column(0) if new.num_columns == 1 else new.to_struct_array()

    def _batch(self, columns: Any) -> pa.RecordBatch:
        """Return columns as a batch; Spark passes a single column without a tuple."""
        given = list(columns) if isinstance(columns, tuple) else [columns]
        return pa.RecordBatch.from_arrays(given, names=[f"column{i}" for i in range(len(given))])


def with_results(
    rows: DataFrame, plan: Plan, hashed: Column | None, fields: Sequence[T.StructField]
) -> DataFrame:
    """Return all columns of sorted rows, and the columns of results.

    Parameters
    ----------
    rows : DataFrame
        Rows in order within each partition.
    plan : Plan
        What to compute; windows must not look ahead.
    hashed : Column or None
        The hash of the keys, if rows are sorted by it first.
    fields : sequence of StructField
        The new columns.
    """
    indexes = sorted({*plan.keys, *plan.order, *(index for index, _ in plan.inputs)})
    indexes += [] if plan.bucket is None else [plan.bucket]
    given = [rows[name] for name in rows.columns]
    needed = [given[index] for index in indexes] + ([] if hashed is None else [hashed])
    plan = plan.reindexed({index: number for number, index in enumerate(indexes)})
    job = ResultsJob(WalkJob(plan, None if hashed is None else len(indexes)), len(needed))
    new = [T.StructField(f"new{i}", field.dataType) for i, field in enumerate(fields)]
    function = _function(job, new, len(needed))
    if len(fields) == 1:
        made = [function(*needed)]
    else:
        rows = rows.select(*given, function(*needed).alias(_RESULTS))
        given = [rows[name] for name in rows.columns[:-1]]
        made = [rows[_RESULTS][field.name] for field in new]
    here = F.spark_partition_id() >= F.lit(0)
    return rows.select(
        *given, *(F.when(here, column).alias(field.name) for column, field in zip(made, fields))
    )


def _function(job: ResultsJob, new: list[T.StructField], columns: int) -> Any:
    """Return a job as a function whose annotations tell Spark what it takes and returns."""

    def rolling(columns: Any) -> Any:
        return job(columns)

    given: Any = Iterator[tuple[pa.Array, ...]] if columns > 1 else Iterator[pa.Array]
    rolling.__annotations__ = {"columns": given, "return": Iterator[pa.Array]}
    with known_warnings():
        return_type = new[0].dataType if len(new) == 1 else T.StructType(new)
        return arrow_udf(rolling, returnType=return_type).asNondeterministic()
