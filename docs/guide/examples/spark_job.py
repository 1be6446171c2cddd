"""A job for spark-submit: rolling statistics of the readings of every sensor.

spark_job.py READINGS RESULT
"""

import argparse

from pyspark.sql import SparkSession

from rollstat.spark import rolling


def main() -> None:
    """Read, compute, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("readings")
    parser.add_argument("result")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("readings").getOrCreate()  # spark-submit says where
    readings = spark.read.parquet(arguments.readings)
    result = rolling(
        readings,
        partition_by="sensor",
        order_by="time",
        window="10 minutes",
        aggs={"typical": ("median", "value"), ("low", "high"): ("quantile", "value", {"q": [0.05, 0.95]})},
    )
    result.write.mode("overwrite").parquet(arguments.result)
    spark.stop()


if __name__ == "__main__":
    main()
