"""Show which kernels the workers of a Spark session compile for a median."""

import pandas as pd
from pyspark.sql import SparkSession


def compiled(batches):
    """Compute in a worker, and yield where its kernels came from."""
    import rollstat.pandas  # noqa: F401 - registers the accessor
    from rollstat.compile.cache import compiled_kernels

    for batch in batches:
        batch["value"].rollstat.rolling(100).median()
    yield pd.DataFrame([kernel[:3] for kernel in compiled_kernels], columns=["kernel", "types", "origin"])


def main(spark: SparkSession) -> list[str]:
    """Return the kernels that were compiled."""
    values = spark.range(100_000).selectExpr("rand(1) as value")
    kernels = values.mapInPandas(compiled, "kernel string, types string, origin string")
    kernels.groupBy("origin").count().show()
    return [row.kernel for row in kernels.where("origin = 'compiled'").collect()]


if __name__ == "__main__":
    print(main(SparkSession.builder.getOrCreate()))
