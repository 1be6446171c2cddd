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
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf

from rollstat.spark.batch_walk import Plan
from rollstat.spark.buckets import BUCKET, HALO, Split
from rollstat.spark.hash_collisions import WalkJob
from rollstat.spark.start import known_warnings

__all__ = ["Halos", "ResultsJob", "small_halos", "with_results"]

Halos: TypeAlias = dict[int, list[pa.RecordBatch]]

_RESULTS = "rollstat_results"
_MAX_VALUES = 1_000_000  # values of halos that travel with the code: about 8 MB


@dataclass(frozen=True)
class ResultsJob:
    """The function that workers run on the needed columns; it returns the results in the order of the rows.

    Attributes
    ----------
    job : WalkJob
        The walk.
    bucket : int
        Column with the number of the bucket, if long series are split.
    halos : dict or None
        Small halos, which come before the first row of a bucket.
    """

    job: WalkJob
    bucket: int
    halos: Halos | None

    def __call__(self, columns: Iterable[Any]) -> Iterator[pa.Array]:
        """Return the results of one partition."""
        for batch in self.job(self._with_halo(_batches(columns))):
            single = batch.num_columns == 1
            yield batch.column(0) if single else batch.to_struct_array()

    def _with_halo(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the halo of a bucket, then its rows; a partition holds one bucket."""
        for batch in batches:
            if self.halos is not None and batch.num_rows:
                bucket = batch.column(self.bucket)[0].as_py()
                yield from (halo.cast(batch.schema) for halo in self.halos.get(bucket, []))
                yield batch
                break
            yield batch
        yield from batches


def _batches(columns: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """Yield the columns as batches; Spark passes a single column without a tuple."""
    for arrays in columns:
        given = list(arrays) if isinstance(arrays, tuple) else [arrays]
        yield pa.RecordBatch.from_arrays(given, names=[f"column{i}" for i in range(len(given))])


def _needed(rows: DataFrame, plan: Plan, hashed: Column | None) -> tuple[list[Column], Plan]:
    """Return the columns that the workers need, and the plan with their indexes."""
    needed = sorted({*plan.keys, *plan.order, *(index for index, _ in plan.inputs)})
    if plan.bucket is not None and plan.halo is not None:
        needed += [plan.bucket, plan.halo]
    given = [rows[rows.columns[index]] for index in needed]
    reindexed = plan.reindexed({index: number for number, index in enumerate(needed)})
    return given + ([] if hashed is None else [hashed]), replace(reindexed, width=0)


def small_halos(split: Split, plan: Plan, hashed: Column | None, by: Sequence[Column]) -> Halos | None:
    """Return the needed columns of all halos, in order; None if they are too large for a closure.

    Parameters
    ----------
    split : Split
        The rows.
    plan : Plan
        What to compute.
    hashed, by
        The hash of the keys, and all columns to sort by.
    """
    needed, plan = _needed(split.with_halos, plan, hashed)
    assert plan.bucket is not None
    most = _MAX_VALUES // len(needed)
    if split.halo_rows > most:
        return None
    rows = split.with_halos.where(split.with_halos[HALO]).repartition(1)
    rows = rows.sortWithinPartitions(split.with_halos[BUCKET], *by)
    named = [column.alias(f"column{i}") for i, column in enumerate(needed)]
    table = rows.select(*named).limit(most + 1).toArrow()
    if table.num_rows > most:
        return None
    bucket = table.column(plan.bucket).combine_chunks().to_numpy(zero_copy_only=False)
    first = np.flatnonzero(np.diff(bucket, prepend=-1)).tolist()
    return {
        int(bucket[begin]): table.slice(begin, end - begin).combine_chunks().to_batches()
        for begin, end in zip(first, [*first[1:], len(bucket)])
    }


def with_results(
    rows: DataFrame,
    plan: Plan,
    hashed: Column | None,
    names: Sequence[str],
    fields: Sequence[T.StructField],
    halos: Halos | None = None,
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
    names : sequence of str
        New names of the columns.
    fields : sequence of StructField
        The new columns.
    halos : dict or None
        The halo of each bucket, if long series are split.
    """
    given = [rows[name] for name in rows.columns]
    needed, plan = _needed(rows, plan, hashed)
    job = WalkJob(plan, None if hashed is None else len(needed) - 1, in_order=True)
    new = [T.StructField(f"new{i}", field.dataType) for i, field in enumerate(fields)]
    function = _function(ResultsJob(job, plan.bucket or 0, halos), new, len(needed))
    if len(fields) == 1:
        made = [function(*needed)]
    else:
        rows = rows.select(*given, function(*needed).alias(_RESULTS))
        given = [rows[name] for name in rows.columns[:-1]]
        made = [rows[_RESULTS][field.name] for field in new]
    here = F.spark_partition_id() >= F.lit(0)
    old = [column.alias(name) for column, name in zip(given, names)]
    return rows.select(*old, *(F.when(here, column).alias(field.name) for column, field in zip(made, fields)))


def _function(job: ResultsJob, new: list[T.StructField], columns: int) -> Any:
    """Return a job as a function whose annotations tell Spark what it takes and returns."""

    def rolling(columns: Any) -> Any:
        return job(columns)

    given: Any = Iterator[tuple[pa.Array, ...]] if columns > 1 else Iterator[pa.Array]
    rolling.__annotations__ = {"columns": given, "return": Iterator[pa.Array]}
    with known_warnings():
        return_type = new[0].dataType if len(new) == 1 else T.StructType(new)
        return arrow_udf(rolling, returnType=return_type).asNondeterministic()
