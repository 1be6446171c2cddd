"""Rolling statistics on Spark.

How a job runs:

1. `rolling_plan` checks the arguments with `aggregate_spec`, makes a `Plan`, and chooses a `Route`.
2. If series are too long for one task, `buckets` splits them and assigns every row to a bucket.
3. Spark exchanges the rows by key or bucket and sorts each partition, first by the number of `sort_prefix`.
4. On the usual route `result_columns` passes only the needed columns to the workers, and their results back.
5. A worker makes one pass over its Arrow batches: `batch_walk`, or `hash_collisions` if keys share a hash. It
   checks the order with `row_order`, converts with `arrow_columns`, and calls the functions over arrays.
6. Expanding windows keep states (`carried_states`) instead of rows, within a worker and between buckets
   (`expanding`).

`structured_streaming` runs the same pass on streams. `stream_series` is the state of one series between
micro-batches, and `stream_definition` what a restart may change. `udf` makes user-defined functions, and
`sql` those for SQL. `column_references` resolves the columns that the caller names, and `builders` makes a
function for each statistic. `session` starts Spark with a Java that `java` finds. `shipped_kernels` brings
compiled kernels to executors.
"""

from typing import Any

import rollstat.spark.requirements  # noqa: F401  # names the extra before pyspark is imported
from rollstat.spark import builders
from rollstat.spark.aggregate_spec import Aggregate, aggregate
from rollstat.spark.rolling_plan import rolling
from rollstat.spark.session import session
from rollstat.spark.shipped_kernels import ShippedKernels, warmup
from rollstat.spark.sql import register
from rollstat.spark.structured_streaming import rolling_stream
from rollstat.spark.udf import rolling_udf

__all__ = [
    "Aggregate",
    "ShippedKernels",
    "aggregate",
    "register",
    "rolling",
    "rolling_stream",
    "rolling_udf",
    "session",
    "warmup",
]


def __getattr__(name: str) -> Any:
    if name in builders.BUILDERS:
        return builders.builder(name)
    raise AttributeError(f"module 'rollstat.spark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *builders.BUILDERS})
