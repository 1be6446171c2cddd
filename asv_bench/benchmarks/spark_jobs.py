"""Rolling windows on Spark, in a local session of two threads; left out where PySpark is not installed."""

from importlib.util import find_spec

STATISTICS = ["median", "mean", "max", "nunique"]
# Windows of features, as rollstat and Spark SQL take them.
WINDOWS = {
    "10 minutes": "RANGE BETWEEN INTERVAL '00:09:59.999999' HOUR TO SECOND PRECEDING AND CURRENT ROW",
    "1 hour": "RANGE BETWEEN INTERVAL '00:59:59.999999' HOUR TO SECOND PRECEDING AND CURRENT ROW",
    100: "ROWS BETWEEN 99 PRECEDING AND CURRENT ROW",
}
CALLS = {"sum": "sum", "mean": "avg", "max": "max"}


class _Rows:
    """A session with a million rows of 1,000 keys."""

    timeout = 600

    def start(self):
        """Start Spark."""
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

    def teardown(self, *_):
        """Stop Spark."""
        self.spark.stop()


class SparkJobs(_Rows):
    """A keyed job, and one series split into buckets; every row is computed and discarded."""

    params = (STATISTICS, ["1,000 keys", "one series", "ten minutes"])
    param_names = ("statistic", "job")

    def setup(self, statistic, job):
        """Start Spark, and run the job once."""
        self.start()
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


class SparkFeatures(_Rows):
    """Sum, mean and maximum over three windows of each row or at labels, also by functions of Spark SQL."""

    params = (["features", "at labels", "table function", "Spark SQL"],)
    param_names = ("form",)

    def setup(self, form):
        """Start Spark, make the result, and compute it once."""
        self.start()
        self.result = self._result(form)
        self.time_features(form)

    def _result(self, form):
        from rollstat import features as f
        from rollstat.spark import register

        if form in ("features", "at labels"):
            columns = [getattr(f, name)("x").over(*WINDOWS, min_periods=1) for name in CALLS]
            features = f.Features(columns, by="key", on="time")
            labels = self.frame.where("hash(time) % 10 = 0").select("key", "time")
            return features.compute(self.frame, at=labels if form == "at labels" else None)
        self.frame.createOrReplaceTempView("rows")
        if form == "table function":
            windows = ", ".join(f"'{window}'" for window in WINDOWS)
            aggs = ", ".join(f"{name}(x)" for name in CALLS)
            table, name = "TABLE(rows) PARTITION BY key ORDER BY time", register(self.spark)
            given = f"windows => array({windows}), aggs => '{aggs}', min_periods => 1"
            return self.spark.sql(f"SELECT * FROM {name}({table}, {given})")
        over = [f"OVER (PARTITION BY key ORDER BY time {reach})" for reach in WINDOWS.values()]
        return self.frame.selectExpr("*", *(f"{call}(x) {each}" for call in CALLS.values() for each in over))

    def time_features(self, form):
        """Time one job."""
        self.result.write.format("noop").mode("overwrite").save()
