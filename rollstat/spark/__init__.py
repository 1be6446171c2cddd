"""Rolling statistics on Spark.

How a job runs:

1. `request` checks the arguments against the columns and makes a `WalkPlan`.
2. `route` has `rolling`. It chooses how the rows reach the workers: one exchange by key or bucket, and one
   sort of each partition. Usually only the needed columns go to the workers, and only results come back.
3. If series are too long for one task, `buckets` splits them and assigns every row to a bucket.
4. A worker makes one pass over its Arrow batches (`batch_walk`). It checks
   the order, converts with `arrow_columns`, and calls the functions over arrays.
   If there are labels (`at=`), `labels` puts these between the rows, and only they have results.
5. Expanding windows keep states instead of rows, within a worker and between buckets (`expanding`).

`structured_streaming` has `rolling_stream` and checks what a restart may change; `stream_series` computes new
rows and keeps the state of each series between micro-batches. `udf` makes user-defined functions, and `sql` a
table function for SQL. `features` computes sets of features. `aggregates` checks the statistics and calls
them. `pandas` is the accessor of pandas on Spark. `start` starts Spark.

Public names are loaded on first use, because a worker needs only a few of these modules.
"""

from importlib import import_module
from typing import Any

import lazy_loader

from rollstat._extras import require
from rollstat.names import no_attribute

require("spark", "rollstat.spark", "pyspark", "pyarrow")

_MODULES = {
    "aggregates": ["Aggregate", "aggregate"],
    "route": ["rolling"],
    "sql": ["register"],
    "start": ["session"],
    "structured_streaming": ["rolling_stream"],
    "udf": ["rolling_udf"],
}
_load, _, __all__ = lazy_loader.attach(__name__, submod_attrs=_MODULES)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    aggregates = import_module("rollstat.spark.aggregates")
    if name in aggregates.BUILDERS:
        return aggregates.builder(name)
    raise no_attribute("module 'rollstat.spark'", name, list(aggregates.BUILDERS))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *import_module("rollstat.spark.aggregates").BUILDERS})
