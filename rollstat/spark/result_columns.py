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
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf

from rollstat.spark.batch_walk import Plan
from rollstat.spark.bucket_plan import HALO, PART, Parts
from rollstat.spark.hash_collisions import MixedPlan
from rollstat.spark.warnings_filter import known_warnings

__all__ = ["Beside", "small_halos", "with_results"]

Halos: TypeAlias = dict[int, list[pa.RecordBatch]]

_RESULTS = "rollstat_results"
_MOST_VALUES = 1_000_000  # of halos that travel with the code: some 8 MB


class Beside:
    """What workers do with the columns that they are sent.

    Parameters
    ----------
    job : Plan or MixedPlan
        In places of these columns; its results alone come back, those of a row after those of the row before.
    part : int
        The column with the number of the part, where long series are cut.
    halos : dict or None
        What comes before the first row of a part, where that is little.
    """

    def __init__(self, job: Plan | MixedPlan, part: int = 0, halos: Halos | None = None) -> None:
        self.job = job
        self.part = part
        self.halos = halos

    def __call__(self, columns: Iterable[Any]) -> Iterator[pa.Array]:
        """Walk over one partition."""
        for batch in self.job(self._with_halo(_batches(columns))):
            single = batch.num_columns == 1
            yield batch.column(0) if single else batch.to_struct_array()

    def _with_halo(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a part, all that there are in a partition, after those of its halo."""
        for batch in batches:
            if self.halos is not None and batch.num_rows:
                part = batch.column(self.part)[0].as_py()
                yield from (halo.cast(batch.schema) for halo in self.halos.get(part, []))
                yield batch
                break
            yield batch
        yield from batches


def _batches(columns: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """Batches of the columns, of which a single one comes by itself."""
    for arrays in columns:
        given = list(arrays) if isinstance(arrays, tuple) else [arrays]
        yield pa.RecordBatch.from_arrays(given, names=[f"column{place}" for place in range(len(given))])


def _sent(rows: DataFrame, plan: Plan, hashed: Column | None) -> tuple[list[Column], Plan]:
    """Columns that go to the workers, and the plan in their places."""
    needed = sorted({*plan.keys, *plan.order, *(place for place, _ in plan.inputs)})
    if plan.parts is not None and plan.halo is not None:
        needed += [plan.parts, plan.halo]
    given = [rows[rows.columns[place]] for place in needed]
    moved = plan.moved({place: number for number, place in enumerate(needed)})
    return given + ([] if hashed is None else [hashed]), replace(moved, width=0)


def small_halos(parts: Parts, plan: Plan, hashed: Column | None, by: Sequence[Column]) -> Halos | None:
    """What the workers are sent of the rows of halos, in order; None if that is too much for a closure.

    Parameters
    ----------
    parts : Parts
        Where every row goes.
    plan : Plan
        In places of the columns of its frame.
    hashed, by
        What rows are sorted by.
    """
    sent, moved = _sent(parts.frame, plan, hashed)
    assert moved.parts is not None
    most = _MOST_VALUES // len(sent)
    if parts.repeated > most:
        return None
    rows = parts.frame.where(parts.frame[HALO]).repartition(1).sortWithinPartitions(parts.frame[PART], *by)
    named = [column.alias(f"column{place}") for place, column in enumerate(sent)]
    table = rows.select(*named).limit(most + 1).toArrow()
    if table.num_rows > most:
        return None
    part = table.column(moved.parts).combine_chunks().to_numpy(zero_copy_only=False)
    first = np.flatnonzero(np.diff(part, prepend=-1)).tolist()
    pieces = [table.slice(begin, end - begin) for begin, end in zip(first, [*first[1:], len(part)])]
    return {int(part[begin]): piece.combine_chunks().to_batches() for begin, piece in zip(first, pieces)}


def with_results(
    rows: DataFrame,
    plan: Plan,
    hashed: Column | None,
    names: Sequence[str],
    fields: Sequence[T.StructField],
    halos: Halos | None = None,
) -> DataFrame:
    """All columns of sorted rows, and those with the results.

    Parameters
    ----------
    rows : DataFrame
        In order within each partition.
    plan : Plan
        In places of their columns, of windows that do not look ahead.
    hashed : Column or None
        The hash that rows are sorted by first, where they are.
    names : sequence of str
        What the columns are to be called.
    fields : sequence of StructField
        The new columns.
    halos : dict or None
        What comes before the rows of each part, where long series are cut.
    """
    given = [rows[name] for name in rows.columns]
    sent, moved = _sent(rows, plan, hashed)
    job = moved if hashed is None else MixedPlan(moved, len(sent) - 1, in_order=True)
    work = Beside(job, moved.parts or 0, halos)
    new = [T.StructField(f"new{place}", field.dataType) for place, field in enumerate(fields)]
    single = len(fields) == 1
    results = _function(work, fields[0].dataType if single else T.StructType(new), len(sent))(*sent)
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
