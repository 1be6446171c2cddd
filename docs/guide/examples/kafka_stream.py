"""Rolling medians of a stream of JSON messages.

kafka_stream.py SOURCE RESULT CHECKPOINT, where SOURCE is kafka:HOST:PORT/TOPIC or a folder of text files
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rollstat.spark import rolling_stream, session

READING = "sensor string, time timestamp, value double"


def messages(spark: SparkSession, source: str) -> DataFrame:
    """Return a stream with a column `value` that holds a message in each row."""
    if not source.startswith("kafka:"):
        return spark.readStream.text(source)
    servers, topic = source.removeprefix("kafka:").split("/")
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    return reader.option("subscribe", topic).option("startingOffsets", "earliest").load()


def main() -> None:
    """Read what has come, compute, write, and report what each batch did."""
    parser = argparse.ArgumentParser()
    for name in ("source", "result", "checkpoint"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    spark = session()
    reading = F.from_json(F.col("value").cast("string"), READING).alias("reading")
    result = rolling_stream(
        messages(spark, arguments.source).select(reading).select("reading.*"),
        partition_by="sensor",
        order_by="time",
        window="10 minutes",
        aggs={"typical": ("median", "value")},
        watermark="1 minute",
    )
    writer = result.writeStream.format("parquet").option("checkpointLocation", arguments.checkpoint)
    query = writer.option("path", arguments.result).trigger(availableNow=True).start()
    query.awaitTermination()
    for progress in query.recentProgress:
        print(progress.batchId, progress.observedMetrics["rollstat"].asDict())


if __name__ == "__main__":
    main()
