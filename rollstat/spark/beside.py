"""Results beside rows that stay in Spark: only columns that windows need go to the workers.

::

    rows, sorted ---------- a queue in Spark ----------------> rows with results
          |                                                       ^
          +--> keys, order, inputs, hash --> walk --> results ----+     as many, and in the order of the rows

Half of what it takes to hand rows over is handing them back, and of wide rows little is needed. To Spark this
is a column made by a function of the row, which it may evaluate wherever it likes: after a filter, over fewer
rows, or without a sort that nothing seems to need. So the function claims to be nondeterministic. Spark
forgets that once it has set the function apart from the columns, so what these are made of looks at the
number of the partition as well, across which no filter is moved. A limit is: it takes the first rows of a
partition, and no window looks beyond these.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf

from rollstat.spark.mixed import MixedPlan
from rollstat.spark.quiet import known_warnings
from rollstat.spark.walk import Plan

__all__ = ["Beside", "with_results"]

_RESULTS = "rollstat_results"


class Beside:
    """What workers do with the columns that they are sent.

    Parameters
    ----------
    job : Plan or MixedPlan
        In places of these columns; its results alone come back, those of a row after those of the row before.
    """

    def __init__(self, job: Plan | MixedPlan) -> None:
        self.job = job

    def __call__(self, columns: Iterable[Any]) -> Iterator[pa.Array]:
        """Walk over one partition."""
        for batch in self.job(_batches(columns)):
            single = batch.num_columns == 1
            yield batch.column(0) if single else batch.to_struct_array()


def _batches(columns: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """Batches of the columns, of which a single one comes by itself."""
    for arrays in columns:
        given = list(arrays) if isinstance(arrays, tuple) else [arrays]
        yield pa.RecordBatch.from_arrays(given, names=[f"column{place}" for place in range(len(given))])


def with_results(
    rows: DataFrame, plan: Plan, hashed: Column | None, names: Sequence[str], fields: Sequence[T.StructField]
) -> DataFrame:
    """All columns of sorted rows, and those with the results.

    Parameters
    ----------
    rows : DataFrame
        In order within each partition.
    plan : Plan
        In places of their columns, of windows that do not look ahead, and without parts.
    hashed : Column or None
        The hash that rows are sorted by first, where they are.
    names : sequence of str
        What the columns are to be called.
    fields : sequence of StructField
        The new columns.
    """
    given = [rows[name] for name in rows.columns]
    needed = sorted({*plan.keys, *plan.order, *(place for place, _ in plan.inputs)})
    sent = [given[place] for place in needed] + ([] if hashed is None else [hashed])
    moved = replace(plan.moved({place: number for number, place in enumerate(needed)}), width=0)
    job = moved if hashed is None else MixedPlan(moved, len(needed), in_order=True)
    new = [T.StructField(f"new{place}", field.dataType) for place, field in enumerate(fields)]
    single = len(fields) == 1
    results = _function(Beside(job), fields[0].dataType if single else T.StructType(new), len(sent))(*sent)
    if single:
        made = [results]
    else:
        rows = rows.select(*given, results.alias(_RESULTS))
        given = [rows[name] for name in rows.columns[:-1]]
        made = [rows[_RESULTS][field.name] for field in new]
    here = F.spark_partition_id() >= F.lit(0)
    old = [column.alias(name) for column, name in zip(given, names)]
    return rows.select(*old, *(F.when(here, column).alias(field.name) for column, field in zip(made, fields)))


def _function(work: Beside, kind: T.DataType, width: int) -> Any:
    """Wrap the work in a function whose annotations tell Spark what it takes and gives."""

    def rolling(columns: Any) -> Any:
        return work(columns)

    given: Any = Iterator[tuple[pa.Array, ...]] if width > 1 else Iterator[pa.Array]
    rolling.__annotations__ = {"columns": given, "return": Iterator[pa.Array]}
    with known_warnings():
        return arrow_udf(rolling, returnType=kind).asNondeterministic()
