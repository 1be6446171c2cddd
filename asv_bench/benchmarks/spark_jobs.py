"""Rolling windows on Spark, in a local session of two threads; left out where PySpark is not installed."""

from importlib.util import find_spec

STATISTICS = ["median", "mean", "max", "nunique"]


class SparkJobs:
    """A keyed job, and one series split into buckets; every row is computed and discarded."""

    params = (STATISTICS, ["1,000 keys", "one series", "ten minutes"])
    param_names = ("statistic", "job")
    timeout = 600

    def setup(self, statistic, job):
        """Start Spark, and run the job once."""
        if find_spec("pyspark") is None:
            raise NotImplementedError("PySpark is not installed")  # how asv is told to skip a case
        from rollstat.spark import session

        conf = {"spark.sql.shuffle.partitions": 2, "spark.sql.session.timeZone": "UTC"}
        self.spark = session(app="rollstat-asv", conf=conf)
        rows = self.spark.range(1_000_000).selectExpr(
            "id % 1000 as key", "timestamp_seconds(id) as time", "cast(hash(id) as double) as x"
        )
        self.frame = rows.cache()
        self.frame.count()
        self.time_job(statistic, job)

    def time_job(self, statistic, job):
        """Time one job."""
        from rollstat.spark import rolling

        keys = [] if job == "one series" else "key"
        window = "10 minutes" if job == "ten minutes" else 100
        frame = rolling(
            self.frame, partition_by=keys, order_by="time", window=window, aggs={"y": (statistic, "x")}
        )
        frame.write.format("noop").mode("overwrite").save()

    def teardown(self, statistic, job):
        """Stop Spark."""
        self.spark.stop()
